//! Why no release satisfies a job, in sentences, and what can be done about it.

use incrowd_search::Infeasible;

use crate::error::{JobError, Problem};
use crate::plan::{Plan, Role};
use crate::report::Outcome;

/// What a search that found nothing has to say.
pub(crate) fn infeasible(
    plan: &Plan,
    reason: &Infeasible,
    n_rows: u64,
    limit: u64,
) -> Result<Outcome, JobError> {
    let less = "ask for less (a smaller k, l or error, a larger t), or bring more rows";
    let (reasons, help) = match reason {
        Infeasible::Empty => (vec!["the table has no rows".to_owned()], None),
        Infeasible::WholeTable { broken } => {
            let sentence = |model: &String| {
                format!("{model} does not hold even if all {n_rows} rows are one class")
            };
            (broken.iter().map(sentence).collect(), Some(less.to_owned()))
        }
        Infeasible::EveryNode { .. } => {
            let (reasons, help) = every_node(reason, n_rows, limit);
            (reasons, Some(help.unwrap_or_else(|| less.to_owned())))
        }
        Infeasible::OutOfMemory => (
            vec!["the search has to hold more than the memory limit leaves".to_owned()],
            Some("raise --memory-limit, or use --algorithm optimal, which needs little".to_owned()),
        ),
        Infeasible::OutOfTime => (
            vec!["the time limit ended the search before it found a release".to_owned()],
            Some(
                "raise --time-limit, or use --algorithm optimal, which gives its best so far"
                    .to_owned(),
            ),
        ),
        Infeasible::TooWide => {
            return Err(Problem::new(
                "the quasi-identifier has too many columns and values for this search",
            )
            .help("use fewer columns, or --algorithm mondrian")
            .into());
        }
        Infeasible::NotMeasured => {
            return Err(Problem::new("a single-dimensional search cannot minimise this measure")
                .help("ask for --measure discernibility, classification or loss")
                .into());
        }
        Infeasible::NoHierarchy => {
            let names: Vec<&str> =
                plan.with_role(Role::Quasi).map(|at| plan.columns[at].name.as_str()).collect();
            return Err(Problem::new(format!(
                "a full-domain search needs a hierarchy for each of {}",
                names.join(", ")
            ))
            .into());
        }
    };
    Ok(Outcome::Failed { reasons, help, report: None })
}

/// What fails at the most general node of a lattice, and what would help.
fn every_node(reason: &Infeasible, n_rows: u64, limit: u64) -> (Vec<String>, Option<String>) {
    let Infeasible::EveryNode {
        broken,
        n_suppressed,
        breaks_as_stars,
        largest_k,
        is_bounded,
        higher_levels_help,
        is_least,
    } = reason
    else {
        return (Vec::new(), None);
    };
    let place = if *is_bounded {
        "at the highest levels that `levels` allows"
    } else {
        "even if all rows are one class"
    };
    let sentence = |(model, rows): &(String, u64)| {
        format!("{model} does not hold {place}: {rows} of {n_rows} rows break it")
    };
    let mut reasons: Vec<String> = broken.iter().map(sentence).collect();
    let mut ways = Vec::new();
    if *higher_levels_help {
        ways.push("allow higher levels".to_owned());
    }
    if limit < *n_suppressed && *is_least {
        reasons.push(format!("{n_suppressed} rows would have to be left out, {limit} may be"));
    }
    if *breaks_as_stars {
        reasons.push(format!(
            "the {n_suppressed} rows that would be left out, released as `*`, are a class that breaks \
             a model itself"
        ));
    }
    let is_lacking = limit < *n_suppressed && *is_least || *breaks_as_stars;
    if is_lacking && *n_suppressed < n_rows {
        let drop = if *breaks_as_stars { "--suppressed drop " } else { "" };
        ways.push(format!("leave more rows out with {drop}--suppress {n_suppressed}rows"));
    }
    if let Some(k) = largest_k {
        ways.push(format!("ask for -k {k} or less"));
    }
    let help = (!ways.is_empty()).then(|| ways.join(", or "));
    (reasons, help)
}
