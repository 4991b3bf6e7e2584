//! A release of rows that are in private files: put into buckets by the place of their class, written
//! bucket by bucket.

use std::ops::Range;
use std::sync::Mutex;

use incrowd_data::{Codes, SUPPRESSED};
use incrowd_engine::{
    Bucket, Buckets, CodeWriter, Engine, EngineError, Kept, NOWHERE, Piece, Published, Rows,
    Spilled, Staging, Writer, chunk_ends, order_within,
};
use incrowd_release::Classes;
use rayon::prelude::*;

use super::points::VectorOfRow;
use super::regions::ClassOfRow;
use crate::bounds::Bounds;
use crate::error::JobError;
use crate::labelling::{Ordering, published as published_columns, refuse_equal_names};
use crate::measure::Entities;
use crate::plan::Plan;
use crate::publish::Starred;

/// Where the class of a row is found.
pub(crate) enum RowClasses {
    /// By its vector.
    Vectors { rows: VectorOfRow, class_of: Vec<u32> },
    /// Region by region.
    Regions(ClassOfRow),
}

type Blocks<'a> = Box<dyn FnMut() -> Result<Option<Vec<u32>>, EngineError> + 'a>;

/// A release that is about to be written.
pub(crate) struct Release<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) spilled: &'a Spilled,
    pub(crate) bounds: &'a Bounds,
    pub(crate) classes: &'a Classes,
    /// The places of the classes, and their labels.
    pub(crate) ordering: &'a Ordering<'a>,
    pub(crate) rows: &'a RowClasses,
    /// Vectors that are divided among classes: vector, class and rows, by vector.
    pub(crate) parts: &'a [(u32, u32, u32)],
}

/// What was written.
pub(crate) struct WrittenRows {
    pub(crate) n_rows: u64,
    pub(crate) starred: Starred,
    /// The entity of each row, where the release does not say it.
    pub(crate) entity: Option<Entities>,
}

/// The columns of rows in buckets: those that are published with codes, then the entity.
struct Columns<'a> {
    published: Vec<Published<'a>>,
    /// By coded column, its place in the files.
    coded: Vec<usize>,
    entity: Option<usize>,
}

