//! Times of the paper's six searches and of ours by the size of the quasi-identifier.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use incrowd_chart::{Axis, Lines, Series};

use super::{BASIC, BINARY, BOTTOM_UP, CUBE, Column, Job, OPTIMAL, ROLL_UP, SUPER_ROOTS, Search};
use crate::reproduce::{Claim, Lab, Table};
use crate::{Failure, now};

/// The searches in the order of the legend.
const SEARCHES: [Search; 7] = [BOTTOM_UP, BINARY, ROLL_UP, BASIC, SUPER_ROOTS, CUBE, OPTIMAL];

/// The values of k, each with its plot.
pub(super) const KS: [u64; 2] = [2, 10];

/// Why sparing passes over the table may not spare time.
const IN_MEMORY: &str = "\
what is spared is a pass over the table. In the paper that was a query to a database; here it is a pass over vectors \
in memory, no dearer than rolling up a frequency set of about as many groups. The sets at the bottom of a large \
table with many values are of that size";

/// Why binary search is not slow here.
const BY_HEIGHT: &str = "\
binary search rolls its frequency sets up here, so that it needs two passes over the table, and it asks for less: \
nodes of the least height, not all minimal ones";

/// Why Incognito is not always ahead of bottom-up search.
const FEW: &str = "\
with few attributes the lattice is small, and the searches of all subsets take more time than they spare";

/// What is timed.
pub(super) struct Plan<'a> {
    /// What the plots call the table.
    pub(super) name: &'static str,
    pub(super) table: &'a str,
    pub(super) columns: &'a [Column],
    pub(super) sizes: RangeInclusive<usize>,
    /// Seconds after which a search is given up, and with it those of more attributes.
    pub(super) most: u64,
}

/// A search that came to its end.
#[derive(Debug, Clone)]
struct Timed {
    /// Seconds of the search.
    search: f64,
    /// Seconds of the whole command.
    whole: f64,
    nodes: u64,
    scans: u64,
    cost: f64,
}

/// The times by k, name of the search and size.
pub(super) struct Times {
    by: BTreeMap<(u64, &'static str, usize), Timed>,
    sizes: RangeInclusive<usize>,
    name: &'static str,
    /// The searches that were given up.
    given_up: Vec<String>,
    most: u64,
}

impl Plan<'_> {
    /// Times all searches.
    pub(super) fn measure(&self, lab: &Lab) -> Result<Times, Failure> {
        let sizes = self.sizes.clone();
        let mut times = Times {
            by: BTreeMap::new(),
            sizes,
            name: self.name,
            given_up: Vec::new(),
            most: self.most,
        };
        for k in KS {
            for search in SEARCHES {
                for size in self.sizes.clone() {
                    let columns = &self.columns[..size];
                    let seconds = Some(self.most);
                    let job = Job { table: self.table, columns, k, lists_minimal: false, seconds };
                    let begun = now();
                    let ended = job.run(lab, search);
                    let whole = begun.elapsed().as_secs_f64();
                    let found = match ended {
                        Ok(report) => report.search.ok_or("no search")?,
                        // More attributes take longer still.
                        Err(error) if is_limit(&error) => {
                            let name = search.name;
                            times.given_up.push(format!("{name} from size {size} on (k = {k})"));
                            break;
                        }
                        Err(error) => return Err(error),
                    };
                    let one = Timed {
                        search: found.elapsed_s,
                        whole,
                        nodes: found.nodes_checked,
                        scans: found.table_scans,
                        cost: found.cost.unwrap_or(f64::NAN),
                    };
                    times.by.insert((k, search.name, size), one);
                }
            }
        }
        Ok(times)
    }
}

/// Whether a search was ended by its limits.
fn is_limit(error: &Failure) -> bool {
    let text = error.to_string();
    text.contains("time limit") || text.contains("memory limit")
}

impl Times {
    fn get(&self, k: u64, search: Search, size: usize) -> Option<&Timed> {
        self.by.get(&(k, search.name, size))
    }

    /// A sentence on the searches that were given up, if any were.
    pub(super) fn remark(&self) -> String {
        if self.given_up.is_empty() {
            return String::new();
        }
        format!(
            " A search that takes more than {} s is given up, and so are those of more columns: {}.",
            self.most,
            self.given_up.join(", ")
        )
    }

