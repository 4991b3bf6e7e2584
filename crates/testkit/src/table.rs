//! Tables as short literals.

use std::fmt;

use incrowd_data::{
    Attribute, Codes, Dictionary, Extra, FrequencySet, Hierarchy, Kind, Shape, collapse,
};

/// How the values of a literal's column relate to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `num`: numbers.
    Numeric,
    /// `ord`: in a declared order.
    Ordinal,
    /// `cat`: in no order.
    Unordered,
    /// `tree`: leaves of a hierarchy.
    Tree,
}

impl Form {
    /// Every form.
    pub const ALL: [Form; 4] = [Form::Numeric, Form::Ordinal, Form::Unordered, Form::Tree];

    /// The forms that are cut along the order of their codes.
    pub const ORDERED: [Form; 3] = [Form::Numeric, Form::Ordinal, Form::Unordered];
}

/// Rows of codes with the meanings of the codes. Its `Debug` form is its literal, shortened if
/// long.
#[derive(Clone)]
pub struct Table {
    /// The quasi-identifier columns.
    pub attributes: Vec<Attribute>,
    /// The additional columns, by name.
    pub extras: Vec<(String, Dictionary)>,
    /// The codes of every row: those of the attributes, then those of the extras.
    pub rows: Vec<Vec<u32>>,
}

/// A table from a header and one line per row, where `?` is a missing cell.
///
/// The header names the quasi-identifier columns with their form, then, after a bar, the extras:
/// `age:num sex:cat | disease`. An order or the rows of a hierarchy are given after `=`; otherwise
/// the order is that of the values: `size:ord=S,M,L town:tree=Rome;IT;*,Paris;FR;*`.
///
/// # Panics
///
/// If the literal is not of this form.
#[must_use]
pub fn table(header: &str, body: &str) -> Table {
    let (quasi, extras) = header.split_once('|').unwrap_or((header, ""));
    let lines: Vec<Vec<&str>> = body
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|cells| !cells.is_empty())
        .collect();
    let mut table = Table { attributes: vec![], extras: vec![], rows: vec![vec![]; lines.len()] };
    let column = |at: usize| -> Vec<Option<&str>> {
        lines.iter().map(|cells| Some(cells[at]).filter(|&cell| cell != "?")).collect()
    };
    let mut at = 0;
    for spec in quasi.split_whitespace() {
        let (name, form) = spec.split_once(':').expect("name:form");
        let (form, declared) = form.split_once('=').unwrap_or((form, ""));
        let declared: Vec<&str> = declared.split(',').filter(|d| !d.is_empty()).collect();
        table.push_attribute(name, form_named(form), &declared, &column(at));
        at += 1;
    }
    for name in extras.split_whitespace() {
        table.push_extra(name, &column(at));
        at += 1;
    }
    assert!(lines.iter().all(|cells| cells.len() == at), "every row has {at} cells");
    table
}

fn form_named(name: &str) -> Form {
    match name {
        "num" => Form::Numeric,
        "ord" => Form::Ordinal,
        "cat" => Form::Unordered,
        "tree" => Form::Tree,
        _ => panic!("no form is called {name}"),
    }
}

impl Table {
    /// A table of rows without columns.
    #[must_use]
    pub fn of_rows(n_rows: usize) -> Table {
        Table { attributes: vec![], extras: vec![], rows: vec![vec![]; n_rows] }
    }

