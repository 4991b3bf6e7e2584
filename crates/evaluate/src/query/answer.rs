//! The answer to a query, group by group.

use std::collections::BTreeMap;

use incrowd_data::{Aggregate, Query, Region};

use super::groups::{Key, MOST_GROUPS, ValueLists, products};
use super::segment::{Segments, Share};
use super::tally::{Cells, ColumnTally, Tally};
use super::weigh::{Looked, Weight, look, regions, weigh};
use super::{Column, QueryError, Release};

/// The answer for one aggregate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The expected value; for `MIN` and `MAX` the least and the greatest of the likely values, as
    /// a key of the column. `None` over no rows.
    pub estimate: Option<f64>,
    /// Whether every table that agrees with the labels gives this answer.
    pub exact: bool,
    /// A lower bound over all tables that agree with the labels.
    pub least: Option<f64>,
    /// An upper bound over all tables that agree with the labels.
    pub greatest: Option<f64>,
}

/// The answers of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupAnswers {
    /// By group column, the key of its value; `None` if missing.
    pub group: Vec<Option<f64>>,
    /// One answer per aggregate of the query.
    pub answers: Vec<Answer>,
}

/// Answers a query over a release: one entry, or one per group in the order of their values.
pub fn answer(release: &Release, query: &Query) -> Result<Vec<GroupAnswers>, QueryError> {
    let plan = Plan::new(release, query)?;
    let tallies = plan.tallies();
    let groups = plan.expand(tallies)?;
    let answers = |(group, tally): (Vec<Key>, Tally)| GroupAnswers {
        group: group.into_iter().map(|key| key.0).collect(),
        answers: query.aggregates.iter().map(|aggregate| plan.read(&tally, aggregate)).collect(),
    };
    Ok(groups.into_iter().map(answers).collect())
}

/// All problems with the constants and sums of a query, over the columns that exist.
#[must_use]
pub fn mistakes(release: &Release, query: &Query) -> Vec<QueryError> {
    let mut found = Vec::new();
    let mut add = |error: QueryError| {
        if !found.contains(&error) {
            found.push(error);
        }
    };
    let of = |name: &str| release.columns.iter().find(|column| column.name == name);
    for error in query.aggregates.iter().filter_map(|aggregate| unsummed(aggregate, of)) {
        add(error);
    }
    query.condition.each_test(&mut |name, test| {
        let segments = of(name).map(|column| Segments::new(column, &[test], release.parse));
        if let Some(Err(error)) = segments {
            add(error);
        }
    });
    found
}

/// Why an aggregate cannot be computed, if it needs sums of something that is not a number.
fn unsummed<'a>(
    aggregate: &Aggregate,
    of: impl Fn(&str) -> Option<&'a Column>,
) -> Option<QueryError> {
    let (column, name) = match aggregate {
        Aggregate::Sum(column) => (column, "SUM"),
        Aggregate::Avg(column) => (column, "AVG"),
        _ => return None,
    };
    let is_number = of(column).is_none_or(|column| column.domain.is_number());
    let column = column.clone();
    (!is_number).then_some(QueryError::NoNumbers { column, aggregate: name })
}

/// The rows of a vector, and the possible meanings of its labels.
#[derive(Clone, Copy)]
struct VectorRows<'a> {
    rows: u32,
    /// By column of the query, its label.
    labels: &'a [u32],
    /// By column of the query, the segments that its value may be in.
    profiles: &'a [&'a [Share]],
}

/// The tally of each combination of labels and segments of the group columns.
type Tallies = BTreeMap<Vec<(u32, u32)>, Tally>;

/// A query with its columns.
struct Plan<'a> {
    release: &'a Release,
    looked: Vec<Looked<'a>>,
    n_tested: usize,
    regions: Vec<Region>,
    /// The columns to group by and the columns to measure, as indexes into `looked`.
    groups: Vec<usize>,
    measured: Vec<usize>,
    /// Whether rows that certainly satisfy the condition form whole classes.
    is_closed: bool,
}

