//! A source that was read once into private files.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use datafusion::error::DataFusionError;
use futures::StreamExt;
use incrowd_data::Codes;

use super::codes::{CodeFile, CodeReader, CodeWriter};
use super::hashed::hash_cells;
use super::{Scratch, spilling};
use crate::decode::{Guarded, guarded};
use crate::encode::{CellMap, Encoder, Values, merge_values};
use crate::error::Detail;
use crate::read::CountedColumn;
use crate::read::{Folded, KeptColumn, Watch, kept_columns, narrow, plain_array, refuse_uncodable};
use crate::source::UsedColumn;
use crate::source::plan;
use crate::value::content::Contents;
use crate::value::mix::halves_of;
use crate::value::stored::{Fit, plain_type};
use crate::{Engine, EngineError, Source, SourceColumn, Use};

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

/// Kept cells of one partition, as they are.
#[derive(Debug)]
pub(super) struct KeptFile {
    path: PathBuf,
    n_bytes: u64,
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

    /// Reads a part from its beginning: of each column of `wanted`, by its place among the coded ones, with
    /// what its codes become and their number; halves of hashes stay as they are.
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
            codes: codes.read()?,
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

    /// The codes of a column in all rows, part by part; rows that cannot be read any more are left out.
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

pub(super) fn unreadable(error: arrow::error::ArrowError) -> EngineError {
    spilling(match error {
        arrow::error::ArrowError::IoError(_, error) => error,
        _ => std::io::ErrorKind::InvalidData.into(),
    })
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

/// Reads every row of a source once into private files. The distinct values may take `most_bytes` in memory.
/// `wants_fits` asks what the kept columns of a text file hold.
pub fn read_spilled(
    engine: &Engine,
    source: &Source,
    uses: &[Use],
    wants_fits: bool,
    scratch: &Arc<Scratch>,
    most_bytes: u64,
) -> Result<Spilled, EngineError> {
    refuse_uncodable(source, uses)?;
    let n_before = engine.n_rows_done();
    let reading = |error: DataFusionError| EngineError::Read(Detail::of_datafusion(&error));
    let columns: Vec<usize> = (0..uses.len()).filter(|&at| uses[at] != Use::Skip).collect();
    let scan = plan(engine, source, &columns, uses).map_err(reading)?;
    let n_parts = scan.properties().output_partitioning().partition_count();
    let shared = Arc::new(Shared {
        columns: UsedColumn::of_source(source, uses, &columns),
        wants_fits: wants_fits && source.is_text(),
        held: (0..n_parts).map(|_| AtomicUsize::new(0)).collect(),
        most_bytes: usize::try_from(most_bytes).unwrap_or(usize::MAX),
        n_read: AtomicU64::new(0),
        n_rows: source.size(uses)?.rows,
        block_rows: engine.portions().of_rows(source.row_bytes(), columns.len()).block_rows,
        watch: Watch::new(engine),
        scratch: Arc::clone(scratch),
    });
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
    let spilled = assemble(source, uses, parts, scratch)?;
    engine.have_done(n_before + spilled.n_rows);
    Ok(spilled)
}

/// What the tasks that read partitions share.
struct Shared {
    columns: Vec<UsedColumn>,
    wants_fits: bool,
    /// By partition, the bytes of its distinct values.
    held: Vec<AtomicUsize>,
    most_bytes: usize,
    /// Rows that were read so far, and about all rows.
    n_read: AtomicU64,
    n_rows: u64,
    /// Rows from which a block is complete.
    block_rows: usize,
    watch: Watch,
    scratch: Arc<Scratch>,
}

impl Shared {
    /// Whether some columns go into hashes of the rows.
    fn has_mixed(&self) -> bool {
        self.columns.iter().any(|used| used.usage.is_mixed())
    }
}

/// What one partition of the scan found.
struct Found {
    encoders: Vec<Encoder>,
    counted: Vec<CountedColumn>,
    contents: Contents,
    codes: CodeFile,
    kept: Option<KeptFile>,
    fits: Vec<Option<Fit>>,
}

async fn read_part(
    mut stream: Guarded,
    part: usize,
    shared: Arc<Shared>,
) -> Result<Found, EngineError> {
    let mut writer = PartWriter::new(part, &shared)?;
    let mut n_rows = 0;
    while let Some(batch) = stream.next().await {
        if shared.watch.is_cancelled() {
            break;
        }
        let undecoded = |error| EngineError::Read(Detail::of_datafusion(&error));
        let batch = batch.map_err(undecoded)?;
        n_rows += batch.num_rows() as u64;
        // Arrays of a damaged file may fail only when they are looked at.
        guarded(|| writer.add(batch)).map_err(undecoded)??;
        shared.watch.report(n_rows);
    }
    writer.finish()
}

/// The files of a partition that is being read.
struct PartWriter<'a> {
    part: usize,
    shared: &'a Shared,
    encoders: Vec<Encoder>,
    /// By hashed column, the halves of the hashes of the same rows.
    hashes: Vec<[Vec<u32>; 2]>,
    folded: Folded,
    /// Rows in the encoders.
    n_open: usize,
    codes: CodeWriter,
    kept: KeptWriter,
}

impl<'a> PartWriter<'a> {
    fn new(part: usize, shared: &'a Shared) -> Result<PartWriter<'a>, EngineError> {
        let with = |usage: Use| {
            let columns = shared.columns.iter().filter(move |used| used.usage == usage);
            columns.map(|used| &used.column)
        };
        let encoders: Vec<Encoder> =
            with(Use::Code).map(|column| Encoder::new(&column.data_type)).collect();
        let hashes: Vec<[Vec<u32>; 2]> = with(Use::Hash).map(|_| Default::default()).collect();
        let folded = Folded::new(&shared.columns);
        let n_columns = encoders.len() + 2 * hashes.len() + 2 * usize::from(shared.has_mixed());
        let codes = CodeWriter::new(&shared.scratch, &format!("codes-{part}"), n_columns)?;
        let path = shared.scratch.path(&format!("kept-{part}"));
        let kept = KeptWriter::new(path, with(Use::Keep), shared.wants_fits)?;
        Ok(PartWriter { part, shared, encoders, hashes, folded, n_open: 0, codes, kept })
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), EngineError> {
        let (_, columns, n_rows) = batch.into_parts();
        let (mut encoders, mut hashes) = (self.encoders.iter_mut(), self.hashes.iter_mut());
        let mut kept = Vec::new();
        let undecoded = |error| EngineError::Read(Detail::of_arrow(&error));
        self.folded.add(&columns, &self.shared.columns).map_err(undecoded)?;
        for (array, UsedColumn { usage, column }) in columns.into_iter().zip(&self.shared.columns) {
            match usage {
                Use::Code => {
                    let encoder = encoders.next().expect("one encoder a coded column");
                    encoder.add(&array).map_err(undecoded)?;
                }
                Use::Hash => {
                    let to = hashes.next().expect("a place for every hashed column");
                    hash_cells(&column.data_type, &array, to)?;
                }
                Use::Keep => kept.push(plain_array(array).map_err(undecoded)?),
                Use::Mix(_) | Use::Count | Use::MixAndCount(_) | Use::Skip => {}
            }
        }
        if n_rows > 0 {
            self.kept.write(kept)?;
        }
        self.n_open += n_rows;
        if self.n_open >= self.shared.block_rows { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> Result<(), EngineError> {
        if self.n_open == 0 {
            return Ok(());
        }
        let mut block: Vec<Codes> = self.encoders.iter_mut().map(Encoder::take_cells).collect();
        block.extend(self.hashes.iter_mut().flatten().map(|half| Codes::U32(std::mem::take(half))));
        if self.shared.has_mixed() {
            block.extend(halves_of(&std::mem::take(&mut self.folded.mixed)));
        }
        let n_rows = std::mem::take(&mut self.n_open);
        self.codes.write_rows(n_rows, &block)?;
        self.shared.n_read.fetch_add(n_rows as u64, Ordering::Relaxed);
        self.check_held()
    }

    /// An error if the distinct values take too much.
    fn check_held(&self) -> Result<(), EngineError> {
        let by_column: Vec<usize> = self.encoders.iter().map(Encoder::held_bytes).collect();
        self.shared.held[self.part].store(by_column.iter().sum(), Ordering::Relaxed);
        let held: usize = self.shared.held.iter().map(|held| held.load(Ordering::Relaxed)).sum();
        if held <= self.shared.most_bytes {
            return Ok(());
        }
        let mut coded = self.shared.columns.iter().filter(|used| used.usage == Use::Code);
        let largest = (0..by_column.len()).max_by_key(|&at| by_column[at]).unwrap_or(0);
        let column = coded.nth(largest).map_or_else(String::new, |used| used.column.name.clone());
        // More rows may bring new values at the same rate, but not faster.
        let n_read = self.shared.n_read.load(Ordering::Relaxed).max(1);
        let of_all = held as u128 * u128::from(self.shared.n_rows.max(n_read)) / u128::from(n_read);
        let of_all = u64::try_from(of_all).unwrap_or(u64::MAX);
        Err(EngineError::TooManyValues { column, needed: limit_for(of_all) })
    }

    fn finish(mut self) -> Result<Found, EngineError> {
        self.write_block()?;
        let PartWriter { encoders, folded, codes, kept, .. } = self;
        let (kept, fits) = kept.finish()?;
        let Folded { counted, contents, .. } = folded;
        Ok(Found { encoders, counted, contents, codes: codes.finish()?, kept, fits })
    }
}

/// The memory limit in megabytes under which distinct values of about so many bytes can be read: they
/// are held twice while they are put into their order, and tables grow in steps.
pub(super) fn limit_for(value_bytes: u64) -> u64 {
    value_bytes.saturating_mul(3).div_ceil(1_000_000)
}

/// Kept cells that are being written as they are.
pub(super) struct KeptWriter {
    path: PathBuf,
    /// None without a kept column.
    file: Option<(SchemaRef, StreamWriter<BufWriter<File>>)>,
    wants_fits: bool,
    fits: Vec<Option<Fit>>,
}

impl KeptWriter {
    pub(super) fn new<'a>(
        path: PathBuf,
        columns: impl Iterator<Item = &'a SourceColumn>,
        wants_fits: bool,
    ) -> Result<KeptWriter, EngineError> {
        let field =
            |column: &SourceColumn| Field::new(&column.name, plain_type(&column.data_type), true);
        let fields: Vec<Field> = columns.map(field).collect();
        let fits = vec![None; fields.len()];
        let file = if fields.is_empty() {
            None
        } else {
            let schema = Arc::new(Schema::new(fields));
            let file = BufWriter::with_capacity(1 << 18, File::create(&path).map_err(spilling)?);
            let writer = StreamWriter::try_new(file, &schema).map_err(unreadable)?;
            Some((schema, writer))
        };
        Ok(KeptWriter { path, file, wants_fits, fits })
    }

    /// Appends some rows, an array for each column.
    pub(super) fn write(&mut self, kept: Vec<ArrayRef>) -> Result<(), EngineError> {
        if self.wants_fits {
            for (fit, array) in self.fits.iter_mut().zip(&kept) {
                narrow(fit, array);
            }
        }
        let Some((schema, writer)) = &mut self.file else { return Ok(()) };
        let batch = RecordBatch::try_new(Arc::clone(schema), kept).map_err(unreadable)?;
        writer.write(&batch).map_err(unreadable)
    }

    /// The file, if there is a kept column, and what the columns of texts hold.
    pub(super) fn finish(self) -> Result<(Option<KeptFile>, Vec<Option<Fit>>), EngineError> {
        let Some((_, mut writer)) = self.file else { return Ok((None, self.fits)) };
        writer.finish().map_err(unreadable)?;
        let n_bytes = std::fs::metadata(&self.path).map_err(spilling)?.len();
        Ok((Some(KeptFile { path: self.path, n_bytes }), self.fits))
    }
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
