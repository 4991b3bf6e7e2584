//! The role that a column probably has, from its values and its name, with the reason.
//!
//! A suggestion errs on the side of caution: what may hold anything is never released, what others may know
//! is recoded. Values are looked at through a sample and are never quoted.

use incrowd_data::Kind;
use incrowd_engine::Sample;

use super::shape;
use super::words::{Meaning, is_number_name, is_place_name, meaning};

/// What is known of a column beside its name.
pub(super) struct Facts<'a> {
    pub(super) kind: Kind,
    /// Distinct values, missing not counted.
    pub(super) distinct: u64,
    /// Rows whose value no other row has.
    pub(super) unique: u64,
    /// Rows with a value.
    pub(super) present: u64,
    /// Rows without one.
    pub(super) missing: u64,
    /// Bytes of the distinct values.
    pub(super) bytes: u64,
    /// Some of the distinct values.
    pub(super) sample: &'a Sample,
}

/// A role and the reason for it.
pub(super) type Suggested = (&'static str, String);

/// Whether a value looks like something.
type LooksLike = fn(&str) -> bool;

/// Values that name a person or a thing of one, wherever they stand.
const NAMING: [(LooksLike, &str); 8] = [
    (shape::is_email, "e-mail addresses"),
    (shape::is_url, "web addresses"),
    (shape::is_ip_address, "IP addresses"),
    (shape::is_uuid, "UUIDs"),
    (shape::is_social_security, "social security numbers"),
    (shape::is_card, "payment card numbers"),
    (shape::is_iban, "bank account numbers"),
    (shape::is_phone, "telephone numbers"),
];

/// The role that a column of this name and these values probably has.
pub(super) fn suggest(name: &str, facts: &Facts) -> Suggested {
    let meaning = meaning(name);
    facts
        .naming()
        .or_else(|| facts.constant(meaning.as_ref()))
        .or_else(|| facts.when_or_where(name))
        .or_else(|| facts.free_text())
        .or_else(|| facts.near_unique(name, meaning.as_ref()))
        .or_else(|| meaning.map(|Meaning { role, word }| (role, format!("`{word}` in its name"))))
        .or_else(|| facts.people())
        .or_else(|| facts.digits())
        .unwrap_or_else(|| facts.otherwise())
}

fn quasi(reason: &str) -> Suggested {
    ("quasi", reason.to_owned())
}

fn identifier(reason: &str) -> Suggested {
    ("identifier", reason.to_owned())
}

impl Facts<'_> {
    /// Whether so many percent of the values are such.
    fn are(&self, percent: usize, is_such: impl Fn(&str) -> bool) -> bool {
        let (mut n_values, mut n_such) = (0, 0);
        for text in self.sample.texts() {
            n_values += 1;
            n_such += usize::from(is_such(text.trim()));
        }
        n_values > 0 && n_such * 100 >= n_values * percent
    }

    fn naming(&self) -> Option<Suggested> {
        if !matches!(self.kind, Kind::Text | Kind::Integer) {
            return None;
        }
        let (_, what) = NAMING.iter().find(|(is_such, _)| self.are(80, is_such))?;
        Some(identifier(&format!("its values look like {what}")))
    }

    /// A column that says the same of everybody, unless its name is a warning.
    fn constant(&self, meaning: Option<&Meaning>) -> Option<Suggested> {
        if meaning.is_some_and(|meaning| meaning.role != "quasi") {
            return None;
        }
        let reason = match (self.distinct, self.missing) {
            (0, _) => "it has no values",
            (1, 0) if self.present > 1 => "every row has the same value",
            _ => return None,
        };
        Some(("insensitive", reason.to_owned()))
    }

    fn when_or_where(&self, name: &str) -> Option<Suggested> {
        let is_number = matches!(self.kind, Kind::Integer | Kind::Decimal);
        match self.kind {
            Kind::Date | Kind::Timestamp => Some(quasi("dates are often known to others")),
            Kind::Text if self.are(90, shape::is_date) => {
                Some(quasi("its values look like dates, which others often know"))
            }
            Kind::Text if self.are(90, shape::is_postcode) => {
                Some(quasi("its values look like postcodes, which others often know"))
            }
            Kind::Text if self.are(90, shape::is_place) => {
                Some(quasi("its values look like coordinates, which say where someone is"))
            }
            _ if is_number && is_place_name(name) => {
                Some(quasi("its name says coordinates, which say where someone is"))
            }
            _ => None,
        }
    }

    /// Long texts of many words that are mostly distinct.
    fn free_text(&self) -> Option<Suggested> {
        let is_long = self.bytes > 30 * self.distinct.max(1);
        let is_varied = self.distinct > 100 && self.distinct * 20 >= self.present;
        let has_many_words = || self.are(60, |text| text.split_whitespace().count() >= 5);
        let is_distinct = self.distinct >= 10 && self.distinct * 2 >= self.present;
        let is_free = (is_long && is_varied) || (is_distinct && has_many_words());
        if self.kind != Kind::Text || !is_free {
            return None;
        }
        Some(identifier("free text may hold anything, so it is dropped: never released"))
    }

    /// Values that only one row has, or nearly so under a name that says a number.
    fn near_unique(&self, name: &str, meaning: Option<&Meaning>) -> Option<Suggested> {
        let is_near_unique = self.present >= 20 && self.unique * 10 >= self.present * 9;
        let is_known = meaning.is_some_and(|meaning| meaning.role != "identifier");
        match self.kind {
            Kind::Text if is_near_unique => {
                Some(identifier("almost every row has a value of its own"))
            }
            Kind::Integer if is_near_unique && !is_known => {
                Some(identifier("almost every row has a value of its own"))
            }
            Kind::Text | Kind::Integer
                if is_number_name(name) && self.distinct * 2 > self.present =>
            {
                Some(identifier("its name and its many values say so"))
            }
            _ => None,
        }
    }

    fn people(&self) -> Option<Suggested> {
        let is_distinct = self.distinct >= 3 && self.distinct * 2 >= self.present;
        if self.kind != Kind::Text || !is_distinct || !self.are(80, shape::is_person) {
            return None;
        }
        Some(identifier("its values look like names of people"))
    }

    /// Digits that stand for something: years and postcodes.
    fn digits(&self) -> Option<Suggested> {
        if !matches!(self.kind, Kind::Integer | Kind::Text) {
            return None;
        }
        if self.are(95, shape::is_year) {
            return Some(quasi("its values look like years, which others often know"));
        }
        let is_of_one_length =
            (4..=6).any(|n| self.are(95, |text| shape::n_digits(text) == Some(n)));
        // Many share a postcode; it has a leading zero at times, and is no round number more often than others.
        let is_shared = self.distinct >= 3 && self.distinct * 2 <= self.present;
        let is_round = || self.are(40, |text| text.ends_with('0'));
        if is_of_one_length && (self.kind == Kind::Text || (is_shared && !is_round())) {
            return Some(quasi("its values look like postcodes, which others often know"));
        }
        None
    }

    fn otherwise(&self) -> Suggested {
        let (role, reason) = match self.kind {
            Kind::Integer | Kind::Decimal if self.distinct > 100 => {
                let singles_out = self.unique * 2 >= self.present;
                let reason = if singles_out {
                    "a measured number that most rows have to themselves: quasi if others know it"
                } else {
                    "a measured number; sensitive if people would mind"
                };
                ("insensitive", reason)
            }
            _ if self.distinct > 100 => {
                ("quasi", "values that are shared and that others may know")
            }
            _ => ("quasi", "few values that others may know"),
        };
        (role, reason.to_owned())
    }
}

#[cfg(test)]
mod tests;
