//! The releases of six patients that the report prints.

use std::collections::BTreeSet;

use incrowd_chart::{Tile, Tiles};

use super::pictures::edges;
use crate::Failure;
use crate::reproduce::lab::bundled;
use crate::reproduce::{Cases, Claim, Findings, Judged, Lab, Numbers, Row, Table};

/// A release that is printed, and the job that makes it.
struct Printed {
    figure: &'static str,
    /// What the job says after its input, output and columns.
    job: &'static str,
    /// The quasi-identifier columns; the others are released as they are.
    quasi: &'static [&'static str],
    /// The printed rows, in any order.
    rows: [&'static str; 6],
    says: &'static str,
    place: &'static str,
    because: Option<&'static str>,
}

const PRINTED: [Printed; 4] = [
    Printed {
        figure: "2",
        job: "[privacy]\nk = 2\n[search]\nalgorithm = \"koptimize\"\nmeasure = \"loss\"\n",
        quasi: &["age", "sex", "zipcode"],
        rows: [
            "[25-28],Male,[53710-53711],Flu",
            "[25-28],Female,53712,Hepatitis",
            "[25-28],Male,[53710-53711],Bronchitis",
            "[25-28],Male,[53710-53711],Broken Arm",
            "[25-28],Female,53712,AIDS",
            "[25-28],Male,[53710-53711],Hang Nail",
        ],
        says: "A single-dimensional 2-anonymization (made by `koptimize`, least loss)",
        place: "Figure 2",
        because: None,
    },
    Printed {
        figure: "3",
        job: "[privacy]\nk = 2\n",
        quasi: &["age", "sex", "zipcode"],
        rows: [
            "[25-26],Male,53711,Flu",
            "[25-27],Female,53712,Hepatitis",
            "[25-26],Male,53711,Bronchitis",
            "[27-28],Male,[53710-53711],Broken Arm",
            "[25-27],Female,53712,AIDS",
            "[27-28],Male,[53710-53711],Hang Nail",
        ],
        says: "A multidimensional 2-anonymization (made by `mondrian`)",
        place: "Figure 3",
        because: None,
    },
    Printed {
        figure: RELAXED,
        job: "[privacy]\nk = 3\n[search]\nrelaxed = true\n",
        quasi: &["zipcode"],
        rows: [
            "25,Male,[53710-53711],Flu",
            "25,Female,[53710-53711],Hepatitis",
            "26,Male,[53711-53712],Bronchitis",
            "27,Male,[53710-53711],Broken Arm",
            "27,Female,[53711-53712],AIDS",
            "28,Male,[53711-53712],Hang Nail",
        ],
        says: "A relaxed 3-anonymization by zip code alone (made by `mondrian`, relaxed)",
        place: "Figure 6",
        because: Some(
            "the printed table cannot be a release of Patients: its second row, 25 and female, lives in 53712 \
             (Figure 1), which [53710-53711] does not contain. The two ranges with three rows each are the same.",
        ),
    },
    Printed {
        figure: "8",
        job: "[privacy]\nk = 2\n[release]\nlabels = \"range+mean\"\n",
        quasi: &["age", "sex", "zipcode"],
        rows: [
            "[25-26],25.5,Male,53711,Flu",
            "[25-27],26,Female,53712,Hepatitis",
            "[25-26],25.5,Male,53711,Bronchitis",
            "[27-28],27.5,Male,[53710-53711],Broken Arm",
            "[25-27],26,Female,53712,AIDS",
            "[27-28],27.5,Male,[53710-53711],Hang Nail",
        ],
        says: "A 2-anonymization with range and mean of the age",
        place: "Figure 8",
        because: None,
    },
];

/// The figure with the relaxed release.
const RELAXED: &str = "6";
/// The strict release of the same rows, which is not printed.
const STRICT: &str = "6, strict";

/// Makes the printed releases.
pub(crate) fn releases(lab: &Lab) -> Result<Findings, Failure> {
    std::fs::copy(bundled("patients").join("patients.csv"), lab.path("patients.csv"))?;
    let mut table = Table::new(&["figure", "printed", "released"]);
    for printed in &PRINTED {
        lab.anonymize(&job(printed))?;
        let text = lab.read("release.csv")?;
        let mut released: Vec<&str> = text.lines().skip(1).collect();
        let mut expected = printed.rows.to_vec();
        released.sort_unstable_by_key(|row| disease(row));
        expected.sort_unstable_by_key(|row| disease(row));
        for (expected, released) in expected.iter().zip(&released) {
            table.push([printed.figure, expected, released]);
        }
        if printed.figure == RELAXED {
            // The same without relaxing, which the report describes and does not print.
            lab.anonymize(&job(&Printed { job: "[privacy]\nk = 3\n", ..*printed }))?;
            let text = lab.read("release.csv")?;
            let mut released: Vec<&str> = text.lines().skip(1).collect();
            released.sort_unstable_by_key(|row| disease(row));
            for row in &released {
                table.push([STRICT, "", row]);
            }
        }
    }
    let plots = vec![
        ("single", picture(lab, "single-dimensional", "koptimize\"\nmeasure = \"loss")?),
        ("multi", picture(lab, "strict multidimensional", "mondrian")?),
    ];
    Ok(Findings { tables: vec![table], plots })
}

