//! Job files: what is accepted prints as a job file that says the same, and running it on a small
//! table ends in an error or in a release that keeps its k.

use incrowd_job::{anonymize, HierarchySpec, JobSpec, Outcome, Run};

use crate::{mutation, release, sandbox, table, Seed};

/// Lines of job files, for mutations.
const LINES: [&str; 88] = [
    "[columns]\n",
    "[privacy]\n",
    "[search]\n",
    "[release]\n",
    "[run]\n",
    "[workload]\n",
    "[[quasi]]\n",
    "undeclared = \"drop\"\n",
    "undeclared = \"error\"\n",
    "missing = \"error\"\n",
    "missing = \"category\"\n",
    "audience = \"public\"\n",
    "report = \"report.html\"\n",
    "report = \"report.json\"\n",
    "recoding = \"recoding.json\"\n",
    "picture = [\"age\", \"income\"]\n",
    "output = \"release.parquet\"\n",
    "output = \"release/\"\n",
    "collude = [[\"a\", \"b\"]]\n",
    "name = \"a\"\ncolumns = [\"age\", \"sex\"]\nk = 3\n",
    "[[quasi]]\nname = \"b\"\ncolumns = [\"zip\", \"sex\", \"day\"]\n",
    "age = { role = \"quasi\" }\n",
    "age = { role = \"quasi\", hierarchy = { width = 5.0, levels = [2, 2] } }\n",
    "age = { role = \"quasi\", hierarchy = { width = 0.5, origin = 1.0 } }\n",
    "age = { role = \"quasi\", hierarchy = { fan-out = 2 } }\n",
    "age = { role = \"quasi\", type = \"text\" }\n",
    "age = { role = \"insensitive\", target = true }\n",
    "zip = { role = \"quasi\" }\n",
    "zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n",
    "zip = { role = \"quasi\", hierarchy = { mask = \"left\", character = \"#\" } }\n",
    "zip = { role = \"quasi\", hierarchy = \"zip.csv\" }\n",
    "sex = { role = \"quasi\" }\n",
    "sex = { role = \"quasi\", hierarchy = \"sex.csv\" }\n",
    "sex = { role = \"quasi\", order = [\"m\", \"f\"] }\n",
    "sex = { role = \"quasi\", hierarchy = [[\"m\", \"*\"], [\"f\", \"*\"]] }\n",
    "sex = { role = \"sensitive\" }\n",
    "day = { role = \"quasi\" }\n",
    "day = { role = \"quasi\", hierarchy = { dates = [\"month\", \"year\"] } }\n",
    "day = { role = \"quasi\", type = \"timestamp\" }\n",
    "income = { role = \"quasi\" }\n",
    "income = { role = \"quasi\", type = \"decimal\" }\n",
    "income = { role = \"sensitive\" }\n",
    "disease = { role = \"sensitive\" }\n",
    "disease = { role = \"sensitive\", target = true }\n",
    "id = { role = \"identifier\" }\n",
    "id = { role = \"identifier\", entity = true }\n",
    "k = 2\n",
    "k = 3\n",
    "k = 13\n",
    "preset = \"hipaa-5\"\n",
    "fail-above = { prosecutor = 0.5 }\n",
    "l-diversity = [{ column = \"disease\", distinct = 2 }]\n",
    "l-diversity = [{ entropy = 1.5 }]\n",
    "l-diversity = [{ column = \"disease\", recursive = [2.0, 2] }]\n",
    "t-closeness = [{ column = \"disease\", value = 0.5 }]\n",
    "squared-error = [{ column = \"income\", value = 100.0 }]\n",
    "suppress = \"20%\"\n",
    "suppress = \"3rows\"\n",
    "suppress = 0.5\n",
    "algorithm = \"mondrian\"\n",
    "algorithm = \"optimal\"\n",
    "algorithm = \"incognito\"\n",
    "algorithm = \"samarati\"\n",
    "algorithm = \"bottom-up\"\n",
    "algorithm = \"datafly\"\n",
    "algorithm = \"single-dimensional\"\n",
    "algorithm = \"hill-climb\"\n",
    "algorithm = \"koptimize\"\n",
    "algorithm = \"tds\"\n",
    "algorithm = \"butterfly\"\n",
    "algorithm = \"union\"\nvariant = \"koptimize\"\n",
    "variant = \"relaxed\"\n",
    "measure = \"discernibility\"\n",
    "measure = \"classification\"\n",
    "measure = \"average-class-size\"\n",
    "split = \"infogain\"\n",
    "split = \"selection,queries\"\n",
    "levels = { age = \"1..2\", sex = 0 }\n",
    "weights = { age = 3.0 }\n",
    "seed = 7\n",
    "targets = [\"disease\"]\n",
    "select = [\"sex = 'm' AND age >= 27 OR zip IS NULL\"]\n",
    "queries = [{ sql = \"SELECT COUNT(*) WHERE age BETWEEN 25 AND 31\", weight = 2.0 }]\n",
    "labels = \"region\"\n",
    "labels = \"bounds\"\n",
    "labels = \"range+mean\"\n",
    "suppressed = \"star\"\n",
    "memory-limit = \"100MB\"\n",
];

