//! The rows of a butterfly on its body or a wing: their loss as one class, and cut into classes.

use incrowd_data::{Codes, collapse, distinct_share};
use incrowd_privacy::Tally;
use rayon::prelude::*;

use super::pass::TOLERANCE;
use super::{split, sweep};
use crate::Problem;
use crate::mondrian::{Cut, Splits, nearest_cut};
use crate::partition::{
    Buffers, CodeWidth, Extent, PackedCode, Points, extents, loss, starts, width,
};

/// The columns of a body or a wing, for the losses of groups of vectors.
pub(super) trait Wing: Sync {
    /// The loss of the vectors as one class.
    fn loss_of_one(&self, vectors: &[u32]) -> f64;

    /// The loss of the vectors cut into classes that satisfy the models.
    fn loss(&self, vectors: &[u32]) -> f64;

    /// The vectors cut into classes; with care, in the best of several ways.
    fn classes(&self, vectors: &[u32], is_careful: bool) -> Classes;

    /// The ways to cut the vectors, one for each attribute that has an allowable cut.
    fn divisions(&self, vectors: &[u32]) -> Vec<Vec<Vec<u32>>>;
}

/// The classes of a wing.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// The vectors, class by class.
    pub(super) order: Vec<u32>,
    /// The number of vectors of each class.
    pub(super) sizes: Vec<usize>,
    pub(super) loss: f64,
}

/// The wing of a problem.
pub(super) fn wing<'a>(problem: &'a Problem<'a>) -> Box<dyn Wing + 'a> {
    match CodeWidth::of(problem.set) {
        CodeWidth::One => Box::new(Packed::<u8>::new(problem).with_distinct()),
        CodeWidth::Two => Box::new(Packed::<u16>::new(problem).with_distinct()),
        CodeWidth::Four => Box::new(Packed::<u32>::new(problem).with_distinct()),
    }
}

/// The body of a problem: it is never cut into classes.
pub(super) fn body<'a>(problem: &'a Problem<'a>) -> Box<dyn Wing + 'a> {
    match CodeWidth::of(problem.set) {
        CodeWidth::One => Box::new(Packed::<u8>::new(problem)),
        CodeWidth::Two => Box::new(Packed::<u16>::new(problem)),
        CodeWidth::Four => Box::new(Packed::<u32>::new(problem)),
    }
}

/// How a region is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As Mondrian: at the median of the widest attribute.
    Median,
    /// At the median of the attribute that leaves the least loss.
    LeastLoss,
    /// The same, but never where the parts have room for fewer classes than the whole.
    MostClasses,
}

impl Way {
    const ALL: [Way; 3] = [Way::Median, Way::LeastLoss, Way::MostClasses];
}

/// Points below which a region is cut by one thread.
const PARALLEL_FROM: usize = 1 << 13;

struct Packed<'a, C> {
    problem: &'a Problem<'a>,
    splits: Splits<'a>,
    points: Points<C>,
    distinct: Option<Distinct<C>>,
}

/// The distinct points of a wing, if only rows count and most points have an equal one.
struct Distinct<C> {
    /// By vector, its point.
    point_of: Vec<u32>,
    n_points: usize,
    codes: Vec<C>,
}

/// The most attributes that are tried, the widest ones.
const MOST_TRIED: usize = 6;

/// Regions of fewer classes than this are cut where the loss of the parts is least.
const FEW: u64 = 3;

