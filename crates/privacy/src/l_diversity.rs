//! l-diversity: the sensitive values of every class are well spread (Machanavajjhala et al. 2006).
//!
//! All three forms are monotone. A union has at least as many distinct values as each part; entropy
//! is concave, so that of a union is at least the weighted mean of the parts'; and for the
//! recursive form, with `r_1 >= r_2 >= ...` the sorted counts, `r_1 - c (r_l + ... + r_m)` of a
//! union is at most the sum of the parts'.
//!
//! Cells without a value do not count, and a class without any value satisfies none of the forms.
//! The proofs above still hold: leaving the same cells out of a union and of its parts leaves out
//! the same rows, and parts that satisfy the model have values.

use crate::{Class, Column, Model, ParameterError, TOLERANCE, Valued};

/// At least `l` distinct sensitive values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistinctDiversity {
    column: Column,
    l: f64,
}

impl DistinctDiversity {
    /// Checks the parameter; `column` is the extra column.
    pub fn new(column: impl Into<Column>, l: f64) -> Result<DistinctDiversity, ParameterError> {
        Ok(DistinctDiversity { column: column.into(), l: checked_l(l)? })
    }

    /// The number of distinct values.
    #[must_use]
    pub fn of<'a>(class: impl Into<Valued<'a>>) -> f64 {
        class.into().n_present() as f64
    }
}

impl Model for DistinctDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        DistinctDiversity::of(self.column.of(class)) >= self.l
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn holds_for_supersets(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column.at)
    }

    fn describe(&self) -> String {
        format!("distinct {}-diversity", self.l)
    }
}

/// Entropy of the sensitive values of at least `log l`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyDiversity {
    column: Column,
    l: f64,
}

impl EntropyDiversity {
    /// Checks the parameter; `column` is the extra column.
    pub fn new(column: impl Into<Column>, l: f64) -> Result<EntropyDiversity, ParameterError> {
        Ok(EntropyDiversity { column: column.into(), l: checked_l(l)? })
    }

    /// The l of a class: the exponential of the entropy in nats, 0 without a value.
    #[must_use]
    pub fn of<'a>(class: impl Into<Valued<'a>>) -> f64 {
        EntropyDiversity::entropy(class).map_or(0.0, f64::exp)
    }

    /// The entropy in nats. None without a value.
    #[must_use]
    pub fn entropy<'a>(class: impl Into<Valued<'a>>) -> Option<f64> {
        // Sorted, so that the sum does not depend on the order in which rows were added.
        let counts = class.into().counts();
        let total = counts.iter().sum::<u64>() as f64;
        let entropy = counts.iter().map(|&count| count as f64 / total).map(|p| -p * p.ln()).sum();
        (!counts.is_empty()).then_some(entropy)
    }
}

impl Model for EntropyDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        let entropy = EntropyDiversity::entropy(self.column.of(class));
        entropy.is_some_and(|entropy| entropy >= self.l.ln() - TOLERANCE)
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column.at)
    }

    fn describe(&self) -> String {
        format!("entropy {}-diversity", self.l)
    }
}

/// Recursive (c,l)-diversity: with counts sorted downwards, `r_1 < c (r_l + ... + r_m)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecursiveDiversity {
    column: Column,
    c: f64,
    l: u32,
}

impl RecursiveDiversity {
    /// Checks the parameters; `column` is the extra column.
    pub fn new(
        column: impl Into<Column>,
        c: f64,
        l: u32,
    ) -> Result<RecursiveDiversity, ParameterError> {
        if c.is_nan() || c <= 0.0 {
            return Err(ParameterError::CNotPositive { c });
        }
        checked_l(f64::from(l))?;
        Ok(RecursiveDiversity { column: column.into(), c, l })
    }

    /// By l, from 2 to the number of distinct values, at most `most` of them: `r_1 / (r_l + ... +
    /// r_m)`. The class is recursive (c,l)-diverse for every c above it, and for no other c.
    #[must_use]
    pub fn least_cs<'a>(class: impl Into<Valued<'a>>, most: usize) -> Vec<f64> {
        let class = class.into();
        let n_wanted = class.n_present().saturating_sub(1).min(most);
        if n_wanted == 0 {
            return Vec::new();
        }
        let counts = counts_downwards(class);
        let mut tail: u64 = counts.iter().sum();
        let ratio = |count: &u64| {
            tail -= count;
            counts[0] as f64 / tail as f64
        };
        counts.iter().take(n_wanted).map(ratio).collect()
    }
}

fn counts_downwards(class: Valued) -> Vec<u64> {
    let mut counts = class.counts();
    counts.reverse();
    counts
}

impl Model for RecursiveDiversity {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(*self)
    }

    fn holds(&self, class: &Class) -> bool {
        let counts = counts_downwards(self.column.of(class));
        let tail: u64 = counts.iter().skip(self.l as usize - 1).sum();
        counts.first().is_some_and(|&most| (most as f64) < self.c * tail as f64)
    }

    fn is_monotone(&self) -> bool {
        true
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.column.at)
    }

    fn describe(&self) -> String {
        format!("recursive ({},{})-diversity", self.c, self.l)
    }
}

fn checked_l(l: f64) -> Result<f64, ParameterError> {
    if l.is_finite() && l >= 1.0 { Ok(l) } else { Err(ParameterError::LTooSmall { l }) }
}
