//! `pictures`: how each algorithm divides the same small table, for the user guide.
//!
//! The table is drawn from a fixed seed, every search is one that a budget of time cannot end
//! early, and so the pictures have the same bytes on every machine. A test compares them with those
//! of `docs/src/pictures`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use incrowd_chart::{Tile, Tiles};

use crate::Failure;
use crate::census::Random;
use crate::reproduce::{Lab, edges};

/// A picture: one release, seen on two columns.
#[derive(Debug, Clone, Copy)]
struct Picture {
    /// The name of its file.
    name: &'static str,
    /// What its title begins with.
    title: &'static str,
    /// The columns of the job.
    columns: &'static str,
    /// What stands behind `k` in the job file.
    job: &'static str,
    /// The columns across and up.
    shown: [&'static str; 2],
    /// Whose points are shown.
    points: Points,
}

/// Whose points a picture shows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Points {
    /// Everyone's.
    All,
    /// Those of people who own their home, which is what the release shall predict.
    Owners,
}

const PLAIN: &str = "age = { role = \"quasi\" }\nincome = { role = \"quasi\" }\n";

const TARGET: &str = "age = { role = \"quasi\" }\nincome = { role = \"quasi\" }\n\
    owner = { role = \"insensitive\", target = true }\n";

/// Bands of 5, 10, 20 and 60 years; of 10, 30 and 60 thousand.
const LEVELS: &str = "age = { role = \"quasi\", hierarchy = { width = 5, origin = 20, levels = [2, 2, 3] } }\n\
     income = { role = \"quasi\", hierarchy = { width = 10, origin = 10, levels = [3, 2] } }\n";

/// Two attackers, who both know the age.
const SETS: &str = "age = { role = \"quasi\" }\nincome = { role = \"quasi\" }\nhours = { role = \"quasi\" }\n\
     [[quasi]]\nname = \"bank\"\ncolumns = [\"age\", \"income\"]\n\
     [[quasi]]\nname = \"employer\"\ncolumns = [\"age\", \"hours\"]\n";

const AGE_INCOME: [&str; 2] = ["age", "income"];

const AGE_HOURS: [&str; 2] = ["age", "hours"];

/// The range of each column, half a value beyond its least and greatest.
const RANGES: [(&str, Range<f64>); 3] =
    [("age", 19.5..79.5), ("income", 9.5..69.5), ("hours", 9.5..59.5)];

const PICTURES: [Picture; 13] = [
    picture("mondrian", "mondrian", PLAIN, ""),
    picture("mondrian-relaxed", "mondrian, relaxed", PLAIN, "[search]\nvariant = \"relaxed\"\n"),
    Picture {
        points: Points::Owners,
        ..picture(
            "mondrian-infogain",
            "mondrian, split infogain",
            TARGET,
            "[search]\nsplit = \"infogain\"\n",
        )
    },
    picture("optimal", "optimal", LEVELS, "suppress = \"5%\"\n[search]\nalgorithm = \"optimal\"\n"),
    picture("datafly", "datafly", LEVELS, "suppress = \"5%\"\n[search]\nalgorithm = \"datafly\"\n"),
    picture("koptimize", "koptimize", PLAIN, "[search]\nalgorithm = \"koptimize\"\n"),
    picture("hill-climb", "hill-climb", PLAIN, "[search]\nalgorithm = \"hill-climb\"\n"),
    picture(
        "single-dimensional",
        "single-dimensional",
        PLAIN,
        "[search]\nalgorithm = \"single-dimensional\"\n",
    ),
    Picture {
        points: Points::Owners,
        ..picture("tds", "tds", TARGET, "[search]\nalgorithm = \"tds\"\n")
    },
    picture(
        "butterfly-income",
        "butterfly, the bank's wing",
        SETS,
        "[search]\nalgorithm = \"butterfly\"\n",
    ),
    Picture {
        shown: AGE_HOURS,
        ..picture(
            "butterfly-hours",
            "butterfly, the employer's wing",
            SETS,
            "[search]\nalgorithm = \"butterfly\"\n",
        )
    },
    picture("union-income", "union, what the bank sees", SETS, "[search]\nalgorithm = \"union\"\n"),
    Picture {
        shown: AGE_HOURS,
        ..picture(
            "union-hours",
            "union, what the employer sees",
            SETS,
            "[search]\nalgorithm = \"union\"\n",
        )
    },
];

/// A picture of ages and incomes with everyone's points.
const fn picture(
    name: &'static str,
    title: &'static str,
    columns: &'static str,
    job: &'static str,
) -> Picture {
    Picture { name, title, columns, job, shown: AGE_INCOME, points: Points::All }
}

