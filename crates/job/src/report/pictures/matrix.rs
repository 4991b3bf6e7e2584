//! How strongly every two columns go together, before and after.

use std::borrow::Cow;

use incrowd_data::{Attribute, Cell, Codes, RecodedColumn, Shape};
use incrowd_evaluate::association::{Column, Meaning, association};
use rayon::prelude::*;

use super::line::Line;
use super::{OtherColumn, PictureSource};

/// How strongly every two columns go together.
#[derive(Debug, Default)]
pub(crate) struct Associations {
    pub(crate) names: Vec<String>,
    /// In the table, where it is known and may be told.
    pub(crate) before: Option<Vec<Vec<f64>>>,
    /// In the release.
    pub(crate) after: Vec<Vec<f64>>,
    /// Columns that are left out: of too many values without an order, or of which means are
    /// released.
    pub(crate) left_out: Vec<String>,
}

/// Values without an order that a column may have.
const MOST_LABELS: usize = 500;

/// What the codes of a column mean.
enum Read {
    Numbers(Vec<f64>),
    Labels(u32),
    /// The values that share the rows of a cell, and how many values there are.
    Shared(Vec<Vec<u32>>, u32),
}

impl Read {
    fn meaning(&self) -> Meaning<'_> {
        match self {
            Read::Numbers(numbers) => Meaning::Numbers(numbers),
            Read::Labels(n) => Meaning::Labels(*n),
            Read::Shared(values, n) => Meaning::Shared(values, *n),
        }
    }

    /// The values of an attribute: numbers where they have an order.
    fn of_values(attribute: &Attribute) -> Read {
        let is_ordered = matches!(attribute.shape, Shape::Numeric | Shape::Ordinal);
        match Line::of(attribute).filter(|_| is_ordered) {
            Some(Line { mut places, .. }) => {
                places.resize(attribute.n_codes() as usize, f64::NAN);
                Read::Numbers(places)
            }
            None => Read::Labels(attribute.n_codes()),
        }
    }

    /// Its cells: the middle of a range; the values of a set or below a node, which share its rows.
    fn of_cells(attribute: &Attribute, column: &RecodedColumn) -> Read {
        let middle = |line: &Line| {
            let ends = column.cells.iter().map(|cell| line.ends(attribute, cell));
            ends.map(|ends| ends.map_or(f64::NAN, |(lo, hi)| f64::midpoint(lo, hi))).collect()
        };
        match (&attribute.shape, Line::of(attribute)) {
            (Shape::Numeric | Shape::Ordinal, Some(line)) => Read::Numbers(middle(&line)),
            _ => shared(attribute, column),
        }
    }

    /// Labels that there are at most.
    fn n_labels(&self) -> usize {
        match self {
            Read::Numbers(_) => 0,
            Read::Labels(n) | Read::Shared(_, n) => *n as usize,
        }
    }
}

/// The values that the cells of a column stand for; `*` stands for none. Of a hierarchy with many
/// leaves no cell does.
fn shared(attribute: &Attribute, column: &RecodedColumn) -> Read {
    let is_large =
        matches!(attribute.shape, Shape::Tree(_)) && attribute.n_codes() as usize > MOST_LABELS;
    if is_large {
        return Read::Labels(attribute.n_codes());
    }
    let values = |cell: &Cell| -> Vec<u32> {
        match cell {
            Cell::All => Vec::new(),
            cell => attribute.runs(cell).into_iter().flat_map(|(lo, hi)| lo..=hi).collect(),
        }
    };
    // Only values that some cell stands for have a number, so that others do not count.
    let mut values: Vec<Vec<u32>> = column.cells.iter().map(values).collect();
    let mut present: Vec<u32> = values.iter().flatten().copied().collect();
    present.sort_unstable();
    present.dedup();
    for code in values.iter_mut().flatten() {
        let number = present.partition_point(|known| *known < *code);
        *code = u32::try_from(number).expect("no more than codes");
    }
    Read::Shared(values, u32::try_from(present.len()).expect("no more than codes"))
}

/// A column that is released as it is.
struct Plain<'a> {
    name: &'a str,
    codes: &'a Codes,
    n_codes: u32,
    read: Read,
}

/// A quasi-identifier column.
struct Recoded<'a> {
    column: &'a RecodedColumn,
    vectors: &'a Codes,
    n_codes: u32,
    values: Read,
    cells: Read,
}

