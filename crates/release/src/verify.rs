//! Whether a table that was written keeps what was promised.
//!
//! Works on the table alone: its columns were given codes by whoever read it back, equal text equal
//! code. Nothing of the search, the hierarchies or the dictionaries of the source is known here.

use incrowd_data::{Codes, Extra, FrequencySet, collapse};
use incrowd_privacy::{
    Class, Distance, DistinctDiversity, EntropyDiversity, Histogram, Model, TCloseness, Tally,
};

/// A sensitive column of the table, with codes in the order of its values.
#[derive(Clone, Copy, Debug)]
pub struct Sensitive<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its codes.
    pub codes: &'a Codes,
    /// The number of codes.
    pub n_codes: u32,
    /// Whether the order of the values means something.
    pub is_ordered: bool,
}

/// What to measure: a table and what is asked of it.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The quasi-identifier columns of the table with their numbers of codes.
    pub quasi: Vec<(&'a Codes, u32)>,
    /// The sensitive columns: the first histograms of every class.
    pub sensitive: Vec<Sensitive<'a>>,
    /// The column whose distinct values k counts, if not rows.
    pub entity: Option<(&'a Codes, u32)>,
    /// The column that a model predicts, for the classification measure.
    pub target: Option<(&'a Codes, u32)>,
    /// Rows of the table.
    pub n_rows: usize,
    /// The models, looking at the sensitive columns by their index.
    pub models: &'a [Box<dyn Model>],
    /// The class, by its codes, of suppressed rows that stand in the table as `*`.
    pub suppressed: Option<Vec<u32>>,
}

/// What was found of one sensitive column: the worst class.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitiveFound {
    /// The column.
    pub name: String,
    /// Least number of distinct values.
    pub l_distinct: f64,
    /// Least exponential of the entropy: the l of entropy l-diversity.
    pub l_entropy: f64,
    /// Greatest distance to the whole table.
    pub t: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Privacy {
    /// Rows per class.
    pub sizes: Vec<u64>,
    /// The least number of rows, or of entities, in a class. None without a class.
    pub k: Option<u64>,
    /// By sensitive column.
    pub sensitive: Vec<SensitiveFound>,
    /// By model, its description and how many classes and rows break it.
    pub broken: Vec<(String, u64, u64)>,
    /// Rows outside the majority target value of their class, if there is a target.
    pub classification: Option<u64>,
}

impl Privacy {
    /// Whether every model holds for every class.
    #[must_use]
    pub fn is_satisfied(&self) -> bool {
        self.broken.iter().all(|(_, classes, _)| *classes == 0)
    }
}

/// Measures a table.
#[must_use]
pub fn verify(asked: &Asked) -> Privacy {
    let mut columns = asked.quasi.clone();
    columns.extend(asked.sensitive.iter().map(|column| (column.codes, column.n_codes)));
    columns.extend(asked.target);
    columns.extend(asked.entity);
    let collapsed = collapse(&columns, asked.n_rows);
    let n_quasi = asked.quasi.len();
    let extras: Vec<Extra> = columns[n_quasi..]
        .iter()
        .map(|(codes, n_codes)| Extra {
            name: String::new(),
            codes: collapsed.project(codes, *n_codes),
            n_codes: *n_codes,
            positions: Vec::new(),
        })
        .collect();
    let quasi: Vec<Codes> =
        asked.quasi.iter().map(|(codes, n_codes)| collapsed.project(codes, *n_codes)).collect();
    let set = FrequencySet {
        attributes: Vec::new(),
        vectors: Vec::new(),
        counts: collapsed.counts,
        extras,
        n_rows: asked.n_rows as u64,
    };
    Found::new(asked, &set).measure(asked, &set, &quasi)
}

/// The measuring, class by class. Vectors are sorted by the quasi-identifier first, so a class is a
/// run of them.
struct Found {
    closeness: Vec<TCloseness>,
    privacy: Privacy,
}

impl Found {
    fn new(asked: &Asked, set: &FrequencySet) -> Found {
        let closeness = asked
            .sensitive
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let mut whole = Histogram::new(column.n_codes);
                for (vector, &rows) in set.counts.iter().enumerate() {
                    whole.add(set.extras[at].codes.get(vector), rows.into());
                }
                let distance = if column.is_ordered { Distance::Ordered } else { Distance::Equal };
                TCloseness::new(at, 1.0, distance, &whole).expect("1 is a distance")
            })
            .collect();
        let sensitive = asked
            .sensitive
            .iter()
            .map(|column| SensitiveFound {
                name: column.name.to_owned(),
                l_distinct: f64::INFINITY,
                l_entropy: f64::INFINITY,
                t: 0.0,
            })
            .collect();
        let privacy = Privacy {
            sizes: Vec::new(),
            k: None,
            sensitive,
            broken: asked.models.iter().map(|model| (model.describe(), 0, 0)).collect(),
            classification: asked.target.map(|_| 0),
        };
        Found { closeness, privacy }
    }

    fn measure(mut self, asked: &Asked, set: &FrequencySet, quasi: &[Codes]) -> Privacy {
        let entity = asked.entity.map(|_| set.extras.len() - 1);
        let mut tally = Tally::new(set, entity);
        let same = |a: usize, b: usize| quasi.iter().all(|codes| codes.get(a) == codes.get(b));
        let mut start = 0;
        while start < set.len() {
            let end = (start + 1..set.len()).find(|&at| !same(start, at)).unwrap_or(set.len());
            let is_suppressed = asked.suppressed.as_ref().is_some_and(|star| {
                quasi.iter().zip(star).all(|(codes, &code)| codes.get(start) == code)
            });
            if !is_suppressed {
                tally.clear();
                (start..end).for_each(|vector| tally.add(vector, set.counts[vector]));
                self.add(asked, tally.class());
            }
            start = end;
        }
        self.privacy
    }

    fn add(&mut self, asked: &Asked, class: &Class) {
        let found = &mut self.privacy;
        found.sizes.push(class.n_rows);
        found.k = Some(found.k.map_or(class.n_entities, |k| k.min(class.n_entities)));
        for ((column, closeness), histogram) in
            found.sensitive.iter_mut().zip(&self.closeness).zip(&class.histograms)
        {
            column.l_distinct = column.l_distinct.min(DistinctDiversity::of(histogram));
            column.l_entropy = column.l_entropy.min(EntropyDiversity::entropy(histogram).exp());
            column.t = column.t.max(closeness.distance(histogram));
        }
        for (model, (_, classes, rows)) in asked.models.iter().zip(&mut found.broken) {
            if !model.holds(class) {
                *classes += 1;
                *rows += class.n_rows;
            }
        }
        if let Some(classification) = &mut found.classification {
            let target = &class.histograms[asked.sensitive.len()];
            let most = target.present().iter().map(|&code| target.count(code)).max();
            *classification += class.n_rows - most.unwrap_or(0);
        }
    }
}