impl Release<'_> {
    /// Writes the rows.
    pub(crate) fn write(&self, engine: &Engine, staged: &Staging) -> Result<WrittenRows, JobError> {
        let kept = self.spilled.kept_columns();
        let published = published_columns(self.plan, &self.ordering.columns, self.spilled, kept);
        refuse_equal_names(&published, kept)?;
        let columns = self.columns(published);
        let sizes = self.sizes();
        let buckets = self.buckets("bucket", self.bucket_ends(&sizes, &columns), &columns);
        let tally = self.fill(engine, &columns, &buckets)?;
        let mut writer = Writer::new(engine, &columns.published, kept, staged)?;
        let path = self.spilled.scratch().path("entity");
        let mut entities = columns.entity.map(|_| CodeWriter::new(&path, 1)).transpose()?;
        // Beside the parts one more, of the rows of divided vectors.
        let n_parts = self.spilled.n_parts() + 1;
        let mut n_rows = 0;
        for bucket in 0..buckets.len() {
            engine.go_on()?;
            let Bucket { numbers, codes, kept: batches } = buckets.take(bucket, n_parts)?;
            let rows = rows_of(&numbers, buckets.numbers(bucket));
            drop(numbers);
            n_rows += rows.order.len() as u64;
            let kept = Kept::new(kept.to_vec(), batches);
            if let (Some(file), Some(codes)) = (&mut entities, codes.last()) {
                let of_row = rows.order.iter().map(|&row| codes.get(row as usize));
                file.write(&[Codes::U32(of_row.collect())])?;
            }
            let range = buckets.numbers(bucket);
            let labels = self.ordering.labels_at(range.start as usize..range.end as usize);
            let published = published_columns(self.plan, &labels, self.spilled, kept.columns());
            // The labels are numbered from the first class of the bucket.
            let rows = Rows { first_class: 0, ..rows };
            writer.write_as(&published, &piece(&columns, &codes, &kept, &rows))?;
        }
        writer.finish()?;
        let entity = entities.map(CodeWriter::finish).transpose()?.zip(columns.entity);
        let entity = entity.map(|(file, at)| Entities::File(file, self.spilled.n_codes(at)));
        Ok(WrittenRows { n_rows, starred: self.starred(&tally), entity })
    }

    fn columns<'a>(&'a self, published: Vec<Published<'a>>) -> Columns<'a> {
        let position = |name: &str| self.spilled.position(name).expect("it was read with codes");
        let entity = self.plan.entity().map(|at| position(&self.plan.columns[at].name));
        let coded = published.iter().filter_map(|column| match column {
            Published::Coded { values, .. } => Some(position(&values.name)),
            Published::Labels(_) | Published::Kept(_) => None,
        });
        let coded = coded.chain(entity).collect();
        Columns { published, coded, entity }
    }

    /// The place of the rows of a class.
    fn place(&self, class: u32) -> u32 {
        match self.classes.number_of.get(class as usize) {
            Some(&number) if number != SUPPRESSED => self.ordering.place_of[number as usize],
            _ if self.plan.stars_suppressed => {
                self.ordering.place_of.last().copied().unwrap_or(NOWHERE)
            }
            _ => NOWHERE,
        }
    }

    /// Rows by place.
    fn sizes(&self) -> Vec<u64> {
        let n_places = self.ordering.place_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0; n_places];
        let recoded = &self.classes.recoded;
        for (&place, &size) in self.ordering.place_of.iter().zip(&recoded.sizes) {
            sizes[place as usize] += size;
        }
        if self.plan.stars_suppressed
            && let Some(&star) = self.ordering.place_of.last()
        {
            sizes[star as usize] += recoded.n_suppressed;
        }
        sizes
    }

    /// About the bytes of a row in memory.
    fn row_bytes(&self, columns: &Columns) -> u64 {
        16 + 4 * columns.coded.len() as u64 + self.spilled.kept_bytes_a_row()
    }

    /// Where buckets end: as large as fits, at the ends of chunks.
    fn bucket_ends(&self, sizes: &[u64], columns: &Columns) -> Vec<u32> {
        let most_rows = self.bounds.left() / 4 / self.row_bytes(columns);
        let (mut ends, mut first, mut n_rows) = (Vec::new(), 0, 0);
        for end in chunk_ends(sizes.iter().copied()) {
            let of_chunk: u64 = sizes[first..end].iter().sum();
            if n_rows > 0 && n_rows + of_chunk > most_rows {
                ends.push(first);
                n_rows = 0;
            }
            n_rows += of_chunk;
            first = end;
        }
        ends.push(sizes.len());
        ends.iter().map(|&end| u32::try_from(end).expect("fewer classes than 2^32")).collect()
    }

    fn buckets(&self, name: &str, ends: Vec<u32>, columns: &Columns) -> Buckets {
        let n_codes = columns.coded.iter().map(|&at| self.spilled.n_codes(at)).collect();
        Buckets::new(self.spilled.scratch(), name, ends, n_codes, self.spilled.kept_columns())
    }

    /// Puts every released row into its bucket. Gives the rows that are left out by value of the target.
    fn fill(
        &self,
        engine: &Engine,
        columns: &Columns,
        buckets: &Buckets,
    ) -> Result<Vec<u64>, JobError> {
        let target = self.plan.target().map(|at| self.plan.columns[at].name.as_str());
        let target = target.and_then(|name| self.spilled.position(name));
        let tally = Mutex::new(
            target.map_or_else(Vec::new, |at| vec![0u64; self.spilled.n_codes(at) as usize]),
        );
        let divided = self.divided(columns);
        let wanted: Vec<usize> = columns.coded.iter().copied().chain(target).collect();
        let maps: Vec<Vec<u32>> =
            wanted.iter().map(|&at| (0..self.spilled.n_codes(at)).collect()).collect();
        let wanted: Vec<(usize, &[u32], u32)> = wanted
            .iter()
            .zip(&maps)
            .map(|(&at, map)| (at, &map[..], self.spilled.n_codes(at)))
            .collect();
        (0..self.spilled.n_parts()).into_par_iter().try_for_each(|part| {
            let mut reader = self.spilled.read_part_with_kept(part, &wanted)?;
            let mut places = self.places(part, divided.as_ref())?;
            let mut filling = buckets.fill(part);
            let mut apart = divided.as_ref().map(|divided| divided.buckets.fill(part));
            while let Some(mut block) = reader.next_block()? {
                engine.go_on()?;
                let Places { places, vectors } = places()?;
                if target.is_some() {
                    let targets = block.codes.pop().expect("it was asked for");
                    let mut tally = tally.lock().expect("nobody panics here");
                    let left_out = places.iter().zip(targets.iter());
                    let is_left_out = |place: u32| self.is_left_out(place);
                    left_out
                        .filter(|(place, _)| is_left_out(**place))
                        .for_each(|(_, code)| tally[code as usize] += 1);
                }
                filling.add(&places, &block)?;
                if let Some(apart) = &mut apart {
                    apart.add(&vectors, &block)?;
                }
            }
            if let Some(apart) = apart {
                apart.finish()?;
            }
            filling.finish().map_err(JobError::from)
        })?;
        if let Some(divided) = &divided {
            self.fill_divided(engine, columns, divided, buckets)?;
        }
        Ok(tally.into_inner().expect("nobody panics here"))
    }

    fn is_left_out(&self, place: u32) -> bool {
        place == NOWHERE
            || self.plan.stars_suppressed && Some(&place) == self.ordering.place_of.last()
    }

    fn starred(&self, left_out: &[u64]) -> Starred {
        if !self.plan.stars_suppressed {
            return Starred::default();
        }
        let n_rows = self.classes.recoded.n_suppressed;
        let most = left_out.iter().max().copied().unwrap_or(0);
        let n_minority = if left_out.is_empty() { 0 } else { n_rows - most };
        Starred { n_rows, n_minority }
    }

    /// The places of the rows of a part, block by block; those of divided vectors go by their vector first.
    fn places<'b>(
        &'b self,
        part: usize,
        divided: Option<&'b Divided>,
    ) -> Result<impl FnMut() -> Result<Places, EngineError> + 'b, EngineError> {
        let mut blocks: Blocks = match self.rows {
            RowClasses::Vectors { rows, .. } => Box::new(rows.read(part)?),
            RowClasses::Regions(rows) => Box::new(rows.read(part)?),
        };
        Ok(move || {
            let numbers = blocks()?.expect("as many blocks as were read");
            let (RowClasses::Vectors { class_of, .. }, divided) = (self.rows, divided) else {
                let places = numbers.iter().map(|&class| self.place(class)).collect();
                return Ok(Places { places, vectors: Vec::new() });
            };
            let is_divided =
                |vector: u32| divided.is_some_and(|divided| divided.has[vector as usize]);
            let place = |&vector: &u32| {
                if is_divided(vector) { NOWHERE } else { self.place(class_of[vector as usize]) }
            };
            let apart = |&vector: &u32| if is_divided(vector) { vector } else { NOWHERE };
            let vectors =
                if divided.is_some() { numbers.iter().map(apart).collect() } else { Vec::new() };
            Ok(Places { places: numbers.iter().map(place).collect(), vectors })
        })
    }

    /// The vectors that are divided among classes.
    fn divided(&self, columns: &Columns) -> Option<Divided> {
        let (RowClasses::Vectors { class_of, .. }, false) = (self.rows, self.parts.is_empty())
        else {
            return None;
        };
        let mut has = vec![false; class_of.len()];
        let most_rows = self.bounds.left() / 8 / self.row_bytes(columns);
        let (mut ends, mut n_rows) = (Vec::new(), 0);
        for of_vector in self.parts.chunk_by(|a, b| a.0 == b.0) {
            let vector = of_vector[0].0;
            has[vector as usize] = true;
            let of_vector: u64 = of_vector.iter().map(|part| u64::from(part.2)).sum();
            if n_rows > 0 && n_rows + of_vector > most_rows {
                ends.push(vector);
                n_rows = 0;
            }
            n_rows += of_vector;
        }
        ends.push(u32::try_from(has.len()).expect("fewer vectors than rows"));
        Some(Divided { has, buckets: self.buckets("divided", ends, columns) })
    }

    /// Which row of a divided vector goes to which of its classes: by what is published of the rows, so that
    /// the order of the input has no say.
    fn fill_divided(
        &self,
        engine: &Engine,
        columns: &Columns,
        divided: &Divided,
        buckets: &Buckets,
    ) -> Result<(), JobError> {
        let mut filling = buckets.fill(self.spilled.n_parts());
        let rest = Columns {
            published: columns
                .published
                .iter()
                .filter(|column| !matches!(column, Published::Labels(_)))
                .copied()
                .collect(),
            coded: columns.coded.clone(),
            entity: columns.entity,
        };
        let mut parts = self.parts.iter();
        for bucket in 0..divided.buckets.len() {
            engine.go_on()?;
            let Bucket { numbers, codes, kept } =
                divided.buckets.take(bucket, self.spilled.n_parts())?;
            let range = divided.buckets.numbers(bucket);
            let rows = rows_of(&numbers, range.clone());
            let kept = Kept::new(self.spilled.kept_columns().to_vec(), kept);
            let ordered =
                order_within(engine, &rest.published, &piece(&rest, &codes, &kept, &rows))?;
            let of_bucket =
                parts.as_slice().iter().take_while(|part| range.contains(&part.0)).count();
            let classes = parts
                .by_ref()
                .take(of_bucket)
                .flat_map(|&(_, class, rows)| std::iter::repeat_n(class, rows as usize));
            let mut places = vec![NOWHERE; numbers.len()];
            for (row, class) in ordered.into_iter().zip(classes) {
                places[row as usize] = self.place(class);
            }
            let block = incrowd_engine::Block { codes, kept: kept.batches().to_vec() };
            filling.add(&places, &block)?;
        }
        Ok(filling.finish()?)
    }
}