const TEXT: &str = "\
The report's releases of its six patients, made by the product and compared row by row (spaces in ranges and one \
misspelt disease aside). Zip codes are text with an order here, as in the report, which gives no mean of them. The \
single-dimensional release of Figure 2 is the one of least loss; for discernibility two classes of three patients by \
age would be better (18 against 20). The report does not claim that it is the best. *6, strict* is the release of \
Figure 6 without relaxing, which the report describes and does not print. The pictures show patients and releases by \
zip code and age alone, as in the report's Figure 4.";

/// Compares row by row.
pub(crate) fn judge(numbers: &Numbers) -> Judged {
    let table = numbers.main();
    let mut claims = Vec::new();
    for printed in &PRINTED {
        let cells = [("figure", printed.figure)];
        let is_equal = |row: Row| {
            (row.text("printed").to_owned(), row.text("printed") == row.text("released"))
        };
        let cases = Cases::of(table.rows_with(&cells).map(is_equal));
        let found = format!("{} of {} rows equal", cases.n_true(), cases.len());
        let claim = Claim::new(printed.place, printed.says, found, &cases);
        claims.push(match printed.because {
            Some(reason) => claim.because(reason),
            None => claim,
        });
        if printed.figure == RELAXED {
            claims.push(ranges_of_zipcodes(table));
        }
    }
    Judged { text: TEXT.to_owned(), shown: vec![table.clone()], claims, ..Judged::default() }
}

/// The patients in the plane of zip code and age, and the tiles of a 2-anonymous release on these
/// two.
fn picture(lab: &Lab, model: &str, algorithm: &str) -> Result<String, Failure> {
    const AGES: (f64, f64) = (25.0, 28.0);
    const ZIPCODES: (f64, f64) = (53710.0, 53712.0);
    lab.anonymize(&format!(
        "input = \"patients.csv\"\noutput = \"release.csv\"\nundeclared = \"drop\"\n[columns]\n\
         age = {{ role = \"quasi\" }}\nzipcode = {{ role = \"quasi\" }}\n[privacy]\nk = 2\n\
         [search]\nalgorithm = \"{algorithm}\"\n[release]\nlabels = \"region\"\n"
    ))?;
    let rows: BTreeSet<String> =
        lab.read("release.csv")?.lines().skip(1).map(str::to_owned).collect();
    let tile = |row: &String| {
        let (age, zipcode) = row.split_once(',').ok_or("a row of two cells")?;
        Ok(Tile { x: edges(zipcode, ZIPCODES)?, y: edges(age, AGES)? })
    };
    let tiles = rows.iter().map(tile).collect::<Result<Vec<Tile>, Failure>>()?;
    let text = lab.read("patients.csv")?;
    let point = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Ok((cells[2].parse()?, cells[0].parse()?, 1))
    };
    let points = text.lines().skip(1).map(point).collect::<Result<Vec<_>, Failure>>()?;
    let picture = Tiles {
        title: format!("Patients, {model}, k = 2"),
        x: ("zip code".to_owned(), ZIPCODES.0 - 0.5..ZIPCODES.1 + 0.5),
        y: ("age".to_owned(), AGES.0 - 0.5..AGES.1 + 0.5),
        tiles,
        points,
    };
    Ok(picture.svg())
}

fn job(printed: &Printed) -> String {
    let mut job = String::from("input = \"patients.csv\"\noutput = \"release.csv\"\n[columns]\n");
    for column in ["age", "sex", "zipcode"] {
        let role = if printed.quasi.contains(&column) { "quasi" } else { "insensitive" };
        let order = match column {
            "zipcode" if role == "quasi" => {
                ", type = \"text\", order = [\"53710\", \"53711\", \"53712\"]"
            }
            _ => "",
        };
        job.push_str(&format!("{column} = {{ role = \"{role}\"{order} }}\n"));
    }
    job + "disease = { role = \"sensitive\" }\n" + printed.job
}

/// The disease tells the patients apart.
fn disease(row: &str) -> String {
    row.rsplit(',').next().unwrap_or_default().to_owned()
}

/// Figure 6 but for its misprint: three rows in either range, and all in one range without
/// relaxing.
fn ranges_of_zipcodes(table: &Table) -> Claim {
    let of = |figure: &str, range: &str| {
        let cells = [("figure", figure)];
        table.rows_with(&cells).filter(|row| row.text("released").contains(range)).count()
    };
    let (low, high) = (of(RELAXED, "[53710-53711]"), of(RELAXED, "[53711-53712]"));
    let all = of(STRICT, "[53710-53712]");
    let cases = Cases::of([("relaxed", low == 3 && high == 3), ("strict", all == 6)]);
    Claim::new(
        "section 3, Figure 6",
        "Relaxed partitioning can give two overlapping ranges; a strict one has to recode all six to [53710-53712]",
        format!(
            "{}; relaxed: {low} rows in [53710-53711], {high} in [53711-53712]; strict: {all} rows in [53710-53712]",
            cases.found()
        ),
        &cases,
    )
}
