//! The cut of a region, from the tables of its attributes.

use incrowd_privacy::Tally;

use super::kinds::Kinds;
use super::table::{KindTable, Projection};
use crate::Problem;
use crate::mondrian::cut::Cut;
use crate::mondrian::split::{Offer, Splits};
use crate::mondrian::widest_first;
use crate::partition::{Extent, width};

/// Decides on cuts.
pub(super) struct Decider<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) kinds: &'a Kinds,
    pub(super) splits: &'a Splits<'a>,
}

/// A cut that is made.
pub(super) struct Chosen {
    pub(super) attribute: usize,
    pub(super) cut: Cut,
    pub(super) parts: Vec<CutPart>,
    /// The extents of the region.
    pub(super) extents: Vec<Extent>,
}

/// A part of a cut.
pub(super) struct CutPart {
    pub(super) rows: u64,
    /// The extent on the attribute that is cut; meaningless if there are no rows.
    pub(super) extent: Extent,
}

/// The offers of an attribute.
pub(super) struct Looked {
    attribute: usize,
    width: f64,
    /// By criterion.
    offers: Vec<Option<(Offer, Vec<CutPart>)>>,
}

impl Decider<'_> {
    /// The cut of a region, if there is one, from the tables of all attributes on which it may have
    /// any width.
    pub(super) fn choose(
        &self,
        tables: Vec<(usize, KindTable)>,
        extents: &[Extent],
    ) -> Option<Chosen> {
        let projected = tables.into_iter().map(|(attribute, table)| table.project(attribute));
        let mut projections: Vec<Projection> = projected.collect();
        let mut extents = extents.to_vec();
        for projection in &projections {
            extents[projection.attribute] = projection.extent();
        }
        let reaching = projections.iter().filter(|of| of.extent().lo < of.extent().hi);
        let widths = reaching.map(|of| (of.attribute, self.width(of))).collect();
        let mut tally = self.kinds.tally(self.problem.entity);
        let (attribute, cut) = self.pick(widths, &mut |stage, attribute| {
            let mut of = projections.iter_mut();
            let projection = of.find(|of| of.attribute == attribute).expect("all were projected");
            self.offer(stage, projection, &extents, &mut tally)
        })?;
        let projection = projections.iter().find(|of| of.attribute == attribute);
        let parts = parts(&cut, projection.expect("all were projected"));
        Some(Chosen { attribute, cut, parts, extents })
    }

    /// The offers of some attributes of a region with these extents.
    pub(super) fn look(&self, tables: Vec<(usize, KindTable)>, extents: &[Extent]) -> Vec<Looked> {
        let mut tally = self.kinds.tally(self.problem.entity);
        let mut of_table = |(attribute, table): (usize, KindTable)| {
            let mut projection = table.project(attribute);
            let width = self.width(&projection);
            let offers = (0..self.splits.n_stages()).map(|stage| {
                let offer = self.offer(stage, &mut projection, extents, &mut tally)?;
                let parts = parts(&offer.cut, &projection);
                Some((offer, parts))
            });
            let offers = offers.collect();
            Looked { attribute, width, offers }
        };
        tables.into_iter().map(&mut of_table).collect()
    }

    /// The cut of a region, given the offers of all attributes.
    pub(super) fn choose_from(&self, looked: Vec<Looked>, extents: Vec<Extent>) -> Option<Chosen> {
        let widths = looked.iter().map(|of| (of.attribute, of.width)).collect();
        let of = |attribute: usize| {
            looked.iter().find(|of| of.attribute == attribute).expect("all were looked at")
        };
        let mut stage_of = 0;
        let (attribute, cut) = self.pick(widths, &mut |stage, attribute| {
            stage_of = stage;
            let (offer, _) = of(attribute).offers[stage].as_ref()?;
            Some(offer.clone())
        })?;
        let mut looked = looked;
        let of =
            looked.iter_mut().find(|of| of.attribute == attribute).expect("all were looked at");
        let (_, parts) = of.offers[stage_of].take().expect("what was picked was offered");
        Some(Chosen { attribute, cut, parts, extents })
    }

    fn width(&self, projection: &Projection) -> f64 {
        let attribute = &self.problem.set.attributes[projection.attribute];
        width(attribute, projection.extent(), projection.codes.iter().copied())
    }

    fn offer(
        &self,
        stage: usize,
        projection: &mut Projection,
        extents: &[Extent],
        tally: &mut Tally,
    ) -> Option<Offer> {
        let attribute = projection.attribute;
        self.splits.offer(stage, attribute, &projection.buffers(), extents, tally)
    }

    /// The cheapest offer of the first criterion that has any. Among equals, or if costs do not
    /// count, the offer of the widest attribute.
    fn pick(
        &self,
        widths: Vec<(usize, f64)>,
        offer: &mut dyn FnMut(usize, usize) -> Option<Offer>,
    ) -> Option<(usize, Cut)> {
        let n_codes = |attribute: usize| self.problem.set.attributes[attribute].n_codes();
        let widths = widths.into_iter().map(|(at, width)| (width, n_codes(at), at));
        let order = widest_first(widths.collect());
        (0..self.splits.n_stages()).find_map(|stage| {
            let mut best: Option<(i64, usize, Cut)> = None;
            for &attribute in &order {
                let Some(Offer { cost, cut }) = offer(stage, attribute) else { continue };
                let Some(cost) = cost else { return Some((attribute, cut)) };
                if best.as_ref().is_none_or(|best| cost < best.0) {
                    best = Some((cost, attribute, cut));
                }
            }
            best.map(|(_, attribute, cut)| (attribute, cut))
        })
    }
}

/// The parts of a region under a cut.
fn parts(cut: &Cut, projection: &Projection) -> Vec<CutPart> {
    let empty = || CutPart { rows: 0, extent: Extent { lo: u32::MAX, hi: 0 } };
    let mut parts: Vec<CutPart> = (0..cut.n_parts()).map(|_| empty()).collect();
    for (&code, &rows) in projection.codes.iter().zip(&projection.rows) {
        let CutPart { rows: sum, extent } = &mut parts[cut.part_of(code)];
        *sum += u64::from(rows);
        *extent = Extent { lo: extent.lo.min(code), hi: extent.hi.max(code) };
    }
    parts
}
