//! How a recoding divides two columns: tiles over the rows.

use std::cmp::Reverse;

use hashbrown::HashMap;
use incrowd_data::{Attribute, Shape};

use super::PictureSource;
use super::line::Line;
use super::sample::drawn;

/// How a recoding divides two columns.
#[derive(Debug)]
pub(crate) struct Partition {
    /// The columns' names and what their axes show.
    pub(crate) columns: [(String, &'static str); 2],
    /// Left, right, lower and upper edge.
    pub(crate) tiles: Vec<[f64; 4]>,
    /// Where there are too many tiles, those of records that were drawn are shown.
    pub(crate) sampled_tiles: Option<Sampled>,
    /// Rows, if they may be told: two places and how many rows have both.
    pub(crate) points: Vec<(f64, f64, u64)>,
    /// Where there are too many places, records are drawn.
    pub(crate) sampled_points: Option<Sampled>,
}

/// Records that were drawn at random from others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampled {
    pub(crate) drawn: u64,
    pub(crate) of: u64,
}

/// Tiles that are drawn, and records that they are drawn by where there are more.
const MOST_TILES: usize = 1_500;

/// Points that are drawn.
const MOST_POINTS: usize = 2_000;

impl PictureSource<'_> {
    /// The picture of the columns that are named, or of the two that show most.
    pub(super) fn partition(&self) -> Option<Partition> {
        let chosen = match &self.wanted.picture {
            Some(names) => names.each_ref().map(|name| {
                self.set.attributes.iter().position(|attribute| &attribute.name == name)
            }),
            None => self.choose(),
        };
        let [x, y] = [chosen[0]?, chosen[1]?];
        let attributes = [x, y].map(|at| &self.set.attributes[at]);
        if !attributes.iter().all(|attribute| self.is_told(attribute)) {
            return None;
        }
        let line = |attribute: &Attribute| {
            Line::of(attribute).unwrap_or_else(|| Line::of_unordered(attribute))
        };
        let lines = attributes.map(line);
        let tiles = self.tiles([x, y], attributes, &lines)?;
        let columns = [0, 1].map(|at| (attributes[at].name.clone(), lines[at].axis));
        Partition::of(columns, tiles, self.points([x, y], &lines))
    }

    /// The two columns that are ordered best and divided most.
    fn choose(&self) -> [Option<usize>; 2] {
        let columns = &self.recoded().columns;
        let mut known: Vec<usize> = (0..columns.len()).collect();
        let rank = |at: usize| match self.set.attributes[at].shape {
            Shape::Numeric => 0,
            Shape::Ordinal => 1,
            Shape::Tree(_) => 2,
            Shape::Unordered => 3,
        };
        known.retain(|&at| self.is_told(&self.set.attributes[at]));
        known.sort_by_key(|&at| (rank(at), Reverse(columns[at].cells.len()), at));
        [known.first().copied(), known.get(1).copied()]
    }

    fn tiles(
        &self,
        [x, y]: [usize; 2],
        attributes: [&Attribute; 2],
        lines: &[Line; 2],
    ) -> Option<(Vec<[f64; 4]>, Option<Sampled>)> {
        let (recoded, sizes) = (self.recoded(), &self.recoded().sizes);
        let pairs = recoded.columns[x].of_class.iter().zip(&recoded.columns[y].of_class);
        let tallied = tally(pairs.map(|(&a, &b)| (a, b)).zip(sizes.iter().copied()));
        let stretches = |at: usize, column: usize, cell: u32| {
            let cell = &recoded.columns[column].cells[cell as usize];
            let half = lines[at].half;
            let all = lines[at].stretches(attributes[at], cell).into_iter();
            all.map(|(least, greatest)| (least - half, greatest + half)).collect::<Vec<_>>()
        };
        let tiles = |&((a, b), _): &((u32, u32), u64)| -> Vec<[f64; 4]> {
            let (across, up) = (stretches(0, x, a), stretches(1, y, b));
            let tile = |&(left, right): &(f64, f64)| {
                up.iter().map(move |&(lower, upper)| [left, right, lower, upper])
            };
            across.iter().flat_map(tile).collect()
        };
        let pairs = tallied.iter().map(|pair| (pair.1, tiles(pair))).collect();
        tiles_of(pairs, self.seed())
    }

