//! A source that was read once into private files.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::array::ArrayRef;
use arrow::ipc::reader::StreamReader;
use datafusion::error::DataFusionError;
use incrowd_data::Codes;

use super::codes::{CodeFile, CodeReader};
use super::kept::KeptFile;
use super::part::{Found, Shared, read_part};
use super::{Scratch, spilling, unreadable};
use crate::decode::Guarded;
use crate::encode::{CellMap, Encoder, Values, merge_values};
use crate::error::Detail;
use crate::read::{CountedColumn, Folded, KeptColumn, kept_columns, refuse_uncodable};
use crate::source::plan;
use crate::value::content::Contents;
use crate::value::stored::Fit;
use crate::{Engine, EngineError, Source, Use};

/// A source that was read: its distinct values are in memory, its rows in private files.
#[derive(Debug)]
pub struct Spilled {
    /// Rows.
    pub n_rows: u64,
    /// The values of the columns with [`Use::Code`], in the source's order.
    pub values: Vec<Values>,
    /// By column, the number of its values.
    n_values: Vec<usize>,
    /// The columns with [`Use::Hash`], two columns of codes each behind the others.
    hashed: Vec<String>,
    /// Whether two more columns have the halves of the rows' hashes, for columns with [`Use::Mix`].
    has_mixed: bool,
    /// The columns with [`Use::Count`], in the source's order.
    pub counted: Vec<CountedColumn>,
    /// What the columns say whose content was wanted.
    pub contents: Contents,
    kept: Vec<KeptColumn>,
    parts: Vec<PartFiles>,
    scratch: Arc<Scratch>,
}

/// The rows of one partition.
#[derive(Debug)]
struct PartFiles {
    codes: CodeFile,
    /// By coded column, what the codes of the file stand for among the values.
    maps: Vec<Vec<u32>>,
    kept: Option<KeptFile>,
}

/// Rows whose values were found and whose codes were given elsewhere.
pub(super) struct CodedElsewhere {
    pub(super) values: Vec<Values>,
    pub(super) kept: Vec<KeptColumn>,
    pub(super) parts: Vec<(CodeFile, Option<KeptFile>)>,
    /// Whether two more columns of codes have the halves of the rows' hashes.
    pub(super) has_mixed: bool,
    pub(super) counted: Vec<CountedColumn>,
}

/// Some rows.
#[derive(Debug)]
pub struct Block {
    /// The coded columns that were asked for.
    pub codes: Vec<Codes>,
    /// The kept columns, batch by batch, if they were asked for.
    pub kept: Vec<Vec<ArrayRef>>,
}

impl Spilled {
    /// Rows that were coded elsewhere: the parts have the codes of their values.
    pub(super) fn of_coded(coded: CodedElsewhere, scratch: &Arc<Scratch>) -> Spilled {
        let CodedElsewhere { values, kept, parts, has_mixed, counted } = coded;
        let n_values: Vec<usize> = values.iter().map(|values| values.texts.len()).collect();
        let identity =
            |&n: &usize| (0..u32::try_from(n).expect("fewer values than rows")).collect();
        let maps: Vec<Vec<u32>> = n_values.iter().map(identity).collect();
        let part = |(codes, kept)| PartFiles { codes, maps: maps.clone(), kept };
        let parts: Vec<PartFiles> = parts.into_iter().map(part).collect();
        let n_rows = parts.iter().map(|part| part.codes.n_rows()).sum();
        Spilled {
            n_rows,
            values,
            n_values,
            hashed: Vec::new(),
            has_mixed,
            counted,
            contents: Contents::default(),
            kept,
            parts,
            scratch: Arc::clone(scratch),
        }
    }

    /// The number of parts that can be read side by side.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// The number of rows of a part; parts hold the rows in their order.
    #[must_use]
    pub fn rows_of_part(&self, part: usize) -> u64 {
        self.parts[part].codes.n_rows()
    }

    /// The values of a column.
    #[must_use]
    pub fn values(&self, column: &str) -> Option<&Values> {
        self.values.iter().find(|values| values.name == column)
    }

    /// The number of codes of a column, the missing one included.
    #[must_use]
    pub fn n_codes(&self, column: usize) -> u32 {
        let n_values = u32::try_from(self.n_values[column]).expect("fewer values than rows");
        n_values + u32::from(self.values[column].has_missing)
    }

    /// Adds values to those of a column, behind the ones that its rows have.
    pub fn widen(&mut self, column: &str, add: impl FnOnce(&mut Values)) {
        if let Some(at) = self.position(column) {
            add(&mut self.values[at]);
            self.n_values[at] = self.values[at].texts.len();
        }
    }

    /// Drops the texts of a column, of which only the codes are needed any more.
    pub fn forget(&mut self, column: &str) {
        if let Some(at) = self.position(column) {
            self.values[at].texts = Vec::new();
        }
    }

    /// The place of a coded column.
    #[must_use]
    pub fn position(&self, column: &str) -> Option<usize> {
        self.values.iter().position(|values| values.name == column)
    }

