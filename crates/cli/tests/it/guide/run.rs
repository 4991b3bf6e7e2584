//! Runs the commands of a page, and compares what they print with what it says.

use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

use super::page::{Page, Script, Step, root};
use crate::harness::Folder;

/// Does all that a page asks for.
pub(crate) fn page(page: &Page) {
    let mut folder = Folder::with(&[]);
    let (mut printed, mut n_run, mut n_left) = (Vec::new(), 0, 0);
    for step in &page.steps {
        match step {
            Step::Folder(from) => folder = copy_of(from),
            Step::File { name, text } => std::fs::write(folder.path(name), text).unwrap(),
            Step::NotRun { .. } => n_left += 1,
            Step::Script(script) => {
                n_run += script.commands.len();
                let text = run(&folder, script, &page.name);
                printed.extend(script.prints.clone().map(|lines| (lines, text, script)));
            }
        }
    }
    eprintln!("{}: {n_run} commands were run, {n_left} blocks were not", page.name);
    compare(page, &printed);
}

/// Commands run here: a copy of a folder of the repository.
fn copy_of(name: &str) -> Folder {
    let folder = Folder::with(&[]);
    if name != "empty" {
        copy(&root().join(name), &folder.path(""));
    }
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Runs commands, all of which must end as they should; what they print.
fn run(folder: &Folder, script: &Script, page: &str) -> String {
    let binaries = Path::new(env!("CARGO_BIN_EXE_incrowd")).parent().unwrap();
    let others = std::env::var("PATH").unwrap_or_default();
    let mut printed = String::new();
    for (at, command) in script.commands.iter().enumerate() {
        let output = Command::new("/bin/sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(folder.path(""))
            .env("PATH", format!("{}:{others}", binaries.display()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let exit = if at + 1 == script.commands.len() { script.exit } else { 0 };
        let code = output.status.code();
        assert_eq!(code, Some(exit), "{page}:{}: {command}\n{text}", script.line);
        printed += &text;
    }
    printed
}

/// Compares what was printed with the page; with `UPDATE=1` the page is rewritten.
fn compare(page: &Page, printed: &[(Range<usize>, String, &Script)]) {
    let differs = |(range, text, _): &&(Range<usize>, String, &Script)| {
        !agrees(&comparable(&page.lines[range.clone()].join("\n")), &comparable(text))
    };
    let differing: Vec<_> = printed.iter().filter(differs).collect();
    if std::env::var_os("UPDATE").is_some() && !differing.is_empty() {
        let mut lines = page.lines.clone();
        for (range, text, _) in differing.into_iter().rev() {
            lines.splice(range.clone(), text.lines().map(str::to_owned));
        }
        std::fs::write(root().join(&page.name), lines.join("\n") + "\n").unwrap();
        return;
    }
    let told: Vec<String> = differing
        .iter()
        .map(|(range, text, script)| {
            let says = page.lines[range.clone()].join("\n");
            let commands = script.commands.join("\n");
            format!(
                "{}:{}: {commands}\n--- the page says\n{says}\n--- it prints\n{text}",
                page.name, script.line
            )
        })
        .collect();
    assert!(told.is_empty(), "UPDATE=1 rewrites the page\n{}", told.join("\n"));
}

/// Whether a text says what was printed; a line `...` stands for any lines.
fn agrees(says: &str, printed: &str) -> bool {
    let mut rest: Vec<&str> = printed.lines().collect();
    let says: Vec<&str> = says.lines().collect();
    let parts: Vec<&[&str]> = says.split(|line| *line == "...").collect();
    let (Some((first, others)), n_parts) = (parts.split_first(), parts.len()) else { return false };
    if n_parts == 1 || !rest.starts_with(first) {
        return rest == *first;
    }
    rest.drain(..first.len());
    for (at, part) in others.iter().enumerate() {
        let is_last = at + 2 == n_parts;
        let places = 0..(rest.len() + 1).saturating_sub(part.len());
        let fits = |&place: &usize| rest[place..].starts_with(part);
        let found = if is_last { places.clone().next_back() } else { places.clone().find(fits) };
        let Some(place) = found.filter(fits) else { return false };
        rest.drain(..place + part.len());
    }
    true
}

/// Units of what differs from run to run.
const UNITS: [&str; 6] = ["s", "ms", "seconds", "KB", "MB", "GB"];

/// What is compared: without blanks at the end of lines, and without times and memory, which differ
/// from run to run. These are numbers before a unit (`0.25 s`, `12 MB`), numbers of JSON under a
/// key that ends in `_s` or `_bytes`, and the column `seconds` of a table.
fn comparable(text: &str) -> String {
    let mut column: Option<usize> = None;
    let mut lines = Vec::new();
    for line in text.trim_end().lines() {
        if line.trim().is_empty() {
            column = None;
        }
        let line = match column {
            Some(start) => without(line, start..start + "seconds ".len()),
            None => line.to_owned(),
        };
        if line.split_whitespace().any(|word| word == "seconds") && column.is_none() {
            column = line.find("seconds");
        }
        lines.push(without_units(&without_keys(&line)));
    }
    lines.join("\n")
}

/// A line with nothing at these places.
fn without(line: &str, range: Range<usize>) -> String {
    let chars = line.chars().enumerate();
    chars.map(|(at, char)| if range.contains(&at) { ' ' } else { char }).collect()
}

/// A line of JSON with no number under a key of seconds or bytes.
fn without_keys(line: &str) -> String {
    for key in ["_s\": ", "_bytes\": "] {
        if let Some((before, _)) = line.split_once(key) {
            return format!("{before}{key}");
        }
    }
    line.to_owned()
}

/// A line with `N` for numbers before a unit; blanks count once.
fn without_units(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let indent = line.len() - line.trim_start().len();
    let is_number = |word: &str| word.starts_with(|char: char| char.is_ascii_digit());
    let is_unit = |word: &&str| {
        UNITS.contains(&word.trim_end_matches(|char: char| !char.is_ascii_alphabetic()))
    };
    let shown: Vec<&str> = (words.iter().enumerate())
        .map(|(at, &word)| {
            let is_measured = is_number(word) && words.get(at + 1).is_some_and(is_unit);
            if is_measured { "N" } else { word }
        })
        .collect();
    if shown == words {
        return line.trim_end().to_owned();
    }
    " ".repeat(indent) + &shown.join(" ")
}

#[test]
fn times_and_memory_are_not_compared() {
    let same = |a: &str, b: &str| assert_eq!(comparable(a), comparable(b));
    same("took 0.25 s, in all", "took 12.5 s, in all");
    same("  \"elapsed_s\": 0.25,", "  \"elapsed_s\": 1.5,");
    same("k  seconds  loss\n2     0.02*  0.1\n", "k  seconds  loss\n2     1.12   0.1");
    assert_ne!(comparable("loss 0.25"), comparable("loss 0.26"));
    assert_ne!(comparable("6 rows"), comparable("7 rows"));
    assert_ne!(comparable("a   b"), comparable("a  b"));
}

#[test]
fn dots_stand_for_any_lines() {
    let check =
        |says: &str, printed: &str, is: bool| assert_eq!(agrees(says, printed), is, "{says:?}");
    check("a\nb", "a\nb", true);
    check("a", "a\nb", false);
    check("a\n...", "a\nb\nc", true);
    check("a\n...\nc", "a\nb\nb\nc", true);
    check("a\n...\nc", "a\nb\nb\nd", false);
    check("a\n...\nb\n...\nd", "a\nx\nb\nc\nd", true);
    check("a\n...\nx\n...\nd", "a\nb\nc\nd", false);
}
