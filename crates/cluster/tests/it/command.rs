//! The whole command over a cluster: the same bytes as embedded, and nothing published when parts
//! die.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::{Cluster, csv, files, parquet, until};

/// What is done with the columns of the two tables.
fn job(input: &str) -> [&'static str; 11] {
    let (quasi, others) = match input {
        "t.parquet" => ("town,age,born", "weight,note"),
        _ => ("town,age,zip", "id"),
    };
    [
        "-k",
        "5",
        "--quasi",
        quasi,
        "--insensitive",
        others,
        "--undeclared",
        "drop",
        "--quiet",
        "--force",
        "--json",
    ]
}

fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_incrowd-cluster"))
        .current_dir(folder)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn run(folder: &Path, args: &[&str]) -> Output {
    let done = start(folder, args).wait_with_output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    done
}

impl Cluster {
    fn name(&self) -> String {
        format!("ballista://{}", self.address)
    }
}

fn anonymize<'a>(input: &'a str, output: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["anonymize", input, "-o", output], &job(input)[..], more].concat()
}

#[test]
fn a_cluster_of_any_size_gives_the_same_bytes() {
    for n_executors in [1, 2, 3] {
        let cluster = Cluster::start(n_executors);
        let (folder, engine) = (cluster.folder.path(), cluster.name());
        csv(&folder.join("t.csv"), 60_000);
        let there = ["--engine", engine.as_str()];
        let inputs = if n_executors == 2 { vec!["t.csv", "t.parquet"] } else { vec!["t.csv"] };
        if n_executors == 2 {
            parquet(&folder.join("t.parquet"), 40_000);
        }
        for input in inputs {
            for output in ["a.csv", "a.parquet"] {
                let args = anonymize(input, output, &[]);
                run(folder, &args);
                let here = std::fs::read(folder.join(output)).unwrap();
                run(folder, &[&args[..], &there].concat());
                let found = std::fs::read(folder.join(output)).unwrap();
                assert!(found == here, "{input} to {output} with {n_executors} executors");
            }
        }
        let check = ["check", "t.csv", "-k", "2", "--quasi", "age,zip", "--json", "--quiet"];
        let told = |args: &[&str]| {
            let done = start(folder, args).wait_with_output().unwrap();
            let text = String::from_utf8(done.stdout).unwrap();
            let end = text.find("\"timings_s\"").expect("a report");
            let privacy = text.find("\"privacy\": [").expect("a report");
            (done.status.code(), text[privacy..end].to_owned())
        };
        assert_eq!(told(&check), told(&[&check[..], &there].concat()));
    }
}

#[test]
fn parts_may_die_and_nothing_half_done_is_published() {
    let mut cluster = Cluster::start(2);
    let folder = cluster.folder.path().to_owned();
    csv(&folder.join("t.csv"), 400_000);
    run(&folder, &anonymize("t.csv", "here.csv", &[]));
    let expected = std::fs::read(folder.join("here.csv")).unwrap();
    let engine = cluster.name();
    let args = anonymize("t.csv", "there.csv", &["--engine", &engine, "--temp-dir", "."]);
    // What a run may leave: its release, or nothing.
    let settled = |done: &Output| {
        let output = folder.join("there.csv");
        match done.status.code() {
            Some(0) => assert!(std::fs::read(&output).unwrap() == expected, "another release"),
            code => {
                assert_eq!(code, Some(2), "{}", String::from_utf8_lossy(&done.stderr));
                assert!(!output.exists(), "a failed run published something");
                let message = String::from_utf8_lossy(&done.stderr);
                assert!(message.contains("cluster") || message.contains("scheduler"), "{message}");
            }
        }
        let _ = std::fs::remove_file(output);
        let names = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name());
        let hidden = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            name.starts_with(".incrowd") || name.starts_with("incrowd-spill")
        };
        assert_eq!(names.filter(hidden).count(), 0, "private files are left");
    };
    let killed_at = |cluster: &mut Cluster, executor: usize| {
        let mut running = start(&folder, &args);
        until("a part is written", || {
            !files(&cluster.work(executor)).is_empty() || running.try_wait().unwrap().is_some()
        });
        cluster.executors[executor].kill();
        settled(&running.wait_with_output().unwrap());
    };
    killed_at(&mut cluster, 0);
    // The other one is enough.
    settled(&run(&folder, &args));
    // No worker, then no scheduler.
    killed_at(&mut cluster, 1);
    let running = start(&folder, &args);
    cluster.scheduler.kill();
    let done = running.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", String::from_utf8_lossy(&done.stderr));
    settled(&done);
}
