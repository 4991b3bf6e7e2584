//! Verifies a table that was written.
//!
//! Works on the table alone. The reader of the table gave its columns codes, equal codes for equal
//! texts. Nothing is known here about the search, the hierarchies or the dictionaries of the
//! source.

use incrowd_data::{Codes, Collapsed, collapse};
use incrowd_privacy::{
    Class, Column, Distance, DistinctDiversity, EntropyDiversity, Histogram, Model,
    RecursiveDiversity, TCloseness, Valued, disclosure,
};
use incrowd_quality::ClassSizes;

/// A sensitive column of the table, with codes in the order of its values.
#[derive(Clone, Copy, Debug)]
pub struct Sensitive<'a> {
    /// The column's name.
    pub name: &'a str,
    /// Whether the order of the values is meaningful.
    pub is_ordered: bool,
    /// By code, rows of the whole table.
    pub whole: &'a [u64],
    /// The code of missing cells, the last one, if they do not count.
    pub missing: Option<u32>,
}

/// What a table must satisfy.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The sensitive columns: the first histograms of every class.
    pub sensitive: Vec<Sensitive<'a>>,
    /// The number of codes of the target column, for the classification measure.
    pub target: Option<u32>,
    /// The models, which refer to the sensitive columns by index.
    pub models: &'a [Box<dyn Model>],
}

/// The rows of a table in memory.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The quasi-identifier columns with their numbers of codes.
    pub quasi: Vec<(&'a Codes, u32)>,
    /// The sensitive columns in the order of the request, then the target.
    pub counted: Vec<&'a Codes>,
    /// The column whose distinct values k counts; `None` if k counts rows.
    pub entity: Option<(&'a Codes, u32)>,
    /// Rows of the table.
    pub n_rows: usize,
}

/// The findings for one sensitive column, each for its worst class.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitiveFound {
    /// The column's name.
    pub name: String,
    /// Least number of distinct values; 0 if a class has none.
    pub l_distinct: f64,
    /// Least exponential of the entropy: the l of entropy l-diversity; 0 if a class has no value.
    pub l_entropy: f64,
    /// Greatest distance to the distribution of the whole table.
    pub t: f64,
    /// By l, from 2 to `l_distinct`: the c above which recursive (c,l)-diversity holds. `None`
    /// without classes.
    pub least_cs: Option<Vec<f64>>,
    /// Greatest share of one value.
    pub alpha: f64,
    /// Greatest absolute logarithm of a value's share in a class over its share in the whole table.
    pub delta: f64,
    /// Greatest gain of a value over its share in the whole table.
    pub beta: f64,
    /// The same, but infinite if no beta satisfies enhanced beta-likeness.
    pub beta_enhanced: f64,
}

impl SensitiveFound {
    /// The state before the first class.
    fn new(name: &str) -> SensitiveFound {
        SensitiveFound {
            name: name.to_owned(),
            l_distinct: f64::INFINITY,
            l_entropy: f64::INFINITY,
            t: 0.0,
            least_cs: None,
            alpha: 0.0,
            delta: 0.0,
            beta: 0.0,
            beta_enhanced: 0.0,
        }
    }

    /// Updates the findings with a class.
    fn add(&mut self, class: Valued, closeness: &TCloseness) {
        let whole = closeness.whole();
        // The class with the fewest values limits l.
        let n_ls = self.least_cs.as_ref().map_or(usize::MAX, Vec::len);
        let found = SensitiveFound {
            name: String::new(),
            l_distinct: DistinctDiversity::of(class),
            l_entropy: EntropyDiversity::of(class),
            t: closeness.distance(class),
            least_cs: Some(RecursiveDiversity::least_cs(class, n_ls)),
            alpha: disclosure::alpha(class),
            delta: disclosure::delta(class, whole),
            beta: disclosure::beta(class, whole),
            beta_enhanced: disclosure::enhanced_beta(class, whole),
        };
        self.merge(&found);
    }

