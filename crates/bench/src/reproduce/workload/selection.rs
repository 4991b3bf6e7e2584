//! Figure 11: how precisely a selection can be answered.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_evaluate::learn::score::mean;
use incrowd_job::GenerateSpec;

use super::super::{Claim, Findings, Lab, Table};
use super::sweep::place;
use super::{APPLICANT, figure, greatest, job, write_hierarchies};
use crate::Failure;

/// Function 2: three rectangles.
const FUNCTION_2: &str = "(age < 40 AND salary BETWEEN 50000 AND 100000) OR (age >= 40 AND age < 60 AND salary BETWEEN 75000 AND 125000) OR (age >= 60 AND salary BETWEEN 25000 AND 75000)";
const TWO_COLUMNS: &str = "salary = { role = \"quasi\" }\nage = { role = \"quasi\" }\n";
/// What is compared: its name, its columns and its search.
const WAYS: [(&str, &str, &str); 3] = [
    ("Median, all columns", APPLICANT, "split = \"median\""),
    ("Median, age and salary", TWO_COLUMNS, "split = \"median\""),
    ("Selection Mondrian", APPLICANT, "split = \"selection\""),
];

pub(super) fn figure_11(lab: &Lab) -> Result<Findings, Failure> {
    let ks = [2, 5, 10, 25, 50, 75, 100];
    let n_tables = lab.size(2, 20);
    write_hierarchies(lab)?;
    let mut table = Table::new(&["k", "recoding", "table", "rows selected", "imprecision"]);
    // By recoding and k, one number a table.
    let mut found = vec![vec![Vec::new(); ks.len()]; WAYS.len()];
    for trial in 0..n_tables {
        let seed = lab.seed.wrapping_mul(1000) + trial;
        let spec = GenerateSpec {
            kind: "agrawal".to_owned(),
            rows: Some("1000".to_owned()),
            seed: Some(seed),
            ..GenerateSpec::default()
        };
        lab.generate("applicants.csv", spec)?;
        for (way, (name, columns, search)) in WAYS.iter().enumerate() {
            for (at, k) in ks.into_iter().enumerate() {
                let job = job("applicants.csv", columns, k, search, 0);
                let job = format!(
                    "output = \"release.csv\"\n{job}\n[workload]\nselect = [{FUNCTION_2:?}]\n"
                );
                let report = lab.anonymize(&job)?.workload.ok_or("no selection in the report")?;
                let selection = report.selections.first().ok_or("no selection in the report")?;
                let (rows, imprecision) = (selection.rows, selection.imprecision);
                let cells = [k, trial, rows, imprecision].map(|number| number.to_string());
                table.push([&cells[0], *name, &cells[1], &cells[2], &cells[3]]);
                found[way][at].push(place(imprecision));
            }
        }
    }
    let lines: Vec<Vec<f64>> =
        found.iter().map(|of| of.iter().map(|values| mean(values)).collect()).collect();
    let series = WAYS.iter().zip(&lines).map(|((name, ..), values)| {
        Series::new(*name, ks.iter().map(|&k| place(k)).zip(values.iter().copied()).collect())
    });
    let chart = Lines {
        title: "Imprecision of function 2 as a selection".to_owned(),
        x: Axis::linear("k"),
        y: Axis::linear("rows too many"),
        series: series.collect(),
    };
    Ok(Findings {
        tables: vec![table],
        plots: vec![("", chart.svg())],
        text: format!(
            "Function 2 with its printed constants is asked for as a selection of three rectangles over age and \
             salary, of 1,000 synthetic rows. The imprecision is the number of rows that classes which overlap it \
             have beyond the selected ones. Lines are means of {n_tables} tables (the paper does not say how many \
             it used). Median Mondrian spreads its cuts over all nine columns, or over age and salary; Selection \
             Mondrian cuts where the rectangles end. Over all columns the first cuts go to those with the fewest \
             values (see Figure 8), so that from k = 10 on hardly any is left for age and salary and every class \
             overlaps the selection. Larger k are left out: from k = 200 on 1,000 rows \
             have no cut that helps, and all three are equal."
        ),
        claims: claims(&lines),
    })
}

fn claims(lines: &[Vec<f64>]) -> Vec<Claim> {
    let means: Vec<f64> = lines.iter().map(|values| mean(values)).collect();
    let names = WAYS.map(|(name, ..)| name);
    let grows = |values: &Vec<f64>| values.last() > values.first();
    let ends = |values: &Vec<f64>| match (values.first(), values.last()) {
        (Some(first), Some(last)) => format!("{} to {}", figure(*first), figure(*last)),
        _ => String::new(),
    };
    let found: Vec<String> =
        names.iter().zip(lines).map(|(name, values)| format!("{name} {}", ends(values))).collect();
    let at_all = (0..lines[0].len()).all(|at| lines[2][at] <= lines[0][at].min(lines[1][at]));
    vec![
        greatest(
            "Cutting age and salary alone is more precise than cutting all columns (means over k)",
            &[(names[0], means[0]), (names[1], means[1])],
        ),
        Claim::new(
            "Incorporating the selection lowers the imprecision",
            format!(
                "{}; lowest at every k: {}",
                super::named(&[(names[2], means[2]), (names[1], means[1]),]),
                if at_all { "yes" } else { "no" }
            ),
            at_all,
        ),
        Claim::new("Imprecision grows with k", found.join("; "), lines.iter().all(grows)),
    ]
}