/// A job that runs.
const JOB: &str = "\
undeclared = \"drop\"
[columns]
id = { role = \"identifier\" }
age = { role = \"quasi\" }
zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }
sex = { role = \"quasi\" }
disease = { role = \"sensitive\" }
[privacy]
k = 2
";

/// Puts the table into place.
pub fn start() {
    sandbox::write("input.csv", table::TABLE.as_bytes());
    sandbox::write("sex.csv", table::SEX.as_bytes());
    sandbox::write("zip.csv", table::ZIP.as_bytes());
}

/// Jobs that run, the bundled ones, and one with all keys.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let jobs = [
        ("plain", JOB.to_owned()),
        ("koptimize", format!("{JOB}suppress = \"20%\"\n[search]\nalgorithm = \"koptimize\"\n")),
        ("butterfly", format!("{JOB}[search]\nalgorithm = \"butterfly\"\n[release]\nlabels = \"range+mean\"\n")),
        ("hill-climb", format!("{JOB}[search]\nalgorithm = \"hill-climb\"\n[release]\nlabels = \"bounds\"\n")),
        ("star", format!("{JOB}suppress = 0.5\n[search]\nalgorithm = \"hill-climb\"\n[release]\nsuppressed = \"star\"\n")),
        ("full-domain", include_str!("../../examples/adult/job-full-domain.toml").to_owned()),
        ("collude", include_str!("../../examples/accidents/job-collude.toml").to_owned()),
        ("lines", LINES.concat()),
    ];
    jobs.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect()
}

/// Lines of job files are put in, taken out and moved.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    mutation::of_text(data, size, most, seed, &LINES.map(str::as_bytes))
}

/// Reads a job, prints it, and does it.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(spec) = JobSpec::from_toml(text) else { return };
    let printed = spec.to_toml();
    let again = JobSpec::from_toml(&printed).expect("a job that is printed can be read");
    // What is not a number is not equal to itself: the texts tell more than the values.
    assert_eq!(again.to_toml(), printed, "a job that is printed and read");
    if !printed.contains("nan") {
        assert_eq!(again, spec, "a job that is printed and read");
    }
    release_of(spec);
}

/// Does a job with files in the sandbox in place of its own.
fn release_of(mut spec: JobSpec) {
    let is_folder = spec.output.as_ref().is_some_and(|path| path.ends_with('/'));
    let is_parquet = spec.output.as_ref().is_some_and(|path| path.contains(".parquet"));
    let output = match (is_folder, is_parquet) {
        (true, _) => "release.parts.csv/",
        (false, true) => "release.parquet",
        (false, false) => "release.csv",
    };
    spec.input = Some(sandbox::path("input.csv"));
    spec.output = Some(sandbox::path(output));
    let is_page = |path: &String| path.to_ascii_lowercase().ends_with(".html");
    let report =
        if spec.report.as_ref().is_some_and(is_page) { "report.html" } else { "report.json" };
    spec.report = spec.report.map(|_| sandbox::path(report));
    spec.recoding = spec.recoding.map(|_| sandbox::path("recoding.json"));
    spec.search.start = None;
    spec.workload.queries_file = None;
    (spec.run.resume, spec.run.engine) = (None, None);
    spec.run.temp_dir = Some(sandbox::path(""));
    (spec.run.threads, spec.run.time_limit) = (Some(1), Some("2s".to_owned()));
    for (name, column) in &mut spec.columns {
        if let Some(HierarchySpec::File(path)) = &mut column.hierarchy {
            *path = sandbox::path(if name == "sex" { "sex.csv" } else { "zip.csv" });
        }
    }
    for name in [output.trim_end_matches('/'), "report.html", "report.json", "recoding.json"] {
        sandbox::remove(name);
    }
    let is_done = matches!(anonymize(&Run::default(), &spec, false), Ok(Outcome::Done(_)));
    let written = std::path::Path::new(&sandbox::path(output)).exists();
    assert_eq!(written, is_done, "a release is there just if the job is done");
    let has_entity = spec.columns.values().any(|column| column.entity);
    if is_done && output == "release.csv" && spec.quasi.is_empty() && !has_entity {
        let is_quasi = |role: &Option<String>| role.as_deref() == Some("quasi");
        let quasi = spec.columns.iter().filter(|(_, column)| is_quasi(&column.role));
        let quasi: Vec<String> = quasi.map(|(name, _)| name.clone()).collect();
        release::check_k(&sandbox::path(output), &quasi, spec.privacy.k.unwrap_or(2));
    }
}