impl<'a> Plan<'a> {
    fn new(release: &'a Release, query: &Query) -> Result<Plan<'a>, QueryError> {
        let mut others: Vec<&str> = query.group_by.iter().map(String::as_str).collect();
        others.extend(query.aggregates.iter().filter_map(Aggregate::column));
        let looked = look(release, &query.condition, &others)?;
        let place = |name: &str| {
            looked.iter().position(|l| l.column.name == name).expect("all columns are looked at")
        };
        let of = |name: &str| Some(looked[place(name)].column);
        if let Some(error) = query.aggregates.iter().find_map(|aggregate| unsummed(aggregate, of)) {
            return Err(error);
        }
        let regions = regions(&looked, &query.condition, release.parse)?;
        let groups: Vec<usize> = query.group_by.iter().map(|name| place(name)).collect();
        let mut columns: Vec<usize> =
            query.aggregates.iter().filter_map(Aggregate::column).map(place).collect();
        columns.sort_unstable();
        columns.dedup();
        let is_of_class = |at: usize| looked[at].column.is_of_class;
        let is_closed = (0..looked.len())
            .all(|at| is_of_class(at) || !(looked[at].is_tested || groups.contains(&at)));
        let n_tested = looked.iter().filter(|l| l.is_tested).count();
        Ok(Plan { release, looked, n_tested, regions, groups, measured: columns, is_closed })
    }

    /// Adds up all vectors.
    fn tallies(&self) -> Tallies {
        let mut tallies = Tallies::new();
        if let Some(tally) = self.counted() {
            tallies.insert(Vec::new(), tally);
            return tallies;
        }
        if self.groups.is_empty() {
            tallies.insert(Vec::new(), Tally::new(self.measured.len()));
        }
        let mut pins = vec![None; self.looked.len()];
        let mut labels = vec![0u32; self.looked.len()];
        let mut profiles: Vec<&[Share]> = Vec::with_capacity(self.looked.len());
        for (vector, &rows) in self.release.counts.iter().enumerate() {
            profiles.clear();
            for (label, looked) in labels.iter_mut().zip(&self.looked) {
                *label = self.release.vectors[looked.at].get(vector);
                profiles.push(looked.profiles.shares(looked.profiles.entry(*label)));
            }
            if self.groups.is_empty() {
                let tally = tallies.get_mut(&[][..]).expect("it was put there");
                let weight = weigh(&self.regions, self.n_tested, &profiles, &pins);
                let vector = VectorRows { rows, labels: &labels, profiles: &profiles };
                self.add(tally, vector, weight, &mut pins);
                continue;
            }
            for segments in self.combinations(&profiles) {
                let key = self.groups.iter().zip(&segments).map(|(&at, &s)| (labels[at], s));
                let key: Vec<(u32, u32)> = key.collect();
                for (&at, &segment) in self.groups.iter().zip(&segments) {
                    pins[at] = Some(segment);
                }
                let tally = tallies.entry(key).or_insert_with(|| Tally::new(self.measured.len()));
                let weight = weigh(&self.regions, self.n_tested, &profiles, &pins);
                let vector = VectorRows { rows, labels: &labels, profiles: &profiles };
                self.add(tally, vector, weight, &mut pins);
            }
            pins.fill(None);
        }
        tallies
    }

    /// The tally of a query that only counts rows, weighing rows with equivalent labels together.
    /// `None` if that is not worthwhile.
    fn counted(&self) -> Option<Tally> {
        const MOST: usize = 1 << 20;
        let tested = &self.looked[..self.n_tested];
        let sizes = || tested.iter().map(|looked| looked.profiles.len());
        let n_slots = sizes().fold(1usize, usize::saturating_mul);
        if !self.groups.is_empty() || !self.measured.is_empty() || n_slots > MOST {
            return None;
        }
        let mut rows = vec![0u64; n_slots];
        for (vector, &count) in self.release.counts.iter().enumerate() {
            let slot = tested.iter().fold(0, |slot, looked| {
                let label = self.release.vectors[looked.at].get(vector);
                slot * looked.profiles.len() + looked.profiles.entry(label)
            });
            rows[slot] += u64::from(count);
        }
        let mut tally = Tally::new(0);
        let pins = vec![None; self.n_tested];
        for (slot, &rows) in rows.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            let mut rest = slot;
            let mut profiles: Vec<&[Share]> = Vec::with_capacity(self.n_tested);
            for looked in tested.iter().rev() {
                profiles.push(looked.profiles.shares(rest % looked.profiles.len()));
                rest /= looked.profiles.len();
            }
            profiles.reverse();
            tally.add_rows(rows, weigh(&self.regions, self.n_tested, &profiles, &pins));
        }
        Some(tally)
    }

    /// The combinations of segments that the group columns can have.
    fn combinations(&self, profiles: &[&[Share]]) -> Vec<Vec<u32>> {
        let mut combinations = vec![Vec::new()];
        for &at in &self.groups {
            let longer = |known: &Vec<u32>, segment: u32| {
                let mut longer = known.clone();
                longer.push(segment);
                longer
            };
            let shares = profiles[at];
            combinations = combinations
                .iter()
                .flat_map(|known| shares.iter().map(move |share| longer(known, share.segment)))
                .collect();
        }
        combinations
    }

    /// Adds the rows of a vector, given how they satisfy the condition.
    fn add(&self, tally: &mut Tally, vector: VectorRows, whole: Weight, pins: &mut [Option<u32>]) {
        let VectorRows { rows, labels, profiles } = vector;
        if !whole.is_possible {
            return;
        }
        tally.add_rows(rows.into(), whole);
        for (&at, column) in self.measured.iter().zip(&mut tally.columns) {
            if pins[at].is_some() {
                continue;
            }
            let looked = &self.looked[at];
            let mut present = Vec::with_capacity(profiles[at].len());
            let mut may_be_missing = false;
            for share in profiles[at] {
                if share.segment == looked.segments.missing() {
                    may_be_missing = true;
                    continue;
                }
                let weight = if looked.is_tested {
                    pins[at] = Some(share.segment);
                    weigh(&self.regions, self.n_tested, profiles, pins)
                } else {
                    whole
                };
                present.push((*share, weight));
            }
            pins[at] = None;
            column.add_cells(&Cells {
                rows,
                present: &present,
                may_be_missing,
                mean: looked.column.spreads[labels[at] as usize].mean,
                is_closed: self.is_closed,
                has_ends: looked.column.has_ends,
            });
        }
    }

