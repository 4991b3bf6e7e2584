//! A folder of its own for every test, and the command run in it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The paper's Patients table.
pub(crate) const PATIENTS: &str = "age,sex,zipcode,disease\n\
    25,Male,53711,Flu\n25,Female,53712,Hepatitis\n26,Male,53711,Bronchitis\n\
    27,Male,53710,Broken Arm\n27,Female,53712,AIDS\n28,Male,53711,Hang Nail\n";

pub(crate) const PATIENTS_JOB: &str = "-k 2 --quasi age,sex,zipcode --sensitive disease";

pub(crate) struct Folder {
    dir: tempfile::TempDir,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder { dir: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.current_dir(self.dir.path()).args(split(args)).stdin(Stdio::null());
        command
    }

    /// Runs `incrowd` with arguments split at blanks; single quotes keep blanks.
    pub(crate) fn run(&self, args: &str) -> Ended {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        Ended {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(&self, args: &str) -> Ended {
        let ended = self.run(args);
        assert_eq!(ended.code, 0, "incrowd {args}\n{}", ended.stderr);
        ended
    }

    /// Runs a command that must fail with this code, say this, and leave no file behind.
    #[track_caller]
    pub(crate) fn fails(&self, args: &str, code: i32, says: &[&str]) {
        let before = self.files();
        let ended = self.run(args);
        assert_eq!(ended.code, code, "incrowd {args}\n{}", ended.stderr);
        for text in says {
            assert!(
                ended.stderr.contains(text),
                "incrowd {args}\nsaid: {}\nnot: {text}",
                ended.stderr
            );
        }
        assert_eq!(self.files(), before, "incrowd {args} left something behind");
    }
}

fn split(args: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    for char in args.chars() {
        match char {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(char),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The rows of a CSV text without quotes, header left out.
pub(crate) fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

/// Rows per distinct value of the first `n` columns.
pub(crate) fn classes(text: &str, n: usize) -> BTreeMap<Vec<&str>, usize> {
    let mut classes = BTreeMap::new();
    for row in rows(text) {
        *classes.entry(row[..n].to_vec()).or_insert(0) += 1;
    }
    classes
}

/// Seeded random numbers (splitmix64).
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// A whole number in the environment, if the variable is set.
pub(crate) fn number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a whole number")))
}

/// A table of random people: `rows` of age, sex, city, status with some missing, diagnosis, note.
pub(crate) fn people(n: usize, seed: u64) -> String {
    let mut state = seed;
    let mut below = move |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % n
    };
    let mut text = String::from("age,sex,city,status,diagnosis,note\n");
    for row in 0..n {
        let age = 18 + below(40).min(below(60));
        let sex = ["f", "m"][below(2)];
        let city = below(12).min(below(12));
        let status = ["single", "married", "widowed", ""][below(4)];
        text.push_str(&format!("{age},{sex},city{city},{status},d{},n{row}\n", below(6)));
    }
    text
}

pub(crate) const PEOPLE_JOB: &str =
    "--quasi age,sex,city,status --sensitive diagnosis --insensitive note";
