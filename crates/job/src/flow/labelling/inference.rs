//! Which values of a class follow from what the release prints of it.
//!
//! Of a class the release prints, on a column of numbers, the least and the greatest value, the
//! mean, and by its rows how many values there are. Whoever reads that knows all values of the
//! class if just one multiset of them agrees with it. With values that are whole steps apart, `n`
//! of them within `w` steps, whose sum is `t` steps above the least that is possible, that is so if
//! and only if `n <= 1`, `w <= 1`, `t <= 1` or `t >= n * w - 1`: the multisets are the partitions
//! of `t` into at most `n` parts of at most `w`, of which there is one for 0 and 1, two for 2, and
//! never fewer between these and their mirror images. The two printed ends are values of the class
//! themselves, so that two of its values are known and `n` counts the others.
//!
//! A mean that tells the values is withheld. Readers who know that still do not know the values:
//! for every range and number of rows at least two multisets have such a mean.

use incrowd_data::{Attribute, Cell, SUPPRESSED, Shape};
use incrowd_release::{LabelForm, group_of_class};
use indexmap::IndexMap;

use super::{Labelling, tells_means};
use crate::report::InferenceReport;

/// Different printed numbers from which a reader may take it that all values are multiples of what
/// these are multiples of. Of fewer he takes the decimal places.
const ENOUGH_NUMBERS: usize = 10;

/// Decimal places that are looked at.
const MOST_PLACES: i32 = 9;

/// Numbers that a float tells apart from their neighbours.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What is printed of a class on a column.
#[derive(Clone, Copy, Debug)]
struct Printed {
    /// Rows of the class, or of the group of classes that share its mean.
    rows: u64,
    /// The ends of its range.
    ends: Option<(f64, f64)>,
    mean: Option<f64>,
}

/// What follows of the values of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// The cell is the value.
    Exact,
    /// All values, without a mean.
    ByRange,
    /// All values, by the mean.
    ByMean,
    /// Not all values, but the mean is withheld lest only means that tell them were.
    Cover,
    /// Not all values.
    Open,
}

/// What a reader knows of a column beside what is printed of one class.
#[derive(Clone, Copy, Debug)]
struct Reader {
    /// All values are multiples of it.
    step: Option<f64>,
    /// The ends of a range are values of its class.
    is_tight: bool,
    /// Without ranges: no value is negative.
    is_positive: bool,
}

