//! Figure 9(i): regression trees.

use incrowd_chart::Axis;
use incrowd_job::{EvaluateOptions, GenerateSpec};

use super::super::{Cases, Claim, Findings, Judged, Lab, Numbers, Table};
use super::sweep::{Sweep, model, released};
use super::{figure, job};
use crate::Failure;

const RECODINGS: [(&str, &str); 2] =
    [("Median Mondrian", "split = \"median\""), ("LSD Mondrian", "split = \"lsd\"")];

/// The columns that stand for the paper's nine.
const COLUMNS: &str = "\
region    = { role = \"quasi\", hierarchy = \"region.csv\" }
age       = { role = \"quasi\" }
country   = { role = \"quasi\", hierarchy = \"country.csv\" }
marital   = { role = \"quasi\", hierarchy = \"marital.csv\" }
education = { role = \"quasi\", order = [\"No schooling\", \"Grades 1-4\", \"Grades 5-6\", \"Grades 7-8\", \"Grade 9\", \
\"Grade 10\", \"Grade 11\", \"Grade 12\", \"High school\", \"Some college\", \"Vocational degree\", \"Associate degree\", \
\"Bachelor\", \"Master\", \"Professional degree\", \"Doctorate\"] }
sex       = { role = \"quasi\", hierarchy = \"sex.csv\" }
hours     = { role = \"quasi\" }
children  = { role = \"quasi\" }
race      = { role = \"quasi\", hierarchy = \"race.csv\" }
income    = { role = \"insensitive\", target = true }
";

const REGION: &str = "\
New England;East;*\nMiddle Atlantic;East;*\nSouth Atlantic;East;*\nEast North Central;Middle;*
West North Central;Middle;*\nEast South Central;Middle;*\nWest South Central;Middle;*\nMountain;West;*\nPacific;West;*\n";
const MARITAL: &str = "\
Never married;single;*\nDivorced;single;*\nWidowed;single;*\nSeparated;single;*
Married;couple;*\nMarried, spouse abroad;couple;*\nRegistered partners;couple;*\n";
const ABROAD: [&str; 31] = [
    "Brazil",
    "Canada",
    "China",
    "Colombia",
    "Cuba",
    "Dominican Republic",
    "El Salvador",
    "Ethiopia",
    "Germany",
    "Guatemala",
    "Haiti",
    "Honduras",
    "India",
    "Iran",
    "Italy",
    "Jamaica",
    "Japan",
    "Laos",
    "Mexico",
    "Nigeria",
    "Pakistan",
    "Peru",
    "Philippines",
    "Poland",
    "Portugal",
    "Russia",
    "South Korea",
    "Taiwan",
    "Ukraine",
    "United Kingdom",
    "Vietnam",
];

pub(super) fn figure_9_i(lab: &Lab) -> Result<Findings, Failure> {
    let spec = GenerateSpec {
        kind: "census".to_owned(),
        rows: Some(lab.size("8000", "49657").to_owned()),
        seed: Some(lab.seed),
        ..GenerateSpec::default()
    };
    lab.generate("census.csv", spec)?;
    lab.write("region.csv", REGION)?;
    lab.write("marital.csv", MARITAL)?;
    lab.write("sex.csv", "Female;*\nMale;*\n")?;
    lab.write("race.csv", "Asian;*\nBlack;*\nHispanic;*\nMixed;*\nOther;*\nWhite;*\n")?;
    let mut countries = "United States;here;*\n".to_owned();
    for country in ABROAD {
        countries.push_str(&format!("{country};abroad;*\n"));
    }
    lab.write("country.csv", &countries)?;
    let ks: &[u64] = lab.size(&[25, 250], &[10, 25, 50, 100, 250, 500, 1000]);
    let options = EvaluateOptions {
        folds: Some(lab.size(2, 10)),
        models: vec!["regression-tree".to_owned(), "linear-regression".to_owned()],
        ..EvaluateOptions::default()
    };
    let job = |k, search: &str| job("census.csv", COLUMNS, k, search, lab.seed);
    let sweep = Sweep::run(lab, ks, &RECODINGS, job, &options)?;
    let mut table = Table::new(&["k", "recoding", "model", "error", "deviation", "original"]);
    for (name, evaluations) in &sweep.recodings {
        for (k, one) in ks.iter().zip(evaluations) {
            for at in 0..2 {
                let report = model(one, at);
                let cells = [report.released.mean, report.released.deviation, report.original.mean];
                let [mean, deviation, original] = cells.map(figure);
                table.push([&k.to_string(), *name, report.model, &mean, &deviation, &original]);
            }
        }
    }
    let y = Axis::linear("mean absolute error");
    let chart = sweep.chart("Error of the regression tree by k", y, None, released(0));
    Ok(Findings { tables: vec![table], plots: vec![("", chart)] })
}

const TEXT: &str = "\
Adult has no salary in dollars, so that the synthetic census stands in, with as many rows as the paper's (fewer in \
the quick run) and its `income`: log-normal, dependent on education, age, sex, hours and on an occupation that is not \
among the columns. Region, age, country of birth (for citizenship), marital status, education, sex, hours, children \
(for disability) and race are the nine columns. CART stands in for M5, whose leaves hold linear models.";

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    const PLACE: &str = "section 4.4, Figure 9(i)";
    let table = numbers.main();
    let error = |recoding: &str, model: &str, k: &str| {
        let cells = [("recoding", recoding), ("model", model), ("k", k)];
        table.rows_with(&cells).next().expect("every model at every k").number("error")
    };
    let [median, lsd] = RECODINGS.map(|(name, _)| name);
    let (tree, linear) = ("regression-tree", "linear-regression");
    let ks = table.distinct("k");
    let better = |model: &'static str| {
        Cases::of(
            ks.iter().map(|k| (format!("k = {k}"), error(lsd, model, k) < error(median, model, k))),
        )
    };
    let mean = |recoding: &str, model: &str| {
        let errors: Vec<f64> = ks.iter().map(|k| error(recoding, model, k)).collect();
        figure(incrowd_evaluate::learn::score::mean(&errors))
    };
    let found = |cases: &Cases, model: &str| {
        format!(
            "mean absolute error, k by k: {}; means over k: {median} {}, {lsd} {}",
            cases.found(),
            mean(median, model),
            mean(lsd, model)
        )
    };
    let (trees, lines) = (better(tree), better(linear));
    let higher = Cases::of([median, lsd].into_iter().flat_map(|recoding| {
        let is = move |k: &&str| {
            (
                format!("{recoding} at k = {k}"),
                error(recoding, linear, k) > error(recoding, tree, k),
            )
        };
        ks.iter().map(is).collect::<Vec<_>>()
    }));
    let claims = vec![
        Claim::new(
            PLACE,
            "LSD Mondrian generally gives better regression trees than Median Mondrian",
            found(&trees, tree),
            &trees,
        ),
        Claim::new(PLACE, "It is similar for linear regression", found(&lines, linear), &lines),
        Claim::new(
            PLACE,
            "The error of linear regression is higher than that of the tree",
            format!("recoding by recoding and k by k: {}", higher.found()),
            &higher,
        ),
    ];
    Judged { text: TEXT.to_owned(), shown: Vec::new(), claims, ..Judged::default() }
}
