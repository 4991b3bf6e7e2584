//! The algorithms by name, and what each of them can do.
//!
//! Callers ask these questions instead of matching on names, so that a new algorithm is described
//! in one place. The table in `docs/src/algorithms.md` is tested against the answers.

use incrowd_quality::Measure;

use crate::{
    Outcome, Problem, Sharing, bottom_up, butterfly, datafly, hill_climb, hopeless, incognito,
    koptimize, mondrian, optimal, samarati, single_dimensional, tds, whole_table,
};

/// The algorithms by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Strict multidimensional partitioning.
    Mondrian,
    /// Relaxed multidimensional partitioning: a local recoding.
    MondrianRelaxed,
    /// The proven optimum of full-domain recoding.
    Optimal,
    /// Full-domain recoding by subsets of the quasi-identifier.
    Incognito(Sharing),
    /// Full-domain recoding by binary search on the height.
    Samarati,
    /// Full-domain recoding breadth first, with or without roll-up.
    BottomUp {
        /// Whether frequency sets roll up from those below instead of passes over the table.
        rolls_up: bool,
    },
    /// Greedy full-domain recoding.
    Datafly,
    /// Greedy single-dimensional partitioning.
    SingleDimensional,
    /// Iterated two-phase hill climbing over single-dimensional recodings.
    HillClimb,
    /// The proven optimum of single-dimensional recoding.
    KOptimize,
    /// Top-down specialization: greedy single-dimensional recoding for a classifier.
    Tds,
    /// One release for several quasi-identifier sets.
    Butterfly {
        /// Whether it continues after the paper's pass ends.
        improves: bool,
    },
}

/// How an algorithm recodes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecodingKind {
    /// Differently in every region of all attributes; regions do not overlap.
    Multidimensional,
    /// To one level of the attribute's hierarchy, the same in every row.
    FullDomain,
    /// To intervals of codes or nodes of the attribute's hierarchy, the same in every row.
    SingleDimensional,
    /// Row by row: equal rows can end in different classes, so this is not a function of the
    /// values.
    Local,
}

impl RecodingKind {
    /// Every kind with its name in recoding files and reports.
    pub const NAMES: [(&'static str, RecodingKind); 4] = [
        ("multidimensional", RecodingKind::Multidimensional),
        ("full-domain", RecodingKind::FullDomain),
        ("single-dimensional", RecodingKind::SingleDimensional),
        ("local", RecodingKind::Local),
    ];

    /// The kind with this name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<RecodingKind> {
        RecodingKind::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RecodingKind::Multidimensional => "multidimensional",
            RecodingKind::FullDomain => "full-domain",
            RecodingKind::SingleDimensional => "single-dimensional",
            RecodingKind::Local => "local",
        }
    }
}

/// Whether equal rows are grouped before a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowGrouping {
    /// Always: the result depends on the order of the distinct vectors.
    Always,
    /// Unless nearly all rows differ: the result is the same with or without grouping.
    WhenWorthwhile,
    /// Never: the search groups them itself.
    Never,
}

/// What an algorithm takes from a [`Workload`](crate::Workload).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadUse {
    /// Nothing.
    Nothing,
    /// Its split criteria: targets, selections and queries.
    Splits,
    /// Its targets, which it cannot do without.
    Targets,
}

