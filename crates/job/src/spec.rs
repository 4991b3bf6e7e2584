//! The job file: plain structs with public fields, as TOML has them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::about::AboutSpec;
use crate::error::{JobError, Problem, nearest};

/// A job as it is written: nothing is checked but its form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct JobSpec {
    /// Whether a person went through the roles; `profile` writes false, which no release is made
    /// of. A job that does not say it was written by a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<bool>,
    /// By column, what the job file says behind it in a comment: the reasons of `profile`.
    #[serde(skip)]
    pub remarks: IndexMap<String, String>,
    /// A file, folder or glob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where the report goes: `.json` for programs, `.html` for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// Who reads an HTML report: `internal` or `public`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// The two quasi-identifier columns whose partition an HTML report draws; chosen if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<Vec<String>>,
    /// Where the recoding goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recoding: Option<String>,
    /// What to do with a column that has no role: `error` or `drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undeclared: Option<String>,
    /// What a missing value is: `category` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Coalitions: names of quasi-identifier sets whose attackers put their knowledge together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collude: Vec<Vec<String>>,
    /// What a report for people says at its head.
    #[serde(skip_serializing_if = "AboutSpec::is_empty")]
    pub about: AboutSpec,
    /// Columns by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub columns: IndexMap<String, ColumnSpec>,
    /// Quasi-identifier sets, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quasi: Vec<QuasiSpec>,
    /// What must hold.
    pub privacy: PrivacySpec,
    /// How to search.
    pub search: SearchSpec,
    /// What the release is for.
    #[serde(skip_serializing_if = "WorkloadSpec::is_empty")]
    pub workload: WorkloadSpec,
    /// What the release looks like.
    pub release: ReleaseSpec,
    /// How to run.
    pub run: RunSpec,
    /// The file that it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ColumnSpec {
    /// `identifier`, `quasi`, `sensitive` or `insensitive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// `integer`, `decimal`, `boolean`, `date`, `timestamp` or `text`; found out if it is not said.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The values in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<String>>,
    /// A hierarchy file whose leaves are the values in their order; it does not bind what is put together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_from: Option<String>,
    /// Ranges of equal width that stay together, for numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinsSpec>,
    /// A file, or how to build one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchySpec>,
    /// Whether a model will predict it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub target: bool,
    /// Whether k counts its distinct values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub entity: bool,
}

/// Ranges of equal width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BinsSpec {
    /// Their width; they are counted from 0.
    Width(f64),
    /// Their width, and where they are counted from.
    From(CountedBins),
}

/// Ranges of equal width that are counted from some number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CountedBins {
    /// Their width.
    pub width: f64,
    /// Where one of them begins.
    #[serde(default)]
    pub origin: f64,
}

impl BinsSpec {
    /// Their width, and where they are counted from.
    #[must_use]
    pub fn width_and_origin(&self) -> (f64, f64) {
        match self {
            BinsSpec::Width(width) => (*width, 0.0),
            BinsSpec::From(CountedBins { width, origin }) => (*width, *origin),
        }
    }
}

/// A hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HierarchySpec {
    /// A file in the form of ARX.
    File(String),
    /// Built from the column's values.
    Built(BuiltSpec),
    /// Rows `leaf, level 1, ..., root`.
    Rows(Vec<Vec<String>>),
}

/// How to build a hierarchy: just one of `mask`, `dates`, `width` and `fan-out`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BuiltSpec {
    /// Hide characters from the `left` or the `right`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// The character that hides, `*` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub character: Option<char>,
    /// `day`, `week`, `month`, `quarter`, `year`, `decade`, `century`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<Vec<String>>,
    /// Width of the first intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Where intervals are counted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<f64>,
    /// How many neighbours each further level joins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u32>>,
    /// How many neighbours each level joins, in the order of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<usize>,
}

/// A named quasi-identifier set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuasiSpec {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Least size of its classes; that of the job if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// The same as the job's `collude`: what stands behind the last set in a TOML file is a key of that set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collude: Vec<Vec<String>>,
}

