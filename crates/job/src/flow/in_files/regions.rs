//! Regions of an outline: their rows in files of their own, their classes found one after another.

use std::io;

use incrowd_data::Codes;
use incrowd_engine::{CodeFile, CodeReader, CodeWriter, EngineError};
use incrowd_search::{Chunk, Outline, Scan};
use rayon::prelude::*;

use super::points::{Groups, Points, merge};
use crate::spec::error::JobError;

/// The points of a table that the search for an outline scans.
pub(crate) struct Scanned<'a> {
    pub(crate) points: &'a Points<'a>,
    pub(crate) n_attributes: usize,
    pub(crate) is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Scan for Scanned<'_> {
    fn scan(&self, visit: &(dyn Fn(&Chunk<'_>) + Sync)) -> io::Result<()> {
        let parts = 0..self.points.spilled.n_parts();
        parts.into_par_iter().try_for_each(|part| {
            let mut reader = self.points.read(part).map_err(io_error)?;
            while let Some(block) = reader.next_block().map_err(io_error)? {
                if (self.is_cancelled)() {
                    break;
                }
                visit(&chunk(&block.codes, self.n_attributes));
            }
            Ok(())
        })
    }
}

fn chunk(codes: &[Codes], n_attributes: usize) -> Chunk<'_> {
    let (vectors, extras) = codes.split_at(n_attributes);
    Chunk { vectors, extras, counts: None, len: codes.first().map_or(0, Codes::len) }
}

fn io_error(error: EngineError) -> io::Error {
    match error {
        EngineError::Spill { source } => source,
        error => io::Error::other(error),
    }
}

/// Columns of codes with their numbers of codes.
type CodedColumns = Vec<(Codes, u32)>;

/// The rows of every region.
pub(crate) struct Regions {
    /// By part, the region of each of its rows.
    region_of: Vec<CodeFile>,
    /// By part and region, the codes of the rows.
    rows: Vec<Vec<CodeFile>>,
    n_codes: Vec<u32>,
}

/// Distinct vectors column by column, and the rows of each.
pub(crate) type Distinct = (Vec<Codes>, Vec<u32>);

impl Regions {
    /// Puts every row into the file of its region.
    pub(crate) fn divide(
        points: &Points,
        outline: &Outline,
        n_attributes: usize,
    ) -> Result<Regions, JobError> {
        let n_regions = outline.regions().len();
        let n_columns = points.n_codes().count();
        let parts = (0..points.spilled.n_parts()).into_par_iter().map(|part| {
            let scratch = points.spilled.scratch();
            let mut region_of = CodeWriter::new(scratch, &format!("region-of-{part}"), 1)?;
            let file = |region: usize| {
                CodeWriter::new(scratch, &format!("region-{part}-{region}"), n_columns)
            };
            let mut rows = (0..n_regions).map(file).collect::<Result<Vec<_>, _>>()?;
            let mut reader = points.read(part)?;
            while let Some(block) = reader.next_block()? {
                let mut regions = Vec::new();
                outline.place(&chunk(&block.codes, n_attributes), &mut regions);
                divide_block(&block.codes, &regions, &mut rows)?;
                let n_regions = u32::try_from(n_regions).expect("few regions");
                region_of.write(&[Codes::pack(n_regions, regions.into_iter())])?;
            }
            let rows = rows.into_iter().map(CodeWriter::finish).collect::<Result<Vec<_>, _>>()?;
            Ok((region_of.finish()?, rows))
        });
        let parts = parts.collect::<Result<Vec<_>, JobError>>()?;
        let (region_of, rows) = parts.into_iter().unzip();
        Ok(Regions { region_of, rows, n_codes: points.n_codes().collect() })
    }

    /// The rows of a region, column by column with their numbers of codes; by part, how many they
    /// are. Its files are removed.
    pub(crate) fn take(&mut self, region: usize) -> Result<(CodedColumns, Vec<usize>), JobError> {
        let mut columns: CodedColumns =
            self.n_codes.iter().map(|&n| (Codes::pack(n, std::iter::empty()), n)).collect();
        let mut n_rows = Vec::new();
        for part in &self.rows {
            let mut reader = part[region].read()?;
            while let Some(block) = reader.next_block()? {
                for ((to, _), from) in columns.iter_mut().zip(&block) {
                    append(to, from);
                }
            }
            n_rows.push(usize::try_from(part[region].n_rows()).expect("rows of a region fit"));
            part[region].clone().remove()?;
        }
        Ok((columns, n_rows))
    }

    /// The distinct vectors of a region that may have any number of rows, in ascending order, and
    /// the rows of each; by part, how many rows it has. Its files are removed.
    pub(crate) fn take_distinct(
        &mut self,
        region: usize,
    ) -> Result<(Distinct, Vec<usize>), JobError> {
        let mut groups = Groups::new(self.n_codes.len());
        let mut n_rows = Vec::new();
        for part in &self.rows {
            let mut reader = part[region].read()?;
            while let Some(block) = reader.next_block()? {
                groups.add(&block);
            }
            n_rows.push(usize::try_from(part[region].n_rows()).expect("fewer than 2^32 rows"));
            part[region].clone().remove()?;
        }
        let (vectors, counts, _) = merge(vec![groups], &self.n_codes);
        Ok(((vectors, counts), n_rows))
    }
}

