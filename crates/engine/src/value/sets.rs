//! Sets of texts as lists, which is how Parquet and Arrow files hold them, and the labels that they
//! stand for.
//!
//! `{a|b}` is the list of `a` and `b`, one value is a list of one, a missing value is a null in the
//! list, and `*` is a null instead of a list.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, GenericListArray, ListArray, ListBuilder, OffsetSizeTrait,
    StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::error::ArrowError;
use incrowd_data::{Kind, Label, LabelsOf, value_label};

use crate::value::kind::kind_of_type;
use crate::value::stored::strict_cast;

/// What sets are written as.
pub(crate) fn set_type() -> DataType {
    DataType::List(item())
}

fn item() -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Utf8, true))
}

/// The name of the values of a list in a Parquet file, below the name of the column.
pub(crate) const PATH_OF_VALUES: [&str; 2] = ["list", Field::LIST_FIELD_DEFAULT_NAME];

/// Whether values of a type can be read as sets of texts.
pub(crate) fn can_be_sets(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => {
            let item = item.data_type();
            item == &DataType::Null || kind_of_type(item) == Some(Kind::Text)
        }
        _ => false,
    }
}

/// The lists of labels of a column of texts without an order.
pub(crate) fn lists_of_labels(texts: &[Option<String>]) -> Result<ListArray, ArrowError> {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item());
    for text in texts {
        let label = text.as_deref().map(|text| Label::parse(text, LabelsOf::Texts));
        let members = match label {
            None => vec![None],
            Some(Label::Value(value)) => vec![Some(value)],
            Some(Label::Set(members)) => members,
            Some(Label::Any) => {
                lists.append_null();
                continue;
            }
            Some(_) => return Err(ArrowError::CastError("a label is no set".to_owned())),
        };
        for member in &members {
            lists.values().append_option(member.as_deref());
        }
        lists.append(true);
    }
    Ok(lists.finish())
}

/// The labels that lists stand for. An empty list stands for none, and is an error.
pub(crate) fn labels_of_lists(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    match array.data_type() {
        DataType::LargeList(_) => labels(array.as_list::<i64>()),
        _ => labels(array.as_list::<i32>()),
    }
}

fn labels<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Result<StringArray, ArrowError> {
    let values = strict_cast(lists.values(), &DataType::Utf8)?;
    let values = values.as_string::<i32>();
    let member = |at: usize| values.is_valid(at).then(|| values.value(at));
    let mut labels = StringBuilder::new();
    for (row, ends) in lists.value_offsets().windows(2).enumerate() {
        let (first, end) = (ends[0].as_usize(), ends[1].as_usize());
        match end - first {
            _ if lists.is_null(row) => labels.append_value(Label::Any.write(LabelsOf::Texts)),
            0 => return Err(ArrowError::CastError("a list is empty".to_owned())),
            1 => labels.append_option(member(first).map(|of| value_label(of, LabelsOf::Texts))),
            _ => {
                let members = (first..end).map(|at| member(at).map(str::to_owned));
                labels.append_value(Label::Set(members.collect()).write(LabelsOf::Texts));
            }
        }
    }
    Ok(labels.finish())
}

#[cfg(test)]
mod tests {
    use arrow::compute::cast;

    use super::*;

    #[track_caller]
    fn check(label: Option<&str>, members: Option<&[Option<&str>]>) {
        let lists = lists_of_labels(&[label.map(str::to_owned)]).unwrap();
        assert_eq!(lists.data_type(), &set_type());
        let found = lists.is_valid(0).then(|| lists.value(0));
        let found = found.as_ref().map(|list| list.as_string::<i32>().iter().collect::<Vec<_>>());
        assert_eq!(found.as_deref(), members, "{label:?}");
        let lists: ArrayRef = Arc::new(lists);
        for item in [DataType::LargeUtf8, DataType::Utf8View, DataType::Utf8] {
            let item = Arc::new(Field::new_list_field(item, true));
            for data_type in [DataType::List(Arc::clone(&item)), DataType::LargeList(item)] {
                assert!(can_be_sets(&data_type));
                let lists = cast(&lists, &data_type).unwrap();
                let again = labels_of_lists(&lists).unwrap();
                assert_eq!(again.iter().collect::<Vec<_>>(), [label], "{data_type}");
            }
        }
    }

    #[test]
    fn every_label_is_a_list_and_comes_back() {
        check(Some("{a|b}"), Some(&[Some("a"), Some("b")]));
        check(Some("a"), Some(&[Some("a")]));
        check(Some("{|a}"), Some(&[None, Some("a")]));
        check(Some("{{}|a}"), Some(&[Some(""), Some("a")]));
        check(Some(r"{a\|b|c}"), Some(&[Some("a|b"), Some("c")]));
        check(None, Some(&[None]));
        check(Some("*"), None);
        check(Some(""), Some(&[Some("")]));
        for escaped in [r"\*", r"\{a|b}", r"\[a-b]", r"\\*"] {
            check(Some(escaped), Some(&[Some(&escaped[1..])]));
        }
        for plain in [r"\", "<18", "{a}", "[a]", "{}"] {
            check(Some(plain), Some(&[Some(plain)]));
        }
    }

    #[test]
    fn slices_are_read_as_what_they_are() {
        let labels = ["{a|b}", "*", "c", "{c|d}"].map(|label| Some(label.to_owned()));
        let lists: ArrayRef = Arc::new(lists_of_labels(&labels).unwrap());
        let found = labels_of_lists(&lists.slice(1, 2)).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), [Some("*"), Some("c")]);
    }

    #[test]
    fn what_is_no_set_is_an_error() {
        assert!(lists_of_labels(&[Some("[a-b]".to_owned())]).is_err());
        let mut empty = ListBuilder::new(StringBuilder::new());
        empty.append(true);
        let empty: ArrayRef = Arc::new(empty.finish());
        assert!(labels_of_lists(&empty).is_err());
        assert!(!can_be_sets(&DataType::new_list(DataType::Int64, true)));
        assert!(!can_be_sets(&DataType::Utf8));
    }
}
