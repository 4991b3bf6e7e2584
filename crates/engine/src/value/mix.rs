//! Rows as hashes of 64 bits, where it only matters which rows are equal.
//!
//! The cells of a row go into its hash one after another, each with its length, so that cells of
//! neighbouring columns cannot run together. The keys are fixed: the same cells give the same hash
//! on every machine. Two different rows share a hash with a chance of 2^-64, so that among 100
//! million rows any do with a chance of one in thousands.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Date32Type, Float64Type, Int64Type};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use incrowd_data::Codes;

use crate::value::kind::can_be_coded;
use crate::value::stored::strict_cast;

/// The hash of a row without cells.
pub const NO_CELLS: u64 = 0x243f_6a88_85a3_08d3;
/// The word that a missing cell puts into its row.
const MISSING: u64 = u64::MAX;

/// Puts one more word into a hash.
#[must_use]
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let a = u128::from(hash ^ 0x1319_8a2e_0370_7344);
    let product = a * u128::from(word ^ 0xa409_3822_299f_31d0);
    let half = |half: u128| u64::try_from(half & u128::from(u64::MAX)).unwrap_or(0);
    half(product) ^ half(product >> 64)
}

/// Puts codes into the hashes of their rows, of which the first is row `start` of the column.
pub fn mix_codes(hashes: &mut [u64], codes: &Codes, start: usize) {
    fn put<C: Copy + Into<u32>>(hashes: &mut [u64], codes: &[C]) {
        for (hash, &code) in hashes.iter_mut().zip(codes) {
            *hash = mix(*hash, u64::from(code.into()));
        }
    }
    match codes {
        Codes::U8(codes) => put(hashes, &codes[start..]),
        Codes::U16(codes) => put(hashes, &codes[start..]),
        Codes::U32(codes) => put(hashes, &codes[start..]),
    }
}

/// The halves of hashes, as two columns of codes.
#[must_use]
pub fn halves_of(hashes: &[u64]) -> [Codes; 2] {
    let half = |shift: u32| {
        let half = |hash: &u64| u32::try_from(hash >> shift & u64::from(u32::MAX)).unwrap_or(0);
        Codes::U32(hashes.iter().map(half).collect())
    };
    [half(32), half(0)]
}

/// The hashes that have these halves.
#[must_use]
pub fn of_halves(high: &Codes, low: &Codes) -> Vec<u64> {
    high.iter().zip(low.iter()).map(|(high, low)| u64::from(high) << 32 | u64::from(low)).collect()
}

/// Puts some bytes with their length into a hash.
#[inline]
fn mix_bytes(hash: u64, bytes: &[u8]) -> u64 {
    let mut hash = mix(hash, bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = mix(hash, u64::from_le_bytes(last));
    }
    hash
}

/// Whether cells of an Arrow type can be put into hashes.
pub(crate) fn can_be_mixed(data_type: &DataType) -> bool {
    can_be_coded(data_type) || RowConverter::supports_fields(&[SortField::new(data_type.clone())])
}

/// Puts the cells of an array into the hashes of its rows. Cells are equal where their values are.
pub(crate) fn mix_cells(hashes: &mut [u64], array: &ArrayRef) -> Result<(), ArrowError> {
    let words = |hashes: &mut [u64], cells: &mut dyn Iterator<Item = Option<u64>>| {
        for (hash, cell) in hashes.iter_mut().zip(cells) {
            // A word for each, so that no value is taken for a missing cell.
            *hash = cell.map_or(mix(*hash, MISSING), |word| mix(mix(*hash, 8), word));
        }
    };
    match array.data_type() {
        DataType::Utf8 => {
            for (hash, cell) in hashes.iter_mut().zip(array.as_string::<i32>()) {
                *hash = cell.map_or(mix(*hash, MISSING), |text| mix_bytes(*hash, text.as_bytes()));
            }
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let array = strict_cast(array, &DataType::Float64)?;
            let bits = |cell: f64| (!cell.is_nan()).then(|| (cell + 0.0).to_bits());
            let cells = array.as_primitive::<Float64Type>().iter();
            words(hashes, &mut cells.map(|cell| cell.and_then(bits)));
        }
        DataType::Date32 => {
            let cells = array.as_primitive::<Date32Type>().iter();
            words(hashes, &mut cells.map(|cell| cell.map(|day| i64::from(day).cast_unsigned())));
        }
        data_type if is_whole(data_type) => {
            let array = strict_cast(array, &DataType::Int64)?;
            let cells = array.as_primitive::<Int64Type>().iter();
            words(hashes, &mut cells.map(|cell| cell.map(i64::cast_unsigned)));
        }
        data_type if can_be_coded(data_type) => {
            return mix_cells(hashes, &strict_cast(array, &DataType::Utf8)?);
        }
        data_type => {
            let converter = RowConverter::new(vec![SortField::new(data_type.clone())])?;
            let rows = converter.convert_columns(&[ArrayRef::clone(array)])?;
            for (hash, row) in hashes.iter_mut().zip(&rows) {
                *hash = mix_bytes(*hash, row.as_ref());
            }
        }
    }
    Ok(())
}

