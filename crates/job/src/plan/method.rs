//! How a job searches: the algorithm with its variant and preferences, checked.

use std::time::Duration;

use incrowd_data::{Attribute, Level, Shape};
use incrowd_quality::Measure;
use incrowd_search::{Algorithm, Sharing};

use crate::plan::PlannedColumn;
use crate::plan::columns::{targets, with_role};
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem, nearest};
use crate::spec::{JobSpec, LevelBounds, Role};

/// An algorithm and what it is told beside the problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Method {
    pub(crate) algorithm: Algorithm,
    /// Whether the algorithm was asked for as that of the baseline `union`.
    pub(crate) is_union: bool,
    /// Whether all minimal nodes are listed.
    pub(crate) wants_minimal: bool,
    /// Column by its place in the source, its levels.
    levels: Vec<(usize, LevelBounds)>,
    /// Column by its place in the source, weight.
    weights: Vec<(usize, f64)>,
    pub(crate) time: Option<Duration>,
    pub(crate) memory: Option<u64>,
}

impl Default for Method {
    fn default() -> Method {
        Method {
            algorithm: Algorithm::Mondrian,
            is_union: false,
            wants_minimal: false,
            levels: Vec::new(),
            weights: Vec::new(),
            time: None,
            memory: None,
        }
    }
}

/// The algorithms by the names of the command line; the last one is that of the variant.
const ALGORITHMS: [(&str, Algorithm); 12] = [
    ("mondrian", Algorithm::Mondrian),
    ("optimal", Algorithm::Optimal),
    ("incognito", Algorithm::Incognito(Sharing::Basic)),
    ("samarati", Algorithm::Samarati),
    ("bottom-up", Algorithm::BottomUp { rolls_up: true }),
    ("datafly", Algorithm::Datafly),
    ("single-dimensional", Algorithm::SingleDimensional),
    ("hill-climb", Algorithm::HillClimb),
    ("koptimize", Algorithm::KOptimize),
    ("tds", Algorithm::Tds),
    ("butterfly", Algorithm::Butterfly { improves: true }),
    (UNION, Algorithm::Mondrian),
];

/// The baseline for several sets: any algorithm for one set, on the union of all.
pub(crate) const UNION: &str = "union";

/// The algorithms that protect one set, by the names of their variants of `union`.
fn of_one_set() -> Vec<(&'static str, Algorithm)> {
    let relaxed = ("mondrian-relaxed", Algorithm::MondrianRelaxed);
    let is_one =
        |(name, algorithm): &(&str, Algorithm)| *name != UNION && !algorithm.protects_each_set();
    ALGORITHMS.into_iter().filter(is_one).chain([relaxed]).collect()
}

/// The names of all algorithms, without variants.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().map(|(name, _)| *name)
}

/// The variants of an algorithm.
fn variants(algorithm: Algorithm) -> &'static [(&'static str, Algorithm)] {
    match algorithm {
        Algorithm::Mondrian | Algorithm::MondrianRelaxed => {
            &[("strict", Algorithm::Mondrian), ("relaxed", Algorithm::MondrianRelaxed)]
        }
        Algorithm::Incognito(_) => &[
            ("basic", Algorithm::Incognito(Sharing::Basic)),
            ("super-roots", Algorithm::Incognito(Sharing::SuperRoots)),
            ("cube", Algorithm::Incognito(Sharing::Cube)),
        ],
        Algorithm::BottomUp { .. } => &[
            ("rollup", Algorithm::BottomUp { rolls_up: true }),
            ("no-rollup", Algorithm::BottomUp { rolls_up: false }),
        ],
        Algorithm::Butterfly { .. } => &[
            ("improved", Algorithm::Butterfly { improves: true }),
            ("paper", Algorithm::Butterfly { improves: false }),
        ],
        Algorithm::Optimal
        | Algorithm::Samarati
        | Algorithm::Datafly
        | Algorithm::SingleDimensional
        | Algorithm::HillClimb
        | Algorithm::KOptimize
        | Algorithm::Tds => &[],
    }
}

