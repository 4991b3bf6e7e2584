//! How a recoding divides two columns: tiles over the rows.

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
        if !attributes
            .iter()
            .all(|attribute| self.is_told(attribute) && self.tells_place(attribute))
        {
            return None;
        }
        let lines = attributes.map(Line::of_any);
        let (tiles, n_left_out) = self.tiles([x, y], attributes, &lines);
        let points = if self.is_internal() { self.points([x, y], &lines) } else { Vec::new() };
        let columns = [0, 1].map(|at| (attributes[at].name.clone(), lines[at].axis));
        (!tiles.is_empty()).then_some(Partition { columns, tiles, n_left_out, points })
    }

    /// Whether it may be told where the cells of a column lie: the release says it of numbers, but not which place a value
    /// has in a declared order or hierarchy.
    fn tells_place(&self, attribute: &Attribute) -> bool {
        self.is_internal() || matches!(attribute.shape, Shape::Numeric)
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
        let can_be_drawn = |at: usize| {
            let attribute = &self.coding.set.attributes[at];
            self.is_told(attribute) && self.tells_place(attribute)
        };
        known.retain(|&at| can_be_drawn(at));
        known.sort_by_key(|&at| (rank(at), std::cmp::Reverse(columns[at].cells.len()), at));
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
        let n_left_out = tallied.len().saturating_sub(MOST_TILES);
        (tallied.iter().take(MOST_TILES).flat_map(tiles).collect(), n_left_out)
    }

    fn points(&self, [x, y]: [usize; 2], lines: &[Line; 2]) -> Vec<(f64, f64, u64)> {
        let set = &self.coding.set;
        let codes = |vector: usize| (set.vectors[x].get(vector), set.vectors[y].get(vector));
        let counted = set.counts.iter().enumerate();
        let tallied = tally(counted.map(|(vector, &rows)| (codes(vector), u64::from(rows))));
        let point = |((a, b), rows): ((u32, u32), u64)| {
            let place = |line: &Line, code: u32| line.places.get(code as usize).copied();
            Some((place(&lines[0], a)?, place(&lines[1], b)?, rows))
        };
        tallied.into_iter().take(MOST_POINTS).filter_map(point).collect()
    }
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