impl Algorithm {
    /// Every algorithm with its name, variants included.
    pub const ALL: [(&'static str, Algorithm); 16] = [
        ("mondrian", Algorithm::Mondrian),
        ("mondrian-relaxed", Algorithm::MondrianRelaxed),
        ("optimal", Algorithm::Optimal),
        ("incognito", Algorithm::Incognito(Sharing::Basic)),
        ("incognito-super-roots", Algorithm::Incognito(Sharing::SuperRoots)),
        ("incognito-cube", Algorithm::Incognito(Sharing::Cube)),
        ("samarati", Algorithm::Samarati),
        ("bottom-up", Algorithm::BottomUp { rolls_up: true }),
        ("bottom-up-no-rollup", Algorithm::BottomUp { rolls_up: false }),
        ("datafly", Algorithm::Datafly),
        ("single-dimensional", Algorithm::SingleDimensional),
        ("hill-climb", Algorithm::HillClimb),
        ("koptimize", Algorithm::KOptimize),
        ("tds", Algorithm::Tds),
        ("butterfly", Algorithm::Butterfly { improves: true }),
        ("butterfly-paper", Algorithm::Butterfly { improves: false }),
    ];

    /// How it recodes values.
    #[must_use]
    pub fn kind(self) -> RecodingKind {
        match self {
            Algorithm::Mondrian => RecodingKind::Multidimensional,
            Algorithm::Optimal
            | Algorithm::Incognito(_)
            | Algorithm::Samarati
            | Algorithm::BottomUp { .. }
            | Algorithm::Datafly => RecodingKind::FullDomain,
            Algorithm::SingleDimensional
            | Algorithm::HillClimb
            | Algorithm::KOptimize
            | Algorithm::Tds => RecodingKind::SingleDimensional,
            Algorithm::MondrianRelaxed | Algorithm::Butterfly { .. } => RecodingKind::Local,
        }
    }

    /// Whether its recodings have one level per attribute, so that every attribute needs a
    /// hierarchy.
    #[must_use]
    pub fn is_full_domain(self) -> bool {
        self.kind() == RecodingKind::FullDomain
    }

    /// Whether its recodings are functions of the values, which can be saved and applied to other
    /// rows.
    #[must_use]
    pub fn can_save_recoding(self) -> bool {
        self.kind() != RecodingKind::Local
    }

    /// How equal rows are grouped for it.
    #[must_use]
    pub fn row_grouping(self) -> RowGrouping {
        match self {
            Algorithm::MondrianRelaxed | Algorithm::SingleDimensional | Algorithm::HillClimb => {
                RowGrouping::Always
            }
            Algorithm::Optimal
            | Algorithm::Incognito(_)
            | Algorithm::Samarati
            | Algorithm::BottomUp { .. }
            | Algorithm::Datafly => RowGrouping::Never,
            Algorithm::Mondrian
            | Algorithm::KOptimize
            | Algorithm::Tds
            | Algorithm::Butterfly { .. } => RowGrouping::WhenWorthwhile,
        }
    }

    /// The measures it can minimise; none for an algorithm that cuts by a rule of its own.
    pub fn measures(self) -> impl Iterator<Item = Measure> {
        Measure::ALL.into_iter().map(|(_, measure)| measure).filter(move |&it| self.minimises(it))
    }

    /// Whether it can minimise a measure.
    #[must_use]
    pub fn minimises(self, measure: Measure) -> bool {
        match self {
            Algorithm::Mondrian
            | Algorithm::MondrianRelaxed
            | Algorithm::Tds
            | Algorithm::Datafly => false,
            Algorithm::Butterfly { .. } => measure == Measure::Loss,
            Algorithm::SingleDimensional | Algorithm::HillClimb | Algorithm::KOptimize => {
                matches!(measure, Measure::Discernibility | Measure::Classification | Measure::Loss)
            }
            Algorithm::Optimal
            | Algorithm::Incognito(_)
            | Algorithm::Samarati
            | Algorithm::BottomUp { .. } => true,
        }
    }

    /// Whether it leaves rows out within the suppression limit; the others release every row.
    #[must_use]
    pub fn suppresses(self) -> bool {
        self.is_full_domain() || matches!(self, Algorithm::HillClimb | Algorithm::KOptimize)
    }

    /// Whether it keeps to the levels of [`Problem::levels`].
    #[must_use]
    pub fn takes_levels(self) -> bool {
        self.is_full_domain()
    }

    /// Whether [`Problem::weights`] count in what it minimises.
    #[must_use]
    pub fn takes_weights(self) -> bool {
        self.is_full_domain()
    }

    /// Whether it can list all minimal nodes, see [`Problem::wants_minimal`].
    #[must_use]
    pub fn lists_minimal_nodes(self) -> bool {
        self.is_full_domain() && self != Algorithm::Datafly
    }

    /// Whether it lists all minimal nodes without being asked.
    #[must_use]
    pub fn always_lists_minimal_nodes(self) -> bool {
        self == Algorithm::Samarati
    }

    /// Whether it looks for the intervals that cost least, cutting only at [`Problem::places`].
    #[must_use]
    pub fn minimises_over_intervals(self) -> bool {
        self.kind() == RecodingKind::SingleDimensional && self.minimises(Measure::Loss)
    }

    /// Whether it can begin with the cuts of [`Problem::start`].
    #[must_use]
    pub fn takes_start(self) -> bool {
        self == Algorithm::KOptimize
    }

    /// Whether it can resume a stopped search ([`Problem::resume`]).
    #[must_use]
    pub fn can_resume(self) -> bool {
        self == Algorithm::KOptimize
    }

    /// Whether the budget's limit of nodes ends it.
    #[must_use]
    pub fn takes_node_limit(self) -> bool {
        self == Algorithm::KOptimize
    }

    /// Whether it protects each of several quasi-identifier sets by itself, rather than their
    /// union.
    #[must_use]
    pub fn protects_each_set(self) -> bool {
        matches!(self, Algorithm::Butterfly { .. })
    }

    /// What it takes from a workload.
    #[must_use]
    pub fn workload(self) -> WorkloadUse {
        match self {
            Algorithm::Mondrian => WorkloadUse::Splits,
            Algorithm::Tds => WorkloadUse::Targets,
            Algorithm::MondrianRelaxed
            | Algorithm::Optimal
            | Algorithm::Incognito(_)
            | Algorithm::Samarati
            | Algorithm::BottomUp { .. }
            | Algorithm::Datafly
            | Algorithm::SingleDimensional
            | Algorithm::HillClimb
            | Algorithm::KOptimize
            | Algorithm::Butterfly { .. } => WorkloadUse::Nothing,
        }
    }

    /// Whether it has something to show whenever it is stopped.
    #[must_use]
    pub fn is_anytime(self) -> bool {
        matches!(
            self,
            Algorithm::Optimal
                | Algorithm::HillClimb
                | Algorithm::KOptimize
                | Algorithm::Butterfly { improves: true }
        )
    }

    /// Whether its first cuts can be found by scans ([`Outline`](crate::Outline)), so that the
    /// distinct vectors need not fit in memory.
    #[must_use]
    pub fn can_outline(self) -> bool {
        self == Algorithm::Mondrian
    }

    /// Its relaxed form, which may be itself, if it has one.
    #[must_use]
    pub fn relaxed(self) -> Option<Algorithm> {
        matches!(self, Algorithm::Mondrian | Algorithm::MondrianRelaxed)
            .then_some(Algorithm::MondrianRelaxed)
    }

    /// Whether it is the relaxed form of another one.
    #[must_use]
    pub fn is_relaxed(self) -> bool {
        self.relaxed() == Some(self)
    }

    /// Runs it.
    #[must_use]
    pub fn run(self, problem: &Problem) -> Outcome {
        match self {
            Algorithm::Mondrian => {
                whole_table(problem).unwrap_or_else(|| mondrian::strict(problem))
            }
            Algorithm::MondrianRelaxed => {
                whole_table(problem).unwrap_or_else(|| mondrian::relaxed(problem))
            }
            Algorithm::Optimal => optimal::run(problem),
            Algorithm::Incognito(sharing) => incognito::run(problem, sharing),
            Algorithm::Samarati => samarati::run(problem),
            Algorithm::BottomUp { rolls_up } => bottom_up::run(problem, rolls_up),
            Algorithm::Datafly => datafly::run(problem),
            Algorithm::SingleDimensional => {
                whole_table(problem).unwrap_or_else(|| single_dimensional::run(problem))
            }
            Algorithm::HillClimb => hopeless(problem).unwrap_or_else(|| hill_climb::run(problem)),
            Algorithm::KOptimize => hopeless(problem).unwrap_or_else(|| koptimize::run(problem)),
            Algorithm::Tds => whole_table(problem).unwrap_or_else(|| tds::run(problem)),
            Algorithm::Butterfly { improves } => {
                whole_table(problem).unwrap_or_else(|| butterfly::run(problem, improves))
            }
        }
    }
}
