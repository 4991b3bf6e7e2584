//! How a recoding divides two columns: tiles over the rows.

use std::cmp::Reverse;

use hashbrown::HashMap;
use incrowd_data::{Attribute, Shape};

use super::Sitter;
use super::line::Line;

/// How a recoding divides two columns.
#[derive(Debug)]
pub(crate) struct Partition {
    /// The columns' names and what their axes show.
    pub(crate) columns: [(String, &'static str); 2],
    /// Left, right, lower and upper edge.
    pub(crate) tiles: Vec<[f64; 4]>,
    /// Pairs of cells that are too many to be drawn.
    pub(crate) n_left_out: usize,
    /// Rows, if they may be told: two places and how many rows have both.
    pub(crate) points: Vec<(f64, f64, u64)>,
    /// Points that are too many to be drawn.
    pub(crate) n_points_left_out: usize,
}

/// Pairs of cells that are drawn.
const MOST_TILES: usize = 2_000;
/// Points that are drawn.
const MOST_POINTS: usize = 3_000;

impl Sitter<'_> {
    /// The picture of the columns that are named, or of the two that show most.
    pub(super) fn partition(&self) -> Option<Partition> {
        let chosen = match self.plan.html.as_ref().and_then(|wanted| wanted.picture.as_ref()) {
            Some(names) => names.each_ref().map(|name| {
                self.coding.set.attributes.iter().position(|attribute| &attribute.name == name)
            }),
            None => self.choose(),
        };
        let [x, y] = [chosen[0]?, chosen[1]?];
        let attributes = [x, y].map(|at| &self.coding.set.attributes[at]);
        if !attributes.iter().all(|attribute| self.is_told(attribute)) {
            return None;
        }
        let line = |attribute: &Attribute| {
            Line::of(attribute).unwrap_or_else(|| Line::of_unordered(attribute))
        };
        let lines = attributes.map(line);
        let tiles = self.tiles([x, y], attributes, &lines);
        let columns = [0, 1].map(|at| (attributes[at].name.clone(), lines[at].axis));
        Partition::of(columns, tiles, self.points([x, y], &lines))
    }

    /// The two columns that are ordered best and divided most.
    fn choose(&self) -> [Option<usize>; 2] {
        let columns = &self.recoded().columns;
        let mut known: Vec<usize> = (0..columns.len()).collect();
        let rank = |at: usize| match self.coding.set.attributes[at].shape {
            Shape::Numeric => 0,
            Shape::Ordinal => 1,
            Shape::Tree(_) => 2,
            Shape::Unordered => 3,
        };
        known.retain(|&at| self.is_told(&self.coding.set.attributes[at]));
        known.sort_by_key(|&at| (rank(at), Reverse(columns[at].cells.len()), at));
        [known.first().copied(), known.get(1).copied()]
    }

    fn tiles(
        &self,
        [x, y]: [usize; 2],
        attributes: [&Attribute; 2],
        lines: &[Line; 2],
    ) -> (Vec<[f64; 4]>, usize) {
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
        common_tiles(tallied.iter().map(|pair| (pair.1, tiles(pair))).collect())
    }

    /// The commonest pairs of values and how many others there are; none where the rows are not at hand.
    fn points(&self, [x, y]: [usize; 2], lines: &[Line; 2]) -> (Vec<(f64, f64, u64)>, usize) {
        let set = &self.coding.set;
        let codes = |vector: usize| (set.vectors[x].get(vector), set.vectors[y].get(vector));
        let counted = set.counts.iter().enumerate();
        let tallied = tally(counted.map(|(vector, &rows)| (codes(vector), u64::from(rows))));
        let point = |((a, b), rows): ((u32, u32), u64)| {
            let place = |line: &Line, code: u32| line.places.get(code as usize).copied();
            Some((place(&lines[0], a)?, place(&lines[1], b)?, rows))
        };
        let n_left_out = tallied.len().saturating_sub(MOST_POINTS);
        (tallied.into_iter().take(MOST_POINTS).filter_map(point).collect(), n_left_out)
    }
}

impl Partition {
    /// A picture of tiles and points, each with how many are left out, if there is something to draw.
    pub(super) fn of(
        columns: [(String, &'static str); 2],
        (tiles, n_left_out): (Vec<[f64; 4]>, usize),
        (points, n_points_left_out): (Vec<(f64, f64, u64)>, usize),
    ) -> Option<Partition> {
        let can_be_drawn =
            !tiles.is_empty() && tiles.iter().flatten().all(|edge| edge.abs() < f64::MAX / 4.0);
        let partition = Partition { columns, tiles, n_left_out, points, n_points_left_out };
        can_be_drawn.then_some(partition)
    }
}

/// The tiles of the commonest pairs of cells, and how many pairs are left out. Of equally common ones those with the least
/// edges: the order of cells may follow the table's.
pub(super) fn common_tiles(mut pairs: Vec<(u64, Vec<[f64; 4]>)>) -> (Vec<[f64; 4]>, usize) {
    let edges = |tiles: &[[f64; 4]]| tiles.iter().flatten().map(|e| e.to_bits()).collect();
    pairs.sort_by_cached_key(|(rows, tiles)| -> (_, Vec<u64>) { (Reverse(*rows), edges(tiles)) });
    let n_left_out = pairs.len().saturating_sub(MOST_TILES);
    pairs.truncate(MOST_TILES);
    (pairs.into_iter().flat_map(|(_, tiles)| tiles).collect(), n_left_out)
}

/// Rows by pair, the commonest first.
fn tally(pairs: impl Iterator<Item = ((u32, u32), u64)>) -> Vec<((u32, u32), u64)> {
    let mut rows_of: HashMap<(u32, u32), u64> = HashMap::new();
    for (pair, rows) in pairs {
        *rows_of.entry(pair).or_default() += rows;
    }
    let mut tallied: Vec<((u32, u32), u64)> = rows_of.into_iter().collect();
    tallied.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    tallied
}
