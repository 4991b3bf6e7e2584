//! Where the parts of a folder may end.

/// Counts the rows of classes as they come, however they are divided into pieces.
#[derive(Clone, Debug)]
pub(super) struct Breaks {
    /// Rows from which a part may end.
    least_rows: u64,
    /// Rows since the last place where one may.
    n_rows: u64,
}

impl Breaks {
    pub(super) fn new(least_rows: u64) -> Breaks {
        Breaks { least_rows, n_rows: 0 }
    }

    /// Counts the rows of a class, or the first of them if it `goes_on`; whether a part may end
    /// behind them.
    pub(super) fn add(&mut self, n_rows: u64, goes_on: bool) -> bool {
        self.n_rows += n_rows;
        let may_break = !goes_on && self.n_rows >= self.least_rows;
        if may_break {
            self.n_rows = 0;
        }
        may_break
    }
}