/// What must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PrivacySpec {
    /// Least size of a class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// A level of protection by its name; its k holds where no other is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// By risk (`prosecutor`, `journalist`, `marketer`), the greatest that is allowed.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub fail_above: IndexMap<String, f64>,
    /// l-diversity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub l_diversity: Vec<DiversitySpec>,
    /// t-closeness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub t_closeness: Vec<ValueLimit>,
    /// Squared-error diversity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub squared_error: Vec<ValueLimit>,
    /// What a missing sensitive cell is to the models and figures of diversity: `ignore` or `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_sensitive: Option<String>,
    /// Suppression limit: a share, a percentage or a number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress: Option<SuppressLimit>,
}

/// l-diversity of a column, or of every sensitive column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiversitySpec {
    /// The sensitive column; all of them if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Distinct l.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<f64>,
    /// Entropy l.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<f64>,
    /// Recursive `[c, l]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recursive: Option<(f64, u32)>,
}

/// A limit on a column, or on every sensitive column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueLimit {
    /// The sensitive column; all of them if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The limit.
    pub value: f64,
}

/// How many rows may be left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SuppressLimit {
    /// A share from 0 to 1.
    Share(f64),
    /// `"2%"`, `"100rows"` or `"0.02"`.
    Text(String),
}

impl SuppressLimit {
    /// Whether it allows no row at all, of however many.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.rows(u64::MAX), Ok(0))
    }

    /// The number of rows of a table that it allows.
    ///
    /// # Errors
    ///
    /// What is wrong with its form.
    pub fn rows(&self, n_rows: u64) -> Result<u64, Problem> {
        let wrong = || {
            Problem::new(
                "the suppression limit must be a share from 0 to 1, a percentage or a number of rows",
            )
            .help("write 0.02, \"2%\" or \"100rows\"")
        };
        let share = match self {
            SuppressLimit::Share(share) => *share,
            SuppressLimit::Text(text) => {
                let text = text.trim();
                if let Some(rows) = text.strip_suffix("rows") {
                    return rows.trim().parse::<u64>().map_err(|_| wrong());
                }
                match text.strip_suffix('%') {
                    Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
                    None => text.parse().map_err(|_| wrong())?,
                }
            }
        };
        if !(0.0..=1.0).contains(&share) {
            return Err(wrong());
        }
        // A share of 2% of 50 rows is one row, not 0.9999999.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of rows"
        )]
        Ok((share * n_rows as f64 + 1e-9).floor() as u64)
    }
}

/// How to search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SearchSpec {
    /// The algorithm's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Relaxed partitioning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<bool>,
    /// The algorithm's variant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The measure whose value is reported as the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// How mondrian chooses its cuts: `median`, `infogain`, `lsd`, `selection`, `queries`, or several that
    /// are asked in turn, as `selection,infogain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// By column, the level or levels of a full-domain recoding: `2`, `"1..3"`, `"1.."`, `"..3"`, both ends
    /// included.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub levels: IndexMap<String, LevelSpec>,
    /// By column, its weight in the loss or precision that a full-domain search minimises.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub weights: IndexMap<String, f64>,
    /// What random choices are made from; Mondrian makes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// A recoding file whose cuts koptimize begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// What a release is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct WorkloadSpec {
    /// Columns that a model will predict; the same as `target = true` of the column.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// What will be selected: conditions as after SQL's `WHERE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
    /// What will be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<QuerySpec>,
    /// A file with more queries, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_file: Option<String>,
}

impl WorkloadSpec {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == WorkloadSpec::default()
    }
}

/// A query of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a query is a text, or { sql = \"SELECT ...\", weight = 2.0 }")]
pub enum QuerySpec {
    /// Its text.
    Sql(String),
    /// Its text and how much it counts beside the others.
    Weighted(WeightedQuerySpec),
}

/// A query of a workload with its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedQuerySpec {
    /// Its text.
    pub sql: String,
    /// Its weight, 1 if it is not said.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

