//! How an interval is specialized, and the information gain. Both depend only on the table's rows
//! in the interval, so rows are counted by code and label once.

use incrowd_data::{Codes, Cuts, FrequencySet, Hierarchy};

use crate::mondrian::entropy;

/// Rows of an attribute's codes by label.
pub(super) struct Statistics<'a> {
    attribute: usize,
    set: &'a FrequencySet,
    /// By target, its labels.
    n_labels: Vec<usize>,
    /// By code, by target, by label.
    rows: Vec<i64>,
}

/// What an interval would become.
pub(super) struct Specialization {
    /// The first codes of its parts.
    pub(super) starts: Vec<u32>,
    /// Its last code.
    pub(super) hi: u32,
    /// The additional bits that a row reveals about the labels, added up over the targets.
    pub(super) gain: f64,
}

impl Specialization {
    /// The vectors of a class by part.
    pub(super) fn parts(&self, codes: &Codes, vectors: &[u32]) -> Vec<Vec<u32>> {
        let mut parts = vec![Vec::new(); self.starts.len()];
        for &vector in vectors {
            let code = codes.get(vector as usize);
            parts[self.starts.partition_point(|&start| start <= code) - 1].push(vector);
        }
        parts
    }
}

impl<'a> Statistics<'a> {
    pub(super) fn new(
        set: &'a FrequencySet,
        attribute: usize,
        targets: &[usize],
    ) -> Statistics<'a> {
        let n_labels: Vec<usize> =
            targets.iter().map(|&target| set.extras[target].n_codes as usize).collect();
        let width: usize = n_labels.iter().sum();
        let mut rows = vec![0; width * set.attributes[attribute].n_codes() as usize];
        for (vector, &count) in set.counts.iter().enumerate() {
            let mut at = set.vectors[attribute].get(vector) as usize * width;
            for (&target, n_labels) in targets.iter().zip(&n_labels) {
                rows[at + set.extras[target].codes.get(vector) as usize] += i64::from(count);
                at += n_labels;
            }
        }
        Statistics { attribute, set, n_labels, rows }
    }

    fn width(&self) -> usize {
        self.n_labels.iter().sum()
    }

    /// Rows by label of the codes from one to another.
    fn sums(&self, lo: u32, hi: u32) -> Vec<i64> {
        let mut sums = vec![0; self.width()];
        for code in lo..=hi {
            self.each(code, |at, rows| sums[at] += rows);
        }
        sums
    }

    fn each(&self, code: u32, mut call: impl FnMut(usize, i64)) {
        let width = self.width();
        let of_code = &self.rows[code as usize * width..(code as usize + 1) * width];
        of_code.iter().enumerate().for_each(|(at, &rows)| call(at, rows));
    }

    /// Rows times the entropy of their labels, added up over the targets.
    fn entropy(&self, sums: &[i64]) -> f64 {
        let mut from = 0;
        let of_target = self.n_labels.iter().map(|n_labels| {
            from += n_labels;
            entropy(&sums[from - n_labels..from])
        });
        of_target.sum()
    }

    /// The number of rows in some sums; 0 if there are no targets.
    fn n_rows(&self, sums: &[i64]) -> i64 {
        self.n_labels.first().map_or(0, |&n_labels| sums[..n_labels].iter().sum())
    }

    /// The gain per row: the entropy of the whole minus that of its parts.
    fn gain(&self, whole: &[i64], of_parts: f64) -> f64 {
        let gain = (self.entropy(whole) - of_parts) / (self.n_rows(whole).max(1) as f64);
        // A difference due to rounding is not a gain.
        if gain > 1e-12 { gain } else { 0.0 }
    }

    /// The cut of an interval with the highest gain.
    pub(super) fn at_threshold(&self, lo: u32, hi: u32) -> Option<Specialization> {
        let whole = self.sums(lo, hi);
        let (mut left, mut right) = (vec![0; whole.len()], whole.clone());
        let mut best: Option<(f64, u32)> = None;
        for code in lo..hi {
            let mut is_present = false;
            self.each(code, |at, rows| {
                left[at] += rows;
                right[at] -= rows;
                is_present |= rows > 0;
            });
            if is_present && self.n_rows(&right) > 0 {
                let cost = self.entropy(&left) + self.entropy(&right);
                // Differences due to rounding do not count.
                if best.is_none_or(|(least, _)| cost < least - 1e-9 * (1.0 + least)) {
                    best = Some((cost, code + 1));
                }
            }
        }
        let (cost, start) = best?;
        Some(Specialization { starts: vec![lo, start], hi, gain: self.gain(&whole, cost) })
    }

    /// The children of an interval that is a node. While only one child has rows, cutting the node
    /// costs nothing: the cuts are made, and the search continues with that child.
    pub(super) fn children(
        &self,
        hierarchy: &Hierarchy,
        lo: u32,
        hi: u32,
        cuts: &mut Cuts,
    ) -> Option<Specialization> {
        let (mut lo, mut hi) = (lo, hi);
        loop {
            if lo == hi {
                return None;
            }
            let (level, node) = hierarchy.common(lo, hi);
            let children: Vec<(u32, u32)> =
                hierarchy.children(level, node).iter().map(|child| (child.lo, child.hi)).collect();
            let sums: Vec<Vec<i64>> =
                children.iter().map(|child| self.sums(child.0, child.1)).collect();
            let mut present = (0..children.len()).filter(|&at| self.n_rows(&sums[at]) > 0);
            let first = present.next()?;
            if present.next().is_some() {
                let of_parts = sums.iter().map(|sums| self.entropy(sums)).sum();
                let gain = self.gain(&self.sums(lo, hi), of_parts);
                let starts = children.iter().map(|child| child.0).collect();
                return Some(Specialization { starts, hi, gain });
            }
            for child in &children[1..] {
                cuts.insert(self.attribute, child.0);
            }
            (lo, hi) = children[first];
            debug_assert!(hi < self.set.attributes[self.attribute].n_codes());
        }
    }
}