    /// Adds a quasi-identifier column, before any extra. `declared` has the order of an ordinal
    /// column or the rows `leaf;...;root` of a hierarchy, and is empty otherwise.
    ///
    /// # Panics
    ///
    /// If the cells are not of this form.
    pub fn push_attribute(
        &mut self,
        name: &str,
        form: Form,
        declared: &[&str],
        cells: &[Option<&str>],
    ) {
        assert!(self.extras.is_empty(), "attributes come before extras");
        let has_missing = cells.iter().any(Option::is_none);
        let (dictionary, shape) = match form {
            Form::Numeric => (numbers(cells), Shape::Numeric),
            Form::Ordinal if declared.is_empty() => (values(cells), Shape::Ordinal),
            Form::Ordinal => (Dictionary::of_texts(owned(declared), has_missing), Shape::Ordinal),
            Form::Unordered => (values(cells), Shape::Unordered),
            Form::Tree => {
                let rows: Vec<Vec<String>> =
                    declared.iter().map(|row| owned(&row.split(';').collect::<Vec<_>>())).collect();
                let tree = Hierarchy::from_rows(&rows).expect("a sound hierarchy");
                let leaves = tree.leaves().map(str::to_owned).collect();
                let tree = if has_missing { tree.with_missing() } else { tree };
                (Dictionary::of_texts(leaves, has_missing), Shape::Tree(tree))
            }
        };
        push_codes(&mut self.rows, &dictionary, cells);
        self.attributes.push(Attribute { name: name.to_owned(), dictionary, shape });
    }

    /// Adds an extra column: numbers if all its cells are numbers, otherwise text in its own order.
    ///
    /// # Panics
    ///
    /// If there is not one cell per row.
    pub fn push_extra(&mut self, name: &str, cells: &[Option<&str>]) {
        let is_numeric = cells.iter().flatten().all(|cell| cell.parse::<f64>().is_ok());
        let dictionary = if is_numeric { numbers(cells) } else { values(cells) };
        push_codes(&mut self.rows, &dictionary, cells);
        self.extras.push((name.to_owned(), dictionary));
    }

    /// The codes of a row's quasi-identifier.
    #[must_use]
    pub fn quasi(&self, row: usize) -> &[u32] {
        &self.rows[row][..self.attributes.len()]
    }

    /// The codes of a row's extras.
    #[must_use]
    pub fn extra_codes(&self, row: usize) -> &[u32] {
        &self.rows[row][self.attributes.len()..]
    }

    /// The frequency set, and the vector of each row.
    ///
    /// # Panics
    ///
    /// Never: every row has a code per column.
    #[must_use]
    pub fn collapse(&self) -> (FrequencySet, Vec<u32>) {
        let n_codes: Vec<u32> = (self.attributes.iter().map(Attribute::n_codes))
            .chain(self.extras.iter().map(|(_, dictionary)| dictionary.n_codes()))
            .collect();
        let columns: Vec<Codes> = (0..)
            .zip(&n_codes)
            .map(|(at, &n): (usize, _)| Codes::pack(n, self.rows.iter().map(|row| row[at])))
            .collect();
        let keyed: Vec<(&Codes, u32)> = columns.iter().zip(n_codes).collect();
        let collapsed = collapse(&keyed, self.rows.len());
        let mut vectors: Vec<Codes> =
            keyed.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
        let extras = vectors
            .split_off(self.attributes.len())
            .into_iter()
            .zip(&self.extras)
            .map(|(codes, (name, dictionary))| Extra {
                name: name.clone(),
                codes,
                n_codes: dictionary.n_codes(),
                positions: dictionary.positions.clone(),
            })
            .collect();
        let set = FrequencySet {
            attributes: self.attributes.clone(),
            vectors,
            counts: collapsed.counts,
            extras,
            n_rows: self.rows.len() as u64,
        };
        (set, collapsed.vector_of)
    }

