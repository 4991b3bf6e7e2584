//! The demonstration: the bundled census table, anonymized before your eyes.

use std::io::Write;
use std::path::Path;

use incrowd_job::{JobError, JobSpec, Outcome, Problem, Run, SmallFile};

use crate::progress::Progress;
use crate::{message, record, terminal};

const ADULT: &[u8] = include_bytes!("../../../../examples/adult/adult.csv.gz");
const JOB: &str = include_str!("../../../../examples/adult/job.toml");
const README: &str = include_str!("../../../../examples/README.md");

/// Writes the table and its job into a folder, runs the job, and says what it did.
pub(crate) fn run(run: &Run, folder: &Path, is_json: bool) -> Result<u8, JobError> {
    std::fs::create_dir_all(folder).map_err(|error| Problem {
        message: format!("the folder `{}` cannot be made: {}", folder.display(), error.kind()),
        help: Some("name another one: incrowd demo FOLDER".to_owned()),
    })?;
    prepare(folder)?;
    let mut spec = JobSpec::from_file(&folder.join("job.toml"))?;
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    spec.report = Some(path("report.html"));
    spec.recoding = Some(path("recoding.json"));
    let before = check(run, &spec, spec.input.clone())?;
    let progress = Progress::start(run, false);
    let outcome = incrowd_job::anonymize(run, &spec, true)?;
    drop(progress);
    if let Outcome::Done(done) = &outcome {
        let (name, json) = (path("report.json"), done.report.to_json());
        incrowd_job::write_files(run, &[SmallFile::private(&name, &json)], true)?;
        if is_json {
            record::result(&json)?;
            return Ok(message::outcome(&outcome, false));
        }
        let mut text = String::from(
            "UCI Adult: 48,842 people of a census, eight columns that others may know.\n\n",
        );
        text.push_str(&story(before.as_deref(), &done.report));
        text.push_str(&sample(&folder.join("release.csv")));
        text.push_str("\nfiles:\n");
        for (name, what) in [
            ("adult.csv.gz", "the table"),
            ("job.toml", "the job: roles, k, what to drop"),
            ("release.csv", "the release, verified from its bytes"),
            ("report.html", "what holds and what was lost, to be read"),
            ("report.json", "the same for programs"),
            ("recoding.json", "the recoding, for `incrowd apply`"),
        ] {
            text.push_str(&format!("  {:<32} {what}\n", folder.join(name).display().to_string()));
        }
        text.push_str(&format!(
            "\nagain, by hand:\n  incrowd anonymize --job {} --force\n",
            folder.join("job.toml").display()
        ));
        terminal::text(&text)?;
    }
    Ok(message::outcome(&outcome, false))
}

/// Writes the files that the demonstration starts from. Files of others are left alone: all that it
/// writes is replaced only in a folder of an earlier demonstration.
fn prepare(folder: &Path) -> Result<(), JobError> {
    let inputs =
        [("job.toml", JOB.as_bytes()), ("adult.csv.gz", ADULT), ("README.md", README.as_bytes())];
    let has = |name: &str, bytes: &[u8]| {
        std::fs::read(folder.join(name)).is_ok_and(|found| found == bytes)
    };
    let missing = inputs.iter().filter(|(name, bytes)| !has(name, bytes));
    let outputs = ["release.csv", "report.html", "report.json", "recoding.json"];
    let is_ours = has("job.toml", JOB.as_bytes());
    let taken =
        missing.clone().map(|(name, _)| *name).chain(outputs.into_iter().filter(|_| !is_ours));
    let taken: Vec<Problem> = taken
        .map(|name| folder.join(name))
        .filter(|path| std::fs::symlink_metadata(path).is_ok())
        .map(|path| Problem {
            message: format!("`{}` exists already", path.display()),
            help: Some("name another folder: incrowd demo FOLDER".to_owned()),
        })
        .collect();
    if !taken.is_empty() {
        return Err(JobError::Request(taken));
    }
    for (name, bytes) in missing {
        let path = folder.join(name);
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        file.and_then(|mut file| file.write_all(bytes)).map_err(|error| Problem {
            message: format!("writing `{}` failed: {}", path.display(), error.kind()),
            help: Some("name another folder: incrowd demo FOLDER".to_owned()),
        })?;
    }
    Ok(())
}

type Found = Box<incrowd_job::Report>;

/// The table as it is, measured like the release.
fn check(run: &Run, spec: &JobSpec, input: Option<String>) -> Result<Option<Found>, JobError> {
    let spec = JobSpec { input, report: None, ..spec.clone() };
    Ok(match incrowd_job::check(run, &spec, false)? {
        Outcome::Done(done) => Some(Box::new(done.report)),
        Outcome::Failed { report, .. } => report,
    })
}

fn story(before: Option<&incrowd_job::Report>, after: &incrowd_job::Report) -> String {
    let mut rows = vec![["", "before", "after"].map(str::to_owned).to_vec()];
    let mut row = |name: &str, value: &dyn Fn(&incrowd_job::Report) -> String| {
        let before = before.map_or_else(String::new, value);
        rows.push(vec![name.to_owned(), before, value(after)]);
    };
    row("smallest crowd (k)", &|r| r.privacy.first().map_or_else(String::new, |p| p.k.to_string()));
    row("crowds", &|r| message::count(r.release.classes));
    row("records in a crowd below k", &|r| message::count(r.risk.records_at_risk));
    row("greatest risk of being found", &|r| format!("{:.3}", r.risk.prosecutor_max));
    row("mean risk of being found", &|r| format!("{:.3}", r.risk.prosecutor_average));
    row("mean loss of a cell", &|r| {
        r.measures.loss.map_or_else(|| "0".to_owned(), |l| format!("{l:.3}"))
    });
    let mut text = message::table(&rows, &[1, 2]);
    let timings = after.timings_s;
    let total = timings.read + timings.search + timings.recode + timings.verify + timings.write;
    text.push_str(&format!(
        "\n{} in {total:.2} s (read {:.2}, search {:.2}, recode {:.2}, write {:.2}, verify {:.2})\n",
        "released and verified", timings.read, timings.search, timings.recode, timings.write, timings.verify
    ));
    let loss: Vec<String> = after
        .measures
        .loss_by_column
        .iter()
        .map(|(name, loss)| format!("{name} {loss:.2}"))
        .collect();
    text.push_str(&format!("loss by column: {}\n", loss.join(", ")));
    text
}

/// A few rows of the release.
fn sample(release: &Path) -> String {
    let Ok(text) = std::fs::read_to_string(release) else { return String::new() };
    let lines: Vec<&str> = text.lines().collect();
    let step = (lines.len() / 5).max(1);
    let mut sample = String::from("\na row here and there:\n");
    for line in std::iter::once(&lines[0]).chain(lines[1..].iter().step_by(step).take(5)) {
        sample.push_str(&format!("  {line}\n"));
    }
    sample
}
