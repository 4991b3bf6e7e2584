//! Loan applicants, labelled `A` or `B` by known functions of their attributes.
//!
//! # Source
//!
//! Agrawal, Imielinski, Swami: *Database Mining: A Performance Perspective*, TKDE 1993: nine
//! attributes and ten label functions. The distributions of the attributes and functions 2, 4, 6
//! and 7 are given in LeFevre, DeWitt, Ramakrishnan: *Workload-Aware Anonymization*, KDD 2006,
//! Figure 6, whose text takes precedence where the two differ (ZIP codes are 0 to 9). Function 5 is
//! that of the 1993 paper: its second condition tests the loan, although widespread copies test the
//! salary.
//!
//! Amounts of money are rounded to hundredths before labels are computed, so that a label is an
//! exact function of the row as written. No noise is added.
//!
//! With `vary_constants` the constants of functions 2 to 6 are drawn anew from the seed, once per
//! table and independently, over the range of their attribute (KDD 2006, section 4.3). The ends of
//! an interval are ordered, and so are the two ages that separate the young, the middle-aged and
//! the old. The constants of a function do not depend on which other functions are requested.

mod function;

pub use function::Function;

use std::ops::Range;
use std::sync::Arc;

use incrowd_data::PlainTable;

use super::random::Source;
use super::{ParameterError, dictionary, integers, money, n_rows, texts};

/// The parameters of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The label functions, 1 to 10, one column each.
    pub functions: Vec<u8>,
    /// Whether the constants of functions 2 to 6 are drawn from the seed.
    pub vary_constants: bool,
    /// The seed of the rows.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { functions: vec![2], vary_constants: false, seed: 0 }
    }
}

/// One row without its labels. Money is in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the paper")]
pub struct Applicant {
    pub salary: i64,
    pub commission: i64,
    pub age: i64,
    pub elevel: i64,
    pub car: i64,
    pub zipcode: i64,
    pub hvalue: i64,
    pub hyears: i64,
    pub loan: i64,
}

/// An endless table.
#[derive(Clone, Debug)]
pub struct AgrawalTable {
    rows: Source,
    functions: Vec<Function>,
    labels: Arc<[String]>,
}

impl AgrawalTable {
    /// The table with these parameters, or everything that is wrong with them.
    pub fn new(config: Config) -> Result<AgrawalTable, Vec<ParameterError>> {
        let Config { functions: numbers, vary_constants, seed } = config;
        let mut problems = Vec::new();
        let mut functions = Vec::new();
        for (at, &found) in numbers.iter().enumerate() {
            match Function::new(found) {
                None => problems.push(ParameterError::Function { found }),
                Some(_) if numbers[..at].contains(&found) => {
                    problems.push(ParameterError::FunctionTwice { found });
                }
                Some(function) if vary_constants => {
                    let mut random = Source::new(seed, 4).of_row(found.into());
                    functions.push(function.varied(&mut random));
                }
                Some(function) => functions.push(function),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(AgrawalTable { rows: Source::new(seed, 3), functions, labels: dictionary(["A", "B"]) })
    }

    /// The label functions with their constants.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The name of a function's column: `group`, or `group_2` if there are several.
    #[must_use]
    pub fn label_name(&self, function: &Function) -> String {
        match self.functions.len() {
            1 => "group".to_owned(),
            _ => format!("group_{}", function.number()),
        }
    }

    /// A row without its labels.
    #[must_use]
    pub fn applicant(&self, row: u64) -> Applicant {
        let mut random = self.rows.of_row(row);
        let salary = random.integer(2_000_000, 15_000_000);
        let commission = if salary >= 7_500_000 { 0 } else { random.integer(1_000_000, 7_500_000) };
        let age = random.integer(20, 80);
        let elevel = random.integer(0, 4);
        let car = random.integer(1, 20);
        let zipcode = random.integer(0, 9);
        let hvalue = zipcode * random.integer(5_000_000, 15_000_000);
        let hyears = random.integer(1, 30);
        let loan = random.integer(0, 50_000_000);
        Applicant { salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan }
    }

    /// A range of rows: the nine attributes, then the labels.
    #[must_use]
    pub fn rows(&self, rows: Range<u64>) -> PlainTable {
        let mut applicants = Vec::with_capacity(n_rows(&rows));
        applicants.extend(rows.map(|row| self.applicant(row)));
        let of = |value: fn(&Applicant) -> i64| applicants.iter().map(value).collect::<Vec<i64>>();
        let mut columns = vec![
            money("salary", &of(|a| a.salary)),
            money("commission", &of(|a| a.commission)),
            integers("age", of(|a| a.age)),
            integers("elevel", of(|a| a.elevel)),
            integers("car", of(|a| a.car)),
            integers("zipcode", of(|a| a.zipcode)),
            money("hvalue", &of(|a| a.hvalue)),
            integers("hyears", of(|a| a.hyears)),
            money("loan", &of(|a| a.loan)),
        ];
        for function in &self.functions {
            let label = |a| u32::from(!function.is_group_a(a));
            let codes = applicants.iter().map(label).collect();
            columns.push(texts(self.label_name(function), codes, &self.labels));
        }
        PlainTable { columns }
    }
}

#[cfg(test)]
mod tests;
