//! The label functions.
//!
//! Functions 2 to 6 distinguish three age bands and have a case for each: a value must be in an
//! interval, which another value may choose. Functions 7 to 10 test the sign of the income left
//! after tax and costs. All arithmetic is in integers.

use std::fmt;

use super::Applicant;
use crate::synthetic::random::Random;

/// The quantity of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Level,
    Salary,
    /// Salary and commission.
    Total,
    Loan,
}

/// A quantity from `low` to `high`, both included; money in whole units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Test {
    quantity: Quantity,
    low: i64,
    high: i64,
}

/// The test of an age band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    One(Test),
    /// If the first test holds, the second; otherwise the third.
    Either(Test, Test, Test),
}

/// A case for those below the first age, one for those below the second, one for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bands {
    middle: i64,
    old: i64,
    cases: [Case; 3],
}

/// `0.67 (salary + commission) - cost of education - share of the loan + share of the equity -
/// fixed > 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disposable {
    has_education: bool,
    has_loan: bool,
    has_equity: bool,
    fixed: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    /// The young and the old.
    NotMiddleAged,
    Bands(Box<Bands>),
    Disposable(Disposable),
}

/// A function that decides which applicants are in group A.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    number: u8,
    rule: Rule,
}

impl Function {
    /// Function 1 to 10 with the constants of the paper.
    #[must_use]
    pub fn new(number: u8) -> Option<Function> {
        use Case::{Either, One};
        let disposable = |has_education, has_loan, has_equity, fixed| {
            Rule::Disposable(Disposable { has_education, has_loan, has_equity, fixed })
        };
        let rule = match number {
            1 => Rule::NotMiddleAged,
            2 => by_age([One(salary(50, 100)), One(salary(75, 125)), One(salary(25, 75))]),
            3 => by_age([One(level(0, 1)), One(level(1, 3)), One(level(2, 4))]),
            4 => by_age([
                Either(level(0, 1), salary(25, 75), salary(50, 100)),
                Either(level(1, 3), salary(50, 100), salary(75, 125)),
                Either(level(2, 4), salary(50, 100), salary(25, 75)),
            ]),
            5 => by_age([
                Either(salary(50, 100), loan(100, 300), loan(200, 400)),
                Either(salary(75, 125), loan(200, 400), loan(300, 500)),
                Either(salary(25, 75), loan(300, 500), loan(100, 300)),
            ]),
            6 => by_age([One(total(50, 100)), One(total(75, 125)), One(total(25, 75))]),
            7 => disposable(false, true, false, 20_000),
            8 => disposable(true, false, false, 20_000),
            9 => disposable(true, true, false, 10_000),
            10 => disposable(true, false, true, 10_000),
            _ => return None,
        };
        Some(Function { number, rule })
    }

    /// The function's number in the paper.
    #[must_use]
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The function with other constants, if it is one of those whose constants vary.
    pub(super) fn varied(mut self, random: &mut Random) -> Function {
        if let Rule::Bands(bands) = &mut self.rule {
            (bands.middle, bands.old) = ordered(random, 20, 80);
            for case in &mut bands.cases {
                match case {
                    Case::One(test) => test.vary(random),
                    Case::Either(condition, then, otherwise) => {
                        for test in [condition, then, otherwise] {
                            test.vary(random);
                        }
                    }
                }
            }
        }
        self
    }

    /// Whether an applicant is in group A.
    #[must_use]
    pub fn is_group_a(&self, of: &Applicant) -> bool {
        match &self.rule {
            Rule::NotMiddleAged => !(40..60).contains(&of.age),
            Rule::Bands(bands) => {
                let band = usize::from(of.age >= bands.middle) + usize::from(of.age >= bands.old);
                match &bands.cases[band] {
                    Case::One(test) => test.holds(of),
                    Case::Either(condition, then, otherwise) => {
                        (if condition.holds(of) { then } else { otherwise }).holds(of)
                    }
                }
            }
            Rule::Disposable(rule) => rule.ten_thousandths(of) > 0,
        }
    }
}

