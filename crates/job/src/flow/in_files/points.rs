//! Rows in private files as the vectors that a search looks at.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use incrowd_data::{Codes, sample_hashes};
use incrowd_engine::{BlockReader, CodeFile, CodeWriter, EngineError, Spilled};
use rayon::prelude::*;

use crate::flow::coding::CodedAs;
use crate::plan::Plan;
use crate::spec::error::JobError;

/// The columns of a scheme, over rows in private files.
pub(crate) struct Points<'a> {
    pub(crate) spilled: &'a Spilled,
    /// By column of the scheme, its place among the coded ones, what its codes become, and their
    /// number.
    wanted: Vec<(usize, &'a [u32], u32)>,
}

/// Equal rows put together: the distinct vectors in ascending order.
pub(crate) struct GroupedRows {
    /// One column of codes for each of the scheme.
    pub(crate) vectors: Vec<Codes>,
    /// Rows per vector.
    pub(crate) counts: Vec<u32>,
    pub(crate) rows: VectorOfRow,
}

/// The vector of every row.
pub(crate) struct VectorOfRow {
    /// By part, the group of each of its rows.
    files: Vec<CodeFile>,
    /// By part and group, the vector.
    vector_of: Vec<Vec<u32>>,
}

impl<'a> Points<'a> {
    pub(crate) fn new(plan: &Plan, columns: &'a [CodedAs], spilled: &'a Spilled) -> Points<'a> {
        let wanted = |coded: &'a CodedAs| {
            let at = spilled.position(&plan.columns[coded.at].name);
            (at.expect("the column was read with codes"), &coded.map[..], coded.n_codes)
        };
        Points { spilled, wanted: columns.iter().map(wanted).collect() }
    }

    /// Reads the vectors of a part.
    pub(crate) fn read(&self, part: usize) -> Result<BlockReader, EngineError> {
        self.spilled.read_part(part, &self.wanted)
    }

    /// The number of codes of each column.
    pub(crate) fn n_codes(&self) -> impl Iterator<Item = u32> {
        self.wanted.iter().map(|(_, _, n_codes)| *n_codes)
    }

    /// About how many distinct vectors there are: counted exactly over those whose hash falls into
    /// a 64th of its range.
    pub(crate) fn estimate_distinct(&self) -> Result<u64, JobError> {
        let parts = 0..self.spilled.n_parts();
        let sampled = parts.into_par_iter().map(|part| {
            let mut reader = self.read(part)?;
            let mut hashes = Vec::new();
            while let Some(block) = reader.next_block()? {
                sample_hashes(&block.codes, &mut hashes);
            }
            Ok(hashes)
        });
        let mut sampled = sampled.collect::<Result<Vec<Vec<u64>>, JobError>>()?.concat();
        let n_sampled = sampled.len() as u64;
        sampled.par_sort_unstable();
        sampled.dedup();
        if n_sampled < 64 {
            return Ok(self.spilled.n_rows);
        }
        let n_rows = u128::from(self.spilled.n_rows);
        let estimate = n_rows * sampled.len() as u128 / u128::from(n_sampled);
        Ok(u64::try_from(estimate).unwrap_or(u64::MAX))
    }

    /// Puts equal rows together, part by part side by side.
    pub(crate) fn group(&self) -> Result<GroupedRows, JobError> {
        let n_columns = self.wanted.len();
        let parts = (0..self.spilled.n_parts()).into_par_iter().map(|part| {
            let mut file = CodeWriter::new(self.spilled.scratch(), &format!("groups-{part}"), 1)?;
            let mut groups = Groups::new(n_columns);
            let mut reader = self.read(part)?;
            while let Some(block) = reader.next_block()? {
                file.write(&[groups.add(&block.codes)])?;
            }
            Ok((groups, file.finish()?))
        });
        let parts = parts.collect::<Result<Vec<_>, JobError>>()?;
        let (parts, files): (Vec<Groups>, Vec<CodeFile>) = parts.into_iter().unzip();
        let (vectors, counts, vector_of) = merge(parts, &self.n_codes().collect::<Vec<u32>>());
        Ok(GroupedRows { vectors, counts, rows: VectorOfRow { files, vector_of } })
    }
}

