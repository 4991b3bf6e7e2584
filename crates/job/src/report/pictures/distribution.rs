//! How the rows of a column are distributed, before and after.
//!
//! After: the rows of a cell are spread evenly over what the cell covers, as whoever knows nothing
//! more would do it.

use incrowd_data::{Attribute, Cell, Group, Level, RecodedColumn, Shape};

use super::line::Line;

/// Shares of rows in percent.
#[derive(Debug)]
pub(crate) enum Distribution {
    /// On a line, between edges.
    Steps { axis: &'static str, edges: Vec<f64>, before: Option<Vec<f64>>, after: Vec<f64> },
    /// By value.
    Names { names: Vec<String>, before: Option<Vec<f64>>, after: Vec<f64> },
}

/// Steps of a line.
const MOST_STEPS: f64 = 40.0;

/// Values that have a name of their own.
const MOST_NAMES: usize = 12;

/// Nodes of a hierarchy that have a name of their own.
const MOST_NODES: usize = 20;

/// How a cell without a value reads.
const MISSING: &str = "(missing)";

/// What the values without a name of their own are called, behind their number.
const OTHERS: &str = " other values";

/// What stands for no value in particular.
const ANY: &str = " (any value)";

impl Distribution {
    /// The distribution of a column whose cells have these rows; before, where the rows of its
    /// values are given.
    pub(super) fn of(
        attribute: &Attribute,
        column: &RecodedColumn,
        rows: &[u64],
        (line, value_rows): (Option<&Line>, &[u64]),
    ) -> Option<Distribution> {
        match &attribute.shape {
            Shape::Numeric => on_line(attribute, column, rows, (line?, value_rows)),
            _ => Some(by_value(attribute, column, rows, Some(value_rows))),
        }
    }

    /// Whether a picture of it tells more than that there are many values.
    pub(crate) fn says_something(&self) -> bool {
        let Distribution::Names { names, before, after } = self else { return true };
        let is_rest = |name: &str| name.ends_with(OTHERS) || name.ends_with(ANY);
        let shown = |shares: &[f64]| -> f64 {
            let all = names.iter().zip(shares);
            all.filter(|(name, _)| !is_rest(name)).map(|(_, share)| share).sum()
        };
        shown(after).max(before.as_ref().map_or(0.0, |before| shown(before))) >= 25.0
    }

    /// The distribution of rows over ranges, each value taking up twice `half` on the line.
    pub(super) fn of_spans(
        spans: &[(f64, f64, u64)],
        half: f64,
        n_rows: u64,
    ) -> Option<Distribution> {
        let least = spans.iter().map(|span| span.0).fold(f64::INFINITY, f64::min);
        let greatest = spans.iter().map(|span| span.1).fold(f64::NEG_INFINITY, f64::max);
        let edges = edges((least, greatest), half)?;
        let after = percent(&spread_all(spans, &edges, half), n_rows);
        Some(Distribution::Steps { axis: "value", edges, before: None, after })
    }
}

/// Counts as percent of all of them.
fn percent(counts: &[f64], whole: u64) -> Vec<f64> {
    counts.iter().map(|rows| 100.0 * rows / whole.max(1) as f64).collect()
}

fn on_line(
    attribute: &Attribute,
    column: &RecodedColumn,
    rows: &[u64],
    (line, value_rows): (&Line, &[u64]),
) -> Option<Distribution> {
    let spans: Vec<(f64, f64, u64)> = (column.cells.iter().zip(rows))
        .filter_map(|(cell, &rows)| {
            let (least, greatest) = line.ends(attribute, cell)?;
            Some((least, greatest, rows))
        })
        .collect();
    let edges = edges(line.whole()?, line.half)?;
    let mut before = vec![0.0; edges.len() - 1];
    for (&place, &rows) in line.places.iter().zip(value_rows) {
        spread(&mut before, &edges, (place, place), rows as f64);
    }
    let before = Some(percent(&before, value_rows.iter().sum()));
    let after = percent(&spread_all(&spans, &edges, line.half), rows.iter().sum());
    Some(Distribution::Steps { axis: line.axis, edges, before, after })
}

/// The rows of ranges by step.
fn spread_all(spans: &[(f64, f64, u64)], edges: &[f64], half: f64) -> Vec<f64> {
    let mut steps = vec![0.0; edges.len() - 1];
    for &(least, greatest, rows) in spans {
        spread(&mut steps, edges, (least - half, greatest + half), rows as f64);
    }
    steps
}

/// The edges of the steps between two ends.
fn edges((least, greatest): (f64, f64), half: f64) -> Option<Vec<f64>> {
    let (from, to) = (least - half, greatest + half);
    let length = to - from;
    if !(from.is_finite() && length.is_finite()) {
        return None;
    }
    // Whole numbers have steps of whole width, so that all steps hold as many values.
    let width =
        if half > 0.0 { (length / MOST_STEPS).ceil().max(1.0) } else { length / MOST_STEPS };
    let width = if width > 0.0 { width } else { 1.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the greatest number of steps"
    )]
    let n_steps = ((length / width).ceil().max(1.0) as usize).min(41);
    let edges = (0..=n_steps).map(|step| from + width * step as f64);
    Some(edges.collect())
}

