//! Conditions over recoded columns, in codes.

use incrowd_data::{
    Attribute, CodeSet, Comparison, Condition, Kind, Literal, MOST_REGIONS, Region, Shape, Test,
};
use incrowd_engine::position;

use crate::spec::error::Problem;

/// The most regions of all selections or of all queries together.
pub(crate) const MOST_BOXES: usize = 1024;

/// What a condition asks of recoded columns: all of it, or the parts of an AND that test no other
/// column. What is asked of other columns is answered exactly by the release. None if both are
/// joined otherwise.
pub(super) fn recoded_part(
    condition: &Condition,
    is_quasi: &impl Fn(&str) -> bool,
) -> Option<Condition> {
    let columns = condition.columns();
    if columns.iter().all(|name| is_quasi(name)) {
        return Some(condition.clone());
    }
    if !columns.iter().any(|name| is_quasi(name)) {
        return Some(Condition::All(Vec::new()));
    }
    match condition {
        Condition::All(parts) => {
            let parts = parts.iter().map(|part| recoded_part(part, is_quasi));
            parts.collect::<Option<Vec<_>>>().map(Condition::All)
        }
        _ => None,
    }
}

/// The disjoint regions of a condition, in codes.
pub(crate) fn regions(
    attributes: &[Attribute],
    condition: &Condition,
) -> Result<Vec<Region>, Problem> {
    let position = |name: &str| attributes.iter().position(|attribute| attribute.name == name);
    let condition =
        recoded_part(condition, &|name| position(name).is_some()).unwrap_or(Condition::All(vec![]));
    let mut misfit = None;
    condition.each_test(&mut |column, test| {
        let attribute = &attributes[position(column).expect("a recoded column")];
        misfit = misfit.take().or_else(|| misfitting(attribute, test));
    });
    if let Some(problem) = misfit {
        return Err(problem);
    }
    let codes = |column: &str, test: &Test| {
        let at = position(column).expect("a recoded column");
        (at, admitted(&attributes[at], test))
    };
    condition.regions(&codes).map_err(|_| {
        Problem::new(format!("a condition falls apart into more than {MOST_REGIONS} regions"))
            .help("write it with fewer ORs")
    })
}

/// What is wrong with a test of an attribute.
fn misfitting(attribute: &Attribute, test: &Test) -> Option<Problem> {
    let literals = match test {
        Test::Compare(_, literal) => std::slice::from_ref(literal),
        Test::In(literals) | Test::NotIn(literals) => literals,
        Test::IsMissing | Test::IsPresent => return None,
    };
    let name = &attribute.name;
    let kind = attribute.dictionary.kind;
    if matches!(attribute.shape, Shape::Numeric) {
        let is_wrong = |literal: &Literal| place(kind, literal).is_none();
        return literals.iter().any(is_wrong).then(|| {
            Problem::new(format!("`{name}` is {kind}, but is compared with something else"))
                .help("write numbers without quotes, and dates as '2024-01-31'")
        });
    }
    let Test::Compare(comparison, literal) = test else { return None };
    let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let is_listed = attribute.dictionary.texts.contains(&literal.text);
    (is_order && matches!(attribute.shape, Shape::Ordinal) && !is_listed).then(|| {
        Problem::new(format!("`{name}` is compared with a value that its order does not have"))
    })
}

/// Where a constant lies among the values of a kind.
fn place(kind: Kind, literal: &Literal) -> Option<f64> {
    match kind {
        Kind::Integer | Kind::Decimal => literal.text.parse().ok(),
        Kind::Date => position(kind, &literal.text),
        Kind::Timestamp => position(kind, &literal.text)
            .or_else(|| position(kind, &format!("{}T00:00:00", literal.text))),
        Kind::Boolean | Kind::Text => None,
    }
}

/// The codes that satisfy a test.
fn admitted(attribute: &Attribute, test: &Test) -> CodeSet {
    let missing = attribute.dictionary.missing();
    let holds = |code: u32| match test {
        Test::IsMissing => Some(code) == missing,
        Test::IsPresent => Some(code) != missing,
        _ if Some(code) == missing => false,
        Test::Compare(comparison, literal) => comparison.holds(ordering(attribute, code, literal)),
        Test::In(literals) => literals.iter().any(|l| ordering(attribute, code, l).is_eq()),
        Test::NotIn(literals) => !literals.iter().any(|l| ordering(attribute, code, l).is_eq()),
    };
    CodeSet::of(attribute.n_codes(), holds)
}

/// How a value lies to a constant: by place on the line, by rank in a declared order, as numbers if
/// both are, else as texts.
fn ordering(attribute: &Attribute, code: u32, literal: &Literal) -> std::cmp::Ordering {
    let dictionary = &attribute.dictionary;
    let text = dictionary.text(code).unwrap_or_default();
    match &attribute.shape {
        Shape::Numeric => {
            let at = place(dictionary.kind, literal).unwrap_or(f64::NAN);
            dictionary.positions[code as usize].total_cmp(&at)
        }
        Shape::Ordinal if dictionary.texts.contains(&literal.text) => {
            let rank = dictionary.texts.iter().position(|known| *known == literal.text);
            (code as usize).cmp(&rank.unwrap_or_default())
        }
        _ => match (literal.is_number, text.parse::<f64>(), literal.text.parse::<f64>()) {
            (true, Ok(value), Ok(number)) => value.total_cmp(&number),
            _ if dictionary.kind == Kind::Boolean => {
                text.to_ascii_lowercase().cmp(&literal.text.to_ascii_lowercase())
            }
            _ => text.cmp(literal.text.as_str()),
        },
    }
}

/// A region as rectangles: ordered attributes by runs of codes, so that each is an interval.
pub(crate) fn rectangles(attributes: &[Attribute], region: &Region) -> Vec<Region> {
    let mut found = vec![Region::default()];
    for (at, set) in &region.sides {
        let is_ordered = matches!(attributes[*at].shape, Shape::Numeric | Shape::Ordinal);
        let runs = set.runs();
        let sides: Vec<CodeSet> = if is_ordered && runs.len() * found.len() <= MOST_BOXES {
            let of_run = |(lo, hi): &(u32, u32)| {
                CodeSet::of(set.n_codes(), |code| (*lo..=*hi).contains(&code))
            };
            runs.iter().map(of_run).collect()
        } else {
            vec![set.clone()]
        };
        found = found
            .iter()
            .flat_map(|region| {
                sides.iter().map(|side| {
                    let mut region = region.clone();
                    region.sides.push((*at, side.clone()));
                    region
                })
            })
            .collect();
    }
    found
}
