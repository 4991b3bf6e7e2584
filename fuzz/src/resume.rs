//! Searches that were stopped: a resume file ends in an error, or in a release that keeps its k.
//! The checksum of the file is put right before it is used, or no mutation would get beyond it.

use incrowd_job::{anonymize, fuzzing, JobSpec, Outcome, Run};

use crate::{mutation, release, sandbox, table, Seed};

const JOB: &str = "\
undeclared = \"drop\"
[columns]
age = { role = \"quasi\" }
zip = { role = \"quasi\" }
sex = { role = \"quasi\" }
disease = { role = \"sensitive\" }
[privacy]
k = 3
suppress = \"3rows\"
[search]
algorithm = \"koptimize\"
[run]
threads = 1
";

/// Puts the table into place.
pub fn start() {
    sandbox::write("rows.csv", table::TABLE.as_bytes());
}

/// The job with so many nodes.
fn job(n_nodes: u64) -> JobSpec {
    let mut spec = JobSpec::from_toml(JOB).expect("a sound job");
    spec.input = Some(sandbox::path("rows.csv"));
    spec.output = Some(sandbox::path("release.csv"));
    spec.run.resume = Some(sandbox::path("search.json"));
    spec.run.node_limit = Some(n_nodes);
    spec
}

/// The search of the job, stopped early and late.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    start();
    let stopped_after = |n_nodes: u64| {
        sandbox::remove("search.json");
        let outcome = anonymize(&Run::default(), &job(n_nodes), true);
        assert!(matches!(outcome, Ok(Outcome::Done(_))), "the job can be done: {outcome:?}");
        let file = std::fs::read(sandbox::path("search.json")).expect("a search was kept");
        (format!("after-{n_nodes}"), file)
    };
    [1, 2, 5, 20, 100, 100_000].map(stopped_after).to_vec()
}

/// The tree of the file is changed most of the time.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    mutation::of_json(data, (size, most), 0, seed, &["", "0", "ffffffffffffffff"])
}

/// Goes on with a search.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let sealed = fuzzing::sealed(text);
    sandbox::write("search.json", sealed.as_deref().unwrap_or(text).as_bytes());
    sandbox::remove("release.csv");
    let spec = job(2_000);
    let is_done = matches!(anonymize(&Run::default(), &spec, true), Ok(Outcome::Done(_)));
    let output = sandbox::path("release.csv");
    assert_eq!(std::path::Path::new(&output).exists(), is_done, "a release is there just if done");
    if is_done {
        let quasi = ["age", "zip", "sex"].map(str::to_owned);
        release::check_k(&output, &quasi, 3);
    }
}
