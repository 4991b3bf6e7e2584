//! The values of groups.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use incrowd_data::Kind;

use super::spread::Values;
use super::weigh::Looked;
use super::{Domain, QueryError};

/// The most groups that are listed.
pub(super) const MOST_GROUPS: usize = 100_000;

/// The key of a value to group by; missing values come last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Key(pub(super) Option<f64>);

impl Eq for Key {}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        match (self.0, other.0) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A value of a label, its probability, and its segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    key: Key,
    weight: f64,
    pub(super) segment: u32,
}

/// By group column and label, its values.
#[derive(Default)]
pub(super) struct ValueLists(BTreeMap<(usize, u32), Vec<Listed>>);

impl ValueLists {
    pub(super) fn of(
        &mut self,
        at: usize,
        looked: &Looked,
        label: u32,
    ) -> Result<&[Listed], QueryError> {
        Ok(match self.0.entry((at, label)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(list(looked, label)?),
        })
    }
}

/// The values that a label represents.
fn list(looked: &Looked, label: u32) -> Result<Vec<Listed>, QueryError> {
    let spread = &looked.column.spreads[label as usize];
    let ranges =
        |kind: Kind| QueryError::GroupOfRanges { column: looked.column.name.clone(), kind };
    let keys: Vec<f64> = match (&spread.values, &looked.column.domain) {
        (Values::Range(lo, hi), Domain::Line(_)) if lo.total_cmp(hi).is_eq() => vec![*lo],
        (Values::Range(lo, hi), Domain::Line(line)) if line.is_discrete() => {
            if hi - lo >= MOST_GROUPS as f64 {
                return Err(QueryError::TooManyGroups { most: MOST_GROUPS });
            }
            let next = |key: &f64| Some(key + 1.0).filter(|next| next <= hi);
            std::iter::successors(Some(*lo), next).collect()
        }
        (Values::Range(..) | Values::About(_), Domain::Line(line)) => {
            return Err(ranges(line.kind));
        }
        (Values::Run(lo, hi), Domain::List(list)) => {
            (*lo..=*hi).map(|code| list.keys[code as usize]).collect()
        }
        (Values::Set(codes), Domain::List(list)) => {
            codes.iter().map(|&code| list.keys[code as usize]).collect()
        }
        (Values::None, domain) if spread.is_open && spread.missing < 1.0 => {
            return Err(match domain {
                Domain::Line(line) => ranges(line.kind),
                Domain::List(_) => QueryError::UnknownGroups { column: looked.column.name.clone() },
            });
        }
        _ => Vec::new(),
    };
    let weight = (1.0 - spread.missing) / keys.len() as f64;
    let listed =
        |key: f64| Listed { key: Key(Some(key)), weight, segment: looked.segments.of(key) };
    let mut values: Vec<Listed> = keys.into_iter().map(listed).collect();
    if spread.may_be_missing {
        let segment = looked.segments.missing();
        values.push(Listed { key: Key(None), weight: spread.missing, segment });
    }
    Ok(values)
}

/// Every combination of values, with its probability.
pub(super) fn products(lists: &[Vec<Listed>]) -> Result<Vec<(Vec<Key>, f64)>, QueryError> {
    let mut products = vec![(Vec::new(), 1.0)];
    for list in lists {
        if products.len() * list.len() > MOST_GROUPS {
            return Err(QueryError::TooManyGroups { most: MOST_GROUPS });
        }
        let longer = |(keys, share): &(Vec<Key>, f64), value: &Listed| {
            let mut longer: Vec<Key> = keys.clone();
            longer.push(value.key);
            (longer, share * value.weight)
        };
        products = products
            .iter()
            .flat_map(|known| list.iter().map(move |value| longer(known, value)))
            .collect();
    }
    Ok(products)
}
