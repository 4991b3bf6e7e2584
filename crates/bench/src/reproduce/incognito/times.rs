//! Times of the paper's six searches and of ours by the size of the quasi-identifier.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use incrowd_chart::{Axis, Lines, Series};

use super::{BASIC, BINARY, BOTTOM_UP, CUBE, Column, Job, OPTIMAL, ROLL_UP, SUPER_ROOTS, Search};
use crate::reproduce::{CHECK, Cases, Claim, Lab, Numbers, OURS, Row, Table, exceeds};
use crate::{Failure, now};

/// The searches in the order of the legend.
const SEARCHES: [Search; 7] = [BOTTOM_UP, BINARY, ROLL_UP, BASIC, SUPER_ROOTS, CUBE, OPTIMAL];

/// The values of k, each with its plot.
pub(super) const KS: [u64; 2] = [2, 10];

/// Why sparing passes over the table may not spare time.
const IN_MEMORY: &str = "the saving is a pass over the table. In the paper that was a query to a \
database. Here it is a pass over vectors in memory, which costs no more than rolling up a \
frequency set with about as many groups. The sets at the bottom of a large table with many values \
are of that size";

/// Why binary search is not slow here.
const BY_HEIGHT: &str = "here, binary search rolls up its frequency sets, so it needs two passes \
over the table, and it finds less: nodes of the least height, not all minimal ones";

/// Why Incognito is not always ahead of bottom-up search.
const FEW: &str = "with few attributes the lattice is small, and the searches of all subsets take \
more time than they save";

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
}

impl Plan<'_> {
    /// Times all searches.
    pub(super) fn measure(&self, lab: &Lab) -> Result<Times, Failure> {
        let sizes = self.sizes.clone();
        let mut times = Times { by: BTreeMap::new(), sizes, name: self.name };
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
                        Err(error) if is_limit(&error) => break,
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
}

/// The numbers of the searches, to be judged.
pub(super) struct Timings<'a> {
    table: &'a Table,
    /// Seconds after which a search was given up.
    most: u64,
}

impl<'a> Timings<'a> {
    pub(super) fn new(numbers: &'a Numbers, most: u64) -> Timings<'a> {
        Timings { table: numbers.main(), most }
    }

    fn sizes(&self) -> Vec<&'a str> {
        let mut sizes = self.table.distinct("size");
        sizes.sort_unstable();
        sizes
    }

