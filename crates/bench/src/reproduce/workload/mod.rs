//! *Workload-Aware Anonymization*: how good models and selections are on releases that were made
//! for them.

mod census;
mod contraceptives;
mod groups;
mod models;
mod regions;
mod regression;
mod rows;
mod selection;
mod sweep;
mod synthetic;

use super::{Experiment, Paper};

pub(crate) const PAPER: Paper = Paper {
    name: "workload",
    source: "Workload-aware Mondrian: LeFevre, DeWitt, Ramakrishnan, *Workload-Aware Anonymization*, KDD 2006",
    setting: "\
InfoGain, LSD and Selection Mondrian against Median Mondrian and top-down specialization (TDS). Rows are held
out first, the recoding is learned from the others alone, and models are trained on the recoded rows, as in
`incrowd evaluate`. The synthetic tables follow the paper's Figure 6. Its census table (American Community Survey
2003) is not bundled. For classification Adult (1994) stands in: native country for region, work class for
citizenship, occupation for disability, and age, years of education, hours, marital status, sex and race as they
are. Its salary class divides at 50,000 dollars and not at 30,000; rows of the lower class are left out at random
until they are 56% of all, as in the paper, which leaves 25,473 of 45,222. The hierarchies are the bundled ones,
that of marital status with one more level (couples, and those alone): without it TDS divides marital status into
four at once, which leaves groups too small to be divided by education. For regression a synthetic census
stands in, of as many rows as the paper's. The contraceptives table is the one that the paper used. The models are ours
and not Weka's: C4.5 with pessimistic pruning for J48, naive Bayes over intervals of minimum description length,
a forest of 40 trees, a linear support vector machine for SMO, and CART for M5. The paper's numbers are known
where it prints them (Figure 10 and some sentences); elsewhere it has pictures, and orderings are compared.",
    experiments: &[
        Experiment {
            name: "workload-figure-8",
            title: "Figure 8: accuracy on synthetic tables",
            tables: &["", "differences"],
            plots: &["", "naive-bayes", "random-forest", "svm"],
            run: synthetic::figure_8,
            judge: synthetic::judge,
        },
        Experiment {
            name: "workload-figure-9-abcde",
            title: "Figure 9(a-e): accuracy, conditional entropy and class size on census data",
            tables: &["", "whole", "fit"],
            plots: &["", "b", "c", "d", "e"],
            run: census::figure_9_abcde,
            judge: census::judge_abcde,
        },
        Experiment {
            name: "workload-figure-9-f",
            title: "Figure 9(f): accuracy on the contraceptives table",
            tables: &[""],
            plots: &[""],
            run: contraceptives::figure_9_f,
            judge: contraceptives::judge,
        },
        Experiment {
            name: "workload-figure-9-g",
            title: "Figure 9(g): accuracy with selections that tell nothing of the label",
            tables: &[""],
            plots: &[""],
            run: groups::figure_9_g,
            judge: groups::judge,
        },
        Experiment {
            name: "workload-figure-9-h",
            title: "Figure 9(h): accuracy without the best predictors",
            tables: &[""],
            plots: &[""],
            run: census::figure_9_h,
            judge: census::judge_h,
        },
        Experiment {
            name: "workload-figure-9-i",
            title: "Figure 9(i): error of regression trees",
            tables: &[""],
            plots: &[""],
            run: regression::figure_9_i,
            judge: regression::judge,
        },
        Experiment {
            name: "workload-figure-10",
            title: "Figure 10: several target models",
            tables: &["", "matrix"],
            plots: &[""],
            run: models::figure_10,
            judge: models::judge,
        },
        Experiment {
            name: "workload-figure-11",
            title: "Figure 11: imprecision of a selection",
            tables: &[""],
            plots: &[""],
            run: selection::figure_11,
            judge: selection::judge,
        },
    ],
};

/// The recodings that the paper compares for labels, with what a job says of each.
const RECODINGS: [(&str, &str); 3] = [
    ("InfoGain Mondrian", "split = \"infogain\""),
    ("TDS", "algorithm = \"tds\""),
    ("Median Mondrian", "split = \"median\""),
];

/// The learners as `evaluate` and as the paper calls them.
const LEARNERS: [(&str, &str); 4] = [
    ("decision-tree", "J48"),
    ("naive-bayes", "naive Bayes"),
    ("random-forest", "random forest"),
    ("linear-svm", "SVM"),
];

/// The names of the first learners, as `evaluate` calls them.
fn learners(n: usize) -> Vec<String> {
    LEARNERS[..n].iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// The columns of a synthetic applicant that are quasi-identifiers, and two with hierarchies.
const APPLICANT: &str = "\
salary     = { role = \"quasi\" }
commission = { role = \"quasi\" }
age        = { role = \"quasi\" }
elevel     = { role = \"quasi\", hierarchy = \"elevel.csv\" }
car        = { role = \"quasi\", hierarchy = \"car.csv\" }
zipcode    = { role = \"quasi\" }
hvalue     = { role = \"quasi\" }
hyears     = { role = \"quasi\" }
loan       = { role = \"quasi\" }
";

/// Writes the hierarchies of applicants: education in two stages, cars in groups of five.
fn write_hierarchies(lab: &super::Lab) -> Result<(), crate::Failure> {
    lab.write("elevel.csv", "0;basic;*\n1;basic;*\n2;higher;*\n3;higher;*\n4;higher;*\n")?;
    let car = |make: u32| format!("{make};group {};*\n", (make - 1) / 5 + 1);
    lab.write("car.csv", &(1..=20).map(car).collect::<String>())
}

/// A job over a table of the lab.
fn job(input: &str, columns: &str, k: u64, search: &str, seed: u64) -> String {
    format!(
        "input = \"{input}\"\nundeclared = \"drop\"\n\n[columns]\n{columns}\n[privacy]\nk = {k}\n\n\
         [search]\nseed = {seed}\n{search}\n"
    )
}

/// Numbers with their names.
fn named(of: &[(&str, f64)]) -> String {
    let one = |(name, value): &(&str, f64)| format!("{name} {}", figure(*value));
    of.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A number with as many digits as people compare.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    }
}