    /// The numbers.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(&[
            "k",
            "search",
            "size",
            "search_seconds",
            "command_seconds",
            "nodes_checked",
            "table_scans",
            "cost",
        ]);
        for ((k, name, size), timed) in &self.by {
            table.push([
                k.to_string(),
                (*name).to_owned(),
                size.to_string(),
                format!("{:.6}", timed.search),
                format!("{:.3}", timed.whole),
                timed.nodes.to_string(),
                timed.scans.to_string(),
                timed.cost.to_string(),
            ]);
        }
        table
    }

    /// The plot of one k.
    pub(super) fn plot(&self, k: u64) -> String {
        let points = |search: Search| {
            let time = |size| self.get(k, search, size).map_or(f64::NAN, |timed| timed.search);
            (0..).map(f64::from).zip(self.sizes.clone().map(time)).collect()
        };
        let chart = Lines {
            title: format!("Time of the search, {}, k = {k}", self.name),
            x: Axis::names(
                "size of the quasi-identifier",
                self.sizes.clone().map(|n| n.to_string()),
            ),
            y: Axis::log("seconds"),
            series: SEARCHES.map(|search| Series::new(search.name, points(search))).to_vec(),
        };
        chart.svg()
    }

    /// The greatest size that both came to.
    fn last(&self, k: u64, a: Search, b: Search) -> Option<usize> {
        let is_there = |search, size| self.get(k, search, size).is_some();
        self.sizes.clone().rev().find(|&size| is_there(a, size) && is_there(b, size))
    }

    /// A claim that one search is faster than another, at the greatest size that one of them came to.
    fn is_faster(&self, says: &str, quick: Search, slow: Search) -> Claim {
        let (mut found, mut holds) = (Vec::new(), true);
        for k in KS {
            let time = |search, size| self.get(k, search, size).map(|timed| timed.search);
            let times = |size| (time(quick, size), time(slow, size), size);
            let mut ends = self.sizes.clone().rev().map(times);
            let Some((a, b, size)) = ends.find(|(a, b, _)| a.or(*b).is_some()) else { continue };
            let cell = |time: Option<f64>| match time {
                Some(time) => format!("{time:.2} s"),
                None => format!("more than {} s", self.most),
            };
            found.push(format!("{} against {} at size {size}, k = {k}", cell(a), cell(b)));
            holds &= a.unwrap_or(f64::INFINITY) < b.unwrap_or(f64::INFINITY);
        }
        Claim::timing(says, found.join("; "), holds)
    }

    /// A claim that one search looks at less than another at every size.
    fn is_less(&self, says: &str, less: Search, more: Search, of: fn(&Timed) -> u64) -> Claim {
        let mut found = Vec::new();
        let mut holds = true;
        for k in KS {
            for size in self.sizes.clone() {
                let pair = self.get(k, less, size).zip(self.get(k, more, size));
                let Some((a, b)) = pair.map(|(a, b)| (of(a), of(b))) else { continue };
                holds &= a <= b;
                if Some(size) == self.last(k, less, more) {
                    found.push(format!("{a} against {b} at size {size}, k = {k}"));
                }
            }
        }
        Claim::new(says, found.join("; "), holds)
    }

    /// What the paper says of the searches.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let exact = [BOTTOM_UP, ROLL_UP, BASIC, SUPER_ROOTS, CUBE, OPTIMAL];
        let mut is_same = true;
        for k in KS {
            for size in self.sizes.clone() {
                let mut costs =
                    exact.iter().filter_map(|search| self.get(k, *search, size)).map(|t| t.cost);
                let first = costs.next();
                is_same &= costs.all(|cost| Some(cost) == first);
            }
        }
        vec![
            Claim::new(
                "All complete searches find the same",
                "the same cheapest node at every size and k, wherever they came to an end",
                is_same,
            ),
            self.is_less("Super-roots spare passes over the table", SUPER_ROOTS, BASIC, |timed| {
                timed.scans
            }),
            self.is_less(
                "The cube spares most passes over the table",
                CUBE,
                SUPER_ROOTS,
                |timed| timed.scans,
            ),
            self.is_faster(
                "Incognito is faster than bottom-up search without roll-up",
                BASIC,
                BOTTOM_UP,
            ),
            self.is_faster("Incognito is faster than binary search", BASIC, BINARY)
                .because(BY_HEIGHT),
            self.is_faster(
                "Incognito is faster than bottom-up search with roll-up",
                BASIC,
                ROLL_UP,
            )
            .because(FEW),
            self.is_faster("Roll-up makes bottom-up search faster", ROLL_UP, BOTTOM_UP)
                .because(IN_MEMORY),
            self.is_faster("Super-roots make Incognito faster", SUPER_ROOTS, BASIC)
                .because(IN_MEMORY),
            self.is_faster("The cube makes Incognito faster", CUBE, BASIC).because(IN_MEMORY),
            self.is_faster(
                "(Beyond the paper: `optimal`, which bounds costs instead of listing what is minimal, against the cube)",
                OPTIMAL,
                CUBE,
            ),
        ]
    }
}
