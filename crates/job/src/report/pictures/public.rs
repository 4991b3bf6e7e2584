//! What a release looks like to whoever has nothing but the release: its labels, and how many rows
//! have each.
//!
//! Nothing here looks at a dictionary, a type or an order of the table: two tables with the same
//! release give the same pictures. Labels that read as numbers or ranges of them are drawn on a
//! line; others are listed.

use std::collections::BTreeMap;

use incrowd_data::{Label, LabelsOf, Shape};
use incrowd_release::LabelForm;

use super::distribution::Distribution;
use super::kept::{Unit, in_words, masked, named};
use super::line::half_of;
use super::names::Covers;
use super::partition::{Partition, tiles_of};
use super::{
    Associations, CellsShown, ColumnPicture, Declared, MISSING, NodeNames, PictureSource, Pictures,
    listed_labels, spans_shown, texts_of,
};

/// The labels of a column.
struct ReleasedLabels {
    /// Distinct labels in their order, each with its rows.
    labels: Vec<(String, u64)>,
    /// By class, its label.
    of_class: Vec<usize>,
    /// By label, its ends, if all labels that say something are numbers or ranges of them.
    ends: Option<Vec<Option<(f64, f64)>>>,
}

/// Labels that say nothing.
const ANY: &str = "*";
const EMPTY: &str = "(empty)";

impl PictureSource<'_> {
    /// Looks at the release alone.
    pub(super) fn public_pictures(&self) -> Pictures {
        let names = || self.set.attributes.iter().map(|attribute| attribute.name.clone());
        if self.labels == LabelForm::Mean {
            // Which columns hold means, and not labels, their types tell.
            let column = |name| ColumnPicture {
                name,
                values: String::new(),
                kept: String::new(),
                cells: CellsShown::Means,
                distribution: None,
            };
            return Pictures { columns: names().map(column).collect(), ..Pictures::default() };
        }
        let told: Vec<ReleasedLabels> =
            (0..self.set.attributes.len()).map(|at| self.released_labels(at)).collect();
        Pictures {
            columns: told.iter().enumerate().map(|(at, told)| self.column_of(at, told)).collect(),
            associations: Associations::default(),
            records: None,
            partition: self.told_partition(&told),
        }
    }

    /// The labels of a column as they stand in the release.
    fn released_labels(&self, at: usize) -> ReleasedLabels {
        let attribute = &self.set.attributes[at];
        let column = &self.recoded().columns[at];
        let is_ordered = matches!(attribute.shape, Shape::Numeric | Shape::Ordinal);
        let has_bounds = self.labels == LabelForm::Bounds && is_ordered;
        let read = |text: String| match text.as_str() {
            // Two columns of bounds leave both empty.
            ANY | MISSING if has_bounds => EMPTY.to_owned(),
            _ => text,
        };
        let texts: Vec<String> = texts_of(attribute, column).into_iter().map(read).collect();
        let mut rows_of: BTreeMap<&str, u64> = BTreeMap::new();
        for (&cell, rows) in column.of_class.iter().zip(&self.recoded().sizes) {
            *rows_of.entry(&texts[cell as usize]).or_default() += rows;
        }
        let labels: Vec<(String, u64)> =
            rows_of.into_iter().map(|(text, rows)| (text.to_owned(), rows)).collect();
        let number = |text: &str| labels.partition_point(|(known, _)| known.as_str() < text);
        let of_class = column.of_class.iter().map(|&cell| number(&texts[cell as usize])).collect();
        let is_said = |label: &str| ![ANY, MISSING, EMPTY].contains(&label);
        let said = || labels.iter().filter(|(label, _)| is_said(label));
        let is_line = said().count() > 0 && said().all(|(label, _)| ends_of(label).is_some());
        let ends = is_line.then(|| labels.iter().map(|(label, _)| ends_of(label)).collect());
        ReleasedLabels { labels, of_class, ends }
    }

    fn column_of(&self, at: usize, told: &ReleasedLabels) -> ColumnPicture {
        let declared = match self.declared[at] {
            Some(Declared::Order) => "in the declared order",
            Some(Declared::Hierarchy(_)) => "a hierarchy",
            None => "",
        };
        let (cells, distribution) = match &told.ends {
            Some(ends) => {
                let rows = told.labels.iter().map(|(_, rows)| *rows);
                let spans: Vec<(f64, f64, u64)> = (ends.iter().zip(rows))
                    .filter_map(|(ends, rows)| {
                        ends.map(|(least, greatest)| (least, greatest, rows))
                    })
                    .collect();
                let rows_of = |label: &str| {
                    let found = told.labels.iter().filter(|(known, _)| known == label);
                    found.map(|(_, rows)| rows).sum()
                };
                let hidden = (rows_of(ANY) + rows_of(EMPTY), rows_of(MISSING));
                let n_rows = self.recoded().sizes.iter().sum();
                let distribution = Distribution::of_spans(&spans, half(ends), n_rows);
                (CellsShown::Spans(spans_shown("value", spans, None, hidden)), distribution)
            }
            None => (listed_labels(told.labels.clone()), None),
        };
        ColumnPicture {
            name: self.set.attributes[at].name.clone(),
            values: declared.to_owned(),
            kept: told_kept(told, self.declared[at].and_then(Declared::node_names)),
            cells,
            distribution,
        }
    }

    /// The tiles of two columns that lie on lines: those that are named, or those with most labels.
    fn told_partition(&self, told: &[ReleasedLabels]) -> Option<Partition> {
        let name = |at: usize| self.set.attributes[at].name.as_str();
        let mut drawn: Vec<usize> = (0..told.len()).filter(|&at| told[at].ends.is_some()).collect();
        drawn.sort_by_key(|&at| (std::cmp::Reverse(told[at].labels.len()), at));
        let [x, y] = match &self.wanted.picture {
            Some([x, y]) => {
                let at = |named: &str| drawn.iter().copied().find(|&at| name(at) == named);
                [at(x)?, at(y)?]
            }
            None => [*drawn.first()?, *drawn.get(1)?],
        };
        let (across, up) = (told[x].ends.as_ref()?, told[y].ends.as_ref()?);
        let (half_across, half_up) = (half(across), half(up));
        let mut rows_of: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let pairs = told[x].of_class.iter().copied().zip(told[y].of_class.iter().copied());
        for (pair, rows) in pairs.zip(&self.recoded().sizes) {
            *rows_of.entry(pair).or_default() += rows;
        }
        let tile = |(&(a, b), &rows): (&(usize, usize), &u64)| {
            let ((left, right), (lower, upper)) = (across[a]?, up[b]?);
            let tile = [left - half_across, right + half_across, lower - half_up, upper + half_up];
            Some((rows, vec![tile]))
        };
        let tiles = tiles_of(rows_of.iter().filter_map(tile).collect(), self.seed())?;
        let columns = [x, y].map(|at| (name(at).to_owned(), "value"));
        Partition::of(columns, tiles, (Vec::new(), None))
    }
}