    /// Merges the findings for other classes. Only minima and maxima count, so the order does not
    /// matter.
    fn merge(&mut self, other: &SensitiveFound) {
        self.l_distinct = self.l_distinct.min(other.l_distinct);
        self.l_entropy = self.l_entropy.min(other.l_entropy);
        self.t = self.t.max(other.t);
        match (&mut self.least_cs, &other.least_cs) {
            (Some(to), Some(from)) => {
                to.truncate(from.len());
                to.iter_mut().zip(from).for_each(|(to, from)| *to = f64::max(*to, *from));
            }
            (to @ None, from) => to.clone_from(from),
            (Some(_), None) => {}
        }
        self.alpha = self.alpha.max(other.alpha);
        self.delta = self.delta.max(other.delta);
        self.beta = self.beta.max(other.beta);
        self.beta_enhanced = self.beta_enhanced.max(other.beta_enhanced);
    }

    /// The l of `l_distinct` with the c above which recursive (c,l)-diversity holds; `None` if a
    /// class has only one value, since every table is 1-diverse.
    #[must_use]
    pub fn recursive(&self) -> Option<(f64, usize)> {
        let least_cs = self.least_cs.as_ref()?;
        Some((*least_cs.last()?, least_cs.len() + 1))
    }
}

/// The classes that break a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    /// The model, described.
    pub model: String,
    /// The number of classes that break it.
    pub n_classes: u64,
    /// The rows of these classes.
    pub n_rows: u64,
}

impl Violations {
    fn none_of(model: &dyn Model) -> Violations {
        Violations { model: model.describe(), n_classes: 0, n_rows: 0 }
    }
}

/// What the verification found.
#[derive(Clone, Debug, PartialEq)]
pub struct Privacy {
    /// The sizes of the classes: their rows, and what k counts, rows or entities.
    pub sizes: ClassSizes,
    /// The least number of rows, or of entities, in a class. `None` without classes.
    pub k: Option<u64>,
    /// By sensitive column.
    pub sensitive: Vec<SensitiveFound>,
    /// By model, the classes that break it.
    pub broken: Vec<Violations>,
    /// Rows outside the majority target value of their class, if there is a target.
    pub classification: Option<u64>,
}

impl Privacy {
    /// Whether every model holds for every class.
    #[must_use]
    pub fn is_satisfied(&self) -> bool {
        self.broken.iter().all(|model| model.n_classes == 0)
    }

    /// Merges the findings for other classes of the same table.
    pub fn merge(&mut self, other: &Privacy) {
        self.sizes.merge(&other.sizes);
        self.k = self.k.into_iter().chain(other.k).min();
        for (to, from) in self.sensitive.iter_mut().zip(&other.sensitive) {
            to.merge(from);
        }
        for (to, from) in self.broken.iter_mut().zip(&other.broken) {
            to.n_classes += from.n_classes;
            to.n_rows += from.n_rows;
        }
        if let (Some(to), Some(from)) = (&mut self.classification, other.classification) {
            *to += from;
        }
    }
}

/// Measures a table in memory.
#[must_use]
pub fn verify(asked: &Asked, of: &Rows) -> Privacy {
    let Collapsed { counts, vector_of, .. } = collapse(&of.quasi, of.n_rows);
    verify_classes(asked, of, &counts, &vector_of)
}

/// Measures a table given the number of rows of each class, and the class of each row.
#[must_use]
pub fn verify_classes(asked: &Asked, of: &Rows, counts: &[u32], class_of: &[u32]) -> Privacy {
    // The rows of each class, one class after another.
    let mut next: Vec<usize> = Vec::with_capacity(counts.len());
    let mut end = 0;
    for &count in counts {
        next.push(end);
        end += count as usize;
    }
    let mut rows = vec![0u32; of.n_rows];
    for (row, &class) in (0u32..).zip(class_of) {
        rows[next[class as usize]] = row;
        next[class as usize] += 1;
    }
    let mut verifier = Verifier::new(asked);
    let mut entities = Histogram::new(of.entity.map_or(0, |(_, n_codes)| n_codes));
    for (&count, &end) in counts.iter().zip(&next) {
        let rows = &rows[end - count as usize..end];
        for (at, codes) in of.counted.iter().enumerate() {
            for &row in rows {
                verifier.count(at, codes.get(row as usize), 1);
            }
        }
        let n_entities = of.entity.map_or(u64::from(count), |(codes, _)| {
            entities.clear();
            for &row in rows {
                entities.add(codes.get(row as usize), 1);
            }
            entities.present().len() as u64
        });
        verifier.end_class(u64::from(count), n_entities);
    }
    verifier.finish()
}

