//! Equal rows put together in bounded memory.
//!
//! Every thread counts the rows that it meets in a small table. When that is full its records go to
//! the part of all rows that a hash of the deciding columns names, in memory as long as there is
//! room and in private files then. A part is sorted in memory (or, where too much belongs together,
//! piece by piece), so that what belongs together is met one after another. A table with few
//! different rows never leaves the small tables; one with mostly different ones goes by them, since
//! counting would not make it smaller.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use incrowd_data::Codes;
use rayon::prelude::*;

use super::Scratch;
use super::key::{Layout, Recent, hash, is_same, merge_runs};
use super::records::{RecordReader, append, in_order};
use crate::{Engine, EngineError};

/// Bytes of a part that is sorted fast.
const GOOD_PART: u64 = 4 << 20;
const MOST_PARTS: u64 = 4096;
/// Bytes of a thread's table that are looked up fast.
const GOOD_TABLE: u64 = 32 << 20;

/// What is to be put together.
#[derive(Clone, Debug)]
pub struct Grouping<'a> {
    /// The number of codes of each column.
    pub n_codes: &'a [u32],
    /// How many of the first columns decide what belongs together.
    pub n_prefix: usize,
    /// Rows in all.
    pub n_rows: u64,
    /// Bytes that may be held.
    pub room: u64,
    /// Where the rest goes.
    pub scratch: &'a Arc<Scratch>,
}

/// Whoever is told the different rows.
pub trait Visit: Send {
    /// A row that differs from those before it: whether it also does in the deciding columns, its
    /// codes in the others, and how often it occurs. What belongs together comes together, in
    /// ascending order.
    fn row(&mut self, is_first: bool, rest: &[u32], n_rows: u64);
}

/// Blocks of rows, column by column, wherever they come from: gives each to the function.
pub type Blocks<'a> = dyn FnMut(&[Codes]) -> Result<(), EngineError> + 'a;

/// Puts equal rows together. `fill` gives the rows of each of `n_sources` sources; each visitor
/// that `visitor` makes is told a part of what was found.
pub fn group<V: Visit>(
    engine: &Engine,
    how: &Grouping,
    n_sources: usize,
    fill: &(dyn Fn(usize, &mut Blocks) -> Result<(), EngineError> + Sync),
    visitor: &(dyn Fn() -> V + Sync),
) -> Result<Vec<V>, EngineError> {
    let layout = Layout::new(how.n_codes, how.n_prefix);
    match layout.n_words() {
        1 => Groups::<2>::new(engine, how, layout).run(n_sources, fill, visitor),
        2 => Groups::<3>::new(engine, how, layout).run(n_sources, fill, visitor),
        3 => Groups::<4>::new(engine, how, layout).run(n_sources, fill, visitor),
        4 => Groups::<5>::new(engine, how, layout).run(n_sources, fill, visitor),
        5..=8 => Groups::<9>::new(engine, how, layout).run(n_sources, fill, visitor),
        9..=32 => Groups::<33>::new(engine, how, layout).run(n_sources, fill, visitor),
        33..=256 => Groups::<257>::new(engine, how, layout).run(n_sources, fill, visitor),
        _ => Err(EngineError::TooManyColumns),
    }
}

/// All records, part by part.
struct Groups<'a, const W: usize> {
    engine: &'a Engine,
    layout: Layout,
    prefix: [u64; W],
    parts: Vec<Mutex<HashPart<W>>>,
    /// Bytes of the records in memory, and how many there may be.
    held: AtomicU64,
    most_held: u64,
    /// Records that a thread collects before they go to a part.
    buffered: usize,
    table_bytes: usize,
    /// Records that are sorted in memory at a time.
    most_sorted: usize,
    folder: PathBuf,
}

/// Records with the same hash, to a degree.
#[derive(Default)]
struct HashPart<const W: usize> {
    chunks: Vec<Vec<[u64; W]>>,
    n_in_file: usize,
}

