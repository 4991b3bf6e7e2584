//! Several targets: the sum of their entropies or squared errors (KDD 2006, section 3.3, equations
//! 3 and 4).
//!
//! Labels count in bits per row, numbers in squares of their own unit, as in the paper. If both are
//! predicted, each target counts relative to its cost in the whole table, so that none outweighs
//! the others because of its unit.

use incrowd_data::Codes;

use super::buffer::{return_codes, take_codes};
use super::lsd::{self, Steps, Whole};
use super::{Criterion, Facts, PointColumns, RegionCriterion, infogain};
use crate::Target;
use crate::partition::{Buffers, Extent, PackedCode};

/// The targets of a search.
pub(super) struct Targets {
    terms: Vec<Term>,
    n_sums: usize,
}

/// One target.
struct Term {
    codes: Codes,
    /// The index of its first sum.
    from: usize,
    n_sums: usize,
    /// `None` for labels.
    numbers: Option<Steps>,
    weight: f64,
}

impl Targets {
    pub(super) fn new(set: &PointColumns, targets: &[Target], facts: Option<&Facts>) -> Targets {
        let n_rows = facts.map_or(set.n_rows, |facts| facts.n_rows);
        let mut n_sums = 0;
        let mut terms: Vec<Term> = Vec::new();
        for &target in targets {
            let (extra, of_term, numbers) = match target {
                Target::Labels(extra) => (extra, set.extras[extra].n_codes as usize, None),
                Target::Numbers(extra) => {
                    let steps = Steps::new(&set.extras[extra].positions, n_rows);
                    (extra, lsd::N_SUMS, Some(steps))
                }
            };
            let codes = set.extras[extra].codes.clone();
            terms.push(Term { codes, from: n_sums, n_sums: of_term, numbers, weight: 1.0 });
            n_sums += of_term;
        }
        // Squares of very large or very small units would leave the range of a float.
        let largest =
            terms.iter().filter_map(|term| Some(term.numbers.as_ref()?.size)).fold(0.0, f64::max);
        for term in &mut terms {
            if let Some(steps) = &term.numbers {
                term.weight = (steps.size / largest).powi(2);
            }
        }
        let mut criterion = Targets { terms, n_sums };
        match facts {
            None => criterion.normalise(set),
            Some(facts) => {
                for (term, &weight) in criterion.terms.iter_mut().zip(&facts.weights) {
                    term.weight = weight;
                }
            }
        }
        criterion
    }

    /// By target, its weight.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.terms.iter().map(|term| term.weight).collect()
    }

    /// Scales every target to a cost of 1 in the whole table, if there are both labels and numbers.
    fn normalise(&mut self, set: &PointColumns) {
        let n_numbers = self.terms.iter().filter(|term| term.numbers.is_some()).count();
        if n_numbers == 0 || n_numbers == self.terms.len() {
            return;
        }
        for term in &mut self.terms {
            let mut sums = vec![0; term.n_sums];
            let mut all = Whole::default();
            for (vector, &rows) in set.counts.iter().enumerate() {
                let code = term.codes.get(vector);
                term.add(code, rows, &mut sums);
                term.add_whole(code, rows, &mut all);
            }
            all.settle();
            let whole = term.plain_cost(&all, &sums);
            term.weight = if whole > 0.0 { 1.0 / whole } else { 0.0 };
        }
    }
}

impl Term {
    #[inline]
    fn add(&self, code: u32, rows: u32, sums: &mut [i64]) {
        match &self.numbers {
            None => sums[code as usize] += i64::from(rows),
            Some(steps) => steps.add(code, i64::from(rows), sums),
        }
    }

    fn add_whole(&self, code: u32, rows: u32, whole: &mut Whole) {
        if let Some(steps) = &self.numbers {
            steps.add_whole(code, rows, whole);
        }
    }

