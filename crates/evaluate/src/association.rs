//! How strongly two columns are associated: one number from 0 (or -1) to 1, for columns of any
//! kind.
//!
//! - Numbers with numbers: Pearson's correlation.
//! - Numbers with labels: the correlation ratio (eta), the root of the share of the numbers'
//!   variance that is between the labels.
//! - Labels with labels: Cramér's V with Bergsma's correction, so that the result for independent
//!   columns is near 0 for any number of labels (Bergsma, *A bias-correction for Cramér's V and
//!   Tschuprow's T*, Journal of the Korean Statistical Society 42, 2013).
//!
//! # Cost
//!
//! One pass over the records for every pair of columns, times the labels that share their codes.
//! Columns with few codes are counted in a table first.

use incrowd_data::Codes;

/// The meaning of a column's codes.
#[derive(Clone, Copy, Debug)]
pub enum Meaning<'a> {
    /// The number of each code; codes with NaN do not take part.
    Numbers(&'a [f64]),
    /// Labels `0..n`; codes beyond them do not take part.
    Labels(u32),
    /// By code, the labels among `0..n` that share its records evenly, for codes that are sets of
    /// labels. Codes without labels do not take part.
    Shared(&'a [Vec<u32>], u32),
}

/// The labels of a column.
enum LabelsOf<'a> {
    Own(Vec<u32>),
    Shared(&'a [Vec<u32>], u32),
}

impl<'a> LabelsOf<'a> {
    fn new(meaning: Meaning<'a>) -> Option<LabelsOf<'a>> {
        match meaning {
            Meaning::Numbers(_) => None,
            Meaning::Labels(n) => Some(LabelsOf::Own((0..n).collect())),
            Meaning::Shared(labels, n) => Some(LabelsOf::Shared(labels, n)),
        }
    }

    /// The labels that share the records of a code.
    fn of(&self, code: usize) -> &[u32] {
        match self {
            LabelsOf::Own(labels) => labels.get(code..=code).unwrap_or_default(),
            LabelsOf::Shared(labels, _) => labels.get(code).map_or(&[], Vec::as_slice),
        }
    }

    fn len(&self) -> usize {
        match self {
            LabelsOf::Own(labels) => labels.len(),
            LabelsOf::Shared(_, n) => *n as usize,
        }
    }
}

/// A column: the code of each record and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// The code of each record.
    pub codes: &'a Codes,
    /// All codes are below this.
    pub n_codes: u32,
    /// The meaning of the codes.
    pub meaning: Meaning<'a>,
}

/// The entries of a table of counts that fits in a processor's cache.
const SMALL: u64 = 1 << 15;
/// The most entries of a table of counts.
const LARGEST: u64 = 1 << 21;

/// How strongly two columns are associated, over records with these weights, or of weight 1. NaN if
/// that is undefined: for a column without variation, or two columns with too many labels.
#[must_use]
pub fn association(a: &Column, b: &Column, weights: Option<&[u32]>) -> f64 {
    let size = u64::from(a.n_codes) * u64::from(b.n_codes);
    let n_labels =
        |column: &Column| LabelsOf::new(column.meaning).map(|labels| labels.len() as u64);
    let pairs = n_labels(a).zip(n_labels(b)).map(|(a, b)| a * b);
    if pairs.is_some_and(|pairs| pairs > LARGEST) {
        return f64::NAN;
    }
    // Records of a code are shared out together, which is fastest for the column with fewer codes.
    if pairs.is_some() && a.n_codes > b.n_codes {
        return association(b, a, weights);
    }
    if size <= SMALL || pairs.is_some() && size <= LARGEST {
        let width = b.n_codes as usize;
        let counts = vec![0u64; usize::try_from(size).unwrap_or(usize::MAX)];
        let mut table = Crosstab { width, counts };
        match a.codes {
            Codes::U8(codes) => count_with(codes, b.codes, weights, &mut table),
            Codes::U16(codes) => count_with(codes, b.codes, weights, &mut table),
            Codes::U32(codes) => count_with(codes, b.codes, weights, &mut table),
        }
        let cells = || {
            let present = table.counts.iter().enumerate().filter(|(_, rows)| **rows > 0);
            present.map(move |(at, &rows)| (at / width.max(1), at % width.max(1), rows))
        };
        return of_cells(a.meaning, b.meaning, &cells);
    }
    let cells = || {
        let weight = |record: usize| weights.map_or(1, |weights| u64::from(weights[record]));
        let cell = move |record: usize| {
            (a.codes.get(record) as usize, b.codes.get(record) as usize, weight(record))
        };
        (0..a.codes.len()).map(cell).filter(|(.., rows)| *rows > 0)
    };
    of_cells(a.meaning, b.meaning, &cells)
}

/// Records by the codes of two columns.
struct Crosstab {
    /// The number of columns.
    width: usize,
    /// Row by row.
    counts: Vec<u64>,
}

/// Counts records by both codes.
fn count_with<A: Copy + Into<u32>>(
    a: &[A],
    b: &Codes,
    weights: Option<&[u32]>,
    table: &mut Crosstab,
) {
    match b {
        Codes::U8(b) => count(a, b, weights, table),
        Codes::U16(b) => count(a, b, weights, table),
        Codes::U32(b) => count(a, b, weights, table),
    }
}

fn count<A: Copy + Into<u32>, B: Copy + Into<u32>>(
    a: &[A],
    b: &[B],
    weights: Option<&[u32]>,
    table: &mut Crosstab,
) {
    let (width, counts) = (table.width, table.counts.as_mut_slice());
    let place = |(&a, &b): (&A, &B)| {
        let (a, b): (u32, u32) = (a.into(), b.into());
        a as usize * width + b as usize
    };
    match weights {
        None => a.iter().zip(b).for_each(|codes| counts[place(codes)] += 1),
        Some(weights) => (a.iter().zip(b).zip(weights))
            .for_each(|(codes, &rows)| counts[place(codes)] += u64::from(rows)),
    }
}

/// The association of two columns from cells: two codes and the number of rows that have both.
fn of_cells<I: Iterator<Item = (usize, usize, u64)>>(
    a: Meaning,
    b: Meaning,
    cells: &dyn Fn() -> I,
) -> f64 {
    let swapped = || cells().map(|(a, b, rows)| (b, a, rows));
    match (a, b, LabelsOf::new(a), LabelsOf::new(b)) {
        (Meaning::Numbers(a), Meaning::Numbers(b), ..) => pearson(a, b, cells()),
        (_, Meaning::Numbers(numbers), Some(labels), _) => ratio(&labels, numbers, cells()),
        (Meaning::Numbers(numbers), _, _, Some(labels)) => ratio(&labels, numbers, swapped()),
        (_, _, Some(a), Some(b)) => cramer(&a, &b, cells()),
        _ => unreachable!("what is no number is a label"),
    }
}

/// A number among the others: sums about it do not lose digits.
fn origin(numbers: &[f64]) -> f64 {
    numbers.iter().copied().find(|number| number.is_finite()).unwrap_or(0.0)
}

fn pearson(a: &[f64], b: &[f64], cells: impl Iterator<Item = (usize, usize, u64)>) -> f64 {
    let (from_a, from_b) = (origin(a), origin(b));
    let (mut n_rows, mut sum_a, mut sum_b) = (0.0, 0.0, 0.0);
    let (mut of_a, mut of_b, mut of_both) = (0.0, 0.0, 0.0);
    for (at_a, at_b, rows) in cells {
        let (x, y) = (a[at_a] - from_a, b[at_b] - from_b);
        if x.is_finite() && y.is_finite() {
            let rows = rows as f64;
            n_rows += rows;
            sum_a += rows * x;
            sum_b += rows * y;
            of_a += rows * x * x;
            of_b += rows * y * y;
            of_both += rows * x * y;
        }
    }
    let (var_a, var_b) = (of_a - sum_a * sum_a / n_rows, of_b - sum_b * sum_b / n_rows);
    if !(varies(var_a, of_a) && varies(var_b, of_b)) {
        return f64::NAN;
    }
    ((of_both - sum_a * sum_b / n_rows) / (var_a * var_b).sqrt()).clamp(-1.0, 1.0)
}

/// Whether a sum of squares is more than rounding errors.
fn varies(about_mean: f64, about_origin: f64) -> bool {
    about_mean > about_origin * 1e-12
}

fn ratio(
    labels: &LabelsOf,
    numbers: &[f64],
    cells: impl Iterator<Item = (usize, usize, u64)>,
) -> f64 {
    let from = origin(numbers);
    let mut sums = vec![(0.0, 0.0); labels.len()];
    let (mut rows_of_all, mut sum_of_all, mut squares) = (0.0, 0.0, 0.0);
    for (code, at, rows) in cells {
        let (x, labels) = (numbers[at] - from, labels.of(code));
        if labels.is_empty() || !x.is_finite() {
            continue;
        }
        let share = rows as f64 / labels.len() as f64;
        for &label in labels {
            let (of_label, sum) = &mut sums[label as usize];
            *of_label += share;
            *sum += share * x;
        }
        let rows = rows as f64;
        rows_of_all += rows;
        sum_of_all += rows * x;
        squares += rows * x * x;
    }
    let about = sum_of_all * sum_of_all / rows_of_all;
    let n_present = sums.iter().filter(|(rows, _)| *rows > 0.0).count();
    if n_present < 2 || !varies(squares - about, squares) {
        return f64::NAN;
    }
    let present = sums.iter().filter(|(rows, _)| *rows > 0.0);
    let between: f64 = present.map(|(rows, sum)| sum * sum / rows).sum::<f64>() - about;
    (between / (squares - about)).clamp(0.0, 1.0).sqrt()
}

fn cramer(a: &LabelsOf, b: &LabelsOf, cells: impl Iterator<Item = (usize, usize, u64)>) -> f64 {
    let (mut of_a, mut of_b) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    let mut together = vec![0.0; a.len() * b.len()];
    // By code of `a`, the records of each label of `b`.
    let mut of_codes: Vec<Vec<f64>> = Vec::new();
    for (code_a, code_b, rows) in cells {
        if of_codes.len() <= code_a {
            of_codes.resize(code_a + 1, Vec::new());
        }
        let labels = b.of(code_b);
        if a.of(code_a).is_empty() || labels.is_empty() {
            continue;
        }
        let of_code = &mut of_codes[code_a];
        of_code.resize(b.len(), 0.0);
        let share = rows as f64 / labels.len() as f64;
        for &label in labels {
            of_code[label as usize] += share;
        }
    }
    for (code_a, of_code) in of_codes.iter().enumerate() {
        let labels = a.of(code_a);
        let share = 1.0 / labels.len() as f64;
        for &label in labels {
            let row = &mut together[label as usize * b.len()..][..b.len()];
            row.iter_mut().zip(of_code).for_each(|(to, rows)| *to += share * rows);
        }
    }
    for (row, of_a) in together.chunks(b.len().max(1)).zip(&mut of_a) {
        *of_a = row.iter().sum();
        row.iter().zip(&mut of_b).for_each(|(rows, of_b)| *of_b += rows);
    }
    let rows: f64 = of_a.iter().sum();
    let present = |of: &[f64]| of.iter().filter(|rows| **rows > 0.0).count() as f64;
    let (n, m) = (present(&of_a), present(&of_b));
    if n < 2.0 || m < 2.0 {
        return f64::NAN;
    }
    // chi squared over n, as the sum of observed^2 / (row total * column total), minus 1.
    let of_row = |(row, of_a): (&[f64], &f64)| -> f64 {
        let present = row.iter().zip(&of_b).filter(|(rows, _)| **rows > 0.0);
        present.map(|(rows, of_b)| rows * rows / (of_a * of_b)).sum()
    };
    let squared: f64 = together.chunks(b.len()).zip(&of_a).map(of_row).sum::<f64>() - 1.0;
    let fewer = (rows - 1.0).max(1.0);
    let corrected = (squared - (n - 1.0) * (m - 1.0) / fewer).max(0.0);
    let side = |n: f64| n - (n - 1.0) * (n - 1.0) / fewer;
    let most = side(n).min(side(m)) - 1.0;
    if most > 1e-9 { (corrected / most).clamp(0.0, 1.0).sqrt() } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_codes(codes: &[u32]) -> u32 {
        codes.iter().max().map_or(0, |code| code + 1)
    }

    #[track_caller]
    fn check(a: &[u32], b: &[u32], of_a: Meaning, of_b: Meaning, expected: f64) {
        // Counts in a table, and record by record.
        for n_of_b in [n_codes(b), 1 << 15] {
            let codes_a = Codes::pack(n_codes(a), a.iter().copied());
            let codes_b = Codes::pack(n_of_b, b.iter().copied());
            let a = Column { codes: &codes_a, n_codes: n_codes(a), meaning: of_a };
            let b = Column { codes: &codes_b, n_codes: n_of_b, meaning: of_b };
            for found in [association(&a, &b, None), association(&b, &a, Some(&[3; 6]))] {
                let is_same = (found - expected).abs() < 1e-9;
                assert!(is_same || (found.is_nan() && expected.is_nan()), "{found} {expected}");
            }
        }
    }

    const TENS: [f64; 3] = [10.0, 20.0, 30.0];

    #[test]
    fn numbers_go_up_and_down_together() {
        let numbers = Meaning::Numbers(&TENS);
        check(&[0, 1, 2, 0, 1, 2], &[0, 1, 2, 0, 1, 2], numbers, numbers, 1.0);
        check(&[0, 1, 2, 0, 1, 2], &[2, 1, 0, 2, 1, 0], numbers, numbers, -1.0);
        // By hand: sums about the means are 4, 4 and 2 of hundreds.
        check(&[0, 1, 2, 0, 1, 2], &[0, 2, 1, 0, 2, 1], numbers, numbers, 0.5);
        check(&[0, 1, 2, 0, 1, 2], &[1; 6], numbers, numbers, f64::NAN);
        let some = [10.0, f64::NAN, 30.0];
        check(&[0, 1, 2, 0, 1, 2], &[0, 0, 2, 0, 0, 2], Meaning::Numbers(&some), numbers, 1.0);
    }

    #[test]
    fn labels_determine_numbers() {
        let numbers = Meaning::Numbers(&TENS);
        check(&[0, 0, 0, 1, 1, 1], &[0, 0, 0, 2, 2, 2], Meaning::Labels(2), numbers, 1.0);
        // Means 40/3 and 80/3 about 20: between 6 (20/3)^2, of 400 in all.
        let between: f64 = 6.0 * (20.0f64 / 3.0).powi(2) / 400.0;
        check(
            &[0, 0, 0, 1, 1, 1],
            &[0, 0, 1, 1, 2, 2],
            Meaning::Labels(2),
            numbers,
            between.sqrt(),
        );
    }

    fn packed(n: u32, code: impl Fn(u32) -> u32) -> Codes {
        Codes::pack(3, (0..n).map(code))
    }

    #[test]
    fn labels_are_associated_with_labels() {
        let (parity, half) = (packed(600, |record| record % 2), packed(600, |record| record / 300));
        let column = |codes| Column { codes, n_codes: 2, meaning: Meaning::Labels(2) };
        let of = |a, b| association(&column(a), &column(b), None);
        assert!((of(&parity, &parity) - 1.0).abs() < 1e-9);
        assert!(of(&parity, &half).abs() < 1e-9);
    }

    #[test]
    fn a_set_says_no_more_than_its_labels() {
        // A third of the records as label 0, a third as 1, a third as the set of both, which goes
        // with 0 here.
        let (codes, other) =
            (packed(900, |record| record % 3), packed(900, |record| record % 3 % 2));
        let labels = [vec![0], vec![1], vec![0, 1]];
        let a = Column { codes: &codes, n_codes: 3, meaning: Meaning::Shared(&labels, 2) };
        let b = Column { codes: &other, n_codes: 2, meaning: Meaning::Labels(2) };
        // Shared out: 300 + 150 of (0, 0), 300 of (1, 1), 150 of (1, 0): chi squared over n is
        // 450^2/(450*600) + 150^2/(450*600) + 300^2/(450*300) - 1 = 0.5.
        let found = association(&a, &b, None);
        assert!((found - 0.5f64.sqrt()).abs() < 0.01, "{found}");
        let numbers = Column { codes: &other, n_codes: 2, meaning: Meaning::Numbers(&TENS[..2]) };
        let found = association(&a, &numbers, None);
        // Means 10 and 16 2/3 about 13 1/3: between 900 (3 1/3)^2 of 900 * 200 / 9.
        assert!((found - 0.5f64.sqrt()).abs() < 1e-9, "{found}");
    }
}