/// Vectors whose rows are divided among classes, and buckets for their rows by vector.
struct Divided {
    has: Vec<bool>,
    buckets: Buckets,
}

/// Where the rows of a block go: by place, and by vector those of divided ones.
struct Places {
    places: Vec<u32>,
    vectors: Vec<u32>,
}

/// The rows of a bucket, class by class.
fn rows_of(numbers: &[u32], range: Range<u32>) -> Rows {
    let first = range.start;
    let mut ends = vec![0u32; range.len() + 1];
    for &number in numbers {
        ends[(number - first) as usize + 1] += 1;
    }
    for class in 1..ends.len() {
        ends[class] += ends[class - 1];
    }
    let mut next = ends.clone();
    let mut order = vec![0; numbers.len()];
    for (row, &number) in (0u32..).zip(numbers) {
        let next = &mut next[(number - first) as usize];
        order[*next as usize] = row;
        *next += 1;
    }
    Rows { first_class: first as usize, order, class_ends: ends.split_off(1) }
}

fn piece<'a>(columns: &Columns, codes: &'a [Codes], kept: &'a Kept, rows: &'a Rows) -> Piece<'a> {
    let mut codes = codes.iter();
    let of_column = |column: &Published| match column {
        Published::Coded { .. } => codes.next(),
        Published::Labels(_) | Published::Kept(_) => None,
    };
    Piece { codes: columns.published.iter().map(of_column).collect(), kept, rows }
}
