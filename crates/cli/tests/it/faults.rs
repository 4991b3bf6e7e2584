//! Interruptions, kills and full disks: the old file or the new one, and nothing else.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::harness::{Folder, PEOPLE_JOB, people};

pub(crate) fn signal(pid: u32, name: &str) {
    let _ =
        Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Starts a long job, sends a signal after a while, and gives the exit code.
fn interrupted(folder: &Folder, name: &str, after: Duration) -> Option<i32> {
    let args =
        format!("anonymize t.csv -o r.csv -k 5 {PEOPLE_JOB} --quiet --force --report r.json");
    let mut child = folder.command(&args).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    signal(child.id(), name);
    child.wait().unwrap().code()
}

#[test]
fn an_interrupted_job_leaves_what_was_there() {
    let folder = Folder::with(&[("t.csv", &people(150_000, 6))]);
    let mut codes = Vec::new();
    for step in 0..12u64 {
        std::fs::write(folder.path("r.csv"), "old").unwrap();
        // A process that has not yet set its handler ends by the signal itself.
        let code =
            interrupted(&folder, "INT", Duration::from_millis(20 + 90 * step)).unwrap_or(130);
        let release = folder.read("r.csv");
        match code {
            130 => assert_eq!(release, "old", "step {step}"),
            0 => assert_eq!(release.lines().count(), 150_001, "step {step}"),
            other => panic!("exit code {other} in step {step}"),
        }
        let left: Vec<String> =
            folder.files().into_iter().filter(|name| name.starts_with('.')).collect();
        assert!(left.is_empty(), "step {step} left {left:?}");
        codes.push(code);
    }
    assert!(codes.contains(&130), "{codes:?}");
}

#[test]
fn a_killed_job_leaves_the_old_file_or_the_new_one() {
    let folder = Folder::with(&[("t.csv", &people(150_000, 7))]);
    for step in 0..8u64 {
        std::fs::write(folder.path("r.csv"), "old").unwrap();
        interrupted(&folder, "KILL", Duration::from_millis(100 + 150 * step));
        let release = folder.read("r.csv");
        assert!(release == "old" || release.lines().count() == 150_001, "step {step}");
    }
    folder.ok(&format!("anonymize t.csv -o r.csv -k 5 {PEOPLE_JOB} --quiet --force"));
    let left: Vec<String> =
        folder.files().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "the next run tidies up: {left:?}");
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_left() {
    let folder = Folder::with(&[("t.csv", &people(20_000, 8))]);
    let incrowd = env!("CARGO_BIN_EXE_incrowd");
    let script = format!(
        "trap '' XFSZ; ulimit -f 64; exec {incrowd} anonymize t.csv -o r.csv -k 5 {PEOPLE_JOB} --quiet"
    );
    let ended =
        Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("writing `r.csv` failed"), "{said}");
    assert_eq!(folder.files(), ["t.csv"]);
}

#[test]
#[cfg(unix)]
fn a_folder_that_cannot_be_written_to() {
    let folder = Folder::with(&[("t.csv", &people(100, 9))]);
    // Root may write anywhere; a name that is too long fails for everyone.
    let long = "x".repeat(250);
    folder.fails(
        &format!("anonymize t.csv -o {long}.csv -k 5 {PEOPLE_JOB} --report {long}r.json"),
        2,
        &["failed"],
    );
}