/// The levels that a column may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "levels are 2, \"1..3\", \"1..\" or \"..3\"")]
pub enum LevelSpec {
    /// Just this one.
    Fixed(u8),
    /// `"2"`, `"1..3"`, `"1.."` or `"..3"`, both ends included.
    Range(String),
}

/// A least and a greatest level; an open end is none.
pub(crate) type LevelBounds = (Option<u8>, Option<u8>);

impl LevelSpec {
    /// The least and greatest level.
    pub(crate) fn bounds(&self) -> Option<LevelBounds> {
        let text = match self {
            LevelSpec::Fixed(level) => return Some((Some(*level), Some(*level))),
            LevelSpec::Range(text) => text.trim(),
        };
        let Some((low, high)) = text.split_once("..") else {
            let level = text.parse().ok()?;
            return Some((Some(level), Some(level)));
        };
        let high = high.strip_prefix('=').unwrap_or(high);
        let end = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        match (end(low)?, end(high)?) {
            (Some(low), Some(high)) if low > high => None,
            bounds => Some(bounds),
        }
    }
}

/// What the release looks like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ReleaseSpec {
    /// `range`, `region`, `bounds`, `mean` or `range+mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// What becomes of suppressed rows: `drop` or `star`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
    /// With how many rows a part is complete, where the output is a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_rows: Option<u64>,
}

/// How to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RunSpec {
    /// Who reads and counts: `embedded`, which it is if it is not said, or `ballista://HOST:PORT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Threads; all cores if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// When a search ends with the best that it has: `"60s"`, `"5m"`, `"1h"`, `"500ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<String>,
    /// What the process may hold: `"4GB"`, `"500MB"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<String>,
    /// Where private files go; the system's folder for temporary files if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temp_dir: Option<String>,
    /// After how many nodes a search ends with the best that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_limit: Option<u64>,
    /// The file that a search goes on from if it is there, and in which it is kept when it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

impl RunSpec {
    /// The time limit.
    pub(crate) fn time(&self) -> Result<Option<Duration>, Problem> {
        let Some(text) = &self.time_limit else { return Ok(None) };
        let units = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];
        let seconds = with_unit(text, &units).filter(|seconds| *seconds > 0.0);
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let wrong =
            || Problem::new(format!("`{text}` is not a time limit")).help("write 60s, 5m or 1h");
        time.map(Some).ok_or_else(wrong)
    }

    /// The memory limit in bytes.
    pub(crate) fn memory(&self) -> Result<Option<u64>, Problem> {
        let Some(text) = &self.memory_limit else { return Ok(None) };
        let units = [("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12)];
        let binary = [("kib", 10), ("mib", 20), ("gib", 30), ("tib", 40)];
        let binary = binary.map(|(name, bits)| (name, f64::from(2u32).powi(bits)));
        let bytes = with_unit(&text.to_lowercase(), &[&binary[..], &units[..]].concat());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let bytes = bytes.filter(|bytes| (1.0..1e18).contains(bytes)).map(|bytes| bytes as u64);
        let wrong =
            || Problem::new(format!("`{text}` is not a memory limit")).help("write 4GB or 500MB");
        bytes.map(Some).ok_or_else(wrong)
    }
}

/// A number with one of some units.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, scale)| {
        let number: f64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
        number.is_finite().then_some(number * scale)
    })
}

/// The keys that each table of a job file knows, for suggestions.
const KEYS: [(&str, &[&str]); 9] = [
    (
        "",
        &[
            "reviewed",
            "input",
            "output",
            "report",
            "audience",
            "picture",
            "recoding",
            "undeclared",
            "missing",
            "collude",
            "about",
            "columns",
            "quasi",
            "privacy",
            "search",
            "workload",
            "release",
            "run",
        ],
    ),
    ("about", &AboutSpec::KEYS),
    ("workload", &["targets", "select", "queries", "queries-file"]),
    (
        "columns.*",
        &["role", "type", "order", "order-from", "bins", "hierarchy", "target", "entity"],
    ),
    ("quasi", &["name", "columns", "k", "collude"]),
    (
        "privacy",
        &[
            "k",
            "preset",
            "fail-above",
            "l-diversity",
            "t-closeness",
            "squared-error",
            "missing-sensitive",
            "suppress",
        ],
    ),
    (
        "search",
        &[
            "algorithm",
            "relaxed",
            "variant",
            "measure",
            "split",
            "levels",
            "weights",
            "seed",
            "start",
        ],
    ),
    ("release", &["labels", "suppressed", "part-rows"]),
    (
        "run",
        &["engine", "threads", "time-limit", "memory-limit", "temp-dir", "node-limit", "resume"],
    ),
];