    /// The frequency set.
    #[must_use]
    pub fn frequency_set(&self) -> FrequencySet {
        self.collapse().0
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        for Attribute { name, dictionary, shape } in &self.attributes {
            let declared: Vec<String> = match shape {
                Shape::Ordinal => dictionary.texts.clone(),
                Shape::Tree(tree) => tree.rows().map(|row| row.join(";")).collect(),
                Shape::Numeric | Shape::Unordered => vec![],
            };
            let form = match shape {
                Shape::Numeric => "num",
                Shape::Ordinal => "ord=",
                Shape::Unordered => "cat",
                Shape::Tree(_) => "tree=",
            };
            write!(f, "{name}:{form}{} ", declared[..declared.len().min(SHOWN)].join(","))?;
        }
        write!(f, "|")?;
        for (name, _) in &self.extras {
            write!(f, " {name}")?;
        }
        let dictionaries: Vec<&Dictionary> = (self.attributes.iter().map(|a| &a.dictionary))
            .chain(self.extras.iter().map(|(_, dictionary)| dictionary))
            .collect();
        for row in self.rows.iter().take(SHOWN) {
            writeln!(f)?;
            for (dictionary, &code) in dictionaries.iter().zip(row) {
                write!(f, "{} ", dictionary.text(code).unwrap_or("?"))?;
            }
        }
        let left = self.rows.len().saturating_sub(SHOWN);
        if left > 0 { write!(f, "\nand {left} more rows") } else { Ok(()) }
    }
}

fn push_codes(rows: &mut [Vec<u32>], dictionary: &Dictionary, cells: &[Option<&str>]) {
    assert_eq!(rows.len(), cells.len(), "one cell per row");
    let mut codes: Vec<(&str, u32)> =
        dictionary.texts.iter().map(String::as_str).zip(0u32..).collect();
    codes.sort_unstable();
    for (row, cell) in rows.iter_mut().zip(cells) {
        row.push(match cell {
            None => dictionary.missing().expect("a dictionary with missing cells"),
            Some(text) => {
                let at = codes.binary_search_by_key(text, |(known, _)| known);
                codes[at.expect("the value is in the dictionary")].1
            }
        });
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// The distinct values as text.
fn values(cells: &[Option<&str>]) -> Dictionary {
    let mut texts: Vec<&str> = cells.iter().flatten().copied().collect();
    texts.sort_unstable();
    texts.dedup();
    Dictionary::of_texts(owned(&texts), cells.iter().any(Option::is_none))
}

/// The distinct values as numbers; equal numbers must be spelled alike.
fn numbers(cells: &[Option<&str>]) -> Dictionary {
    let mut found: Vec<(f64, &str)> = cells
        .iter()
        .flatten()
        .map(|&text| (text.parse::<f64>().expect("a number"), text))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.dedup();
    let whole = found.iter().all(|(number, _)| number.fract() == 0.0);
    Dictionary {
        kind: if whole { Kind::Integer } else { Kind::Decimal },
        texts: found.iter().map(|&(_, text)| text.to_owned()).collect(),
        positions: found.iter().map(|&(number, _)| number).collect(),
        has_missing: cells.iter().any(Option::is_none),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_codes_in_order() {
        let found = table(
            "age:num size:ord=S,M,L sex:cat town:tree=Rome;IT;*,Paris;FR;*,Milan;IT;* | pay",
            "100 L w Paris 7
               9 S m Milan ?
               ? S w ?     10",
        );
        assert_eq!(found.rows, [[1, 2, 1, 2, 0], [0, 0, 0, 1, 2], [2, 0, 1, 3, 1]]);
        assert_eq!(found.attributes[0].dictionary.positions, [9.0, 100.0]);
        assert_eq!(found.extras[0].1.positions, [7.0, 10.0]);
        let Shape::Tree(tree) = &found.attributes[3].shape else { panic!("a tree") };
        assert_eq!(tree.n_leaves(), 4);
    }

    #[test]
    fn equal_rows_collapse() {
        let (set, vector_of) = table("a:num | s", "2 x\n1 x\n2 x\n2 w").collapse();
        assert_eq!(vector_of, [2, 0, 2, 1]);
        assert_eq!(set.counts, [1, 1, 2]);
        assert_eq!(set.vectors[0].iter().collect::<Vec<_>>(), [0, 1, 1]);
        assert_eq!(set.extras[0].codes.iter().collect::<Vec<_>>(), [1, 0, 1]);
        assert_eq!(set.n_rows, 4);
    }

    #[test]
    fn no_rows() {
        assert!(table("a:num b:cat | s", "").frequency_set().is_empty());
    }
}
