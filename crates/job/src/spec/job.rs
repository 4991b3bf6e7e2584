//! The job file: plain structs with public fields, as TOML has them.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::error::{JobError, Problem, nearest};
use super::small_file::{read_text, unreadable};
use super::{
    AboutSpec, ColumnSpec, HierarchySpec, PrivacySpec, QuasiSpec, ReleaseSpec, RunSpec, SearchSpec,
    WorkloadSpec,
};

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
    /// The two quasi-identifier columns whose partition an HTML report draws; chosen if it is not
    /// said.
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
        let text = read_text(path).map_err(|error| unreadable("the job file", path, &error))?;
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
}
