//! `reproduce`: the tables and figures of the papers, done again.
//!
//! Every paper is a module with a list of [`Experiment`]s; every experiment gives [`Findings`]: numbers,
//! pictures, what is said of them, and the paper's claims with what was found about each. `NAME.csv`,
//! `NAME.svg` and `NAME.md` are written for each, and `reproduction.md` gathers what is there.
//!
//! An experiment depends on its seed and on whether it is quick, but for the times that it measures.

mod butterfly;
mod findings;
mod incognito;
mod koptimize;
mod lab;
mod mondrian;
mod page;
#[cfg(test)]
mod tests;
mod workload;

use std::path::Path;

pub(crate) use findings::{Claim, Findings, Table};
pub(crate) use lab::Lab;
pub(crate) use mondrian::edges;

use crate::{Failure, now};

/// A table or a figure of a paper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiment {
    /// What it is called: the paper and the figure.
    pub(crate) name: &'static str,
    /// The figure and what it shows.
    pub(crate) title: &'static str,
    /// Does it again.
    pub(crate) run: fn(&Lab) -> Result<Findings, Failure>,
}

/// A paper with its experiments.
#[derive(Debug)]
pub(crate) struct Paper {
    /// Its short name, with which the names of its experiments begin.
    pub(crate) name: &'static str,
    /// Authors, title, where it appeared.
    pub(crate) source: &'static str,
    /// What its experiments run on, and what stands in for what is not public.
    pub(crate) setting: &'static str,
    /// Its tables and figures, in their order.
    pub(crate) experiments: &'static [Experiment],
}

/// The papers in the order of the page.
pub(crate) const PAPERS: [&Paper; 5] =
    [&mondrian::PAPER, &incognito::PAPER, &koptimize::PAPER, &workload::PAPER, &butterfly::PAPER];

/// Runs the experiments of that name, of the paper of that name, or all, and gathers the page.
pub(crate) fn reproduce(name: &str, out: &Path, is_quick: bool, seed: u64) -> Result<(), Failure> {
    let chosen: Vec<&Experiment> = (PAPERS.iter())
        .flat_map(|paper| paper.experiments.iter().map(move |one| (paper, one)))
        .filter(|(paper, one)| name == "all" || name == paper.name || name == one.name)
        .map(|(_, one)| one)
        .collect();
    if chosen.is_empty() {
        return Err(format!("there is no experiment `{name}`; they are {}", names()).into());
    }
    let folder = out.join(page::FOLDER);
    std::fs::create_dir_all(&folder)?;
    let start = now();
    let mut differing = 0;
    for experiment in chosen {
        let lab = Lab::new(is_quick, seed)?;
        let begun = now();
        let findings =
            (experiment.run)(&lab).map_err(|error| format!("{}: {error}", experiment.name))?;
        let seconds = begun.elapsed().as_secs_f64();
        findings.write(&folder, experiment, is_quick)?;
        let held = findings.claims.iter().filter(|claim| claim.holds).count();
        differing += findings.claims.len() - held;
        let of = findings.claims.len();
        println!("{:<28} {seconds:>7.1} s   {held} of {of} claims hold", experiment.name);
    }
    page::gather(out)?;
    let seconds = start.elapsed().as_secs_f64();
    let page = out.join(page::NAME);
    println!("{seconds:.0} s in all; {differing} claims differ; see {}", page.display());
    Ok(())
}

/// All names that can be asked for.
fn names() -> String {
    let papers = PAPERS.iter().map(|paper| paper.name);
    let experiments = PAPERS.iter().flat_map(|paper| paper.experiments).map(|one| one.name);
    std::iter::once("all").chain(papers).chain(experiments).collect::<Vec<_>>().join(", ")
}
