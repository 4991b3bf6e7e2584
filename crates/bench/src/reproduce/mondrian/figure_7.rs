//! Figure 7 of the report, written down plainly and apart from the product.
//!
//! The product departs from the figure in one place: with many equal values at the median `m`, the
//! cut `<= m`, the only one that the figure has, may leave fewer than k rows on its right where `<
//! m` is allowable. The product takes the allowable cut that is nearest the median.
//! [`Rule::Literal`] cuts as the figure says, on the widest attribute whose cut `<= m` is allowable, so that a region may end that has an allowable cut (Theorem 4 says that this cannot be).

use crate::Failure;

/// Where an attribute is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// Behind the median, or not at all.
    Literal,
    /// At the allowable cut nearest the median.
    Nearest,
}

/// A table as numbers, column by column.
#[derive(Debug)]
pub(super) struct Points {
    columns: Vec<Vec<u32>>,
}

/// What a partitioning comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Partitioned {
    pub(super) discernibility: u64,
    pub(super) classes: u64,
}

impl Points {
    /// Some columns of a CSV text without quotes, each with the order of its values; numbers if
    /// there is none.
    pub(super) fn read(text: &str, columns: &[(&str, Vec<String>)]) -> Result<Points, Failure> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().ok_or("no header")?.split(',').collect();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        let column = |(name, order): &(&str, Vec<String>)| -> Result<Vec<u32>, Failure> {
            let at = names.iter().position(|known| known == name).ok_or("an unknown column")?;
            let number = |row: &Vec<&str>| -> Result<u32, Failure> {
                if order.is_empty() {
                    return Ok(row[at].parse()?);
                }
                let place = order.iter().position(|value| value == row[at]);
                Ok(u32::try_from(place.ok_or("a value without a place")?)?)
            };
            rows.iter().map(number).collect()
        };
        Ok(Points { columns: columns.iter().map(column).collect::<Result<_, _>>()? })
    }

    /// How many attributes there are.
    pub(super) fn n_attributes(&self) -> usize {
        self.columns.len()
    }

    /// How many rows there are.
    pub(super) fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The product's order of equally wide attributes: those with the fewest values first.
    pub(super) fn fewest_first(&self) -> Vec<usize> {
        let n_values = |at: &usize| {
            let mut values = self.columns[*at].clone();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(n_values);
        order
    }

    /// Partitions the rows; of equally wide attributes the one that comes first in `ties` is cut.
    pub(super) fn partition(&self, k: usize, rule: Rule, ties: &[usize]) -> Partitioned {
        let reach: Vec<u32> = self.columns.iter().map(|column| width(column.iter())).collect();
        let mut open: Vec<Vec<usize>> = vec![(0..self.n_rows()).collect()];
        let mut done = Partitioned { discernibility: 0, classes: 0 };
        while let Some(region) = open.pop() {
            let mut widths: Vec<(f64, usize)> = (ties.iter())
                .map(|&at| {
                    let width = width(region.iter().map(|&row| &self.columns[at][row]));
                    (f64::from(width) / f64::from(reach[at].max(1)), at)
                })
                .filter(|(width, _)| *width > 0.0)
                .collect();
            // A stable sort: ties stay in their order.
            widths.sort_by(|a, b| b.0.total_cmp(&a.0));
            let cut = widths.iter().find_map(|&(_, at)| {
                let values = region.iter().map(|&row| self.columns[at][row]).collect();
                Some((at, cut(values, k, rule)?))
            });
            let Some((at, value)) = cut else {
                done.discernibility += (region.len() as u64).pow(2);
                done.classes += 1;
                continue;
            };
            let (low, high): (Vec<usize>, Vec<usize>) =
                region.into_iter().partition(|&row| self.columns[at][row] <= value);
            open.extend([high, low]);
        }
        done
    }
}

/// How far values reach.
fn width<'a>(values: impl Iterator<Item = &'a u32> + Clone) -> u32 {
    let least = values.clone().min().copied().unwrap_or(0);
    values.max().copied().unwrap_or(0) - least
}

