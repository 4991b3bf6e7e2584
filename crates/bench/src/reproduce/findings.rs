//! What an experiment finds, and how it is written down.

use std::fmt::Write as _;
use std::path::Path;

use super::Experiment;
use crate::Failure;

/// What an experiment found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The numbers.
    pub(crate) tables: Vec<Table>,
    /// Pictures: a suffix of the file's name (none for the first), and the SVG.
    pub(crate) plots: Vec<(&'static str, String)>,
    /// What is to be said of them, in Markdown.
    pub(crate) text: String,
    /// What the paper claims, and what was found.
    pub(crate) claims: Vec<Claim>,
}

/// Numbers in rows and columns.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// A suffix of the file's name; none for the first.
    pub(crate) suffix: &'static str,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether the page shows the rows, too.
    pub(crate) is_shown: bool,
}

/// What a paper says of its figure.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// What it says.
    pub(crate) says: String,
    /// What was found.
    pub(crate) found: String,
    /// Whether that agrees.
    pub(crate) holds: bool,
    /// Whether it speaks of time, which no test relies on.
    pub(crate) is_timing: bool,
    /// Why it does not hold, where that is known and not a fault of ours: no test relies on it then.
    pub(crate) because: Option<&'static str>,
}

const UNPROVED: &str = "\
single-dimensional searches were stopped before their optimum was proved, and another recoding of about the same cost \
would do otherwise";

impl Claim {
    /// A claim about numbers that do not depend on the machine.
    pub(crate) fn new(says: impl Into<String>, found: impl Into<String>, holds: bool) -> Claim {
        let (says, found) = (says.into(), found.into());
        Claim { says, found, holds, is_timing: false, because: None }
    }

    /// A claim about times.
    pub(crate) fn timing(says: impl Into<String>, found: impl Into<String>, holds: bool) -> Claim {
        Claim { is_timing: true, ..Claim::new(says, found, holds) }
    }

    /// The same if an optimum on which it rests is not proved: then chance may decide, and no test relies on it.
    pub(crate) fn if_proved(self, is_proved: bool) -> Claim {
        if is_proved { self } else { self.because(UNPROVED) }
    }

    /// Says why the claim does not hold here, if it does not.
    pub(crate) fn because(mut self, reason: &'static str) -> Claim {
        self.because = Some(reason);
        self
    }
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: &[&str]) -> Table {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Table { suffix: "", columns, rows: Vec::new(), is_shown: false }
    }

    /// The same with a suffix for its file.
    pub(crate) fn named(mut self, suffix: &'static str) -> Table {
        self.suffix = suffix;
        self
    }

    /// The same, shown on the page.
    pub(crate) fn shown(mut self) -> Table {
        self.is_shown = true;
        self
    }

    /// Adds a row.
    pub(crate) fn push<S: ToString>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row: Vec<String> = cells.into_iter().map(|cell| cell.to_string()).collect();
        assert_eq!(row.len(), self.columns.len(), "a row has a cell for every column");
        self.rows.push(row);
    }

    fn csv(&self) -> String {
        let quoted = |cell: &String| {
            let is_plain = !cell.contains(['"', ',', '\n']);
            if is_plain { cell.clone() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
        };
        let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.columns).chain(&self.rows).map(line).collect()
    }

    fn markdown(&self) -> String {
        let escaped = |cell: &String| cell.replace('|', "\\|");
        let line = |row: &Vec<String>| {
            format!("| {} |\n", row.iter().map(escaped).collect::<Vec<_>>().join(" | "))
        };
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        line(&self.columns) + &rule + &self.rows.iter().map(line).collect::<String>()
    }
}

impl Findings {
    /// Writes the numbers, the pictures and what is said of them into a folder.
    pub(crate) fn write(
        &self,
        folder: &Path,
        experiment: &Experiment,
        is_quick: bool,
    ) -> Result<(), Failure> {
        let Experiment { name, title, .. } = experiment;
        let file = |suffix: &str, ending: &str| match suffix {
            "" => format!("{name}.{ending}"),
            _ => format!("{name}-{suffix}.{ending}"),
        };
        let effort = if is_quick { " *(quick run)*" } else { "" };
        let mut page = format!("### {title}{effort}\n\n{}\n", self.text.trim());
        for table in self.tables.iter().filter(|table| table.is_shown) {
            write!(page, "\n{}", table.markdown())?;
        }
        for (suffix, svg) in &self.plots {
            let name = file(suffix, "svg");
            std::fs::write(folder.join(&name), svg)?;
            write!(page, "\n![{title}]({}/{name})\n", super::page::FOLDER)?;
        }
        let mut numbers = Vec::new();
        for table in &self.tables {
            let name = file(table.suffix, "csv");
            std::fs::write(folder.join(&name), table.csv())?;
            numbers.push(format!("[`{name}`]({}/{name})", super::page::FOLDER));
        }
        if !numbers.is_empty() {
            write!(page, "\nNumbers: {}\n", numbers.join(", "))?;
        }
        page.push_str(&claims(&self.claims));
        std::fs::write(folder.join(file("", "md")), page)?;
        Ok(())
    }
}

/// The claims as a table.
fn claims(claims: &[Claim]) -> String {
    if claims.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n| the paper | here | |\n|---|---|---|\n");
    for claim in claims {
        let verdict = if claim.holds { "agrees" } else { "**differs**" };
        let because = claim.because.filter(|_| !claim.holds).unwrap_or_default();
        // No test relies on these, so a reader should know which they are.
        let time = if claim.is_timing { " (time)" } else { "" };
        let line = format!("| {} | {} | {verdict}{time} |\n", claim.says, claim.found);
        text.push_str(&line);
        if !because.is_empty() {
            text.push_str(&format!("| | *Why:* {because} | |\n"));
        }
    }
    text
}
