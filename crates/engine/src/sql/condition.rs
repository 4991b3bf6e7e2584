//! Conditions: SQL's three-valued logic in negation normal form.
//!
//! `NOT` is pushed down to the tests. A missing cell satisfies neither a comparison nor its
//! negation, so what remains is right in SQL's logic, too: *and*, *or* and *not* obey De Morgan's
//! laws there.

use incrowd_data::{Comparison, Condition, Literal, Test};
use sqlparser::ast::{BinaryOperator, DataType, Expr, Ident, TypedString, UnaryOperator, Value};

use super::SqlError;

/// The condition that an expression states.
pub(super) fn condition(tree: Expr) -> Result<Condition, SqlError> {
    Ok(tidy(stated(tree, false)?))
}

/// The condition, or its negation.
fn stated(tree: Expr, is_negated: bool) -> Result<Condition, SqlError> {
    match tree {
        Expr::Nested(inner) => stated(*inner, is_negated),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => stated(*expr, !is_negated),
        Expr::BinaryOp { .. } => chain(tree, is_negated),
        Expr::IsNull(expr) => Ok(tested(column(*expr, "IS NULL")?, Test::IsMissing, is_negated)),
        Expr::IsNotNull(expr) => {
            Ok(tested(column(*expr, "IS NOT NULL")?, Test::IsPresent, is_negated))
        }

        Expr::InList { expr, list, negated } => {
            let column = column(*expr, "IN")?;
            let literals = list.into_iter().map(constant).collect::<Result<_, _>>()?;
            Ok(tested(column, Test::In(literals), is_negated != negated))
        }
        Expr::Between { expr, negated, low, high } => {
            let column = column(*expr, "BETWEEN")?;
            let low = Test::Compare(Comparison::AtLeast, constant(*low)?);
            let high = Test::Compare(Comparison::AtMost, constant(*high)?);
            let is_negated = is_negated != negated;
            let low = tested(column.clone(), low, is_negated);
            Ok(joined(!is_negated, vec![low, tested(column, high, is_negated)]))
        }
        Expr::Value(value) => match value.value {
            Value::Boolean(is_true) => Ok(joined(is_true != is_negated, Vec::new())),
            _ => refused("a constant alone"),
        },
        Expr::Identifier(_) => refused("a column alone (write `column = TRUE`)"),
        other => refused(&name_of(&other)),
    }
}

fn joined(is_all: bool, parts: Vec<Condition>) -> Condition {
    if is_all { Condition::All(parts) } else { Condition::Any(parts) }
}

fn tested(column: String, test: Test, is_negated: bool) -> Condition {
    let test = if is_negated { test.negated() } else { test };
    Condition::Test { column, test }
}

fn refused<T>(what: &str) -> Result<T, SqlError> {
    Err(SqlError::InCondition { what: what.to_owned() })
}

/// A chain of operators, which nest to the left: taken apart from its end in a loop, put together
/// from its start.
fn chain(mut tree: Expr, is_negated: bool) -> Result<Condition, SqlError> {
    let mut rest = Vec::new();
    let first = loop {
        match tree {
            Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
                rest.push((op == BinaryOperator::And, *right));
                tree = *left;
            }
            Expr::BinaryOp { left, op, right } => {
                break compared(*left, &op, *right, is_negated)?;
            }
            first => break stated(first, is_negated)?,
        }
    };
    rest.into_iter().rev().try_fold(first, |found, (is_and, right)| {
        Ok(with(is_and != is_negated, found, stated(right, is_negated)?))
    })
}

/// Both, as one more part where the first is a list of the same kind.
fn with(is_all: bool, first: Condition, second: Condition) -> Condition {
    match (is_all, first) {
        (true, Condition::All(mut parts)) => {
            parts.push(second);
            Condition::All(parts)
        }
        (false, Condition::Any(mut parts)) => {
            parts.push(second);
            Condition::Any(parts)
        }
        (_, first) => joined(is_all, vec![first, second]),
    }
}

/// Lists within lists of the same kind and lists of one part are not kept.
fn tidy(condition: Condition) -> Condition {
    let (is_all, parts) = match condition {
        Condition::All(parts) => (true, parts),
        Condition::Any(parts) => (false, parts),
        test @ Condition::Test { .. } => return test,
    };
    let mut tidied = Vec::new();
    for part in parts {
        match (is_all, tidy(part)) {
            (true, Condition::All(parts)) | (false, Condition::Any(parts)) => tidied.extend(parts),
            (_, part) => tidied.push(part),
        }
    }
    if tidied.len() == 1 { tidied.remove(0) } else { joined(is_all, tidied) }
}