impl JobSpec {
    /// Reads a job file. Paths in it are relative to its folder.
    pub fn from_file(path: &Path) -> Result<JobSpec, JobError> {
        let text = crate::small_file::read_text(path).map_err(|error| {
            Problem::new(format!(
                "the job file `{}` cannot be read: {}",
                path.display(),
                error.kind()
            ))
        })?;
        let mut spec = JobSpec::from_toml(&text).map_err(|error| match error {
            JobError::Request(problems) => JobError::Request(
                problems
                    .into_iter()
                    .map(|p| Problem {
                        message: format!("`{}`: {}", path.display(), p.message),
                        ..p
                    })
                    .collect(),
            ),
            other => other,
        })?;
        if let Some(folder) = path.parent() {
            spec.resolve(folder);
        }
        spec.file = Some(path.to_owned());
        Ok(spec)
    }

    /// Reads a job from TOML.
    pub fn from_toml(text: &str) -> Result<JobSpec, JobError> {
        let table: toml::Table = text.parse().map_err(|error| toml_problem(&error, text))?;
        let mut problems = unknown_keys(&table);
        problems.extend(flat_coalitions(&table));
        if !problems.is_empty() {
            return Err(JobError::Request(problems));
        }
        let mut spec: JobSpec = toml::from_str(text).map_err(|error| toml_problem(&error, text))?;
        for set in &mut spec.quasi {
            spec.collude.append(&mut set.collude);
        }
        if spec.reviewed == Some(false) {
            spec.remarks = remarks(text);
        }
        Ok(spec)
    }

    /// Refuses a job whose roles nobody went through, with all of them.
    pub(crate) fn refuse_unreviewed(&self) -> Result<(), JobError> {
        if self.reviewed != Some(false) {
            return Ok(());
        }
        let guess = |(name, column): (&String, &ColumnSpec)| {
            let role = column.role.as_deref().unwrap_or("no role");
            let entity = if column.entity { ", entity" } else { "" };
            let reason = self.remarks.get(name).map(|remark| format!(" ({remark})"));
            format!("{name}: {role}{entity}{}", reason.unwrap_or_default())
        };
        Err(JobError::Unreviewed(self.columns.iter().map(guess).collect()))
    }

    /// Asks for k-anonymity of a set, or of all that do not say their own k.
    ///
    /// # Errors
    ///
    /// There is no such set.
    pub fn ask_for_k(&mut self, set: Option<&str>, k: u64) -> Result<(), Problem> {
        let Some(name) = set else {
            self.privacy.k = Some(k);
            return Ok(());
        };
        if let Some(set) = self.quasi.iter_mut().find(|set| set.name == name) {
            set.k = Some(k);
            return Ok(());
        }
        let sets: Vec<&str> = self.quasi.iter().map(|set| set.name.as_str()).collect();
        let is_coalition = self.collude.iter().any(|members| members.join("+") == name);
        let problem =
            Problem::new(format!("-k names `{name}`, which is not a quasi-identifier set"));
        Err(match nearest(name, sets.iter().copied()) {
            _ if is_coalition => problem.help("the k of a coalition is the greatest of its sets'"),
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None if sets.is_empty() => {
                problem.help(format!("say -k {k}, or name the sets with --quasi NAME=a,b"))
            }
            None => problem.help(format!("the sets are {}", sets.join(", "))),
        })
    }

    /// Whether a column will be predicted.
    pub(crate) fn has_target(&self) -> bool {
        !self.workload.targets.is_empty() || self.columns.values().any(|column| column.target)
    }

