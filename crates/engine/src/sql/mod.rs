//! From SQL text to queries and conditions, on the parser that DataFusion uses.
//!
//! Only what can be answered from the cells of one table is taken: aggregates of columns, a
//! condition that compares columns with constants, and groups. Everything else is refused by its
//! name.

use incrowd_data::{Aggregate, Condition, Query};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    GroupByExpr, Ident, ObjectNamePart, Query as Tree, Select, SelectItem, SetExpr, Statement,
    TableFactor, TableWithJoins,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

mod condition;
#[cfg(test)]
mod tests;

/// SQL that cannot be understood, or that asks for more than can be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message says what each field is")]
pub enum SqlError {
    /// Not SQL.
    #[error("the SQL cannot be read at line {line}, column {column}: {expected}")]
    Syntax { line: u64, column: u64, expected: String },
    /// Not SQL, at no place that is known.
    #[error("the SQL cannot be read: {expected}")]
    Unreadable { expected: String },
    /// Longer or deeper than anyone writes.
    #[error("the SQL is too long or too deeply nested (at most {most} bytes)")]
    TooLong { most: usize },
    /// Something else than one `SELECT`.
    #[error("a query is one SELECT, found {found}")]
    NotOneSelect { found: String },
    /// Part of a query that is not supported.
    #[error(
        "{what} is not supported: a query is SELECT aggregates [WHERE condition] [GROUP BY columns]"
    )]
    InQuery { what: String },
    /// Something else than an aggregate of a column.
    #[error(
        "{what} is not supported in SELECT: name COUNT(*), or COUNT, SUM, AVG, MIN or MAX of a column"
    )]
    InSelect { what: String },
    /// Part of a condition that is not supported.
    #[error(
        "{what} is not supported in a condition: compare columns with constants by =, <>, <, <=, >, >=, BETWEEN, IN or IS NULL, and join tests by AND, OR and NOT"
    )]
    InCondition { what: String },
    /// A column beside the aggregates that the query does not group by.
    #[error("column `{column}` is in SELECT but not in GROUP BY")]
    NotGrouped { column: String },
    /// A query that computes nothing.
    #[error("SELECT names no aggregate: add COUNT(*), or COUNT, SUM, AVG, MIN or MAX of a column")]
    NoAggregate,
    /// A test of a column against another one.
    #[error(
        "columns `{left}` and `{right}` are compared with each other; one side must be a constant"
    )]
    TwoColumns { left: String, right: String },
    /// A test that no column takes part in.
    #[error(
        "two constants are compared; one side must be a column (texts take single quotes, columns double ones)"
    )]
    TwoConstants,
    /// `= NULL`
    #[error("a comparison with NULL never holds; write IS NULL or IS NOT NULL")]
    ComparedWithNull,
}

/// The longest text that is read. Long chains of operators are nested as deeply as they are long,
/// and are dropped by recursion.
const LONGEST: usize = 16 << 10;

/// Reads `SELECT COUNT(*), SUM(x), ... [FROM anything] [WHERE condition] [GROUP BY a, b]`. Aliases
/// and the table's name are passed over.
pub fn parse_query(text: &str) -> Result<Query, SqlError> {
    let mut statements = parser(text)?.parse_statements().map_err(syntax)?;
    let found = match (statements.len(), statements.pop()) {
        (1, Some(Statement::Query(tree))) => return query(*tree),
        (0, _) => "nothing".to_owned(),
        (1, _) => "another statement".to_owned(),
        (n, _) => format!("{n} statements"),
    };
    Err(SqlError::NotOneSelect { found })
}

/// Reads what can stand after `WHERE`.
pub fn parse_condition(text: &str) -> Result<Condition, SqlError> {
    let mut parser = parser(text)?;
    let tree = parser.parse_expr().map_err(syntax)?;
    let next = parser.peek_token();
    if !matches!(next.token, Token::EOF | Token::SemiColon) {
        let (line, column) = (next.span.start.line, next.span.start.column);
        let expected = "AND, OR or the end was expected".to_owned();
        return Err(SqlError::Syntax { line, column, expected });
    }
    condition::condition(tree)
}

