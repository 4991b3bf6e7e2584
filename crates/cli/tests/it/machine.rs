//! What programs are told: one JSON object however a command ends, and the log.

use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, people};

const ZIPS: &str = "53710;5371*;*\n53711;5371*;*\n53712;5371*;*\n";

fn patients() -> Folder {
    Folder::with(&[
        ("patients.csv", PATIENTS),
        ("ragged.csv", "a,b\n1,2\n3\n"),
        ("zip.csv", ZIPS),
        ("short.csv", "53710;*\n53711;*\n"),
    ])
}

/// Runs a command with `--json`, which must end so; the object that it prints.
#[track_caller]
fn object(folder: &Folder, args: &str, code: i32) -> Value {
    let ended = folder.run(&format!("{args} --json"));
    assert_eq!(ended.code, code, "incrowd {args}\n{}", ended.stderr);
    let parsed = serde_json::from_str(&ended.stdout);
    let object: Value = parsed.unwrap_or_else(|_| panic!("incrowd {args}: {}", ended.stdout));
    assert!(object.is_object(), "incrowd {args}: {object}");
    assert_eq!(object.get("error").is_some(), code != 0, "incrowd {args}: {object}");
    if code != 0 {
        assert_eq!(object["error"]["exit_code"], code);
        let problems = object["error"]["problems"].as_array().unwrap();
        assert!(!problems.is_empty(), "incrowd {args}: {object}");
        for problem in problems {
            let message = problem["message"].as_str().unwrap();
            assert!(ended.stderr.contains(message.split(": ").next().unwrap()), "{}", ended.stderr);
        }
    }
    object
}

#[test]
fn every_command_prints_one_object_when_it_is_done() {
    let folder = patients();
    folder.ok(&format!("anonymize patients.csv -o r.csv --recoding r.json {PATIENTS_JOB}"));
    for args in [
        &*format!("anonymize patients.csv -o a.csv {PATIENTS_JOB}"),
        &*format!("anonymize patients.csv -o a.csv --print-job {PATIENTS_JOB}"),
        &*format!("check r.csv {PATIENTS_JOB}"),
        &*format!("compare patients.csv --algorithms mondrian,mondrian-relaxed {PATIENTS_JOB}"),
        "profile patients.csv",
        "apply r.json patients.csv -o b.csv",
        "query r.csv 'SELECT COUNT(*)'",
        "attack r.csv --with patients.csv --on age,sex",
        "generate uniform -o g.csv --rows 10",
        "hierarchy make patients.csv --column zipcode --mask right",
        "hierarchy make patients.csv --column zipcode --mask right -o h.csv",
        "hierarchy check zip.csv",
        "hierarchy check zip.csv --input patients.csv --column zipcode",
        "hierarchy show zip.csv",
        "demo shown",
    ] {
        object(&folder, args, 0);
    }
    let table = Folder::with(&[("people.csv", &people(400, 5))]);
    let job = "-k 5 --quasi age,city --target sex --undeclared drop";
    object(&table, &format!("evaluate people.csv {job} --test 0.3"), 0);
}