    /// The job as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a job has a TOML form")
    }

    fn resolve(&mut self, folder: &Path) {
        let join = |path: &mut String| *path = folder.join(&*path).to_string_lossy().into_owned();
        let paths = [
            &mut self.input,
            &mut self.output,
            &mut self.report,
            &mut self.recoding,
            &mut self.search.start,
            &mut self.workload.queries_file,
            &mut self.run.resume,
        ];
        paths.into_iter().flatten().for_each(join);
        for column in self.columns.values_mut() {
            column.order_from.iter_mut().for_each(join);
            if let Some(HierarchySpec::File(path)) = &mut column.hierarchy {
                join(path);
            }
        }
    }
}

/// By column, the comment behind it on the same line.
fn remarks(text: &str) -> IndexMap<String, String> {
    #[derive(Deserialize)]
    struct Columns {
        #[serde(default)]
        columns: IndexMap<String, toml::Spanned<toml::Value>>,
    }
    let Ok(Columns { columns }) = toml::from_str(text) else { return IndexMap::new() };
    let remark = |(name, value): (String, toml::Spanned<toml::Value>)| {
        let line = text.get(value.span().end..)?.lines().next()?;
        let remark = line.trim().strip_prefix('#')?.trim().replace(char::is_control, " ");
        Some((name, remark))
    };
    columns.into_iter().filter_map(remark).collect()
}

/// What the TOML parser says, without quoting the file.
fn toml_problem(error: &toml::de::Error, text: &str) -> Problem {
    let line =
        error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let place = line.map_or_else(String::new, |line| format!("line {line}: "));
    Problem::new(format!("{place}{}", error.message().replace('\n', ", ")))
}

fn unknown_keys(table: &toml::Table) -> Vec<Problem> {
    let known =
        |path: &str| KEYS.iter().find(|(p, _)| *p == path).map_or(&[] as &[&str], |(_, k)| k);
    let mut problems = Vec::new();
    let mut look = |place: &str, path: &str, table: &toml::Table| {
        for key in table.keys().filter(|key| !known(path).contains(&key.as_str())) {
            let problem = Problem::new(format!("unknown key `{key}`{place}"));
            problems.push(match nearest(key, known(path).iter().copied()) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("known keys are {}", known(path).join(", "))),
            });
        }
    };
    look("", "", table);
    for (name, value) in table {
        match (name.as_str(), value) {
            ("columns", toml::Value::Table(columns)) => {
                for (column, value) in columns {
                    if let toml::Value::Table(table) = value {
                        look(&format!(" of column `{column}`"), "columns.*", table);
                    }
                }
            }
            (_, toml::Value::Table(table)) => look(&format!(" in [{name}]"), name, table),
            ("quasi", toml::Value::Array(sets)) => {
                for set in sets.iter().filter_map(toml::Value::as_table) {
                    look(" in [[quasi]]", "quasi", set);
                }
            }
            _ => {}
        }
    }
    problems
}

