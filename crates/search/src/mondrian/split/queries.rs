//! Aggregate queries: the weighted sum of their normalized errors (TR 1521, section 5).
//!
//! A query that overlaps a part's cell is answered as if the part's values were spread evenly over
//! the cell, independently on each attribute. Its error in the part is the difference from the true
//! answer of the part, divided by the true answer over the whole table, so that ten rows too many
//! weigh more if the answer is twenty than if it is thousands. A cut is made only if it lowers the
//! sum over queries and parts. Sums and means are computed in units of what they add up (the mean
//! distance from 0, or from the answer), so that a row counts about as much as in a count. An
//! answer below one unit, such as 0, counts as one unit: no query counts more than one that selects
//! a single row. Minima and maxima are treated as counts: they are right if the rows are.
//!
//! The extents of a part on attributes other than the one that is cut are taken from the region.

use incrowd_data::{Codes, Region};

use super::boxes::{Boxes, Relation, Spread, mark};
use super::{Criterion, Facts, PointColumns, RegionCriterion, Scale};
use crate::partition::{Buffers, Extent, PackedCode};
use crate::{QueryValue, WeightedQuery};

/// The most queries that are considered in one region, those with the largest errors. If none of
/// these can be lowered, the others are not tried.
const MOST: usize = 16;

/// The queries of a search.
pub(super) struct Queries<'a> {
    boxes: Boxes,
    /// By box, its query.
    query_of: Vec<usize>,
    all: Vec<Prepared<'a>>,
}

/// One query.
struct Prepared<'a> {
    boxes: std::ops::Range<usize>,
    /// The weight of an error of one unit: the query's weight over its true answer in units.
    weight: f64,
    /// What is added up: the codes of a column, with the value of each code in steps; `None` for
    /// rows.
    values: Option<(&'a Codes, Vec<i64>)>,
    scale: Scale,
    /// Steps of a unit.
    steps: f64,
    /// The attribute whose values are added up, if any.
    on_attribute: Option<Summed>,
}

/// An attribute whose values are added up.
#[derive(Clone, Copy)]
struct Summed {
    attribute: usize,
    /// The value that counts as 0.
    centre: f64,
    unit: f64,
}

impl<'a> Queries<'a> {
    pub(super) fn new(
        set: PointColumns<'a>,
        queries: &[WeightedQuery],
        facts: Option<&Facts>,
    ) -> Queries<'a> {
        let regions: Vec<&Region> = queries.iter().flat_map(|query| &query.regions).collect();
        let boxes = Boxes::new(&set, &regions, set.masks.map(|masks| &masks.queries[..]));
        let mut query_of = Vec::with_capacity(regions.len());
        let mut prepared = Vec::with_capacity(queries.len());
        for (at, query) in queries.iter().enumerate() {
            let of_query = query_of.len()..query_of.len() + query.regions.len();
            query_of.extend(of_query.clone().map(|_| at));
            let told = facts.map(|facts| (facts.n_rows, facts.scales[at]));
            prepared.push(Prepared::new(set, query, &boxes, of_query, told));
        }
        Queries { boxes, query_of, all: prepared }
    }

    /// By query, the scale of its errors.
    pub(super) fn scales(&self) -> Vec<Scale> {
        self.all.iter().map(|query| query.scale).collect()
    }
}

impl<'a> Prepared<'a> {
    /// `told` are the rows of the whole table, and the query's scale there.
    fn new(
        set: PointColumns<'a>,
        query: &WeightedQuery,
        boxes: &Boxes,
        of_query: std::ops::Range<usize>,
        told: Option<(u64, Scale)>,
    ) -> Prepared<'a> {
        let (column, attribute) = match query.value {
            QueryValue::Rows => (None, None),
            QueryValue::Attribute(at) => {
                (Some((&set.vectors[at], &set.attributes[at].dictionary.positions)), Some(at))
            }
            QueryValue::Extra(at) => {
                (Some((&set.extras[at].codes, &set.extras[at].positions)), None)
            }
        };
        let work_out = || (set.n_rows, scale_of(&set, query, column, boxes, &of_query));
        let (n_rows, scale) = told.unwrap_or_else(work_out);
        let (boxes, weight) = (of_query, query.weight / scale.answer);
        let Some((codes, positions)) = column else {
            return Prepared { boxes, weight, values: None, scale, steps: 1.0, on_attribute: None };
        };
        let Scale { centre, unit, .. } = scale;
        // Steps are as fine as sums of 64 bits over all rows allow.
        let most = positions.iter().map(|at| (at - centre).abs()).filter(|at| at.is_finite());
        let most = most.fold(unit, f64::max);
        let bits = f64::from(61 - n_rows.max(1).ilog2());
        let steps = (bits - most.log2()).floor().exp2();
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^61 over the rows")]
        let step = |number: &f64| {
            if number.is_finite() { ((number - centre) * steps).round() as i64 } else { 0 }
        };
        Prepared {
            boxes,
            weight,
            values: Some((codes, positions.iter().map(step).collect())),
            scale,
            steps: steps * unit,
            on_attribute: attribute.map(|attribute| Summed { attribute, centre, unit }),
        }
    }
}

