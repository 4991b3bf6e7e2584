//! Tables I to IV of the paper.

use incrowd_chart::{Axis, Bars};
use incrowd_job::{AttackOptions, JobSpec, Outcome, Run, anonymize, attack, check};

use crate::Failure;
use crate::reproduce::lab::bundled;
use crate::reproduce::{Cases, Claim, Findings, Judged, Lab, Numbers, Table};

/// Tables II and III: the job that makes each, and its printed rows.
const PRINTED: [(&str, &str, [&str; 4]); 2] = [
    (
        "II",
        "insurer",
        [
            "Dentist,30,Truck,31043,No",
            "Family doctor,30,Sedan,31043,Yes",
            "Banker,30,Sedan,31043,No",
            "Mortgage broker,30,Truck,31043,No",
        ],
    ),
    (
        "III",
        "hr",
        [
            "Medical,30,Red Truck,31043,No",
            "Medical,30,White Sedan,31043,Yes",
            "Finance,30,Green Sedan,31043,No",
            "Finance,30,Black Truck,31043,No",
        ],
    ),
];

/// Table IV: all combinations of three attributes of two values.
const COMBINATIONS: &str = "A,B,C\n\
    a1,b1,c1\na1,b1,c2\na1,b2,c1\na1,b2,c2\na2,b1,c1\na2,b1,c2\na2,b2,c1\na2,b2,c2\n";

/// Makes the printed releases, puts them together, and checks the table of Theorem 1.
pub(crate) fn tables(lab: &Lab) -> Result<Findings, Failure> {
    copy_accidents(lab)?;
    let mut table = Table::new(&["table", "printed", "released"]);
    let mut measured = Table::new(&["what", "number"]);
    for (name, job, printed) in PRINTED {
        release(lab, job)?;
        let text = lab.read(&format!("release-{job}.csv"))?;
        let mut released: Vec<&str> = text.lines().skip(1).collect();
        let mut printed = printed.to_vec();
        released.sort_unstable();
        printed.sort_unstable();
        for (printed, released) in printed.iter().zip(&released) {
            table.push([name, printed, released]);
        }
    }
    measured.push([LINKED.to_owned(), linked(lab)?.to_string()]);
    let report = release(lab, "job")?;
    for row in lab.read("release.csv")?.lines().skip(1) {
        table.push(["one for both", "", row]);
    }
    for set in &report.privacy {
        measured.push([format!("{OF_READER}{}", set.quasi), set.k.to_string()]);
    }
    lab.write("combinations.csv", COMBINATIONS)?;
    for set in SETS {
        measured
            .push([format!("{OF_TABLE}{set}"), k_of(lab, "combinations.csv", set)?.to_string()]);
    }
    let plots = vec![("", crowds(lab)?)];
    Ok(Findings { tables: vec![table, measured.named("measured")], plots })
}

/// What the second table calls its numbers.
const LINKED: &str = "rows of one release that belong to just one row of the other";
const OF_READER: &str = "k of one release for ";
const OF_TABLE: &str = "k of table IV for ";
/// The sets of attributes of Table IV, all of them last.
const SETS: [&str; 4] = ["A,B", "A,C", "B,C", "A,B,C"];

const TEXT: &str = "Four accidents, an insurer who knows age, vehicle and postcode, and a human \
resource department that knows occupation, age and postcode (`examples/accidents`). The releases \
for either reader are compared with those of the paper row by row. Someone who has both can \
combine them. With one release for both (`butterfly`), there is no second one to combine it with. \
Table IV, all eight combinations of three attributes, is 2-anonymous for every pair of attributes \
but not for all three. So the union asks for too much.";

