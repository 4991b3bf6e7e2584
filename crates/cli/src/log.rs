//! What a run does and how long it takes: with `--log` a JSON object a line, for programs; with
//! `-v` a line on standard error, for people. No cell of a table is in either.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use incrowd_job::{Event, Problem, Run, Stage, count};
use serde_json::{Value, json};

use crate::args::LogArgs;
use crate::failure::Failure;
use crate::terminal::note;

/// How every log begins, by which one is told from other files.
const BEGIN: &str = "{\"event\":\"start\"";

struct Log {
    /// Where objects go, if somewhere.
    to: Option<Box<dyn Write + Send>>,
    is_on_stderr: bool,
    is_verbose: bool,
    start: Instant,
    /// The stage that goes on, and since when.
    stage: Option<(Stage, Instant)>,
    is_whole: bool,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

#[expect(clippy::disallowed_methods, reason = "times are told, never acted on")]
fn now() -> Instant {
    Instant::now()
}

fn with(act: impl FnOnce(&mut Log)) {
    if let Some(log) = LOG.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        act(log);
    }
}

/// Begins the log of a command, if one is asked for, and lets a run tell it what happens.
pub(crate) fn begin(
    run: Run,
    command: &str,
    args: &LogArgs,
    is_quiet: bool,
) -> Result<Run, Problem> {
    let is_told = args.log.is_some() || args.verbose;
    let file = args.log.as_deref().filter(|path| *path != Path::new("-"));
    let to: Option<Box<dyn Write + Send>> = match (file, &args.log) {
        (Some(path), _) => Some(Box::new(open(path)?)),
        (None, Some(_)) => Some(Box::new(std::io::stderr())),
        (None, None) => None,
    };
    if is_told {
        let mut log = Log {
            is_on_stderr: to.is_some() && file.is_none(),
            to,
            is_verbose: args.verbose,
            start: now(),
            stage: None,
            is_whole: true,
        };
        log.write(&json!({
            "event": "start", "command": command, "incrowd": incrowd_job::VERSION
        }));
        *LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(log);
    }
    let run = match file {
        Some(path) => run.logged_in(path),
        None => run,
    };
    // What holds for all jobs of a comparison is told once.
    let told: Mutex<Vec<String>> = Mutex::default();
    Ok(run.watched(move |event| match event {
        Event::Stage { begins, rows_before } => with(|log| log.enter(Some(begins), rows_before)),
        Event::Note(text) => {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.iter().any(|known| known == text) {
                return;
            }
            told.push(text.to_owned());
            if !is_quiet {
                note(&format!("note: {text}"));
            }
            with(|log| log.write(&json!({ "event": "note", "message": text })));
        }
    }))
}

/// Opens a log for more lines. What is not a log of ours is left alone.
fn open(path: &Path) -> Result<File, Problem> {
    let name = path.display();
    let problem = |message: String, help: &str| Problem { message, help: Some(help.to_owned()) };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let mut begin = Vec::new();
            let file = File::open(path);
            let read = file.and_then(|file| file.take(BEGIN.len() as u64).read_to_end(&mut begin));
            if read.is_err() || !begin.is_empty() && begin != BEGIN.as_bytes() {
                return Err(problem(
                    format!("`{name}` is not a log, so nothing is added to it"),
                    "choose another name for --log",
                ));
            }
        }
        Ok(found) if found.is_dir() || !is_device(&found) => {
            let help = "name a file, or write --log - for standard error";
            return Err(problem(format!("the log `{name}` is not a file"), help));
        }
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map_err(|error| {
        if let Some(problem) = incrowd_job::address_problem(path) {
            return problem;
        }
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
            kind => kind.to_string(),
        };
        problem(
            format!("the log `{name}` cannot be opened: {why}"),
            "see that its folder exists and can be written to",
        )
    })
}

#[cfg(unix)]
fn is_device(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_char_device()
}

#[cfg(not(unix))]
fn is_device(_found: &std::fs::Metadata) -> bool {
    false
}

/// Whether lines go to standard error, where a line of progress would be in their way.
pub(crate) fn is_verbose() -> bool {
    let mut is_verbose = false;
    with(|log| is_verbose = log.is_verbose || log.is_on_stderr);
    is_verbose
}

/// Logs something that went wrong.
pub(crate) fn problem(told: &Failure) {
    with(|log| {
        let mut line = json!({ "event": "problem", "message": told.message });
        if !told.because.is_empty() {
            line["because"] = json!(told.because);
        }
        if let Some(help) = &told.help {
            line["help"] = json!(help);
        }
        log.write(&line);
    });
}

/// Logs a warning.
pub(crate) fn warning(text: &str) {
    with(|log| log.write(&json!({ "event": "warning", "message": text })));
}

/// Ends the log as the command ends, whose last stage read or wrote so many rows.
pub(crate) fn end(code: u8, rows: u64) {
    with(|log| log.end(code, rows));
}

/// The same where another thread may be logging: then nothing more is logged.
pub(crate) fn end_at_once(code: u8) {
    if let Ok(mut log) = LOG.try_lock()
        && let Some(log) = log.as_mut()
    {
        log.end(code, 0);
    }
}

/// Seconds to the millisecond.
fn seconds_since(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 1e3).round() / 1e3
}

impl Log {
    fn write(&mut self, line: &Value) {
        let Some(to) = &mut self.to else { return };
        // One write a line, so that several runs can share a log. What cannot be logged changes
        // nothing else.
        self.is_whole &= to.write_all(format!("{line}\n").as_bytes()).is_ok();
    }

    fn end(&mut self, code: u8, rows: u64) {
        self.enter(None, rows);
        let seconds = seconds_since(self.start);
        self.write(&json!({ "event": "end", "exit_code": code, "seconds": seconds }));
        if !self.is_whole {
            note("warning: the log could not be written to its end");
        }
    }

    /// Ends the stage that goes on and begins another.
    fn enter(&mut self, begins: Option<Stage>, rows: u64) {
        let stage = std::mem::replace(&mut self.stage, begins.map(|stage| (stage, now())));
        let Some((stage, since)) = stage else { return };
        let seconds = seconds_since(since);
        let mut line = json!({ "event": "stage", "stage": stage.word() });
        if rows > 0 {
            line["rows"] = json!(rows);
        }
        line["seconds"] = json!(seconds);
        self.write(&line);
        if self.is_verbose {
            let rows = if rows > 0 { format!(": {} rows", count(rows)) } else { String::new() };
            note(&format!("{}{rows} in {seconds:.3} s", stage.word()));
        }
    }
}
