//! The expected error of aggregate queries.

use incrowd_data::{Attribute, CodeSet, Kind, Region, Shape};

use super::{Adds, Asked, Cell, Query, count, is_within, overlaps};

/// The most queries that count in one region.
const MOST: usize = 16;

/// The least error, in rows, that counts.
const LEAST: f64 = 1e-9;

impl Asked<'_> {
    /// The error of the queries that partly overlap a region, for a part of it with this cell.
    #[must_use]
    pub fn query_cost(&self, region: &[usize], cell: &Cell, part: &[usize]) -> f64 {
        let whole = self.cell(region);
        let mut across: Vec<&Query> =
            self.workload.queries.iter().filter(|query| lies_across(&whole, query)).collect();
        // Stable: of equal errors the first ones stay.
        across.sort_by(|a, b| {
            self.error(b, &whole, region).total_cmp(&self.error(a, &whole, region))
        });
        across.truncate(MOST);
        across.iter().map(|query| self.error(query, cell, part)).sum()
    }

    /// Whether the choice of the queries that count is ambiguous.
    #[must_use]
    pub fn is_undecided(&self, region: &[usize]) -> bool {
        let whole = self.cell(region);
        let across = self.workload.queries.iter().filter(|query| lies_across(&whole, query));
        let mut errors: Vec<f64> = across.map(|query| self.error(query, &whole, region)).collect();
        errors.sort_by(|a, b| b.total_cmp(a));
        errors.len() > MOST && errors[MOST - 1] - errors[MOST] < LEAST
    }

    /// The error of a query in a part: estimate minus truth, divided by the true answer in the
    /// whole table.
    #[must_use]
    pub fn error(&self, query: &Query, cell: &Cell, part: &[usize]) -> f64 {
        let inside: Vec<usize> =
            part.iter().copied().filter(|&row| self.is_inside(row, query)).collect();
        let centre = self.centre(query);
        let share: f64 = query.regions.iter().map(|region| self.share(cell, region)).sum();
        let estimate = match query.adds {
            Adds::Attribute(at) => {
                let of_region = |region: &Region| self.mean_value(cell, region, at);
                let value: f64 = query.regions.iter().map(of_region).sum();
                count(part.len()) * (value - centre * share)
            }
            _ => self.sum(query, centre, part) * share,
        };
        let error = (estimate - self.sum(query, centre, &inside)).abs();
        // Rounding errors do not count.
        if error / self.unit(query) < LEAST { 0.0 } else { query.weight * error / self.size(query) }
    }

    /// The divisor of an error in a part. The answer to a count or a sum is that count or sum; a
    /// mean is off by what its parts are off, over its rows. At least what one row adds up on
    /// average.
    fn size(&self, query: &Query) -> f64 {
        let values = self.answered(query);
        let answer = if query.is_mean {
            self.centre(query).abs() * count(values.len())
        } else {
            values.iter().sum::<f64>().abs()
        };
        answer.max(self.unit(query))
    }

    fn is_inside(&self, row: usize, query: &Query) -> bool {
        query.regions.iter().any(|region| self.satisfies(row, region))
    }

    /// The values of some rows that are added up, without missing numbers.
    fn values(&self, query: &Query, rows: &[usize]) -> Vec<f64> {
        match query.adds {
            Adds::Rows => vec![1.0; rows.len()],
            Adds::Extra(column) => self.numbers(column, rows),
            Adds::Attribute(at) => {
                let positions = &self.table().attributes[at].dictionary.positions;
                let position = |&row: &usize| positions.get(self.code(row, at) as usize).copied();
                rows.iter().filter_map(position).collect()
            }
        }
    }

    fn sum(&self, query: &Query, centre: f64, rows: &[usize]) -> f64 {
        self.values(query, rows).iter().map(|value| value - centre).sum()
    }

    fn answered(&self, query: &Query) -> Vec<f64> {
        let all = 0..self.table().rows.len();
        let inside: Vec<usize> = all.filter(|&row| self.is_inside(row, query)).collect();
        self.values(query, &inside)
    }

    /// The answer of a mean, 0 for a sum.
    fn centre(&self, query: &Query) -> f64 {
        let values = self.answered(query);
        if query.is_mean && !values.is_empty() {
            values.iter().sum::<f64>() / count(values.len())
        } else {
            0.0
        }
    }

    /// The unit of a query's errors: the mean distance of the values inside from 0, or from the
    /// answer of a mean.
    #[must_use]
    pub fn unit(&self, query: &Query) -> f64 {
        if query.adds == Adds::Rows {
            return 1.0;
        }
        let centre = self.centre(query);
        let values = self.answered(query);
        let unit =
            values.iter().map(|value| (value - centre).abs()).sum::<f64>() / count(values.len());
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The share of a cell that is in a region.
    #[must_use]
    pub fn share(&self, cell: &Cell, region: &Region) -> f64 {
        let sides = region.sides.iter();
        sides.map(|(at, set)| share(&self.table().attributes[*at], &cell[*at], set)).product()
    }

    /// The mean over a cell of an attribute's value within a region and of 0 outside.
    fn mean_value(&self, cell: &Cell, region: &Region, at: usize) -> f64 {
        let attribute = &self.table().attributes[at];
        let others = Region {
            sides: region.sides.iter().filter(|(other, _)| *other != at).cloned().collect(),
        };
        let all = CodeSet::of(attribute.n_codes(), |_| true);
        let admitted = region.side(at).unwrap_or(&all);
        self.share(cell, &others) * mean_admitted(attribute, &cell[at], admitted)
    }
}