/// Compares with what the paper prints and says.
pub(crate) fn judge(numbers: &Numbers) -> Judged {
    let (table, measured) = (numbers.main(), numbers.table("measured"));
    let mut claims = Vec::new();
    for (place, name, reader) in [("Table II", "II", "insurer"), ("Table III", "III", "hr")] {
        let cells = [("table", name)];
        let cases = Cases::of(
            table
                .rows_with(&cells)
                .map(|row| (row.text("printed"), row.text("printed") == row.text("released"))),
        );
        claims.push(Claim::new(
            place,
            format!("A 2-anonymous release for one reader ({reader})"),
            format!("{} of {} rows equal", cases.n_true(), cases.len()),
            &cases,
        ));
    }
    let number = |what: &str| {
        let cells = [("what", what)];
        measured.rows_with(&cells).next().expect("a number of that name").number("number")
    };
    let linked = number(LINKED);
    claims.push(Claim::new(
        "section I",
        "Someone who has both releases knows that the family doctor with the white sedan was at fault",
        format!("{linked} of 4 rows of one release belong to just one row of the other"),
        linked >= 4.0,
    ));
    let rows = measured.rows().filter(|row| row.text("what").starts_with(OF_READER));
    let readers: Vec<(String, bool)> = rows
        .map(|row| {
            let reader = row.text("what").trim_start_matches(OF_READER);
            (format!("{} for {reader}", row.text("number")), row.number("number") >= 2.0)
        })
        .collect();
    let names: Vec<&str> = readers.iter().map(|(name, _)| name.as_str()).collect();
    claims.push(Claim::new(
        "section I",
        "One table can satisfy k-anonymity for all users",
        format!("k = {}", names.join(", ")),
        !readers.is_empty() && readers.iter().all(|(_, is_safe)| *is_safe),
    ));
    let ks = SETS.map(|set| number(&format!("{OF_TABLE}{set}")));
    claims.push(Claim::new(
        "Theorem 1, Table IV",
        "2-anonymous for every two of three attributes, but not for all three",
        format!("k = {}, {}, {} for two, {} for all", ks[0], ks[1], ks[2], ks[3]),
        ks[..3].iter().all(|&k| k >= 2.0) && ks[3] < 2.0,
    ));
    Judged { text: TEXT.to_owned(), shown: vec![table.clone()], claims, ..Judged::default() }
}

fn copy_accidents(lab: &Lab) -> Result<(), Failure> {
    let from = bundled("accidents");
    std::fs::create_dir_all(lab.path("hierarchies"))?;
    for name in [
        "accidents.csv",
        "insurer.toml",
        "hr.toml",
        "job.toml",
        "hierarchies/occupation.csv",
        "hierarchies/vehicle.csv",
    ] {
        std::fs::copy(from.join(name), lab.path(name))?;
    }
    Ok(())
}

fn release(lab: &Lab, job: &str) -> Result<incrowd_job::Report, Failure> {
    let spec = JobSpec::from_file(&lab.path(&format!("{job}.toml")))?;
    match anonymize(&Run::default(), &spec, true)? {
        Outcome::Done(done) => Ok(done.report),
        Outcome::Failed { reasons, .. } => Err(reasons.join("; ").into()),
    }
}

/// How many rows someone links who has both releases.
fn linked(lab: &Lab) -> Result<u64, Failure> {
    let text = |name: &str| lab.path(name).to_string_lossy().into_owned();
    let options = AttackOptions {
        release: text("release-insurer.csv"),
        with: text("release-hr.csv"),
        job: JobSpec::from_file(&lab.path("job.toml"))?,
        has_job_file: true,
        ..AttackOptions::default()
    };
    Ok(attack(&Run::default(), &options)?.report.linked.rows)
}

/// `incrowd check`: the least class of a table by some columns.
fn k_of(lab: &Lab, table: &str, set: &str) -> Result<u64, Failure> {
    let columns: Vec<String> =
        set.split(',').map(|column| format!("{column} = {{ role = \"quasi\" }}")).collect();
    let columns = columns.join("\n");
    let job = format!("input = \"{table}\"\nundeclared = \"drop\"\n[columns]\n{columns}");
    let spec = JobSpec::from_toml(&job)?;
    let input = Some(lab.path(table).to_string_lossy().into_owned());
    let report = match check(&Run::default(), &JobSpec { input, ..spec }, false)? {
        Outcome::Done(done) => Some(done.report),
        Outcome::Failed { report, .. } => report.map(|report| *report),
    };
    Ok(report.ok_or("nothing was measured")?.privacy[0].k)
}

/// How many drivers look the same to each reader in each release.
fn crowds(lab: &Lab) -> Result<String, Failure> {
    let releases = [
        ("Table I", "accidents.csv"),
        ("Table II", "release-insurer.csv"),
        ("Table III", "release-hr.csv"),
        ("one for both", "release.csv"),
    ];
    let readers = [("insurer", "age,vehicle,postcode"), ("department", "occupation,age,postcode")];
    let mut series = Vec::new();
    for (reader, set) in readers {
        let mut crowds = Vec::new();
        for (_, file) in releases {
            crowds.push(k_of(lab, file, set)? as f64);
        }
        series.push((reader.to_owned(), crowds));
    }
    let chart = Bars {
        title: "Drivers that look the same to each reader, at least".to_owned(),
        x: "table".to_owned(),
        y: Axis::linear("drivers"),
        groups: releases.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series,
    };
    Ok(chart.svg())
}