    /// Spreads what was added up by label over the values of the group columns.
    fn expand(&self, tallies: Tallies) -> Result<BTreeMap<Vec<Key>, Tally>, QueryError> {
        let mut groups: BTreeMap<Vec<Key>, Tally> = BTreeMap::new();
        let mut values = ValueLists::default();
        for (labels, tally) in tallies {
            let mut lists = Vec::new();
            let mut is_one = true;
            for (&at, &(label, segment)) in self.groups.iter().zip(&labels) {
                let list = values.of(at, &self.looked[at], label)?;
                let spread = &self.looked[at].column.spreads[label as usize];
                is_one &= list.len() == 1 && !spread.is_open && spread.reach.is_none();
                lists.push(list.iter().filter(|v| v.segment == segment).copied().collect());
            }
            for (keys, share) in products(&lists)? {
                let group =
                    groups.entry(keys.clone()).or_insert_with(|| Tally::new(self.measured.len()));
                group.add(&tally, share, is_one);
                self.add_own_values(group, &keys, &tally, share, is_one);
                if groups.len() > MOST_GROUPS {
                    return Err(QueryError::TooManyGroups { most: MOST_GROUPS });
                }
            }
        }
        if !self.groups.is_empty() {
            groups.retain(|_, tally| tally.rows > 0.0);
        }
        Ok(groups)
    }

    /// Adds the measured columns that the query groups by: all rows of a group have the same value.
    fn add_own_values(
        &self,
        group: &mut Tally,
        keys: &[Key],
        tally: &Tally,
        share: f64,
        is_one: bool,
    ) {
        for (at, column) in self.measured.iter().zip(&mut group.columns) {
            let place = self.groups.iter().position(|grouped| grouped == at);
            if let Some(key) = place.and_then(|place| keys[place].0) {
                column.add_value(key, tally, share, is_one);
            }
        }
    }

    /// The answer to one aggregate.
    fn read(&self, tally: &Tally, aggregate: &Aggregate) -> Answer {
        let Some(name) = aggregate.column() else {
            return count(tally.rows, tally.certain, tally.possible);
        };
        let place = self.measured.iter().position(|&at| self.looked[at].column.name == name);
        let column = &tally.columns[place.expect("measured columns are tallied")];
        let is_none = column.rows <= 0.0;
        let is_counted = column.certain == column.possible;
        let none =
            Answer { estimate: None, exact: column.possible == 0, least: None, greatest: None };
        match aggregate {
            Aggregate::CountOf(_) => count(column.rows, column.certain, column.possible),
            _ if is_none => none,
            Aggregate::Sum(_) => Answer {
                estimate: Some(column.sum).filter(|sum| sum.is_finite()),
                exact: is_counted && column.is_sum_exact,
                least: Some(column.sum_lo).filter(|bound| bound.is_finite()),
                greatest: Some(column.sum_hi).filter(|bound| bound.is_finite()),
            },
            Aggregate::Avg(_) => {
                let exact = is_counted && column.is_sum_exact;
                let estimate = Some(column.sum / column.rows).filter(|mean| mean.is_finite());
                let known = estimate.filter(|_| exact);
                Answer { estimate, exact, least: known, greatest: known }
            }
            Aggregate::Min(_) => extreme(column, false),
            Aggregate::Max(_) => extreme(column, true),
            Aggregate::Count => none,
        }
    }
}

fn count(rows: f64, certain: u64, possible: u64) -> Answer {
    let exact = certain == possible;
    let estimate = Some(if exact { certain as f64 } else { rows });
    Answer { estimate, exact, least: Some(certain as f64), greatest: Some(possible as f64) }
}

/// The least value, or the greatest.
fn extreme(column: &ColumnTally, is_max: bool) -> Answer {
    let (found, sign) = if is_max { (&column.max, -1.0) } else { (&column.min, 1.0) };
    // A value that certainly occurs bounds the answer from one side, a possible value from the
    // other.
    let finite = |bound: f64| Some(sign * bound).filter(|bound| bound.is_finite());
    let (possible, attained) = (finite(found.possible), finite(found.attained));
    let (least, greatest) = if is_max { (attained, possible) } else { (possible, attained) };
    let exact = found.attained.is_finite() && found.attained.total_cmp(&found.possible).is_eq();
    Answer { estimate: finite(found.likely), exact, least, greatest }
}
