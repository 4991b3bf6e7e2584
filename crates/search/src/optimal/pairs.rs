//! What pairs of attributes rule out before anything is counted (the subset property for two
//! attributes).
//!
//! Rows in a group of two attributes with fewer than `k` rows are doomed at every node whose levels
//! of these two are no higher, regardless of the other levels. If these rows exceed the suppression
//! limit, or what a node better than the best one could afford, such nodes are ruled out: a region
//! is dropped, or its lower corner moves up, without counting.

use incrowd_data::{Level, Levels};
use rayon::prelude::*;

use crate::frequency::Frequencies;
use crate::full_domain::Judge;

/// Pairs with more cells than this, or than a few times the number of groups, are ignored.
const MOST_CELLS: usize = 1 << 18;

/// Doomed rows by the levels of two attributes, for pairs of attributes.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    doomed: Vec<Pair>,
}

/// Doomed rows by the levels of two attributes.
#[derive(Debug)]
struct Pair {
    attributes: (usize, usize),
    doomed: Vec<Vec<u64>>,
}

impl Pairs {
    /// Examines all pairs of attributes of a frequency set.
    pub(super) fn new(judge: &Judge, at: &Frequencies) -> Pairs {
        let n_attributes = at.levels.len();
        let groups: Vec<Vec<u32>> = (0..n_attributes)
            .into_par_iter()
            .map(|attribute| judge.counter.groups(at, attribute))
            .collect();
        let n = |attribute: usize| judge.counter.n_groups(attribute, at.levels.get(attribute));
        let most_cells = MOST_CELLS.min(4 * at.n_groups().max(1 << 12));
        let pairs: Vec<(usize, usize)> = (0..n_attributes)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|&(a, b)| n(a) * n(b) <= most_cells)
            .collect();
        let doomed = pairs
            .into_par_iter()
            .map(|(a, b)| {
                let mut cells = vec![0u32; n(a) * n(b)];
                for ((&of_a, &of_b), &rows) in groups[a].iter().zip(&groups[b]).zip(&at.counts) {
                    cells[of_a as usize * n(b) + of_b as usize] += rows;
                }
                Pair { attributes: (a, b), doomed: doomed(judge, &at.levels, (a, b), cells) }
            })
            .collect();
        Pairs { doomed }
    }

    /// The least node from `low` up and below `high` that pairs do not rule out if at most `most`
    /// rows may be doomed; `None` if they rule out everything.
    pub(super) fn tighten(&self, low: &Levels, high: &Levels, most: u64) -> Option<Levels> {
        let mut tight: Option<Levels> = None;
        for Pair { attributes: (a, b), doomed } in &self.doomed {
            let (a, b) = (*a, *b);
            let at =
                |levels: (Level, Level)| doomed[usize::from(levels.0.0)][usize::from(levels.1.0)];
            if at((high.get(a), high.get(b))) > most {
                return None;
            }
            for (raised, other) in [(a, b), (b, a)] {
                let node = tight.as_ref().unwrap_or(low);
                let mut level = node.get(raised);
                let is_open = |level: Level| {
                    let other = high.get(other);
                    at(if raised == a { (level, other) } else { (other, level) }) <= most
                };
                while !is_open(level) {
                    level.0 += 1;
                }
                if level > node.get(raised) {
                    tight = Some(node.with(raised, level));
                }
            }
        }
        Some(tight.unwrap_or_else(|| low.clone()))
    }
}

/// By the levels of two attributes, the rows in groups that are too small, from rolling up the
/// cells of the pair.
fn doomed(judge: &Judge, low: &Levels, (a, b): (usize, usize), cells: Vec<u32>) -> Vec<Vec<u64>> {
    let hierarchies = judge.counter.hierarchies();
    let height = |attribute: usize| hierarchies[attribute].height().0;
    // The group of the next level above each group of a level.
    let up = |attribute: usize, level: u8| -> Vec<usize> {
        let groups = hierarchies[attribute].groups(Level(level)).iter();
        let above = |lo: u32| hierarchies[attribute].group_of(Level(level + 1), lo) as usize;
        groups.map(|group| above(group.lo)).collect()
    };
    let n = |attribute: usize, level: u8| hierarchies[attribute].groups(Level(level)).len();
    let mut doomed = vec![vec![0; usize::from(height(b)) + 1]; usize::from(height(a)) + 1];
    let width = n(b, low.get(b).0);
    let mut of_a = cells;
    for level_a in low.get(a).0..=height(a) {
        let mut of_b = of_a.clone();
        for level_b in low.get(b).0..=height(b) {
            let small = of_b.iter().filter(|&&rows| u64::from(rows) < judge.problem.k);
            doomed[usize::from(level_a)][usize::from(level_b)] =
                small.map(|&rows| u64::from(rows)).sum();
            if level_b < height(b) {
                let (map, next_width) = (up(b, level_b), n(b, level_b + 1));
                let mut rolled = vec![0; n(a, level_a) * next_width];
                let rows = rolled.chunks_mut(next_width).zip(of_b.chunks(map.len()));
                for (to, from) in rows {
                    from.iter().zip(&map).for_each(|(&rows, &group)| to[group] += rows);
                }
                of_b = rolled;
            }
        }
        if level_a < height(a) {
            let mut rolled = vec![0; n(a, level_a + 1) * width];
            for (from, group) in of_a.chunks(width).zip(up(a, level_a)) {
                let to = &mut rolled[group * width..(group + 1) * width];
                to.iter_mut().zip(from).for_each(|(to, &rows)| *to += rows);
            }
            of_a = rolled;
        }
    }
    doomed
}
