//! What pairs of attributes tell before anything is counted (the subset property for two attributes).
//!
//! Rows in a group of two attributes with fewer than `k` rows are doomed at every node whose levels of
//! these two are no higher, whatever the others are. Where they exceed the limit, no such node is
//! feasible: a region is dropped, or its lower corner moves up, without counting.

use incrowd_data::{Level, Levels};
use rayon::prelude::*;

use crate::frequency::Frequencies;
use crate::full_domain::Judge;

/// Pairs with more cells than this are not looked at.
const MOST_CELLS: usize = 1 << 16;

/// By two attributes and a level of the second, the least level of the first that is not hopeless.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    least: Vec<Vec<Vec<u8>>>,
}

impl Pairs {
    /// Looks at all pairs of attributes of a frequency set.
    pub(super) fn new(judge: &Judge, at: &Frequencies) -> Pairs {
        let n_attributes = at.levels.len();
        let groups: Vec<Vec<u32>> = (0..n_attributes)
            .into_par_iter()
            .map(|attribute| judge.counter.groups(at, attribute))
            .collect();
        let n = |attribute: usize| judge.counter.n_groups(attribute, at.levels.get(attribute));
        let pairs: Vec<(usize, usize)> = (0..n_attributes)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .filter(|&(a, b)| n(a) * n(b) <= MOST_CELLS)
            .collect();
        let looked_at: Vec<((usize, usize), Doomed)> = pairs
            .into_par_iter()
            .map(|(a, b)| {
                let mut cells = vec![0u32; n(a) * n(b)];
                for ((&of_a, &of_b), &rows) in groups[a].iter().zip(&groups[b]).zip(&at.counts) {
                    cells[of_a as usize * n(b) + of_b as usize] += rows;
                }
                ((a, b), Doomed::new(judge, &at.levels, (a, b), cells))
            })
            .collect();
        let mut least = vec![vec![Vec::new(); n_attributes]; n_attributes];
        for ((a, b), doomed) in looked_at {
            least[a][b] = doomed.least(judge, |level, other| (level, other), (a, b));
            least[b][a] = doomed.least(judge, |level, other| (other, level), (b, a));
        }
        Pairs { least }
    }

    /// The least node above `low` that pairs leave open below `high`; none if they leave nothing.
    pub(super) fn tighten(&self, low: &Levels, high: &Levels) -> Option<Levels> {
        let mut tight = low.clone();
        for (attribute, others) in self.least.iter().enumerate() {
            let least = others
                .iter()
                .enumerate()
                .filter_map(|(other, least)| least.get(usize::from(high.get(other).0)))
                .max();
            let Some(&least) = least else { continue };
            if Level(least) > high.get(attribute) {
                return None;
            }
            if Level(least) > tight.get(attribute) {
                tight = tight.with(attribute, Level(least));
            }
        }
        Some(tight)
    }
}

/// By the levels of two attributes, whether too many rows are doomed.
struct Doomed {
    is_hopeless: Vec<Vec<bool>>,
}

impl Doomed {
    /// Rolls the cells of a pair up to all levels.
    fn new(judge: &Judge, low: &Levels, (a, b): (usize, usize), cells: Vec<u32>) -> Doomed {
        let hierarchies = judge.counter.hierarchies();
        let height = |attribute: usize| hierarchies[attribute].height().0;
        // The group of the next level that holds each group of a level.
        let up = |attribute: usize, level: u8| -> Vec<usize> {
            let groups = hierarchies[attribute].groups(Level(level)).iter();
            let above = |lo: u32| hierarchies[attribute].group_of(Level(level + 1), lo) as usize;
            groups.map(|group| above(group.lo)).collect()
        };
        let n = |attribute: usize, level: u8| hierarchies[attribute].groups(Level(level)).len();
        let mut is_hopeless =
            vec![vec![true; usize::from(height(b)) + 1]; usize::from(height(a)) + 1];
        let width = n(b, low.get(b).0);
        let mut of_a = cells;
        for level_a in low.get(a).0..=height(a) {
            let mut of_b = of_a.clone();
            for level_b in low.get(b).0..=height(b) {
                let small = of_b.iter().filter(|&&rows| u64::from(rows) < judge.problem.k);
                let doomed: u64 = small.map(|&rows| u64::from(rows)).sum();
                is_hopeless[usize::from(level_a)][usize::from(level_b)] =
                    doomed > judge.problem.limit;
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
        Doomed { is_hopeless }
    }

    /// By level of the second attribute, the least level of the first that is not hopeless; one above
    /// its root if all are.
    fn least(
        &self,
        judge: &Judge,
        order: impl Fn(u8, u8) -> (u8, u8),
        (first, second): (usize, usize),
    ) -> Vec<u8> {
        let height = |attribute: usize| judge.counter.hierarchies()[attribute].height().0;
        let is_open = |level: u8, other: u8| {
            let (a, b) = order(level, other);
            !self.is_hopeless[usize::from(a)][usize::from(b)]
        };
        (0..=height(second))
            .map(|other| {
                let mut levels = 0..=height(first);
                levels.find(|&level| is_open(level, other)).unwrap_or(height(first) + 1)
            })
            .collect()
    }
}
