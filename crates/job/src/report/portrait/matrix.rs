//! How strongly every two columns go together, before and after.

use incrowd_data::{Attribute, Cell, Codes, RecodedColumn, Shape};
use incrowd_evaluate::association::{Column, Meaning, association};
use rayon::prelude::*;

use super::Sitter;
use super::line::Line;
use crate::coding::{OrderedColumn, order_column};
use crate::error::JobError;
use crate::evaluate::cell_extent;
use crate::plan::Role;

/// How strongly every two columns go together.
#[derive(Debug, Default)]
pub(crate) struct Associations {
    pub(crate) names: Vec<String>,
    /// In the table, where it is known and may be told.
    pub(crate) before: Option<Vec<Vec<f64>>>,
    /// In the release.
    pub(crate) after: Vec<Vec<f64>>,
    /// Columns that are left out: of too many values without an order, or of which means are released.
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

    /// The values of an attribute: numbers where they have an order. A declared one only if it may be told.
    fn of_values(attribute: &Attribute, tells_order: bool) -> Read {
        let is_ordered = match attribute.shape {
            Shape::Numeric => true,
            Shape::Ordinal => tells_order,
            _ => false,
        };
        match Line::of(attribute).filter(|_| is_ordered) {
            Some(Line { mut places, .. }) => {
                places.resize(attribute.n_codes() as usize, f64::NAN);
                Read::Numbers(places)
            }
            None => Read::Labels(attribute.n_codes()),
        }
    }

    /// Its cells: the middle of a range; the values of a set, which share its rows. What declared orders and hierarchies say
    /// of cells only if it may be told.
    fn of_cells(attribute: &Attribute, column: &RecodedColumn, tells_order: bool) -> Read {
        let middle = |line: &Line| {
            let ends = column.cells.iter().map(|cell| line.ends(attribute, cell));
            ends.map(|ends| ends.map_or(f64::NAN, |(lo, hi)| f64::midpoint(lo, hi))).collect()
        };
        match (&attribute.shape, Line::of(attribute)) {
            (Shape::Numeric, Some(line)) => Read::Numbers(middle(&line)),
            (Shape::Ordinal, Some(line)) if tells_order => Read::Numbers(middle(&line)),
            (Shape::Tree(_), _) if tells_order => shared(attribute, column),
            (Shape::Unordered, _) => shared(attribute, column),
            _ => Read::Labels(u32::try_from(column.cells.len()).unwrap_or(u32::MAX)),
        }
    }

    /// Labels that there are at most.
    fn n_labels(&self) -> usize {
        match self {
            Read::Numbers(_) => 0,
            Read::Labels(n) => *n as usize,
            Read::Shared(values, _) => {
                let mut all: Vec<u32> = values.iter().flatten().copied().collect();
                all.sort_unstable();
                all.dedup();
                all.len()
            }
        }
    }
}

/// Values of a cell that are taken; more are taken at even distances.
const MOST_SHARED: usize = 32;

/// The values that the cells of a column stand for; `*` stands for none.
fn shared(attribute: &Attribute, column: &RecodedColumn) -> Read {
    let values = |cell: &Cell| -> Vec<u32> {
        let all: Vec<u32> = match cell {
            Cell::All => Vec::new(),
            Cell::Set(codes) => codes.clone(),
            cell => {
                let (lo, hi) = cell_extent(attribute, cell);
                (lo..=hi).collect()
            }
        };
        let n = all.len();
        let n_taken = n.min(MOST_SHARED);
        (0..n_taken).map(|at| all[at * n / n_taken]).collect()
    };
    Read::Shared(column.cells.iter().map(values).collect(), attribute.n_codes())
}

/// A column that is released as it is.
struct Plain {
    name: String,
    codes: Codes,
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

impl Sitter<'_> {
    /// How strongly every two columns go together.
    pub(super) fn associations(&self) -> Result<Associations, JobError> {
        let mut found = Associations::default();
        let quasi = self.recoded_columns(&mut found);
        let plain = self.plain_columns(&mut found)?;
        found.names.extend(plain.iter().map(|plain| plain.name.clone()));
        let n = found.names.len();
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let compared = Compared { sitter: self, quasi: &quasi, plain: &plain };
        let square = |of: &(dyn Fn(usize, usize) -> f64 + Sync)| {
            let all: Vec<f64> = pairs.par_iter().map(|&(a, b)| of(a, b)).collect();
            let mut square = vec![vec![f64::NAN; n]; n];
            for (&(a, b), value) in pairs.iter().zip(all) {
                (square[a][b], square[b][a]) = (value, value);
            }
            square
        };
        let has_vectors = !self.coding.set.counts.is_empty();
        if self.is_internal() && has_vectors {
            found.before = Some(square(&|a, b| compared.before(a, b)));
        }
        found.after = square(&|a, b| compared.after(a, b));
        Ok(found)
    }

