//! Adult as codes, for what no job can say: groups that are recoded apart, and a model's training
//! error.

use std::collections::BTreeMap;

use incrowd_data::{
    Attribute, Codes, Dictionary, Extra, FrequencySet, Hierarchy, Kind, Shape, collapse,
};
use incrowd_evaluate::folds::{Fold, folds, holdout};
use incrowd_evaluate::learn::Features;

use super::super::Lab;
use super::super::lab::Adult;
use crate::Failure;

const NUMBERS: [&str; 3] = ["age", "education-num", "hours-per-week"];
const TREES: [&str; 6] =
    ["native-country", "marital-status", "sex", "race", "workclass", "occupation"];
const TARGET: &str = "salary-class";

/// The bundled hierarchy with one level more. Where the first division is into four, one of which
/// has 4% of the rows, top-down specialization spends what k allows on it and never comes to the
/// education.
const MARITAL: &str = "\
Married-civ-spouse;Spouse-present;couple;*
Married-AF-spouse;Spouse-present;couple;*
Never-married;Single;alone;*
Married-spouse-absent;Living-apart;alone;*
Separated;Living-apart;alone;*
Divorced;Formerly-married;alone;*
Widowed;Formerly-married;alone;*
";

/// Puts Adult into the lab in place of the paper's census table: `whole.csv`, and `adult.csv` with
/// rows of the commoner label left out at random until it has 56% of them, as in the paper. Both
/// are made of the first rows, `most` of them.
pub(super) fn census_table(lab: &Lab, most: usize) -> Result<(), Failure> {
    lab.adult(Adult::All)?;
    lab.write("hierarchies/marital-status.csv", MARITAL)?;
    let text = lab.read("adult.csv")?;
    let lines: Vec<&str> = text.lines().take(most.saturating_add(1)).collect();
    lab.write("whole.csv", &(lines.join("\n") + "\n"))?;
    let is_rare = |line: &str| line.ends_with(">50K");
    let n_rare = u32::try_from(lines.iter().filter(|line| is_rare(line)).count())?;
    let n_common = u32::try_from(lines.len())? - 1 - n_rare;
    let mut kept = holdout(n_common, n_rare * 56 / 44, lab.seed).into_iter().peekable();
    let mut common = 0..;
    let thinned: Vec<&str> = (lines.iter().copied().enumerate())
        .filter(|(at, line)| {
            *at == 0 || is_rare(line) || kept.next_if_eq(&common.next().unwrap_or(0)).is_some()
        })
        .map(|(_, line)| line)
        .collect();
    lab.write("adult.csv", &(thinned.join("\n") + "\n"))
}

/// A table as codes.
pub(super) struct Rows {
    pub(super) attributes: Vec<Attribute>,
    codes: Vec<Vec<u32>>,
    labels: Vec<u32>,
    n_labels: u32,
}

impl Rows {
    /// The Adult table of the lab, with the columns of the other figures.
    pub(super) fn adult(lab: &Lab) -> Result<Rows, Failure> {
        let text = lab.read("adult.csv")?;
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
        let header = lines.next().ok_or("no header")?;
        let cells: Vec<Vec<&str>> = lines.collect();
        let column = |name: &str| -> Result<Vec<&str>, Failure> {
            let at = header.iter().position(|column| *column == name);
            let at = at.ok_or_else(|| format!("no column {name}"))?;
            Ok(cells.iter().map(|row| row[at]).collect())
        };
        let (mut attributes, mut codes) = (Vec::new(), Vec::new());
        for name in NUMBERS.iter().chain(&TREES) {
            let cells = column(name)?;
            let (dictionary, shape) = if NUMBERS.contains(name) {
                (numbers(&cells)?, Shape::Numeric)
            } else {
                let tree = tree(&lab.read(&format!("hierarchies/{name}.csv"))?)?;
                let leaves = tree.leaves().map(str::to_owned).collect();
                (Dictionary::of_texts(leaves, false), Shape::Tree(tree))
            };
            codes.push(coded(&dictionary, &cells)?);
            attributes.push(Attribute { name: (*name).to_owned(), dictionary, shape });
        }
        let cells = column(TARGET)?;
        let mut texts: Vec<String> = cells.iter().map(|&cell| cell.to_owned()).collect();
        texts.sort_unstable();
        texts.dedup();
        let dictionary = Dictionary::of_texts(texts, false);
        let labels = coded(&dictionary, &cells)?;
        Ok(Rows { attributes, codes, labels, n_labels: dictionary.n_codes() })
    }