    /// The places of the halves of a column's hashes.
    #[must_use]
    pub fn hash_positions(&self, column: &str) -> Option<[usize; 2]> {
        let at = self.hashed.iter().position(|name| name == column)?;
        let first = self.values.len() + 2 * at;
        Some([first, first + 1])
    }

    /// The places of the halves of the rows' hashes, if some columns went into them.
    #[must_use]
    pub fn mixed_positions(&self) -> Option<[usize; 2]> {
        let first = self.values.len() + 2 * self.hashed.len();
        self.has_mixed.then_some([first, first + 1])
    }

    /// The kept columns.
    #[must_use]
    pub fn kept_columns(&self) -> &[KeptColumn] {
        &self.kept
    }

    /// About the bytes of the kept cells of a row.
    #[must_use]
    pub fn kept_bytes_a_row(&self) -> u64 {
        let bytes: u64 =
            self.parts.iter().filter_map(|part| Some(part.kept.as_ref()?.n_bytes)).sum();
        bytes.div_ceil(self.n_rows.max(1))
    }

    /// The folder of the files.
    #[must_use]
    pub fn scratch(&self) -> &Arc<Scratch> {
        &self.scratch
    }

    /// Reads a part from its beginning: of each column of `wanted`, by its place among the coded
    /// ones, with what its codes become and their number; halves of hashes stay as they are.
    pub fn read_part(
        &self,
        part: usize,
        wanted: &[(usize, &[u32], u32)],
    ) -> Result<BlockReader, EngineError> {
        let PartFiles { codes, maps, .. } = &self.parts[part];
        let cell_map = |&(column, map, n_codes): &(usize, &[u32], u32)| {
            if column >= self.values.len() {
                return (column, None);
            }
            let among_all = maps[column].iter().map(|&code| map[code as usize]).collect();
            // Where no cell is missing nobody asks what that becomes.
            let missing = map.get(self.n_values[column]).copied().unwrap_or(0);
            (column, Some(CellMap::new(among_all, missing, n_codes)))
        };
        Ok(BlockReader {
            codes: codes.read_only(|at| wanted.iter().any(|(column, ..)| *column == at))?,
            wanted: wanted.iter().map(cell_map).collect(),
            kept: None,
        })
    }

    /// The same with the kept columns.
    pub fn read_part_with_kept(
        &self,
        part: usize,
        wanted: &[(usize, &[u32], u32)],
    ) -> Result<BlockReader, EngineError> {
        let mut reader = self.read_part(part, wanted)?;
        if let Some(KeptFile { path, .. }) = &self.parts[part].kept {
            let file = BufReader::with_capacity(1 << 18, File::open(path).map_err(spilling)?);
            reader.kept = Some(StreamReader::try_new(file, None).map_err(unreadable)?);
        }
        Ok(reader)
    }

    /// The codes of a column in all rows, part by part; rows that cannot be read any more are left
    /// out.
    pub fn codes_of(&self, column: usize) -> impl Iterator<Item = u32> {
        let n_codes = self.n_codes(column);
        let identity: Vec<u32> = (0..n_codes).collect();
        (0..self.parts.len()).flat_map(move |part| {
            let mut reader = self.read_part(part, &[(column, &identity, n_codes)]).ok();
            std::iter::from_fn(move || reader.as_mut()?.next_block().ok().flatten())
                .flat_map(|block| block.codes[0].iter().collect::<Vec<u32>>())
        })
    }
}

/// A part that is being read.
#[derive(Debug)]
pub struct BlockReader {
    codes: CodeReader,
    /// Halves of hashes stay as they are.
    wanted: Vec<(usize, Option<CellMap>)>,
    kept: Option<StreamReader<BufReader<File>>>,
}

impl BlockReader {
    /// The next rows; none behind the last ones.
    pub fn next_block(&mut self) -> Result<Option<Block>, EngineError> {
        let Some((n_rows, columns)) = self.codes.next_rows()? else { return Ok(None) };
        let code = |(at, map): &(usize, Option<CellMap>)| match map {
            Some(map) => map.apply(&columns[*at]),
            None => columns[*at].clone(),
        };
        let codes = self.wanted.iter().map(code).collect();
        let mut kept = Vec::new();
        if let Some(batches) = &mut self.kept {
            let mut n_kept = 0;
            while n_kept < n_rows {
                let batch = batches
                    .next()
                    .ok_or_else(|| spilling(std::io::ErrorKind::UnexpectedEof.into()))?;
                let batch = batch.map_err(unreadable)?;
                n_kept += batch.num_rows();
                kept.push(batch.columns().to_vec());
            }
        }
        Ok(Some(Block { codes, kept }))
    }
}

/// Reads every row of a source once into private files. The distinct values may take `most_bytes`
/// in memory. `wants_fits` asks what the kept columns of a text file hold.
pub fn read_spilled(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_fits: bool,
    scratch: &Arc<Scratch>,
    most_bytes: u64,
) -> Result<Spilled, EngineError> {
    let shared = Shared::new(engine, source, uses, wants_fits, (scratch, most_bytes));
    let found = read_shared(engine, source, uses, shared)?;
    Ok(found.expect("no column is left out of a read that the first one ends"))
}

