//! The types of the fields of Parquet's metadata (`parquet.thrift` of the format's specification).
//!
//! The reader goes by the numbers of fields alone: where the type that is written is another one,
//! it takes the bytes that follow for something else, and may allocate what they seem to ask for.

use super::thrift::{
    BINARY, BYTE, FALSE, Fault, I16, I32, I64, Kind, LIST, Reader, SET, STRUCT, TRUE,
};

/// What a value must be.
#[derive(Clone, Copy)]
pub(super) enum Type {
    /// Truth, a number or a text.
    Plain(Kind),
    /// A list of such values.
    List(&'static Type),
    /// A structure, by the numbers of its fields. Others are passed over by whoever reads it, too.
    Struct(&'static [(i64, Type)]),
}

const TEXT: Type = Type::Plain(BINARY);
const TRUTH: Type = Type::Plain(TRUE);
const SHORT: Type = Type::Plain(I16);
const INT: Type = Type::Plain(I32);
const LONG: Type = Type::Plain(I64);
const EMPTY: Type = Type::Struct(&[]);

const KEY_VALUE: Type = Type::Struct(&[(1, TEXT), (2, TEXT)]);
const TIME_UNIT: Type = Type::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const TIME: Type = Type::Struct(&[(1, TRUTH), (2, TIME_UNIT)]);
const LOGICAL_TYPE: Type = Type::Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Type::Struct(&[(1, INT), (2, INT)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Type::Struct(&[(1, Type::Plain(BYTE)), (2, TRUTH)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Type::Struct(&[(1, Type::Plain(BYTE))])),
    (17, Type::Struct(&[(1, TEXT)])),
    (18, Type::Struct(&[(1, TEXT), (2, INT)])),
]);
const SCHEMA_ELEMENT: Type = Type::Struct(&[
    (1, INT),
    (2, INT),
    (3, INT),
    (4, TEXT),
    (5, INT),
    (6, INT),
    (7, INT),
    (8, INT),
    (9, INT),
    (10, LOGICAL_TYPE),
]);
const STATISTICS: Type = Type::Struct(&[
    (1, TEXT),
    (2, TEXT),
    (3, LONG),
    (4, LONG),
    (5, TEXT),
    (6, TEXT),
    (7, TRUTH),
    (8, TRUTH),
]);
const DOUBLE: Type = Type::Plain(super::thrift::DOUBLE);
const BOX: Type = Type::Struct(&[
    (1, DOUBLE),
    (2, DOUBLE),
    (3, DOUBLE),
    (4, DOUBLE),
    (5, DOUBLE),
    (6, DOUBLE),
    (7, DOUBLE),
    (8, DOUBLE),
]);
const COLUMN_METADATA: Type = Type::Struct(&[
    (1, INT),
    (2, Type::List(&INT)),
    (3, Type::List(&TEXT)),
    (4, INT),
    (5, LONG),
    (6, LONG),
    (7, LONG),
    (8, Type::List(&KEY_VALUE)),
    (9, LONG),
    (10, LONG),
    (11, LONG),
    (12, STATISTICS),
    (13, Type::List(&Type::Struct(&[(1, INT), (2, INT), (3, INT)]))),
    (14, LONG),
    (15, INT),
    (16, Type::Struct(&[(1, LONG), (2, Type::List(&LONG)), (3, Type::List(&LONG))])),
    (17, Type::Struct(&[(1, BOX), (2, Type::List(&INT))])),
]);
const COLUMN_CHUNK: Type = Type::Struct(&[
    (1, TEXT),
    (2, LONG),
    (3, COLUMN_METADATA),
    (4, LONG),
    (5, INT),
    (6, LONG),
    (7, INT),
    (8, Type::Struct(&[(1, EMPTY), (2, Type::Struct(&[(1, Type::List(&TEXT)), (2, TEXT)]))])),
    (9, TEXT),
]);
const ROW_GROUP: Type = Type::Struct(&[
    (1, Type::List(&COLUMN_CHUNK)),
    (2, LONG),
    (3, LONG),
    (4, Type::List(&Type::Struct(&[(1, INT), (2, TRUTH), (3, TRUTH)]))),
    (5, LONG),
    (6, LONG),
    (7, SHORT),
]);

/// The footer of a file.
pub(super) const FILE_METADATA: Type = Type::Struct(&[
    (1, INT),
    (2, Type::List(&SCHEMA_ELEMENT)),
    (3, LONG),
    (4, Type::List(&ROW_GROUP)),
    (5, Type::List(&KEY_VALUE)),
    (6, TEXT),
    (7, Type::List(&Type::Struct(&[(1, EMPTY)]))),
    (9, TEXT),
]);

/// The head of a page.
pub(super) const PAGE_HEADER: Type = Type::Struct(&[
    (1, INT),
    (2, INT),
    (3, INT),
    (4, INT),
    (5, Type::Struct(&[(1, INT), (2, INT), (3, INT), (4, INT), (5, STATISTICS)])),
    (6, EMPTY),
    (7, Type::Struct(&[(1, INT), (2, INT), (3, TRUTH)])),
    (
        8,
        Type::Struct(&[
            (1, INT),
            (2, INT),
            (3, INT),
            (4, INT),
            (5, INT),
            (6, INT),
            (7, TRUTH),
            (8, STATISTICS),
        ]),
    ),
]);

impl Type {
    /// Reads a value. An error if something in it is not of its type, or goes on beyond the bytes.
    pub(super) fn check(self, reader: &mut Reader, kind: Kind) -> Result<(), Fault> {
        match self {
            Type::Plain(TRUE) if matches!(kind, TRUE | FALSE) => reader.pass(kind),
            Type::Plain(I32) if kind == I32 => {
                i32::try_from(reader.number()?).map(drop).map_err(|_| Fault::Damaged)
            }
            Type::Plain(plain) if plain == kind => reader.pass(kind),
            Type::List(of) if matches!(kind, LIST | SET) => {
                reader.list(&mut |reader, kind| of.check(reader, kind))
            }
            Type::Struct(fields) if kind == STRUCT => {
                reader.fields(&mut |reader, id, kind| match fields
                    .iter()
                    .find(|(known, _)| *known == id)
                {
                    Some((_, field)) => field.check(reader, kind),
                    None => reader.pass(kind),
                })
            }
            _ => Err(Fault::Damaged),
        }
    }
}
