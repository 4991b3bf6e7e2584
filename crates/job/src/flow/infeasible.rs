//! Why no release satisfies a job, in sentences, and what can be done about it.

use incrowd_search::Infeasible;

use crate::plan::Plan;
use crate::report::Outcome;
use crate::spec::error::{JobError, Problem};
use crate::spec::{Role, RunSpec};

/// What a search that found nothing has to say, within the limits of a run that the user may have
/// ended.
pub(crate) fn infeasible(
    plan: &Plan,
    limits: &RunSpec,
    by_user: bool,
    reason: &Infeasible,
    n_rows: u64,
) -> Result<Outcome, JobError> {
    let limit = plan.suppress.rows(n_rows)?;
    let less = "ask for less (a smaller k, l or error, a larger t), or bring more rows";
    let (reasons, help) = match reason {
        Infeasible::Empty => (vec!["the table has no rows".to_owned()], None),
        Infeasible::WholeTable { broken } => {
            let sentence = |model: &String| {
                format!("{model} does not hold even if all {n_rows} rows are one class")
            };
            (broken.iter().map(sentence).collect(), Some(less.to_owned()))
        }
        Infeasible::EveryCut { broken, is_proved } => {
            (vec![every_cut(broken, *is_proved, limit)], Some(cuts_help(*is_proved, less)))
        }
        Infeasible::EveryNode { .. } => {
            let (reasons, help) = every_node(reason, n_rows, limit);
            (reasons, Some(help.unwrap_or_else(|| less.to_owned())))
        }
        Infeasible::OutOfMemory => (
            vec!["the search has to hold more than the memory limit leaves".to_owned()],
            Some("raise --memory-limit, or use --algorithm optimal, which needs little".to_owned()),
        ),
        Infeasible::OutOfTime => return Ok(ended_early(limits, by_user)),
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

/// What a search has to say that a limit, or the user, ended before it found anything.
fn ended_early(limits: &RunSpec, by_user: bool) -> Outcome {
    let (who, raise) = match (&limits.time_limit, limits.node_limit) {
        _ if by_user => ("you", "let it run longer"),
        (None, Some(_)) => ("the node limit", "raise --node-limit"),
        (Some(_), Some(_)) => {
            ("the time limit or the node limit", "raise --time-limit and --node-limit")
        }
        _ => ("the time limit", "raise --time-limit"),
    };
    Outcome::Failed {
        reasons: vec![format!("{who} ended the search before it found a release")],
        help: Some(format!("{raise}, or use --algorithm optimal, which gives its best so far")),
        report: None,
    }
}

/// What a single-dimensional search that found nothing has to say.
fn every_cut(broken: &[String], is_proved: bool, limit: u64) -> String {
    let models = broken.join(" and ");
    let found =
        if is_proved { "there is no set of cuts" } else { "the search found no set of cuts" };
    format!(
        "{models} does not hold even if all rows are one class, and {found} that satisfies the models and \
         leaves out at most {limit} {}",
        if limit == 1 { "row" } else { "rows" }
    )
}

fn cuts_help(is_proved: bool, less: &str) -> String {
    if is_proved {
        format!("raise --suppress, or {less}")
    } else {
        format!(
            "use --algorithm koptimize, which looks at every set of cuts, raise --suppress, or {less}"
        )
    }
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
