//! The user guide: every command in it runs, and prints what the page says.
//!
//! A block ```` ```sh ```` holds commands, one a line; a backslash at the end goes on in the next
//! line. In a block
//! ```` ```console ```` commands stand behind `$ `, what they print below them. A block ```` ```text ```` right behind a
//! block of commands is what all of them print, on standard output and standard error together; a line `...` stands for
//! any lines. Comments, which no reader sees, say the rest:
//!
//! | comment | meaning |
//! |---|---|
//! | `<!-- folder: examples/patients -->` | from here on commands run in a new folder with a copy of that one; `empty` is a folder without files, and how every page begins |
//! | `<!-- file: workload.sql -->` | the next block is a file of the folder |
//! | `<!-- run: incrowd generate ... -->` | a command that readers need not see |
//! | `<!-- exit: 1 -->` | the last command of the next block ends with this code, not with 0 |
//! | `<!-- not run: why -->` | the next block is not run; [`NOT_RUN`] lists all of them |
//!
//! With `UPDATE=1` the outputs in the pages are rewritten where they differ.

mod links;
mod page;
mod reference;
mod run;

use page::{Page, Step};

/// Blocks of commands that no test can run, by page, with the reason that stands there.
const NOT_RUN: [(&str, &str); 16] = [
    ("README.md", "builds the program and runs all tests"),
    ("docs/src/cluster.md", "builds another program"),
    ("docs/src/cluster.md", "needs a cluster"),
    ("docs/src/cluster.md", "needs a cluster"),
    ("docs/src/cluster.md", "needs a cluster"),
    ("docs/src/koptimize.md", "takes up to a minute a case"),
    ("docs/src/koptimize.md", "takes up to a minute a case"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/benchmarks.md", "takes minutes"),
    ("docs/src/reproduction.md", "takes hours"),
];

/// A test by the name of its page.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(#[test]
        fn $test() {
            run::page(&Page::read($page));
        })*

        #[test]
        fn every_page_has_a_test() {
            let mut tested = vec![$($page.to_owned()),*];
            let mut all = page::all();
            tested.sort();
            all.sort();
            assert_eq!(all, tested, "pages of the guide, and those that are tested");
        }
    };
}

pages! {
    readme: "README.md",
    introduction: "docs/src/introduction.md",
    tutorial: "docs/src/tutorial.md",
    profile: "docs/src/profile.md",
    release: "docs/src/release.md",
    files: "docs/src/files.md",
    memory: "docs/src/memory.md",
    hierarchies: "docs/src/hierarchies.md",
    check: "docs/src/check.md",
    compare: "docs/src/compare.md",
    attack: "docs/src/attack.md",
    query: "docs/src/query.md",
    evaluate: "docs/src/evaluate.md",
    workload: "docs/src/workload.md",
    butterfly: "docs/src/butterfly.md",
    apply: "docs/src/apply.md",
    generate: "docs/src/generate.md",
    cluster: "docs/src/cluster.md",
    commands: "docs/src/commands.md",
    job_file: "docs/src/job-file.md",
    report: "docs/src/report.md",
    columns: "docs/src/columns.md",
    models: "docs/src/models.md",
    labels: "docs/src/labels.md",
    algorithms: "docs/src/algorithms.md",
    koptimize: "docs/src/koptimize.md",
    benchmarks: "docs/src/benchmarks.md",
    threat_model: "docs/src/threat-model.md",
    limits: "docs/src/limits.md",
    reproduction: "docs/src/reproduction.md",
}

#[test]
fn what_is_not_run_is_listed() {
    let (mut n_run, mut not_run) = (0, Vec::new());
    for name in page::all() {
        for step in Page::read(&name).steps {
            match step {
                Step::Script(script) => n_run += script.commands.len(),
                Step::NotRun { why } => not_run.push((name.clone(), why)),
                Step::Folder(_) | Step::File { .. } => {}
            }
        }
    }
    eprintln!("{n_run} commands are run, {} blocks are not", not_run.len());
    let listed: Vec<(String, String)> =
        NOT_RUN.iter().map(|&(page, why)| (page.to_owned(), why.to_owned())).collect();
    assert_eq!(not_run, listed);
}

/// A job file in the guide is one.
#[test]
fn job_files_are_understood() {
    for name in page::all() {
        for block in page::blocks(&Page::read(&name).lines) {
            if block.language == "toml" {
                let job = incrowd_job::JobSpec::from_toml(&block.text());
                assert!(job.is_ok(), "{name}:{}: {job:?}", block.line());
            }
        }
    }
}
