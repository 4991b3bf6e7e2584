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
    /// By code, the first code of the narrowest interval that it can be in, in its place of a key.
    placed: Vec<u64>,
    /// By code, how many cuts may still be made before it or before a lower one.
    n_live: Vec<u32>,
    /// The cuts that may still be made, with their steps.
    live: Vec<(u32, usize)>,
    /// By first code, the loss of the narrowest interval.
    loss: Vec<u64>,
}

impl<const N: usize> Grid<N> {
    pub(super) fn new<P: Price>(ground: &Ground<P, N>, made: &[usize], tail: &StepSet) -> Grid<N> {
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
            for step in range.clone().filter(|&step| tail.has(step)) {
                live.extend(space.steps[step].before.iter().map(|&code| (code, step)));
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
            }
            line(ground, attribute, &is_cut, n_live, live)
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

    /// The number of cuts that may still be made within the intervals.
    pub(super) fn n_live(&self, intervals: &[(u32, u32)]) -> u32 {
        let of = self.attributes.iter().zip(intervals);
        of.map(|(line, &(lo, hi))| line.n_live[hi as usize] - line.n_live[lo as usize]).sum()
    }

    #[inline]
    pub(super) fn placed(&self, attribute: usize, code: u64) -> u64 {
        self.attributes[attribute].placed[code as usize]
    }

    #[inline]
    pub(super) fn loss(&self, attribute: usize, first: u64) -> u64 {
        self.attributes[attribute].loss[first as usize]
    }
}

fn line<P: Price, const N: usize>(
    ground: &Ground<P, N>,
    attribute: usize,
    is_cut: &[bool],
    n_live: Vec<u32>,
    live: Vec<(u32, usize)>,
) -> Line {
    let Field { shift, .. } = ground.fields[attribute];
    let codes = u32::try_from(is_cut.len()).expect("codes have 32 bits");
    let mut first = 0;
    let placed = (0..codes)
        .map(|code| {
            if is_cut[code as usize] {
                first = code;
            }
            u64::from(first) << shift
        })
        .collect();
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
    Line { placed, n_live, live, loss }
}