    /// What is random on the page is drawn with the seed of the job.
    pub(super) fn seed(&self) -> u64 {
        self.wanted.seed
    }

    /// Pairs of values with their rows, those of some records where there are too many; none where
    /// the rows are not at hand.
    fn points(
        &self,
        [x, y]: [usize; 2],
        lines: &[Line; 2],
    ) -> (Vec<(f64, f64, u64)>, Option<Sampled>) {
        let set = self.set;
        let codes = |vector: usize| (set.vectors[x].get(vector), set.vectors[y].get(vector));
        let counted = set.counts.iter().enumerate();
        let tallied = tally(counted.map(|(vector, &rows)| (codes(vector), u64::from(rows))));
        let point = |((a, b), rows): ((u32, u32), u64)| {
            let place = |line: &Line, code: u32| line.places.get(code as usize).copied();
            Some((place(&lines[0], a)?, place(&lines[1], b)?, rows))
        };
        let all: Vec<(f64, f64, u64)> = tallied.into_iter().filter_map(point).collect();
        let rows: Vec<u64> = all.iter().map(|point| point.2).collect();
        let drawn = drawn(&rows, MOST_POINTS, self.seed());
        let sampled = Sampled::of(&drawn, &rows);
        let shown = all.iter().zip(drawn).filter(|(_, drawn)| *drawn > 0);
        (shown.map(|(&(x, y, _), drawn)| (x, y, drawn)).collect(), sampled)
    }
}

impl Sampled {
    /// What was drawn of rows, if not all were.
    fn of(drawn: &[u64], rows: &[u64]) -> Option<Sampled> {
        let (drawn, of) = (drawn.iter().sum(), rows.iter().sum());
        (drawn < of).then_some(Sampled { drawn, of })
    }
}

impl Partition {
    /// A picture of tiles and points, of which some may be left out, if there is something to draw.
    pub(super) fn of(
        columns: [(String, &'static str); 2],
        (tiles, sampled_tiles): (Vec<[f64; 4]>, Option<Sampled>),
        (points, sampled_points): (Vec<(f64, f64, u64)>, Option<Sampled>),
    ) -> Option<Partition> {
        let can_be_drawn =
            !tiles.is_empty() && tiles.iter().flatten().all(|edge| edge.abs() < f64::MAX / 4.0);
        let partition = Partition { columns, tiles, sampled_tiles, points, sampled_points };
        can_be_drawn.then_some(partition)
    }
}

/// The tiles of pairs of cells with their rows, or those of some records, where there are too many.
/// None where cells are so scattered that a picture of them would say nothing. The order of cells
/// may follow the table's: edges decide.
pub(super) fn tiles_of(
    mut pairs: Vec<(u64, Vec<[f64; 4]>)>,
    seed: u64,
) -> Option<(Vec<[f64; 4]>, Option<Sampled>)> {
    let edges = |tiles: &[[f64; 4]]| tiles.iter().flatten().map(|e| e.to_bits()).collect();
    pairs.sort_by_cached_key(|(_, tiles)| -> Vec<u64> { edges(tiles) });
    // Several pairs may have the same place.
    pairs.dedup_by(|next, kept| {
        let is_same = next.1 == kept.1;
        kept.0 += if is_same { next.0 } else { 0 };
        is_same
    });
    let rows: Vec<u64> = pairs.iter().map(|(rows, _)| *rows).collect();
    let drawn = drawn(&rows, MOST_TILES, seed);
    let sampled = Sampled::of(&drawn, &rows);
    let shown = pairs.into_iter().zip(drawn).filter(|(_, drawn)| *drawn > 0);
    let tiles: Vec<[f64; 4]> = shown.flat_map(|((_, tiles), _)| tiles).collect();
    (tiles.len() <= MOST_TILES).then_some((tiles, sampled))
}

/// Rows by pair, in the order of the pairs.
fn tally(pairs: impl Iterator<Item = ((u32, u32), u64)>) -> Vec<((u32, u32), u64)> {
    let mut rows_of: HashMap<(u32, u32), u64> = HashMap::new();
    for (pair, rows) in pairs {
        *rows_of.entry(pair).or_default() += rows;
    }
    let mut tallied: Vec<((u32, u32), u64)> = rows_of.into_iter().collect();
    tallied.sort_unstable();
    tallied
}
