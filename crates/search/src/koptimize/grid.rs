//! The cuts that are made or may still be made, looked up by code.

use super::price::Price;
use super::space::StepSet;
use super::{Field, Ground};

#[derive(Debug)]
pub(super) struct Grid<const N: usize> {
    attributes: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    /// By code, the first code of the narrowest interval that it can be in, shifted to its place in
    /// a key.
    placed: Vec<u64>,
    /// By code, how many cuts may still be made before it or before a lower one.
    n_live: Vec<u32>,
    /// By code, how many cuts before it or before a lower one were removed since the classes were
    /// settled.
    n_gone: Vec<u32>,
    /// By code, whether a cut was removed within the narrowest interval that it can be in.
    is_touched: Vec<bool>,
    /// The cuts that may still be made, with their steps.
    live: Vec<(u32, usize)>,
    /// By first code, the loss of the narrowest interval.
    loss: Vec<u64>,
}

/// The remaining steps of an attribute; see [`Line`].
struct Remaining {
    n_live: Vec<u32>,
    n_gone: Vec<u32>,
    live: Vec<(u32, usize)>,
}

impl<const N: usize> Grid<N> {
    /// The grid of the made steps and those that may still be made, which were all in `settled`.
    pub(super) fn new<P: Price>(
        ground: &Ground<P, N>,
        made: &[usize],
        tail: &StepSet,
        settled: &StepSet,
    ) -> Grid<N> {
        let space = &ground.space;
        let attributes = space.of_attribute.iter().enumerate().map(|(attribute, range)| {
            let n_codes = space.n_codes[attribute] as usize;
            let mut is_cut = vec![false; n_codes];
            for &step in made.iter().filter(|step| range.contains(step)) {
                for &code in &space.steps[step].before {
                    is_cut[code as usize] = true;
                }
            }
            let mut live: Vec<(u32, usize)> = Vec::new();
            let mut n_gone = vec![0u32; n_codes];
            for step in range.clone().filter(|&step| settled.has(step)) {
                let before = &space.steps[step].before;
                if tail.has(step) {
                    live.extend(before.iter().map(|&code| (code, step)));
                } else {
                    for &code in before {
                        n_gone[code as usize] = 1;
                    }
                }
            }
            if space.is_tree[attribute] {
                live.sort_unstable();
            }
            let mut n_live = vec![0u32; n_codes];
            for &(code, _) in &live {
                is_cut[code as usize] = true;
                n_live[code as usize] += 1;
            }
            for code in 1..n_codes {
                n_live[code] += n_live[code - 1];
                n_gone[code] += n_gone[code - 1];
            }
            line(ground, attribute, &is_cut, Remaining { n_live, n_gone, live })
        });
        Grid { attributes: attributes.collect() }
    }

    /// The cuts that may still be made within an interval, with their steps.
    #[inline]
    pub(super) fn live(&self, attribute: usize, (lo, hi): (u32, u32)) -> &[(u32, usize)] {
        let line = &self.attributes[attribute];
        &line.live[line.n_live[lo as usize] as usize..line.n_live[hi as usize] as usize]
    }

    /// Whether any cut may still be made within an interval.
    #[inline]
    pub(super) fn divides(&self, attribute: usize, (lo, hi): (u32, u32)) -> bool {
        let n_live = &self.attributes[attribute].n_live;
        n_live[lo as usize] != n_live[hi as usize]
    }

    /// By code, the number of cuts that may still be made before it or before a lower one.
    pub(super) fn n_live(&self, attribute: usize) -> &[u32] {
        &self.attributes[attribute].n_live
    }

    /// Whether a cut was removed within an interval since the classes were settled.
    #[inline]
    pub(super) fn has_lost(&self, attribute: usize, (lo, hi): (u32, u32)) -> bool {
        let n_gone = &self.attributes[attribute].n_gone;
        n_gone[lo as usize] != n_gone[hi as usize]
    }

    /// By code of an attribute: whether a cut was removed within the narrowest interval that it can
    /// be in, and the first code of that interval, shifted to its place in a key.
    pub(super) fn line(&self, attribute: usize) -> (&[bool], &[u64]) {
        let line = &self.attributes[attribute];
        (&line.is_touched, &line.placed)
    }

    #[inline]
    pub(super) fn loss(&self, attribute: usize, first: usize) -> u64 {
        self.attributes[attribute].loss[first]
    }
}

fn line<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    attribute: usize,
    is_cut: &[bool],
    remaining: Remaining,
) -> Line {
    let Remaining { n_live, n_gone, live } = remaining;
    let Field { shift, .. } = ground.fields[attribute];
    let codes = u32::try_from(is_cut.len()).expect("codes have 32 bits");
    let mut first = 0;
    let mut placed = vec![0; is_cut.len()];
    let mut is_touched = vec![false; is_cut.len()];
    for code in 0..codes {
        if is_cut[code as usize] {
            first = code;
        }
        placed[code as usize] = u64::from(first) << shift;
        let is_last = is_cut.get(code as usize + 1).is_none_or(|is_cut| *is_cut);
        if is_last && n_gone[code as usize] > n_gone[first as usize] {
            is_touched[first as usize..=code as usize].fill(true);
        }
    }
    let mut loss = Vec::new();
    if P::HAS_LOSS {
        loss = vec![0; is_cut.len()];
        let mut last = codes - 1;
        for code in (0..codes).rev() {
            if code == 0 || is_cut[code as usize] {
                loss[code as usize] = ground.price.loss(attribute, code, last);
                last = code.saturating_sub(1);
            }
        }
    }
    Line { placed, n_live, n_gone, is_touched, live, loss }
}
