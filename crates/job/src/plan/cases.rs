//! Cases: the same job by several algorithms and for several k.

use crate::plan::method;
use crate::plan::workload::is_split;
use crate::spec::JobSpec;
use crate::spec::error::Problem;

/// The word for all algorithms.
const ALL: &str = "all";

/// A job with its algorithm and its k.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The algorithm as it was named.
    pub(crate) algorithm: String,
    /// The least size of a class.
    pub(crate) k: u64,
    pub(crate) spec: JobSpec,
}

/// What a name like `incognito-cube` or `mondrian:infogain` stands for.
struct Named<'a> {
    algorithm: &'a str,
    variant: Option<&'a str>,
    split: Option<String>,
}

/// The job by every algorithm that is named, for every k.
pub(crate) fn cases(
    spec: &JobSpec,
    algorithms: &[String],
    ks: &[u64],
    problems: &mut Vec<Problem>,
) -> Vec<Case> {
    let wanted = names(spec, algorithms, problems);
    for (at, k) in ks.iter().enumerate() {
        if ks[..at].contains(k) {
            problems.push(Problem::new(format!("k = {k} is named twice")));
        }
    }
    let named: Vec<(&String, Named)> =
        wanted.iter().filter_map(|name| Some((name, named(name, problems)?))).collect();
    let mut cases = Vec::new();
    for (name, named) in &named {
        for &k in ks {
            let mut spec = spec.clone();
            spec.search.algorithm = Some(named.algorithm.to_owned());
            spec.search.variant = named.variant.map(str::to_owned);
            spec.search.relaxed = None;
            spec.privacy.k = Some(k);
            // Only mondrian chooses its cuts, and only searches with something to show bear a
            // limit.
            if let Some(split) = &named.split {
                spec.search.split = Some(split.clone());
            } else if named.algorithm != "mondrian" {
                spec.search.split = None;
            }
            cases.push(Case { algorithm: (*name).clone(), k, spec });
        }
    }
    cases
}

/// The names that are asked for, `all` written out.
fn names(spec: &JobSpec, algorithms: &[String], problems: &mut Vec<Problem>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if algorithms.iter().any(|name| name == ALL) {
        names.extend(all(spec));
    }
    for (at, name) in algorithms.iter().enumerate().filter(|(_, name)| *name != ALL) {
        if algorithms[..at].contains(name) {
            problems.push(Problem::new(format!("`{name}` is named twice")));
        } else if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Every algorithm, mondrian also in its relaxed form and with the splits that the job has a use
/// for.
fn all(spec: &JobSpec) -> Vec<String> {
    let workload = &spec.workload;
    let has_target = spec.has_target();
    let splits = [
        ("infogain", has_target),
        ("lsd", has_target),
        ("selection", !workload.select.is_empty()),
        ("queries", !workload.queries.is_empty() || workload.queries_file.is_some()),
    ];
    let own = spec.search.split.as_deref();
    let splits = splits.iter().filter(|(split, is_of_use)| *is_of_use && own != Some(*split));
    let more = std::iter::once("mondrian-relaxed".to_owned())
        .chain(splits.map(|(split, _)| format!("mondrian:{split}")));
    let mut names: Vec<String> = method::names().map(str::to_owned).collect();
    // For one set it is the algorithm that it wraps.
    names.retain(|name| name != method::UNION || spec.quasi.len() > 1);
    names.splice(1..1, more);
    names
}

fn named<'a>(name: &'a str, problems: &mut Vec<Problem>) -> Option<Named<'a>> {
    let (algorithm, split) = match name.split_once(':') {
        Some((algorithm, split)) => (algorithm, Some(split)),
        None => (name, None),
    };
    let (algorithm, variant) = method::named(algorithm, problems)?;
    let Some(split) = split else { return Some(Named { algorithm, variant, split: None }) };
    if algorithm != "mondrian" || variant == Some("relaxed") {
        problems.push(
            Problem::new(format!("`{name}`: only mondrian chooses its cuts"))
                .help("name a split of it, e.g. mondrian:infogain"),
        );
        return None;
    }
    let is_known = split.split('+').all(|word| is_split(word, problems));
    let split = Some(split.replace('+', ","));
    is_known.then_some(Named { algorithm, variant, split })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithms(spec: &JobSpec, names: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut problems = Vec::new();
        let cases = cases(spec, &names, &[5], &mut problems);
        if problems.is_empty() {
            Ok(cases.into_iter().map(|case| case.algorithm).collect())
        } else {
            Err(problems.into_iter().map(|problem| problem.message).collect())
        }
    }

    #[test]
    fn names_may_have_variants_and_splits() {
        let mut problems = Vec::new();
        let names = ["mondrian:selection+infogain", "incognito-cube"].map(str::to_owned);
        let found = cases(&JobSpec::default(), &names, &[2, 5], &mut problems);
        assert!(problems.is_empty(), "{problems:?}");
        let said: Vec<(u64, Option<&str>, Option<&str>)> = found
            .iter()
            .map(|case| {
                (case.k, case.spec.search.variant.as_deref(), case.spec.search.split.as_deref())
            })
            .collect();
        let split = Some("selection,infogain");
        assert_eq!(
            said,
            [(2, None, split), (5, None, split), (2, Some("cube"), None), (5, Some("cube"), None)]
        );
    }

    #[test]
    fn what_is_no_name_is_said() {
        let says = |name: &str, text: &str| {
            let found = algorithms(&JobSpec::default(), &[name]).unwrap_err();
            assert!(found.iter().any(|message| message.contains(text)), "{name}: {found:?}");
        };
        says("mondrain", "no algorithm `mondrain`");
        says("mondrian:infogian", "`infogian`");
        says("koptimize:median", "only mondrian chooses its cuts");
        says("mondrian-relaxed:median", "only mondrian chooses its cuts");
    }

    #[test]
    fn all_are_those_that_the_job_has_a_use_for() {
        let found = algorithms(&JobSpec::default(), &["all"]).unwrap();
        assert!(
            found.contains(&"mondrian-relaxed".to_owned()) && !found.contains(&"union".to_owned())
        );
        assert!(!found.iter().any(|name| name.contains(':')), "{found:?}");
        let mut spec = JobSpec::default();
        spec.workload.targets = vec!["a".to_owned()];
        let found = algorithms(&spec, &["all", "mondrian", "incognito-cube"]).unwrap();
        assert!(found.contains(&"mondrian:infogain".to_owned()), "{found:?}");
        assert_eq!(found.iter().filter(|name| *name == "mondrian").count(), 1);
        assert_eq!(found.last().map(String::as_str), Some("incognito-cube"));
    }
}
