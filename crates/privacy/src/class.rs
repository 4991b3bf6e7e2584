//! Statistics of a class.

use incrowd_data::{Extra, FrequencySet};

/// How often each code of an extra column occurs in a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    present: Vec<u32>,
}

impl Histogram {
    /// An empty histogram over `n_codes` codes.
    #[must_use]
    pub fn new(n_codes: u32) -> Histogram {
        Histogram { counts: vec![0; n_codes as usize], present: Vec::new() }
    }

    /// Counts `rows` more rows with this code.
    pub fn add(&mut self, code: u32, rows: u64) {
        let count = &mut self.counts[code as usize];
        if *count == 0 && rows > 0 {
            self.present.push(code);
        }
        *count += rows;
    }

    /// Removes everything, in time proportional to what was added.
    pub fn clear(&mut self) {
        for code in self.present.drain(..) {
            self.counts[code as usize] = 0;
        }
    }

    /// Rows with this code.
    #[must_use]
    pub fn count(&self, code: u32) -> u64 {
        self.counts[code as usize]
    }

    /// The number of possible codes, whether they occur or not.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.counts.len()
    }

    /// The codes that occur, in no particular order.
    #[must_use]
    pub fn present(&self) -> &[u32] {
        &self.present
    }
}

/// A column that a model uses: the index of its histogram in a class, and the code of missing cells
/// if they do not count. That code is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The index of its histogram.
    pub at: usize,
    /// The code of cells that do not count.
    pub missing: Option<u32>,
}

/// A column whose cells all count.
impl From<usize> for Column {
    fn from(at: usize) -> Column {
        Column { at, missing: None }
    }
}

impl Column {
    /// The cells of a class that count.
    #[must_use]
    pub fn of(self, class: &Class) -> Valued<'_> {
        class.histograms[self.at].valued(self.missing)
    }
}

/// The cells of a class that have a value, which is what diversity counts. Missing cells have none,
/// unless they count as a value of their own.
#[derive(Clone, Copy, Debug)]
pub struct Valued<'a> {
    histogram: &'a Histogram,
    missing: Option<u32>,
}

/// All cells.
impl<'a> From<&'a Histogram> for Valued<'a> {
    fn from(histogram: &'a Histogram) -> Valued<'a> {
        histogram.valued(None)
    }
}

impl Histogram {
    /// The cells that have a value, which are all except those with the code `missing`, the last
    /// one.
    #[must_use]
    pub fn valued(&self, missing: Option<u32>) -> Valued<'_> {
        Valued { histogram: self, missing }
    }
}

impl<'a> Valued<'a> {
    /// The values that occur, in no particular order, and the rows of each.
    pub fn iter(self) -> impl Iterator<Item = (u32, u64)> + 'a {
        let Valued { histogram, missing } = self;
        let present = histogram.present.iter().copied().filter(move |&code| Some(code) != missing);
        present.map(|code| (code, histogram.count(code)))
    }

    /// The number of values that occur.
    #[must_use]
    pub fn n_present(self) -> usize {
        self.iter().count()
    }

    /// The rows with a value.
    #[must_use]
    pub fn n_rows(self) -> u64 {
        self.iter().map(|(_, rows)| rows).sum()
    }

    /// The number of rows of each value that occurs, ascending.
    #[must_use]
    pub fn counts(self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.iter().map(|(_, rows)| rows).collect();
        counts.sort_unstable();
        counts
    }

    /// The share of every value, whether it occurs or not, among the rows with a value. None if
    /// there are no such rows.
    #[must_use]
    pub fn shares(self) -> Option<Vec<f64>> {
        let n_codes = self.histogram.counts.len();
        let n_values = n_codes.saturating_sub(usize::from(self.missing.is_some()));
        let n_rows = self.n_rows();
        let share = |&rows: &u64| rows as f64 / n_rows as f64;
        (n_rows > 0).then(|| self.histogram.counts[..n_values].iter().map(share).collect())
    }
}

/// The statistics of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// The rows of the class.
    pub n_rows: u64,
    /// What k counts: distinct entities if the job names an entity column, else rows.
    pub n_entities: u64,
    /// One histogram per extra column.
    pub histograms: Vec<Histogram>,
}

/// Builds the statistics of one class after another from the vectors in it.
#[derive(Clone, Debug)]
pub struct Tally<'a> {
    extras: &'a [Extra],
    entity: Option<usize>,
    class: Class,
}

impl<'a> Tally<'a> {
    /// An empty tally; `entity` is the extra column whose distinct codes k counts.
    #[must_use]
    pub fn new(set: &'a FrequencySet, entity: Option<usize>) -> Tally<'a> {
        Tally::over(&set.extras, entity)
    }

    /// The same if only the extra columns of the vectors are available.
    #[must_use]
    pub fn over(extras: &'a [Extra], entity: Option<usize>) -> Tally<'a> {
        let histograms = extras.iter().map(|extra| Histogram::new(extra.n_codes)).collect();
        let class = Class { n_rows: 0, n_entities: 0, histograms };
        Tally { extras, entity, class }
    }

    /// Starts the next class.
    pub fn clear(&mut self) {
        self.class.n_rows = 0;
        self.class.n_entities = 0;
        self.class.histograms.iter_mut().for_each(Histogram::clear);
    }

    /// Adds `rows` rows of a vector.
    pub fn add(&mut self, vector: usize, rows: u32) {
        let rows = u64::from(rows);
        self.class.n_rows += rows;
        for (extra, histogram) in self.extras.iter().zip(&mut self.class.histograms) {
            histogram.add(extra.codes.get(vector), rows);
        }
        self.class.n_entities = match self.entity {
            Some(entity) => self.class.histograms[entity].present().len() as u64,
            None => self.class.n_rows,
        };
    }

    /// The class so far.
    #[must_use]
    pub fn class(&self) -> &Class {
        &self.class
    }
}
