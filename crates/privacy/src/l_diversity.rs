//! l-diversity: the sensitive values of every class are well spread (Machanavajjhala et al. 2006).
//!
//! All three forms are monotone. A union has at least as many distinct values as each part; entropy
//! is concave, so that of a union is at least the weighted mean of the parts'; and for the recursive
//! form, with `r_1 >= r_2 >= ...` the sorted counts, `r_1 - c (r_l + ... + r_m)` of a union is at
//! most the sum of the parts'.

use crate::{Class, Histogram, Model, ParameterError, TOLERANCE};

/// At least `l` distinct sensitive values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctDiversity {
    column: usize,
    l: f64,
}

impl DistinctDiversity {
    /// Checks the parameter; `column` is the extra column.
    pub fn new(column: usize, l: f64) -> Result<DistinctDiversity, ParameterError> {
        Ok(DistinctDiversity { column, l: checked_l(l)? })
    }

    /// The number of distinct values.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^32 codes")]
    pub fn of(histogram: &Histogram) -> f64 {
        histogram.present().len() as f64
    }
}

impl Model for DistinctDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        DistinctDiversity::of(&class.histograms[self.column]) >= self.l
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn holds_for_supersets(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column)
    }

    fn describe(&self) -> String {
        format!("distinct {}-diversity", self.l)
    }
}

/// Entropy of the sensitive values of at least `log l`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyDiversity {
    column: usize,
    l: f64,
}

impl EntropyDiversity {
    /// Checks the parameter; `column` is the extra column.
    pub fn new(column: usize, l: f64) -> Result<EntropyDiversity, ParameterError> {
        Ok(EntropyDiversity { column, l: checked_l(l)? })
    }

    /// The entropy in nats.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn entropy(histogram: &Histogram) -> f64 {
        let mut counts: Vec<u64> =
            histogram.present().iter().map(|&c| histogram.count(c)).collect();
        // A sum in one order, whatever the order in which rows were added.
        counts.sort_unstable();
        let total = counts.iter().sum::<u64>() as f64;
        counts.iter().map(|&count| count as f64 / total).map(|p| -p * p.ln()).sum()
    }
}

impl Model for EntropyDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        EntropyDiversity::entropy(&class.histograms[self.column]) >= self.l.ln() - TOLERANCE
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column)
    }

    fn describe(&self) -> String {
        format!("entropy {}-diversity", self.l)
    }
}

/// Recursive (c,l)-diversity: with counts sorted downwards, `r_1 < c (r_l + ... + r_m)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecursiveDiversity {
    column: usize,
    c: f64,
    l: u32,
}

impl RecursiveDiversity {
    /// Checks the parameters; `column` is the extra column.
    pub fn new(column: usize, c: f64, l: u32) -> Result<RecursiveDiversity, ParameterError> {
        if c.is_nan() || c <= 0.0 {
            return Err(ParameterError::CNotPositive { c });
        }
        checked_l(f64::from(l))?;
        Ok(RecursiveDiversity { column, c, l })
    }

    /// By l, from 2 to the number of distinct values but for no more than `most` of them: `r_1 / (r_l + ... + r_m)`.
    /// The class is recursive (c,l)-diverse for every c above it, and for no other.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn least_cs(histogram: &Histogram, most: usize) -> Vec<f64> {
        let n_wanted = histogram.present().len().saturating_sub(1).min(most);
        if n_wanted == 0 {
            return Vec::new();
        }
        let counts = counts_downwards(histogram);
        let mut tail: u64 = counts.iter().sum();
        let ratio = |count: &u64| {
            tail -= count;
            counts[0] as f64 / tail as f64
        };
        counts.iter().take(n_wanted).map(ratio).collect()
    }
}

fn counts_downwards(histogram: &Histogram) -> Vec<u64> {
    let mut counts: Vec<u64> = histogram.present().iter().map(|&c| histogram.count(c)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

impl Model for RecursiveDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    fn holds(&self, class: &Class) -> bool {
        let counts = counts_downwards(&class.histograms[self.column]);
        let tail: u64 = counts.iter().skip(self.l as usize - 1).sum();
        counts.first().is_some_and(|&most| (most as f64) < self.c * tail as f64)
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column)
    }

    fn describe(&self) -> String {
        format!("recursive ({},{})-diversity", self.c, self.l)
    }
}

fn checked_l(l: f64) -> Result<f64, ParameterError> {
    if l.is_finite() && l >= 1.0 { Ok(l) } else { Err(ParameterError::LTooSmall { l }) }
}
