//! How a recoded cell reads, as `docs/src/labels.md` has it.

use incrowd_data::{Attribute, Cell, Kind, Labels, Level, RecodedColumn, Shape, set_label};

/// What stands in a recoded cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelForm {
    /// Least and greatest value present.
    Range,
    /// The cut points around the class.
    Region,
    /// Two columns, least and greatest value, of the column's own type.
    Bounds,
    /// The mean of the class, for numbers.
    Mean,
    /// Range and mean side by side.
    RangeMean,
}

impl LabelForm {
    /// Every form with its name.
    pub const NAMES: [(&'static str, LabelForm); 5] = [
        ("range", LabelForm::Range),
        ("region", LabelForm::Region),
        ("bounds", LabelForm::Bounds),
        ("mean", LabelForm::Mean),
        ("range+mean", LabelForm::RangeMean),
    ];
}

/// The released columns of one attribute. `means` has the mean of each class for a column of
/// numbers; it is asked for by the forms that release it.
#[must_use]
pub fn labels(
    attribute: &Attribute,
    column: &RecodedColumn,
    form: LabelForm,
    means: Option<&[Option<f64>]>,
) -> Vec<Labels> {
    let is_ordered = matches!(attribute.shape, Shape::Numeric | Shape::Ordinal);
    match (form, means) {
        (LabelForm::Bounds, _) if is_ordered => bounds(attribute, column),
        (LabelForm::Mean, Some(means)) => vec![mean(attribute.name.clone(), means)],
        (LabelForm::RangeMean, Some(means)) => {
            vec![text(attribute, column), mean(format!("{}_mean", attribute.name), means)]
        }
        _ => vec![text(attribute, column)],
    }
}

fn text(attribute: &Attribute, column: &RecodedColumn) -> Labels {
    let texts = column.cells.iter().map(|cell| label(attribute, cell)).collect();
    // A column that nothing happened to is still what it was.
    let is_untouched = column.cells.iter().all(|cell| matches!(cell, Cell::Value(_)));
    let kind = if is_untouched { attribute.dictionary.kind } else { Kind::Text };
    let (name, of_class) = (attribute.name.clone(), column.of_class.clone());
    Labels { name, kind, is_mean: false, texts, of_class }
}

fn bounds(attribute: &Attribute, column: &RecodedColumn) -> Vec<Labels> {
    let of = |end: fn(u32, u32) -> u32, suffix: &str| {
        let texts = column.cells.iter().map(|cell| match cell {
            Cell::Value(code) => attribute.dictionary.text(*code).map(str::to_owned),
            Cell::Range(lo, hi) => attribute.dictionary.text(end(*lo, *hi)).map(str::to_owned),
            Cell::Node(..) | Cell::Set(_) | Cell::All => None,
        });
        Labels {
            name: format!("{}_{suffix}", attribute.name),
            kind: attribute.dictionary.kind,
            is_mean: false,
            texts: texts.collect(),
            of_class: column.of_class.clone(),
        }
    };
    vec![of(|lo, _| lo, "min"), of(|_, hi| hi, "max")]
}

fn mean(name: String, means: &[Option<f64>]) -> Labels {
    let texts = means.iter().map(|mean| mean.map(|mean| mean.to_string())).collect();
    let of_class = (0..).take(means.len()).collect();
    Labels { name, kind: Kind::Decimal, is_mean: true, texts, of_class }
}

/// The text of a cell; a missing value has none.
fn label(attribute: &Attribute, cell: &Cell) -> Option<String> {
    let dictionary = &attribute.dictionary;
    let text = |code: u32| dictionary.text(code).unwrap_or_default();
    match cell {
        Cell::Value(code) => dictionary.text(*code).map(str::to_owned),
        Cell::Range(lo, hi) => Some(format!("[{}-{}]", text(*lo), text(*hi))),
        Cell::Node(level, group) => match &attribute.shape {
            Shape::Tree(hierarchy) => {
                // Only the category of missing values has an empty label.
                let label = &hierarchy.groups(Level(*level))[*group as usize].label;
                Some(label.clone()).filter(|label| !label.is_empty())
            }
            _ => Some("*".to_owned()),
        },
        Cell::Set(codes) if codes.len() == attribute.n_codes() as usize => Some("*".to_owned()),
        Cell::Set(codes) => {
            let mut texts: Vec<&str> = codes.iter().map(|&code| text(code)).collect();
            texts.sort_unstable();
            Some(set_label(texts))
        }
        Cell::All => Some("*".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::{Dictionary, Hierarchy};

    fn attribute(kind: Kind, texts: &[&str], has_missing: bool, shape: Shape) -> Attribute {
        let mut dictionary =
            Dictionary::of_texts(texts.iter().map(|&text| text.to_owned()).collect(), has_missing);
        dictionary.kind = kind;
        Attribute { name: "a".to_owned(), dictionary, shape }
    }

    #[track_caller]
    fn check(attribute: &Attribute, cell: &Cell, expected: Option<&str>) {
        assert_eq!(label(attribute, cell).as_deref(), expected);
    }

    #[test]
    fn the_table_of_the_design() {
        let age = attribute(Kind::Integer, &["25", "26", "28"], true, Shape::Numeric);
        check(&age, &age.cell(0, 2, &[]), Some("[25-28]"));
        check(&age, &age.cell(1, 1, &[]), Some("26"));
        check(&age, &age.cell(3, 3, &[]), None);
        check(&age, &age.cell(0, 3, &[]), Some("*"));
        let day = attribute(Kind::Date, &["2024-01-03", "2024-02-11"], false, Shape::Numeric);
        check(&day, &day.cell(0, 1, &[]), Some("[2024-01-03-2024-02-11]"));
        let status =
            attribute(Kind::Text, &["Divorced", "Single", "Widowed"], true, Shape::Unordered);
        check(&status, &status.cell(0, 2, &[0, 2]), Some("{Divorced|Widowed}"));
        check(&status, &status.cell(0, 3, &[0, 3]), Some("{|Divorced}"));
        check(&status, &status.cell(0, 3, &[0, 1, 2, 3]), Some("*"));
        let rows = ["fr;Europe;*", "de;Europe;*", "jp;Asia;*"]
            .map(|row| row.split(';').map(str::to_owned).collect());
        let tree = Shape::Tree(Hierarchy::from_rows(&rows).unwrap());
        let country = attribute(Kind::Text, &["fr", "de", "jp"], false, tree);
        check(&country, &country.cell(0, 1, &[]), Some("Europe"));
        check(&country, &country.cell(0, 2, &[]), Some("*"));
    }

    #[test]
    fn bounds_are_two_columns_of_the_columns_own_type() {
        let age = attribute(Kind::Integer, &["25", "26", "28"], true, Shape::Numeric);
        let cells = vec![age.cell(0, 1, &[]), age.cell(2, 2, &[]), age.cell(3, 3, &[]), Cell::All];
        let column = RecodedColumn { cells, of_class: vec![0, 1, 2, 3] };
        let [min, max] = &labels(&age, &column, LabelForm::Bounds, None)[..] else { panic!("two") };
        assert_eq!((min.name.as_str(), max.name.as_str()), ("a_min", "a_max"));
        assert_eq!(min.kind, Kind::Integer);
        assert_eq!(min.texts, [Some("25".to_owned()), Some("28".to_owned()), None, None]);
        assert_eq!(max.texts, [Some("26".to_owned()), Some("28".to_owned()), None, None]);
    }
}