/// Whether values of a type are whole numbers of at most 64 bits.
pub(crate) fn is_whole(data_type: &DataType) -> bool {
    data_type.is_signed_integer()
        || matches!(data_type, DataType::UInt8 | DataType::UInt16 | DataType::UInt32)
        || matches!(data_type, DataType::Timestamp(..) | DataType::Date64)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Float64Array, Int32Array, LargeStringArray, ListArray, StringArray, StringDictionaryBuilder,
    };
    use arrow::datatypes::Int32Type;

    use super::*;

    fn hashes(columns: &[ArrayRef]) -> Vec<u64> {
        let mut hashes = vec![NO_CELLS; columns[0].len()];
        for column in columns {
            mix_cells(&mut hashes, column).unwrap();
        }
        hashes
    }

    fn texts(cells: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(cells.to_vec()))
    }

    #[test]
    fn cells_do_not_run_together() {
        let a =
            texts(&[Some("ab"), Some("a"), Some(""), None, Some("abc"), Some("a\0"), Some("a")]);
        let b = texts(&[Some("c"), Some("bc"), Some("abc"), Some("abc"), None, Some(""), Some("")]);
        let mut found = hashes(&[a, b]);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn equal_values_have_equal_hashes_whatever_they_are_stored_in() {
        let cells = [Some("x"), None, Some("a longer text than eight bytes")];
        let plain = hashes(&[texts(&cells)]);
        assert_eq!(hashes(&[Arc::new(LargeStringArray::from(cells.to_vec()))]), plain);
        let mut indexed = StringDictionaryBuilder::<Int32Type>::new();
        for cell in cells {
            indexed.append_option(cell);
        }
        assert_eq!(hashes(&[Arc::new(indexed.finish())]), plain);
        let floats = Float64Array::from(vec![Some(0.0), Some(-0.0), Some(f64::NAN), None]);
        let found = hashes(&[Arc::new(floats)]);
        assert!(found[0] == found[1] && found[2] == found[3] && found[0] != found[2]);
    }

    #[test]
    fn lists_are_compared_as_wholes() {
        let list = |cells: &[i32]| Some(cells.iter().copied().map(Some).collect::<Vec<_>>());
        let rows = vec![list(&[1, 2]), list(&[1]), list(&[1, 2]), None];
        let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows));
        assert!(can_be_mixed(lists.data_type()));
        let found = hashes(&[lists]);
        assert!(found[0] == found[2] && found[0] != found[1] && found[1] != found[3]);
    }

    #[test]
    fn codes_are_mixed_in_any_width() {
        let mut narrow = vec![NO_CELLS; 3];
        let mut wide = narrow.clone();
        mix_codes(&mut narrow, &Codes::U8(vec![0, 1, 0]), 0);
        mix_codes(&mut wide, &Codes::U32(vec![9, 0, 1, 0]), 1);
        assert_eq!(narrow, wide);
        assert!(narrow[0] == narrow[2] && narrow[0] != narrow[1]);
        let [high, low] = halves_of(&wide);
        assert_eq!(of_halves(&high, &low), wide);
        let whole = hashes(&[Arc::new(Int32Array::from(vec![7, 8, 7]))]);
        assert!(whole[0] == whole[2] && whole[0] != whole[1]);
    }
}
