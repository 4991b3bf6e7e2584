//! Queries: aggregates over the rows that satisfy a condition.
//!
//! A condition is kept in negation normal form: tests joined by *and* and *or*. The only test that
//! a missing cell satisfies is [`Test::IsMissing`], as in SQL's `WHERE`.

use crate::CodeSet;

/// A constant of a test, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// Its text: the digits of a number, a quoted text without its quotes, `true` or `false`.
    pub text: String,
    /// Whether it was written as a number.
    pub is_number: bool,
}

/// How a value is compared with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
}

impl Comparison {
    /// Whether the comparison holds, given the ordering of the value relative to the constant.
    #[must_use]
    pub fn holds(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Less => ordering.is_lt(),
            Comparison::AtMost => ordering.is_le(),
            Comparison::Greater => ordering.is_gt(),
            Comparison::AtLeast => ordering.is_ge(),
            Comparison::Equal => ordering.is_eq(),
            Comparison::NotEqual => ordering.is_ne(),
        }
    }

    /// The opposite comparison.
    #[must_use]
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtMost => Comparison::Greater,
            Comparison::Greater => Comparison::AtMost,
            Comparison::AtLeast => Comparison::Less,
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
        }
    }

    /// The comparison with both sides exchanged.
    #[must_use]
    pub fn flipped(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::Greater => Comparison::Less,
            Comparison::AtLeast => Comparison::AtMost,
            Comparison::Equal | Comparison::NotEqual => self,
        }
    }
}

/// A test of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// The value compares with a constant in this way.
    Compare(Comparison, Literal),
    /// The value is one of these (`IN`).
    In(Vec<Literal>),
    /// The cell has a value, which is none of these (`NOT IN`).
    NotIn(Vec<Literal>),
    /// `IS NULL`
    IsMissing,
    /// `IS NOT NULL`
    IsPresent,
}

impl Test {
    /// The test that a cell with a value satisfies if and only if it fails this one.
    #[must_use]
    pub fn negated(self) -> Test {
        match self {
            Test::Compare(comparison, literal) => Test::Compare(comparison.negated(), literal),
            Test::In(literals) => Test::NotIn(literals),
            Test::NotIn(literals) => Test::In(literals),
            Test::IsMissing => Test::IsPresent,
            Test::IsPresent => Test::IsMissing,
        }
    }
}

/// Tests joined by *and* and *or*.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// All of them hold; true if there are none.
    All(Vec<Condition>),
    /// One of them holds; false if there are none.
    Any(Vec<Condition>),
    /// A test of a column.
    Test {
        /// The column's name.
        column: String,
        /// The test of its cell.
        test: Test,
    },
}

/// What a query computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// `COUNT(*)`
    Count,
    /// `COUNT(column)`: rows with a value.
    CountOf(String),
    /// `SUM(column)`
    Sum(String),
    /// `AVG(column)`
    Avg(String),
    /// `MIN(column)`
    Min(String),
    /// `MAX(column)`
    Max(String),
}

impl Aggregate {
    /// The column that is aggregated.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Aggregate::Count => None,
            Aggregate::CountOf(column)
            | Aggregate::Sum(column)
            | Aggregate::Avg(column)
            | Aggregate::Min(column)
            | Aggregate::Max(column) => Some(column),
        }
    }
}

/// A query: `SELECT aggregates WHERE condition GROUP BY columns`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What is computed.
    pub aggregates: Vec<Aggregate>,
    /// The rows that count.
    pub condition: Condition,
    /// Columns to group by.
    pub group_by: Vec<String>,
}

/// A region: for each column it names, the codes that it admits. Other columns admit any code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Region {
    /// Columns, ascending, with the codes that they admit.
    pub sides: Vec<(usize, CodeSet)>,
}

/// A condition that needs more than [`MOST_REGIONS`] regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRegions;

/// The most regions that a condition may have.
pub const MOST_REGIONS: usize = 4096;

