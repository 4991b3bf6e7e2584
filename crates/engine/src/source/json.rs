//! What the files of an input of JSON lines have in common.
//!
//! A file of JSON lines has no schema: its types are those of the values that it happens to have. A
//! column may be missing in all rows of one file, and whole numbers in one file may be numbers with
//! a fraction in another.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Joins the columns of another file to those that are known; else how it differs. A file without
/// rows has no columns.
pub(crate) fn join(known: &mut SchemaRef, found: &Schema, has_rows: bool) -> Option<String> {
    if !has_rows {
        return None;
    }
    let mut all: Vec<String> = Vec::new();
    let mut fields: Vec<Field> = Vec::new();
    for field in known.fields() {
        let name = field.name();
        let Ok(other) = found.field_with_name(name) else {
            all.push(format!("column `{name}` is missing"));
            continue;
        };
        if let Some(data_type) = joined(field.data_type(), other.data_type()) {
            fields.push(Field::new(name, data_type, true));
        } else {
            let (is, should) = (other.data_type(), field.data_type());
            all.push(format!("column `{name}` is of type {is}, not {should}"));
        }
    }
    for field in found.fields().iter().filter(|f| known.field_with_name(f.name()).is_err()) {
        all.push(format!("column `{}` is one too many", field.name()));
    }
    if all.is_empty() {
        *known = Arc::new(Schema::new(fields));
    }
    super::files::listed(all)
}

/// The type that holds the values of both, if there is one.
fn joined(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType::{Float64, Int64, List, Null};
    Some(match (a, b) {
        (a, b) if a == b => a.clone(),
        (Null, other) | (other, Null) => other.clone(),
        (Int64, Float64) | (Float64, Int64) => Float64,
        (List(a), List(b)) => {
            let values = joined(a.data_type(), b.data_type())?;
            List(Arc::new(Field::new_list_field(values, true)))
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
        let field =
            |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), true);
        Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
    }

    #[test]
    fn types_of_several_files() {
        let mut known = schema(&[("a", DataType::Int64), ("b", DataType::Null)]);
        assert_eq!(join(&mut known, &Schema::empty(), false), None);
        let other = schema(&[("b", DataType::Utf8), ("a", DataType::Float64)]);
        assert_eq!(join(&mut known, &other, true), None);
        assert_eq!(known, schema(&[("a", DataType::Float64), ("b", DataType::Utf8)]));
        let other = schema(&[("a", DataType::Utf8), ("c", DataType::Null)]);
        let what = join(&mut known, &other, true).unwrap();
        assert_eq!(
            what,
            "column `a` is of type Utf8, not Float64; column `b` is missing; column `c` is one too many"
        );
    }
}
