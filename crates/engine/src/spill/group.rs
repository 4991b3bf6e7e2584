//! Equal rows put together in bounded memory.
//!
//! Every thread counts the rows that it meets in a small table. When that is full its records go to the
//! part of all rows that a hash of the deciding columns names, in memory as long as there is room and in
//! private files then. A part is sorted in memory, so that what belongs together is met one after
//! another. A table with few different rows never leaves the small tables; one with mostly different
//! ones goes by them, since counting would not make it smaller.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use incrowd_data::Codes;
use rayon::prelude::*;

use super::key::{Layout, Recent, hash, merge_runs};
use super::{Scratch, spilling};
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
    /// A row that differs from those before it: whether it also does in the deciding columns, its codes in
    /// the others, and how often it occurs. What belongs together comes together, in ascending order.
    fn row(&mut self, is_first: bool, rest: &[u32], n_rows: u64);
}

/// Blocks of rows, column by column, wherever they come from: gives each to the function.
pub type Blocks<'a> = dyn FnMut(&[Codes]) -> Result<(), EngineError> + 'a;

/// Puts equal rows together. `fill` gives the rows of each of `n_sources` sources; each visitor that
/// `visitor` makes is told a part of what was found.
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
    parts: Vec<Mutex<Part<W>>>,
    /// Bytes of the records in memory, and how many there may be.
    held: AtomicU64,
    most_held: u64,
    /// Records that a thread collects before they go to a part.
    buffered: usize,
    table_bytes: usize,
    folder: PathBuf,
}

/// Records with the same hash, to a degree.
#[derive(Default)]
struct Part<const W: usize> {
    chunks: Vec<Vec<[u64; W]>>,
    n_in_file: usize,
}

impl<'a, const W: usize> Groups<'a, W> {
    fn new(engine: &'a Engine, how: &Grouping, layout: Layout) -> Groups<'a, W> {
        let record = size_of::<[u64; W]>() as u64;
        let n_threads = engine.n_threads() as u64;
        // Half of the room is for records, a quarter for parts being sorted, the rest for what is underway.
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
            let bytes: Vec<u8> =
                records.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
            // Not kept open: there may be more parts than files that a process may have open.
            let file = OpenOptions::new().create(true).append(true).open(self.path(part));
            file.and_then(|mut file| file.write_all(&bytes)).map_err(spilling)?;
            to.n_in_file += records.len();
        }
        records.clear();
        Ok(())
    }

    /// The records of a part, which is empty then.
    fn take(&self, part: usize) -> Result<Vec<[u64; W]>, EngineError> {
        let mut from = self.parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let Part { chunks, n_in_file } = std::mem::take(&mut *from);
        let n_held = chunks.iter().map(Vec::len).sum::<usize>();
        let mut records = Vec::with_capacity(n_held + n_in_file);
        chunks.into_iter().for_each(|chunk| records.extend_from_slice(&chunk));
        self.held.fetch_sub(size_of_val(records.as_slice()) as u64, Ordering::Relaxed);
        if n_in_file > 0 {
            let path = self.path(part);
            let mut file = std::fs::File::open(&path).map_err(spilling)?;
            let mut left = n_in_file;
            let mut bytes = vec![0; (1 << 15) * size_of::<[u64; W]>()];
            while left > 0 {
                let n = left.min(1 << 15);
                let bytes = &mut bytes[..n * size_of::<[u64; W]>()];
                file.read_exact(bytes).map_err(spilling)?;
                records.extend(bytes.chunks_exact(size_of::<[u64; W]>()).map(|record| {
                    let (words, _) = record.as_chunks::<8>();
                    std::array::from_fn(|word| u64::from_le_bytes(words[word]))
                }));
                left -= n;
            }
            std::fs::remove_file(&path).map_err(spilling)?;
        }
        Ok(records)
    }

    fn visit(&self, part: usize, visitor: &mut dyn Visit) -> Result<(), EngineError> {
        let mut records = self.take(part)?;
        records.sort_unstable_by(|a, b| a[..W - 1].cmp(&b[..W - 1]));
        merge_runs(&mut records);
        let mut rest = Vec::new();
        let mut last: Option<[u64; W]> = None;
        for record in records {
            let differs = |last: [u64; W]| {
                (0..W - 1).any(|word| (last[word] ^ record[word]) & self.prefix[word] != 0)
            };
            self.layout.rest(&record, &mut rest);
            visitor.row(last.is_none_or(differs), &rest, record[W - 1]);
            last = Some(record);
        }
        Ok(())
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