    fn recoded_columns(&self, found: &mut Associations) -> Vec<Recoded<'_>> {
        let set = &self.coding.set;
        let columns = set.attributes.iter().zip(&self.recoded().columns).zip(&set.vectors);
        let mut recoded = Vec::new();
        for ((attribute, column), vectors) in columns {
            let is_internal = self.is_internal();
            let cells = Read::of_cells(attribute, column, is_internal);
            if !self.is_told(attribute) || cells.n_labels() > MOST_LABELS {
                found.left_out.push(attribute.name.clone());
                continue;
            }
            found.names.push(attribute.name.clone());
            recoded.push(Recoded {
                column,
                vectors,
                n_codes: attribute.n_codes(),
                values: Read::of_values(attribute, is_internal),
                cells,
            });
        }
        recoded
    }

    /// The other columns that the job looks at, if the rows are in memory and it is known which class each is in.
    fn plain_columns(&self, found: &mut Associations) -> Result<Vec<Plain>, JobError> {
        let Some(table) = self.table.filter(|_| self.assigned.parts.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut plain = Vec::new();
        for planned in &self.plan.columns {
            let is_released = matches!(planned.role, Some(Role::Sensitive | Role::Insensitive));
            let raw = table.column(&planned.name).filter(|_| is_released && !planned.spec.entity);
            let Some(raw) = raw else { continue };
            let OrderedColumn { ordered, codes } = order_column(planned, raw)?;
            let attribute = Attribute {
                name: planned.name.clone(),
                dictionary: ordered.ranked.dictionary,
                shape: ordered.shape,
            };
            let read = Read::of_values(&attribute, self.is_internal());
            let n_codes = attribute.n_codes();
            if matches!(read, Read::Labels(_)) && n_codes as usize > MOST_LABELS {
                found.left_out.push(attribute.name);
                continue;
            }
            plain.push(Plain { name: attribute.name, codes, n_codes, read });
        }
        Ok(plain)
    }
}

/// Columns that are compared: quasi-identifier columns first.
struct Compared<'a> {
    sitter: &'a Sitter<'a>,
    quasi: &'a [Recoded<'a>],
    plain: &'a [Plain],
}

/// The code of a record.
type CodeOf<'a> = Box<dyn Fn(usize) -> u32 + Sync + 'a>;

impl Compared<'_> {
    /// In the table: over distinct vectors, or over rows where another column is looked at.
    fn before(&self, a: usize, b: usize) -> f64 {
        let coding = self.sitter.coding;
        let by_row = a.max(b) >= self.quasi.len();
        let of = |at: usize| -> (CodeOf, u32, &Read) {
            match self.quasi.get(at) {
                Some(quasi) if by_row => {
                    let code = |row: usize| quasi.vectors.get(coding.vector_of[row] as usize);
                    (Box::new(code), quasi.n_codes, &quasi.values)
                }
                Some(quasi) => {
                    (Box::new(|vector| quasi.vectors.get(vector)), quasi.n_codes, &quasi.values)
                }
                None => {
                    let plain = &self.plain[at - self.quasi.len()];
                    (Box::new(|row| plain.codes.get(row)), plain.n_codes, &plain.read)
                }
            }
        };
        let counts = &coding.set.counts;
        if by_row {
            associated(&of(a), &of(b), coding.vector_of.len(), &|_| 1)
        } else {
            associated(&of(a), &of(b), counts.len(), &|vector| u64::from(counts[vector]))
        }
    }

    /// In the release: over classes, or over the rows that are released.
    fn after(&self, a: usize, b: usize) -> f64 {
        let (sitter, coding) = (self.sitter, self.sitter.coding);
        let by_row = a.max(b) >= self.quasi.len();
        let class_of_row = |row: usize| sitter.class_of(coding.vector_of[row] as usize);
        let of = |at: usize| -> (CodeOf, u32, &Read) {
            let n_cells =
                |quasi: &Recoded| u32::try_from(quasi.column.cells.len()).unwrap_or(u32::MAX);
            match self.quasi.get(at) {
                Some(quasi) if by_row => {
                    let cell = move |row: usize| {
                        class_of_row(row).map_or(0, |class| quasi.column.of_class[class])
                    };
                    (Box::new(cell), n_cells(quasi), &quasi.cells)
                }
                Some(quasi) => {
                    (Box::new(|class| quasi.column.of_class[class]), n_cells(quasi), &quasi.cells)
                }
                None => {
                    let plain = &self.plain[at - self.quasi.len()];
                    (Box::new(|row| plain.codes.get(row)), plain.n_codes, &plain.read)
                }
            }
        };
        let sizes = &sitter.recoded().sizes;
        if by_row {
            let weight = |row: usize| u64::from(class_of_row(row).is_some());
            associated(&of(a), &of(b), coding.vector_of.len(), &weight)
        } else {
            associated(&of(a), &of(b), sizes.len(), &|class| sizes[class])
        }
    }
}

fn associated(
    (code_a, n_a, read_a): &(CodeOf, u32, &Read),
    (code_b, n_b, read_b): &(CodeOf, u32, &Read),
    n_records: usize,
    weight: &(dyn Fn(usize) -> u64 + Sync),
) -> f64 {
    let a = Column { code: code_a, n_codes: *n_a, meaning: read_a.meaning() };
    let b = Column { code: code_b, n_codes: *n_b, meaning: read_b.meaning() };
    association(&a, &b, n_records, weight)
}
