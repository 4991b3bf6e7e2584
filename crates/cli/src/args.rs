//! Arguments that several commands share.

use std::path::PathBuf;

use clap::Args;

/// Resource limits; can stand in the job file instead.
#[derive(Debug, Args, Default)]
pub(crate) struct MachineArgs {
    /// Threads (default: all cores)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// What may be held in memory, e.g. 4GB; the rest goes to private files
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory_limit: Option<String>,
    /// Where private files go (default: the system's folder for temporary files)
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<String>,
    /// Who reads and counts: embedded (default), or ballista://HOST:PORT with `incrowd-cluster`
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
}

/// What can stand in the job file instead.
#[derive(Debug, Args, Default)]
pub(crate) struct JobArgs {
    /// A TOML job file; flags win over it
    #[arg(long, value_name = "FILE")]
    pub(crate) job: Option<PathBuf>,
    /// k-anonymity: the least size of a class (at least 2), of every set that has no k of its own,
    /// or of one set
    #[arg(short, value_name = "[SET=]N", value_parser = k_of_set, value_delimiter = ',')]
    pub(crate) k: Vec<KOfSet>,
    /// A level of protection that a rule or practice asks for: ema-0.09, tre-10 or hipaa-5
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The greatest risk that is allowed, e.g. prosecutor=0.09; also journalist, marketer
    #[arg(long, value_name = "RISK=X", value_delimiter = ',')]
    pub(crate) fail_above: Vec<String>,
    /// A quasi-identifier set: columns that an attacker can know; repeat it for several sets
    #[arg(long, value_name = "[NAME=]A,B,C")]
    pub(crate) quasi: Vec<String>,
    /// Sets whose attackers put their knowledge together; repeat it for several coalitions
    #[arg(long, value_name = "SET,SET")]
    pub(crate) collude: Vec<String>,
    /// Columns that are never released
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) identifier: Vec<String>,
    /// Columns that nobody should learn about a person
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// Columns that are released as they are
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) insensitive: Vec<String>,
    /// Columns that a model will predict
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// The column whose distinct values k counts, instead of rows
    #[arg(long, value_name = "A")]
    pub(crate) entity: Option<String>,
    /// What to do with a column that has no role: error or drop
    #[arg(long, value_name = "WHAT")]
    pub(crate) undeclared: Option<String>,
    /// A hierarchy: no header, leaf;level 1;...;*
    #[arg(long, value_name = "COL=FILE")]
    pub(crate) hierarchy: Vec<String>,
    /// The order of a column's values: that of the leaves of a hierarchy, which does not bind it
    #[arg(long, value_name = "COL=FILE")]
    pub(crate) order_from: Vec<String>,
    /// Ranges of a number column that koptimize, hill-climb and single-dimensional never divide
    #[arg(long, value_name = "COL=WIDTH[,ORIGIN]")]
    pub(crate) bins: Vec<String>,
    /// l-diversity of a sensitive column: distinct:3, entropy:3 or recursive:4,3
    #[arg(long, value_name = "[COL=]FORM")]
    pub(crate) l_diversity: Vec<String>,
    /// t-closeness of a sensitive column
    #[arg(long, value_name = "[COL=]T")]
    pub(crate) t_closeness: Vec<String>,
    /// Squared-error diversity of a numeric sensitive column
    #[arg(long, value_name = "[COL=]X")]
    pub(crate) squared_error: Vec<String>,
    /// A missing value is a category of its own, or an error: category or error
    #[arg(long, value_name = "WHAT")]
    pub(crate) missing: Option<String>,
    /// Whether a missing sensitive cell counts as one more value in l-diversity, t-closeness and
    /// their figures: ignore (default) or value
    #[arg(long, value_name = "WHAT")]
    pub(crate) missing_sensitive: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print the effective job and stop
    #[arg(long)]
    pub(crate) print_job: bool,
    /// Print the report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// A k, of a set if one is named.
#[derive(Clone, Debug)]
pub(crate) struct KOfSet {
    pub(crate) set: Option<String>,
    pub(crate) k: u64,
}

fn k_of_set(text: &str) -> Result<KOfSet, String> {
    let (set, k) = match text.rsplit_once('=') {
        Some((set, k)) => (Some(set.trim().to_owned()), k),
        None => (None, text),
    };
    let k = k.trim().parse().map_err(|_| "k is a whole number: write -k 10, or -k SET=10")?;
    Ok(KOfSet { set, k })
}

