//! Whether a table that was written keeps what was promised.
//!
//! Works on the table alone: its columns were given codes by whoever read it back, equal text equal
//! code. Nothing of the search, the hierarchies or the dictionaries of the source is known here.

use incrowd_data::{Codes, Collapsed, collapse};
use incrowd_privacy::{
    Class, Distance, DistinctDiversity, EntropyDiversity, Histogram, Model, TCloseness,
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
    /// What k counts, per class: its rows, or its entities.
    pub people: Vec<u64>,
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
    let Collapsed { counts, vector_of, .. } = collapse(&asked.quasi, asked.n_rows);
    // The rows of each class, one class after another.
    let mut next: Vec<usize> = Vec::with_capacity(counts.len());
    let mut end = 0;
    for &count in &counts {
        next.push(end);
        end += count as usize;
    }
    let mut rows = vec![0u32; asked.n_rows];
    for (row, &class) in (0u32..).zip(&vector_of) {
        rows[next[class as usize]] = row;
        next[class as usize] += 1;
    }
    let mut found = Found::new(asked);
    let mut class = Found::empty_class(asked);
    for (&count, &end) in counts.iter().zip(&next) {
        count_class(asked, &rows[end - count as usize..end], &mut class);
        found.add(asked, &class);
    }
    found.privacy
}

/// The columns whose histograms every class has, in their order.
fn counted<'a>(asked: &'a Asked) -> impl Iterator<Item = (&'a Codes, u32)> {
    let sensitive = asked.sensitive.iter().map(|column| (column.codes, column.n_codes));
    sensitive.chain(asked.target).chain(asked.entity)
}

/// The statistics of the class that these rows are.
fn count_class(asked: &Asked, rows: &[u32], class: &mut Class) {
    for (histogram, (codes, _)) in class.histograms.iter_mut().zip(counted(asked)) {
        histogram.clear();
        for &row in rows {
            histogram.add(codes.get(row as usize), 1);
        }
    }
    class.n_rows = rows.len() as u64;
    class.n_entities = match (asked.entity, class.histograms.last()) {
        (Some(_), Some(entities)) => entities.present().len() as u64,
        _ => class.n_rows,
    };
}

/// The measuring, class by class.
struct Found {
    closeness: Vec<TCloseness>,
    privacy: Privacy,
}

impl Found {
    fn new(asked: &Asked) -> Found {
        let closeness = asked
            .sensitive
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let mut whole = Histogram::new(column.n_codes);
                column.codes.iter().for_each(|code| whole.add(code, 1));
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
            people: Vec::new(),
            k: None,
            sensitive,
            broken: asked.models.iter().map(|model| (model.describe(), 0, 0)).collect(),
            classification: asked.target.map(|_| 0),
        };
        Found { closeness, privacy }
    }

    fn empty_class(asked: &Asked) -> Class {
        let histograms = counted(asked).map(|(_, n_codes)| Histogram::new(n_codes)).collect();
        Class { n_rows: 0, n_entities: 0, histograms }
    }

    fn add(&mut self, asked: &Asked, class: &Class) {
        let found = &mut self.privacy;
        found.sizes.push(class.n_rows);
        found.people.push(class.n_entities);
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