/// The value behind which a region is cut, if that is allowable: at least k rows on either side.
fn cut(mut values: Vec<u32>, k: usize, rule: Rule) -> Option<u32> {
    values.sort_unstable();
    let n = values.len();
    // How many rows are up to the value of a place.
    let left = |place: usize| values.partition_point(|&other| other <= values[place]);
    let is_allowable = |left: usize| k <= left && k <= n - left;
    match rule {
        Rule::Literal => {
            let middle = (n - 1) / 2;
            is_allowable(left(middle)).then_some(values[middle])
        }
        Rule::Nearest => {
            let mut best: Option<(usize, u32)> = None;
            let mut place = 0;
            while place < n {
                let left = left(place);
                if is_allowable(left) {
                    let key = ((2 * left).abs_diff(n), values[place]);
                    best = Some(best.map_or(key, |best| best.min(key)));
                }
                place = left;
            }
            best.map(|(_, value)| value)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Partitioned, Points, Rule};
    use crate::reproduce::Lab;
    use crate::reproduce::lab::Adult;
    use crate::reproduce::mondrian::discernibility::{adult_columns, rotations};

    fn points(columns: &[&[u32]]) -> Points {
        Points { columns: columns.iter().map(|column| column.to_vec()).collect() }
    }

    #[test]
    fn many_equal_values_at_the_median() {
        // 1 1 2 2 2 2: the median is 2, `<= 2` leaves nothing, `< 2` leaves two and four.
        let one = points(&[&[1, 1, 2, 2, 2, 2]]);
        let whole = Partitioned { discernibility: 36, classes: 1 };
        let halves = Partitioned { discernibility: 4 + 16, classes: 2 };
        assert_eq!(one.partition(2, Rule::Literal, &[0]), whole);
        assert_eq!(one.partition(2, Rule::Nearest, &[0]), halves);
    }

    /// The literal rule over distinct vectors with counts, by recursion: another program for the
    /// same figure.
    fn literal(vectors: &[(Vec<u32>, u64)], reach: &[u32], k: u64, ties: &[usize]) -> u64 {
        let total: u64 = vectors.iter().map(|(_, rows)| rows).sum();
        let mut best: Option<(f64, usize, u32)> = None;
        for &at in ties {
            let mut rows: BTreeMap<u32, u64> = BTreeMap::new();
            for (vector, n) in vectors {
                *rows.entry(vector[at]).or_default() += n;
            }
            let (first, last) = (rows.keys().next().copied(), rows.keys().last().copied());
            let (Some(first), Some(last)) = (first, last) else { continue };
            if first == last {
                continue;
            }
            let width = f64::from(last - first) / f64::from(reach[at]);
            let mut left = 0;
            let median = rows.iter().find_map(|(&value, n)| {
                left += n;
                (2 * left >= total).then_some(value)
            });
            let is_wider = best.is_none_or(|(widest, ..)| width > widest);
            if is_wider && left >= k && total - left >= k {
                best = median.map(|median| (width, at, median));
            }
        }
        let Some((_, at, median)) = best else { return total * total };
        let (low, high): (Vec<_>, Vec<_>) =
            vectors.iter().cloned().partition(|(vector, _)| vector[at] <= median);
        literal(&low, reach, k, ties) + literal(&high, reach, k, ties)
    }

    /// The bundled Adult table: the product's rule gives the product's number, and the literal one
    /// what the second program gives, under every order of the ties.
    #[test]
    fn adult_at_k_10() {
        let lab = Lab::new(true, 0).expect("a folder");
        lab.adult(Adult::Training).expect("the table");
        let columns = adult_columns(&lab).expect("the columns");
        let points = Points::read(&lab.read("adult.csv").expect("the table"), &columns);
        let points = points.expect("numbers");
        let nearest = points.partition(10, Rule::Nearest, &points.fewest_first());
        assert_eq!(nearest.discernibility, 469_848, "strict Mondrian's, as in Figure 14");

        let mut vectors: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for row in 0..points.columns[0].len() {
            let vector = points.columns.iter().map(|column| column[row]).collect();
            *vectors.entry(vector).or_default() += 1;
        }
        let vectors: Vec<(Vec<u32>, u64)> = vectors.into_iter().collect();
        let reach: Vec<u32> =
            points.columns.iter().map(|column| super::width(column.iter())).collect();
        let mut costs = Vec::new();
        for ties in rotations(points.n_attributes()) {
            let cost = points.partition(10, Rule::Literal, &ties).discernibility;
            assert_eq!(cost, literal(&vectors, &reach, 10, &ties), "{ties:?}");
            costs.push(cost);
        }
        costs.sort_unstable();
        assert_eq!((costs[0], costs[costs.len() - 1]), (738_590, 844_362));
    }
}
