//! The expected error of aggregate queries.

use incrowd_data::{Attribute, CodeSet, Kind, Region, Shape};

use super::{Asked, Cell, Query, count, is_within, overlaps};

/// The most queries that count in one region.
const MOST: usize = 16;

impl Asked<'_> {
    /// The error of the queries that a region lies across, for a part of it whose cell is given.
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

    /// What a query errs by in a part: estimate less truth.
    #[must_use]
    pub fn error(&self, query: &Query, cell: &Cell, part: &[usize]) -> f64 {
        let share: f64 = query.regions.iter().map(|region| self.share(cell, region)).sum();
        let inside: Vec<usize> =
            part.iter().copied().filter(|&row| self.is_inside(row, query)).collect();
        query.weight * (self.value(query, part) * share - self.value(query, &inside)).abs()
            / self.unit(query)
    }

    fn is_inside(&self, row: usize, query: &Query) -> bool {
        query.regions.iter().any(|region| self.satisfies(row, region))
    }

    fn value(&self, query: &Query, rows: &[usize]) -> f64 {
        match query.sums {
            None => count(rows.len()),
            Some(column) => self.numbers(column, rows).iter().sum(),
        }
    }

    /// What the errors of a query are measured in: the mean size of the values inside.
    #[must_use]
    pub fn unit(&self, query: &Query) -> f64 {
        let Some(column) = query.sums else { return 1.0 };
        let all = 0..self.table().rows.len();
        let inside: Vec<usize> = all.filter(|&row| self.is_inside(row, query)).collect();
        let sizes: Vec<f64> =
            self.numbers(column, &inside).iter().map(|value| value.abs()).collect();
        let unit = sizes.iter().sum::<f64>() / count(sizes.len());
        if unit > 0.0 { unit } else { 1.0 }
    }

    /// The part of a cell that lies in a region.
    #[must_use]
    pub fn share(&self, cell: &Cell, region: &Region) -> f64 {
        let sides = region.sides.iter();
        sides.map(|(at, set)| share(&self.table().attributes[*at], &cell[*at], set)).product()
    }
}

fn lies_across(cell: &Cell, query: &Query) -> bool {
    query.regions.iter().any(|region| overlaps(cell, region))
        && !query.regions.iter().any(|region| is_within(cell, region))
}

/// The part of a cell's side that some codes are.
fn share(attribute: &Attribute, side: &[u32], set: &CodeSet) -> f64 {
    let admitted = side.iter().filter(|&&code| set.contains(code));
    let has_missing = side.last().copied() == attribute.dictionary.missing();
    if attribute.shape != Shape::Numeric || has_missing || side.len() == 1 {
        return count(admitted.count()) / count(side.len());
    }
    let length: f64 = side.iter().map(|&code| stretch(attribute, side, code)).sum();
    admitted.map(|&code| stretch(attribute, side, code)).sum::<f64>() / length
}

/// How much of a cell a number stands for: up to the middle between it and its neighbours in the cell;
/// the least and the greatest reach half a unit beyond themselves if they are whole.
fn stretch(attribute: &Attribute, side: &[u32], code: u32) -> f64 {
    let is_whole = matches!(attribute.dictionary.kind, Kind::Integer | Kind::Date);
    let beyond = if is_whole { 0.5 } else { 0.0 };
    let at = |code: u32| attribute.dictionary.positions[code as usize];
    let left = if side.contains(&(code.wrapping_sub(1))) {
        (at(code) - at(code - 1)) / 2.0
    } else {
        beyond
    };
    let right = if side.contains(&(code + 1)) { (at(code + 1) - at(code)) / 2.0 } else { beyond };
    left + right
}