/// What labels tell of how much they keep: widths of ranges, characters that are hidden. The job
/// says how the nodes of a hierarchy are named.
fn told_kept(told: &ReleasedLabels, names: Option<NodeNames>) -> String {
    let (texts, rows): (Vec<String>, Vec<u64>) = told.labels.iter().cloned().unzip();
    if let Some(names) = names {
        return named(&texts, &rows, names).unwrap_or_default();
    }
    let Some(ends) = &told.ends else { return masked(&texts, &rows, '*').unwrap_or_default() };
    let is_open = |label: &str| {
        matches!(Label::parse(label, LabelsOf::Line), Label::Below(_) | Label::From(_))
    };
    let covers = |(label, ends): (&String, &Option<(f64, f64)>)| match (label.as_str(), ends) {
        (label, Some(_)) if is_open(label) => Covers::Open,
        (_, Some((least, greatest))) if least >= greatest => Covers::Exact,
        (_, Some((least, greatest))) => Covers::Width(greatest - least),
        (MISSING, None) => Covers::Missing,
        _ => Covers::All,
    };
    in_words(texts.iter().zip(ends).map(covers).zip(rows), Unit::Number)
}

fn half(ends: &[Option<(f64, f64)>]) -> f64 {
    half_of("value", ends.iter().flatten().flat_map(|&(least, greatest)| [least, greatest]))
}

/// The ends of a label that reads as a number or as a range of numbers.
fn ends_of(label: &str) -> Option<(f64, f64)> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(one) = number(label) {
        return Some((one, one));
    }
    let ends = match Label::parse(label, LabelsOf::Line) {
        Label::Closed(lo, hi) | Label::HalfOpen(lo, hi) => number(&lo).zip(number(&hi)),
        // Nothing says how far they reach: they are drawn where they begin.
        Label::Below(end) | Label::From(end) => number(&end).map(|end| (end, end)),
        _ => None,
    };
    ends.filter(|(least, greatest)| least <= greatest)
}

#[cfg(test)]
mod tests {
    use super::ends_of;

    #[test]
    fn numbers_and_their_ranges_have_ends() {
        let labels = [
            "5",
            "-1.5",
            "[25-28]",
            "[-3..-1]",
            "[-1..2]",
            "[1e-3..2]",
            "[-16.9..-4.6]",
            "[0.5-1)",
            "<-5",
            ">=20",
        ];
        let ends = [
            (5.0, 5.0),
            (-1.5, -1.5),
            (25.0, 28.0),
            (-3.0, -1.0),
            (-1.0, 2.0),
            (1e-3, 2.0),
            (-16.9, -4.6),
            (0.5, 1.0),
            (-5.0, -5.0),
            (20.0, 20.0),
        ];
        assert_eq!(labels.map(ends_of).to_vec(), ends.map(Some).to_vec());
        for label in
            ["x", "", "*", "[a-b]", "[2-1]", "{1|2}", "2024-01-03", "[2024-01-03..2024-02-11]"]
        {
            assert_eq!(ends_of(label), None, "{label}");
        }
    }
}