/// The scale of a query's errors over the whole table.
fn scale_of(
    set: &PointColumns,
    query: &WeightedQuery,
    column: Option<(&Codes, &Vec<f64>)>,
    boxes: &Boxes,
    of_query: &std::ops::Range<usize>,
) -> Scale {
    let is_in = |vector: usize| {
        let mask = boxes.mask(u32::try_from(vector).expect("vectors are counted in 32 bits"));
        of_query.clone().any(|of| mask[of / 64] >> (of % 64) & 1 == 1)
    };
    let answered: Vec<usize> = (0..set.counts.len()).filter(|&vector| is_in(vector)).collect();
    let rows_where = |has: &dyn Fn(usize) -> bool| {
        let rows = answered.iter().filter(|&&vector| has(vector));
        rows.map(|&vector| u64::from(set.counts[vector])).sum::<u64>() as f64
    };
    let Some((codes, positions)) = column else {
        let answer = rows_where(&|_| true).max(1.0);
        return Scale { centre: 0.0, unit: 1.0, answer };
    };
    let number = |vector: usize| positions.get(codes.get(vector) as usize).copied();
    let average = mean(set, &answered, number);
    let centre = if query.is_mean { average } else { 0.0 };
    let distance = |vector: usize| number(vector).map(|number| (number - centre).abs());
    let unit = Some(mean(set, &answered, distance)).filter(|unit| *unit > 0.0).unwrap_or(1.0);
    // A row that is off by one unit changes a sum by one unit, and a mean by one unit divided by
    // the rows.
    let rows = rows_where(&|vector| number(vector).is_some());
    Scale { centre, unit, answer: (average.abs() / unit * rows).max(1.0) }
}

/// The mean of a number over the rows that have one, independent of their order.
fn mean(set: &PointColumns, vectors: &[usize], number: impl Fn(usize) -> Option<f64>) -> f64 {
    let numbers = || vectors.iter().filter_map(|&vector| Some((vector, number(vector)?)));
    let most = numbers().fold(0.0f64, |most, (_, number)| most.max(number.abs()));
    if most == 0.0 || !most.is_finite() {
        return 0.0;
    }
    // Whole numbers add up to the same in any order.
    let (mut sum, mut n) = (0i128, 0i128);
    for (vector, number) in numbers() {
        let rows = i128::from(set.counts[vector]);
        #[expect(clippy::cast_possible_truncation, reason = "at most 2^52")]
        let part = (number / most * 2f64.powi(52)).round() as i64;
        sum += rows * i128::from(part);
        n += rows;
    }
    let mean = sum as f64 / n as f64;
    mean / 2f64.powi(52) * most
}

/// The queries that count in a region.
pub(super) struct OfRegion<'a> {
    boxes: &'a Boxes,
    active: Vec<Active<'a>>,
    /// Those that add up a column that is released unchanged.
    extras: Vec<usize>,
    /// By point, the end of its entries in `answers`.
    ends: Vec<usize>,
    /// The active queries that select each point.
    answers: Vec<u8>,
    vectors: Vec<u32>,
}

/// A query that counts in a region.
struct Active<'a> {
    query: &'a Prepared<'a>,
    /// Its boxes that overlap the region.
    boxes: Vec<ActiveBox<'a>>,
}

/// A box that overlaps a region.
struct ActiveBox<'a> {
    of: usize,
    /// By attribute, the share of the region's cell on all other attributes.
    others: Vec<f64>,
    /// By attribute, the codes that the box admits, unless it admits all.
    runs: Vec<Option<&'a [(u32, u32)]>>,
}

