//! Figure 11: how precisely a selection can be answered.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_evaluate::learn::score::mean;
use incrowd_job::GenerateSpec;

use super::super::{Cases, Claim, Findings, Judged, Lab, Numbers, OURS, Table};
use super::sweep::place;
use super::{APPLICANT, figure, job, write_hierarchies};
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

const KS: [u64; 7] = [2, 5, 10, 25, 50, 75, 100];
/// Tables: quick, full.
const TABLES: (u64, u64) = (2, 20);

pub(super) fn figure_11(lab: &Lab) -> Result<Findings, Failure> {
    let n_tables = lab.size(TABLES.0, TABLES.1);
    write_hierarchies(lab)?;
    let mut table = Table::new(&["k", "recoding", "table", "rows selected", "imprecision"]);
    // By recoding and k, one number a table.
    let mut found = vec![vec![Vec::new(); KS.len()]; WAYS.len()];
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
            for (at, k) in KS.into_iter().enumerate() {
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
        Series::new(*name, KS.iter().map(|&k| place(k)).zip(values.iter().copied()).collect())
    });
    let chart = Lines {
        title: "Imprecision of function 2 as a selection".to_owned(),
        x: Axis::linear("k"),
        y: Axis::linear("rows too many"),
        series: series.collect(),
    };
    Ok(Findings { tables: vec![table], plots: vec![("", chart.svg())] })
}

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    const PLACE: &str = "section 4.6, Figure 11";
    let table = numbers.main();
    let n_tables = numbers.size(TABLES.0, TABLES.1);
    let text = format!(
        "Function 2 with its printed constants is asked for as a selection of three rectangles over age and \
         salary, of 1,000 synthetic rows. The imprecision is the number of rows that classes which overlap it \
         have beyond the selected ones. Lines are means of {n_tables} tables (the paper does not say how many \
         it used). Median Mondrian spreads its cuts over all nine columns, or over age and salary; Selection \
         Mondrian cuts where the rectangles end. Over all columns the first cuts go to those with the fewest \
         values (see Figure 8), so that from k = 10 on hardly any is left for age and salary and every class \
         overlaps the selection. Larger k are left out: from k = 200 on 1,000 rows \
         have no cut that helps, and all three are equal."
    );
    let line = |name: &str| -> Vec<f64> {
        let at = |k: u64| {
            let k = k.to_string();
            let cells = [("recoding", name), ("k", k.as_str())];
            let values: Vec<f64> =
                table.rows_with(&cells).map(|row| row.number("imprecision")).collect();
            mean(&values)
        };
        KS.map(at).to_vec()
    };
    let lines = WAYS.map(|(name, ..)| (name, line(name)));
    let [(_, all), (_, two), (_, selection)] = &lines;
    let below = |less: &[f64], more: &[f64], what: &str| {
        let pairs = KS.iter().zip(less.iter().zip(more));
        pairs.map(|(k, (less, more))| (format!("{what}k = {k}"), less < more)).collect::<Vec<_>>()
    };
    let restricted = Cases::of(below(two, all, ""));
    let with =
        [below(selection, all, "all columns at "), below(selection, two, "age and salary at ")];
    let with = Cases::of(with.concat());
    let grows = Cases::of(lines.iter().flat_map(|(name, values)| {
        let steps = KS.windows(2).zip(values.windows(2));
        steps.map(move |(ks, pair)| {
            (format!("{name} from {} to {}", ks[0], ks[1]), pair[0] < pair[1])
        })
    }));
    let ends: Vec<String> = (lines.iter())
        .map(|(name, values)| {
            format!("{name} {} to {}", figure(values[0]), figure(values[values.len() - 1]))
        })
        .collect();
    let claims = vec![
        Claim::new(
            PLACE,
            "Incorporating the selection reduces the imprecision",
            format!(
                "below both other recodings, k by k: {}; means over k: {}",
                with.found(),
                lines
                    .iter()
                    .map(|(name, values)| format!("{name} {}", figure(mean(values))))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            &with,
        ),
        Claim::new(
            PLACE,
            "Imprecision increases with k",
            format!("step by step: {}; {}", grows.found(), ends.join("; ")),
            &grows,
        )
        .because(
            "at all exceptions the two numbers are equal. With cuts on all columns, every class \
             overlaps the selection from k = 25 on, and all rows are counted, so nothing can increase",
        ),
        Claim::new(
            OURS,
            "Cutting age and salary alone is more precise than cutting all columns",
            restricted.found(),
            &restricted,
        ),
    ];
    Judged { text, shown: Vec::new(), claims, ..Judged::default() }
}