impl Labelling<'_> {
    /// By column of numbers or dates, the rows whose values follow from what is printed. Means that
    /// tell them are taken away.
    pub(crate) fn withhold(
        &self,
        means: &mut [Option<Vec<Option<f64>>>],
    ) -> IndexMap<String, InferenceReport> {
        let mut found = IndexMap::new();
        for (at, attribute) in self.set.attributes.iter().enumerate() {
            if matches!(attribute.shape, Shape::Numeric) {
                let of_column = self.withhold_of(at, attribute, means[at].as_mut());
                found.insert(attribute.name.clone(), of_column);
            }
        }
        found
    }

    fn withhold_of(
        &self,
        at: usize,
        attribute: &Attribute,
        mut means: Option<&mut Vec<Option<f64>>>,
    ) -> InferenceReport {
        let sizes = &self.classes.recoded.sizes;
        let printed = self.printed(at, attribute, means.as_deref().map_or(&[], Vec::as_slice));
        let reader = Reader::of(&printed, self.assigned.is_tight && self.prints_values());
        let mut found = InferenceReport { step: reader.step, ..InferenceReport::default() };
        // The same rows may come again by a saved recoding, whose ends may then be known to be
        // values, or not. A mean that tells the values either way is left out both times, except
        // where the range alone tells them here.
        let has_both =
            (self.assigned.is_tight || self.assigned.may_be_tight) && self.prints_values();
        let other = has_both.then_some(Reader { is_tight: !reader.is_tight, ..reader });
        for (class, (printed, &rows)) in printed.iter().zip(sizes).enumerate() {
            let is_told = other.is_some_and(|other| other.learns(printed) == Follows::ByMean);
            let follows = match reader.learns(printed) {
                Follows::Open if is_told => Follows::Cover,
                follows => follows,
            };
            match follows {
                Follows::Exact => found.exact_rows += rows,
                Follows::ByRange => {
                    found.determined_rows += rows;
                    found.determined_classes += 1;
                }
                Follows::ByMean | Follows::Cover => {
                    found.withheld_rows += rows;
                    found.withheld_classes += 1;
                    if let Some(means) = means.as_deref_mut() {
                        means[class] = None;
                    }
                }
                Follows::Open => {}
            }
        }
        found
    }

    /// Whether ranges have values as their ends, not cut points.
    fn prints_values(&self) -> bool {
        self.plan.labels != LabelForm::Region
    }

    /// What is printed of each class on an attribute.
    fn printed(&self, at: usize, attribute: &Attribute, means: &[Option<f64>]) -> Vec<Printed> {
        let column = &self.classes.recoded.columns[at];
        let has_range = self.plan.labels != LabelForm::Mean || !tells_means(self.plan, attribute);
        let position = |code: u32| attribute.dictionary.positions.get(code as usize).copied();
        let ends = |cell: &Cell| match cell {
            Cell::Value(code) => Some((position(*code)?, position(*code)?)),
            Cell::Range(lo, hi) => Some((position(*lo)?, position(*hi)?)),
            // The last value of a region is printed where values are 1 apart, otherwise the first
            // one above it.
            Cell::Between(part) => {
                let end = part.last.as_ref().or(part.below.as_ref());
                Some((part.from.as_ref()?.position(), end?.position()))
            }
            Cell::Node(..) | Cell::Nodes(_) | Cell::Set(_) | Cell::All => None,
        };
        let rows = self.rows_of_groups(at).into_iter().enumerate();
        let printed = rows.map(|(class, rows)| Printed {
            rows,
            ends: has_range.then(|| ends(&column.cells[column.of_class[class] as usize])).flatten(),
            mean: means.get(class).copied().flatten(),
        });
        printed.collect()
    }

    /// By class, the rows that share its cell and mean on an attribute: those of its group, where
    /// columns are recoded by groups of their own.
    fn rows_of_groups(&self, at: usize) -> Vec<u64> {
        let sizes = &self.classes.recoded.sizes;
        let Some(block) = self.assigned.block_of(at) else { return sizes.clone() };
        let numbers = &self.classes.number_of;
        let groups = group_of_class(self.assigned.class_of, numbers.len(), block);
        let mut of_group = vec![0; block.n_groups as usize];
        let mut of_class = vec![0; sizes.len()];
        let numbered = || groups.iter().zip(numbers).filter(|(_, number)| **number != SUPPRESSED);
        numbered().for_each(|(&group, &number)| of_group[group as usize] += sizes[number as usize]);
        numbered()
            .for_each(|(&group, &number)| of_class[number as usize] = of_group[group as usize]);
        of_class
    }
}

impl Reader {
    fn of(printed: &[Printed], is_tight: bool) -> Reader {
        let has_ranges = printed.iter().any(|class| class.ends.is_some());
        let sum = |class: &Printed| class.mean.map(|mean| mean * class.rows as f64);
        let numbers: Vec<f64> = if has_ranges {
            printed.iter().filter_map(|class| class.ends).flat_map(|(lo, hi)| [lo, hi]).collect()
        } else {
            printed.iter().filter_map(sum).collect()
        };
        let is_positive = printed.iter().all(|class| class.mean.is_none_or(|mean| mean >= 0.0));
        Reader { step: step_of(&numbers), is_tight, is_positive: is_positive && !has_ranges }
    }