fn lies_across(cell: &Cell, query: &Query) -> bool {
    query.regions.iter().any(|region| overlaps(cell, region))
        && !query.regions.iter().any(|region| is_within(cell, region))
}

/// The share of a cell's side that some codes make up. Missing cells take no room among numbers.
fn share(attribute: &Attribute, side: &[u32], set: &CodeSet) -> f64 {
    if attribute.shape != Shape::Numeric || values(attribute, side).is_empty() {
        let admitted = side.iter().filter(|&&code| set.contains(code));
        return count(admitted.count()) / count(side.len());
    }
    integral(attribute, side, |code, from, to| if set.contains(code) { to - from } else { 0.0 })
}

/// The mean over a cell's side of the numbers that are admitted and of 0 for the others.
fn mean_admitted(attribute: &Attribute, side: &[u32], set: &CodeSet) -> f64 {
    if values(attribute, side).is_empty() {
        return 0.0;
    }
    integral(
        attribute,
        side,
        |code, from, to| {
            if set.contains(code) { (to * to - from * from) / 2.0 } else { 0.0 }
        },
    )
}

fn values(attribute: &Attribute, side: &[u32]) -> Vec<u32> {
    let missing = attribute.dictionary.missing();
    side.iter().copied().filter(|&code| Some(code) != missing).collect()
}

/// Adds up over a cell's numbers, each with the stretch that it stands for, over the cell's length.
///
/// A number represents the stretch up to the midpoints between it and its neighbours in the cell;
/// the least and the greatest extend half a unit further if they are whole. A single number always
/// has a length.
fn integral(attribute: &Attribute, side: &[u32], of: impl Fn(u32, f64, f64) -> f64) -> f64 {
    let values = values(attribute, side);
    let is_whole = matches!(attribute.dictionary.kind, Kind::Integer | Kind::Date);
    let beyond = if is_whole || values.len() == 1 { 0.5 } else { 0.0 };
    let at = |code: u32| attribute.dictionary.positions[code as usize];
    let (mut sum, mut length) = (0.0, 0.0);
    for (place, &code) in values.iter().enumerate() {
        let is_last = place + 1 == values.len();
        let from =
            if place == 0 { at(code) - beyond } else { f64::midpoint(at(code - 1), at(code)) };
        let to = if is_last { at(code) + beyond } else { f64::midpoint(at(code), at(code + 1)) };
        sum += of(code, from, to);
        length += to - from;
    }
    sum / length
}