/// Writes all pictures into a folder.
pub(crate) fn write(out: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(out)?;
    for (file, svg) in drawn()? {
        std::fs::write(out.join(&file), &svg)?;
        println!("{file}: {} bytes", svg.len());
    }
    Ok(())
}

/// All pictures, by the names of their files.
fn drawn() -> Result<Vec<(String, String)>, Failure> {
    let lab = Lab::new(false, 0)?;
    let table = people();
    lab.write("people.csv", &table)?;
    let draw = |one: &Picture| {
        let svg = draw(&lab, one, &table).map_err(|error| format!("{}: {error}", one.name))?;
        Ok((format!("{}.svg", one.name), svg))
    };
    PICTURES.iter().map(draw).collect()
}

/// Two hundred people: incomes rise up to the age of 50 and fall again, hours fall from 65 on, and
/// whoever is 45 or older and has 35 thousand or more owns a home.
fn people() -> String {
    let mut random = Random::new(9);
    let mut text = String::from("age,income,hours,owner\n");
    for _ in 0..200 {
        let age = 20 + random.below(60).min(random.below(75));
        let income = 10 + 30_u64.saturating_sub(age.abs_diff(50)) + random.skewed(30);
        let full = random.below(25) + random.below(26);
        let hours = 10 + if age < 65 { full } else { full / 2 };
        let owner = if age >= 45 && income >= 35 { "yes" } else { "no" };
        text.push_str(&format!("{age},{income},{hours},{owner}\n"));
    }
    text
}

/// Releases the table and draws the classes as tiles.
fn draw(lab: &Lab, one: &Picture, table: &str) -> Result<String, Failure> {
    let report = lab.anonymize(&format!(
        "input = \"people.csv\"\noutput = \"release.csv\"\nundeclared = \"drop\"\n[columns]\n{}[privacy]\nk = 10\n{}",
        one.columns, one.job
    ))?;
    let tiles = tiles(&lab.read("release.csv")?, one.shown)?;
    let loss = report.measures.loss.unwrap_or_default();
    let axis = |at: usize| {
        let name = one.shown[at];
        let label = if name == "income" { "income in thousands" } else { name };
        (label.to_owned(), range(name))
    };
    let picture = Tiles {
        title: format!("{}: {} classes, loss {loss:.3}", one.title, tiles.len()),
        x: axis(0),
        y: axis(1),
        tiles,
        points: points(table, one.shown, one.points)?,
    };
    Ok(picture.svg())
}

fn range(column: &str) -> Range<f64> {
    let found = RANGES.iter().find(|(name, _)| *name == column);
    found.map_or(0.0..1.0, |(_, range)| range.clone())
}

/// The cells of two columns, row by row.
fn cells<'a>(text: &'a str, columns: [&str; 2]) -> Result<Vec<[&'a str; 2]>, Failure> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().ok_or("a header")?.split(',').collect();
    let place = |name: &str| header.iter().position(|&column| column == name).ok_or("a column");
    let (x, y) = (place(columns[0])?, place(columns[1])?);
    let row = |line: &'a str| {
        let cells: Vec<&str> = line.split(',').collect();
        [cells[x], cells[y]]
    };
    Ok(lines.map(row).collect())
}

/// The distinct classes on two columns.
fn tiles(release: &str, columns: [&str; 2]) -> Result<Vec<Tile>, Failure> {
    let distinct: BTreeSet<[&str; 2]> = cells(release, columns)?.into_iter().collect();
    let whole = |column: &str| {
        let range = range(column);
        (range.start + 0.5, range.end - 0.5)
    };
    let tile = |[x, y]: &[&str; 2]| {
        Ok(Tile { x: edges(x, whole(columns[0]))?, y: edges(y, whole(columns[1]))? })
    };
    distinct.iter().map(tile).collect()
}

/// The distinct points with how many people lie on each.
fn points(table: &str, columns: [&str; 2], of: Points) -> Result<Vec<(f64, f64, u64)>, Failure> {
    let owners = cells(table, ["owner", columns[0]])?;
    let mut counts: BTreeMap<[&str; 2], u64> = BTreeMap::new();
    for (cells, owner) in cells(table, columns)?.into_iter().zip(owners) {
        if of == Points::All || owner[0] == "yes" {
            *counts.entry(cells).or_default() += 1;
        }
    }
    let point = |([x, y], rows): ([&str; 2], u64)| Ok((x.parse()?, y.parse()?, rows));
    counts.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_pictures_that_are_drawn() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/pictures");
        for (file, svg) in drawn().expect("pictures") {
            let kept = std::fs::read_to_string(folder.join(&file)).expect("a picture of the guide");
            let again = "run `incrowd-bench pictures --out docs/src/pictures`";
            assert!(kept == svg, "{file} differs: {again}");
        }
    }
}
