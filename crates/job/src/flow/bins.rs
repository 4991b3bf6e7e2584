//! Bins of a column: where a search may cut it.

use incrowd_data::{Attribute, Kind, Shape};

use crate::plan::Plan;
use crate::spec::error::{JobError, Problem};
use crate::spec::{BinsSpec, Role};

/// By attribute, the codes before which a search may cut it: where a bin begins, and before what is
/// missing. No list where a column has no bins.
pub(crate) fn places(
    plan: &Plan,
    attributes: &[Attribute],
) -> Result<Vec<Option<Vec<u32>>>, JobError> {
    let mut problems = Vec::new();
    let mut places = Vec::new();
    for (at, attribute) in plan.with_role(Role::Quasi).zip(attributes) {
        let bins = plan.columns[at].spec.bins.as_ref();
        places.push(bins.map(|bins| {
            let kind = attribute.dictionary.kind;
            let is_number = matches!(kind, Kind::Integer | Kind::Decimal);
            if !(is_number && attribute.shape == Shape::Numeric) {
                problems.push(
                    Problem::new(format!("column `{}` has bins, but no numbers", attribute.name))
                        .help("drop them, or give the column a hierarchy"),
                );
            }
            of_attribute(bins, attribute)
        }));
    }
    if problems.is_empty() { Ok(places) } else { Err(JobError::Request(problems)) }
}

fn of_attribute(bins: &BinsSpec, attribute: &Attribute) -> Vec<u32> {
    let (width, origin) = bins.width_and_origin();
    let bin_of = |code: u32| {
        let position = attribute.dictionary.positions.get(code as usize)?;
        Some(((position - origin) / width).floor())
    };
    (1..attribute.n_codes()).filter(|&code| bin_of(code) != bin_of(code - 1)).collect()
}

#[cfg(test)]
mod tests {
    use incrowd_data::Dictionary;

    use super::*;
    use crate::spec::CountedBins;

    #[track_caller]
    fn check(width: f64, origin: f64, values: &[f64], has_missing: bool, expected: &[u32]) {
        let dictionary = Dictionary {
            kind: Kind::Decimal,
            texts: values.iter().map(ToString::to_string).collect(),
            positions: values.to_vec(),
            has_missing,
        };
        let attribute = Attribute { name: "age".to_owned(), dictionary, shape: Shape::Numeric };
        let bins = BinsSpec::From(CountedBins { width, origin });
        assert_eq!(of_attribute(&bins, &attribute), expected);
    }

    #[test]
    fn a_bin_begins_where_it_is_counted() {
        check(5.0, 17.0, &[17.0, 21.0, 22.0, 30.0, 31.0, 32.0], false, &[2, 3, 5]);
        check(5.0, 0.0, &[17.0, 19.0, 20.0, 24.0, 25.0], false, &[2, 4]);
        check(0.5, 0.0, &[-0.5, -0.25, 0.0, 0.25], false, &[2]);
    }

    #[test]
    fn what_is_missing_is_cut_off() {
        check(10.0, 0.0, &[1.0, 2.0], true, &[2]);
    }
}
