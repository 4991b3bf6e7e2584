//! A release of rows that are in private files: put into buckets by the place of their class,
//! written bucket by bucket.

use std::ops::Range;
use std::sync::Mutex;

use incrowd_data::{Codes, SUPPRESSED, VectorShare};
use incrowd_engine::{
    Bucket, BucketOfAll, Buckets, CodeWriter, ColumnContent, Engine, EngineError, Kept, KeptColumn,
    NOWHERE, Piece, Published, Rows, Spilled, Staging, Writer, order_within, sort_bucket,
};
use incrowd_release::Classes;
use rayon::prelude::*;

use super::points::VectorOfRow;
use super::regions::ClassOfRow;
use crate::flow::bounds::Bounds;
use crate::flow::coding::CodedAs;
use crate::flow::labelling::{Ordering, published as published_columns, refuse_equal_names};
use crate::flow::measure::{Entities, Starred};
use crate::plan::Plan;
use crate::spec::error::JobError;

/// Where the class of a row is found.
pub(crate) enum RowClasses {
    /// By its vector.
    Vectors { rows: VectorOfRow, class_of: Vec<u32> },
    /// Region by region.
    Regions(ClassOfRow),
}

/// Files of buckets that may be open at a time.
const MOST_FILES: usize = 384;

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
    /// The shares of classes in divided vectors, by vector.
    pub(crate) shares: &'a [VectorShare],
}

