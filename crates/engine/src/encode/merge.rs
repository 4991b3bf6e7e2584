//! The columns of several partitions, put together.

use arrow::datatypes::DataType;
use incrowd_data::Codes;

use super::encoder::Encoder;
use super::interned::{Interned, Texts};
use super::values::{RawColumn, Values};
use crate::value::kind::kind_of_type;

/// One column of all partitions, in their order.
pub(crate) fn merge(
    name: &str,
    data_type: &DataType,
    is_text_file: bool,
    parts: &[Encoder],
) -> RawColumn {
    let mut texts = Texts::default();
    let maps: Vec<Vec<u32>> = parts
        .iter()
        .map(|part| part.texts().iter().map(|text| texts.code(text)).collect())
        .collect();
    let has_missing = parts.iter().any(|part| part.cells.has_missing());
    let missing = u32::try_from(texts.len()).expect("fewer values than rows");
    let n_codes = missing + u32::from(has_missing);
    let mut codes = Codes::pack(n_codes, std::iter::empty());
    for (part, map) in parts.iter().zip(maps) {
        part.cells.append_to(&mut codes, map, missing);
    }
    let texts = (0..texts.len()).map(|code| texts.get(code).to_owned()).collect();
    let kind = if is_text_file { None } else { kind_of_type(data_type) };
    let values = Values {
        name: name.to_owned(),
        kind,
        texts,
        has_missing,
        data_type: data_type.clone(),
        counts: codes.count(n_codes),
    };
    RawColumn { values, codes }
}

/// The values of one column of all partitions, whose cells were taken away, and by partition the
/// codes of its values among them.
pub(crate) fn merge_values(
    name: &str,
    data_type: &DataType,
    is_text_file: bool,
    parts: Vec<Encoder>,
) -> (Values, Vec<Vec<u32>>) {
    let mut all: Option<Interned> = None;
    let mut counts: Vec<u64> = Vec::new();
    let mut n_missing = 0;
    let mut maps = Vec::new();
    for part in parts {
        let n_values = u32::try_from(part.values.len()).expect("fewer values than rows");
        let map = match &mut all {
            None => {
                all = Some(part.values);
                (0..n_values).collect()
            }
            Some(all) => all.absorb(part.values),
        };
        counts.resize(all.as_ref().map_or(0, Interned::len), 0);
        for (&code, rows) in map.iter().zip(part.counts) {
            counts[code as usize] += rows;
        }
        n_missing += part.n_missing;
        maps.push(map);
    }
    let has_missing = n_missing > 0;
    counts.extend(has_missing.then_some(n_missing));
    let values = Values {
        name: name.to_owned(),
        kind: if is_text_file { None } else { kind_of_type(data_type) },
        texts: all.map_or_else(Vec::new, Interned::into_texts),
        has_missing,
        data_type: data_type.clone(),
        counts,
    };
    (values, maps)
}
