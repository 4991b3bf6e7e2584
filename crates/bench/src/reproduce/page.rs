//! The page that gathers all experiments.

use std::path::Path;

use super::{Claim, Experiment, Judged, Numbers, PAPERS, Verdict};
use crate::Failure;

/// The page.
pub(crate) const NAME: &str = "reproduction.md";
/// Where the numbers, pictures and paragraphs of the experiments are, beside the page.
pub(crate) const FOLDER: &str = "reproduction";

const HEAD: &str = "\
<!-- Written by `incrowd-bench reproduce`; edit the experiments instead. -->
# Reproducing the papers

Incrowd implements the systems of five papers. This page reproduces their tables and figures with
the product itself and compares the results with what the papers say. Every number comes from a run
of

```sh
cargo run --release -p incrowd-bench -- reproduce all --out docs
```

`--quick` runs smaller versions in minutes. A name in place of `all` runs one paper or one figure.
Rows are drawn from a seed and searches are deterministic. So everything is the same on every
machine, except times and searches that a time limit stops. The numbers are in CSV files beside the
pictures.

The verdicts are computed from those files alone. `reproduce --judge --out docs` computes them again
and rewrites this page, and a test fails if the page does not follow from the files. A statement is
judged as the paper makes it, in every case that it covers (every k, table, model):

| verdict | the statement is true |
|---|---|
| agrees | in every case |
| **partly** | in more than half of the cases |
| **differs** | in half of them or fewer |
| **not shown** | unknown: no case contradicts it, but too few were settled, or numbers cannot judge it |

A case that was not settled, for example because a search was stopped before its proof, is *open*.
If open cases would decide between *partly* and *differs*, the settled ones do. For a statement
without cases, its line says what is compared. *Our question* marks statements that no paper makes.
*A check* cannot be otherwise, so a failure would show a mistake of ours. Another test runs the
quick versions, which have fewer rows and cases, and fails if they contradict this page.
";

/// An experiment's part of the page.
pub(crate) struct Part {
    pub(crate) experiment: &'static Experiment,
    pub(crate) text: String,
    /// Pictures that are drawn from its numbers.
    pub(crate) plots: Vec<(&'static str, String)>,
}

/// The page and its parts.
pub(crate) struct Gathered {
    /// The parts of the experiments that were found.
    pub(crate) parts: Vec<Part>,
    /// The whole page.
    pub(crate) page: String,
    /// How many statements have which verdict.
    pub(crate) tally: String,
}

/// Judges what the folder has, and writes the page of it.
pub(crate) fn gather(folder: &Path) -> Result<Gathered, Failure> {
    let (mut parts, mut body, mut claims) = (Vec::new(), String::new(), Vec::new());
    let mut tallies = String::from(
        "\n| paper | agrees | partly | differs | not shown |\n|---|---|---|---|---|\n",
    );
    for paper in PAPERS {
        let (mut section, mut of_paper) = (String::new(), Vec::new());
        for experiment in paper.experiments {
            let Some(numbers) = Numbers::read(folder, experiment)? else { continue };
            let judged: Judged = (experiment.judge)(&numbers);
            let text = experiment.page(&judged, numbers.is_quick)?;
            section.push_str(&format!(
                "
{text}"
            ));
            parts.push(Part { experiment, text, plots: judged.plots });
            of_paper.extend(judged.claims);
        }
        if section.is_empty() {
            continue;
        }
        body.push_str(&format!("\n## {}\n\n{}\n{section}", paper.source, paper.setting));
        let name = paper.source.split(':').next().unwrap_or(paper.name);
        let counts = counts(&of_paper).map(|n| n.to_string()).join(" | ");
        tallies.push_str(&format!("| {name} | {counts} |\n"));
        claims.extend(of_paper);
    }
    let [agrees, partly, differs, not_shown] = counts(&claims);
    let of = agrees + partly + differs + not_shown;
    let tally = format!(
        "Of {of} statements of the papers {agrees} agree, {partly} agree partly, {differs} differ, and {not_shown} \
         are not shown"
    );
    Ok(Gathered { parts, page: format!("{HEAD}\n{tally}.\n{tallies}{body}"), tally })
}

/// How many statements of a paper have which verdict.
fn counts(claims: &[Claim]) -> [usize; 4] {
    let of = |verdict| {
        claims.iter().filter(|claim| claim.is_papers() && claim.verdict == verdict).count()
    };
    [Verdict::Agrees, Verdict::Partly, Verdict::Differs, Verdict::NotShown].map(of)
}
