//! Conditions drawn from a grammar: what they mean, and one of the many ways to write them.

use std::cmp::Ordering;

use arbitrary::{Result as Drawn, Unstructured};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Whole,
    Decimal,
    Text,
    Day,
    Truth,
}

/// The columns in the order of the table.
pub(super) const COLUMNS: [Column; 5] =
    [Column::Whole, Column::Decimal, Column::Text, Column::Day, Column::Truth];

/// A value that can be compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Text(String),
}

impl Cell {
    pub(super) fn compare(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Number(a), Cell::Number(b)) => a.partial_cmp(b).expect("numbers"),
            (Cell::Text(a), Cell::Text(b)) => a.cmp(b),
            _ => unreachable!("values of one column are alike"),
        }
    }
}

impl Column {
    pub(super) fn name(self) -> &'static str {
        match self {
            Column::Whole => "n",
            Column::Decimal => "d \"x\"",
            Column::Text => "T",
            Column::Day => "day",
            Column::Truth => "b",
        }
    }

    pub(super) fn named(name: &str) -> Option<Column> {
        COLUMNS.into_iter().find(|column| column.name() == name)
    }

    pub(super) fn place(self) -> usize {
        COLUMNS.iter().position(|column| *column == self).expect("one of all")
    }

    /// The value of a text in this column; days compare as their texts do.
    pub(super) fn cell(self, text: &str) -> Cell {
        match self {
            Column::Whole | Column::Decimal => Cell::Number(text.parse().expect("a number")),
            Column::Text | Column::Day | Column::Truth => Cell::Text(text.to_owned()),
        }
    }
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Constant(bool),
    Compare(Column, &'static str, Cell),
    In(Column, bool, Vec<Cell>),
    Between(Column, bool, Cell, Cell),
    IsMissing(Column, bool),
    Not(Box<Tree>),
    Join(bool, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// Its value in SQL's logic; none is unknown.
    pub(super) fn value(&self, cell: &impl Fn(Column) -> Option<Cell>) -> Option<bool> {
        match self {
            Tree::Constant(is_true) => Some(*is_true),
            Tree::Compare(column, sign, constant) => {
                let ordering = cell(*column)?.compare(constant);
                Some(match *sign {
                    "=" => ordering.is_eq(),
                    "<>" | "!=" => ordering.is_ne(),
                    "<" => ordering.is_lt(),
                    "<=" => ordering.is_le(),
                    ">" => ordering.is_gt(),
                    _ => ordering.is_ge(),
                })
            }
            Tree::In(column, is_not, constants) => {
                let cell = cell(*column)?;
                Some(constants.iter().any(|constant| cell.compare(constant).is_eq()) != *is_not)
            }
            Tree::Between(column, is_not, low, high) => {
                let cell = cell(*column)?;
                let is_in = cell.compare(low).is_ge() && cell.compare(high).is_le();
                Some(is_in != *is_not)
            }
            Tree::IsMissing(column, is_not) => Some(cell(*column).is_none() != *is_not),
            Tree::Not(inner) => inner.value(cell).map(|is_true| !is_true),
            Tree::Join(is_and, left, right) => {
                let (left, right) = (left.value(cell), right.value(cell));
                let decisive = Some(!*is_and);
                if left == decisive || right == decisive {
                    decisive
                } else {
                    left.and(right).map(|_| *is_and)
                }
            }
        }
    }
}

/// A condition and a text of it.
pub(super) fn draw(u: &mut Unstructured) -> Drawn<(Tree, String)> {
    let depth = u.int_in_range(0..=5)?;
    let tree = tree(u, depth)?;
    let text = Printer { u }.condition(&tree, 0)?;
    Ok((tree, text))
}

fn tree(u: &mut Unstructured, depth: u32) -> Drawn<Tree> {
    if depth > 0 && u.ratio(3, 4)? {
        return Ok(match u.int_in_range(0..=4)? {
            0 => Tree::Not(Box::new(tree(u, depth - 1)?)),
            at => Tree::Join(
                at % 2 == 0,
                Box::new(tree(u, depth - 1)?),
                Box::new(tree(u, depth - 1)?),
            ),
        });
    }
    let column = *u.choose(&COLUMNS)?;
    let is_not = u.arbitrary()?;
    Ok(match u.int_in_range(0..=9)? {
        0 => Tree::Constant(is_not),
        1 => Tree::IsMissing(column, is_not),
        2 | 3 => {
            let n_constants = u.int_in_range(1..=3)?;
            let constants = (0..n_constants).map(|_| constant(u, column)).collect::<Drawn<_>>()?;
            Tree::In(column, is_not, constants)
        }
        4 | 5 if column != Column::Truth => {
            Tree::Between(column, is_not, constant(u, column)?, constant(u, column)?)
        }
        _ => {
            let signs: &[&str] = if column == Column::Truth {
                &["=", "<>", "!="]
            } else {
                &["=", "<>", "!=", "<", "<=", ">", ">="]
            };
            Tree::Compare(column, u.choose(signs)?, constant(u, column)?)
        }
    })
}

fn constant(u: &mut Unstructured, column: Column) -> Drawn<Cell> {
    let text = |text: &str| Cell::Text(text.to_owned());
    Ok(match column {
        Column::Whole | Column::Decimal => {
            let numbers =
                [0.0, 1.0, 1.5, -0.25, 25.0, 7.0, -3.0, 1000.0, 123_456_789.0, 24.5, 2.75];
            Cell::Number(*u.choose(&numbers)?)
        }
        Column::Text => {
            text(u.choose(&["a", "b", "B", "it's", "a b", "é", "", "z", "A", "'", "true"])?)
        }
        Column::Day => text(u.choose(&[
            "2020-01-05",
            "2020-01-06",
            "1999-12-31",
            "2024-02-29",
            "0001-01-01",
            "9999-12-31",
            "2020-01-31",
        ])?),
        Column::Truth => text(u.choose(&["true", "false"])?),
    })
}

/// Writes conditions with needless brackets, spaces and comments.
struct Printer<'a, 'b> {
    u: &'a mut Unstructured<'b>,
}

impl Printer<'_, '_> {
    /// `level` is how tightly what stands around it binds: 0 OR, 1 AND, 2 NOT.
    fn condition(&mut self, tree: &Tree, level: u8) -> Drawn<String> {
        let (text, binds) = match tree {
            Tree::Constant(is_true) => (self.word(if *is_true { "TRUE" } else { "FALSE" })?, 3),
            Tree::Compare(column, sign, constant) => (self.comparison(*column, sign, constant)?, 3),
            Tree::In(column, is_not, constants) => {
                let all = constants
                    .iter()
                    .map(|c| self.constant(*column, c))
                    .collect::<Drawn<Vec<_>>>()?;
                let is_in = self.negatable("IN", *is_not)?;
                (format!("{}{is_in}({})", self.column(*column)?, all.join(",")), 3)
            }
            Tree::Between(column, is_not, low, high) => {
                let (low, high) = (self.constant(*column, low)?, self.constant(*column, high)?);
                let between = self.negatable("BETWEEN", *is_not)?;
                let and = self.word("AND")?;
                (format!("{}{between}{low} {and} {high}", self.column(*column)?), 3)
            }
            Tree::IsMissing(column, is_not) => {
                let is = self.word(if *is_not { "IS NOT NULL" } else { "IS NULL" })?;
                (format!("{} {is}", self.column(*column)?), 3)
            }
            Tree::Not(inner) => {
                let inner = self.condition(inner, 2)?;
                (format!("{}{}{inner}", self.word("NOT")?, self.space()?), 2)
            }
            Tree::Join(is_and, left, right) => {
                let own = u8::from(*is_and);
                let (left, right) = (self.condition(left, own)?, self.condition(right, own + 1)?);
                let word = self.word(if *is_and { "AND" } else { "OR" })?;
                (format!("{left}{}{word}{}{right}", self.space()?, self.space()?), own)
            }
        };
        let is_needed = binds < level;
        if is_needed || self.u.ratio(1, 6)? {
            Ok(format!("({text})"))
        } else {
            Ok(text)
        }
    }

    fn comparison(&mut self, column: Column, sign: &str, constant: &Cell) -> Drawn<String> {
        let (name, constant) = (self.column(column)?, self.constant(column, constant)?);
        if self.u.ratio(1, 3)? {
            let flipped = match sign {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
            Ok(format!("{constant}{}{flipped}{}{name}", self.space()?, self.space()?))
        } else {
            Ok(format!("{name}{}{sign}{}{constant}", self.space()?, self.space()?))
        }
    }

    fn negatable(&mut self, word: &str, is_not: bool) -> Drawn<String> {
        let word = if is_not { format!("NOT {word}") } else { word.to_owned() };
        Ok(format!("{}{}{}", self.space()?, self.word(&word)?, self.space()?))
    }

    fn word(&mut self, word: &str) -> Drawn<String> {
        Ok(if self.u.ratio(1, 3)? { word.to_lowercase() } else { word.to_owned() })
    }

    fn space(&mut self) -> Drawn<&'static str> {
        Ok(*self.u.choose(&[" ", " ", " ", "  ", "\n", "\t", " /* x */ ", " -- y\n"])?)
    }

    fn column(&mut self, column: Column) -> Drawn<String> {
        let name = column.name();
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let text = if is_plain && self.u.ratio(2, 3)? {
            name.to_owned()
        } else {
            format!("\"{}\"", name.replace('"', "\"\""))
        };
        Ok(if self.u.ratio(1, 8)? { format!("({text})") } else { text })
    }

    fn constant(&mut self, column: Column, constant: &Cell) -> Drawn<String> {
        let text = match constant {
            Cell::Number(number) => match self.u.int_in_range(0..=5)? {
                0 => format!("{number:.2}"),
                1 if *number >= 0.0 => format!("+{number}"),
                2 => format!("- {}", -number),
                3 if number.abs() < 1.0 && *number > 0.0 => number.to_string()[1..].to_owned(),
                3 if number.fract() == 0.0 => format!("{number}."),
                _ => number.to_string(),
            },
            Cell::Text(text) => {
                let quoted = format!("'{}'", text.replace('\'', "''"));
                match column {
                    Column::Day if self.u.ratio(1, 3)? => format!("DATE {quoted}"),
                    Column::Truth if self.u.ratio(2, 3)? => self.word(&text.to_uppercase())?,
                    _ => quoted,
                }
            }
        };
        Ok(if self.u.ratio(1, 8)? { format!("({text})") } else { text })
    }
}