/// What was written.
pub(crate) struct WrittenRows {
    pub(crate) n_rows: u64,
    pub(crate) starred: Starred,
    /// The entity of each row, where the release does not say it.
    pub(crate) entity: Option<Entities>,
    /// What the columns that are released as they are say.
    pub(crate) contents: Vec<ColumnContent>,
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
        let published = published_columns(
            self.plan,
            self.ordering.attributes,
            &self.ordering.columns,
            self.spilled,
            kept,
        );
        refuse_equal_names(&published, kept)?;
        let columns = self.columns(published);
        let sizes = self.sizes();
        let most_rows = self.bounds.rows_in(6, self.row_bytes(&columns));
        let ends = bucket_ends(&sizes, most_rows);
        let buckets = self.buckets("bucket", self.coarse(&ends), &columns);
        let tally = self.fill(engine, &columns, &buckets)?;
        let room = self.bounds.left() / 6;
        let writer = Writer::new(engine, &columns.published, kept, staged)?.within(room);
        let file = |_| CodeWriter::new(self.spilled.scratch(), "entity", 1);
        let entities = columns.entity.map(file).transpose()?;
        let entity = self.plan.entity();
        let entity =
            entity.map(|at| CodedAs::identified(self.plan, at, self.spilled)).transpose()?;
        let mut to = Written { writer, entities, entity, n_rows: 0 };
        // Beside the parts one more, of the rows of divided vectors.
        let n_parts = self.spilled.n_parts() + 1;
        for bucket in 0..buckets.len() {
            let numbers = buckets.numbers(bucket);
            let within: Vec<u32> = ends
                .iter()
                .copied()
                .filter(|end| numbers.start < *end && *end <= numbers.end)
                .collect();
            if within.len() == 1 {
                self.write_bucket(
                    engine,
                    (&buckets, bucket, n_parts),
                    &columns,
                    most_rows,
                    &mut to,
                )?;
                continue;
            }
            let finer = buckets.within(bucket, within);
            buckets.pour(bucket, n_parts, &finer)?;
            for bucket in 0..finer.len() {
                self.write_bucket(engine, (&finer, bucket, 1), &columns, most_rows, &mut to)?;
            }
        }
        let Written { writer, entities, entity, n_rows } = to;
        let contents = writer.finish()?;
        let entities = entities.map(CodeWriter::finish).transpose()?.zip(entity);
        let entity = entities.map(|(file, coded)| Entities::File(file, coded.n_codes));
        Ok(WrittenRows { n_rows, starred: self.starred(&tally), entity, contents })
    }

    /// Writes the rows of a bucket; those of a class that does not fit in memory are put into their
    /// order in files.
    fn write_bucket(
        &self,
        engine: &Engine,
        (buckets, bucket, n_parts): (&Buckets, usize, usize),
        columns: &Columns,
        most_rows: u64,
        to: &mut Written,
    ) -> Result<(), JobError> {
        engine.go_on()?;
        let numbers = buckets.numbers(bucket);
        let labels = self.ordering.labels_at(numbers.start as usize..numbers.end as usize);
        let mut of_bucket = labels.iter().flatten();
        let mut published = columns.published.clone();
        for column in &mut published {
            if let Published::Labels { labels, .. } = column {
                *labels = of_bucket.next().expect("labels of every column");
            }
        }
        let kept = self.spilled.kept_columns();
        let sizes = self.n_rows_at(numbers.clone());
        if numbers.len() > 1 || sizes <= most_rows.max(1) {
            let rows = buckets.take(bucket, n_parts)?;
            return Ok(to.write(columns, &published, kept, numbers, rows, false)?);
        }
        let most_rows = usize::try_from(most_rows).unwrap_or(usize::MAX);
        // Which rows are the last is known when there are no more.
        let mut waiting: Option<Bucket> = None;
        let of_class = BucketOfAll { buckets, number: bucket, n_parts };
        sort_bucket(engine, &of_class, &columns.published, most_rows, |rows| {
            match waiting.replace(rows) {
                Some(rows) => to.write(columns, &published, kept, numbers.clone(), rows, true),
                None => Ok(()),
            }
        })?;
        if let Some(rows) = waiting {
            to.write(columns, &published, kept, numbers, rows, false)?;
        }
        Ok(())
    }

    /// The rows at some places.
    fn n_rows_at(&self, places: Range<u32>) -> u64 {
        self.sizes()[places.start as usize..places.end as usize].iter().sum()
    }

    /// Buckets that are filled in one go: so many that their files can be open at the same time.
    fn coarse(&self, ends: &[u32]) -> Vec<u32> {
        let most = (MOST_FILES / (self.spilled.n_parts() + 1)).max(8);
        if ends.len() <= most {
            return ends.to_vec();
        }
        let each = ends.len().div_ceil(most);
        ends.chunks(each).filter_map(|ends| ends.last().copied()).collect()
    }

    fn columns<'a>(&'a self, published: Vec<Published<'a>>) -> Columns<'a> {
        let position = |name: &str| self.spilled.position(name).expect("it was read with codes");
        let entity = self.plan.entity().map(|at| position(&self.plan.columns[at].name));
        let coded = published.iter().filter_map(|column| match column {
            Published::Coded { values, .. } => Some(position(&values.name)),
            Published::Labels { .. } | Published::Kept(_) => None,
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

    fn buckets(&self, name: &str, ends: Vec<u32>, columns: &Columns) -> Buckets {
        let n_codes = columns.coded.iter().map(|&at| self.spilled.n_codes(at)).collect();
        Buckets::new(self.spilled.scratch(), name, ends, n_codes, self.spilled.kept_columns())
    }

    /// Puts every released row into its bucket. Gives the rows that are left out by value of the
    /// target.
    fn fill(
        &self,
        engine: &Engine,
        columns: &Columns,
        buckets: &Buckets,
    ) -> Result<Vec<u64>, JobError> {
        let target = self.plan.target().map(|at| self.plan.columns[at].name.as_str());
        let target = target.and_then(|name| self.spilled.position(name));
        let told = self.plan.target().filter(|_| target.is_some());
        let told = told.map(|at| CodedAs::identified(self.plan, at, self.spilled)).transpose()?;
        let tally = Mutex::new(vec![0u64; told.as_ref().map_or(0, |told| told.n_codes as usize)]);
        let divided = self.divided(columns);
        let maps: Vec<Vec<u32>> =
            columns.coded.iter().map(|&at| (0..self.spilled.n_codes(at)).collect()).collect();
        let coded = columns.coded.iter().zip(&maps);
        let coded = coded.map(|(&at, map)| (at, &map[..], self.spilled.n_codes(at)));
        let told = target.zip(told.as_ref()).map(|(at, told)| (at, &told.map[..], told.n_codes));
        let wanted: Vec<(usize, &[u32], u32)> = coded.chain(told).collect();
        (0..self.spilled.n_parts()).into_par_iter().try_for_each(|part| {
            let mut reader = self.spilled.read_part_with_kept(part, &wanted)?;
            let mut places = self.places(part, divided.as_ref())?;
            let mut filling = buckets.fill(part);
            let mut apart = divided.as_ref().map(|divided| divided.buckets.fill(part));
            while let Some(mut block) = reader.next_block()? {
                engine.go_on()?;
                let Places { of_rows, vectors, left_out } = places()?;
                if target.is_some() {
                    let targets = block.codes.pop().expect("it was asked for");
                    let mut tally = tally.lock().expect("nobody panics here");
                    let left_out = left_out.iter().zip(targets.iter());
                    left_out
                        .filter(|(is_left_out, _)| **is_left_out)
                        .for_each(|(_, code)| tally[code as usize] += 1);
                }
                filling.add(&of_rows, &block)?;
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

    /// Whether the rows of a class are suppressed. Their place does not say so: a class whose cells
    /// are all `*` has the same.
    fn is_left_out(&self, class: u32) -> bool {
        self.classes.number_of.get(class as usize).is_none_or(|&number| number == SUPPRESSED)
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

    /// The places of the rows of a part, block by block; those of divided vectors go by their
    /// vector first.
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
                let of_rows = numbers.iter().map(|&class| self.place(class)).collect();
                let left_out = numbers.iter().map(|&class| self.is_left_out(class)).collect();
                return Ok(Places { of_rows, vectors: Vec::new(), left_out });
            };
            let is_divided =
                |vector: u32| divided.is_some_and(|divided| divided.has[vector as usize]);
            let place = |&vector: &u32| {
                if is_divided(vector) { NOWHERE } else { self.place(class_of[vector as usize]) }
            };
            let apart = |&vector: &u32| if is_divided(vector) { vector } else { NOWHERE };
            let vectors =
                if divided.is_some() { numbers.iter().map(apart).collect() } else { Vec::new() };
            let is_left_out =
                |&vector: &u32| !is_divided(vector) && self.is_left_out(class_of[vector as usize]);
            let left_out = numbers.iter().map(is_left_out).collect();
            Ok(Places { of_rows: numbers.iter().map(place).collect(), vectors, left_out })
        })
    }

    /// The vectors that are divided among classes.
    fn divided(&self, columns: &Columns) -> Option<Divided> {
        let (RowClasses::Vectors { class_of, .. }, false) = (self.rows, self.shares.is_empty())
        else {
            return None;
        };
        let mut has = vec![false; class_of.len()];
        let most_rows = self.bounds.rows_in(8, self.row_bytes(columns));
        let (mut ends, mut n_rows) = (Vec::new(), 0);
        for of_vector in self.shares.chunk_by(|a, b| a.vector == b.vector) {
            let vector = of_vector[0].vector;
            has[vector as usize] = true;
            let of_vector: u64 = of_vector.iter().map(|share| u64::from(share.n_rows)).sum();
            if n_rows > 0 && n_rows + of_vector > most_rows {
                ends.push(vector);
                n_rows = 0;
            }
            n_rows += of_vector;
        }
        ends.push(u32::try_from(has.len()).expect("fewer vectors than rows"));
        Some(Divided { has, buckets: self.buckets("divided", ends, columns) })
    }

    /// Which row of a divided vector goes to which of its classes: by what is published of the
    /// rows, so that the order of the input has no say.
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
                .filter(|column| !matches!(column, Published::Labels { .. }))
                .copied()
                .collect(),
            coded: columns.coded.clone(),
            entity: columns.entity,
        };
        let mut shares = self.shares.iter();
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
                shares.as_slice().iter().take_while(|share| range.contains(&share.vector)).count();
            let classes = shares
                .by_ref()
                .take(of_bucket)
                .flat_map(|share| std::iter::repeat_n(share.class, share.n_rows as usize));
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

/// Where buckets end: as many classes as have that many rows, or one that has more.
fn bucket_ends(sizes: &[u64], most_rows: u64) -> Vec<u32> {
    let (mut ends, mut n_rows) = (Vec::new(), 0);
    for (place, &size) in sizes.iter().enumerate() {
        if n_rows > 0 && n_rows + size > most_rows {
            ends.push(place);
            n_rows = 0;
        }
        n_rows += size;
    }
    ends.push(sizes.len());
    ends.iter().map(|&end| u32::try_from(end).expect("fewer classes than 2^32")).collect()
}

/// A release that is being written.
struct Written<'a> {
    writer: Writer<'a>,
    entities: Option<CodeWriter>,
    entity: Option<CodedAs>,
    n_rows: u64,
}

impl Written<'_> {
    /// Writes rows at some places, of which the last one may go on.
    fn write(
        &mut self,
        columns: &Columns,
        published: &[Published],
        kept: &[KeptColumn],
        places: Range<u32>,
        rows: Bucket,
        goes_on: bool,
    ) -> Result<(), EngineError> {
        let Bucket { numbers, codes, kept: batches } = rows;
        let rows = rows_of(&numbers, places);
        drop(numbers);
        self.n_rows += rows.order.len() as u64;
        let kept = Kept::new(kept.to_vec(), batches);
        if let (Some(file), Some(codes), Some(CodedAs { map, .. })) =
            (&mut self.entities, codes.last(), &self.entity)
        {
            let of_row = rows.order.iter().map(|&row| map[codes.get(row as usize) as usize]);
            file.write(&[Codes::U32(of_row.collect())])?;
        }
        // The labels are numbered from the first class of the bucket.
        let rows = Rows { first_class: 0, ..rows };
        self.writer.write_as(published, &piece(columns, &codes, &kept, &rows), goes_on)
    }
}

/// Vectors whose rows are divided among classes, and buckets for their rows by vector.
struct Divided {
    has: Vec<bool>,
    buckets: Buckets,
}

/// Where the rows of a block go: by place, and by vector those of divided ones; and which of them
/// are suppressed.
struct Places {
    of_rows: Vec<u32>,
    vectors: Vec<u32>,
    left_out: Vec<bool>,
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
        Published::Labels { .. } | Published::Kept(_) => None,
    };
    Piece { codes: columns.published.iter().map(of_column).collect(), kept, rows }
}
