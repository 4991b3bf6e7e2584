//! Measures of class sizes alone (Bayardo and Agrawal 2005; TR 1521, section 1.2).

use std::collections::BTreeMap;

/// Sizes below this are counted in an array.
const SMALL: usize = 256;

/// The number of classes by size and by number of people. Measures and risks need no more, and it
/// takes little memory for any number of classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSizes {
    /// By size, the number of small classes in which every row is a person.
    small: Vec<u64>,
    /// The number of other classes, by rows and people.
    others: BTreeMap<(u64, u64), u64>,
}

impl Default for ClassSizes {
    fn default() -> ClassSizes {
        ClassSizes { small: vec![0; SMALL], others: BTreeMap::new() }
    }
}

impl ClassSizes {
    /// Counts one class with these numbers of rows and people.
    pub fn add(&mut self, rows: u64, people: u64) {
        self.add_all(rows, people, 1);
    }

    fn add_all(&mut self, rows: u64, people: u64, classes: u64) {
        let place = usize::try_from(rows).ok().and_then(|rows| self.small.get_mut(rows));
        match place {
            Some(place) if rows == people => *place += classes,
            _ => *self.others.entry((rows, people)).or_default() += classes,
        }
    }

    /// Adds the classes counted in `other`.
    pub fn merge(&mut self, other: &ClassSizes) {
        for (rows, people, classes) in other.iter() {
            self.add_all(rows, people, classes);
        }
    }

    /// Removes one class with this number of rows, if there is one.
    pub fn remove_one(&mut self, rows: u64) {
        let at = usize::try_from(rows).unwrap_or(usize::MAX);
        if let Some(place) = self.small.get_mut(at).filter(|classes| **classes > 0) {
            *place -= 1;
            return;
        }
        let with = self.others.range((rows, 0)..=(rows, u64::MAX)).next().map(|(&key, _)| key);
        if let Some(key) = with
            && let Some(classes) = self.others.get_mut(&key)
        {
            *classes -= 1;
            if *classes == 0 {
                self.others.remove(&key);
            }
        }
    }

    /// Rows, people, and the number of classes with these.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let small = (0..).zip(&self.small).filter(|(_, classes)| **classes > 0);
        let small = small.map(|(rows, &classes)| (rows, rows, classes));
        small.chain(self.others.iter().map(|(&(rows, people), &classes)| (rows, people, classes)))
    }

    /// The number of classes.
    #[must_use]
    pub fn n_classes(&self) -> u64 {
        self.iter().map(|(.., classes)| classes).sum()
    }

    /// The rows of all classes.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.iter().map(|(rows, _, classes)| rows * classes).sum()
    }

    /// The rows of the smallest class.
    #[must_use]
    pub fn smallest(&self) -> Option<u64> {
        self.iter().map(|(rows, ..)| rows).min()
    }

    /// The rows of the largest class.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.iter().map(|(rows, ..)| rows).max()
    }
}

/// Classes with these numbers of rows, in which every row is a person.
impl FromIterator<u64> for ClassSizes {
    fn from_iter<I: IntoIterator<Item = u64>>(sizes: I) -> ClassSizes {
        let mut all = ClassSizes::default();
        sizes.into_iter().for_each(|rows| all.add(rows, rows));
        all
    }
}

/// Discernibility: the sum of squared class sizes, plus the number of rows of the table for each
/// suppressed row.
#[must_use]
pub fn discernibility(sizes: &ClassSizes, n_suppressed: u64) -> f64 {
    let n_rows = u128::from(sizes.n_rows() + n_suppressed);
    let squares =
        |(rows, _, classes): (u64, u64, u64)| u128::from(rows).pow(2) * u128::from(classes);
    let classes: u128 = sizes.iter().map(squares).sum();
    (classes + u128::from(n_suppressed) * n_rows) as f64
}

/// Normalised average class size: rows per class, over k. `None` for a release without classes.
#[must_use]
pub fn average_class_size(sizes: &ClassSizes, k: u64) -> Option<f64> {
    let n_classes = sizes.n_classes();
    (n_classes > 0).then(|| sizes.n_rows() as f64 / n_classes as f64 / k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes<const N: usize>(sizes: [u64; N]) -> ClassSizes {
        sizes.into_iter().collect()
    }

    #[test]
    fn the_patients_of_the_mondrian_report() {
        // Figure 3: three classes of two; Figure 2: classes of four and two.
        assert!((discernibility(&sizes([2, 2, 2]), 0) - 12.0).abs() < 1e-12);
        assert!((discernibility(&sizes([4, 2]), 0) - 20.0).abs() < 1e-12);
        assert_eq!(average_class_size(&sizes([2, 2, 2]), 2), Some(1.0));
    }

    #[test]
    fn a_suppressed_row_costs_all_rows() {
        assert!((discernibility(&sizes([3]), 2) - (9.0 + 2.0 * 5.0)).abs() < 1e-12);
        assert_eq!(average_class_size(&sizes([]), 2), None);
    }

    #[test]
    fn small_and_large_classes_are_counted_the_same_way() {
        let mut all = sizes([3, 1000, 3]);
        all.merge(&sizes([1000, 255, 256]));
        assert_eq!((all.n_classes(), all.n_rows()), (6, 2517));
        assert_eq!((all.smallest(), all.largest()), (Some(3), Some(1000)));
        all.add(7, 2);
        for rows in [1000, 256, 3, 7, 9] {
            all.remove_one(rows);
        }
        assert_eq!(all, sizes([3, 255, 1000]));
    }
}
