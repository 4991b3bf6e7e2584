//! Rows in memory, put into finer and finer classes.
//!
//! A row that is alone in its class stays alone whatever column is added, so only the others are
//! kept, class by class. A column more costs a look at each of them.

use incrowd_data::Codes;

use super::combinations::{Grouped, Tally};
use crate::spec::error::JobError;

/// Rows in classes, those that are alone left out.
pub(super) struct Refined<'a> {
    /// The columns that rows can be classed by, each with its number of codes.
    columns: &'a [(&'a Codes, u32)],
    /// The rows, class by class.
    rows: Vec<u32>,
    /// Where each class ends.
    ends: Vec<u32>,
    /// Rows that are alone.
    n_alone: u64,
}

/// Stands for the place of a row that is alone.
const ALONE: u32 = u32::MAX;

impl<'a> Refined<'a> {
    /// All rows in one class.
    pub(super) fn all(columns: &'a [(&'a Codes, u32)], n_rows: usize) -> Refined<'a> {
        let n_rows = u32::try_from(n_rows).expect("rows are counted in 32 bits");
        let (rows, ends) =
            if n_rows > 1 { ((0..n_rows).collect(), vec![n_rows]) } else { Default::default() };
        Refined { columns, rows, ends, n_alone: u64::from(n_rows == 1) }
    }

    fn classes(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let class = &self.rows[start as usize..end as usize];
            start = end;
            class
        })
    }

    /// The classes divided by a column.
    fn divided<C: Copy + Into<u32>>(&self, codes: &[C], n_codes: u32) -> Refined<'a> {
        let code_of = |row: u32| -> u32 { codes[row as usize].into() };
        // By code, first how many rows of the class have it, then where the next of them goes.
        let mut places = vec![0u32; n_codes as usize];
        let mut met: Vec<u32> = Vec::new();
        let mut rows = vec![0; self.rows.len()];
        let (mut ends, mut end, mut n_alone) = (Vec::new(), 0, self.n_alone);
        for class in self.classes() {
            if let &[a, b] = class {
                if code_of(a) == code_of(b) {
                    rows[end as usize..end as usize + 2].copy_from_slice(class);
                    end += 2;
                    ends.push(end);
                } else {
                    n_alone += 2;
                }
                continue;
            }
            count(class, code_of, &mut places, &mut met);
            for &code in &met {
                let place = &mut places[code as usize];
                let n_rows = std::mem::replace(place, if *place == 1 { ALONE } else { end });
                if n_rows == 1 {
                    n_alone += 1;
                } else {
                    end += n_rows;
                    ends.push(end);
                }
            }
            for &row in class {
                let place = &mut places[code_of(row) as usize];
                if *place != ALONE {
                    rows[*place as usize] = row;
                    *place += 1;
                }
            }
            met.drain(..).for_each(|code| places[code as usize] = 0);
        }
        rows.truncate(end as usize);
        rows.shrink_to_fit();
        Refined { columns: self.columns, rows, ends, n_alone }
    }

    /// What the classes divided by a column are like.
    fn tally_divided<C: Copy + Into<u32>>(&self, codes: &[C], n_codes: u32) -> Tally {
        let code_of = |row: u32| -> u32 { codes[row as usize].into() };
        let mut tally = self.alone();
        let mut counts = vec![0u32; n_codes as usize];
        let mut met: Vec<u32> = Vec::new();
        for class in self.classes() {
            if let &[a, b] = class {
                let is_one = code_of(a) == code_of(b);
                (0..2 - u64::from(is_one)).for_each(|_| tally.add(1 + u64::from(is_one)));
                continue;
            }
            count(class, code_of, &mut counts, &mut met);
            for code in met.drain(..) {
                let n_rows = std::mem::take(&mut counts[code as usize]);
                tally.add(u64::from(n_rows));
            }
        }
        tally
    }

    fn alone(&self) -> Tally {
        Tally { classes: self.n_alone, unique: self.n_alone, below_5: self.n_alone }
    }
}

/// How many rows have each code, and which codes were met.
#[inline]
fn count(class: &[u32], code_of: impl Fn(u32) -> u32, counts: &mut [u32], met: &mut Vec<u32>) {
    for &row in class {
        let code = code_of(row);
        let count = &mut counts[code as usize];
        if *count == 0 {
            met.push(code);
        }
        *count += 1;
    }
}

impl Grouped for Refined<'_> {
    const IS_PARALLEL: bool = true;

    fn by(&self, column: usize) -> Result<Self, JobError> {
        let (codes, n_codes) = self.columns[column];
        Ok(match codes {
            Codes::U8(codes) => self.divided(codes, n_codes),
            Codes::U16(codes) => self.divided(codes, n_codes),
            Codes::U32(codes) => self.divided(codes, n_codes),
        })
    }

    fn tally(&self) -> Result<Tally, JobError> {
        let mut tally = self.alone();
        self.classes().for_each(|class| tally.add(class.len() as u64));
        Ok(tally)
    }

    fn tally_by(&self, column: usize) -> Result<Tally, JobError> {
        let (codes, n_codes) = self.columns[column];
        Ok(match codes {
            Codes::U8(codes) => self.tally_divided(codes, n_codes),
            Codes::U16(codes) => self.tally_divided(codes, n_codes),
            Codes::U32(codes) => self.tally_divided(codes, n_codes),
        })
    }
}
