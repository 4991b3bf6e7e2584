//! The labels of recoded cells. The guide's page on labels explains how to read them.

use incrowd_data::{
    Attribute, Cell, Hierarchy, Kind, Label, Labels, LabelsOf, Level, RecodedColumn, Shape,
    closed_label, value_label,
};

/// What a recoded cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelForm {
    /// The least and greatest values of the class.
    Range,
    /// The cut points around the class.
    Region,
    /// Two columns of the column's own type: the least and the greatest value.
    Bounds,
    /// The mean of the class, for numbers.
    Mean,
    /// Two columns: the range and the mean.
    RangeMean,
}

impl LabelForm {
    /// Every form with its name in job files and reports.
    pub const NAMES: [(&'static str, LabelForm); 5] = [
        ("range", LabelForm::Range),
        ("region", LabelForm::Region),
        ("bounds", LabelForm::Bounds),
        ("mean", LabelForm::Mean),
        ("range+mean", LabelForm::RangeMean),
    ];
}

/// The released columns of one attribute. `means` has the mean of each class for a column of
/// numbers; only the forms that release means need it.
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
        (LabelForm::Bounds, _) => {
            vec![Labels { are_sets: has_sets(attribute), ..text(attribute, column) }]
        }
        (LabelForm::Mean, Some(means)) => vec![mean(attribute.name.clone(), means)],
        (LabelForm::RangeMean, Some(means)) => {
            vec![text(attribute, column), mean(format!("{}_mean", attribute.name), means)]
        }
        _ => vec![text(attribute, column)],
    }
}

/// Whether the cells of an attribute are sets of texts, and no names of nodes.
fn has_sets(attribute: &Attribute) -> bool {
    matches!(attribute.shape, Shape::Unordered) && attribute.dictionary.kind == Kind::Text
}

fn text(attribute: &Attribute, column: &RecodedColumn) -> Labels {
    let texts = column.cells.iter().map(|cell| label(attribute, cell)).collect();
    // A column that was not changed keeps its kind.
    let is_untouched = column.cells.iter().all(|cell| matches!(cell, Cell::Value(_)));
    let kind = if is_untouched { attribute.dictionary.kind } else { Kind::Text };
    let (name, of_class) = (attribute.name.clone(), column.of_class.clone());
    Labels { name, kind, is_mean: false, are_sets: false, texts, of_class }
}

fn bounds(attribute: &Attribute, column: &RecodedColumn) -> Vec<Labels> {
    let of = |end: fn(u32, u32) -> u32, suffix: &str| {
        let texts = column.cells.iter().map(|cell| match cell {
            Cell::Value(code) => attribute.dictionary.text(*code).map(str::to_owned),
            Cell::Range(lo, hi) => attribute.dictionary.text(end(*lo, *hi)).map(str::to_owned),
            Cell::Node(..) | Cell::Nodes(_) | Cell::Set(_) | Cell::Between(_) | Cell::All => None,
        });
        Labels {
            name: format!("{}_{suffix}", attribute.name),
            kind: attribute.dictionary.kind,
            is_mean: false,
            are_sets: false,
            texts: texts.collect(),
            of_class: column.of_class.clone(),
        }
    };
    vec![of(|lo, _| lo, "min"), of(|_, hi| hi, "max")]
}

fn mean(name: String, means: &[Option<f64>]) -> Labels {
    let texts = means.iter().map(|mean| mean.map(|mean| mean.to_string())).collect();
    let of_class = (0..).take(means.len()).collect();
    Labels { name, kind: Kind::Decimal, is_mean: true, are_sets: false, texts, of_class }
}

