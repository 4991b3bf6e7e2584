//! How a recoding becomes a file: JSON with a line per column and per node, written as a stream.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Result, Write};
use std::path::Path;

use incrowd_engine::{Access, EngineError, Staged, stage_written};
use serde::Serialize;

use super::{NodeRecord, RecodingFile};
use crate::flow::stopped_search::Checksum;

impl RecodingFile {
    /// Writes the file beside its place, with these nodes; gives its checksum as well.
    pub(super) fn stage(
        &self,
        path: &Path,
        nodes: impl Iterator<Item = NodeRecord>,
    ) -> std::result::Result<(Staged, String), EngineError> {
        let mut sum = Checksum::default();
        let staged = stage_written(path, Access::Private, |file| {
            let mut to = Summed { to: BufWriter::with_capacity(1 << 16, file), sum: &mut sum };
            self.write(&mut to, nodes)?;
            to.flush()
        })?;
        Ok((staged, sum.text()))
    }

    fn write(&self, to: &mut impl Write, nodes: impl Iterator<Item = NodeRecord>) -> Result<()> {
        write!(to, "{{\n  ")?;
        field(to, "incrowd", &self.incrowd)?;
        field(to, "kind", &self.kind)?;
        field(to, "labels", &self.labels)?;
        field(to, "privacy", &self.privacy)?;
        if !self.quasi.is_empty() {
            field(to, "quasi", &self.quasi)?;
            field(to, "collude", &self.collude)?;
        }
        if !self.private.is_empty() {
            field(to, "private", &self.private)?;
        }
        if let Some(public) = &self.public {
            field(to, "public", public)?;
        }
        if !self.known.is_empty() {
            field(to, "known", &self.known)?;
        }
        if !self.any.is_empty() {
            field(to, "any", &self.any)?;
        }
        if !self.built.is_empty() {
            field(to, "built", &self.built)?;
        }
        if !self.rules.is_empty() {
            field(to, "rules", &self.rules)?;
        }
        if !self.types.is_empty() {
            field(to, "types", &self.types)?;
        }
        writeln!(to, "\"columns\": {{")?;
        for (at, (name, column)) in self.columns.iter().enumerate() {
            write!(to, "{}", if at == 0 { "    " } else { ",\n    " })?;
            json(to, name)?;
            write!(to, ": ")?;
            json(to, column)?;
        }
        write!(to, "\n  }},\n  ")?;
        field(to, "sequences", &self.sequences)?;
        field(to, "levels", &self.levels)?;
        field(to, "cuts", &self.cuts)?;
        writeln!(to, "\"nodes\": [")?;
        for (at, node) in nodes.enumerate() {
            write!(to, "{}", if at == 0 { "    " } else { ",\n    " })?;
            json(to, &node)?;
        }
        writeln!(to, "\n  ]\n}}")
    }
}

/// A key and its value on a line.
fn field(to: &mut impl Write, name: &str, value: &impl Serialize) -> Result<()> {
    write!(to, "\"{name}\": ")?;
    json(to, value)?;
    write!(to, ",\n  ")
}

/// Compact JSON.
fn json(to: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(to, value).map_err(Into::into)
}

/// The checksum of the bytes of a file.
pub(super) fn checksum_of(path: &Path) -> Result<String> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut sum = Checksum::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.text()),
            n => sum.add(&buffer[..n]),
        }
    }
}

/// What is written, and its checksum.
struct Summed<'a, W> {
    to: W,
    sum: &'a mut Checksum,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let n = self.to.write(bytes)?;
        self.sum.add(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> Result<()> {
        self.to.flush()
    }
}
