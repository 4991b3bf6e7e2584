//! The command, run in a folder of its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::case::{Case, Hierarchy};
use crate::table::Table;
use crate::value::Kind;
use crate::{Fault, columnar, csv};

/// How long a command may take: far longer than any job here needs.
const PATIENCE: Duration = Duration::from_secs(90);
const GLANCE: Duration = Duration::from_millis(3);

/// A folder that commands are run in.
pub(crate) struct Folder {
    dir: tempfile::TempDir,
    binary: PathBuf,
}

/// How a command ended.
pub(crate) struct Ended {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) args: Vec<String>,
}

impl Ended {
    pub(crate) fn said(&self) -> String {
        format!("incrowd {}\n{}", shell(&self.args), self.stderr)
    }
}

/// The arguments as a shell would take them.
pub(crate) fn shell(args: &[String]) -> String {
    let quoted: Vec<String> = args
        .iter()
        .map(|arg| {
            let is_plain =
                arg.chars().all(|char| char.is_alphanumeric() || "-_./=,:%".contains(char));
            if is_plain { arg.clone() } else { format!("'{}'", arg.replace('\'', "'\\''")) }
        })
        .collect();
    quoted.join(" ")
}

impl Folder {
    pub(crate) fn new(binary: &Path) -> Result<Folder, Fault> {
        let dir = tempfile::tempdir().map_err(Fault::machine)?;
        std::fs::create_dir(dir.path().join("work")).map_err(Fault::machine)?;
        Ok(Folder { dir, binary: binary.to_owned() })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    /// The names of all files, hidden ones and those of folders too.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
                found.insert(entry.path());
            }
        }
        found
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Fault> {
        std::fs::write(self.path(name), text).map_err(Fault::machine)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    pub(crate) fn json(&self, name: &str) -> Result<serde_json::Value, Fault> {
        serde_json::from_str(&self.text(name))
            .map_err(|error| Fault::new("json", format!("{name}: {error}")))
    }

    /// Runs the command; what it prints goes to files, so that it never waits for us.
    pub(crate) fn run(&self, args: &[String]) -> Result<Ended, Fault> {
        let (out, err) = (self.dir.path().join("stdout"), self.dir.path().join("stderr"));
        let mut child = Command::new(&self.binary)
            .current_dir(self.path(""))
            .args(args)
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(File::create(&out).map_err(Fault::machine)?)
            .stderr(File::create(&err).map_err(Fault::machine)?)
            .spawn()
            .map_err(Fault::machine)?;
        let mut waited = Duration::ZERO;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(Fault::machine)? {
                break status;
            }
            if waited > PATIENCE {
                child.kill().map_err(Fault::machine)?;
                child.wait().map_err(Fault::machine)?;
                return Err(Fault::new("hang", format!("incrowd {}", shell(args))));
            }
            std::thread::sleep(GLANCE);
            waited += GLANCE;
        };
        let read = |path| std::fs::read(path).unwrap_or_default();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ended {
            code: status.code(),
            stdout: text(read(&out)),
            stderr: text(read(&err)),
            args: args.to_vec(),
        })
    }

    /// Writes the hierarchies and the job of a case.
    pub(crate) fn prepare(&self, case: &Case) -> Result<(), Fault> {
        for (number, column) in case.columns.iter().enumerate() {
            if let Some(Hierarchy::Rows(rows)) = &column.hierarchy {
                let cells = rows.iter().map(|row| row.iter().cloned().map(Some).collect());
                let table = Table { header: Vec::new(), rows: cells.collect() };
                // The first line is that of a header without columns.
                let text = csv::write(&table, ';');
                self.write(&format!("h{number}.csv"), text.trim_start_matches('\n'))?;
            }
        }
        self.write("job.toml", &case.toml())
    }

    /// Writes the table as `name`, in the format of its ending.
    pub(crate) fn write_table(&self, case: &Case, table: &Table, name: &str) -> Result<(), Fault> {
        if Path::new(name).extension().is_some_and(|ending| ending == "csv") {
            return self.write(name, &csv::write(table, case.format.delimiter));
        }
        let kinds: Vec<Kind> =
            (0..table.header.len()).map(|column| Kind::of(table.cells(column))).collect();
        columnar::write(table, &kinds, &self.path(name)).map_err(Fault::machine)
    }

    /// Reads a release: a file, or all parts of a folder in the order of their names.
    pub(crate) fn read_table(&self, name: &str) -> Result<Table, Fault> {
        let path = self.path(name);
        let mut files = vec![path.clone()];
        if path.is_dir() {
            files = std::fs::read_dir(&path)
                .map_err(Fault::machine)?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_none_or(|ending| ending != "json"))
                .collect();
            files.sort();
        }
        let mut whole: Option<Table> = None;
        for file in files {
            let part = read_file(&file)?;
            match &mut whole {
                Some(whole) if whole.header == part.header => whole.rows.extend(part.rows),
                Some(_) => return Err(Fault::new("parts", "parts have different columns")),
                None => whole = Some(part),
            }
        }
        whole.ok_or_else(|| Fault::new("parts", format!("no parts in {name}")))
    }
}

fn read_file(path: &Path) -> Result<Table, Fault> {
    let unreadable = |why: String| Fault::new("unreadable", format!("{}: {why}", path.display()));
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "parquet" | "arrow" => columnar::read(path).map_err(|error| unreadable(error.to_string())),
        _ => {
            let text =
                std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
            csv::read(&text, if ending == "tsv" { '\t' } else { ',' }).map_err(unreadable)
        }
    }
}