fn parser(text: &str) -> Result<Parser<'_>, SqlError> {
    if text.len() > LONGEST {
        return Err(SqlError::TooLong { most: LONGEST });
    }
    Parser::new(&GenericDialect).try_with_sql(text).map_err(syntax)
}

/// What the parser said, without the text that it found.
fn syntax(error: ParserError) -> SqlError {
    let (ParserError::TokenizerError(text) | ParserError::ParserError(text)) = error else {
        return SqlError::TooLong { most: LONGEST };
    };
    let (said, place) = text.rsplit_once(" at Line: ").unwrap_or((&text, ""));
    let said = match said.split_once("Expected: ") {
        Some((_, rest)) => {
            format!("{} was expected", rest.split(", found").next().unwrap_or(rest))
        }
        None if said.contains("Unterminated") => "a quote or comment is not closed".to_owned(),
        None => "it does not follow the rules of SQL".to_owned(),
    };
    match place.split_once(", Column: ").map(|(line, column)| (line.parse(), column.parse())) {
        Some((Ok(line), Ok(column))) => SqlError::Syntax { line, column, expected: said },
        _ => SqlError::Unreadable { expected: said },
    }
}

fn query(tree: Tree) -> Result<Query, SqlError> {
    let parts = [
        (tree.with.is_some(), "WITH"),
        (tree.order_by.is_some(), "ORDER BY"),
        (tree.limit_clause.is_some() || tree.fetch.is_some(), "LIMIT"),
        (!tree.pipe_operators.is_empty(), "a pipe"),
        (tree.settings.is_some() || tree.format_clause.is_some(), "SETTINGS or FORMAT"),
        (!tree.locks.is_empty() || tree.for_clause.is_some(), "FOR"),
    ];
    refuse(&parts)?;
    match *tree.body {
        SetExpr::Select(tree) => select(*tree),
        SetExpr::Query(tree) => query(*tree),
        SetExpr::SetOperation { op, .. } => Err(SqlError::InQuery { what: op.to_string() }),
        _ => Err(SqlError::NotOneSelect { found: "another statement".to_owned() }),
    }
}

fn refuse(parts: &[(bool, &str)]) -> Result<(), SqlError> {
    match parts.iter().find(|(is_there, _)| *is_there) {
        Some((_, what)) => Err(SqlError::InQuery { what: (*what).to_owned() }),
        None => Ok(()),
    }
}

fn select(tree: Select) -> Result<Query, SqlError> {
    let parts = [
        (tree.distinct.is_some(), "SELECT DISTINCT"),
        (tree.top.is_some(), "TOP"),
        (tree.into.is_some(), "INTO"),
        (tree.having.is_some(), "HAVING"),
        (tree.qualify.is_some() || !tree.named_window.is_empty(), "a window"),
        (!tree.lateral_views.is_empty() || !tree.connect_by.is_empty(), "LATERAL or CONNECT BY"),
        (tree.prewhere.is_some(), "PREWHERE"),
        (!tree.sort_by.is_empty(), "SORT BY"),
        (!tree.cluster_by.is_empty() || !tree.distribute_by.is_empty(), "CLUSTER BY"),
        (tree.exclude.is_some() || tree.value_table_mode.is_some(), "a SELECT modifier"),
        (tree.select_modifiers.is_some(), "a SELECT modifier"),
    ];
    refuse(&parts)?;
    table(&tree.from)?;
    let group_by = groups(tree.group_by)?;
    let mut aggregates = Vec::new();
    for item in tree.projection {
        let expr = match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr,
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
                return Err(SqlError::InSelect { what: "`*` alone".to_owned() });
            }
            SelectItem::ExprWithAliases { .. } => {
                return Err(SqlError::InSelect { what: "a list of aliases".to_owned() });
            }
        };
        match expr {
            Expr::Function(function) => aggregates.push(aggregate(function)?),
            Expr::Identifier(Ident { value: column, .. }) => {
                if !group_by.contains(&column) {
                    return Err(SqlError::NotGrouped { column });
                }
            }
            other => return Err(SqlError::InSelect { what: condition::name_of(&other) }),
        }
    }
    if aggregates.is_empty() {
        return Err(SqlError::NoAggregate);
    }
    let condition = match tree.selection {
        Some(tree) => condition::condition(tree)?,
        None => Condition::All(Vec::new()),
    };
    Ok(Query { aggregates, condition, group_by })
}