/// A measurement in progress, class by class.
#[derive(Debug)]
pub struct Verifier<'a> {
    asked: &'a Asked<'a>,
    closeness: Vec<TCloseness>,
    /// By sensitive column and code, whether a class with only that value, or with no value, was
    /// already measured: all such classes have the same figures. Tables that were not recoded have
    /// hardly any others.
    alone: Vec<Vec<bool>>,
    class: Class,
    privacy: Privacy,
}

impl<'a> Verifier<'a> {
    /// The state before the first class.
    #[must_use]
    pub fn new(asked: &'a Asked<'a>) -> Verifier<'a> {
        let closeness = asked.sensitive.iter().enumerate().map(|(at, column)| {
            let mut whole = Histogram::new(n_codes(column));
            (0..).zip(column.whole).for_each(|(code, &rows)| whole.add(code, rows));
            let distance = if column.is_ordered { Distance::Ordered } else { Distance::Equal };
            let column = Column { at, missing: column.missing };
            TCloseness::new(column, 1.0, distance, &whole).expect("1 is a distance")
        });
        let sensitive = asked.sensitive.iter().map(|column| SensitiveFound::new(column.name));
        let privacy = Privacy {
            sizes: ClassSizes::default(),
            k: None,
            sensitive: sensitive.collect(),
            broken: asked.models.iter().map(|model| Violations::none_of(model.as_ref())).collect(),
            classification: asked.target.map(|_| 0),
        };
        let counted = asked.sensitive.iter().map(n_codes).chain(asked.target);
        let histograms = counted.map(Histogram::new).collect();
        let class = Class { n_rows: 0, n_entities: 0, histograms };
        let alone = asked.sensitive.iter().map(|column| vec![false; column.whole.len()]).collect();
        Verifier { asked, closeness: closeness.collect(), alone, class, privacy }
    }

    /// Counts rows of the class with this code in a column: a sensitive one, or the target, which
    /// comes after them.
    pub fn count(&mut self, column: usize, code: u32, rows: u64) {
        self.class.histograms[column].add(code, rows);
    }

    /// Ends a class with these numbers of rows and of what k counts.
    pub fn end_class(&mut self, n_rows: u64, n_entities: u64) {
        let (class, found) = (&mut self.class, &mut self.privacy);
        (class.n_rows, class.n_entities) = (n_rows, n_entities);
        found.sizes.add(n_rows, n_entities);
        found.k = Some(found.k.map_or(n_entities, |k| k.min(n_entities)));
        let asked = &self.asked.sensitive;
        let columns = found.sensitive.iter_mut().zip(&self.closeness).zip(&mut self.alone);
        let columns = columns.zip(asked).zip(&class.histograms);
        for ((((column, closeness), alone), asked), histogram) in columns {
            let is_known = match histogram.present() {
                [code] => std::mem::replace(&mut alone[*code as usize], true),
                _ => false,
            };
            if !is_known {
                column.add(histogram.valued(asked.missing), closeness);
            }
        }
        for (model, broken) in self.asked.models.iter().zip(&mut found.broken) {
            if !model.holds(class) {
                broken.n_classes += 1;
                broken.n_rows += class.n_rows;
            }
        }
        if let Some(classification) = &mut found.classification {
            let target = &class.histograms[self.asked.sensitive.len()];
            let most = target.present().iter().map(|&code| target.count(code)).max();
            *classification += class.n_rows - most.unwrap_or(0);
        }
        class.histograms.iter_mut().for_each(Histogram::clear);
    }

    /// The findings for all classes.
    #[must_use]
    pub fn finish(self) -> Privacy {
        self.privacy
    }
}

fn n_codes(column: &Sensitive) -> u32 {
    u32::try_from(column.whole.len()).expect("codes are u32")
}