impl<'a, const W: usize> Groups<'a, W> {
    fn new(engine: &'a Engine, how: &Grouping, layout: Layout) -> Groups<'a, W> {
        let record = size_of::<[u64; W]>() as u64;
        let n_threads = engine.n_threads() as u64;
        // Half of the room is for records, a quarter for parts being sorted, the rest for what is
        // underway.
        let part = (how.room / 4 / n_threads).clamp(1, GOOD_PART);
        let n_parts = (how.n_rows * record).div_ceil(part).clamp(1, MOST_PARTS);
        let n_parts = if n_parts > 1 { n_parts.max(2 * n_threads) } else { 1 };
        let table = (how.room / 8 / n_threads).min(GOOD_TABLE);
        let buffer = (how.room / 8 / n_threads / n_parts).clamp(1 << 10, 1 << 16);
        let small = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Groups {
            engine,
            prefix: layout.prefix(),
            layout,
            parts: (0..n_parts).map(|_| Mutex::default()).collect(),
            held: AtomicU64::new(0),
            most_held: how.room / 2,
            buffered: small(buffer / record).max(1),
            table_bytes: small(table),
            // Parts are not equally large.
            most_sorted: small(2 * part / record).max(2),
            folder: how.scratch.path(""),
        }
    }

    fn run<V: Visit>(
        &self,
        n_sources: usize,
        fill: &(dyn Fn(usize, &mut Blocks) -> Result<(), EngineError> + Sync),
        visitor: &(dyn Fn() -> V + Sync),
    ) -> Result<Vec<V>, EngineError> {
        (0..n_sources).into_par_iter().with_max_len(1).try_for_each(|source| {
            let mut filler = Filler::new(self);
            fill(source, &mut |block| {
                self.engine.go_on()?;
                filler.add(block)
            })?;
            filler.finish()
        })?;
        let next = AtomicUsize::new(0);
        let n_visitors = self.engine.n_threads().min(self.parts.len());
        (0..n_visitors)
            .into_par_iter()
            .with_max_len(1)
            .map(|_| {
                let mut visitor = visitor();
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= self.parts.len() {
                        return Ok(visitor);
                    }
                    self.engine.go_on()?;
                    self.visit(part, &mut visitor)?;
                }
            })
            .collect()
    }

    fn path(&self, part: usize) -> PathBuf {
        self.folder.join(format!("group-{part}"))
    }

    /// The part that a record belongs to.
    fn part_of(&self, record: &[u64; W]) -> usize {
        let high = hash(record, &self.prefix) >> 32;
        usize::try_from((high * self.parts.len() as u64) >> 32).unwrap_or(0)
    }

    fn push(&self, part: usize, records: &mut Vec<[u64; W]>) -> Result<(), EngineError> {
        let bytes = size_of_val(records.as_slice()) as u64;
        let held = self.held.fetch_add(bytes, Ordering::Relaxed);
        let mut to = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        if held + bytes <= self.most_held {
            to.chunks.push(records.as_slice().to_vec());
        } else {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            append(&self.path(part), records)?;
            to.n_in_file += records.len();
        }
        records.clear();
        Ok(())
    }

    /// Tells the records of a part, which is empty then.
    fn visit(&self, part: usize, visitor: &mut dyn Visit) -> Result<(), EngineError> {
        let mut from = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let HashPart { chunks, mut n_in_file } = std::mem::take(&mut *from);
        drop(from);
        let n_held = chunks.iter().map(Vec::len).sum::<usize>();
        let path = self.path(part);
        let mut teller =
            Teller { groups: self, visitor, open: None, rest: Vec::new(), is_new: true };
        if n_held + n_in_file <= self.most_sorted {
            let mut records = Vec::with_capacity(n_held + n_in_file);
            for chunk in chunks {
                records.extend_from_slice(&chunk);
            }
            self.held.fetch_sub(size_of_val(records.as_slice()) as u64, Ordering::Relaxed);
            if n_in_file > 0 {
                RecordReader::open(&path, n_in_file)?.read_into(&mut records, n_in_file)?;
            }
            records.sort_unstable_by(|a, b| a[..W - 1].cmp(&b[..W - 1]));
            for record in records {
                teller.add(record);
            }
        } else {
            for chunk in chunks {
                append(&path, &chunk)?;
                n_in_file += chunk.len();
                self.held.fetch_sub(size_of_val(chunk.as_slice()) as u64, Ordering::Relaxed);
            }
            let reader = RecordReader::open(&path, n_in_file)?;
            in_order(reader, self.most_sorted, |record| teller.add(record))?;
        }
        teller.finish();
        Ok(())
    }
}

/// Tells a visitor of records that come in ascending order.
struct Teller<'a, const W: usize> {
    groups: &'a Groups<'a, W>,
    visitor: &'a mut dyn Visit,
    /// The record that is being counted.
    open: Option<[u64; W]>,
    rest: Vec<u32>,
    /// Whether it differs in the deciding columns from those before it.
    is_new: bool,
}

impl<const W: usize> Teller<'_, W> {
    fn add(&mut self, record: [u64; W]) {
        let is_new = match &mut self.open {
            None => true,
            Some(open) if is_same(open, &record) => {
                open[W - 1] += record[W - 1];
                return;
            }
            Some(open) => {
                let prefix = &self.groups.prefix;
                (0..W - 1).any(|word| (open[word] ^ record[word]) & prefix[word] != 0)
            }
        };
        self.tell();
        (self.open, self.is_new) = (Some(record), is_new);
    }

    fn tell(&mut self) {
        if let Some(record) = self.open.take() {
            self.groups.layout.rest(&record, &mut self.rest);
            self.visitor.row(self.is_new, &self.rest, record[W - 1]);
        }
    }

    fn finish(mut self) {
        self.tell();
    }
}