impl Criterion for Queries<'_> {
    type Region<'a>
        = OfRegion<'a>
    where
        Self: 'a;

    fn at<C: PackedCode>(
        &self,
        region: &Buffers<'_, C>,
        extents: &[Extent],
    ) -> Option<OfRegion<'_>> {
        let mut wanted = vec![0u64; self.boxes.len().div_ceil(64)];
        let mut active = Vec::new();
        for query in &self.all {
            let relation = |of: usize| self.boxes.relation(of, extents);
            let overlapping: Vec<usize> =
                query.boxes.clone().filter(|&of| relation(of) != Relation::Outside).collect();
            let is_across = overlapping.iter().all(|&of| relation(of) == Relation::Across);
            if !overlapping.is_empty() && is_across {
                mark(&mut wanted, overlapping.iter().copied());
                let boxes = overlapping.into_iter();
                let boxes = boxes.map(|of| self.active_box(query, of, extents)).collect();
                active.push(Active { query, boxes });
            }
        }
        if active.is_empty() {
            return None;
        }
        let active = self.keep_worst(active, region, extents, &mut wanted);
        Some(self.of_region(active, region, &wanted))
    }
}

impl Queries<'_> {
    fn active_box(&self, query: &Prepared, of: usize, extents: &[Extent]) -> ActiveBox<'_> {
        let d = extents.len();
        let runs: Vec<Option<&[(u32, u32)]>> = (0..d).map(|at| self.boxes.runs(of, at)).collect();
        let mut shares = vec![1.0; d];
        for at in self.boxes.attributes(of) {
            shares[at] = runs[at].map_or(1.0, |runs| self.boxes.cell(at, extents[at]).share(runs));
        }
        if let Some(value) = query.on_attribute {
            let at = value.attribute;
            shares[at] = mean_value(&self.boxes.cell(at, extents[at]), runs[at], value);
        }
        let mut others = vec![1.0; d];
        let mut product = 1.0;
        for at in 0..d {
            others[at] = product;
            product *= shares[at];
        }
        product = 1.0;
        for at in (0..d).rev() {
            others[at] *= product;
            product *= shares[at];
        }
        ActiveBox { of, others, runs }
    }

    /// The queries with the largest errors in a region.
    fn keep_worst<'a, C: PackedCode>(
        &self,
        active: Vec<Active<'a>>,
        region: &Buffers<'_, C>,
        extents: &[Extent],
        wanted: &mut [u64],
    ) -> Vec<Active<'a>> {
        if active.len() <= MOST {
            return active;
        }
        let mut slot_of = vec![usize::MAX; self.all.len()];
        for (slot, active) in active.iter().enumerate() {
            slot_of[self.query_of[active.boxes[0].of]] = slot;
        }
        let mut inside = vec![0i64; active.len()];
        let mut whole = vec![0i64; active.len()];
        let n_rows: i64 = region.rows.iter().map(|&rows| i64::from(rows)).sum();
        for (&vector, &rows) in region.vectors.iter().zip(&*region.rows) {
            each_bit(self.boxes.mask(vector), wanted, |of| {
                let slot = slot_of[self.query_of[of]];
                inside[slot] += active[slot].query.amount(vector, rows);
            });
        }
        for (active, whole) in active.iter().zip(&mut whole) {
            *whole = if active.query.is_extra() {
                let points = region.vectors.iter().zip(&*region.rows);
                points.map(|(&vector, &rows)| active.query.amount(vector, rows)).sum()
            } else {
                n_rows
            };
        }
        let cell = self.boxes.cell(0, extents[0]);
        let error = |slot: usize| active[slot].error(&cell, 0, whole[slot], inside[slot]);
        let mut order: Vec<(f64, usize)> = (0..active.len()).map(|at| (error(at), at)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut kept: Vec<usize> = order.into_iter().take(MOST).map(|(_, at)| at).collect();
        kept.sort_unstable();
        let mut active: Vec<Option<Active>> = active.into_iter().map(Some).collect();
        let active: Vec<Active> = kept.iter().filter_map(|&at| active[at].take()).collect();
        wanted.fill(0);
        mark(wanted, active.iter().flat_map(|active| &active.boxes).map(|of_query| of_query.of));
        active
    }

    fn of_region<'a, C: PackedCode>(
        &'a self,
        active: Vec<Active<'a>>,
        region: &Buffers<'_, C>,
        wanted: &[u64],
    ) -> OfRegion<'a> {
        let mut slot_of = vec![0u8; self.all.len()];
        for (slot, active) in (0u8..).zip(&active) {
            slot_of[self.query_of[active.boxes[0].of]] = slot;
        }
        let mut ends = Vec::with_capacity(region.len());
        let mut answers = Vec::new();
        for &vector in &*region.vectors {
            each_bit(self.boxes.mask(vector), wanted, |of| {
                answers.push(slot_of[self.query_of[of]]);
            });
            ends.push(answers.len());
        }
        OfRegion {
            boxes: &self.boxes,
            extras: (0..active.len()).filter(|&slot| active[slot].query.is_extra()).collect(),
            active,
            ends,
            answers,
            vectors: region.vectors.to_vec(),
        }
    }
}

