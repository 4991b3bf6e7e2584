//! Roll-ups into few groups: an array with a place for every combination, without hashing or
//! comparing.

use incrowd_data::Levels;

use super::key::Field;
use super::{Counter, Frequencies, LARGE};

impl Counter<'_> {
    /// Rolls up into an array with a place for every combination of groups, if there are few
    /// combinations.
    pub(super) fn dense(&self, source: &Frequencies, levels: &Levels) -> Option<Frequencies> {
        let n_cells = usize::try_from(self.most_groups(levels)).ok()?;
        if !self.extras.is_empty() || n_cells > FEW_CELLS.max(source.n_groups() / 4).min(MOST_CELLS)
        {
            return None;
        }
        // For each attribute with several groups, what each group of the source adds to the place.
        let mut steps: Vec<(Field, Vec<u32>)> = Vec::new();
        let mut width = 1u32;
        for (attribute, (from, to)) in source.levels.iter().zip(levels.iter()).enumerate() {
            let n_groups = self.n_groups(attribute, to);
            if n_groups == 1 {
                continue;
            }
            let n_sources =
                u32::try_from(self.n_groups(attribute, from)).expect("a u32 counts them");
            let group = |old: u32| match to.0 - from.0 {
                0 => old,
                up => self.up[attribute][usize::from(from.0)][usize::from(up) - 1][old as usize],
            };
            steps.push((
                self.fields[attribute],
                (0..n_sources).map(|old| group(old) * width).collect(),
            ));
            width *= u32::try_from(n_groups).expect("no more than cells");
        }
        let cells = count_cells(source, self.words, &steps, n_cells);
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for (mut cell, rows) in (0u32..).zip(cells).filter(|(_, rows)| *rows > 0) {
            let start = keys.len();
            keys.resize(start + self.words, 0);
            for (attribute, level) in levels.iter().enumerate() {
                let n_groups = u32::try_from(self.n_groups(attribute, level)).expect("few cells");
                let Field { word, shift, .. } = self.fields[attribute];
                keys[start + word] |= u64::from(cell % n_groups) << shift;
                cell /= n_groups;
            }
            counts.push(rows);
        }
        Some(Frequencies { levels: levels.clone(), keys, counts, spreads: Vec::new() })
    }
}

/// A dense array is always worthwhile up to the first number of cells, and never beyond the second.
const FEW_CELLS: usize = 1 << 8;
const MOST_CELLS: usize = 1 << 18;

/// Rows by place; the steps of a key's fields add up to its place.
fn count_cells(
    source: &Frequencies,
    words: usize,
    steps: &[(Field, Vec<u32>)],
    n_cells: usize,
) -> Vec<u32> {
    let count = |range: std::ops::Range<usize>| {
        let mut cells = vec![0u32; n_cells];
        let keys = source.keys[range.start * words..range.end * words].chunks_exact(words);
        for (key, &rows) in keys.zip(&source.counts[range]) {
            let mut cell = 0;
            for (Field { word, shift, mask }, step) in steps {
                let group = usize::try_from(key[*word] >> shift & mask).expect("a group is a u32");
                cell += step[group];
            }
            cells[cell as usize] += rows;
        }
        cells
    };
    let n_groups = source.n_groups();
    if n_groups < LARGE {
        return count(0..n_groups);
    }
    let (mut cells, second) =
        rayon::join(|| count(0..n_groups / 2), || count(n_groups / 2..n_groups));
    cells.iter_mut().zip(second).for_each(|(rows, more)| *rows += more);
    cells
}