/// Adds rows evenly to the steps that a stretch of the line covers.
fn spread(steps: &mut [f64], edges: &[f64], (from, to): (f64, f64), rows: f64) {
    let last = steps.len() - 1;
    let step_of =
        |place: f64| edges.partition_point(|edge| *edge <= place).saturating_sub(1).min(last);
    let (first, end) = (step_of(from), step_of(to));
    if first == end || to <= from {
        steps[first] += rows;
        return;
    }
    for step in first..=end {
        let covered = to.min(edges[step + 1]) - from.max(edges[step]);
        steps[step] += rows * covered.max(0.0) / (to - from);
    }
}

fn by_value(
    attribute: &Attribute,
    column: &RecodedColumn,
    rows: &[u64],
    value_rows: Option<&[u64]>,
) -> Distribution {
    let n_codes = attribute.n_codes() as usize;
    let mut after = vec![0.0; n_codes];
    // Runs of codes that share rows evenly, as what begins and ends at a code.
    let mut steps = vec![0.0; n_codes + 1];
    let mut of_any = 0.0;
    for (cell, &rows) in column.cells.iter().zip(rows) {
        match cell {
            Cell::All => of_any += rows as f64,
            Cell::Set(codes) => {
                for &code in codes {
                    after[code as usize] += rows as f64 / codes.len() as f64;
                }
            }
            cell => {
                let runs = attribute.runs(cell);
                let n_codes: u32 = runs.iter().map(|(lo, hi)| hi - lo + 1).sum();
                let share = rows as f64 / f64::from(n_codes);
                for (lo, hi) in runs {
                    steps[lo as usize] += share;
                    steps[hi as usize + 1] -= share;
                }
            }
        }
    }
    let mut share = 0.0;
    for (after, step) in after.iter_mut().zip(&steps) {
        share += step;
        *after += share.max(0.0);
    }
    let before: Option<Vec<f64>> =
        value_rows.map(|value_rows| value_rows.iter().map(|&rows| rows as f64).collect());
    let named = few_nodes(attribute, before.as_ref(), &after)
        .unwrap_or_else(|| few_values(attribute, before.as_ref(), &after));
    let Named { mut names, mut before, mut after } = named;
    if of_any > 0.0 {
        let any = match &attribute.shape {
            Shape::Tree(hierarchy) => hierarchy.root_label(),
            _ => "*",
        };
        names.push(format!("{any}{ANY}"));
        if let Some(before) = &mut before {
            before.push(0.0);
        }
        after.push(of_any);
    }
    let before = before
        .zip(value_rows)
        .map(|(before, value_rows)| percent(&before, value_rows.iter().sum()));
    Distribution::Names { names, before, after: percent(&after, rows.iter().sum()) }
}

/// Rows by name.
struct Named {
    names: Vec<String>,
    before: Option<Vec<f64>>,
    after: Vec<f64>,
}