fn by_age(cases: [Case; 3]) -> Rule {
    Rule::Bands(Box::new(Bands { middle: 40, old: 60, cases }))
}

fn level(low: i64, high: i64) -> Test {
    Test { quantity: Quantity::Level, low, high }
}

fn salary(low: i64, high: i64) -> Test {
    Test { quantity: Quantity::Salary, low: 1000 * low, high: 1000 * high }
}

fn total(low: i64, high: i64) -> Test {
    Test { quantity: Quantity::Total, low: 1000 * low, high: 1000 * high }
}

fn loan(low: i64, high: i64) -> Test {
    Test { quantity: Quantity::Loan, low: 1000 * low, high: 1000 * high }
}

/// Two integers of a range, the smaller first.
fn ordered(random: &mut Random, low: i64, high: i64) -> (i64, i64) {
    let (a, b) = (random.integer(low, high), random.integer(low, high));
    (a.min(b), a.max(b))
}

impl Test {
    fn holds(&self, of: &Applicant) -> bool {
        let (value, unit) = match self.quantity {
            Quantity::Level => (of.elevel, 1),
            Quantity::Salary => (of.salary, 100),
            Quantity::Total => (of.salary + of.commission, 100),
            Quantity::Loan => (of.loan, 100),
        };
        (self.low * unit..=self.high * unit).contains(&value)
    }

    /// Draws a new interval over the range of the quantity.
    fn vary(&mut self, random: &mut Random) {
        let (low, high) = match self.quantity {
            Quantity::Level => (0, 4),
            Quantity::Salary => (20_000, 150_000),
            // A low salary goes with a commission of at least 10,000, a high one with none.
            Quantity::Total => (30_000, 150_000),
            Quantity::Loan => (0, 500_000),
        };
        (self.low, self.high) = ordered(random, low, high);
    }
}

impl Disposable {
    /// The income that is left, in ten-thousandths.
    fn ten_thousandths(&self, of: &Applicant) -> i64 {
        let mut left = 67 * (of.salary + of.commission) - 10_000 * self.fixed;
        if self.has_education {
            left -= 10_000 * 5_000 * of.elevel;
        }
        if self.has_loan {
            left -= 20 * of.loan;
        }
        if self.has_equity {
            // A fifth of a tenth of the value for each year beyond 20.
            left += 2 * of.hvalue * (of.hyears - 20).max(0);
        }
        left
    }
}

// Text of a function

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.quantity {
            Quantity::Level => "elevel",
            Quantity::Salary => "salary",
            Quantity::Total => "salary + commission",
            Quantity::Loan => "loan",
        };
        write!(f, "{} <= {name} <= {}", self.low, self.high)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Case::One(test) => write!(f, "{test}"),
            Case::Either(condition, then, otherwise) => {
                write!(f, "(if {condition} then {then} else {otherwise})")
            }
        }
    }
}

impl fmt::Display for Disposable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0.67 (salary + commission)")?;
        let parts = [
            (self.has_education, " - 5000 elevel"),
            (self.has_loan, " - 0.2 loan"),
            (self.has_equity, " + 0.02 hvalue max(hyears - 20, 0)"),
        ];
        parts.iter().filter(|(has, _)| *has).try_for_each(|(_, part)| f.write_str(part))?;
        write!(f, " > {}", self.fixed)
    }
}

/// The condition of group A.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::NotMiddleAged => f.write_str("age < 40 or age >= 60"),
            Rule::Bands(bands) => {
                let Bands { middle, old, cases: [young, between, rest] } = bands.as_ref();
                write!(
                    f,
                    "age < {middle} and {young}, or {middle} <= age < {old} and {between}, \
                     or age >= {old} and {rest}"
                )
            }
            Rule::Disposable(rule) => write!(f, "{rule}"),
        }
    }
}