    /// Rows to be held out, fold by fold.
    pub(super) fn folds(&self, n: u32, seed: u64) -> Vec<Fold> {
        folds(u32::try_from(self.labels.len()).expect("a small table"), n, seed)
    }

    /// The rows that are not held out.
    pub(super) fn outside(&self, held: &[u32]) -> Vec<u32> {
        let mut is_held = vec![false; self.labels.len()];
        for &row in held {
            is_held[row as usize] = true;
        }
        (0u32..).zip(is_held).filter(|(_, is_held)| !is_held).map(|(row, _)| row).collect()
    }

    pub(super) fn code(&self, attribute: usize, row: u32) -> u32 {
        self.codes[attribute][row as usize]
    }

    pub(super) fn labels(&self, rows: &[u32]) -> Vec<u32> {
        rows.iter().map(|&row| self.labels[row as usize]).collect()
    }

    /// Original rows as points.
    pub(super) fn original(&self, rows: &[u32]) -> Features {
        let place = |at: usize, row: u32| {
            self.attributes[at].dictionary.positions[self.code(at, row) as usize]
        };
        let columns = 0..self.attributes.len();
        let values =
            rows.iter().flat_map(|&row| columns.clone().map(move |at| place(at, row))).collect();
        let is_tree = |attribute: &Attribute| matches!(attribute.shape, Shape::Tree(_));
        let is_nominal = self.attributes.iter().map(is_tree).collect();
        Features { n_rows: rows.len(), values, is_nominal }
    }

    /// The distinct vectors of some rows, with the label beside them.
    pub(super) fn frequencies(&self, rows: &[u32]) -> FrequencySet {
        let packed = |codes: &[u32], n| Codes::pack(n, rows.iter().map(|&row| codes[row as usize]));
        let n_codes: Vec<u32> = self.attributes.iter().map(Attribute::n_codes).collect();
        let columns: Vec<Codes> =
            self.codes.iter().zip(&n_codes).map(|(codes, &n)| packed(codes, n)).collect();
        let labels = packed(&self.labels, self.n_labels);
        let keys = columns.iter().zip(n_codes.iter().copied()).chain([(&labels, self.n_labels)]);
        let keys: Vec<(&Codes, u32)> = keys.collect();
        let collapsed = collapse(&keys, rows.len());
        let extra = Extra {
            name: TARGET.to_owned(),
            codes: collapsed.project(&labels, self.n_labels),
            n_codes: self.n_labels,
            positions: (0..self.n_labels).map(f64::from).collect(),
        };
        FrequencySet {
            attributes: self.attributes.clone(),
            vectors: (columns.iter().zip(&n_codes))
                .map(|(codes, &n)| collapsed.project(codes, n))
                .collect(),
            counts: collapsed.counts,
            extras: vec![extra],
            n_rows: rows.len() as u64,
        }
    }
}

fn numbers(cells: &[&str]) -> Result<Dictionary, Failure> {
    let mut values = cells.iter().map(|cell| cell.parse()).collect::<Result<Vec<i32>, _>>()?;
    values.sort_unstable();
    values.dedup();
    Ok(Dictionary {
        kind: Kind::Integer,
        texts: values.iter().map(ToString::to_string).collect(),
        positions: values.iter().copied().map(f64::from).collect(),
        has_missing: false,
    })
}

fn tree(text: &str) -> Result<Hierarchy, Failure> {
    let rows = text.lines().map(|line| line.split(';').map(str::to_owned).collect());
    Ok(Hierarchy::from_rows(&rows.collect::<Vec<Vec<String>>>())?)
}

fn coded(dictionary: &Dictionary, cells: &[&str]) -> Result<Vec<u32>, Failure> {
    let codes: BTreeMap<&str, u32> = dictionary.texts.iter().map(String::as_str).zip(0..).collect();
    let code = |cell: &&str| codes.get(cell).copied().ok_or_else(|| format!("no code of {cell}"));
    Ok(cells.iter().map(code).collect::<Result<Vec<u32>, String>>()?)
}
