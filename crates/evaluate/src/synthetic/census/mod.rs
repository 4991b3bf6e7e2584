//! People of a census: seventeen correlated columns of mixed types.
//!
//! Our own, for benchmarks and experiments; its numbers describe no real population. A row is drawn
//! column by column, each given those before it:
//!
//! - `region`, and by region the `race`; by race the `country` of birth;
//! - `age` (18 to 95), and by age the `sex`: the share of women grows with age;
//! - `education` by age and whether born abroad; `marital` by age and sex; `children` by age and
//!   marriage;
//! - `workclass` by age and education; `occupation` by education and sex; `hours` by work, sex and
//!   age;
//! - `income` by occupation, education, age, sex and hours, log-normal; `salary_class` says whether
//!   it is above 50,000;
//! - `postcode` by region and income: the first digit is the region, neighbouring codes are
//!   similar;
//! - `diagnosis` by age and sex; `charges` by diagnosis and age; `visit`, a day of 2025, by
//!   diagnosis: influenza peaks in winter.

mod lists;
mod person;

use std::ops::Range;
use std::sync::Arc;

use incrowd_data::{PlainColumn, PlainTable, PlainValues};

use self::lists::{
    COUNTRY, DIAGNOSIS, EDUCATION, MARITAL, NO_OCCUPATION, OCCUPATION, RACE, REGION, SALARY_CLASS,
    SEX, WORK,
};
use self::person::{Chances, N_POSTCODES, Person, postcode};
use super::random::Source;
use super::{dictionary, integers, money, n_rows, texts};

/// The parameters of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The seed of the rows.
    pub seed: u64,
}

/// An endless table.
#[derive(Clone, Debug)]
pub struct CensusTable {
    rows: Source,
    chances: Chances,
    texts: Texts,
}

/// The texts of each column of texts.
#[derive(Clone, Debug)]
struct Texts {
    sex: Arc<[String]>,
    race: Arc<[String]>,
    marital: Arc<[String]>,
    education: Arc<[String]>,
    work: Arc<[String]>,
    occupation: Arc<[String]>,
    country: Arc<[String]>,
    region: Arc<[String]>,
    postcode: Arc<[String]>,
    salary_class: Arc<[String]>,
    diagnosis: Arc<[String]>,
}

impl CensusTable {
    /// The table of a seed.
    #[must_use]
    pub fn new(config: &Config) -> CensusTable {
        let occupations = OCCUPATION.iter().map(|job| job.name).chain([NO_OCCUPATION]);
        let texts = Texts {
            sex: dictionary(SEX),
            race: dictionary(RACE),
            marital: dictionary(MARITAL.iter().map(|(name, _)| *name)),
            education: dictionary(EDUCATION.iter().map(|(name, _)| *name)),
            work: dictionary(WORK.iter().map(|(name, _)| *name)),
            occupation: dictionary(occupations),
            country: dictionary(COUNTRY.iter().map(|(name, _)| *name)),
            region: dictionary(REGION.iter().map(|(name, ..)| *name)),
            postcode: (0..N_POSTCODES).map(postcode).collect(),
            salary_class: dictionary(SALARY_CLASS),
            diagnosis: dictionary(DIAGNOSIS.iter().map(|ill| ill.name)),
        };
        CensusTable { rows: Source::new(config.seed, 5), chances: Chances::new(), texts }
    }

    /// A range of rows.
    #[must_use]
    pub fn rows(&self, rows: Range<u64>) -> PlainTable {
        let mut people = Vec::with_capacity(n_rows(&rows));
        people.extend(rows.map(|row| self.chances.person(&mut self.rows.of_row(row))));
        let numbers = |of: fn(&Person) -> i64| people.iter().map(of).collect::<Vec<i64>>();
        let codes = |of: fn(&Person) -> u32| people.iter().map(of).collect::<Vec<u32>>();
        let visits = people.iter().map(|p| p.visit).collect();
        let known = &self.texts;
        let columns = vec![
            integers("age", numbers(|p| p.age)),
            texts("sex", codes(|p| p.sex), &known.sex),
            texts("race", codes(|p| p.race), &known.race),
            texts("marital", codes(|p| p.marital), &known.marital),
            texts("education", codes(|p| p.education), &known.education),
            texts("workclass", codes(|p| p.work), &known.work),
            texts("occupation", codes(|p| p.occupation), &known.occupation),
            integers("hours", numbers(|p| p.hours)),
            integers("children", numbers(|p| p.children)),
            texts("country", codes(|p| p.country), &known.country),
            texts("region", codes(|p| p.region), &known.region),
            texts("postcode", codes(|p| p.postcode), &known.postcode),
            integers("income", numbers(|p| p.income)),
            texts("salary_class", codes(|p| u32::from(p.income > 50_000)), &known.salary_class),
            texts("diagnosis", codes(|p| p.diagnosis), &known.diagnosis),
            money("charges", &numbers(|p| p.charges)),
            PlainColumn { name: "visit".to_owned(), values: PlainValues::Dates(visits) },
        ];
        PlainTable { columns }
    }
}

#[cfg(test)]
mod tests;