/// Calls a function with every bit that is set in both.
fn each_bit(mask: &[u64], wanted: &[u64], mut call: impl FnMut(usize)) {
    for (word, (mask, wanted)) in mask.iter().zip(wanted).enumerate() {
        let mut left = mask & wanted;
        while left != 0 {
            call(64 * word + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

impl Prepared<'_> {
    /// Whether it adds up a column that is released unchanged.
    fn is_extra(&self) -> bool {
        self.values.is_some() && self.on_attribute.is_none()
    }

    /// The contribution of a vector's rows to the answer.
    fn amount(&self, vector: u32, rows: u32) -> i64 {
        let value = self.values.as_ref().map_or(1, |(codes, values)| {
            // A missing value adds nothing.
            values.get(codes.get(vector as usize) as usize).copied().unwrap_or(0)
        });
        value * i64::from(rows)
    }
}

impl Active<'_> {
    /// The weighted error of a part with this cell on an attribute: `whole` is the sum over the
    /// part, or its rows; `inside` is the true answer.
    fn error(&self, cell: &Spread, attribute: usize, whole: i64, inside: i64) -> f64 {
        let share_of = |of_query: &ActiveBox| {
            let runs = of_query.runs[attribute];
            let share = match self.query.on_attribute {
                Some(summed) if summed.attribute == attribute => mean_value(cell, runs, summed),
                _ => runs.map_or(1.0, |runs| cell.share(runs)),
            };
            of_query.others[attribute] * share
        };
        let share: f64 = self.boxes.iter().map(share_of).sum();
        let steps = self.query.steps;
        let whole_steps = if self.query.on_attribute.is_some() { 1.0 } else { steps };
        let (estimate, truth) = (share * (whole as f64 / whole_steps), inside as f64 / steps);
        let error = (estimate - truth).abs();
        // A difference due to rounding is not an error.
        let is_none = error <= 1e-9 * truth.abs().max(estimate.abs());
        if is_none { 0.0 } else { self.query.weight * error }
    }
}

/// The mean distance of a cell's values from a centre, in units, over the values that runs admit.
fn mean_value(cell: &Spread, runs: Option<&[(u32, u32)]>, summed: Summed) -> f64 {
    let share = runs.map_or(1.0, |runs| cell.share(runs));
    (cell.moment(runs) - summed.centre * share) / summed.unit
}

impl RegionCriterion for OfRegion<'_> {
    /// By query, the true answer; then, by query, the sum over all rows.
    fn n_sums(&self) -> usize {
        2 * self.active.len()
    }

    fn add(&self, point: usize, rows: u32, sums: &mut [i64]) {
        let n = self.active.len();
        let start = if point == 0 { 0 } else { self.ends[point - 1] };
        for &slot in &self.answers[start..self.ends[point]] {
            let query = self.active[usize::from(slot)].query;
            sums[usize::from(slot)] += query.amount(self.vectors[point], rows);
        }
        for &slot in &self.extras {
            sums[n + slot] += self.active[slot].query.amount(self.vectors[point], rows);
        }
    }

    fn tabulate(
        &self,
        column: impl Iterator<Item = (u32, u32)>,
        lo: u32,
        width: usize,
        table: &mut [i64],
    ) {
        let are_counts = self.active.iter().all(|active| active.query.values.is_none());
        let mut start = 0;
        for (point, ((code, rows), &end)) in column.zip(&self.ends).enumerate() {
            let at = (code - lo) as usize * width;
            let value = &mut table[at..at + width];
            value[0] += i64::from(rows);
            if are_counts {
                for &slot in &self.answers[start..end] {
                    value[1 + usize::from(slot)] += i64::from(rows);
                }
            } else {
                self.add(point, rows, &mut value[1..]);
            }
            start = end;
        }
    }

    fn cost(&self, attribute: usize, extent: Extent, rows: u64, sums: &[i64]) -> f64 {
        let (inside, whole) = sums.split_at(self.active.len());
        let rows = i64::try_from(rows).expect("rows are counted in 32 bits");
        let cell = self.boxes.cell(attribute, extent);
        let errors = self.active.iter().zip(inside.iter().zip(whole)).map(|(active, sums)| {
            let whole = if active.query.is_extra() { *sums.1 } else { rows };
            active.error(&cell, attribute, whole, *sums.0)
        });
        errors.sum()
    }

    fn must_lower(&self) -> bool {
        true
    }
}
