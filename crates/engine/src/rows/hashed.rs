//! Kept cells as hashes of 64 bits, where a column has too many values to be given codes.
//!
//! Two values are taken for one with a chance of 2^-64: among 100 million values that any are is a
//! matter of one in thousands.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use incrowd_data::{Codes, Kind};
use rayon::prelude::*;

use super::codes::{CodeFile, CodeReader, CodeWriter};
use super::spilled::Spilled;
use crate::encode::Encoder;
use crate::error::Detail;
use crate::read::KeptColumn;
use crate::value::kind::kind_of_type;
use crate::value::sample::{Sample, hash_of};
use crate::value::stored::Fit;
use crate::value::typing::is_of;
use crate::{Engine, EngineError};

/// Columns of codes that a hashed column takes: the halves of its hash, and its length.
const WIDTH: usize = 3;

/// The hashed cells of the kept columns, in the parts and blocks of the rows they belong to.
#[derive(Debug)]
pub struct Hashed {
    parts: Vec<CodeFile>,
    /// By kept column, what is known of it.
    pub columns: Vec<HashedColumn>,
}

/// What is known of a column beside its hashes.
#[derive(Clone, Debug)]
pub struct HashedColumn {
    /// What its values are.
    pub kind: Kind,
    /// Rows without a value.
    pub n_missing: u64,
    /// Some of its values.
    pub sample: Sample,
}

/// The hashed cells of some rows of a column.
#[derive(Clone, Debug)]
pub struct HashedCells {
    /// The halves of the hashes; those of missing cells are 0.
    pub hash: [Codes; 2],
    /// Bytes of the value and one more; 0 if it is missing.
    pub length: Codes,
}

impl Spilled {
    /// Hashes the kept cells.
    pub fn hash_kept(&self, engine: &Engine) -> Result<Hashed, EngineError> {
        if self.kept_columns().is_empty() {
            return Ok(Hashed { parts: Vec::new(), columns: Vec::new() });
        }
        let found: Vec<(CodeFile, Vec<HashedColumn>)> = (0..self.n_parts())
            .into_par_iter()
            .with_max_len(1)
            .map(|part| self.hash_part(engine, part))
            .collect::<Result<_, _>>()?;
        let mut columns = self.before_hashing();
        for (_, of_part) in &found {
            for (column, of_part) in columns.iter_mut().zip(of_part) {
                column.n_missing += of_part.n_missing;
                column.sample = std::mem::take(&mut column.sample).and(&of_part.sample);
                column.kind = if of_part.kind == Kind::Text { Kind::Text } else { column.kind };
            }
        }
        Ok(Hashed { parts: found.into_iter().map(|(file, _)| file).collect(), columns })
    }

    /// The kept columns as they are said to be.
    fn before_hashing(&self) -> Vec<HashedColumn> {
        let kind =
            |kept: &KeptColumn| kept.fit.map(Fit::kind).or_else(|| kind_of_type(&kept.data_type));
        let column = |kept| HashedColumn {
            kind: kind(kept).unwrap_or(Kind::Text),
            n_missing: 0,
            sample: Sample::default(),
        };
        self.kept_columns().iter().map(column).collect()
    }

    fn hash_part(
        &self,
        engine: &Engine,
        part: usize,
    ) -> Result<(CodeFile, Vec<HashedColumn>), EngineError> {
        let kept = self.kept_columns();
        let name = format!("hashed-{part}");
        let mut writer = CodeWriter::new(self.scratch(), &name, WIDTH * kept.len())?;
        let mut found = self.before_hashing();
        let mut reader = self.read_part_with_kept(part, &[])?;
        while let Some(block) = reader.next_block()? {
            engine.go_on()?;
            let mut columns = Vec::with_capacity(WIDTH * kept.len());
            for (at, column) in kept.iter().enumerate() {
                let mut cells: [Vec<u32>; WIDTH] = Default::default();
                for batch in &block.kept {
                    let encoder = Encoder::new(&column.data_type);
                    found[at].hash(encoder, &batch[at], &mut cells)?;
                }
                columns.extend(cells.map(Codes::U32));
            }
            writer.write(&columns)?;
        }
        Ok((writer.finish()?, found))
    }
}

impl HashedColumn {
    /// Appends the hashes and lengths of cells.
    fn hash(
        &mut self,
        mut encoder: Encoder,
        cells: &ArrayRef,
        to: &mut [Vec<u32>; WIDTH],
    ) -> Result<(), EngineError> {
        encoder.add(cells).map_err(|error| EngineError::Read(Detail::of_arrow(&error)))?;
        let texts = encoder.texts();
        if !texts.iter().all(|text| is_of(self.kind, text)) {
            self.kind = Kind::Text;
        }
        let values = texts.iter().map(|text| {
            let hash = hash_of(text);
            self.sample.add(hash, text);
            hashed(hash, text)
        });
        let values: Vec<[u32; WIDTH]> = values.collect();
        for code in encoder.take_cells().iter() {
            // The greatest code of its width, which no value has, stands for missing.
            let cell = values.get(code as usize).copied().unwrap_or_default();
            self.n_missing += u64::from(cell[WIDTH - 1] == 0);
            to.iter_mut().zip(cell).for_each(|(to, code)| to.push(code));
        }
        Ok(())
    }
}

fn hashed(hash: u64, text: &str) -> [u32; WIDTH] {
    let [high, low] = [hash >> 32, hash & u64::from(u32::MAX)]
        .map(|half| u32::try_from(half).expect("half of 64 bits"));
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).saturating_add(1);
    [high, low, length]
}

/// Appends the halves of the hashes of cells.
pub(super) fn hash_cells(
    data_type: &DataType,
    cells: &ArrayRef,
    to: &mut [Vec<u32>; 2],
) -> Result<(), EngineError> {
    let mut encoder = Encoder::new(data_type);
    encoder.add(cells).map_err(|error| EngineError::Read(Detail::of_arrow(&error)))?;
    let values: Vec<[u32; WIDTH]> =
        encoder.texts().iter().map(|text| hashed(hash_of(text), text)).collect();
    for code in encoder.take_cells().iter() {
        // The greatest code of its width, which no value has, stands for missing.
        let [high, low, _] = values.get(code as usize).copied().unwrap_or_default();
        to[0].push(high);
        to[1].push(low);
    }
    Ok(())
}

impl Hashed {
    /// Reads some columns of a part from its beginning; the others have no cells.
    pub fn read_part(&self, part: usize, columns: &[usize]) -> Result<HashedReader, EngineError> {
        let is_read = |at: usize| columns.contains(&(at / WIDTH));
        Ok(HashedReader(self.parts[part].read_only(is_read)?))
    }
}

/// A part that is being read.
#[derive(Debug)]
pub struct HashedReader(CodeReader);

impl HashedReader {
    /// The next rows, by kept column; none behind the last ones.
    pub fn next_block(&mut self) -> Result<Option<Vec<HashedCells>>, EngineError> {
        let Some(columns) = self.0.next_block()? else { return Ok(None) };
        let mut columns = columns.into_iter();
        let next = || {
            let (high, low, length) = (columns.next()?, columns.next()?, columns.next()?);
            Some(HashedCells { hash: [high, low], length })
        };
        Ok(Some(std::iter::from_fn(next).collect()))
    }
}
