//! Random tables with columns to predict, and random regions and queries.

use incrowd_data::{Attribute, CodeSet, Kind, Region, Shape};

use super::{Adds, Query};
use crate::generate::{Recipe, Rng, random_table};
use crate::{Form, Table};

/// The extra columns of [`table`]: five skewed labels,
pub const ILLNESS: usize = 0;
/// whole numbers that rows share,
pub const PERSON: usize = 1;
/// labels that depend on the attributes and may be missing,
pub const CLASS: usize = 2;
/// and signed fractions that depend on them and may be missing.
pub const PAY: usize = 3;

/// A random table of two to four attributes and four to `max_rows` rows. Some numbers have a
/// fraction, some are dates.
pub fn table(rng: &mut Rng, max_rows: usize) -> Table {
    let recipe = Recipe {
        n_rows: 4 + rng.below(max_rows - 3),
        n_attributes: 2 + rng.below(3),
        forms: &Form::ALL,
        max_values: 3 + rng.below(10),
        missing: !rng.one_in(3),
    };
    with_targets(random_table(rng, &recipe), rng)
}

/// A [`random_table`] with the further columns of [`table`].
pub fn with_targets(mut table: Table, rng: &mut Rng) -> Table {
    for attribute in &mut table.attributes {
        match rng.below(4) {
            0 => make_decimal(attribute),
            1 if attribute.shape == Shape::Numeric => attribute.dictionary.kind = Kind::Date,
            _ => {}
        }
    }
    push_class(&mut table, rng);
    push_pay(&mut table, rng);
    table
}

fn make_decimal(attribute: &mut Attribute) {
    if attribute.shape == Shape::Numeric {
        let dictionary = &mut attribute.dictionary;
        dictionary.kind = Kind::Decimal;
        for (position, text) in dictionary.positions.iter_mut().zip(&mut dictionary.texts) {
            *position = *position * 0.375 - 2.0;
            *text = position.to_string();
        }
    }
}

fn push_class(table: &mut Table, rng: &mut Rng) {
    let at = rng.below(table.attributes.len());
    let (modulus, noise) = (2 + rng.below(2), 2 + rng.below(9));
    let may_miss = rng.one_in(3);
    let label = |row: usize, rng: &mut Rng| {
        let code = table.quasi(row)[at] as usize / 2;
        let label = if rng.one_in(noise) { rng.below(modulus) } else { code % modulus };
        (!(may_miss && rng.one_in(8))).then(|| format!("c{label}"))
    };
    let cells: Vec<Option<String>> = (0..table.rows.len()).map(|row| label(row, rng)).collect();
    push_extra(table, "class", &cells);
}

fn push_pay(table: &mut Table, rng: &mut Rng) {
    let at = rng.below(table.attributes.len());
    let step = [0.0, 0.5, 3.0, 7.25][rng.below(4)];
    let may_miss = rng.one_in(2);
    let number = |row: usize, rng: &mut Rng| {
        let code = f64::from(table.quasi(row)[at]);
        let noise = f64::from(u32::try_from(rng.below(9)).unwrap_or(0));
        (!(may_miss && rng.one_in(6))).then(|| (code * step + noise - 4.0).to_string())
    };
    let cells: Vec<Option<String>> = (0..table.rows.len()).map(|row| number(row, rng)).collect();
    push_extra(table, "pay", &cells);
}

fn push_extra(table: &mut Table, name: &str, cells: &[Option<String>]) {
    let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
    table.push_extra(name, &cells);
}

/// A random rectangle: about every other attribute has a side, a run of codes or any set of them.
pub fn region(rng: &mut Rng, table: &Table) -> Region {
    let mut sides = Vec::new();
    for (at, attribute) in table.attributes.iter().enumerate() {
        if rng.one_in(2) {
            sides.push((at, side(rng, attribute.n_codes())));
        }
    }
    Region { sides }
}

fn side(rng: &mut Rng, n_codes: u32) -> CodeSet {
    let n = n_codes as usize;
    let (a, b) = (rng.below(n), rng.below(n));
    let is_run = !rng.one_in(4);
    let picked: Vec<bool> = (0..n)
        .map(|code| if is_run { (a.min(b)..=a.max(b)).contains(&code) } else { rng.one_in(2) })
        .collect();
    // Never empty.
    CodeSet::of(n_codes, |code| picked[code as usize] || code as usize == a)
}

/// A random query of one region or of two that share no code of one attribute.
pub fn query(rng: &mut Rng, table: &Table, adds: Adds) -> Query {
    let first = region(rng, table);
    let mut regions = vec![first.clone()];
    if let (Some((at, set)), true) = (first.sides.first(), rng.one_in(3)) {
        let rest = CodeSet::of(set.n_codes(), |code| !set.contains(code));
        let second = region(rng, table).and(&Region { sides: vec![(*at, rest)] });
        regions.extend(second);
    }
    let is_mean = adds != Adds::Rows && rng.one_in(3);
    Query { regions, adds, is_mean, weight: [1.0, 1.0, 2.0, 0.5, 0.3][rng.below(5)] }
}

/// Something to add up: a numeric attribute, if there is one, or one of the extra columns.
pub fn adds(rng: &mut Rng, table: &Table) -> Adds {
    let numeric = |at: &usize| {
        let attribute = &table.attributes[*at];
        attribute.shape == Shape::Numeric && attribute.n_values() > 0
    };
    let attributes: Vec<usize> = (0..table.attributes.len()).filter(numeric).collect();
    match rng.below(4) {
        0 | 1 if !attributes.is_empty() => Adds::Attribute(attributes[rng.below(attributes.len())]),
        2 => Adds::Extra(PERSON),
        _ => Adds::Extra(PAY),
    }
}