    fn learns(&self, printed: &Printed) -> Follows {
        let Printed { rows, ends, mean } = *printed;
        let Some((lo, hi)) = ends else {
            return mean.map_or(Follows::Open, |mean| self.learns_without_range(rows, mean));
        };
        if lo >= hi {
            return Follows::Exact;
        }
        if self.is_tight && rows <= 2 {
            return Follows::ByRange;
        }
        let Some(mean) = mean else { return Follows::Open };
        let (free, known) = if self.is_tight { (rows - 2, hi - lo) } else { (rows, 0.0) };
        let above = (mean - lo) * rows as f64 - known;
        let most = free as f64 * (hi - lo);
        // What rounding of the mean leaves open.
        let blur = rows as f64 * mean.abs().max(hi.abs()).max(lo.abs()) * 4.0 * f64::EPSILON;
        if free <= 1 || above <= blur || above >= most - blur {
            return Follows::ByMean;
        }
        let Some(step) = self.step else { return Follows::Open };
        let (Some(width), Some(sum)) = (steps(hi - lo, step, 0.0), steps(above, step, blur)) else {
            return Follows::Open;
        };
        if width <= 1 || sum <= 1 || i128::from(sum) >= i128::from(free) * i128::from(width) - 1 {
            Follows::ByMean
        } else {
            Follows::Open
        }
    }

    /// Without ranges not more is known than that no value is negative.
    fn learns_without_range(&self, rows: u64, mean: f64) -> Follows {
        let sum = mean * rows as f64;
        let blur = sum.abs() * 4.0 * f64::EPSILON;
        let known = self.step.filter(|_| self.is_positive);
        match known.and_then(|step| steps(sum, step, blur)) {
            Some(0) => Follows::Exact,
            Some(1) => Follows::ByMean,
            Some(2) => Follows::Cover,
            _ => Follows::Open,
        }
    }
}

/// How many whole steps a number is, if it is so but for rounding.
fn steps(number: f64, step: f64, blur: f64) -> Option<i64> {
    let (steps, slack) = (number / step, 1e-6 + blur / step);
    let whole = steps.round();
    let is_whole = (steps - whole).abs() <= slack && slack < 0.4 && whole.abs() < EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
    is_whole.then_some(whole as i64)
}

