//! What a command tells programs: with `--json` exactly one JSON object on standard output, however
//! the command ends.
//!
//! A result is printed before files are published, so that nothing is published if it cannot be
//! printed. Whether publishing then succeeds is not known yet, so that the end of the object waits:
//! it says what went wrong, if something did.

use std::sync::{Mutex, PoisonError, TryLockError};

use incrowd_job::JobError;
use serde_json::json;

use crate::failure::Failure;
use crate::{log, terminal};

/// How far the object is.
#[derive(Debug, PartialEq, Eq)]
enum Object {
    /// Nobody asks for one.
    Unasked,
    /// Nothing is printed yet.
    Asked,
    /// It is printed but for its end.
    Open,
    Ended,
}

struct Record {
    object: Object,
    problems: Vec<Failure>,
}

static RECORD: Mutex<Record> = Mutex::new(Record { object: Object::Unasked, problems: Vec::new() });

/// What ends an object that is printed over several lines.
const END: &str = "\n}\n";

fn with<T>(act: impl FnOnce(&mut Record) -> T) -> T {
    act(&mut RECORD.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Asks for an object.
pub(crate) fn ask() {
    with(|record| record.object = Object::Asked);
}

/// Takes note of something that went wrong.
pub(crate) fn problem(told: Failure) {
    log::problem(&told);
    with(|record| record.problems.push(told));
}

/// The same from where nothing may be waited for.
pub(crate) fn problem_at_once(told: Failure) {
    if let Ok(mut record) = RECORD.try_lock() {
        record.problems.push(told);
    }
}

/// Prints the result, an object over several lines, but for its end.
pub(crate) fn result(text: &str) -> Result<(), JobError> {
    // The last brace waits.
    let begin = text.trim_end().strip_suffix('}').map(str::trim_end);
    with(|record| match (begin, &record.object) {
        (Some(begin), Object::Asked) => {
            let printed = terminal::json(begin);
            // What could not be begun cannot be ended.
            record.object = if printed.is_ok() { Object::Open } else { Object::Ended };
            printed
        }
        (_, Object::Unasked) => terminal::json(text),
        _ => Ok(()),
    })
}

/// Ends the object as the command ends.
pub(crate) fn end(code: u8) {
    with(|record| record.end(code));
}

/// The same where another thread may be printing: then its object is left as it is.
pub(crate) fn end_at_once(code: u8) {
    match RECORD.try_lock() {
        Ok(mut record) => record.end(code),
        Err(TryLockError::Poisoned(record)) => record.into_inner().end(code),
        Err(TryLockError::WouldBlock) => {}
    }
}

impl Record {
    fn end(&mut self, code: u8) {
        let object = std::mem::replace(&mut self.object, Object::Ended);
        let text = match object {
            Object::Unasked | Object::Ended => return,
            Object::Open if code == 0 => END.to_owned(),
            Object::Open => format!(",\n  \"error\": {}{END}", self.error(code)),
            Object::Asked if code == 0 => format!("{{\n  \"incrowd\": {}{END}", version()),
            Object::Asked => {
                format!("{{\n  \"incrowd\": {},\n  \"error\": {}{END}", version(), self.error(code))
            }
        };
        if let Err(error) = terminal::json(&text) {
            terminal::note(&format!("warning: {}", unfinished(&error)));
        }
    }

    /// What went wrong, as it stands in the object.
    fn error(&self, code: u8) -> String {
        let problem = |told: &Failure| {
            let mut problem = json!({ "message": told.message });
            if !told.because.is_empty() {
                problem["because"] = json!(told.because);
            }
            if let Some(help) = &told.help {
                problem["help"] = json!(help);
            }
            problem
        };
        let problems: Vec<_> = self.problems.iter().map(problem).collect();
        let error = json!({ "exit_code": code, "problems": problems });
        serde_json::to_string_pretty(&error).expect("it has a JSON form").replace('\n', "\n  ")
    }
}

fn version() -> String {
    json!(incrowd_job::VERSION).to_string()
}

fn unfinished(error: &JobError) -> String {
    match error {
        JobError::Print(cause) => {
            format!("standard output could not be written to its end: {}", cause.kind())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_it_all() {
        let told = Failure {
            message: "it is wrong".to_owned(),
            because: vec!["a \"cause\"".to_owned()],
            help: Some("try".to_owned()),
        };
        let other = Failure { message: "so is this".to_owned(), ..Failure::default() };
        let record = Record { object: Object::Asked, problems: vec![told, other] };
        let error: serde_json::Value = serde_json::from_str(&record.error(2)).unwrap();
        assert_eq!(
            error,
            json!({ "exit_code": 2, "problems": [
                { "message": "it is wrong", "because": ["a \"cause\""], "help": "try" },
                { "message": "so is this" },
            ] })
        );
    }
}