/// A k that all sets share.
pub(crate) fn k_of_all(text: &str) -> Result<u64, String> {
    let k = text.trim().parse();
    k.map_err(|_| match text.rsplit_once('=') {
        Some(_) => "there is one k for all sets here: write -k 10".to_owned(),
        None => "k is a whole number: write -k 10".to_owned(),
    })
}

/// How a recoding is searched for, and what for; can stand in the job file instead.
#[derive(Debug, Args, Default)]
pub(crate) struct SearchArgs {
    /// How many rows may be left out: 0.02, 2% or 100rows (default 0)
    #[arg(long, value_name = "LIMIT")]
    pub(crate) suppress: Option<String>,
    /// The algorithm: mondrian (default); with one level a column: optimal, incognito, samarati,
    /// bottom-up, datafly; with intervals of every column: koptimize, hill-climb,
    /// single-dimensional, tds (for the targets); for several quasi-identifier sets: butterfly,
    /// union (the baseline)
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<String>,
    /// Its variant. mondrian: strict, relaxed; incognito: basic, super-roots, cube; bottom-up:
    /// rollup, no-rollup; butterfly: improved, paper; union: the algorithm that protects the union,
    /// mondrian if it is not said; all-minimal lists all minimal generalizations in the report
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(crate) variant: Option<String>,
    /// How mondrian chooses its cuts: median (default), infogain or lsd (for the targets),
    /// selection, queries; several are asked in turn
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(crate) split: Option<String>,
    /// Rows that will be selected, e.g. "sex = 'Male' AND age >= 40"; repeat it for several
    #[arg(long, value_name = "CONDITION")]
    pub(crate) select: Vec<String>,
    /// A query that will be asked, e.g. "SELECT COUNT(*) WHERE age < 30", or "weight 2: SELECT
    /// ..."; repeat it for several
    #[arg(long, value_name = "SQL")]
    pub(crate) query: Vec<String>,
    /// A file of queries that will be asked, one a line, each with its weight before it if it has
    /// one
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<String>,
    /// The levels of a column in a full-domain recoding: 2, 1..3, 1.. or ..3, both ends included
    #[arg(long, value_name = "COL=LEVELS")]
    pub(crate) levels: Vec<String>,
    /// The weight of a column in the loss or precision that a full-domain search minimises
    #[arg(long, value_name = "COL=WEIGHT")]
    pub(crate) weights: Vec<String>,
    /// When a search ends with the best that it has, e.g. 60s
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<String>,
    /// Relaxed partitioning: smaller classes, a local recoding
    #[arg(long)]
    pub(crate) relaxed: bool,
    /// The measure that is minimised (mondrian only reports it): discernibility,
    /// average-class-size, loss, entropy, classification, height or precision
    #[arg(long, value_name = "NAME")]
    pub(crate) measure: Option<String>,
    /// What random choices are made from (Mondrian makes none)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// What is known of the labels of a release.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// The recoding that the release was made with: says what labels stand for
    #[arg(long, value_name = "FILE.json")]
    pub(crate) recoding: Option<PathBuf>,
    /// The job file that the release was made with
    #[arg(long, value_name = "FILE")]
    pub(crate) job: Option<PathBuf>,
    /// The hierarchy of a column: no header, leaf;level 1;...;*
    #[arg(long, value_name = "COL=FILE")]
    pub(crate) hierarchy: Vec<String>,
    /// Columns that were recoded: say it where they hold means
    #[arg(long, value_name = "[NAME=]A,B,C")]
    pub(crate) quasi: Vec<String>,
    /// What stands in recoded cells: range, region, bounds, mean or range+mean (default: as the
    /// recoding or the job says)
    #[arg(long, value_name = "FORM")]
    pub(crate) labels: Option<String>,
}

#[derive(Clone, Debug, Args, Default)]
pub(crate) struct LogArgs {
    /// Append a JSON object a line to a file, - for standard error: each stage with its rows and
    /// seconds, problems, the exit code
    #[arg(long, value_name = "FILE|-")]
    pub(crate) log: Option<PathBuf>,
    /// Say on standard error when a stage ends, with its rows and seconds
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