#[test]
fn every_command_prints_one_object_when_it_fails() {
    let folder = patients();
    folder.ok(&format!("anonymize patients.csv -o r.csv --recoding r.json {PATIENTS_JOB}"));
    // No release, or a check that fails, with the reason.
    let found =
        object(&folder, "anonymize patients.csv -o x.csv -k 7 --quasi age --undeclared drop", 1);
    let problem = &found["error"]["problems"][0];
    assert!(problem["message"].as_str().unwrap().contains("7-anonymity does not hold"), "{found}");
    assert!(problem["help"].as_str().unwrap().contains("smaller k"), "{found}");
    let found = object(&folder, "check patients.csv -k 2 --quasi age,sex,zipcode", 1);
    assert_eq!(found["release"]["rows"], 6, "the report is there, too");
    object(
        &folder,
        "compare patients.csv --algorithms mondrian,mondrian-relaxed -k 7 --quasi age --undeclared drop",
        1,
    );
    object(&folder, "attack patients.csv --with patients.csv --on age,sex --fail-below 2", 1);
    let found =
        object(&folder, "hierarchy check short.csv --input patients.csv --column zipcode", 1);
    assert_eq!(found["uncovered"]["values"], 1, "{found}");
    // Wrong requests and tables.
    for args in [
        "profile nothing.csv",
        "anonymize patients.csv -o x.csv -k 2 --quasi agee",
        "check ragged.csv -k 2 --quasi a",
        "compare patients.csv --algorithms nothing -k 2 --quasi age --undeclared drop",
        "evaluate patients.csv -k 2 --quasi age --undeclared drop",
        "apply nothing.json patients.csv -o x.csv",
        "query r.csv 'SELECT MEDIAN(age)'",
        "attack r.csv --with nothing.csv",
        "hierarchy make patients.csv --column zip --mask right",
        "hierarchy check ragged.csv",
        "hierarchy show nothing.csv",
        "generate sensus -o x.csv",
        "demo zip.csv",
        // What the parser of arguments refuses.
        "anonymize patients.csv --quassi age",
        "anonymise patients.csv",
        "check patients.csv -k x",
        "hierarchy make",
        "man",
        "",
    ] {
        object(&folder, args, 2);
    }
    let found = object(&folder, "anonymize patients.csv -o x.csv --encoding latin1", 2);
    assert!(found["error"]["problems"][0]["help"].as_str().unwrap().contains("UTF-8"), "{found}");
    assert!(!folder.path("x.csv").exists());
}

#[test]
#[cfg(unix)]
fn an_interrupted_command_prints_one_object() {
    let folder = Folder::with(&[("t.csv", &people(150_000, 6))]);
    let args = format!("anonymize t.csv -o r.csv -k 5 {PEOPLE_JOB} --json --log r.log");
    let mut codes = Vec::new();
    for step in 0..6 {
        let mut command = folder.command(&format!("{args} --force"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150 + 150 * step));
        crate::faults::signal(child.id(), "TERM");
        let ended = child.wait_with_output().unwrap();
        let Some(code) = ended.status.code() else { continue };
        let object: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let expected = if code == 0 { Value::Null } else { code.into() };
        assert_eq!(object["error"]["exit_code"], expected, "{object}");
        codes.push(code);
    }
    assert!(codes.contains(&130), "{codes:?}");
    for line in folder.read("r.log").lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
}

/// A report that cannot be printed is not published; one that is printed but cannot be published
/// says so.
#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output() {
    let folder = patients();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let job = format!("anonymize patients.csv -o r.csv {PATIENTS_JOB} --json");
    let ended = folder.command(&job).stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(!folder.path("r.csv").exists());
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_log_has_stages_with_rows_and_seconds() {
    let folder = Folder::with(&[("people.csv", &people(2000, 10))]);
    for way in ["", "--force-files 5"] {
        let job = format!("anonymize people.csv -o r.csv --force -k 5 {PEOPLE_JOB} {way}");
        folder.ok(&format!("{job} --log l.jsonl --quiet"));
        let log = lines(&folder.read("l.jsonl"));
        std::fs::remove_file(folder.path("l.jsonl")).unwrap();
        assert_eq!((&log[0]["event"], &log[0]["command"]), (&"start".into(), &"anonymize".into()));
        let last = log.last().unwrap();
        assert_eq!((&last["event"], &last["exit_code"]), (&"end".into(), &0.into()));
        let rows = |stage: &str| {
            let line = log.iter().find(|line| line["stage"] == stage);
            let line = line.unwrap_or_else(|| panic!("no {stage}: {log:?}"));
            assert!(line["seconds"].is_f64(), "{line}");
            line["rows"].as_u64()
        };
        for stage in ["reading", "writing", "verifying"] {
            assert_eq!(rows(stage), Some(2000), "{way} {stage}: {log:?}");
        }
        assert_eq!(rows("publishing"), None);
    }
}

