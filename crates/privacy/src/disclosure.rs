//! Figures of what the sensitive values of a class disclose. They are only measured; no search
//! requires them.
//!
//! All but [`alpha`] compare the share `q` of a value in the class with its share `p` in the table,
//! both among the cells that have a value. A class without any value has no share to compare: 0.

use crate::{TOLERANCE, Valued};

/// The share of the most frequent value: the alpha of (alpha, k)-anonymity (Wong, Li, Fu, Wang
/// 2006), taken over all values. 0 in an empty class.
#[must_use]
pub fn alpha<'a>(class: impl Into<Valued<'a>>) -> f64 {
    shares(class.into()).map(|(_, q)| q).fold(0.0, f64::max)
}

/// The greatest `|ln(q / p)|`: the delta of delta-disclosure privacy (Brickell, Shmatikov 2008).
/// Taken over the values that occur in the class, since the logarithm of 0 is undefined; read
/// literally, the definition rejects every class that lacks a value of the table.
#[must_use]
pub fn delta<'a>(class: impl Into<Valued<'a>>, whole: &[f64]) -> f64 {
    let logarithms = shares(class.into()).map(|(code, q)| (q / whole[code as usize]).ln().abs());
    logarithms.fold(0.0, f64::max)
}

/// The greatest `(q - p) / p` of the values with `q > p`: the beta of basic beta-likeness (Cao,
/// Karras 2012).
#[must_use]
pub fn beta<'a>(class: impl Into<Valued<'a>>, whole: &[f64]) -> f64 {
    gains(class.into(), whole).map(|(_, gain)| gain).fold(0.0, f64::max)
}

/// The least beta of enhanced beta-likeness (Cao, Karras 2012), which requires `(q - p) / p <=
/// min(beta, -ln p)` for the values with `q > p`. It is that of the basic form, or infinite if a
/// value gains more than `-ln p`, since then no beta is enough.
#[must_use]
pub fn enhanced_beta<'a>(class: impl Into<Valued<'a>>, whole: &[f64]) -> f64 {
    let needed = gains(class.into(), whole).map(|(p, gain)| {
        let is_allowed = gain <= -p.ln() + TOLERANCE;
        if is_allowed { gain } else { f64::INFINITY }
    });
    needed.fold(0.0, f64::max)
}

/// The values with a greater share in the class than in the table: their share in the table, and
/// how much it grows, relative to it.
fn gains<'a>(class: Valued<'a>, whole: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let of_values = shares(class).map(|(code, q)| (whole[code as usize], q));
    of_values.filter(|(p, q)| q > p).map(|(p, q)| (p, (q - p) / p))
}

/// The values of a class, and the share of its rows with a value that each has.
fn shares(class: Valued<'_>) -> impl Iterator<Item = (u32, f64)> + '_ {
    let total = class.n_rows();
    class.iter().map(move |(code, rows)| (code, rows as f64 / total as f64))
}