/// The text of a cell; a missing value has none.
fn label(attribute: &Attribute, cell: &Cell) -> Option<String> {
    let dictionary = &attribute.dictionary;
    let text = |code: u32| dictionary.text(code).unwrap_or_default();
    let of = labels_of(&attribute.shape);
    match cell {
        Cell::Value(code) => dictionary.text(*code).map(|value| match &attribute.shape {
            Shape::Tree(hierarchy) => name_label(hierarchy, value, (*code, *code)),
            _ => value_label(value, of),
        }),
        Cell::Range(lo, hi) => Some(closed_label(text(*lo), text(*hi))),
        Cell::Between(part) => Some(part.label().write(of)),
        Cell::Node(level, group) => match &attribute.shape {
            Shape::Tree(hierarchy) => {
                // Only the category for missing values has an empty label.
                let node = &hierarchy.groups(Level(*level))[*group as usize];
                (!node.label.is_empty())
                    .then(|| name_label(hierarchy, &node.label, (node.lo, node.hi)))
            }
            _ => Some("*".to_owned()),
        },
        Cell::Nodes(nodes) => {
            let names = nodes.iter().map(|&(level, group)| node_name(attribute, level, group));
            Some(set_of(names.collect(), of))
        }
        Cell::Set(codes) if codes.len() == attribute.n_codes() as usize => Some("*".to_owned()),
        Cell::Set(codes) => {
            Some(set_of(codes.iter().map(|&code| dictionary.text(code)).collect(), of))
        }
        Cell::All => match &attribute.shape {
            // A root has its own label; with missing values below it, it is `*`.
            Shape::Tree(hierarchy) => {
                let leaves = (0, hierarchy.n_leaves() - 1);
                Some(name_label(hierarchy, hierarchy.root_label(), leaves))
            }
            _ => Some("*".to_owned()),
        },
    }
}

/// A set of values and names, which may include a missing one.
fn set_of(mut texts: Vec<Option<&str>>, of: LabelsOf) -> String {
    texts.sort_unstable();
    Label::Set(texts.into_iter().map(|text| text.map(str::to_owned)).collect()).write(of)
}

/// The name of a node; only the category for missing values has none.
fn node_name(attribute: &Attribute, level: u8, group: u32) -> Option<&str> {
    let Shape::Tree(hierarchy) = &attribute.shape else { return Some("*") };
    let name = hierarchy.groups(Level(level))[group as usize].label.as_str();
    (!name.is_empty()).then_some(name)
}

/// What the labels of a column describe.
fn labels_of(shape: &Shape) -> LabelsOf {
    if matches!(shape, Shape::Numeric) { LabelsOf::Line } else { LabelsOf::Texts }
}