impl<'a, C: PackedCode> Packed<'a, C> {
    fn new(problem: &'a Problem<'a>) -> Packed<'a, C> {
        let points = Points::<C>::new(problem.set);
        Packed { problem, splits: Splits::new(problem), points, distinct: None }
    }

    fn with_distinct(self) -> Packed<'a, C> {
        Packed { distinct: Distinct::new(self.problem, &self.points), ..self }
    }

    /// The points of some vectors, grouping equal ones if that saves much.
    fn gather_distinct(&self, vectors: &[u32]) -> Option<Points<C>> {
        let d = self.points.n_attributes;
        let Distinct { point_of, n_points, codes } = self.distinct.as_ref()?;
        if vectors.len() < n_points / 2 {
            return None;
        }
        let mut rows = vec![0; *n_points];
        for &vector in vectors {
            rows[point_of[vector as usize] as usize] += self.points.rows[vector as usize];
        }
        let present: Vec<u32> =
            (0u32..).zip(&rows).filter(|(_, rows)| **rows > 0).map(|(point, _)| point).collect();
        let codes = present.iter().flat_map(|&point| &codes[point as usize * d..][..d]);
        Some(Points {
            n_attributes: d,
            codes: codes.copied().collect(),
            rows: present.iter().map(|&point| rows[point as usize]).collect(),
            vectors: present,
        })
    }

    /// The points of some vectors.
    fn gather(&self, vectors: &[u32]) -> Points<C> {
        let d = self.points.n_attributes;
        let mut codes = Vec::with_capacity(vectors.len() * d);
        for &vector in vectors {
            let at = vector as usize * d;
            codes.extend_from_slice(&self.points.codes[at..at + d]);
        }
        Points {
            n_attributes: d,
            codes,
            rows: vectors.iter().map(|&vector| self.points.rows[vector as usize]).collect(),
            vectors: vectors.to_vec(),
        }
    }

    /// The loss of a region as one class.
    fn loss_of(&self, region: &Buffers<'_, C>) -> f64 {
        let attributes = self.problem.set.attributes.iter();
        let of_row: f64 = attributes
            .zip(extents(region))
            .enumerate()
            .map(|(at, (attribute, extent))| {
                loss(attribute, extent, region.column(at).map(|(code, _)| code))
            })
            .sum();
        of_row * to_f64(rows_of(region))
    }

    /// The classes of some points.
    fn cut(&self, mut points: Points<C>, way: Way) -> Classes {
        let mut scratch = points.scratch();
        let mut tally = self.splits.tally();
        let mut found = Classes::default();
        self.cut_region(points.buffers(), scratch.buffers(), &mut tally, way, &mut found);
        found
    }

    /// Anonymize of the Mondrian report, Figure 7, on the attributes of the wing.
    fn cut_region(
        &self,
        region: Buffers<'_, C>,
        mut scratch: Buffers<'_, C>,
        tally: &mut Tally,
        way: Way,
        found: &mut Classes,
    ) {
        let cut = match way {
            Way::Median => self.splits.choose(&region, tally),
            Way::LeastLoss => self.choose(&region, &mut scratch, tally, false),
            Way::MostClasses => self.choose(&region, &mut scratch, tally, true),
        };
        let Some((attribute, cut)) = cut else {
            found.loss += self.loss_of(&region);
            found.order.extend_from_slice(region.vectors);
            found.sizes.push(region.len());
            return;
        };
        let sizes = cut.scatter(attribute, &region, &mut scratch);
        let sizes: Vec<usize> = sizes.into_iter().filter(|&size| size > 0).collect();
        self.cut_parts(&sizes, scratch, region, tally, way, found);
    }

    /// Cuts neighbouring parts of the given sizes, in parallel while they are large.
    fn cut_parts(
        &self,
        sizes: &[usize],
        parts: Buffers<'_, C>,
        scratch: Buffers<'_, C>,
        tally: &mut Tally,
        way: Way,
        found: &mut Classes,
    ) {
        let Some((&first, rest)) = sizes.split_first() else { return };
        let is_large = parts.len() >= PARALLEL_FROM;
        let (part, more_parts) = parts.split_at(first);
        let (room, more_room) = scratch.split_at(first);
        if is_large && !rest.is_empty() {
            let mut more = Classes::default();
            rayon::join(
                || self.cut_region(part, room, &mut self.splits.tally(), way, found),
                || {
                    let tally = &mut self.splits.tally();
                    self.cut_parts(rest, more_parts, more_room, tally, way, &mut more);
                },
            );
            found.order.append(&mut more.order);
            found.sizes.append(&mut more.sizes);
            found.loss += more.loss;
        } else {
            self.cut_region(part, room, tally, way, found);
            self.cut_parts(rest, more_parts, more_room, tally, way, found);
        }
    }

    /// The cut of a region that leaves the least loss.
    fn choose(
        &self,
        region: &Buffers<'_, C>,
        scratch: &mut Buffers<'_, C>,
        tally: &mut Tally,
        keeps: bool,
    ) -> Option<(usize, Cut)> {
        let (problem, k) = (self.problem, self.problem.k);
        let n_rows = rows_of(region);
        let is_small = problem.entity.is_none() && n_rows < 2 * k;
        if region.len() < 2 || is_small || problem.budget.is_spent() {
            return None;
        }
        let extents = extents(region);
        let sweeps = problem.only_counts() && n_rows < FEW * k;
        let mut best: Option<(f64, usize, Cut)> = None;
        let reaching = extents.iter().enumerate().filter(|(_, extent)| extent.lo < extent.hi);
        let mut reaching: Vec<(usize, &Extent)> = reaching.collect();
        if reaching.len() > MOST_TRIED {
            let width = |at: usize| {
                let codes = region.column(at).map(|(code, _)| code);
                width(&problem.set.attributes[at], extents[at], codes)
            };
            reaching.sort_by_cached_key(|&(at, _)| std::cmp::Reverse(width(at).to_bits()));
            reaching.truncate(MOST_TRIED);
        }
        for (attribute, extent) in reaching {
            let found = if sweeps && sweep::is_swept(&problem.set.attributes[attribute]) {
                sweep::best(&problem.set.attributes, region, attribute, k)
                    .map(|(loss, at)| (loss, Cut::At(at)))
            } else {
                nearest_cut(problem, region, attribute, *extent, tally, keeps)
                    .map(|cut| (self.loss_after(&cut, attribute, region, scratch), cut))
            };
            if let Some((loss, cut)) = found
                && best.as_ref().is_none_or(|(least, ..)| loss < *least)
            {
                best = Some((loss, attribute, cut));
            }
        }
        best.map(|(_, attribute, cut)| (attribute, cut))
    }

    /// The loss of the parts of a cut.
    fn loss_after(
        &self,
        cut: &Cut,
        attribute: usize,
        region: &Buffers<'_, C>,
        scratch: &mut Buffers<'_, C>,
    ) -> f64 {
        let d = self.points.n_attributes;
        let mut start = 0;
        let mut lost = 0.0;
        for size in cut.scatter(attribute, region, scratch).into_iter().filter(|&size| size > 0) {
            let end = start + size;
            lost += self.loss_of(&Buffers {
                first: 0,
                n_attributes: d,
                codes: &mut scratch.codes[start * d..end * d],
                rows: &mut scratch.rows[start..end],
                vectors: &mut scratch.vectors[start..end],
            });
            start = end;
        }
        lost
    }
}

