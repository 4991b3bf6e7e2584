//! Figure 10: one release for several models.

use incrowd_chart::{Axis, Lines, Series};
use incrowd_evaluate::learn::score::mean;
use incrowd_job::{EvaluateOptions, GenerateSpec};

use super::super::{Cases, Claim, Findings, Judged, Judgement, Lab, Numbers, Table, Verdict};
use super::{APPLICANT, figure, job, learners, write_hierarchies};
use crate::Failure;

const FUNCTIONS: [u8; 7] = [2, 3, 4, 5, 6, 7, 9];
const MODELS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// The paper's numbers: in row n the release is made for the first n + 1 models.
const PRINTED: [[f64; 7]; 7] = [
    [0.9250, 0.7478, 0.7453, 0.7638, 0.7678, 0.7451, 0.7611],
    [0.8921, 0.9031, 0.7541, 0.7549, 0.7448, 0.7394, 0.7329],
    [0.8676, 0.8829, 0.8799, 0.7498, 0.7349, 0.7390, 0.7382],
    [0.8571, 0.8652, 0.8634, 0.8573, 0.7413, 0.7338, 0.7477],
    [0.8454, 0.8476, 0.8467, 0.8424, 0.8461, 0.7436, 0.7592],
    [0.8349, 0.8361, 0.8352, 0.8312, 0.8390, 0.8271, 0.7605],
    [0.8308, 0.8243, 0.8258, 0.8233, 0.8308, 0.8159, 0.8267],
];

/// Accuracies: in row n the release is made for the first n + 1 models.
type Matrix = [[f64; 7]; 7];

/// Orders of the functions: quick, full.
const PERMUTATIONS: (u64, u64) = (3, 25);
/// Tables for each order: quick, full.
const TABLES: (u64, u64) = (1, 4);

pub(super) fn figure_10(lab: &Lab) -> Result<Findings, Failure> {
    let n_permutations = lab.size(PERMUTATIONS.0, PERMUTATIONS.1);
    let n_tables = lab.size(TABLES.0, TABLES.1);
    write_hierarchies(lab)?;
    let mut trials: Vec<Matrix> = Vec::new();
    for permutation in 0..n_permutations {
        let order = permuted(lab.seed.wrapping_mul(1000) + permutation);
        for table in 0..n_tables {
            let seed = lab.seed.wrapping_mul(1000) + permutation * n_tables + table;
            trials.push(matrix(lab, &order, seed)?);
        }
    }
    let here: Matrix = std::array::from_fn(|row| {
        std::array::from_fn(|model| mean(&trials.iter().map(|m| m[row][model]).collect::<Vec<_>>()))
    });
    Ok(Findings { tables: tables(&here), plots: vec![("", chart(&here))] })
}

/// The functions in a random order.
fn permuted(seed: u64) -> Vec<u8> {
    // Folds of one row each are the rows in a random order.
    let order = incrowd_evaluate::folds::folds(7, 7, seed).concat();
    order.into_iter().map(|at| FUNCTIONS[at as usize]).collect()
}

/// The accuracies of all models on releases for the first, the first two, and so on.
fn matrix(lab: &Lab, order: &[u8], seed: u64) -> Result<Matrix, Failure> {
    let spec = GenerateSpec {
        kind: "agrawal".to_owned(),
        rows: Some("2000".to_owned()),
        seed: Some(seed),
        functions: FUNCTIONS.to_vec(),
        vary_constants: true,
        ..GenerateSpec::default()
    };
    lab.generate("applicants.csv", spec)?;
    let names: Vec<String> = order.iter().map(|function| format!("group_{function}")).collect();
    let mut matrix = [[0.0; 7]; 7];
    for (row, scores) in matrix.iter_mut().enumerate() {
        let (included, others) = names.split_at(row + 1);
        let targets = included
            .iter()
            .map(|name| format!("{name} = {{ role = \"insensitive\", target = true }}\n"));
        let rest = others.iter().map(|name| format!("{name} = {{ role = \"insensitive\" }}\n"));
        let columns: String =
            std::iter::once(APPLICANT.to_owned()).chain(targets).chain(rest).collect();
        let options = EvaluateOptions {
            test: Some(0.5),
            models: learners(1),
            predict: others.to_vec(),
            ..EvaluateOptions::default()
        };
        let job = job("applicants.csv", &columns, 25, "split = \"infogain\"", seed);
        for target in lab.evaluate(&job, &options)?.targets {
            let model = names.iter().position(|name| *name == target.column);
            scores[model.ok_or("an unknown column")?] = target.models[0].released.mean;
        }
    }
    Ok(matrix)
}

