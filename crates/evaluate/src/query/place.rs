//! Where the values that a label stands for lie on a line.

use incrowd_data::Kind;

use super::domain::{Parse, beyond};
use super::form::{Form, masked};

/// The part of a line that a label stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// The first and the last place.
    pub(super) ends: (f64, f64),
    /// The first and the last place that is possible, where these may be others: a part without an
    /// end, or an end that is rounded.
    pub(super) reach: Option<(f64, f64)>,
    /// Whether an end is a whole number that a float cannot tell from its neighbours.
    pub(super) is_rounded: bool,
}

/// The place of a text, and whether it is that of its neighbours too: a whole number beyond 2^53.
/// Rounding keeps the order of numbers, but numbers may fall together.
#[must_use]
pub fn near(kind: Kind, text: &str, parse: Parse) -> Option<(f64, bool)> {
    let rounded = || {
        let is_number = matches!(kind, Kind::Integer | Kind::Decimal);
        let is_plain =
            text.strip_prefix('-').unwrap_or(text).starts_with(|first| matches!(first, '1'..='9'));
        beyond(text).filter(|_| is_number && is_plain).map(|at| (at, true))
    };
    parse(kind, text).map(|at| (at, false)).or_else(rounded)
}

/// The part of a line that a label stands for, if it says one.
pub(super) fn part_of(form: &Form, kind: Kind, parse: Parse) -> Option<Part> {
    let one = |text: &str| near(kind, text, parse);
    // The last value below an end that does not belong to the part.
    let before = |(end, is_rounded): (f64, bool)| {
        let end = match kind {
            _ if is_rounded => end,
            Kind::Integer | Kind::Date => end - 1.0,
            _ => end.next_down(),
        };
        (end, is_rounded)
    };
    let endless = |end: f64| (end, false);
    let (lo, hi) = match form {
        Form::Plain(text) => (one(text)?, one(text)?),
        Form::Bounds(lo, hi) => (one(lo)?, one(hi)?),
        Form::Closed(lo, hi, _) => (one(lo)?, one(hi)?),
        Form::HalfOpen(lo, hi, _) => (one(lo)?, before(one(hi)?)),
        Form::Below(end, _) => (endless(f64::NEG_INFINITY), before(one(end)?)),
        Form::From(end, _) => (one(end)?, endless(f64::INFINITY)),
        Form::Mask(text) if kind == Kind::Integer => {
            let (lo, hi) = masked(text)?;
            (endless(lo), endless(hi))
        }
        _ => return None,
    };
    let ((lo, is_lo_rounded), (hi, is_hi_rounded)) = (lo, hi);
    let is_rounded = is_lo_rounded || is_hi_rounded;
    // Other numbers with the same place lie within the places around it.
    let first = if is_lo_rounded { lo.next_down() } else { lo };
    let last = if is_hi_rounded { hi.next_up() } else { hi };
    let is_more = is_rounded || lo.is_infinite() || hi.is_infinite();
    let reach = is_more.then_some((first, last));
    (lo <= hi).then_some(Part { ends: (lo, hi), reach, is_rounded })
}
