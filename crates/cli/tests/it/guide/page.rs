//! A page of the guide: its blocks, and what they ask a test to do.

use std::ops::Range;
use std::path::PathBuf;

/// A page.
pub(crate) struct Page {
    /// Its path in the repository.
    pub(crate) name: String,
    pub(crate) lines: Vec<String>,
    /// What there is to do, in its order.
    pub(crate) steps: Vec<Step>,
}

/// What a page asks for.
pub(crate) enum Step {
    /// Commands run in a new folder with a copy of this one.
    Folder(String),
    /// A file of the folder.
    File { name: String, text: String },
    /// Commands.
    Script(Script),
    /// Commands that are not run.
    NotRun { why: String },
}

/// Commands that are run one after the other.
pub(crate) struct Script {
    pub(crate) commands: Vec<String>,
    /// The line of the first, from 1.
    pub(crate) line: usize,
    /// How the last one ends.
    pub(crate) exit: i32,
    /// The lines of the page, from 0, that say what they print.
    pub(crate) prints: Option<Range<usize>>,
}

/// A fenced block.
pub(crate) struct Block<'a> {
    pub(crate) language: &'a str,
    /// Its lines without the fences, from 0.
    pub(crate) range: Range<usize>,
    lines: &'a [String],
    /// Comments since the block before it.
    comments: Vec<(&'a str, &'a str)>,
    /// Whether nothing but blank lines stands between it and the block before it.
    is_right_behind: bool,
}

impl Block<'_> {
    pub(crate) fn text(&self) -> String {
        self.lines[self.range.clone()].iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    /// Its first line, from 1.
    pub(crate) fn line(&self) -> usize {
        self.range.start + 1
    }
}

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All pages: the README, and those of the guide's summary.
pub(crate) fn all() -> Vec<String> {
    let summary = text("docs/src/SUMMARY.md");
    let names = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let pages = names.map(|name| format!("docs/src/{name}"));
    std::iter::once("README.md".to_owned()).chain(pages).collect()
}

impl Page {
    pub(crate) fn read(name: &str) -> Page {
        let lines: Vec<String> = text(name).lines().map(str::to_owned).collect();
        let steps = steps(name, &lines);
        Page { name: name.to_owned(), lines, steps }
    }
}

/// The blocks of a page, with the comments before each. A last one without lines has the comments
/// behind all others.
pub(crate) fn blocks(lines: &[String]) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut comments = Vec::new();
    let mut is_right_behind = false;
    let mut open: Option<(&str, usize)> = None;
    for (at, line) in lines.iter().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (open, fence) {
            (None, Some(language)) => open = Some((language.trim(), at + 1)),
            (None, None) => {
                comments.extend(comments_of(line));
                is_right_behind &= line.trim().is_empty();
            }
            (Some((language, start)), Some(_)) => {
                let comments = std::mem::take(&mut comments);
                blocks.push(Block { language, range: start..at, lines, comments, is_right_behind });
                (open, is_right_behind) = (None, true);
            }
            (Some(_), None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    let end = lines.len();
    blocks.push(Block { language: "", range: end..end, lines, comments, is_right_behind: false });
    blocks
}

/// The comments of a line that ask for something: `<!-- key: value -->`.
fn comments_of(line: &str) -> Vec<(&str, &str)> {
    let inner = line.split("<!--").skip(1).filter_map(|rest| rest.split("-->").next());
    let asks = inner.filter_map(|text| text.split_once(':'));
    asks.map(|(key, value)| (key.trim(), value.trim())).collect()
}

fn steps(name: &str, lines: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    let blocks = blocks(lines);
    for (at, block) in blocks.iter().enumerate() {
        let (mut exit, mut why, mut file) = (0, None, None);
        for &(key, value) in &block.comments {
            match key {
                "folder" => steps.push(Step::Folder(value.to_owned())),
                "run" => steps.push(Step::Script(hidden(value, block.line()))),
                "exit" => exit = value.parse().expect("an exit code"),
                "not run" => why = Some(value.to_owned()),
                "file" => file = Some(value.to_owned()),
                _ => panic!("{name}:{}: no test knows the comment `{key}`", block.line()),
            }
        }
        if let Some(file) = file {
            steps.push(Step::File { name: file, text: block.text() });
        }
        match (block.language, why) {
            ("sh" | "console", Some(why)) => {
                assert!(!why.is_empty(), "{name}:{}: not run, and no reason", block.line());
                steps.push(Step::NotRun { why });
            }
            ("sh", None) => {
                let next = blocks.get(at + 1).filter(|next| next.language == "text");
                let prints =
                    next.filter(|next| next.is_right_behind).map(|next| next.range.clone());
                let commands = commands(&lines[block.range.clone()]);
                steps.push(Step::Script(Script { commands, line: block.line(), exit, prints }));
            }
            ("console", None) => steps.extend(console(lines, block.range.clone(), exit)),
            _ => assert!(exit == 0, "{name}:{}: an exit code of no command", block.line()),
        }
    }
    steps
}

fn hidden(command: &str, line: usize) -> Script {
    Script { commands: vec![command.to_owned()], line, exit: 0, prints: None }
}

/// Lines that end in a backslash are one command with the next; comments and blank lines are none.
fn commands(lines: &[String]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines {
        if is_open {
            let command = commands.last_mut().expect("an open command");
            *command += &format!("\n{line}");
        } else if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            commands.push(line.clone());
        }
        is_open = line.ends_with('\\');
    }
    commands
}

/// Commands behind `$ `, each with what it prints.
fn console(lines: &[String], range: Range<usize>, exit: i32) -> Vec<Step> {
    let starts: Vec<usize> = range.clone().filter(|&at| lines[at].starts_with("$ ")).collect();
    let mut scripts = Vec::new();
    for (nth, &start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(range.end);
        let is_last = nth + 1 == starts.len();
        let mut behind = start + 1;
        while lines[behind - 1].ends_with('\\') {
            behind += 1;
        }
        let command = lines[start..behind].join("\n")[2..].to_owned();
        let exit = if is_last { exit } else { 0 };
        let prints = Some(behind..end);
        scripts.push(Step::Script(Script {
            commands: vec![command],
            line: start + 1,
            exit,
            prints,
        }));
    }
    scripts
}