    /// What a search came to; none if it was given up.
    fn get(&self, k: &str, search: Search, size: &str) -> Option<Row<'a>> {
        self.table.rows().find(|row| {
            row.text("k") == k && row.text("search") == search.name && row.text("size") == size
        })
    }

    /// A sentence on the searches that were given up, if any were.
    pub(super) fn remark(&self) -> String {
        let mut given_up = Vec::new();
        for k in self.table.distinct("k") {
            for search in SEARCHES {
                let first =
                    self.sizes().into_iter().find(|size| self.get(k, search, size).is_none());
                if let Some(size) = first {
                    given_up.push(format!("{} from size {size} on (k = {k})", search.name));
                }
            }
        }
        if given_up.is_empty() {
            return String::new();
        }
        format!(
            " A search that takes more than {} s is stopped and not tried with more columns: {}. \
             A comparison with a search that was not tried is open.",
            self.most,
            given_up.join(", ")
        )
    }

    /// The least and the greatest number of seconds that a search takes; none if it was not tried,
    /// since fewer attributes took it too long.
    #[expect(clippy::cast_precision_loss, reason = "a few seconds")]
    fn seconds(&self, k: &str, search: Search, size: &str) -> Option<(f64, f64)> {
        if let Some(row) = self.get(k, search, size) {
            let seconds = row.number("search_seconds");
            return Some((seconds, seconds));
        }
        let first = self.sizes().into_iter().find(|size| self.get(k, search, size).is_none());
        (first == Some(size)).then_some((self.most as f64, f64::INFINITY))
    }

    /// The sizes and values of k at which two searches came to their ends, with both.
    fn pairs(&self, a: Search, b: Search) -> Vec<(String, Row<'a>, Row<'a>)> {
        let mut pairs = Vec::new();
        for k in self.table.distinct("k") {
            for size in self.sizes() {
                if let Some((a, b)) = self.get(k, a, size).zip(self.get(k, b, size)) {
                    pairs.push((format!("size {size}, k = {k}"), a, b));
                }
            }
        }
        pairs
    }

    /// A statement that one search is faster than another: at every size and k that one of them
    /// came to.
    fn is_faster(&self, place: &'static str, says: &str, quick: Search, slow: Search) -> Claim {
        let cell = |(least, most): (f64, f64)| {
            if most.is_finite() { format!("{least:.2} s") } else { format!("more than {least} s") }
        };
        let (mut cases, mut last) = (Vec::new(), String::new());
        for k in self.table.distinct("k") {
            for size in self.sizes() {
                if self.get(k, quick, size).or(self.get(k, slow, size)).is_none() {
                    continue;
                }
                let name = format!("size {size}, k = {k}");
                let times = self.seconds(k, quick, size).zip(self.seconds(k, slow, size));
                let answer = times.and_then(|(quick, slow)| {
                    last = format!("; {} against {} at {name}", cell(quick), cell(slow));
                    exceeds((slow.0 - quick.1, slow.1 - quick.0), 0.0)
                });
                cases.push((name, answer));
            }
        }
        let cases = Cases::of(cases);
        Claim::new(place, says, format!("{}{last}", cases.found()), &cases).timing()
    }

    /// A statement that one search passes over the table less often than another, at every size
    /// that both came to.
    fn has_fewer_scans(
        &self,
        place: &'static str,
        says: &str,
        less: Search,
        more: Search,
    ) -> Claim {
        let pairs = self.pairs(less, more);
        let scans = |row: &Row| row.number("table_scans");
        // With one or two columns, a family has one root only, so that there is nothing to group.
        let chosen = pairs.iter().filter(|(_, a, _)| a.number("size") > 2.0);
        let cases = Cases::of(chosen.map(|(name, a, b)| (name, scans(a) < scans(b))));
        let last = pairs.last().map_or(String::new(), |(name, a, b)| {
            format!("; {} against {} at {name}", scans(a), scans(b))
        });
        Claim::new(place, says, format!("{}{last}", cases.found()), &cases)
    }

    /// What the paper says of the searches.
    pub(super) fn claims(&self) -> Vec<Claim> {
        const CHARTS: &str = "charts of times";
        let exact = [BOTTOM_UP, ROLL_UP, BASIC, SUPER_ROOTS, CUBE, OPTIMAL];
        let mut same = Vec::new();
        for k in self.table.distinct("k") {
            for size in self.sizes() {
                let rows = exact.iter().filter_map(|search| self.get(k, *search, size));
                let costs: Vec<&str> = rows.map(|row| row.text("cost")).collect();
                if costs.len() > 1 {
                    let is_same = costs.iter().all(|cost| *cost == costs[0]);
                    same.push((format!("size {size}, k = {k}"), is_same));
                }
            }
        }
        let same = Cases::of(same);
        vec![
            Claim::new(
                CHECK,
                "All complete searches find the same",
                format!("the same cost of the cheapest node, wherever two or more came to an end: {}", same.found()),
                &same,
            ),
            self.has_fewer_scans(
                "*Algorithm optimization*, super-roots",
                "Super-roots spare passes over the table (three attributes or more)",
                SUPER_ROOTS,
                BASIC,
            ),
            self.has_fewer_scans(
                "*Bottom-up pre-computation*",
                "The cube spares passes over the table that super-roots do not (three attributes or more)",
                CUBE,
                SUPER_ROOTS,
            ),
            self.is_faster(
                CHARTS,
                "Incognito is faster than bottom-up search without roll-up",
                BASIC,
                BOTTOM_UP,
            )
            .because(FEW),
            self.is_faster(CHARTS, "Incognito is faster than binary search", BASIC, BINARY)
                .because(BY_HEIGHT),
            self.is_faster(
                CHARTS,
                "Incognito is faster than bottom-up search with roll-up",
                BASIC,
                ROLL_UP,
            )
            .because(FEW),
            self.is_faster(CHARTS, "Roll-up makes bottom-up search faster", ROLL_UP, BOTTOM_UP)
                .because(IN_MEMORY),
            self.is_faster(CHARTS, "Super-roots make Incognito faster", SUPER_ROOTS, BASIC)
                .because(IN_MEMORY),
            self.is_faster(CHARTS, "The cube makes Incognito faster", CUBE, BASIC).because(IN_MEMORY),
            self.is_faster(
                OURS,
                "`optimal`, which bounds costs instead of listing what is minimal, is faster than Incognito with the cube",
                OPTIMAL,
                CUBE,
            ),
        ]
    }
}