fn tables(here: &Matrix) -> Vec<Table> {
    let made_for = |row: usize| format!("{{{}}}", MODELS[..=row].join(","));
    let mut shown = Table::new(&[&["made for"][..], &MODELS].concat()).named("matrix");
    let mut long = Table::new(&["made for", "model", "included", "here", "paper"]);
    for row in (0..7).rev() {
        let cells = (0..7)
            .map(|model| format!("{} ({})", figure(here[row][model]), figure(PRINTED[row][model])));
        shown.push(std::iter::once(made_for(row)).chain(cells));
        for model in 0..7 {
            let is_included = if model <= row { "yes" } else { "no" };
            let [ours, theirs] = [here[row][model], PRINTED[row][model]].map(figure);
            long.push([&made_for(row), MODELS[model], is_included, &ours, &theirs]);
        }
    }
    vec![long, shown]
}

/// The mean of the models that a release is made for, and of the others.
fn means(matrix: &Matrix, row: usize) -> (f64, f64) {
    let others = &matrix[row][row + 1..];
    (mean(&matrix[row][..=row]), if others.is_empty() { f64::NAN } else { mean(others) })
}

fn chart(here: &Matrix) -> String {
    let line = |name: &str, matrix: &Matrix, of: fn((f64, f64)) -> f64| {
        let point = |row: u8| (f64::from(row + 1), of(means(matrix, usize::from(row))));
        Series::new(name, (0..7).map(point).collect())
    };
    Lines {
        title: "Accuracy by the number of models a release is made for".to_owned(),
        x: Axis::linear("models"),
        y: Axis::linear("accuracy of J48"),
        series: vec![
            line("included", here, |of| of.0),
            line("not included", here, |of| of.1),
            line("included, paper", &PRINTED, |of| of.0),
            line("not included, paper", &PRINTED, |of| of.1),
        ],
    }
    .svg()
}

/// Compares with what the paper says.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    const PLACE: &str = "section 4.5, Figure 10";
    let table = numbers.main();
    let (n_permutations, n_tables) =
        (numbers.size(PERMUTATIONS.0, PERMUTATIONS.1), numbers.size(TABLES.0, TABLES.1));
    let text = format!(
        "Seven label functions (2 to 7 and 9, with new constants of 2 to 6 for each table) are \
         called a to g in a random order, {n_permutations} times. Tables have 1,000 training and \
         1,000 test rows; there are {n_tables} for each order. The release of a row of the figure \
         is made by InfoGain Mondrian (k = 25) for the models that the row names, and J48 is \
         trained on it for all seven. The page has our numbers with the paper's in brackets; the \
         chart has the means of models that a release was made for, and of the others."
    );
    // The accuracies of a model, from the release made for all on.
    let column = |model: &str, included: &str| -> Vec<f64> {
        let cells = [("model", model), ("included", included)];
        table.rows_with(&cells).map(|row| row.number("here")).collect()
    };
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Model a is in every row, so that there is nothing to compare it with.
    let higher = Cases::of(
        MODELS[1..]
            .iter()
            .map(|model| (model, least(&column(model, "yes")) > most(&column(model, "no")))),
    );
    // Model g is in one row only.
    let falls = Cases::of(MODELS[..6].iter().map(|model| {
        let included = column(model, "yes");
        (model, included[0] < included[included.len() - 1])
    }));
    let steps = Cases::of(MODELS[..6].iter().flat_map(|model| {
        let included = column(model, "yes");
        included.windows(2).map(|pair| (model, pair[0] < pair[1])).collect::<Vec<_>>()
    }));
    let distance = |row: &super::super::Row| (row.number("here") - row.number("paper")).abs();
    let distances: Vec<f64> = table.rows().map(|row| distance(&row)).collect();
    let near = Cases::of(table.rows().map(|row| {
        (format!("{} {}", row.text("made for"), row.text("model")), distance(&row) < 0.02)
    }));
    let claims = vec![
        Claim::new(
            PLACE,
            "A model is more accurate when it is included than when it is not",
            format!("every accuracy with it is above every one without it, by model: {}", higher.found()),
            &higher,
        ),
        Claim::new(
            PLACE,
            "The more models are included, the less accurate each tends to be",
            format!(
                "with all seven below with the fewest, by model: {}; it falls at {} of {} steps",
                falls.found(),
                steps.n_true(),
                steps.len()
            ),
            &falls,
        ),
        Claim::new(
            "Figure 10",
            "The 49 printed accuracies",
            format!(
                "within 0.02 of the printed one: {} of {}; {} away on average, {} at most",
                near.n_true(),
                near.len(),
                figure(mean(&distances)),
                figure(most(&distances))
            ),
            // A few tables give no means to compare with those of a hundred.
            if numbers.is_quick { Judgement::from(Verdict::NotShown) } else { Judgement::from(&near) },
        )
        .because(
            "tables and constants are drawn at random there and here, the paper prints neither the range of the constants \
             nor its hierarchies, and J48 is not Weka's",
        ),
    ];
    Judged { text, shown: vec![numbers.table("matrix").clone()], claims, ..Judged::default() }
}