/// A thread that brings records to their parts.
struct Filler<'a, const W: usize> {
    groups: &'a Groups<'a, W>,
    records: Vec<[u64; W]>,
    recent: Recent<W>,
    /// Records that arrived since the table was empty.
    n_arrived: usize,
    /// Records that still go by the table, which made nothing smaller.
    n_direct: usize,
    buffers: Vec<Vec<[u64; W]>>,
}

impl<'a, const W: usize> Filler<'a, W> {
    fn new(groups: &'a Groups<'a, W>) -> Filler<'a, W> {
        Filler {
            groups,
            records: Vec::new(),
            recent: Recent::new(groups.table_bytes),
            n_arrived: 0,
            n_direct: 0,
            buffers: groups.parts.iter().map(|_| Vec::new()).collect(),
        }
    }

    fn add(&mut self, block: &[Codes]) -> Result<(), EngineError> {
        let mut records = std::mem::take(&mut self.records);
        self.groups.layout.pack(block, &mut records);
        merge_runs(&mut records);
        for record in &records {
            if self.n_direct > 0 {
                self.n_direct -= 1;
                self.send(record)?;
                continue;
            }
            self.n_arrived += 1;
            if !self.recent.add(record) {
                self.empty()?;
            }
        }
        self.records = records;
        Ok(())
    }

    /// Empties the table.
    fn empty(&mut self) -> Result<(), EngineError> {
        let n_records = self.recent.len();
        if 3 * n_records > 2 * self.n_arrived {
            self.n_direct = 16 * n_records;
        }
        self.n_arrived = 0;
        let mut recent = std::mem::replace(&mut self.recent, Recent::new(0));
        for record in recent.drain() {
            self.send(&record)?;
        }
        self.recent = recent;
        Ok(())
    }

    fn send(&mut self, record: &[u64; W]) -> Result<(), EngineError> {
        let part = self.groups.part_of(record);
        let buffer = &mut self.buffers[part];
        buffer.push(*record);
        if buffer.len() >= self.groups.buffered { self.groups.push(part, buffer) } else { Ok(()) }
    }

    fn finish(mut self) -> Result<(), EngineError> {
        self.empty()?;
        for (part, mut buffer) in std::mem::take(&mut self.buffers).into_iter().enumerate() {
            if !buffer.is_empty() {
                self.groups.push(part, &mut buffer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What a visitor is told, the rows with the same deciding code together.
    #[derive(Default)]
    struct Seen(Vec<Vec<(u32, u64)>>);

    impl Visit for Seen {
        fn row(&mut self, is_first: bool, rest: &[u32], n_rows: u64) {
            if is_first {
                self.0.push(Vec::new());
            }
            self.0.last_mut().unwrap().push((rest[0], n_rows));
        }
    }

    /// Rows of a deciding code and another one, in two sources.
    #[track_caller]
    fn check(rows: &[(u32, u32)], room: u64) {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Arc::new(Scratch::new(Some(folder.path())).unwrap());
        let engine = Engine::new(2, Arc::default(), Arc::default());
        let n_codes = [1 << 20, 1 << 20];
        let n_rows = rows.len() as u64;
        let how = Grouping { n_codes: &n_codes, n_prefix: 1, n_rows, room, scratch: &scratch };
        let half = rows.len() / 2;
        let sources = [&rows[..half], &rows[half..]];
        let fill = |source: usize, give: &mut Blocks| {
            sources[source].chunks(1000).try_for_each(|rows| {
                give(&[
                    Codes::pack(n_codes[0], rows.iter().map(|row| row.0)),
                    Codes::pack(n_codes[1], rows.iter().map(|row| row.1)),
                ])
            })
        };
        let told = group(&engine, &how, 2, &fill, &Seen::default).unwrap();
        let mut found: Vec<_> = told.into_iter().flat_map(|told| told.0).collect();
        found.sort();
        let mut expected: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
        for &(first, rest) in rows {
            *expected.entry(first).or_default().entry(rest).or_default() += 1;
        }
        let mut expected: Vec<Vec<(u32, u64)>> =
            expected.into_values().map(|rest| rest.into_iter().collect()).collect();
        expected.sort();
        assert!(found == expected, "{} rows in {room} bytes", rows.len());
        let left: Vec<_> = std::fs::read_dir(scratch.path("")).unwrap().collect();
        assert_eq!(left.len(), 0, "nothing is left");
    }

    #[test]
    fn rows_are_put_together_in_any_room() {
        let few: Vec<(u32, u32)> = (0..50_000).map(|row| (row % 7, row % 3)).collect();
        let distinct: Vec<(u32, u32)> =
            (0..50_000).map(|row| (row * 37 % 50_000, row % 9)).collect();
        // What belongs together alone takes more than there is.
        let skewed: Vec<(u32, u32)> =
            (0..50_000).map(|row| (u32::from(row % 50 == 0), row)).collect();
        for room in [1 << 12, 1 << 16, 1 << 20, 1 << 26] {
            for rows in [&few, &distinct, &skewed] {
                check(rows, room);
            }
            check(&[], room);
        }
    }
}