fn compared(
    left: Expr,
    op: &BinaryOperator,
    right: Expr,
    is_negated: bool,
) -> Result<Condition, SqlError> {
    let comparison = match op {
        BinaryOperator::Eq => Comparison::Equal,
        BinaryOperator::NotEq => Comparison::NotEqual,
        BinaryOperator::Lt => Comparison::Less,
        BinaryOperator::LtEq => Comparison::AtMost,
        BinaryOperator::Gt => Comparison::Greater,
        BinaryOperator::GtEq => Comparison::AtLeast,
        other => return refused(&format!("the operator {other}")),
    };
    let (left, right) = (unwrapped(left), unwrapped(right));
    let (column, comparison, literal) = match (left, right) {
        (Expr::Identifier(left), Expr::Identifier(right)) => {
            return Err(SqlError::TwoColumns { left: left.value, right: right.value });
        }
        (Expr::Identifier(Ident { value, .. }), right) => (value, comparison, constant(right)?),
        (left, Expr::Identifier(Ident { value, .. })) => {
            (value, comparison.flipped(), constant(left)?)
        }
        (left, right) => {
            constant(left)?;
            constant(right)?;
            return Err(SqlError::TwoConstants);
        }
    };
    Ok(tested(column, Test::Compare(comparison, literal), is_negated))
}

fn unwrapped(mut tree: Expr) -> Expr {
    while let Expr::Nested(inner) = tree {
        tree = *inner;
    }
    tree
}

fn column(tree: Expr, what: &str) -> Result<String, SqlError> {
    match unwrapped(tree) {
        Expr::Identifier(Ident { value, .. }) => Ok(value),
        Expr::Value(_) | Expr::TypedString(_) => refused(&format!("{what} of a constant")),
        other => refused(&format!("{what} of {}", name_of(&other))),
    }
}

fn constant(tree: Expr) -> Result<Literal, SqlError> {
    match unwrapped(tree) {
        Expr::Value(value) => match value.value {
            Value::Number(text, _) => Ok(Literal { text: digits(text), is_number: true }),
            Value::SingleQuotedString(text) => Ok(Literal { text, is_number: false }),
            Value::Boolean(is_true) => Ok(Literal { text: is_true.to_string(), is_number: false }),
            Value::Null => Err(SqlError::ComparedWithNull),
            _ => refused("a text that is not in single quotes"),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            let Literal { text, is_number } = constant(*expr)?;
            let text = text.strip_prefix('-').map_or_else(|| format!("-{text}"), str::to_owned);
            if is_number { Ok(Literal { text, is_number }) } else { refused("- before a text") }
        }
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => constant(*expr),
        Expr::TypedString(TypedString { data_type, value, .. }) => match (data_type, value.value) {
            (
                DataType::Date | DataType::Timestamp(..) | DataType::Datetime(_),
                Value::SingleQuotedString(text),
            ) => Ok(Literal { text, is_number: false }),
            _ => refused("a constant of another type than DATE or TIMESTAMP"),
        },
        Expr::Identifier(_) => refused("a column where a constant must stand"),
        other => refused(&name_of(&other)),
    }
}

/// A number with a digit on both sides of its point.
fn digits(text: String) -> String {
    let text = if text.starts_with('.') { format!("0{text}") } else { text };
    text.strip_suffix('.').map(str::to_owned).unwrap_or(text)
}

/// What a construct is called in messages.
pub(super) fn name_of(tree: &Expr) -> String {
    let name = match tree {
        Expr::BinaryOp { op, .. } => return format!("the operator {op}"),
        Expr::UnaryOp { op, .. } => return format!("the operator {op}"),
        Expr::Function(function) => return format!("the function `{}`", function.name),
        Expr::CompoundIdentifier(_) => {
            "a name with a dot (a column whose name has one takes double quotes)"
        }
        Expr::Like { .. } | Expr::ILike { .. } => "LIKE",
        Expr::SimilarTo { .. } | Expr::RLike { .. } => "a regular expression",
        Expr::InSubquery { .. } | Expr::Subquery(_) | Expr::Exists { .. } => "a subquery",
        Expr::Case { .. } => "CASE",
        Expr::Cast { .. } | Expr::Convert { .. } => "CAST",
        Expr::IsTrue(_) | Expr::IsNotTrue(_) | Expr::IsFalse(_) | Expr::IsNotFalse(_) => {
            "IS TRUE or IS FALSE"
        }
        Expr::IsDistinctFrom(..) | Expr::IsNotDistinctFrom(..) => "IS DISTINCT FROM",
        Expr::Interval(_) => "INTERVAL",
        Expr::Tuple(_) => "a tuple",
        Expr::Value(_) | Expr::TypedString(_) => "a constant",
        Expr::Nested(inner) => return name_of(inner),
        Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_) => "CUBE, ROLLUP or sets",
        Expr::Identifier(_) => "a column",
        _ => "this expression",
    };
    name.to_owned()
}