#[test]
fn every_command_that_reads_a_table_is_logged() {
    let folder = patients();
    folder.ok(&format!("anonymize patients.csv -o r.csv --recoding r.json {PATIENTS_JOB}"));
    for (args, code) in [
        (&*format!("check r.csv {PATIENTS_JOB}"), 0),
        ("check patients.csv -k 2 --quasi age,sex,zipcode", 1),
        (&*format!("compare patients.csv --algorithms mondrian {PATIENTS_JOB}"), 0),
        ("profile patients.csv", 0),
        ("profile ragged.csv", 2),
        ("apply r.json patients.csv -o b.csv", 0),
        ("query r.csv 'SELECT COUNT(*)'", 0),
        ("attack r.csv --with patients.csv --on age,sex", 0),
        ("evaluate patients.csv -k 2 --quasi age --target sex --undeclared drop --test 0.4", 0),
        ("hierarchy make patients.csv --column zipcode --mask right -o h.csv", 0),
        ("hierarchy check zip.csv --input patients.csv --column zipcode", 0),
        ("generate uniform -o g.csv --rows 10", 0),
    ] {
        let ended = folder.run(&format!("{args} --log l.jsonl -v"));
        assert_eq!(ended.code, code, "{args}: {}", ended.stderr);
        let text = folder.read("l.jsonl");
        let log = lines(&text);
        assert_eq!(log.last().unwrap()["exit_code"], code, "{args}: {text}");
        let stages = log.iter().filter(|line| line["event"] == "stage").count();
        assert!(stages > 0, "{args}: {text}");
        assert_eq!(log.iter().any(|line| line["event"] == "problem"), code != 0, "{args}: {text}");
        assert!(!text.contains("Hepatitis") && !text.contains("53710"), "{args}: {text}");
        // A line for people for every stage.
        assert_eq!(
            ended.stderr.lines().filter(|line| line.ends_with(" s")).count(),
            stages,
            "{args}: {}",
            ended.stderr
        );
        std::fs::remove_file(folder.path("l.jsonl")).unwrap();
    }
    let ended = folder.run("profile patients.csv --log -");
    assert!(ended.stderr.starts_with("{\"event\":\"start\""), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("6 rows"), "{}", ended.stdout);
}