/// Distinct rows of codes as they come.
pub(super) struct Groups {
    n_columns: usize,
    /// Row by row.
    cells: Vec<u32>,
    counts: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Groups {
    pub(super) fn new(n_columns: usize) -> Groups {
        Groups {
            n_columns,
            cells: Vec::new(),
            counts: Vec::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Adds rows; gives the group of each.
    pub(super) fn add(&mut self, columns: &[Codes]) -> Codes {
        let n_rows = columns.first().map_or(0, Codes::len);
        let rows = row_by_row(columns, n_rows);
        let width = self.n_columns.max(1);
        Codes::U32(rows.chunks_exact(width).map(|row| self.group_of(row)).collect())
    }

    fn group_of(&mut self, row: &[u32]) -> u32 {
        let Groups { n_columns, cells, counts, table, hasher } = self;
        let of = |group: u32| {
            let start = group as usize * *n_columns;
            start..start + *n_columns
        };
        let hash = hasher.hash_one(row);
        if let Some(&group) = table.find(hash, |&group| cells[of(group)] == *row) {
            counts[group as usize] += 1;
            return group;
        }
        let group = u32::try_from(counts.len()).expect("fewer vectors than rows");
        cells.extend_from_slice(row);
        counts.push(1);
        table.insert_unique(hash, group, |&group| hasher.hash_one(&cells[of(group)]));
        group
    }

    fn row(&self, group: u32) -> &[u32] {
        let start = group as usize * self.n_columns;
        &self.cells[start..start + self.n_columns]
    }
}

/// The cells of a block row by row.
fn row_by_row(columns: &[Codes], n_rows: usize) -> Vec<u32> {
    let width = columns.len();
    let mut rows = vec![0; width * n_rows];
    for (at, codes) in columns.iter().enumerate() {
        let cells = rows.iter_mut().skip(at).step_by(width);
        match codes {
            Codes::U8(codes) => cells.zip(codes).for_each(|(cell, &c)| *cell = c.into()),
            Codes::U16(codes) => cells.zip(codes).for_each(|(cell, &c)| *cell = c.into()),
            Codes::U32(codes) => cells.zip(codes).for_each(|(cell, &c)| *cell = c),
        }
    }
    rows
}

/// Distinct vectors of all parts in ascending order, their rows, and by part and group the vector.
pub(super) fn merge(parts: Vec<Groups>, n_codes: &[u32]) -> (Vec<Codes>, Vec<u32>, Vec<Vec<u32>>) {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_else(|| Groups::new(n_codes.len()));
    let n_first = u32::try_from(all.counts.len()).expect("fewer vectors than rows");
    let mut vector_of: Vec<Vec<u32>> = vec![(0..n_first).collect()];
    for part in parts {
        let mut of_part = Vec::with_capacity(part.counts.len());
        for (group, &rows) in (0u32..).zip(&part.counts) {
            let merged = all.group_of(part.row(group));
            // The group was counted as one row when it was added.
            all.counts[merged as usize] += rows - 1;
            of_part.push(merged);
        }
        vector_of.push(of_part);
    }
    all.table = HashTable::new();
    let n_groups = u32::try_from(all.counts.len()).expect("fewer vectors than rows");
    let mut order: Vec<u32> = (0..n_groups).collect();
    order.par_sort_unstable_by(|&a, &b| all.row(a).cmp(all.row(b)));
    let mut rank = vec![0; order.len()];
    for (vector, &group) in (0u32..).zip(&order) {
        rank[group as usize] = vector;
    }
    vector_of.par_iter_mut().flatten().for_each(|vector| *vector = rank[*vector as usize]);
    let column = |at: usize| {
        let codes = order.iter().map(|&group| all.row(group)[at]);
        Codes::pack(n_codes[at], codes)
    };
    let vectors = (0..n_codes.len()).into_par_iter().map(column).collect();
    let counts = order.iter().map(|&group| all.counts[group as usize]).collect();
    (vectors, counts, vector_of)
}

impl VectorOfRow {
    /// The vectors of the rows of a part, block by block as they were read.
    pub(crate) fn read(
        &self,
        part: usize,
    ) -> Result<impl FnMut() -> Result<Option<Vec<u32>>, EngineError> + '_, EngineError> {
        let mut reader = self.files[part].read()?;
        let vector_of = &self.vector_of[part];
        Ok(move || {
            let Some(block) = reader.next_block()? else { return Ok(None) };
            Ok(Some(block[0].iter().map(|group| vector_of[group as usize]).collect()))
        })
    }
}
