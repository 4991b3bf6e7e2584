//! Random tables: a seeded generator for any size, and a proptest strategy for small ones that
//! shrink.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use proptest::sample::select;

use crate::{Form, Table};

/// Splitmix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, everywhere.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is above 0.
    ///
    /// # Panics
    ///
    /// Never: a number below a `usize` fits in one.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next_u64() % n as u64).expect("below a usize")
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The parameters of a random table.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The number of rows.
    pub n_rows: usize,
    /// The number of quasi-identifier columns.
    pub n_attributes: usize,
    /// The forms that columns may have.
    pub forms: &'static [Form],
    /// The most values of a column.
    pub max_values: usize,
    /// Whether cells may be missing.
    pub missing: bool,
}

/// A random table with two extras: `illness`, five skewed values, and `person`, a number shared by
/// about three rows. Columns differ in skew and in how often they miss a value; about one row in
/// four is a copy of an earlier one on the quasi-identifier.
#[must_use]
pub fn random_table(rng: &mut Rng, recipe: &Recipe) -> Table {
    let copy_of: Vec<usize> = (0..recipe.n_rows)
        .map(|row| if row > 0 && rng.one_in(4) { rng.below(row) } else { row })
        .collect();
    let mut table = Table::of_rows(recipe.n_rows);
    for attribute in 0..recipe.n_attributes {
        let form = recipe.forms[rng.below(recipe.forms.len())];
        let n_values = 1 + rng.below(recipe.max_values);
        let skew = rng.below(4);
        let missing_in = if recipe.missing && rng.one_in(2) { [20, 4, 1][rng.below(3)] } else { 0 };
        let mut cells: Vec<Option<usize>> = Vec::with_capacity(recipe.n_rows);
        for (row, &copied) in copy_of.iter().enumerate() {
            let is_missing = missing_in > 0 && rng.one_in(missing_in);
            let fresh = (!is_missing).then(|| skewed(rng, n_values, skew));
            cells.push(if copied == row { fresh } else { cells[copied] });
        }
        let seed = rng.next_u64();
        push_values(&mut table, &format!("q{attribute}"), form, &cells, (n_values, seed));
    }
    push_extras(&mut table, rng);
    table
}

/// A value below `n`, lower ones being more likely: the least of `1 + skew` uniform draws.
fn skewed(rng: &mut Rng, n: usize, skew: usize) -> usize {
    (0..=skew).map(|_| rng.below(n)).min().unwrap_or(0)
}

fn push_extras(table: &mut Table, rng: &mut Rng) {
    let n_rows = table.rows.len();
    let illness: Vec<String> = (0..n_rows)
        .map(|_| ["flu", "hiv", "cold", "gout", "tbc"][skewed(rng, 5, 1)].to_owned())
        .collect();
    let person: Vec<String> =
        (0..n_rows).map(|_| (10 * rng.below(1 + n_rows / 3)).to_string()).collect();
    for (name, cells) in [("illness", illness), ("person", person)] {
        let cells: Vec<Option<&str>> = cells.iter().map(|cell| Some(cell.as_str())).collect();
        table.push_extra(name, &cells);
    }
}

/// Adds a column whose cells are given by rank; the seed determines the gaps between numbers and
/// the hierarchy.
fn push_values(
    table: &mut Table,
    name: &str,
    form: Form,
    cells: &[Option<usize>],
    (n_values, seed): (usize, u64),
) {
    let rng = &mut Rng::new(seed);
    let texts: Vec<String> = match form {
        Form::Numeric => {
            let mut at = 0;
            let mut step = || {
                at += 1 + rng.below(9);
                at.to_string()
            };
            (0..n_values).map(|_| step()).collect()
        }
        _ => (0..n_values).map(|value| format!("v{value:05}")).collect(),
    };
    let declared: Vec<String> = match form {
        Form::Ordinal => texts.clone(),
        Form::Tree => random_hierarchy(rng, &texts),
        Form::Numeric | Form::Unordered => vec![],
    };
    let declared: Vec<&str> = declared.iter().map(String::as_str).collect();
    let cells: Vec<Option<&str>> =
        cells.iter().map(|cell| cell.map(|value| texts[value].as_str())).collect();
    table.push_attribute(name, form, &declared, &cells);
}