/// One table of any name: the command says which table is meant.
fn table(from: &[TableWithJoins]) -> Result<(), SqlError> {
    let what = match from {
        [one] if !one.joins.is_empty() => "JOIN",
        [] | [TableWithJoins { relation: TableFactor::Table { args: None, .. }, .. }] => {
            return Ok(());
        }
        [TableWithJoins { relation: TableFactor::Derived { .. }, .. }] => "a subquery",
        [_] => "FROM with anything but a table",
        _ => "a join of several tables",
    };
    Err(SqlError::InQuery { what: what.to_owned() })
}

fn groups(tree: GroupByExpr) -> Result<Vec<String>, SqlError> {
    let GroupByExpr::Expressions(exprs, modifiers) = tree else {
        return Err(SqlError::InQuery { what: "GROUP BY ALL".to_owned() });
    };
    if !modifiers.is_empty() {
        return Err(SqlError::InQuery { what: "GROUP BY with a modifier".to_owned() });
    }
    let mut columns: Vec<String> = Vec::new();
    for expr in exprs {
        let Expr::Identifier(Ident { value: column, .. }) = expr else {
            return Err(SqlError::InQuery {
                what: format!("GROUP BY {}", condition::name_of(&expr)),
            });
        };
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(columns)
}

fn aggregate(function: Function) -> Result<Aggregate, SqlError> {
    let name = match &function.name.0[..] {
        [ObjectNamePart::Identifier(name)] => name.value.to_uppercase(),
        _ => String::new(),
    };
    let refused = |what: &str| Err(SqlError::InSelect { what: what.to_owned() });
    if !matches!(name.as_str(), "COUNT" | "SUM" | "AVG" | "MIN" | "MAX") {
        return refused(&format!("the function `{name}`"));
    }
    if function.over.is_some() {
        return refused("OVER");
    }
    if function.filter.is_some() || !function.within_group.is_empty() {
        return refused("FILTER or WITHIN GROUP");
    }
    let FunctionArguments::List(mut list) = function.args else {
        return refused(&format!("{name} without a column"));
    };
    if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
        return refused(&format!("{name}(DISTINCT ...)"));
    }
    let argument = match (list.args.len(), list.args.pop()) {
        (1, Some(FunctionArg::Unnamed(argument))) if list.clauses.is_empty() => argument,
        _ => return refused(&format!("{name} of anything but one column")),
    };
    match (name.as_str(), argument) {
        ("COUNT", FunctionArgExpr::Wildcard) => Ok(Aggregate::Count),
        (_, FunctionArgExpr::Expr(Expr::Identifier(Ident { value, .. }))) => Ok(match &*name {
            "COUNT" => Aggregate::CountOf(value),
            "SUM" => Aggregate::Sum(value),
            "AVG" => Aggregate::Avg(value),
            "MIN" => Aggregate::Min(value),
            _ => Aggregate::Max(value),
        }),
        (_, FunctionArgExpr::Expr(other)) => {
            refused(&format!("{name} of {}", condition::name_of(&other)))
        }
        _ => refused(&format!("{name}(*)")),
    }
}
