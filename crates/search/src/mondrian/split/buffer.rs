//! Memory that is reused from region to region: allocating it costs more than filling it.

use std::cell::Cell;

thread_local! {
    static CODES: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
    static TABLE: Cell<Vec<i64>> = const { Cell::new(Vec::new()) };
}

/// An empty buffer for codes. Give it back with [`return_codes`].
pub(super) fn take_codes() -> Vec<u32> {
    let mut codes = CODES.take();
    codes.clear();
    codes
}

pub(super) fn return_codes(codes: Vec<u32>) {
    CODES.set(codes);
}

/// Calls a function with a table of `n_cells` zeros.
pub(super) fn with_table<R>(n_cells: usize, call: impl FnOnce(&mut [i64]) -> R) -> R {
    let mut table = TABLE.take();
    table.clear();
    table.resize(n_cells, 0);
    let found = call(&mut table);
    TABLE.set(table);
    found
}
