//! What an experiment measures, what is judged of it, and how both are written down.

use std::fmt::Write as _;
use std::path::Path;

use super::verdict::Claim;
use super::{Experiment, PAPERS, Table, page};
use crate::Failure;

/// What an experiment measures.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// The numbers, by the suffixes that the experiment names.
    pub(crate) tables: Vec<Table>,
    /// Pictures: a suffix of the file's name (none for the first), and the SVG.
    pub(crate) plots: Vec<(&'static str, String)>,
}

/// What follows from the numbers of an experiment, and from nothing else.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    /// What is to be said of them, in Markdown.
    pub(crate) text: String,
    /// What the page shows of the numbers.
    pub(crate) shown: Vec<Table>,
    /// What the paper says, and what was found.
    pub(crate) claims: Vec<Claim>,
    /// Pictures that are drawn from the tables, if those of the experiment are.
    pub(crate) plots: Vec<(&'static str, String)>,
}

/// The numbers of an experiment, from a run or from its files.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Whether they are those of a quick run.
    pub(crate) is_quick: bool,
    /// The tables.
    pub(crate) tables: Vec<Table>,
    /// The tables of the paper's other experiments by their names; none before all are judged
    /// together.
    siblings: Vec<(&'static str, Vec<Table>)>,
}

impl Numbers {
    /// The numbers of one experiment.
    pub(crate) fn new(is_quick: bool, tables: Vec<Table>) -> Numbers {
        Numbers { is_quick, tables, siblings: Vec::new() }
    }

    /// One of two sizes.
    pub(crate) fn size<T>(&self, quick: T, full: T) -> T {
        if self.is_quick { quick } else { full }
    }

    /// The table of a suffix; none for the first.
    pub(crate) fn table(&self, suffix: &str) -> &Table {
        with_suffix(&self.tables, suffix).unwrap_or_else(|| panic!("no table `{suffix}`"))
    }

    /// A table of another experiment of the same paper, if it has been run.
    pub(crate) fn sibling(&self, name: &str, suffix: &str) -> Option<&Table> {
        let (_, tables) = self.siblings.iter().find(|(other, _)| *other == name)?;
        with_suffix(tables, suffix)
    }

    /// The first table.
    pub(crate) fn main(&self) -> &Table {
        self.table("")
    }

    /// The numbers in the files of an experiment and of the paper's others, quick or full as these
    /// are; none if there are none of its own.
    pub(crate) fn read(folder: &Path, experiment: &Experiment) -> Result<Option<Numbers>, Failure> {
        let Some(mut numbers) = Numbers::alone(folder, experiment)? else { return Ok(None) };
        let is_this = |one: &Experiment| one.name == experiment.name;
        let paper = PAPERS.iter().find(|paper| paper.experiments.iter().any(is_this));
        for other in paper.iter().flat_map(|paper| paper.experiments) {
            let read = if is_this(other) { None } else { Numbers::alone(folder, other)? };
            if let Some(Numbers { tables, .. }) =
                read.filter(|one| one.is_quick == numbers.is_quick)
            {
                numbers.siblings.push((other.name, tables));
            }
        }
        Ok(Some(numbers))
    }

    /// The numbers in the files of an experiment alone.
    fn alone(folder: &Path, experiment: &Experiment) -> Result<Option<Numbers>, Failure> {
        let Ok(page) = std::fs::read_to_string(folder.join(format!("{}.md", experiment.name)))
        else {
            return Ok(None);
        };
        let is_quick = page.lines().next().is_some_and(|title| title.ends_with(QUICK));
        let mut tables = Vec::new();
        for suffix in experiment.tables {
            let name = experiment.file(suffix, "csv");
            let text = std::fs::read_to_string(folder.join(&name))
                .map_err(|error| format!("{name}: {error}"))?;
            tables.push(Table::parse(&text, suffix).map_err(|error| format!("{name}: {error}"))?);
        }
        Ok(Some(Numbers::new(is_quick, tables)))
    }
}

fn with_suffix<'a>(tables: &'a [Table], suffix: &str) -> Option<&'a Table> {
    tables.iter().find(|table| table.suffix == suffix)
}

/// What the title of a quick run ends with.
const QUICK: &str = "*(quick run)*";

impl Findings {
    /// Writes the numbers and the pictures into a folder.
    pub(crate) fn write(&self, folder: &Path, experiment: &Experiment) -> Result<(), Failure> {
        let tables: Vec<&str> = self.tables.iter().map(|table| table.suffix.as_str()).collect();
        assert_eq!(tables, experiment.tables, "the tables of {}", experiment.name);
        for table in &self.tables {
            std::fs::write(folder.join(experiment.file(&table.suffix, "csv")), table.csv())?;
        }
        experiment.draw(folder, &self.plots)
    }
}

impl Experiment {
    /// Writes pictures into a folder.
    pub(crate) fn draw(
        &self,
        folder: &Path,
        plots: &[(&'static str, String)],
    ) -> Result<(), Failure> {
        for (suffix, svg) in plots {
            assert!(self.plots.contains(suffix), "{} has no picture `{suffix}`", self.name);
            std::fs::write(folder.join(self.file(suffix, "svg")), svg)?;
        }
        Ok(())
    }

    /// The name of a file.
    pub(crate) fn file(&self, suffix: &str, ending: &str) -> String {
        match suffix {
            "" => format!("{}.{ending}", self.name),
            _ => format!("{}-{suffix}.{ending}", self.name),
        }
    }

    /// Its part of the page.
    pub(crate) fn page(&self, judged: &Judged, is_quick: bool) -> Result<String, Failure> {
        let title = self.title;
        let effort = if is_quick { format!(" {QUICK}") } else { String::new() };
        let mut page = format!("### {title}{effort}\n\n{}\n", judged.text.trim());
        for table in &judged.shown {
            write!(page, "\n{}", table.markdown())?;
        }
        for suffix in self.plots {
            write!(page, "\n![{title}]({}/{})\n", page::FOLDER, self.file(suffix, "svg"))?;
        }
        let link = |suffix: &&str| {
            let name = self.file(suffix, "csv");
            format!("[`{name}`]({}/{name})", page::FOLDER)
        };
        let numbers: Vec<String> = self.tables.iter().map(link).collect();
        write!(page, "\nNumbers: {}\n", numbers.join(", "))?;
        page.push_str("\n| the paper | where | here | |\n|---|---|---|---|\n");
        judged.claims.iter().for_each(|claim| page.push_str(&claim.markdown()));
        Ok(page)
    }
}
