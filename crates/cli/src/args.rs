//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::attack::AttackArgs;
use crate::log::LogArgs;
use crate::profile::ProfileArgs;

/// Release tables about people so that every record is hidden in a crowd of at least k that look the
/// same.
#[derive(Debug, Parser)]
#[command(name = "incrowd", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 no release satisfies the job or the check failed, 2 the \
                        request or the input is wrong, 130 interrupted. Files are written only on 0 (a check that fails still writes its report)."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// For tests: put all rows into private files, a few at a time, and let Mondrian divide them into about this
    /// many regions
    #[arg(long, value_name = "REGIONS", global = true, hide = true)]
    pub(crate) force_files: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the columns of a table, their types, likely roles, and what singles people out
    Profile(Box<ProfileArgs>),
    /// Turn a table into a release: search, recode, verify, publish, report
    Anonymize(Box<AnonymizeArgs>),
    /// Measure any table: k, l, t and risk; exit code 1 when below what is asked
    Check(Box<CheckArgs>),
    /// Do the same job by several algorithms and for several k: which to take
    Compare(Box<CompareArgs>),
    /// Train models on the release of some rows, try them on rows that were held out
    Evaluate(Box<EvaluateArgs>),
    /// Apply a saved recoding to new rows, verify, publish
    ///
    /// Labels are of the form that the recoding was made with. Those of the form `region` are the same for every table;
    /// ranges, bounds and means describe the rows at hand.
    Apply(Box<ApplyArgs>),
    /// Answer COUNT, SUM, AVG, MIN and MAX over a release; with the original, how far they are off
    Query(Box<QueryArgs>),
    /// Link an outside table to a release: how many rows could each of its rows be
    Attack(Box<AttackArgs>),
    /// Build, check and show hierarchies
    #[command(subcommand)]
    Hierarchy(HierarchyCommand),
    /// Make a synthetic table: uniform, skewed, agrawal or census
    Generate(Box<GenerateArgs>),
    /// Anonymize the bundled census table into the folder `incrowd-demo`
    Demo {
        /// Where the files go
        #[arg(default_value = "incrowd-demo")]
        folder: PathBuf,
        /// Print the report as JSON instead
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

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
    /// k-anonymity: the least size of a class (at least 2), of every set that has no k of its own, or of one set
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
    /// Whether a missing sensitive cell counts as one more value in l-diversity, t-closeness and their figures:
    /// ignore (default) or value
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
    /// single-dimensional, tds (for the targets); for several quasi-identifier sets: butterfly, union (the baseline)
    #[arg(long, value_name = "NAME")]
    pub(crate) algorithm: Option<String>,
    /// Its variant. mondrian: strict, relaxed; incognito: basic, super-roots, cube; bottom-up: rollup,
    /// no-rollup; butterfly: improved, paper; union: the algorithm that protects the union, mondrian if it is
    /// not said; all-minimal lists all minimal generalizations in the report
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(crate) variant: Option<String>,
    /// How mondrian chooses its cuts: median (default), infogain or lsd (for the targets), selection, queries;
    /// several are asked in turn
    #[arg(long, value_name = "NAME[,NAME]")]
    pub(crate) split: Option<String>,
    /// Rows that will be selected, e.g. "sex = 'Male' AND age >= 40"; repeat it for several
    #[arg(long, value_name = "CONDITION")]
    pub(crate) select: Vec<String>,
    /// A query that will be asked, e.g. "SELECT COUNT(*) WHERE age < 30", or "weight 2: SELECT ..."; repeat it for several
    #[arg(long, value_name = "SQL")]
    pub(crate) query: Vec<String>,
    /// A file of queries that will be asked, one a line, each with its weight before it if it has one
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
    /// The measure that is minimised (mondrian only reports it): discernibility, average-class-size, loss, entropy,
    /// classification, height or precision
    #[arg(long, value_name = "NAME")]
    pub(crate) measure: Option<String>,
    /// What random choices are made from (Mondrian makes none)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// A file, a folder or a glob (.csv, .tsv, .parquet, .arrow, .jsonl; text also as .gz or .zst)
    pub(crate) input: Option<String>,
    /// The release (.csv, .tsv, .parquet, .arrow or .jsonl; text also as .gz or .zst); end its name with / for a folder of parts
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// After how many nodes koptimize ends with the best that it has
    #[arg(long, value_name = "N")]
    pub(crate) node_limit: Option<u64>,
    /// The file that koptimize goes on from if it is there, and in which its search is kept when it ends
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<String>,
    /// A recoding file whose cuts koptimize begins with
    #[arg(long, value_name = "FILE")]
    pub(crate) start: Option<String>,
    /// What stands in a recoded cell: range, region, bounds, mean or range+mean
    #[arg(long, value_name = "FORM")]
    pub(crate) labels: Option<String>,
    /// What becomes of suppressed rows: drop or star
    #[arg(long, value_name = "WHAT")]
    pub(crate) suppressed: Option<String>,
    /// Rows per part, where the output is a folder (default: 10000000)
    #[arg(long, value_name = "N")]
    pub(crate) part_rows: Option<u64>,
    /// Write the report: .html for people, .json for programs
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Who reads an HTML report: internal (default; it tells of the table, too) or public (only what the release tells)
    #[arg(long, value_name = "WHO")]
    pub(crate) audience: Option<String>,
    /// The two quasi-identifier columns whose partition an HTML report draws (default: two that have an order)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) picture: Option<Vec<String>>,
    /// Write the recoding, so that `incrowd apply` can use it
    #[arg(long, value_name = "FILE.json")]
    pub(crate) recoding: Option<String>,
    /// Replace existing outputs
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A file, a folder or a glob
    pub(crate) input: Option<String>,
    /// The algorithms, with a variant after a hyphen or a split of mondrian after a colon:
    /// mondrian,mondrian-relaxed,mondrian:infogain,koptimize; all for every one. Those that cannot do the job are left out
    #[arg(long, value_name = "A,B", value_delimiter = ',', required = true)]
    pub(crate) algorithms: Vec<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// With a target: in how many folds rows are held out to try models on (default 10)
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<u32>,
    /// With a target: how often that is repeated with other folds (default 1)
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<u32>,
    /// With a target: the models, whose scores are averaged (default: decision-tree for labels, regression-tree for numbers)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Write the comparison; as HTML with pictures
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A file, a folder or a glob
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// Hold out every row once, in this many folds (default 10)
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<u32>,
    /// Hold out this share of the rows once, instead of folds
    #[arg(long, value_name = "SHARE", conflicts_with = "folds")]
    pub(crate) test: Option<f64>,
    /// How often rows are held out so, each time others (default 1)
    #[arg(long, value_name = "N")]
    pub(crate) repeats: Option<u32>,
    /// Try several algorithms on the same held-out rows, named as for compare: mondrian,mondrian:infogain,tds
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) algorithms: Vec<String>,
    /// Models: decision-tree, naive-bayes, random-forest, linear-svm for labels; linear-regression,
    /// regression-tree for numbers; or all (default: the first two of each)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Further columns that models shall predict, which the search does not look at
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) predict: Vec<String>,
    /// Also drop the best predictors one by one
    #[arg(long)]
    pub(crate) projections: bool,
    /// Write the evaluation; as HTML with a curve over k
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The table: a file, a folder or a glob
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) job: JobArgs,
    /// Write the report: .html for people, .json for programs
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Who reads an HTML report: internal (default; it tells of the table, too) or public (only what the release tells)
    #[arg(long, value_name = "WHO")]
    pub(crate) audience: Option<String>,
    /// Replace an existing report
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct ApplyArgs {
    /// A file that `anonymize --recoding` wrote
    pub(crate) recoding: PathBuf,
    /// The new rows
    pub(crate) input: String,
    /// The release; end its name with / for a folder of parts
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// What to do with a column that the recoding does not know: error or drop
    #[arg(long, value_name = "WHAT")]
    pub(crate) undeclared: Option<String>,
    /// Verify with this k instead of the one that the recoding was found with
    #[arg(short, value_name = "N", value_parser = k_of_all)]
    pub(crate) k: Option<u64>,
    /// What to do with values outside of the recoding's hierarchies, orders and regions: error (default) or suppress
    /// their rows, within --suppress
    #[arg(long, value_name = "WHAT")]
    pub(crate) unknown: Option<String>,
    /// How many rows may be left out (default: as the recoding says)
    #[arg(long, value_name = "LIMIT")]
    pub(crate) suppress: Option<String>,
    /// What becomes of suppressed rows: drop or star
    #[arg(long, value_name = "WHAT")]
    pub(crate) suppressed: Option<String>,
    /// Rows per part, where the output is a folder (default: 10000000)
    #[arg(long, value_name = "N")]
    pub(crate) part_rows: Option<u64>,
    /// Publish even if a model does not hold: for held-out test rows that are not handed on
    #[arg(long)]
    pub(crate) unverified: bool,
    /// Write the report: .html for people, .json for programs
    #[arg(long, value_name = "FILE.json|FILE.html")]
    pub(crate) report: Option<String>,
    /// Who reads an HTML report: internal (default; it tells of the table, too) or public (only what the release tells)
    #[arg(long, value_name = "WHO")]
    pub(crate) audience: Option<String>,
    /// The two quasi-identifier columns whose partition an HTML report draws (default: two that have an order)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) picture: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) machine: MachineArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Replace existing outputs
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
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
    /// What stands in recoded cells: range, region, bounds, mean or range+mean (default: as the recoding or
    /// the job says)
    #[arg(long, value_name = "FORM")]
    pub(crate) labels: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The release: a file, a folder or a glob
    pub(crate) release: String,
    /// SELECT aggregates [WHERE condition] [GROUP BY columns]
    #[arg(required_unless_present = "queries")]
    pub(crate) sql: Option<String>,
    /// A file of queries, one a line or each followed by a semicolon
    #[arg(long, value_name = "FILE", conflicts_with = "sql")]
    pub(crate) queries: Option<PathBuf>,
    /// The table that the release was made from: adds true answers and errors
    #[arg(long, value_name = "TABLE")]
    pub(crate) original: Option<String>,
    #[command(flatten)]
    pub(crate) about: LabelArgs,
    /// Columns that are released as they are
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// Columns that are released as they are
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) insensitive: Vec<String>,
    /// Threads (default: all cores)
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but the answers and errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyCommand {
    /// Build a hierarchy from the values of a column, or from a declared order
    Make(Box<MakeArgs>),
    /// Test a hierarchy: form, nesting, one root, and with a table whether every value is covered
    Check {
        /// The hierarchy
        file: PathBuf,
        /// A table whose values it should cover
        #[arg(long, requires = "column")]
        input: Option<String>,
        /// The column
        #[arg(long, requires = "input")]
        column: Option<String>,
        #[command(flatten)]
        log: LogArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a hierarchy as a tree
    Show {
        /// The hierarchy
        file: PathBuf,
        /// Children shown of each node
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: usize,
        /// Print JSON: all of it
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("way").required(true).args(["width", "mask", "dates", "fan_out"])))]
pub(crate) struct MakeArgs {
    /// The table that has the column
    #[arg(required_unless_present = "order")]
    pub(crate) input: Option<String>,
    /// The column
    #[arg(long, required_unless_present = "order")]
    pub(crate) column: Option<String>,
    /// Intervals of this width
    #[arg(long, value_name = "W")]
    pub(crate) width: Option<f64>,
    /// Where intervals are counted from (default: 0)
    #[arg(long, value_name = "X", requires = "width", allow_negative_numbers = true)]
    pub(crate) origin: Option<f64>,
    /// How many neighbours each further level joins (default: 2, until one is left)
    #[arg(long, value_name = "N,N", value_delimiter = ',', requires = "width")]
    pub(crate) levels: Option<Vec<u32>>,
    /// Hide one more character a level, from the left or the right
    #[arg(long, value_name = "SIDE")]
    pub(crate) mask: Option<String>,
    /// The character that hides
    #[arg(long, value_name = "C", requires = "mask")]
    pub(crate) character: Option<char>,
    /// Parts of dates: day, week, month, quarter, year, decade, century
    #[arg(long, value_name = "P,P", value_delimiter = ',')]
    pub(crate) dates: Option<Vec<String>>,
    /// Join this many neighbours a level, in the order of the values
    #[arg(long, value_name = "N")]
    pub(crate) fan_out: Option<usize>,
    /// The values in their order (with --fan-out, instead of a table)
    #[arg(long, value_name = "V,V", value_delimiter = ',', requires = "fan_out", conflicts_with_all = ["input", "column"])]
    pub(crate) order: Option<Vec<String>>,
    /// Where the hierarchy goes (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON: the hierarchy, unless it goes to a file
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct GenerateArgs {
    /// uniform or skewed (columns of codes), agrawal (loan applicants with class labels), census (people)
    pub(crate) kind: String,
    /// The table (.csv, .tsv, .parquet, .arrow or .jsonl; text also as .gz or .zst)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// Rows, e.g. 1000, 1e6 or 10M (default 10,000)
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<String>,
    /// What the rows are drawn from (default 0)
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// uniform, skewed: columns (default 5)
    #[arg(long, value_name = "N")]
    pub(crate) attributes: Option<usize>,
    /// uniform, skewed: values of each column (default 8)
    #[arg(long, value_name = "C")]
    pub(crate) cardinality: Option<u32>,
    /// skewed: the mean in codes (default: the centre)
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    pub(crate) mean: Option<f64>,
    /// skewed: the standard deviation as a share of the range (default 0.2)
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true)]
    pub(crate) deviation: Option<f64>,
    /// agrawal: the label functions, 1 to 10, a column each (default 2)
    #[arg(long, value_name = "N,N", value_delimiter = ',')]
    pub(crate) function: Vec<u8>,
    /// agrawal: draw the constants of functions 2 to 6 from the seed
    #[arg(long)]
    pub(crate) vary_constants: bool,
    /// Threads (default: all cores); the table does not depend on them
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Print JSON: what the table is like
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long)]
    pub(crate) quiet: bool,
}