/// A coalition that stands for the list of all.
fn flat_coalitions(table: &toml::Table) -> Option<Problem> {
    let sets = table.get("quasi").and_then(toml::Value::as_array);
    let sets = sets.into_iter().flatten().filter_map(toml::Value::as_table);
    let lists = std::iter::once(table).chain(sets).filter_map(|table| table.get("collude"));
    let is_flat = |list: &toml::Value| {
        list.as_array().is_none_or(|list| list.iter().any(|names| !names.is_array()))
    };
    let is_any_flat = lists.into_iter().any(is_flat);
    is_any_flat.then(|| {
        Problem::new("`collude` must be a list of coalitions")
            .help("put each coalition into brackets: collude = [[\"insurer\", \"hr\"]]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused_all_at_once_with_the_nearest() {
        let text = "inptu = \"a\"\n[about]\nrecipent = \"x\"\n[columns]\nage = { rol = \"quasi\" }\n[privacy]\nkk = 3\n";
        let JobError::Request(problems) = JobSpec::from_toml(text).unwrap_err() else { panic!() };
        let messages: Vec<_> = problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unknown key `inptu`",
                "unknown key `recipent` in [about]",
                "unknown key `rol` of column `age`",
                "unknown key `kk` in [privacy]"
            ]
        );
        assert_eq!(problems[0].help.as_deref(), Some("did you mean `input`?"));
        assert_eq!(problems[1].help.as_deref(), Some("did you mean `recipient`?"));
    }

    #[test]
    fn a_date_needs_no_quotes() {
        for date in ["2026-01-31", "\"2026-01-31\""] {
            let spec = JobSpec::from_toml(&format!("[about]\ndate = {date}\n")).unwrap();
            assert_eq!(spec.about.date.as_deref(), Some("2026-01-31"));
            assert_eq!(JobSpec::from_toml(&spec.to_toml()).unwrap(), spec);
        }
        assert!(JobSpec::from_toml("[about]\ndate = 5\n").is_err());
    }

    #[test]
    fn a_job_survives_its_toml_form() {
        let text = "[columns]\nage = { role = \"quasi\", hierarchy = { width = 5.0 } }\n\
                    zip = { role = \"quasi\", hierarchy = \"zip.csv\" }\n\
                    [privacy]\nk = 5\nsuppress = \"2%\"\nl-diversity = [{ column = \"d\", entropy = 3.0 }]\n";
        let spec = JobSpec::from_toml(text).unwrap();
        assert_eq!(JobSpec::from_toml(&spec.to_toml()).unwrap(), spec);
    }

    #[test]
    fn a_job_that_nobody_reviewed_is_refused_with_its_guesses() {
        let text = "reviewed = false\n[columns]\n\"a b\" = { role = \"quasi\" }  # few values\n\
                    pid = { role = \"identifier\", entity = true } # its name # says so\nx = {}\n";
        let spec = JobSpec::from_toml(text).unwrap();
        let JobError::Unreviewed(guesses) = spec.refuse_unreviewed().unwrap_err() else { panic!() };
        for guess in [
            "a b: quasi (few values)",
            "pid: identifier, entity (its name # says so)",
            "x: no role",
        ] {
            assert!(guesses.iter().any(|found| found == guess), "{guesses:?}");
        }
        assert!(spec.to_toml().starts_with("reviewed = false\n"), "{}", spec.to_toml());
        for reviewed in ["reviewed = true\n", ""] {
            let text = text.replace("reviewed = false\n", reviewed);
            assert!(JobSpec::from_toml(&text).unwrap().refuse_unreviewed().is_ok());
        }
    }

    #[test]
    fn coalitions_stand_at_the_top_or_behind_the_last_set() {
        let sets = "[[quasi]]\nname = \"a\"\ncolumns = [\"x\"]\nk = 3\n\
                    [[quasi]]\nname = \"b\"\ncolumns = [\"y\"]\n";
        let collude = "collude = [[\"a\", \"b\"]]\n";
        let behind = JobSpec::from_toml(&format!("{sets}{collude}")).unwrap();
        assert_eq!(behind, JobSpec::from_toml(&format!("{collude}{sets}")).unwrap());
        assert_eq!(behind.collude, [["a", "b"]]);
        assert_eq!(behind.quasi[0].k, Some(3));
        assert!(behind.to_toml().starts_with(collude), "{}", behind.to_toml());
        assert_eq!(JobSpec::from_toml(&behind.to_toml()).unwrap(), behind);
    }

    #[test]
    fn suppression_limits() {
        let rows = |text: &str, n| SuppressLimit::Text(text.to_owned()).rows(n);
        assert_eq!(rows("2%", 50), Ok(1));
        assert_eq!(rows("100rows", 5), Ok(100));
        assert_eq!(rows("0.02", 1000), Ok(20));
        assert_eq!(SuppressLimit::Share(1.0).rows(7), Ok(7));
        for wrong in ["2", "-1%", "101%", "x", "1.5rows", "nan"] {
            assert!(rows(wrong, 10).is_err(), "{wrong}");
        }
    }
}