#[test]
fn a_log_is_added_to_and_nothing_else_is() {
    let folder = patients();
    let job = format!("{PATIENTS_JOB} --force");
    for n_runs in 1..3 {
        folder.ok(&format!("anonymize patients.csv -o r.csv --log l.jsonl {job}"));
        let starts = lines(&folder.read("l.jsonl"));
        assert_eq!(starts.iter().filter(|line| line["event"] == "start").count(), n_runs);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("l.jsonl")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // Neither the input, nor another file, nor what cannot be opened; and no output takes its
    // place.
    for (log, says) in [
        ("patients.csv", "is not a log"),
        ("r.csv", "is not a log"),
        ("nowhere/l.jsonl", "cannot be opened"),
        (".", "is not a file"),
    ] {
        folder.fails(&format!("anonymize patients.csv -o x.csv --log {log} {job}"), 2, &[says]);
    }
    let args = "anonymize patients.csv -o l.jsonl --log l.jsonl";
    folder.fails(&format!("{args} {job}"), 2, &["`l.jsonl` is the log"]);
    folder.fails(
        &format!("anonymize patients.csv -o x.csv --report l.jsonl --log l.jsonl {job}"),
        2,
        &["l.jsonl"],
    );
    folder.fails("generate census -o l.jsonl --force --log l.jsonl", 2, &["is the log"]);
    folder.fails(&format!("check r.csv --report l.jsonl --log l.jsonl {job}"), 2, &["l.jsonl"]);
    assert_eq!(folder.read("patients.csv"), PATIENTS);
}

/// The log has no room: the release is published all the same, and the user told.
#[test]
#[cfg(target_os = "linux")]
fn a_log_that_cannot_be_written() {
    let folder = patients();
    let ended =
        folder.ok(&format!("anonymize patients.csv -o r.csv --log /dev/full {PATIENTS_JOB}"));
    assert!(ended.stderr.contains("the log could not be written to its end"), "{}", ended.stderr);
    assert!(folder.path("r.csv").exists());
}

#[test]
fn what_is_said_of_flags_paths_and_causes() {
    let folder = patients();
    let said = |args: &str| {
        let ended = folder.run(args);
        assert_eq!(ended.code, 2, "{args}: {}", ended.stderr);
        ended.stderr
    };
    let text = said("anonymize patients.csv --encoding latin1");
    assert!(
        text.contains("UTF-8") && text.contains("iconv") && !text.contains("--recoding"),
        "{text}"
    );
    assert!(said("profile patients.csv --delimiter=;").contains("recognised"));
    let text = said("profile ragged.csv");
    assert_eq!(text.matches("line 3 has 1 field where the header has 2").count(), 1, "{text}");
    let text = said("check patients.csv -k 2 -k 3 -k 4 -k 5 --quasi age");
    assert_eq!(text.matches("-k is given more than once").count(), 1, "{text}");
    for (input, what, help) in [
        ("s3://bucket/t.parquet", "an object store", "copy the table"),
        ("postgres://me:secret@host/db", "a database", "export the rows"),
        ("https://example.org/t.csv", "a server", "copy the table"),
        ("file:///t.csv", "a file", "without file://"),
    ] {
        let text = said(&format!("profile {input}"));
        assert!(text.contains(what) && text.contains(help), "{text}");
        assert!(!text.contains("secret") && !text.contains("does not exist"), "{text}");
        let text = said(&format!("anonymize patients.csv -o {input} {PATIENTS_JOB}"));
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn every_path_that_is_not_there_is_explained() {
    let folder = patients();
    std::fs::create_dir(folder.path("jobs")).unwrap();
    let job = "[columns]\nage = { role = \"quasi\", hierarchy = \"s3://bucket/h.csv\" }\n";
    std::fs::write(folder.path("jobs/j.toml"), job).unwrap();
    let made = format!("anonymize patients.csv -o x.csv {PATIENTS_JOB}");
    let attack = "attack patients.csv --with patients.csv";
    for (args, path, what) in [
        ("apply PATH patients.csv -o x.csv", "r.json", "the recoding `r.json` does not exist"),
        (&*format!("{made} --hierarchy age=PATH"), "h.csv", "the hierarchy `h.csv` does not exist"),
        ("anonymize patients.csv --job PATH", "j.toml", "the job file `j.toml` does not exist"),
        (
            "query patients.csv --queries PATH",
            "q.sql",
            "the file of queries `q.sql` does not exist",
        ),
        (&*format!("{attack} --recoding PATH"), "r.json", "the recoding `r.json` does not exist"),
        (&*format!("{attack} --report PATH"), "none/r.html", "the folder `none` does not exist"),
        ("profile patients.csv --log PATH", "none/log", "its folder does not exist"),
        (&*format!("{made} --temp-dir PATH"), "none", "the folder `none` does not exist"),
    ] {
        folder.fails(&args.replace("PATH", path), 2, &[what]);
        let address = args.replace("PATH", "s3://me:secret@bucket/x.html");
        folder.fails(&address, 2, &["`s3://` is an object store"]);
        let ended = folder.run(&address);
        assert!(!ended.stderr.contains("entity") && !ended.stderr.contains("secret"), "{address}");
    }
    // Before an address in a job file stands the folder of that file.
    let args = "anonymize patients.csv -o x.csv -k 2 --undeclared drop --job jobs/j.toml";
    folder.fails(args, 2, &["`s3://` is an object store", "name a path on this machine"]);
}