/// The name of a node, which covers a run of leaves. A name that would be read as something else
/// gets a leading backslash; the names in built hierarchies are labels of what they cover.
fn name_label(hierarchy: &Hierarchy, name: &str, (lo, hi): (u32, u32)) -> String {
    let is_plain = match Label::parse(name, LabelsOf::Texts) {
        Label::Any => hi - lo + 1 == hierarchy.n_leaves(),
        Label::Value(value) => value == name,
        Label::Set(members) => {
            let leaves: Vec<Option<&str>> = hierarchy.groups(Level(0))[lo as usize..=hi as usize]
                .iter()
                .map(|leaf| Some(leaf.label.as_str()))
                .collect();
            members.iter().all(|member| leaves.contains(&member.as_deref()))
        }
        // A hierarchy has no ranges except those that it names.
        _ => true,
    };
    if is_plain { name.to_owned() } else { format!("\\{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::{Between, Dictionary, End};

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
    fn labels_of_every_kind_of_cell() {
        let age = attribute(Kind::Integer, &["25", "26", "28"], true, Shape::Numeric);
        check(&age, &age.cell(0, 2, &[]), Some("[25-28]"));
        check(&age, &age.cell(1, 1, &[]), Some("26"));
        check(&age, &age.cell(3, 3, &[]), None);
        check(&age, &age.cell(0, 3, &[]), Some("*"));
        let day = attribute(Kind::Date, &["2024-01-03", "2024-02-11"], false, Shape::Numeric);
        check(&day, &day.cell(0, 1, &[]), Some("[2024-01-03..2024-02-11]"));
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
        let europe = [(Level(1), 0)];
        check(&country, &country.cover(&[(0, 1)], &[]), Some("Europe"));
        check(&country, &country.cover(&[(0, 0), (2, 2)], &europe), Some("{fr|jp}"));
    }

    #[test]
    fn a_root_keeps_its_label_unless_it_covers_missing_values() {
        let rows = ["53715;5371*;537**", "53710;5371*;537**", "53703;5370*;537**"]
            .map(|row| row.split(';').map(str::to_owned).collect());
        let tree = Hierarchy::from_rows(&rows).unwrap();
        let leaves = ["53715", "53710", "53703"];
        let zip = attribute(Kind::Text, &leaves, false, Shape::Tree(tree.clone()));
        check(&zip, &zip.cell(0, 2, &[]), Some("537**"));
        assert!((zip.loss(&zip.cell(0, 2, &[])) - 1.0).abs() < 1e-12);
        let zip = attribute(Kind::Text, &leaves, true, Shape::Tree(tree.with_missing()));
        check(&zip, &zip.cell(0, 2, &[]), Some("537**"));
        check(&zip, &zip.cell(3, 3, &[]), None);
        check(&zip, &zip.cell(0, 3, &[]), Some("*"));
        assert!((zip.loss(&zip.cell(0, 3, &[])) - 1.0).abs() < 1e-12);
    }

    /// The cell of a label, read with knowledge of the column.
    fn read(attribute: &Attribute, label: Option<&str>) -> Cell {
        let dictionary = &attribute.dictionary;
        let code = |text: &str| {
            let place = dictionary.texts.iter().position(|known| known == text);
            place.and_then(|place| u32::try_from(place).ok())
        };
        let Some(label) = label else { return Cell::Value(dictionary.missing().unwrap()) };
        let tree = match &attribute.shape {
            Shape::Tree(hierarchy) => Some(hierarchy),
            _ => None,
        };
        let of = Label::parse(label, LabelsOf::Texts);
        let name = if let Label::Value(name) = &of { name.as_str() } else { label };
        let is_all = label == "*" || tree.is_some_and(|tree| tree.n_leaves() == 1);
        if let Some(tree) = tree.filter(|_| !is_all) {
            let leaf = code(name).map(Cell::Value);
            let node = (1..tree.height().0).find_map(|level| {
                let groups = tree.groups(Level(level)).iter().position(|of| of.label == name);
                groups.map(|group| Cell::Node(level, u32::try_from(group).unwrap()))
            });
            if let Some(cell) = leaf.or(node) {
                return cell;
            }
        }
        match Label::parse(label, labels_of(&attribute.shape)) {
            Label::Any => Cell::All,
            Label::Value(text) => Cell::Value(code(&text).unwrap()),
            Label::Closed(lo, hi) => Cell::Range(code(&lo).unwrap(), code(&hi).unwrap()),
            Label::Set(members) => {
                let of = |member: &Option<String>| match member {
                    Some(text) => code(text).unwrap(),
                    None => dictionary.missing().unwrap(),
                };
                let mut codes: Vec<u32> = members.iter().map(of).collect();
                codes.sort_unstable();
                Cell::Set(codes)
            }
            other => panic!("{label}: {other:?}"),
        }
    }

    const HOSTILE: [&str; 24] = [
        "*", "**", "", " ", " a ", "-", "a-b", "..", "a..b", ".a", "a.", "{", "}", "{}", "{a|b}",
        "[1-2]", "[1..2]", "a|b", "\\", "\\*", "\"q\"", "<5", ">=5", "[0.5-1)",
    ];

    #[test]
    fn every_label_is_read_back() {
        let n = u32::try_from(HOSTILE.len()).unwrap();
        for has_missing in [false, true] {
            for shape in [Shape::Ordinal, Shape::Unordered] {
                let texts = attribute(Kind::Text, &HOSTILE, has_missing, shape);
                for lo in 0..texts.n_codes() {
                    for hi in lo..texts.n_codes() {
                        for present in [vec![lo, hi], (lo..=hi).collect()] {
                            let cell = texts.cell(lo, hi, &present);
                            let found = read(&texts, label(&texts, &cell).as_deref());
                            let is_whole = present.len() == texts.n_codes() as usize;
                            let expected = if is_whole { Cell::All } else { cell };
                            let is_listed = matches!(texts.shape, Shape::Unordered);
                            let is_range = matches!(found, Cell::Range(0, last) if last == n - 1);
                            assert!(found == expected || is_range && !is_listed, "{expected:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_number_date_and_time_is_read_back() {
        for (kind, texts) in [
            (Kind::Integer, ["-9223372036854775808", "-1", "0", "9223372036854775807"]),
            (Kind::Decimal, ["-1.5e-7", "-0.25", "0.1", "1e300"]),
            (Kind::Date, ["0001-01-01", "1999-12-31", "2000-01-01", "2024-02-29"]),
            (
                Kind::Timestamp,
                ["1999-12-31T23:59:59.5", "2000-01-01", "2024-01-01T00:00Z", "2024-02-01 10:00"],
            ),
        ] {
            let line = attribute(kind, &texts, true, Shape::Numeric);
            for lo in 0..5 {
                for hi in lo..5 {
                    let cell = line.cell(lo, hi, &[]);
                    assert_eq!(read(&line, label(&line, &cell).as_deref()), cell);
                }
            }
            for (from, below) in [(0, 1), (1, 3), (2, 3)] {
                let end = |code: usize| Some(End::new(texts[code].to_owned(), 0.0));
                let part = |from, below, last| Between { lo: 0, hi: 1, from, below, last };
                for part in [
                    part(end(from), end(below), None),
                    part(end(from), end(3), end(below)),
                    part(end(from), None, None),
                    part(None, end(below), None),
                ] {
                    let expected = part.label();
                    let text = label(&line, &Cell::Between(Box::new(part))).unwrap();
                    assert_eq!(Label::parse(&text, LabelsOf::Line), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn names_of_nodes_are_read_back() {
        let rows = [
            ["a", "{b|c}", "x", "*"],
            ["b", "[1-2]", "x", "*"],
            ["c", "[1-2]", "x", "*"],
            ["\\d", "*", "y", "*"],
            ["e", "*", "y", "*"],
            ["{a|b}", "\\", "y", "*"],
            ["f", "\\", "y", "*"],
            ["g", "{g|h}", "z", "*"],
            ["h", "{g|h}", "z", "*"],
        ];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect();
        let hierarchy = Hierarchy::from_rows(&rows).unwrap();
        let leaves: Vec<String> = hierarchy.leaves().map(str::to_owned).collect();
        let leaves: Vec<&str> = leaves.iter().map(String::as_str).collect();
        let tree = attribute(Kind::Text, &leaves, false, Shape::Tree(hierarchy));
        for lo in 0..tree.n_codes() {
            for hi in lo..tree.n_codes() {
                let cell = tree.cell(lo, hi, &[]);
                assert_eq!(read(&tree, label(&tree, &cell).as_deref()), cell, "{lo} {hi}");
            }
        }
        check(&tree, &tree.cell(7, 8, &[]), Some("{g|h}"));
        check(&tree, &tree.cell(3, 4, &[]), Some("\\*"));
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

    #[test]
    fn bounds_of_texts_without_an_order_are_sets() {
        let are_sets = |kind, shape, form| {
            let attribute = attribute(kind, &["a", "b", "c"], false, shape);
            let cells = vec![attribute.cell(0, 1, &[0, 1]), Cell::Value(2)];
            let column = RecodedColumn { cells, of_class: vec![0, 1] };
            let found = labels(&attribute, &column, form, None);
            found.iter().map(|labels| labels.are_sets).collect::<Vec<_>>()
        };
        assert_eq!(are_sets(Kind::Text, Shape::Unordered, LabelForm::Bounds), [true]);
        assert_eq!(are_sets(Kind::Text, Shape::Unordered, LabelForm::Range), [false]);
        assert_eq!(are_sets(Kind::Boolean, Shape::Unordered, LabelForm::Bounds), [false]);
        assert_eq!(are_sets(Kind::Text, Shape::Ordinal, LabelForm::Bounds), [false, false]);
        let rows =
            ["a;x;*", "b;x;*", "c;y;*"].map(|row| row.split(';').map(str::to_owned).collect());
        let tree = Shape::Tree(Hierarchy::from_rows(&rows).unwrap());
        assert_eq!(are_sets(Kind::Text, tree, LabelForm::Bounds), [false]);
    }
}
