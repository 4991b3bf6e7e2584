//! What a job wants its report to be.

use std::path::Path;

use crate::plan::PlannedColumn;
use crate::report::wanted::{Audience, HtmlWanted};
use crate::spec::choice::choice;
use crate::spec::error::{Problem, nearest};
use crate::spec::{JobSpec, Role};

/// The HTML report that a job wants, if it wants one, and all that is wrong with it.
pub(crate) fn html_wanted(
    spec: &JobSpec,
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Option<HtmlWanted> {
    let ends_with = |ending: &str| {
        let report = spec.report.as_deref().map(Path::new);
        let found = report.and_then(Path::extension).and_then(|found| found.to_str());
        found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    if let Some(report) = spec.report.as_ref().filter(|_| !ends_with("json") && !ends_with("html"))
    {
        problems.push(
            Problem::new(format!("a report is a .json or .html file, found `{report}`"))
                .help("name it .html to read it, .json for programs"),
        );
    }
    let audience = choice("audience", spec.audience.as_deref(), &Audience::NAMES, problems);
    let picture = spec.picture.as_deref().and_then(|names| picture(names, columns, problems));
    if ends_with("html") {
        let seed = spec.search.seed.unwrap_or(0);
        return Some(HtmlWanted { audience: audience.unwrap_or_default(), picture, seed });
    }
    for (name, is_said) in
        [("audience", spec.audience.is_some()), ("picture", spec.picture.is_some())]
    {
        if is_said {
            let problem = Problem::new(format!("--{name} is for an HTML report"));
            problems.push(problem.help("name one with --report FILE.html"));
        }
    }
    None
}

/// The two columns of the picture.
fn picture(
    names: &[String],
    columns: &[PlannedColumn],
    problems: &mut Vec<Problem>,
) -> Option<[String; 2]> {
    let n_before = problems.len();
    let is_quasi = |column: &&PlannedColumn| column.role == Some(Role::Quasi);
    let quasi: Vec<&str> =
        columns.iter().filter(is_quasi).map(|column| column.name.as_str()).collect();
    for name in names.iter().filter(|name| !quasi.contains(&name.as_str())) {
        let problem =
            Problem::new(format!("the picture's column `{name}` is not a quasi-identifier"));
        problems.push(match nearest(name, quasi.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help(format!("choose two of {}", quasi.join(", "))),
        });
    }
    match names {
        [a, b] if a != b => (problems.len() == n_before).then(|| [a.clone(), b.clone()]),
        _ => {
            let problem = Problem::new("a picture has two different columns");
            problems.push(problem.help("e.g. --picture age,zipcode"));
            None
        }
    }
}