    /// The cost of a part of a region, without weights.
    fn plain_cost(&self, whole: &Whole, sums: &[i64]) -> f64 {
        match &self.numbers {
            Some(_) => whole.deviance(sums),
            None => infogain::entropy(sums),
        }
    }

    fn sums<'a>(&self, sums: &'a [i64]) -> &'a [i64] {
        &sums[self.from..self.from + self.n_sums]
    }
}

/// The targets of the points of a region.
pub(super) struct OfRegion<'a> {
    criterion: &'a Targets,
    /// Point by point, the code of each target.
    codes: Vec<u32>,
    /// By target, all rows.
    wholes: Vec<Whole>,
}

impl Criterion for Targets {
    type Region<'a> = OfRegion<'a>;

    fn at<C: PackedCode>(&self, region: &Buffers<'_, C>, _: &[Extent]) -> Option<OfRegion<'_>> {
        let mut codes = take_codes();
        codes.reserve(self.terms.len() * region.len());
        let mut wholes = vec![Whole::default(); self.terms.len()];
        for (&vector, &rows) in region.vectors.iter().zip(&*region.rows) {
            for (term, whole) in self.terms.iter().zip(&mut wholes) {
                let code = term.codes.get(vector as usize);
                term.add_whole(code, rows, whole);
                codes.push(code);
            }
        }
        wholes.iter_mut().for_each(Whole::settle);
        Some(OfRegion { criterion: self, codes, wholes })
    }
}

impl Drop for OfRegion<'_> {
    fn drop(&mut self) {
        return_codes(std::mem::take(&mut self.codes));
    }
}

impl RegionCriterion for OfRegion<'_> {
    fn n_sums(&self) -> usize {
        self.criterion.n_sums
    }

    fn add(&self, point: usize, rows: u32, sums: &mut [i64]) {
        let n_terms = self.criterion.terms.len();
        let codes = &self.codes[point * n_terms..(point + 1) * n_terms];
        for (term, &code) in self.criterion.terms.iter().zip(codes) {
            term.add(code, rows, &mut sums[term.from..term.from + term.n_sums]);
        }
    }

    /// One target, the usual case, has a loop of its own.
    fn tabulate(
        &self,
        column: impl Iterator<Item = (u32, u32)>,
        lo: u32,
        width: usize,
        table: &mut [i64],
    ) {
        let points = column.zip(self.codes.chunks_exact(self.criterion.terms.len().max(1)));
        match &self.criterion.terms[..] {
            [Term { numbers: None, .. }] => {
                for ((code, rows), target) in points {
                    let at = (code - lo) as usize * width;
                    table[at] += i64::from(rows);
                    table[at + 1 + target[0] as usize] += i64::from(rows);
                }
            }
            [Term { numbers: Some(steps), .. }] => {
                for ((code, rows), target) in points {
                    let at = (code - lo) as usize * width;
                    let value = &mut table[at..at + 1 + lsd::N_SUMS];
                    value[0] += i64::from(rows);
                    steps.add(target[0], i64::from(rows), &mut value[1..]);
                }
            }
            terms => {
                for ((code, rows), targets) in points {
                    let at = (code - lo) as usize * width;
                    let value = &mut table[at..at + width];
                    value[0] += i64::from(rows);
                    for (term, &target) in terms.iter().zip(targets) {
                        let from = 1 + term.from;
                        term.add(target, rows, &mut value[from..from + term.n_sums]);
                    }
                }
            }
        }
    }

    fn cost(&self, _: usize, _: Extent, _: u64, sums: &[i64]) -> f64 {
        let terms = self.criterion.terms.iter().zip(&self.wholes);
        terms.map(|(term, whole)| term.weight * term.plain_cost(whole, term.sums(sums))).sum()
    }

    fn is_candidate(&self, before: &[i64], after: &[i64]) -> bool {
        self.criterion.terms.iter().any(|term| {
            term.numbers.is_some() || infogain::changes(term.sums(before), term.sums(after))
        })
    }

    fn must_lower(&self) -> bool {
        false
    }
}
