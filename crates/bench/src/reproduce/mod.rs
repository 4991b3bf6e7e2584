//! `reproduce`: the tables and figures of the papers.
//!
//! Every paper is a module with a list of [`Experiment`]s. An experiment has two halves. `run`
//! measures: it gives [`Findings`], numbers and pictures. `judge` says what follows from the
//! numbers ([`Judged`]): what the paper says, what was found, and a verdict. It sees the numbers as
//! they are in the CSV files and nothing else, so that whoever has the files can judge again
//! (`--judge`), and a test compares the page with them.
//!
//! `NAME.csv`, `NAME.svg` and `NAME.md` are written for each, and `reproduction.md` gathers what is
//! there. An experiment depends on its seed and on whether it is quick, but for the times that it
//! measures.

mod butterfly;
mod findings;
mod incognito;
mod koptimize;
mod lab;
mod mondrian;
mod page;
mod table;
#[cfg(test)]
mod tests;
mod verdict;
mod workload;

use std::path::Path;

pub(crate) use findings::{Findings, Judged, Numbers};
pub(crate) use lab::{Adult, Lab};
pub(crate) use mondrian::edges;
pub(crate) use table::{Row, Table};
pub(crate) use verdict::{CHECK, Cases, Claim, Judgement, OURS, Verdict, exceeds};

use crate::{Failure, now};

/// A table or a figure of a paper.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiment {
    /// What it is called: the paper and the figure.
    pub(crate) name: &'static str,
    /// The figure and what it shows.
    pub(crate) title: &'static str,
    /// The suffixes of its CSV files.
    pub(crate) tables: &'static [&'static str],
    /// The suffixes of its pictures.
    pub(crate) plots: &'static [&'static str],
    /// Measures it.
    pub(crate) run: fn(&Lab) -> Result<Findings, Failure>,
    /// Judges what was measured.
    pub(crate) judge: fn(&Numbers) -> Judged,
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
    for experiment in chosen {
        let lab = Lab::new(is_quick, seed)?;
        let begun = now();
        let findings =
            (experiment.run)(&lab).map_err(|error| format!("{}: {error}", experiment.name))?;
        let seconds = begun.elapsed().as_secs_f64();
        findings.write(&folder, experiment)?;
        let judged = (experiment.judge)(&Numbers::new(is_quick, findings.tables));
        experiment.draw(&folder, &judged.plots)?;
        let page = experiment.page(&judged, is_quick)?;
        std::fs::write(folder.join(experiment.file("", "md")), page)?;
        let agree = judged.claims.iter().filter(|claim| claim.verdict == Verdict::Agrees).count();
        let of = judged.claims.len();
        println!("{:<28} {seconds:>7.1} s   {agree} of {of} claims agree", experiment.name);
    }
    judge(out)?;
    println!("{:.0} s in all", start.elapsed().as_secs_f64());
    Ok(())
}

/// Judges all numbers that are there, and writes the page and what is drawn from them again.
pub(crate) fn judge(out: &Path) -> Result<(), Failure> {
    let folder = out.join(page::FOLDER);
    let gathered = page::gather(&folder)?;
    for part in &gathered.parts {
        std::fs::write(folder.join(part.experiment.file("", "md")), &part.text)?;
        part.experiment.draw(&folder, &part.plots)?;
    }
    let page = out.join(page::NAME);
    std::fs::write(&page, &gathered.page)?;
    println!("{}; see {}", gathered.tally, page.display());
    Ok(())
}

/// All names that can be asked for.
fn names() -> String {
    let papers = PAPERS.iter().map(|paper| paper.name);
    let experiments = PAPERS.iter().flat_map(|paper| paper.experiments).map(|one| one.name);
    std::iter::once("all").chain(papers).chain(experiments).collect::<Vec<_>>().join(", ")
}
