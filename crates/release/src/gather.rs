//! Classes that are found part by part of a table.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use incrowd_data::{Recoded, RecodedColumn, SUPPRESSED};

use crate::Classes;

/// Collects the classes of parts of a table that share no class, one part after the other.
#[derive(Debug)]
pub struct Gathering {
    classes: Classes,
    /// By column, an index of the cells so far.
    known: Vec<HashTable<u32>>,
    hasher: DefaultHashBuilder,
}

impl Gathering {
    /// An empty collection for this number of columns.
    #[must_use]
    pub fn new(n_columns: usize) -> Gathering {
        let columns = vec![RecodedColumn::default(); n_columns];
        let recoded = Recoded { sizes: Vec::new(), columns, n_suppressed: 0 };
        Gathering {
            classes: Classes { recoded, number_of: Vec::new() },
            known: (0..n_columns).map(|_| HashTable::new()).collect(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// The number of classes so far, including those without rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.number_of.len()
    }

    /// Whether there are no classes yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the classes of a part.
    pub fn add(&mut self, part: Classes) {
        let Recoded { sizes, columns, n_suppressed } = part.recoded;
        let all = &mut self.classes.recoded;
        let first = u32::try_from(all.sizes.len()).expect("fewer classes than 2^32");
        let shift = |number| if number == SUPPRESSED { SUPPRESSED } else { first + number };
        self.classes.number_of.extend(part.number_of.into_iter().map(shift));
        all.sizes.extend(sizes);
        all.n_suppressed += n_suppressed;
        for ((to, known), from) in all.columns.iter_mut().zip(&mut self.known).zip(columns) {
            let mut id_of = Vec::with_capacity(from.cells.len());
            for cell in from.cells {
                let hash = self.hasher.hash_one(&cell);
                let found = known.find(hash, |&id| to.cells[id as usize] == cell).copied();
                id_of.push(found.unwrap_or_else(|| {
                    let id = u32::try_from(to.cells.len()).expect("fewer cells than classes");
                    to.cells.push(cell);
                    let cells = &to.cells;
                    let rehash = |&id: &u32| self.hasher.hash_one(&cells[id as usize]);
                    known.insert_unique(hash, id, rehash);
                    id
                }));
            }
            to.of_class.extend(from.of_class.into_iter().map(|id| id_of[id as usize]));
        }
    }

    /// All classes.
    #[must_use]
    pub fn finish(self) -> Classes {
        self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_data::Cell;

    #[test]
    fn classes_of_parts_share_their_cells() {
        let part = |cells: Vec<Cell>, of_class: Vec<u32>, number_of: Vec<u32>| Classes {
            recoded: Recoded {
                sizes: vec![2; of_class.len()],
                columns: vec![RecodedColumn { cells, of_class }],
                n_suppressed: 1,
            },
            number_of,
        };
        let mut all = Gathering::new(1);
        all.add(part(vec![Cell::Value(1), Cell::Range(2, 3)], vec![1, 0], vec![0, SUPPRESSED, 1]));
        all.add(part(vec![Cell::Range(2, 3), Cell::Value(4)], vec![0, 1], vec![0, 1]));
        let Classes { recoded, number_of } = all.finish();
        assert_eq!(recoded.columns[0].of_class, [1, 0, 1, 2]);
        assert_eq!(recoded.columns[0].cells, [Cell::Value(1), Cell::Range(2, 3), Cell::Value(4)]);
        assert_eq!(number_of, [0, SUPPRESSED, 1, 2, 3]);
        assert_eq!((recoded.sizes.len(), recoded.n_suppressed), (4, 2));
    }
}