impl Condition {
    /// The columns that the condition tests, in the order of their first test.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.each_test(&mut |column, _| {
            if !found.contains(&column) {
                found.push(column);
            }
        });
        found
    }

    /// Calls a function with every test.
    pub fn each_test<'a>(&'a self, call: &mut impl FnMut(&'a str, &'a Test)) {
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                for part in parts {
                    part.each_test(call);
                }
            }
            Condition::Test { column, test } => call(column, test),
        }
    }

    /// Disjoint regions that together contain exactly what satisfies the condition. `codes` returns
    /// the number of a test's column and the codes that satisfy the test.
    pub fn regions(
        &self,
        codes: &impl Fn(&str, &Test) -> (usize, CodeSet),
    ) -> Result<Vec<Region>, TooManyRegions> {
        let regions = match self {
            Condition::Test { column, test } => {
                let (column, set) = codes(column, test);
                let is_empty = set.is_empty();
                let region = Region { sides: vec![(column, set)] };
                if is_empty { Vec::new() } else { vec![region] }
            }
            Condition::All(parts) => {
                let mut regions = vec![Region::default()];
                for part in parts {
                    let of_part = part.regions(codes)?;
                    if regions.len() * of_part.len() > MOST_REGIONS * MOST_REGIONS {
                        return Err(TooManyRegions);
                    }
                    let pairs = regions.iter().flat_map(|a| of_part.iter().map(move |b| (a, b)));
                    regions = pairs.filter_map(|(a, b)| a.and(b)).collect();
                    check(&regions)?;
                }
                regions
            }
            Condition::Any(parts) => {
                let mut regions: Vec<Region> = Vec::new();
                for part in parts {
                    for region in part.regions(codes)? {
                        let mut pieces = vec![region];
                        for known in &regions {
                            pieces = pieces.iter().flat_map(|piece| piece.without(known)).collect();
                            check(&pieces)?;
                        }
                        for piece in pieces {
                            add(&mut regions, piece);
                        }
                        check(&regions)?;
                    }
                }
                regions
            }
        };
        Ok(regions)
    }
}

fn check(regions: &[Region]) -> Result<(), TooManyRegions> {
    if regions.len() > MOST_REGIONS { Err(TooManyRegions) } else { Ok(()) }
}

/// Adds a region. Two regions that differ on one column are merged.
fn add(regions: &mut Vec<Region>, mut region: Region) {
    while let Some(at) = regions.iter().position(|known| known.joined(&region).is_some()) {
        let known = regions.swap_remove(at);
        region = known.joined(&region).expect("it was found");
    }
    regions.push(region);
}

impl Region {
    /// The codes of a column that the region admits; `None` if it admits any.
    #[must_use]
    pub fn side(&self, column: usize) -> Option<&CodeSet> {
        self.sides.iter().find(|(of, _)| *of == column).map(|(_, set)| set)
    }

    /// The intersection, if it is not empty.
    #[must_use]
    pub fn and(&self, other: &Region) -> Option<Region> {
        let mut region = self.clone();
        for (column, set) in &other.sides {
            region.restrict(*column, |known| known.map_or_else(|| set.clone(), |k| k.and(set)));
        }
        let is_empty = region.sides.iter().any(|(_, set)| set.is_empty());
        (!is_empty).then_some(region)
    }

    /// Disjoint regions that contain what the other region does not.
    fn without(&self, other: &Region) -> Vec<Region> {
        if self.and(other).is_none() {
            return vec![self.clone()];
        }
        let mut pieces = Vec::new();
        let mut rest = self.clone();
        for (column, set) in &other.sides {
            let all = || CodeSet::of(set.n_codes(), |_| true);
            let mut outside = rest.clone();
            outside.restrict(*column, |known| known.cloned().unwrap_or_else(all).without(set));
            if outside.side(*column).is_some_and(|side| !side.is_empty()) {
                pieces.push(outside);
            }
            rest.restrict(*column, |known| known.cloned().unwrap_or_else(all).and(set));
        }
        pieces
    }

