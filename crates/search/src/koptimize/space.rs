//! The steps that a search decides about, each of which cuts one attribute.

use std::ops::Range;

use incrowd_data::{Cuts, Hierarchy, Shape};

use crate::Problem;

/// Cuts of one attribute that are made together: one cut along an order, or all cuts between the
/// children of a node of a hierarchy.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) attribute: usize,
    /// The codes before which it cuts, ascending.
    pub(super) before: Vec<u32>,
    /// The step that has to be made first.
    pub(super) parent: Option<usize>,
    /// The steps that need it are the next ones, up to this one, exclusive.
    pub(super) end: usize,
    /// The run that it divides.
    pub(super) run: (u32, u32),
}

/// All steps, by attribute; a step before those that need it.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) steps: Vec<Step>,
    pub(super) of_attribute: Vec<Range<usize>>,
    pub(super) n_codes: Vec<u32>,
    /// By attribute, whether its steps are those of a hierarchy.
    pub(super) is_tree: Vec<bool>,
}

impl Space {
    pub(super) fn new(problem: &Problem) -> Space {
        let attributes = &problem.set.attributes;
        let mut steps = Vec::new();
        let mut of_attribute = Vec::new();
        for (at, attribute) in attributes.iter().enumerate() {
            let first = steps.len();
            let last = attribute.n_codes().max(1) - 1;
            if let Shape::Tree(hierarchy) = &attribute.shape {
                push_below(&mut steps, at, hierarchy, (0, last), None);
            } else {
                let places = (1..=last).filter(|&code| problem.may_cut(at, code));
                steps.extend((first + 1..).zip(places).map(|(end, code)| Step {
                    attribute: at,
                    before: vec![code],
                    parent: None,
                    end,
                    run: (0, last),
                }));
            }
            of_attribute.push(first..steps.len());
        }
        let n_codes = attributes.iter().map(|attribute| attribute.n_codes().max(1)).collect();
        let is_tree = attributes.iter().map(|of| matches!(of.shape, Shape::Tree(_))).collect();
        Space { steps, of_attribute, n_codes, is_tree }
    }

    /// The cuts that some steps make.
    pub(super) fn cuts(&self, steps: &[usize]) -> Cuts {
        let mut cuts = Cuts::none(self.of_attribute.len());
        for step in steps.iter().map(|&step| &self.steps[step]) {
            for &code in &step.before {
                cuts.insert(step.attribute, code);
            }
        }
        cuts
    }

    /// The steps that make some cuts; `None` if there are no such steps.
    pub(super) fn steps(&self, cuts: &Cuts) -> Option<Vec<usize>> {
        let is_made = |step: &Step| {
            step.before.iter().all(|code| cuts.of(step.attribute).binary_search(code).is_ok())
        };
        let steps: Vec<usize> =
            (0..self.steps.len()).filter(|&step| is_made(&self.steps[step])).collect();
        let has_parent = |step: &usize| {
            self.steps[*step].parent.is_none_or(|parent| steps.binary_search(&parent).is_ok())
        };
        (steps.iter().all(has_parent) && self.cuts(&steps) == *cuts).then_some(steps)
    }
}

/// The steps that divide a run of leaves, those of its node first.
fn push_below(
    steps: &mut Vec<Step>,
    attribute: usize,
    hierarchy: &Hierarchy,
    run: (u32, u32),
    parent: Option<usize>,
) {
    if run.0 >= run.1 {
        return;
    }
    let children = hierarchy.parts(run.0, run.1);
    let this = steps.len();
    let before = children.iter().skip(1).map(|child| child.lo).collect();
    steps.push(Step { attribute, before, parent, end: 0, run });
    for child in children {
        push_below(steps, attribute, hierarchy, (child.lo, child.hi), Some(this));
    }
    steps[this].end = steps.len();
}

/// A set of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepSet(Vec<u64>);

impl StepSet {
    pub(super) fn none(n_steps: usize) -> StepSet {
        StepSet(vec![0; n_steps.div_ceil(64)])
    }

    pub(super) fn has(&self, step: usize) -> bool {
        self.0[step / 64] >> (step % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, step: usize) {
        self.0[step / 64] |= 1 << (step % 64);
    }

    pub(super) fn remove(&mut self, step: usize) {
        self.0[step / 64] &= !(1 << (step % 64));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The steps, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }

    pub(super) fn has_any(&self, range: Range<usize>) -> bool {
        range.into_iter().any(|step| self.has(step))
    }
}
