//! The quasi-identifier sets of a job: what each attacker can know, and which of them collude.
//!
//! Sets are verified one by one from the written bytes, each with its own k. A search for one set
//! gets the union of all sets and the greatest k.

use incrowd_engine::Source;

use crate::plan::PlannedColumn;
use crate::spec::error::{Problem, nearest};
use crate::spec::{JobSpec, Role};

/// The name of the only set of a job that names none.
pub(crate) const DEFAULT: &str = "default";

/// A quasi-identifier set, its columns by their place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuasiSet {
    pub(crate) name: String,
    /// Ascending.
    pub(crate) columns: Vec<usize>,
    /// The least size of its classes, if one is asked for.
    pub(crate) k: Option<u64>,
    /// Of a coalition, its sets by their place in the list; a set that the job names has none.
    pub(crate) members: Vec<usize>,
}

impl QuasiSet {
    pub(crate) fn is_coalition(&self) -> bool {
        !self.members.is_empty()
    }

    /// What some sets know together: all their columns, the greatest of their ks, their names
    /// joined.
    pub(crate) fn together(sets: &[QuasiSet], members: Vec<usize>) -> QuasiSet {
        let of = || members.iter().map(|&member| &sets[member]);
        let mut columns: Vec<usize> = of().flat_map(|set| set.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let names: Vec<&str> = of().map(|set| set.name.as_str()).collect();
        QuasiSet { name: names.join("+"), columns, k: of().filter_map(|set| set.k).max(), members }
    }

    /// Whether whoever knows this set knows those columns.
    pub(crate) fn covers(&self, columns: &[usize]) -> bool {
        columns.iter().all(|column| self.columns.contains(column))
    }
}

/// The sets of a job in their order, then its coalitions.
pub(crate) fn sets(
    spec: &JobSpec,
    source: &Source,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Vec<QuasiSet> {
    let quasi: Vec<usize> =
        (0..columns.len()).filter(|&at| columns[at].role == Some(Role::Quasi)).collect();
    let is_declared = spec.columns.values().any(|column| column.role.as_deref() == Some("quasi"));
    if spec.quasi.is_empty() && quasi.is_empty() && !is_declared {
        problems.push(
            Problem::new("the job has no quasi-identifier")
                .help("name the columns that an attacker could know with --quasi a,b,c"),
        );
    }
    let mut sets = named(spec, source, problems);
    for &at in quasi.iter().filter(|_| !sets.is_empty()) {
        if !sets.iter().any(|set| set.columns.contains(&at)) {
            let name = &columns[at].name;
            problems.push(
                Problem::new(format!("column `{name}` is quasi but in no quasi-identifier set"))
                    .help("add it to a set"),
            );
        }
    }
    coalitions(spec, &mut sets, problems);
    if sets.is_empty() {
        let (name, k) = (DEFAULT.to_owned(), spec.privacy.least_k());
        sets.push(QuasiSet { name, columns: quasi, k, members: Vec::new() });
    }
    sets
}

fn named(spec: &JobSpec, source: &Source, problems: &mut Vec<Problem>) -> Vec<QuasiSet> {
    let mut sets: Vec<QuasiSet> = Vec::new();
    for (at, set) in spec.quasi.iter().enumerate() {
        let name = &set.name;
        let n_before = sets.iter().filter(|known| known.name == *name).count();
        if name.trim().is_empty() {
            problems
                .push(Problem::new(format!("quasi-identifier set {} has no name", at + 1)).help(
                "name it: --quasi NAME=a,b, or name = \"NAME\" in its [[quasi]] of the job file",
            ));
        } else if n_before == 1 {
            problems.push(
                Problem::new(format!("two quasi-identifier sets are named `{name}`"))
                    .help("give each a name of its own"),
            );
        }
        if set.columns.is_empty() {
            let which = if name.is_empty() { (at + 1).to_string() } else { format!("`{name}`") };
            problems.push(
                Problem::new(format!("quasi-identifier set {which} has no columns"))
                    .help("name the columns that this attacker can know, or drop the set"),
            );
        }
        for (at, column) in set.columns.iter().enumerate() {
            if set.columns[..at].contains(column) {
                problems.push(
                    Problem::new(format!("quasi-identifier set `{name}` names `{column}` twice"))
                        .help("name every column once"),
                );
            }
        }
        let mut columns: Vec<usize> =
            set.columns.iter().filter_map(|name| source.position(name)).collect();
        columns.sort_unstable();
        columns.dedup();
        let k = set.k.or(spec.privacy.least_k());
        sets.push(QuasiSet { name: name.clone(), columns, k, members: Vec::new() });
    }
    sets
}

/// Adds the coalitions of a job to its sets.
fn coalitions(spec: &JobSpec, sets: &mut Vec<QuasiSet>, problems: &mut Vec<Problem>) {
    let n_named = sets.len();
    let of_sets = spec.quasi.iter().flat_map(|set| &set.collude);
    for names in spec.collude.iter().chain(of_sets) {
        let Some(members) = members(names, &sets[..n_named], problems) else { continue };
        let is_same = |set: &QuasiSet| {
            let same = members.iter().filter(|member| set.members.contains(member)).count();
            same == members.len() && same == set.members.len()
        };
        if sets.iter().any(is_same) {
            continue;
        }
        let coalition = QuasiSet::together(&sets[..n_named], members);
        if let Some(other) = sets.iter().find(|set| set.name == coalition.name) {
            let what = if other.is_coalition() { "another coalition" } else { "a set" };
            problems.push(
                Problem::new(format!(
                    "the coalition of {} would have the name of {what}, `{}`",
                    quoted(names),
                    other.name
                ))
                .help("rename the sets so that no name has a `+`"),
            );
        }
        sets.push(coalition);
    }
}

/// The sets that a coalition names, if it can be one.
fn members(names: &[String], sets: &[QuasiSet], problems: &mut Vec<Problem>) -> Option<Vec<usize>> {
    let n_before = problems.len();
    let mut members: Vec<usize> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let known = sets.iter().position(|set| set.name == *name);
        if names[..at].contains(name) {
            problems.push(
                Problem::new(format!("the coalition of {} names `{name}` twice", quoted(names)))
                    .help("name every set once"),
            );
        } else if known.is_none() {
            let problem = Problem::new(format!(
                "a coalition names `{name}`, which is not a quasi-identifier set"
            ));
            let all: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
            problems.push(match nearest(name, all.iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None if all.is_empty() => {
                    problem.help("name the sets first: --quasi NAME=a,b for each")
                }
                None => problem.help(format!("the sets are {}", all.join(", "))),
            });
        }
        members.extend(known);
    }
    if names.len() < 2 {
        let found = if names.is_empty() { "none".to_owned() } else { quoted(names) };
        problems.push(
            Problem::new(format!("a coalition is of two sets or more, found {found}"))
                .help("name the sets whose attackers put their knowledge together: --collude a,b"),
        );
    }
    (problems.len() == n_before).then_some(members)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