    /// The union, if the regions differ on at most one column.
    fn joined(&self, other: &Region) -> Option<Region> {
        let is_alike = self.sides.len() == other.sides.len()
            && self.sides.iter().zip(&other.sides).all(|(a, b)| a.0 == b.0);
        let differ =
            || self.sides.iter().zip(&other.sides).enumerate().filter(|(_, (a, b))| a.1 != b.1);
        if !is_alike || differ().count() != 1 {
            return None;
        }
        let (at, (a, b)) = differ().next()?;
        let mut region = self.clone();
        region.sides[at].1 = a.1.or(&b.1);
        Some(region)
    }

    fn restrict(&mut self, column: usize, to: impl FnOnce(Option<&CodeSet>) -> CodeSet) {
        match self.sides.binary_search_by_key(&column, |(of, _)| *of) {
            Ok(at) => self.sides[at].1 = to(Some(&self.sides[at].1)),
            Err(at) => self.sides.insert(at, (column, to(None))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(column: &str, comparison: Comparison, number: u32) -> Condition {
        let literal = Literal { text: number.to_string(), is_number: true };
        Condition::Test { column: column.to_owned(), test: Test::Compare(comparison, literal) }
    }

    /// Columns a, b and c of the codes 0..5, whose values are their codes.
    fn codes(column: &str, test: &Test) -> (usize, CodeSet) {
        let Test::Compare(comparison, literal) = test else { panic!("comparisons only") };
        let number: u32 = literal.text.parse().unwrap();
        let set = CodeSet::of(5, |code| comparison.holds(code.cmp(&number)));
        (["a", "b", "c"].iter().position(|&name| name == column).unwrap(), set)
    }

    fn holds(condition: &Condition, point: [u32; 3]) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| holds(part, point)),
            Condition::Any(parts) => parts.iter().any(|part| holds(part, point)),
            Condition::Test { column, test } => {
                let (column, set) = codes(column, test);
                set.contains(point[column])
            }
        }
    }

    /// Every point is in one region if it satisfies the condition, and in none if not.
    #[track_caller]
    fn check_regions(condition: &Condition) -> usize {
        let regions = condition.regions(&codes).unwrap();
        for at in 0..125 {
            let point = [at / 25, at / 5 % 5, at % 5];
            let is_in = |region: &&Region| {
                region.sides.iter().all(|(column, set)| set.contains(point[*column]))
            };
            let n_in = regions.iter().filter(is_in).count();
            assert_eq!(n_in, usize::from(holds(condition, point)), "{point:?}");
        }
        regions.len()
    }

    #[test]
    fn a_condition_is_divided_into_disjoint_regions() {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, NotEqual};
        let a = || test("a", Less, 3);
        let b = || test("b", Greater, 1);
        let c = || test("c", NotEqual, 2);
        assert_eq!(check_regions(&Condition::All(vec![])), 1);
        assert_eq!(check_regions(&Condition::Any(vec![])), 0);
        assert_eq!(check_regions(&Condition::All(vec![a(), b(), c()])), 1);
        check_regions(&Condition::Any(vec![a(), b(), c()]));
        let both = Condition::Any(vec![
            Condition::All(vec![a(), b()]),
            Condition::All(vec![b(), c()]),
            Condition::All(vec![test("a", AtLeast, 4), test("c", AtMost, 1)]),
        ]);
        check_regions(&both);
        check_regions(&Condition::All(vec![both.clone(), Condition::Any(vec![a(), c()])]));
        check_regions(&Condition::All(vec![test("a", Equal, 1), test("a", Equal, 2)]));
        // Neighbouring pieces become one.
        let split = Condition::Any((0..5).map(|at| test("a", Equal, at)).collect());
        assert_eq!(check_regions(&split), 1);
    }

    #[test]
    fn runs_of_codes() {
        let set = CodeSet::of(130, |code| code < 2 || code == 64 || code > 127);
        assert_eq!(set.runs(), [(0, 1), (64, 64), (128, 129)]);
        assert!(CodeSet::none(3).runs().is_empty());
    }
}