/// The algorithm and the variant of a name like `mondrian`, `mondrian-relaxed` or `incognito-cube`.
pub(crate) fn named<'a>(
    name: &'a str,
    problems: &mut Vec<Problem>,
) -> Option<(&'a str, Option<&'a str>)> {
    if ALGORITHMS.iter().any(|(known, _)| *known == name) {
        return Some((name, None));
    }
    for (known, algorithm) in ALGORITHMS {
        let variant = name.strip_prefix(known).and_then(|rest| rest.strip_prefix('-'));
        let all = if known == UNION { of_one_set() } else { variants(algorithm).to_vec() };
        if let Some(variant) = variant.filter(|word| all.iter().any(|(known, _)| known == word)) {
            return Some((&name[..known.len()], Some(variant)));
        }
    }
    let names = ALGORITHMS.iter().map(|(known, _)| *known);
    let problem = Problem::new(format!("there is no algorithm `{name}`"));
    problems.push(match nearest(name, names.clone()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("choose of {}", names.collect::<Vec<_>>().join(", "))),
    });
    None
}

/// The variant that lists all minimal nodes.
const ALL_MINIMAL: &str = "all-minimal";

/// The algorithm that a job asks for with its variant, and whether all minimal nodes are listed.
fn algorithm(spec: &JobSpec, problems: &mut Vec<Problem>) -> (Algorithm, bool) {
    let search = &spec.search;
    let name = search.algorithm.as_deref();
    let found = choice("algorithm", name, &ALGORITHMS, problems);
    let mut algorithm = found.unwrap_or(Algorithm::Mondrian);
    let mut words = search.variant.iter().flat_map(|words| words.split(',').map(str::trim));
    if name == Some(UNION) {
        let found = choice("variant", words.next(), &of_one_set(), problems);
        algorithm = found.unwrap_or(algorithm);
    }
    let mut wants_minimal = algorithm.always_lists_minimal_nodes();
    let (mut chosen, mut lists) = (None, false);
    for word in words {
        let mut known = variants(algorithm).to_vec();
        if algorithm.lists_minimal_nodes() {
            if word == ALL_MINIMAL && !lists {
                (wants_minimal, lists) = (true, true);
                continue;
            }
            known.push((ALL_MINIMAL, algorithm));
        }
        if known.is_empty() {
            let name = base_name(algorithm);
            problems.push(Problem::new(format!("`{name}` has no variants, found `{word}`")));
            continue;
        }
        if let Some(other) = chosen.replace(word).or((word == ALL_MINIMAL).then_some(word)) {
            problems.push(
                Problem::new(format!("`{other}` and `{word}` cannot both be the variant"))
                    .help("name one; all-minimal may stand beside it"),
            );
        }
        algorithm = choice("variant", Some(word), &known, problems).unwrap_or(algorithm);
    }
    (algorithm, wants_minimal)
}

/// Names with commas between them and `or` before the last one.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The name of an algorithm without its variant.
fn base_name(algorithm: Algorithm) -> &'static str {
    let is_of = |known: Algorithm| {
        known == algorithm || variants(known).iter().any(|(_, variant)| *variant == algorithm)
    };
    ALGORITHMS.iter().find(|(_, known)| is_of(*known)).map_or("", |(name, _)| name)
}

/// The method that a job asks for.
pub(crate) fn method(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Method {
    let search = &spec.search;
    let is_union = search.algorithm.as_deref() == Some(UNION);
    let (mut algorithm, wants_minimal) = algorithm(spec, problems);
    if search.relaxed == Some(true) {
        match algorithm.relaxed() {
            Some(relaxed) => algorithm = relaxed,
            None => problems.push(
                Problem::new("only mondrian has a relaxed form")
                    .help("drop --relaxed or --algorithm"),
            ),
        }
    }
    if let Some(relaxed) = search.relaxed {
        let other = if relaxed { "strict" } else { "relaxed" };
        let mut words = search.variant.iter().flat_map(|words| words.split(','));
        if words.any(|word| word.trim() == other) {
            let message = format!("`relaxed = {relaxed}` and the variant `{other}` differ");
            problems.push(Problem::new(message).help("drop --relaxed or --variant"));
        }
    }
    let time = spec.run.time().unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let memory = spec.run.memory().unwrap_or_else(|problem| {
        problems.push(problem);
        None
    });
    let (levels, weights) = (levels(spec, columns, problems), weights(spec, columns, problems));
    Method { algorithm, is_union, wants_minimal, levels, weights, time, memory }
}

/// The place of a quasi-identifier column that a preference names.
fn quasi(
    columns: &[PlannedColumn],
    name: &str,
    what: &str,
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let names = || with_role(columns, Role::Quasi).map(|at| columns[at].name.as_str());
    let found = with_role(columns, Role::Quasi).find(|&at| columns[at].name == name);
    if found.is_none() {
        let problem = Problem::new(format!(
            "`{what}` names `{name}`, which is not a quasi-identifier column"
        ));
        problems.push(match nearest(name, names()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("they are {}", names().collect::<Vec<_>>().join(", "))),
        });
    }
    found
}