/// Rows `leaf;...;*` of a hierarchy of up to four levels above the leaves; nodes have one or more
/// children.
fn random_hierarchy(rng: &mut Rng, leaves: &[String]) -> Vec<String> {
    let mut rows: Vec<String> = leaves.to_vec();
    let mut group_of: Vec<usize> = (0..leaves.len()).collect();
    for level in 1..=rng.below(4) {
        let width = 2 + rng.below(3);
        // About one in `width` groups of the level below starts a new group.
        let mut above = vec![0; leaves.len()];
        for leaf in 1..leaves.len() {
            let starts = group_of[leaf] != group_of[leaf - 1] && rng.one_in(width);
            above[leaf] = above[leaf - 1] + usize::from(starts);
        }
        group_of = above;
        let labelled =
            rows.iter().zip(&group_of).map(|(row, group)| format!("{row};l{level}g{group}"));
        rows = labelled.collect();
    }
    rows.iter().map(|row| format!("{row};*")).collect()
}

/// The most columns of a table of [`tables`], extras included.
const MAX_COLUMNS: usize = 6;

/// Small tables of the given forms, with the extras of [`random_table`]; values are skewed towards
/// the first one. Shrinks to fewer rows, fewer columns and lower codes.
pub fn tables(
    forms: &'static [Form],
    n_rows: RangeInclusive<usize>,
    n_attributes: RangeInclusive<usize>,
) -> impl Strategy<Value = Table> {
    let column = (select(forms), 1usize..8, any::<bool>(), any::<u64>());
    let columns = prop::collection::vec(column, n_attributes);
    let rows = prop::collection::vec(any::<[u8; MAX_COLUMNS]>(), n_rows);
    (columns, rows).prop_map(|(columns, rows)| {
        let mut table = Table::of_rows(rows.len());
        for (at, &(form, n_values, missing, seed)) in columns.iter().enumerate() {
            let cells: Vec<Option<usize>> = rows
                .iter()
                .map(|row| match usize::from(row[at]) {
                    224.. if missing => None,
                    raw @ 128.. => Some(raw % n_values.min(2)),
                    raw => Some(raw % n_values),
                })
                .collect();
            push_values(&mut table, &format!("q{at}"), form, &cells, (n_values, seed));
        }
        let seed = rows.iter().map(|row| u64::from(row[MAX_COLUMNS - 1])).sum();
        push_extras(&mut table, &mut Rng::new(seed));
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_numbers() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(
            [rng.next_u64(), rng.next_u64()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }

    #[test]
    fn a_seed_gives_one_table_and_tables_are_as_documented() {
        let recipe =
            Recipe { n_rows: 40, n_attributes: 4, forms: &Form::ALL, max_values: 9, missing: true };
        let made = |seed| random_table(&mut Rng::new(seed), &recipe);
        assert_eq!(made(7).rows, made(7).rows);
        let some: Vec<Table> = (0..20).map(made).collect();
        let any = |has: &dyn Fn(&Table) -> bool| some.iter().any(has);
        assert!(any(&|t| t.attributes.iter().any(|a| a.dictionary.has_missing)), "missing cells");
        assert!(any(&|t| t.attributes.iter().any(|a| a.n_values() == 0)), "an all-missing column");
        assert!(any(&|t| t.frequency_set().len() < t.rows.len()), "equal rows");
        assert!(
            any(&|t| t.attributes.iter().any(|a| match &a.shape {
                incrowd_data::Shape::Tree(tree) => tree.height().0 > 2,
                _ => false,
            })),
            "deep hierarchies"
        );
    }
}