/// The same; but where the distinct values take more, all rows are read all the same to find the
/// columns that must be left out for the others to fit, those that take most. These are given; the
/// rows of such a read are not all there.
pub fn read_spilled_or_too_large(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    scratch: &Arc<Scratch>,
    most_bytes: u64,
) -> Result<Result<Spilled, Vec<usize>>, EngineError> {
    let mut shared = Shared::new(engine, source, uses, true, (scratch, most_bytes));
    shared.goes_on = true;
    read_shared(engine, source, uses, shared)
}

/// Reads every row, or gives the columns that were left out.
fn read_shared(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    mut shared: Shared,
) -> Result<Result<Spilled, Vec<usize>>, EngineError> {
    refuse_uncodable(source, uses)?;
    let n_before = engine.n_rows_done();
    let reading = |error: DataFusionError| EngineError::Read(Detail::of_datafusion(&error));
    let columns: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] != Use::Skip).collect();
    let scan = plan(engine, source, &columns, uses).map_err(reading)?;
    let n_parts = scan.properties().output_partitioning().partition_count();
    shared.held =
        (0..n_parts).map(|_| shared.left_out.iter().map(|_| 0.into()).collect()).collect();
    let shared = Arc::new(shared);
    let mut tasks = Vec::new();
    for part in 0..n_parts {
        let stream = scan
            .execute(part, engine.task_of(source.row_bytes(), columns.len()))
            .map_err(reading)?;
        let stream = Guarded::new(stream);
        tasks.push(engine.runtime().spawn(read_part(stream, part, Arc::clone(&shared))));
    }
    let mut parts = Vec::new();
    for task in tasks {
        let found = engine.runtime().block_on(task).expect("a reading task does not panic");
        engine.go_on()?;
        parts.push(found?);
    }
    source.check_unchanged()?;
    let coded = (0..uses.len()).filter(|&at| uses[at] == Use::Code);
    let left_out = coded.zip(&shared.left_out).filter(|(_, is_out)| is_out.load(Ordering::Relaxed));
    let left_out: Vec<usize> = left_out.map(|(at, _)| at).collect();
    if !left_out.is_empty() {
        return Ok(Err(left_out));
    }
    let spilled = assemble(source, uses, parts, &shared.scratch)?;
    engine.have_done(n_before + spilled.n_rows);
    Ok(Ok(spilled))
}

fn assemble(
    source: &Source,
    uses: &[Use],
    found: Vec<Found>,
    scratch: &Arc<Scratch>,
) -> Result<Spilled, EngineError> {
    let coded: Vec<_> =
        (0..uses.len()).zip(source.columns()).filter(|(at, _)| uses[*at] == Use::Code).collect();
    let mut by_column: Vec<Vec<Encoder>> = coded.iter().map(|_| Vec::new()).collect();
    let n_kept = uses.iter().filter(|usage| **usage == Use::Keep).count();
    let mut fits: Vec<Option<Fit>> = vec![None; n_kept];
    let (mut parts, mut counted) = (Vec::new(), Vec::new());
    let mut contents = Contents::default();
    for Found { encoders, counted: of_counted, contents: said, codes, kept, fits: of_part } in found
    {
        Folded::merge_counted(&mut counted, of_counted);
        contents.add(said);
        for (column, encoder) in by_column.iter_mut().zip(encoders) {
            column.push(encoder);
        }
        for (fit, of_part) in fits.iter_mut().zip(of_part) {
            *fit = of_part.map_or(*fit, |of_part| Some(Fit::join(*fit, of_part)));
        }
        parts.push(PartFiles { codes, maps: Vec::new(), kept });
    }
    let mut values = Vec::new();
    // One column after another, so that what a column took to be read is free before the next one.
    for ((_, column), encoders) in coded.into_iter().zip(by_column) {
        let merged = merge_values(&column.name, &column.data_type, source.is_text(), encoders);
        values.push(merged.0);
        for (part, map) in parts.iter_mut().zip(merged.1) {
            part.maps.push(map);
        }
    }
    let n_rows = parts.iter().map(|part| part.codes.n_rows()).sum();
    if n_rows >= u64::from(u32::MAX) {
        return Err(EngineError::TooManyRows);
    }
    let kept = kept_columns(source, uses, &fits);
    let n_values = values.iter().map(|values| values.texts.len()).collect();
    let hashed = (source.columns().iter().zip(uses))
        .filter(|(_, usage)| **usage == Use::Hash)
        .map(|(column, _)| column.name.clone())
        .collect();
    let has_mixed = uses.iter().any(|usage| usage.is_mixed());
    let counted = CountedColumn::of_source(counted, source);
    let scratch = Arc::clone(scratch);
    Ok(Spilled {
        n_rows,
        values,
        n_values,
        hashed,
        has_mixed,
        counted,
        contents,
        kept,
        parts,
        scratch,
    })
}
