//! Incognito: nodes searched and time by the size of the quasi-identifier.

mod adult;
mod nodes;
mod orders;
mod regrouped;
mod times;

use super::lab::Lab;
use super::{Experiment, Paper};
use crate::Failure;
use incrowd_job::Report;

pub(crate) const PAPER: Paper = Paper {
    name: "incognito",
    source: "Incognito: LeFevre, DeWitt, Ramakrishnan, *Incognito: Efficient Full-Domain K-Anonymity*, SIGMOD 2005",
    setting: "The Adult table without rows that lack a value (45,222 rows) with its nine columns \
in the paper's order: age, sex, race, marital status, education, native country, work class, \
occupation, salary class; a quasi-identifier of size n is the first n of them. The hierarchies are \
those of the examples. Their heights are the paper's (4, 1, 1, 2, 3, 2, 2, 2, 1), but the paper \
does not print their groups. The second table of the paper, orders of a mail-order company, is not \
public: a random table with the same numbers of rows, values and levels replaces it. The paper \
itself was not at hand. Places refer to the slides of a talk about it, which have the table of \
nodes, the names of the searches, and the charts of times without their lines. We read the charts \
like this: each refinement is faster than what it refines, and Incognito is faster than what came \
before. Times are those of one machine with other work on it, and of a search in memory where the \
paper's ran in a database: only their growth and their order can be compared.",
    experiments: &[
        Experiment {
            name: "incognito-nodes",
            title: "Nodes searched, by the size of the quasi-identifier (Adult, k = 2)",
            tables: &[""],
            plots: &[""],
            run: nodes::run,
            judge: nodes::judge,
        },
        Experiment {
            name: "incognito-adult-times",
            title: "Time by the size of the quasi-identifier (Adult, k = 2 and k = 10)",
            tables: &[""],
            plots: &["", "k10"],
            run: adult::run,
            judge: adult::judge,
        },
        Experiment {
            name: "incognito-large-times",
            title: "Time by the size of the quasi-identifier (a large table, k = 2 and k = 10)",
            tables: &[""],
            plots: &["", "k10"],
            run: orders::run,
            judge: orders::judge,
        },
    ],
};

/// A column of a quasi-identifier, and its hierarchy as a job states it.
type Column = (&'static str, String);

/// The columns of the Adult table in the paper's order, with the hierarchies of the examples.
fn adult_columns() -> Vec<Column> {
    let names = [
        "age",
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ];
    names.iter().map(|&name| (name, format!("\"hierarchies/{name}.csv\""))).collect()
}

/// A full-domain search of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Search {
    name: &'static str,
    algorithm: &'static str,
    variant: Option<&'static str>,
}

impl Search {
    const fn new(
        name: &'static str,
        algorithm: &'static str,
        variant: Option<&'static str>,
    ) -> Search {
        Search { name, algorithm, variant }
    }
}

const BOTTOM_UP: Search = Search::new("bottom-up", "bottom-up", Some("no-rollup"));
const ROLL_UP: Search = Search::new("bottom-up with roll-up", "bottom-up", Some("rollup"));
const BINARY: Search = Search::new("binary search", "samarati", None);
const BASIC: Search = Search::new("Incognito", "incognito", Some("basic"));
const SUPER_ROOTS: Search = Search::new("Incognito, super-roots", "incognito", Some("super-roots"));
/// Ours, which is in no figure of the paper.
const OPTIMAL: Search = Search::new("optimal (ours)", "optimal", None);
const CUBE: Search = Search::new("Incognito, cube", "incognito", Some("cube"));

/// A search over some columns of a table.
#[derive(Debug, Clone)]
struct Job<'a> {
    table: &'a str,
    columns: &'a [Column],
    k: u64,
    /// Whether all minimal nodes are listed, which takes no more nodes but some time.
    lists_minimal: bool,
    /// The time limit in seconds, if there is one.
    seconds: Option<u64>,
}

impl Job<'_> {
    /// `incrowd anonymize` by a search.
    fn run(&self, lab: &Lab, search: Search) -> Result<Report, Failure> {
        let column = |(name, hierarchy): &Column| {
            let kind = if *name == "zipcode" { "type = \"text\", " } else { "" };
            format!("{name} = {{ role = \"quasi\", {kind}hierarchy = {hierarchy} }}")
        };
        let columns = self.columns.iter().map(column).collect::<Vec<_>>().join("\n");
        let minimal = self.lists_minimal.then_some("all-minimal");
        let variant: Vec<&str> = search.variant.into_iter().chain(minimal).collect();
        let variant = match variant.as_slice() {
            [] => String::new(),
            words => format!("variant = \"{}\"\n", words.join(",")),
        };
        let limit = match self.seconds {
            Some(seconds) => format!("[run]\ntime-limit = \"{seconds}s\"\n"),
            None => String::new(),
        };
        lab.anonymize(&format!(
            "input = \"{}\"\noutput = \"release.csv\"\nundeclared = \"drop\"\n[columns]\n{columns}\n\
             [privacy]\nk = {}\n[search]\nalgorithm = \"{}\"\nmeasure = \"discernibility\"\n{variant}{limit}",
            self.table, self.k, search.algorithm
        ))
    }
}