/// What all values seem to be multiples of, by the numbers that are printed: the last decimal place
/// that they have, or their greatest common divisor, where there are enough of them to tell.
fn step_of(numbers: &[f64]) -> Option<f64> {
    let mut places = 0;
    for &number in numbers {
        while steps(number, 10f64.powi(-places), number.abs() * 8.0 * f64::EPSILON).is_none() {
            places += 1;
            if places > MOST_PLACES {
                return None;
            }
        }
    }
    let unit = 10f64.powi(-places);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53")]
    let mut whole: Vec<u64> =
        numbers.iter().map(|number| (number / unit).round().abs() as u64).collect();
    whole.sort_unstable();
    whole.dedup();
    if whole.len() < ENOUGH_NUMBERS {
        return Some(unit);
    }
    let divisor = whole.into_iter().fold(0, gcd).max(1);
    let divisor = divisor as f64;
    Some(divisor * unit)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// All multisets of so many numbers up to `most`, ascending.
    fn multisets(n: usize, most: u32) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            let longer = |set: &Vec<u32>| {
                let from = set.last().copied().unwrap_or(0);
                let set = set.clone();
                (from..=most).map(move |next| [set.clone(), vec![next]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    fn sum(values: &[u32]) -> u32 {
        values.iter().sum()
    }

    /// What is printed of values that are so many steps above an origin.
    fn printed(values: &[u32], origin: f64, step: f64, ends: Option<(u32, u32)>) -> Printed {
        let at = |value: u32| origin + step * f64::from(value);
        let n = values.len() as f64;
        Printed {
            rows: values.len() as u64,
            ends: ends.map(|(lo, hi)| (at(lo), at(hi))),
            mean: Some(origin + step * f64::from(sum(values)) / n),
        }
    }

    /// By what is printed, how many multisets agree with it, by enumeration.
    #[test]
    fn values_follow_where_one_multiset_agrees() {
        for (origin, step) in [(0.0, 1.0), (-40.0, 5.0), (17.0, 0.25), (1e6, 1000.0)] {
            for (n, most) in [(2, 6), (3, 6), (4, 5), (5, 4), (6, 3), (4, 1), (3, 2)] {
                let all = multisets(n, most);
                let mut alike: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
                let key = |set: &Vec<u32>| (set[0], set[n - 1], sum(set));
                for set in &all {
                    *alike.entry(key(set)).or_default() += 1;
                }
                let reader = Reader { step: Some(step), is_tight: true, is_positive: false };
                for set in &all {
                    let (lo, hi) = (set[0], set[n - 1]);
                    let with_mean = printed(set, origin, step, Some((lo, hi)));
                    let found = reader.learns(&with_mean);
                    let of_range = alike.iter().filter(|(known, _)| (known.0, known.1) == (lo, hi));
                    let n_of_range: usize = of_range.map(|(_, n)| n).sum();
                    let expected = match (lo == hi, n_of_range, alike[&key(set)]) {
                        (true, ..) => Follows::Exact,
                        (_, 1, _) => Follows::ByRange,
                        (.., 1) => Follows::ByMean,
                        _ => Follows::Open,
                    };
                    assert_eq!(found, expected, "{set:?} in steps of {step}");
                    if found == Follows::ByMean {
                        let withheld = all.iter().filter(|other| {
                            let other =
                                printed(other, origin, step, Some((other[0], other[n - 1])));
                            other.ends == with_mean.ends && reader.learns(&other) == Follows::ByMean
                        });
                        assert!(withheld.count() > 1, "no mean tells its own values: {set:?}");
                    }
                }
            }
        }
    }

    /// Ranges that cover more than the class has.
    #[test]
    fn values_follow_from_means_in_wider_ranges() {
        let reader = Reader { step: Some(1.0), is_tight: false, is_positive: false };
        for (n, most) in [(2, 5), (3, 4), (4, 3), (5, 1)] {
            let all = multisets(n, most);
            for set in &all {
                let n_alike = all.iter().filter(|other| sum(other) == sum(set)).count();
                let expected = if n_alike == 1 { Follows::ByMean } else { Follows::Open };
                let printed = printed(set, 20.0, 1.0, Some((0, most)));
                assert_eq!(reader.learns(&printed), expected, "{set:?} up to {most}");
            }
        }
    }

    #[test]
    fn means_alone_tell_values_near_zero() {
        let reader = Reader { step: Some(1.0), is_tight: true, is_positive: true };
        for set in multisets(4, 3) {
            let n_alike = multisets(4, 12).iter().filter(|other| sum(other) == sum(&set)).count();
            let found = reader.learns(&printed(&set, 0.0, 1.0, None));
            match n_alike {
                1 if sum(&set) == 0 => assert_eq!(found, Follows::Exact),
                1 => assert_eq!(found, Follows::ByMean),
                _ => assert!(matches!(found, Follows::Open | Follows::Cover), "{set:?}"),
            }
        }
        let unknown = Reader { is_positive: false, ..reader };
        assert_eq!(unknown.learns(&printed(&[0, 0, 1], 0.0, 1.0, None)), Follows::Open);
    }

    #[test]
    fn steps_are_those_of_the_printed_numbers() {
        assert_eq!(step_of(&[25.0, 28.0]), Some(1.0));
        assert_eq!(step_of(&[20.0, 40.0]), Some(1.0));
        assert_eq!(step_of(&[2.5, -3.25]), Some(0.01));
        let thousands: Vec<f64> = (1..20).map(|n| f64::from(n) * 1000.0).collect();
        assert_eq!(step_of(&thousands), Some(1000.0));
        assert_eq!(step_of(&[std::f64::consts::PI]), None);
        assert_eq!(step_of(&[]), Some(1.0));
    }
}