impl PictureSource<'_> {
    /// How strongly every two columns go together.
    pub(super) fn associations(&self) -> Associations {
        let mut found = Associations::default();
        let quasi = self.recoded_columns(&mut found);
        let plain = self.plain_columns(&mut found);
        found.names.extend(plain.iter().map(|plain| plain.name.to_owned()));
        let n = found.names.len();
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let square = |[whole, by_row]: [Compared; 2]| {
            let of = |&(a, b): &(usize, usize)| {
                let over = if a.max(b) < quasi.len() { &whole } else { &by_row };
                over.association(a, b)
            };
            let all: Vec<f64> = pairs.par_iter().map(of).collect();
            let mut square = vec![vec![f64::NAN; n]; n];
            for (&(a, b), value) in pairs.iter().zip(all) {
                (square[a][b], square[b][a]) = (value, value);
            }
            square
        };
        let has_vectors = !self.set.counts.is_empty();
        if has_vectors {
            found.before = Some(square(self.before(&quasi, &plain)));
        }
        found.after = square(self.after(&quasi, &plain));
        found
    }

    fn recoded_columns(&self, found: &mut Associations) -> Vec<Recoded<'_>> {
        let set = self.set;
        let columns = set.attributes.iter().zip(&self.recoded().columns).zip(&set.vectors);
        let mut recoded = Vec::new();
        for ((attribute, column), vectors) in columns {
            let cells = Read::of_cells(attribute, column);
            if !self.is_told(attribute) || cells.n_labels() > MOST_LABELS {
                found.left_out.push(attribute.name.clone());
                continue;
            }
            found.names.push(attribute.name.clone());
            recoded.push(Recoded {
                column,
                vectors,
                n_codes: attribute.n_codes(),
                values: Read::of_values(attribute),
                cells,
            });
        }
        recoded
    }

    /// The columns that are released as they are and can be compared.
    fn plain_columns(&self, found: &mut Associations) -> Vec<Plain<'_>> {
        let mut plain = Vec::new();
        for OtherColumn { attribute, codes } in &self.others {
            let read = Read::of_values(attribute);
            let n_codes = attribute.n_codes();
            if matches!(read, Read::Labels(_)) && n_codes as usize > MOST_LABELS {
                found.left_out.push(attribute.name.clone());
                continue;
            }
            plain.push(Plain { name: &attribute.name, codes, n_codes, read });
        }
        plain
    }
}

/// Columns that are compared over the same records: quasi-identifier columns first.
struct Compared<'a> {
    columns: Vec<(Cow<'a, Codes>, u32, &'a Read)>,
    /// How often a record counts; once if nothing is said.
    weights: Option<Vec<u32>>,
}

impl Compared<'_> {
    fn association(&self, a: usize, b: usize) -> f64 {
        let column = |at: usize| {
            let (codes, n_codes, read) = &self.columns[at];
            Column { codes: codes.as_ref(), n_codes: *n_codes, meaning: read.meaning() }
        };
        association(&column(a), &column(b), self.weights.as_deref())
    }
}

impl PictureSource<'_> {
    /// In the table: distinct vectors, and for other columns rows.
    fn before<'a>(&'a self, quasi: &'a [Recoded], plain: &'a [Plain]) -> [Compared<'a>; 2] {
        let vectors = Compared {
            columns: quasi
                .iter()
                .map(|q| (Cow::Borrowed(q.vectors), q.n_codes, &q.values))
                .collect(),
            weights: Some(self.set.counts.clone()),
        };
        let by_row = |quasi: &'a Recoded| {
            let vector_of = self.vector_of.iter();
            let codes = vector_of.map(|&vector| quasi.vectors.get(vector as usize));
            (Cow::Owned(Codes::pack(quasi.n_codes, codes)), quasi.n_codes, &quasi.values)
        };
        [vectors, Compared { columns: rows(quasi, plain, by_row), weights: None }]
    }

    /// In the release: classes, and for other columns the rows that are released.
    fn after<'a>(&'a self, quasi: &'a [Recoded], plain: &'a [Plain]) -> [Compared<'a>; 2] {
        let n_cells = |quasi: &Recoded| {
            u32::try_from(quasi.column.cells.len()).expect("fewer cells than rows").max(1)
        };
        let by_class = |quasi: &'a Recoded| {
            let cells = quasi.column.of_class.iter().copied();
            (Cow::Owned(Codes::pack(n_cells(quasi), cells)), n_cells(quasi), &quasi.cells)
        };
        let sizes = self.recoded().sizes.iter();
        let classes = Compared {
            columns: quasi.iter().map(by_class).collect(),
            weights: Some(
                sizes
                    .map(|&rows| u32::try_from(rows).expect("rows are counted in 32 bits"))
                    .collect(),
            ),
        };
        let class_of: Vec<Option<u32>> =
            (0..self.class_of.len()).map(|vector| self.class_of(vector)).collect();
        let of_row = || self.vector_of.iter().map(|&vector| class_of[vector as usize]);
        let by_row = |quasi: &'a Recoded| {
            let cell =
                |class: Option<u32>| class.map_or(0, |class| quasi.column.of_class[class as usize]);
            let codes = Codes::pack(n_cells(quasi), of_row().map(cell));
            (Cow::Owned(codes), n_cells(quasi), &quasi.cells)
        };
        let columns = rows(quasi, plain, by_row);
        let is_whole = plain.is_empty() || class_of.iter().all(Option::is_some);
        let weights = (!is_whole).then(|| of_row().map(|c| u32::from(c.is_some())).collect());
        [classes, Compared { columns, weights }]
    }
}

/// Columns by row: quasi-identifier columns as they are read there, then the others. None if there
/// are no others, since nothing else is looked at row by row.
fn rows<'a>(
    quasi: &'a [Recoded],
    plain: &'a [Plain],
    by_row: impl Fn(&'a Recoded<'a>) -> (Cow<'a, Codes>, u32, &'a Read) + Send + Sync,
) -> Vec<(Cow<'a, Codes>, u32, &'a Read)> {
    if plain.is_empty() {
        return Vec::new();
    }
    let mut columns: Vec<_> = quasi.par_iter().map(by_row).collect();
    columns.extend(plain.iter().map(|p| (Cow::Borrowed(p.codes), p.n_codes, &p.read)));
    columns
}
