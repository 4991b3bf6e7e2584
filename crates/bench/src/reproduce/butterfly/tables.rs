//! Tables I to IV of the paper.

use incrowd_chart::{Axis, Bars};
use incrowd_job::{AttackOptions, JobSpec, Outcome, Run, anonymize, attack, check};

use crate::Failure;
use crate::reproduce::lab::bundled;
use crate::reproduce::{Claim, Findings, Lab, Table};

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
    let mut table = Table::new(&["table", "printed", "released"]).shown();
    let mut claims = Vec::new();
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
        let equal = printed.iter().zip(&released).filter(|(a, b)| a == b).count();
        let says = format!("Table {name}: a 2-anonymous release for one reader ({job})");
        claims.push(Claim::new(says, format!("{equal} of 4 rows equal"), equal == 4));
    }
    claims.push(collusion(lab)?);
    claims.push(one_release(lab, &mut table)?);
    claims.push(theorem(lab)?);
    let text = "Four accidents, an insurer who knows age, vehicle and postcode, and a human resource department that \
                knows occupation, age and postcode (`examples/accidents`). The releases for either reader are those \
                of the paper, row by row. Whoever gets both can put them together; of one release for both \
                (`butterfly`) there is no second one to put beside it. Table IV, all eight combinations of three attributes, is 2-anonymous \
                for every pair of attributes and not for all three, which is why the union asks for too much.";
    let plots = vec![("", crowds(lab)?)];
    Ok(Findings { tables: vec![table], plots, text: text.to_owned(), claims })
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

/// What someone finds who has both releases.
fn collusion(lab: &Lab) -> Result<Claim, Failure> {
    let text = |name: &str| lab.path(name).to_string_lossy().into_owned();
    let options = AttackOptions {
        release: text("release-insurer.csv"),
        with: text("release-hr.csv"),
        job: JobSpec::from_file(&lab.path("job.toml"))?,
        has_job_file: true,
        ..AttackOptions::default()
    };
    let linked = attack(&Run::default(), &options)?.report.linked.rows;
    Ok(Claim::new(
        "Whoever has both releases knows that the family doctor with the white sedan was at fault",
        format!("{linked} of 4 rows of one release belong to just one row of the other"),
        linked == 4,
    ))
}

/// The release for both readers.
fn one_release(lab: &Lab, table: &mut Table) -> Result<Claim, Failure> {
    let report = release(lab, "job")?;
    for row in lab.read("release.csv")?.lines().skip(1) {
        table.push(["one for both", "", row]);
    }
    let ks: Vec<u64> = report.privacy.iter().map(|set| set.k).collect();
    Ok(Claim::new(
        "One release can be 2-anonymous for both readers",
        format!("k = {} for the insurer, {} for the department", ks[0], ks[1]),
        ks.iter().all(|&k| k >= 2),
    ))
}

/// Table IV against every set of two attributes and all three.
fn theorem(lab: &Lab) -> Result<Claim, Failure> {
    lab.write("combinations.csv", COMBINATIONS)?;
    let mut found = Vec::new();
    for set in ["A,B", "A,C", "B,C", "A,B,C"] {
        found.push(k_of(lab, "combinations.csv", set)?);
    }
    Ok(Claim::new(
        "Table IV: 2-anonymous for every two of three attributes, but not for all three",
        format!("k = {}, {}, {} for two, {} for all", found[0], found[1], found[2], found[3]),
        found[..3].iter().all(|&k| k >= 2) && found[3] < 2,
    ))
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
            #[expect(clippy::cast_precision_loss, reason = "four drivers")]
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
