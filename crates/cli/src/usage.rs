//! Arguments that are wrong: what the parser says of them, and what is true of flags that do not
//! exist.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use incrowd_job::JobError;

use crate::failure::Failure;
use crate::message::{self, EXIT_REQUEST, note, visible};
use crate::record;

/// Flags that people know from other tools, and what to do instead.
const ELSEWHERE: [(&[&str], &str); 6] = [
    (
        &["--encoding", "--charset"],
        "text files are read as UTF-8; convert others first: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv",
    ),
    (
        &["--delimiter", "--delim", "--sep", "--separator"],
        "the delimiter (comma, semicolon, tab or |) is recognised; there is no flag for it",
    ),
    (
        &["--decimal", "--decimal-separator"],
        "numbers are read with a decimal point; replace decimal commas first",
    ),
    (&["--date-format"], "dates are read as 2024-01-31; convert others first"),
    (
        &["--na", "--na-values", "--null", "--null-value"],
        "an empty cell is missing; empty the cells that say NA or the like first",
    ),
    (
        &["--no-header", "--skip-header"],
        "a text file begins with the names of its columns; add that line first",
    ),
];

/// Whether a program asks for JSON, whatever else is wrong with its arguments.
pub(crate) fn asks_for_json() -> bool {
    let args = std::env::args_os().skip(1);
    args.take_while(|arg| arg != "--").any(|arg| arg == "--json")
}

/// What the parser of arguments says: help, or what is wrong with them; gives the exit code.
pub(crate) fn usage(mut error: clap::Error) -> u8 {
    if !error.use_stderr() {
        return match error.print() {
            Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => {
                message::error(&JobError::Print(failed))
            }
            _ => 0,
        };
    }
    if asks_for_json() {
        record::ask();
    }
    if let Some(tip) = tip(&error) {
        // What sounds like it does something else, and is part of the usage that is shown.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tips);
    }
    // Arguments are quoted. Only where they hold nothing strange can colours be told from them.
    let strange: Vec<String> = std::env::args().filter(|arg| visible(arg) != *arg).collect();
    let text = strange
        .iter()
        .fold(error.render().to_string(), |text, arg| text.replace(arg.as_str(), &visible(arg)));
    if strange.is_empty() {
        let _ = error.print();
    } else {
        text.lines().for_each(note);
    }
    record::problem(told(&text));
    EXIT_REQUEST
}

/// What to do about a flag that does not exist, where the parser has nothing true to say.
fn tip(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = flag.split('=').next().unwrap_or_default();
    if let Some((_, instead)) = ELSEWHERE.iter().find(|(flags, _)| flags.contains(&flag)) {
        return Some(instead);
    }
    // No file is called so, whatever the parser thinks.
    let is_guess = error.get(ContextKind::SuggestedArg).is_none();
    (flag.starts_with("--") && is_guess).then_some("see the command's --help for its flags")
}

/// The message and the tips of what the parser prints; the rest says how to use the command.
fn told(text: &str) -> Failure {
    let lines = text.lines().map(str::trim);
    let head = lines.clone().take_while(|line| !line.is_empty());
    let message = head.collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let tips: Vec<&str> = lines.filter_map(|line| line.strip_prefix("tip: ")).collect();
    let help = if tips.is_empty() { "see --help".to_owned() } else { tips.join("; ") };
    Failure { message, because: Vec::new(), help: Some(help) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_prints_is_a_problem() {
        let text = "error: unexpected argument '--x' found\n\n  tip: write y\n\nUsage: incrowd\n";
        let message = "unexpected argument '--x' found".to_owned();
        let help = Some("write y".to_owned());
        assert_eq!(told(text), Failure { message, because: Vec::new(), help });
        let text = "error: the following required arguments were not provided:\n  --output <FILE>\n\nUsage: x\n";
        assert_eq!(
            told(text).message,
            "the following required arguments were not provided: --output <FILE>"
        );
    }
}