/// The rows of the commonest values, and of the others together.
fn few_values(attribute: &Attribute, before: Option<&Vec<f64>>, after: &[f64]) -> Named {
    let mut order: Vec<usize> = (0..after.len()).collect();
    let rank = |code: usize| before.map_or(after[code], |rows| rows[code]);
    // Codes may follow the table's own frequencies, which not every reader may know.
    let text = |code: usize| attribute.dictionary.texts.get(code);
    order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)).then_with(|| text(a).cmp(&text(b))));
    order.retain(|&code| rank(code) > 1e-9 || after[code] > 1e-9);
    let others = order.split_off(order.len().min(MOST_NAMES));
    let name = |code: usize| text(code).cloned().unwrap_or_else(|| MISSING.to_owned());
    let mut names: Vec<String> = order.iter().map(|&code| name(code)).collect();
    if !others.is_empty() {
        names.push(format!("{}{OTHERS}", others.len()));
    }
    let of = |rows: &[f64]| {
        let mut counts: Vec<f64> = order.iter().map(|&code| rows[code]).collect();
        if !others.is_empty() {
            counts.push(others.iter().map(|&code| rows[code]).sum());
        }
        counts
    };
    Named { names, before: before.map(|rows| of(rows)), after: of(after) }
}

/// The rows of the nodes of the lowest level that has few, where a hierarchy has many leaves.
fn few_nodes(attribute: &Attribute, before: Option<&Vec<f64>>, after: &[f64]) -> Option<Named> {
    let Shape::Tree(hierarchy) = &attribute.shape else { return None };
    let nodes = (0..hierarchy.height().0).map(|level| hierarchy.groups(Level(level)));
    let nodes = nodes.into_iter().find(|nodes| (2..=MOST_NODES).contains(&nodes.len()))?;
    let of = |rows: &[f64]| -> Vec<f64> {
        let of_node = |node: &Group| rows[node.lo as usize..=node.hi as usize].iter().sum();
        nodes.iter().map(of_node).collect()
    };
    let name = |node: &Group| match node.label.as_str() {
        "" => MISSING.to_owned(),
        label => label.to_owned(),
    };
    let names = nodes.iter().map(name).collect();
    Some(Named { names, before: before.map(|rows| of(rows)), after: of(after) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::{Dictionary, Kind};

    #[test]
    fn whole_numbers_have_whole_steps() {
        assert_eq!(edges((1.0, 3.0), 0.5), Some(vec![0.5, 1.5, 2.5, 3.5]));
        assert_eq!(edges((0.0, 99.0), 0.5).map(|edges| (edges.len(), edges[1])), Some((35, 2.5)));
        assert_eq!(edges((2.0, 2.0), 0.0), Some(vec![2.0, 3.0]));
        assert_eq!(edges((f64::INFINITY, f64::NEG_INFINITY), 0.0), None);
    }

    #[test]
    fn rows_are_spread_evenly_and_none_is_lost() {
        let edges = [0.0, 1.0, 2.0, 3.0];
        let mut steps = [0.0; 3];
        spread(&mut steps, &edges, (0.5, 2.5), 8.0);
        assert_eq!(steps.to_vec(), vec![2.0, 4.0, 2.0]);
        spread(&mut steps, &edges, (3.0, 3.0), 1.0);
        assert_eq!(steps.to_vec(), vec![2.0, 4.0, 3.0]);
    }

    #[test]
    fn a_set_is_shared_by_its_values() {
        let texts = ["a", "b", "c"].map(str::to_owned).to_vec();
        let dictionary = Dictionary { kind: Kind::Text, ..Dictionary::of_texts(texts, false) };
        let attribute = Attribute { name: "x".to_owned(), dictionary, shape: Shape::Unordered };
        let column = RecodedColumn {
            cells: vec![Cell::Set(vec![0, 1]), Cell::Value(2), Cell::All],
            of_class: vec![0, 1, 2],
        };
        let found = by_value(&attribute, &column, &[4, 4, 2], Some(&[1, 3, 6]));
        let Distribution::Names { names, before, after } = found else { panic!("values") };
        assert_eq!(names, ["c", "b", "a", "* (any value)"]);
        assert_eq!(before, Some(vec![60.0, 30.0, 10.0, 0.0]));
        assert_eq!(after, [40.0, 20.0, 20.0, 20.0]);
    }
}