fn levels(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Vec<(usize, LevelBounds)> {
    let mut levels = Vec::new();
    for (name, level) in &spec.search.levels {
        let bounds = level.bounds();
        if bounds.is_none() {
            problems.push(
                Problem::new(format!("the levels of `{name}` are no level and no range of levels"))
                    .help("write 2, \"1..3\", \"1..\" or \"..3\", both ends included"),
            );
        }
        let column = quasi(columns, name, "levels", problems);
        levels.extend(column.zip(bounds));
    }
    levels
}

fn weights(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Vec<(usize, f64)> {
    let mut weights = Vec::new();
    for (name, &weight) in &spec.search.weights {
        if !(weight.is_finite() && weight > 0.0) {
            problems.push(Problem::new(format!(
                "the weight of `{name}` must be a number above 0, found {weight}"
            )));
        }
        weights.extend(quasi(columns, name, "weights", problems).map(|column| (column, weight)));
    }
    weights
}

/// An option that not every algorithm can honour.
struct SearchOption {
    /// The option as it is asked for.
    name: &'static str,
    /// Whether a job asks for it; a default that is spelt out asks for nothing.
    is_asked: fn(&JobSpec) -> bool,
    is_honoured_by: fn(Algorithm) -> bool,
}

/// What some algorithms cannot honour. Whatever a job asks for and its algorithm cannot do is
/// refused.
const OPTIONS: [SearchOption; 8] = [
    SearchOption {
        name: "--suppress",
        is_asked: |spec| spec.privacy.suppress.as_ref().is_some_and(|limit| !limit.is_nothing()),
        is_honoured_by: Algorithm::suppresses,
    },
    SearchOption {
        name: "--suppressed star",
        is_asked: |spec| spec.release.suppressed.as_deref() == Some("star"),
        is_honoured_by: Algorithm::suppresses,
    },
    SearchOption {
        name: "--start",
        is_asked: |spec| spec.search.start.is_some(),
        is_honoured_by: Algorithm::takes_start,
    },
    SearchOption {
        name: "--resume",
        is_asked: |spec| spec.run.resume.is_some(),
        is_honoured_by: Algorithm::can_resume,
    },
    SearchOption {
        name: "--node-limit",
        is_asked: |spec| spec.run.node_limit.is_some(),
        is_honoured_by: Algorithm::takes_node_limit,
    },
    SearchOption {
        name: "bins",
        is_asked: |spec| spec.columns.values().any(|column| column.bins.is_some()),
        is_honoured_by: Algorithm::minimises_over_intervals,
    },
    SearchOption {
        name: "--levels",
        is_asked: |spec| !spec.search.levels.is_empty(),
        is_honoured_by: Algorithm::takes_levels,
    },
    SearchOption {
        name: "--weights",
        is_asked: |spec| !spec.search.weights.is_empty(),
        is_honoured_by: Algorithm::takes_weights,
    },
];

impl Method {
    /// Says which algorithms can do what this one cannot.
    fn refuse(&self, option: &SearchOption) -> Problem {
        let names = ALGORITHMS
            .iter()
            .filter(|(name, algorithm)| *name != UNION && (option.is_honoured_by)(*algorithm));
        let names: Vec<&str> = names.map(|(name, _)| *name).collect();
        let (name, _) = self.names();
        Problem::new(format!("`{name}` cannot honour {}", option.name))
            .help(format!("drop it, or use --algorithm {}", listed(&names)))
    }

    /// Whether its recodings are made for the rows of one table and cannot be applied to others.
    pub(crate) fn is_local(&self) -> bool {
        !self.algorithm.can_save_recoding()
    }

    /// Whether each quasi-identifier set is protected for itself, not the union of all.
    pub(crate) fn tells_sets_apart(&self) -> bool {
        self.algorithm.protects_each_set()
    }

    /// The algorithm's name and variant, as they are asked for.
    pub(crate) fn names(&self) -> (&'static str, Option<String>) {
        let name = base_name(self.algorithm);
        let variant = variants(self.algorithm).iter().find(|(_, known)| *known == self.algorithm);
        if !self.is_union {
            return (name, variant.map(|(name, _)| (*name).to_owned()));
        }
        let wrapped = of_one_set().into_iter().find(|(_, known)| *known == self.algorithm);
        let wrapped = wrapped.map(|(name, _)| name.to_owned());
        (UNION, wrapped.or_else(|| variant.map(|(variant, _)| format!("{name},{variant}"))))
    }

    /// Refuses what the algorithm cannot do.
    pub(crate) fn check(
        &self,
        spec: &JobSpec,
        columns: &[PlannedColumn],
        measure: Measure,
        problems: &mut Vec<Problem>,
    ) {
        let minimises = self.algorithm.minimises(measure);
        if minimises && measure == Measure::Classification && targets(columns).next().is_none() {
            problems.push(
                Problem::new("the classification measure needs a target")
                    .help("name the column that will be predicted with --target"),
            );
        }
        if self.algorithm.minimises_over_intervals() && !minimises {
            problems.push(
                Problem::new("a single-dimensional search cannot minimise this measure")
                    .help("ask for --measure discernibility, classification or loss"),
            );
        }
        if spec.run.node_limit == Some(0) {
            problems.push(Problem::new("the node limit must be at least 1, found 0"));
        }
        let asked = spec.search.measure.as_deref().filter(|measure| *measure != "loss");
        let only_loss = self.algorithm.measures().eq([Measure::Loss]);
        if let Some(asked) = asked.filter(|_| only_loss) {
            let problem =
                format!("`butterfly` minimises the loss, it cannot honour --measure {asked}");
            problems.push(Problem::new(problem).help("drop it, or use --algorithm union"));
        }
        for option in OPTIONS.iter().filter(|option| (option.is_asked)(spec)) {
            if !(option.is_honoured_by)(self.algorithm) {
                problems.push(self.refuse(option));
            }
        }
        if !self.algorithm.is_full_domain() {
            return;
        }
        let without: Vec<&str> = with_role(columns, Role::Quasi)
            .filter(|&at| columns[at].spec.hierarchy.is_none())
            .map(|at| columns[at].name.as_str())
            .collect();
        if !without.is_empty() {
            let input = spec.input.as_deref().unwrap_or("INPUT");
            problems.push(
                Problem::new(format!(
                    "full-domain recoding needs a hierarchy for every quasi-identifier column; \
                     these have none: {}",
                    without.join(", ")
                ))
                .help(format!(
                    "build one, e.g. `incrowd hierarchy make {input} --column {} --fan-out 4 -o {0}.csv`, \
                     and name it with --hierarchy {0}={0}.csv; or use --algorithm mondrian",
                    without[0]
                )),
            );
        }
        let is_weighed = matches!(measure, Measure::Loss | Measure::Precision);
        if !self.weights.is_empty() && !is_weighed {
            problems.push(
                Problem::new("weights count in the measures loss and precision only")
                    .help("drop the weights, or ask for --measure loss"),
            );
        }
    }

    /// By attribute, the levels that it may have; checked against the hierarchies.
    pub(crate) fn level_bounds(
        &self,
        columns: &[PlannedColumn],
        attributes: &[Attribute],
    ) -> Result<Vec<(Level, Level)>, JobError> {
        let mut problems = Vec::new();
        let quasi = with_role(columns, Role::Quasi).zip(attributes);
        let bounds = quasi
            .map(|(column, attribute)| {
                let Shape::Tree(hierarchy) = &attribute.shape else { return (Level(0), Level(0)) };
                let height = hierarchy.height();
                let asked = self.levels.iter().find(|(at, _)| *at == column);
                let (low, high) = asked.map_or((None, None), |(_, bounds)| *bounds);
                let (low, high) = (low.map_or(Level(0), Level), high.map_or(height, Level));
                if low > height || high > height {
                    problems.push(
                        Problem::new(format!(
                            "`levels` asks for level {} of `{}`, whose hierarchy has the levels 0 to {}",
                            low.max(high).0, attribute.name, height.0
                        ))
                        .help("level 0 is the values themselves, the last one is the root"),
                    );
                }
                (low, high)
            })
            .collect();
        if problems.is_empty() { Ok(bounds) } else { Err(JobError::Request(problems)) }
    }

    /// By attribute, its weight.
    pub(crate) fn weights(&self, columns: &[PlannedColumn]) -> Vec<f64> {
        let weight = |column: usize| self.weights.iter().find(|(at, _)| *at == column);
        with_role(columns, Role::Quasi)
            .map(|at| weight(at).map_or(1.0, |(_, weight)| *weight))
            .collect()
    }
}