impl<C: PackedCode> Wing for Packed<'_, C> {
    fn loss_of_one(&self, vectors: &[u32]) -> f64 {
        let d = self.points.n_attributes;
        let point = |&vector: &u32| &self.points.codes[vector as usize * d..][..d];
        let Some(first) = vectors.first().map(point) else { return 0.0 };
        let (mut lo, mut hi) = (first.to_vec(), first.to_vec());
        for codes in vectors.iter().map(point) {
            for ((lo, hi), &code) in lo.iter_mut().zip(&mut hi).zip(codes) {
                (*lo, *hi) = ((*lo).min(code), (*hi).max(code));
            }
        }
        let ends = lo.into_iter().zip(hi).map(|(lo, hi)| Extent { lo: lo.into(), hi: hi.into() });
        let of_row: f64 = self
            .problem
            .set
            .attributes
            .iter()
            .zip(ends)
            .enumerate()
            .map(|(at, (attribute, extent))| {
                loss(attribute, extent, vectors.iter().map(|vector| point(vector)[at].into()))
            })
            .sum();
        let rows = vectors.iter().map(|&vector| u64::from(self.points.rows[vector as usize]));
        of_row * to_f64(rows.sum())
    }

    fn loss(&self, vectors: &[u32]) -> f64 {
        let points = self.gather_distinct(vectors).unwrap_or_else(|| self.gather(vectors));
        self.cut(points, Way::Median).loss
    }

    fn classes(&self, vectors: &[u32], is_careful: bool) -> Classes {
        let distinct = self.gather_distinct(vectors);
        let is_distinct = distinct.is_some();
        let points = distinct.unwrap_or_else(|| self.gather(vectors));
        let ways: &[Way] = if is_careful { &Way::ALL } else { &[Way::Median] };
        let all = ways.par_iter().map(|&way| self.cut(points.clone(), way)).collect::<Vec<_>>();
        let better = |best: Classes, other: Classes| {
            if other.loss + TOLERANCE < best.loss { other } else { best }
        };
        let best = all.into_iter().reduce(better).unwrap_or_default();
        match &self.distinct {
            Some(distinct) if is_distinct => distinct.vectors_of(&best, vectors),
            _ => best,
        }
    }

    fn divisions(&self, vectors: &[u32]) -> Vec<Vec<Vec<u32>>> {
        if self.points.n_attributes == 0 {
            return Vec::new();
        }
        let mut points = self.gather(vectors);
        let mut scratch = points.scratch();
        let region = points.buffers();
        let mut tally = self.splits.tally();
        let extents = extents(&region);
        let along = |(attribute, extent): (usize, &Extent)| {
            let cut = nearest_cut(self.problem, &region, attribute, *extent, &mut tally, false)?;
            let mut to = scratch.buffers();
            let sizes = cut.scatter(attribute, &region, &mut to);
            let parts = split(to.vectors, &sizes).filter(|part| !part.is_empty());
            Some(parts.map(<[u32]>::to_vec).collect())
        };
        let reaching = extents.iter().enumerate().filter(|(_, extent)| extent.lo < extent.hi);
        reaching.filter_map(along).collect()
    }
}