fn append(to: &mut Codes, from: &Codes) {
    match (to, from) {
        (Codes::U8(to), Codes::U8(from)) => to.extend_from_slice(from),
        (Codes::U16(to), Codes::U16(from)) => to.extend_from_slice(from),
        (Codes::U32(to), Codes::U32(from)) => to.extend_from_slice(from),
        (to, from) => to.extend(from.iter()),
    }
}

/// Puts the rows of a block into the files of their regions.
fn divide_block(
    columns: &[Codes],
    regions: &[u32],
    files: &mut [CodeWriter],
) -> Result<(), EngineError> {
    let mut starts = vec![0usize; files.len() + 1];
    for &region in regions {
        starts[region as usize + 1] += 1;
    }
    for region in 1..starts.len() {
        starts[region] += starts[region - 1];
    }
    let mut next = starts.clone();
    let mut order = vec![0u32; regions.len()];
    for (row, &region) in (0u32..).zip(regions) {
        order[next[region as usize]] = row;
        next[region as usize] += 1;
    }
    for (region, file) in files.iter_mut().enumerate() {
        let rows = &order[starts[region]..starts[region + 1]];
        if !rows.is_empty() {
            let block: Vec<Codes> = columns.iter().map(|codes| select(codes, rows)).collect();
            file.write(&block)?;
        }
    }
    Ok(())
}

/// The codes of some rows, in their order.
fn select(codes: &Codes, rows: &[u32]) -> Codes {
    match codes {
        Codes::U8(codes) => Codes::U8(rows.iter().map(|&row| codes[row as usize]).collect()),
        Codes::U16(codes) => Codes::U16(rows.iter().map(|&row| codes[row as usize]).collect()),
        Codes::U32(codes) => Codes::U32(rows.iter().map(|&row| codes[row as usize]).collect()),
    }
}

/// The class of every row, region by region.
pub(crate) struct ClassOfRow {
    region_of: Vec<CodeFile>,
    /// By part and region, the classes of the rows.
    classes: Vec<Vec<CodeFile>>,
}

impl ClassOfRow {
    /// Nothing yet.
    pub(crate) fn new(regions: &Regions) -> ClassOfRow {
        let classes = regions.region_of.iter().map(|_| Vec::new()).collect();
        ClassOfRow { region_of: regions.region_of.clone(), classes }
    }

    /// Adds the classes of the rows of the next region: as many of each part as the region has of
    /// it.
    pub(crate) fn add(
        &mut self,
        points: &Points,
        class_of: impl Fn(usize) -> u32,
        n_rows: &[usize],
    ) -> Result<(), JobError> {
        let mut start = 0;
        for (part, (files, &n_rows)) in self.classes.iter_mut().zip(n_rows).enumerate() {
            let name = format!("classes-{part}-{}", files.len());
            let mut file = CodeWriter::new(points.spilled.scratch(), &name, 1)?;
            for first in (start..start + n_rows).step_by(BLOCK_ROWS) {
                let rows = first..(first + BLOCK_ROWS).min(start + n_rows);
                file.write(&[Codes::U32(rows.map(&class_of).collect())])?;
            }
            files.push(file.finish()?);
            start += n_rows;
        }
        Ok(())
    }

    /// The classes of the rows of a part, block by block as they were read.
    pub(crate) fn read(
        &self,
        part: usize,
    ) -> Result<impl FnMut() -> Result<Option<Vec<u32>>, EngineError> + '_, EngineError> {
        let mut region_of = self.region_of[part].read()?;
        let streams = self.classes[part].iter().map(Stream::new).collect::<Result<Vec<_>, _>>();
        let mut streams = streams?;
        Ok(move || {
            let Some(block) = region_of.next_block()? else { return Ok(None) };
            let class = |region: u32| streams[region as usize].next();
            Ok(Some(block[0].iter().map(class).collect::<Result<Vec<u32>, EngineError>>()?))
        })
    }
}

/// Classes of a region per block of their file.
const BLOCK_ROWS: usize = 1 << 14;

/// A file of numbers, one after another.
struct Stream {
    reader: CodeReader,
    block: Vec<u32>,
    next: usize,
}

impl Stream {
    fn new(file: &CodeFile) -> Result<Stream, EngineError> {
        Ok(Stream { reader: file.read()?, block: Vec::new(), next: 0 })
    }

    fn next(&mut self) -> Result<u32, EngineError> {
        if self.next == self.block.len() {
            let block = self.reader.next_block()?.and_then(|block| block.into_iter().next());
            let block = block.expect("a region has a class for each of its rows");
            self.block = block.iter().collect();
            self.next = 0;
        }
        self.next += 1;
        Ok(self.block[self.next - 1])
    }
}