/// Grouping is worthwhile if the vectors are at least this many times the points.
const FEW_POINTS: usize = 2;

impl<C: PackedCode> Distinct<C> {
    fn new(problem: &Problem, points: &Points<C>) -> Option<Distinct<C>> {
        let d = points.n_attributes;
        if d == 0 || !problem.only_counts() {
            return None;
        }
        let set = problem.set;
        let columns: Vec<(&Codes, u32)> =
            set.vectors.iter().zip(&set.attributes).map(|(c, a)| (c, a.n_codes())).collect();
        if distinct_share(&columns, set.len()) > 0.9 {
            return None;
        }
        let grouped = collapse(&columns, set.len());
        if grouped.counts.len() > set.len() / FEW_POINTS {
            return None;
        }
        let codes = |&vector: &u32| &points.codes[vector as usize * d..][..d];
        let codes = grouped.representatives.iter().flat_map(codes).copied().collect();
        Some(Distinct { point_of: grouped.vector_of, n_points: grouped.counts.len(), codes })
    }

    /// Classes of points as classes of vectors.
    fn vectors_of(&self, of_points: &Classes, vectors: &[u32]) -> Classes {
        let mut class_of = vec![0; self.n_points];
        for (class, points) in split(&of_points.order, &of_points.sizes).enumerate() {
            for &point in points {
                class_of[point as usize] = class;
            }
        }
        let class = |vector: u32| class_of[self.point_of[vector as usize] as usize];
        let mut sizes = vec![0; of_points.sizes.len()];
        for &vector in vectors {
            sizes[class(vector)] += 1;
        }
        let mut next = starts(&sizes);
        let mut order = vec![0; vectors.len()];
        for &vector in vectors {
            let at = &mut next[class(vector)];
            order[*at] = vector;
            *at += 1;
        }
        Classes { order, sizes, loss: of_points.loss }
    }
}

fn to_f64(n_rows: u64) -> f64 {
    n_rows as f64
}

fn rows_of<C: PackedCode>(region: &Buffers<'_, C>) -> u64 {
    region.rows.iter().map(|&rows| u64::from(rows)).sum()
}
