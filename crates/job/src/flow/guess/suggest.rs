//! The role that a column probably has, from its values and its name, with the reason.
//!
//! A suggestion errs on the side of caution. What numbers people, names them or may hold anything
//! is never released. Everything else is recoded, unless its name says that nobody should learn it
//! about a person. Only a column that says the same of every row is left as it is. How many rows
//! there are should not matter: the same column is judged alike in a day of data and in a year.
//! Values are looked at through a sample and are never quoted.

use incrowd_data::Kind;
use incrowd_engine::{Sample, Values};

use super::number::{Numbered, Sure, Whose, numbered};
use super::shape;
use super::words::{
    Meaning, is_own_name, is_place_name, is_quantity_name, is_remark_name, is_thing_name, meaning,
};

/// What is known of a column beside its name.
pub(crate) struct Facts<'a> {
    pub(crate) kind: Kind,
    /// Distinct values, missing not counted.
    pub(crate) distinct: u64,
    /// Rows whose value no other row has.
    pub(crate) unique: u64,
    /// Rows with a value.
    pub(crate) present: u64,
    /// Rows without one.
    pub(crate) missing: u64,
    /// Bytes of the distinct values.
    pub(crate) bytes: u64,
    /// Some of the distinct values.
    pub(crate) sample: &'a Sample,
}

/// A role and the reason for it.
#[derive(Clone, Debug)]
pub(crate) struct Suggested {
    pub(crate) role: &'static str,
    pub(crate) reason: String,
    /// Where the values number people and repeat: whose numbers they are.
    pub(crate) repeats: Option<Whose>,
}

/// Distinct values from which a column with the name or the form of numbers holds such numbers:
/// fewer may be a category.
const SEVERAL: u64 = 10;

/// Whether a value looks like something.
type LooksLike = fn(&str) -> bool;

/// Values that name a person or something that belongs to one, whatever their column is called, and
/// whose they are. Many people share a web page or a street address: those tell nobody apart.
const NAMING: [(LooksLike, &str, Option<Whose>); 12] = [
    (shape::is_email, "e-mail addresses", Some(Whose::Official)),
    (shape::is_url, "web addresses", None),
    (shape::is_ip_address, "IP addresses", Some(Whose::Document)),
    (shape::is_mac_address, "addresses of network devices", Some(Whose::Document)),
    (shape::is_uuid, "UUIDs", Some(Whose::Official)),
    (shape::is_social_security, "social security numbers", Some(Whose::Official)),
    (shape::is_state_number, "numbers that a state gives to people", Some(Whose::Official)),
    (shape::is_card, "payment card numbers", Some(Whose::Official)),
    (shape::is_iban, "bank account numbers", Some(Whose::Official)),
    (shape::is_phone, "telephone numbers", Some(Whose::Official)),
    (shape::is_address, "addresses", None),
    (shape::is_token, "hashes or other random keys", Some(Whose::Unknown)),
];

/// The role that a column of this name and these values probably has.
pub(crate) fn suggest(name: &str, facts: &Facts) -> Suggested {
    let meaning = meaning(name, facts.kind == Kind::Text);
    let meant = meaning.as_ref();
    let number = numbered(name);
    facts
        .naming()
        .or_else(|| facts.numbered_by_name(number))
        .or_else(|| facts.named_by_name(name, meant))
        .or_else(|| facts.constant(meant))
        .or_else(|| facts.when_or_where(name))
        .or_else(|| facts.free_text(name))
        .or_else(|| facts.near_unique(meant))
        .or_else(|| meant.map(by_meaning))
        .or_else(|| facts.people())
        .or_else(|| facts.numbered_by_shape(name))
        .or_else(|| facts.digits())
        .unwrap_or_else(|| facts.otherwise())
}

fn by_meaning(Meaning { role, word }: &Meaning) -> Suggested {
    Suggested { role, reason: format!("`{word}` in its name"), repeats: None }
}

fn quasi(reason: &str) -> Suggested {
    Suggested { role: "quasi", reason: reason.to_owned(), repeats: None }
}

fn identifier(reason: &str) -> Suggested {
    Suggested { role: "identifier", reason: reason.to_owned(), repeats: None }
}

impl Facts<'_> {
    /// Whether so many percent of the values are such.
    fn are(&self, percent: usize, is_such: impl Fn(&str) -> bool) -> bool {
        let (mut n_values, mut n_such) = (0, 0);
        for text in self.sample.texts() {
            n_values += 1;
            n_such += usize::from(is_such(whole(text)));
        }
        n_values > 0 && n_such * 100 >= n_values * percent
    }

    /// Numbers of people, which tell them apart where they repeat.
    fn number_of(&self, reason: &str, whose: Whose) -> Suggested {
        let repeats = (self.distinct < self.present && self.distinct > 1).then_some(whose);
        Suggested { repeats, ..identifier(reason) }
    }

    /// Whether there are at most so many rows for each value.
    fn has_few_rows_each(&self, most: u64) -> bool {
        self.present <= most * self.distinct
    }

    fn naming(&self) -> Option<Suggested> {
        if !matches!(self.kind, Kind::Text | Kind::Integer) {
            return None;
        }
        let (_, what, whose) = NAMING.iter().find(|(is_such, ..)| self.are(80, is_such))?;
        let reason = format!("its values look like {what}");
        Some(match *whose {
            Some(whose) => self.number_of(&reason, whose),
            None => identifier(&reason),
        })
    }

    /// Numbers of people by the name of the column and, as far as that is unsure, by its values.
    fn numbered_by_name(&self, number: Option<Numbered>) -> Option<Suggested> {
        let Numbered { sure, whose } = number?;
        let is_timed = matches!(self.kind, Kind::Date | Kind::Timestamp)
            || self.are(90, shape::is_date)
            || self.are(90, shape::is_compact_date);
        let is_unfit = self.kind == Kind::Boolean || self.is_fractional() || is_timed;
        let is_number = match sure {
            Sure::Yes => self.kind != Kind::Boolean,
            _ if is_unfit || self.distinct < 2 => false,
            Sure::Id => self.distinct >= 100 || self.has_few_rows_each(20),
            Sure::Number => self.distinct >= 100 || self.has_few_rows_each(5),
            Sure::Alone => {
                self.has_digits() && (self.distinct >= SEVERAL || self.has_few_rows_each(5))
            }
            Sure::Long => self.is_long_number(),
            Sure::Perhaps => self.is_key_like(),
        };
        is_number.then(|| {
            self.number_of("its name says that it numbers people or what is theirs", whose)
        })
    }

    /// Names of people and what leads to them, by the name of the column. What only one person has,
    /// such as an account, tells people apart where it repeats.
    fn named_by_name(&self, name: &str, meaning: Option<&Meaning>) -> Option<Suggested> {
        let is_timed = matches!(self.kind, Kind::Date | Kind::Timestamp | Kind::Boolean);
        let found = meaning.filter(|meaning| meaning.role == "identifier" && !is_timed)?;
        let suggested = by_meaning(found);
        if !is_own_name(name) {
            return Some(suggested);
        }
        Some(self.number_of(&suggested.reason, Whose::Official))
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
        Some(Suggested { role: "insensitive", ..quasi(reason) })
    }

    fn when_or_where(&self, name: &str) -> Option<Suggested> {
        let is_number = matches!(self.kind, Kind::Integer | Kind::Decimal);
        match self.kind {
            Kind::Date | Kind::Timestamp => Some(quasi("dates are often known to others")),
            Kind::Text if self.are(90, shape::is_date) => {
                Some(quasi("its values look like dates, which others often know"))
            }
            Kind::Integer | Kind::Text if self.are(95, shape::is_compact_date) => {
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

    /// Long texts of many words that are mostly distinct, and texts that are called remarks.
    fn free_text(&self, name: &str) -> Option<Suggested> {
        let is_long = self.bytes > 30 * self.distinct.max(1);
        let is_varied = self.distinct > 100 && self.distinct * 20 >= self.present;
        let has_many_words = || self.are(60, |text| text.split_whitespace().count() >= 5);
        let is_distinct = self.distinct >= 10 && self.distinct * 2 >= self.present;
        let is_remark = is_remark_name(name)
            && self.distinct >= 2
            && self.are(30, |text| text.split_whitespace().count() >= 3);
        let is_free = (is_long && is_varied) || (is_distinct && has_many_words()) || is_remark;
        if self.kind != Kind::Text || !is_free {
            return None;
        }
        Some(identifier("free text may hold anything, so it is dropped: never released"))
    }

    /// Values that only one row has, under a name that does not say that others know them.
    fn near_unique(&self, meaning: Option<&Meaning>) -> Option<Suggested> {
        let is_near_unique = self.present >= 20 && self.unique * 10 >= self.present * 9;
        let role = meaning.map_or("", |meaning| meaning.role);
        let is_own = match self.kind {
            Kind::Text => role != "quasi",
            Kind::Integer => role.is_empty(),
            _ => false,
        };
        if !is_near_unique || !is_own {
            return None;
        }
        Some(self.number_of("almost every row has a value of its own", Whose::Unknown))
    }

    fn people(&self) -> Option<Suggested> {
        let is_distinct =
            self.distinct >= 3 && (self.distinct * 2 >= self.present || self.distinct >= 200);
        if self.kind != Kind::Text || !is_distinct || !self.are(80, shape::is_person) {
            return None;
        }
        Some(identifier("its values look like names of people"))
    }

    /// Numbers of people by their shape: many distinct, few rows each, of one form, no quantity.
    fn numbered_by_shape(&self, name: &str) -> Option<Suggested> {
        if is_quantity_name(name) {
            return None;
        }
        if self.is_key_like() {
            let reason = "many values of one form for few rows each, as numbers of people are";
            return Some(self.number_of(reason, Whose::Unknown));
        }
        if !is_thing_name(name) && self.is_short_key() {
            let reason = "many numbers for few rows each, as numbers of people are; quasi if they \
                          are postcodes of a whole country";
            return Some(self.number_of(reason, Whose::Unknown));
        }
        None
    }

    /// Whether there are several values of three digits or more, for few rows each, and they are
    /// not rounded as amounts are.
    fn is_long_number(&self) -> bool {
        let n_digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        self.distinct >= SEVERAL
            && self.has_few_rows_each(20)
            && self.are(80, |text| n_digits(text) >= 3)
            && !self.are(25, |text| text.ends_with('0'))
    }

    /// Whether the values could be keys of four or five digits: many for very few rows each, and
    /// evenly spread. What is measured crowds somewhere, and so do years and the postcodes of the
    /// region that people come from; postcodes have many rows each and begin with a zero at times.
    fn is_short_key(&self) -> bool {
        let is_whole = self.kind == Kind::Integer
            || (self.kind == Kind::Decimal && !self.is_fractional())
            || (self.kind == Kind::Text && self.are(1, |text| text.starts_with("000")));
        let n_digits = |n: usize| self.are(95, |text| shape::n_digits(text) == Some(n));
        is_whole
            && self.distinct >= 200
            && self.has_few_rows_each(5)
            && (n_digits(4) || n_digits(5))
            && !self.are(50, shape::is_year)
            && !self.are(25, |text| text.ends_with('0'))
            && self.is_even()
    }

    /// Whether the values lie evenly between the least and the greatest.
    fn is_even(&self) -> bool {
        let numbers: Vec<u64> =
            self.sample.texts().filter_map(|text| whole(text).parse().ok()).collect();
        let (Some(&least), Some(&greatest)) = (numbers.iter().min(), numbers.iter().max()) else {
            return false;
        };
        let mut n_in = [0; 8];
        for number in &numbers {
            let eighth = (number - least).saturating_mul(8) / (greatest - least).saturating_add(1);
            if let Some(n) = usize::try_from(eighth).ok().and_then(|at| n_in.get_mut(at)) {
                *n += 1;
            }
        }
        // On average an eighth of them.
        n_in.iter().all(|n| (numbers.len()..=6 * numbers.len()).contains(&(24 * n)))
    }

    /// Whether the values could be keys: many, few rows each, of one form, and no quantity.
    fn is_key_like(&self) -> bool {
        if self.distinct >= SEVERAL && self.is_long_key() {
            return true;
        }
        let is_many = self.distinct >= 100 || (self.distinct >= 20 && self.has_few_rows_each(5));
        if !is_many || !self.has_few_rows_each(50) {
            return false;
        }
        match self.kind {
            Kind::Text => self.has_one_form(),
            Kind::Integer => self.has_one_length() || self.is_sequence(),
            Kind::Decimal => !self.is_fractional() && self.has_one_length(),
            _ => false,
        }
    }

    /// Whether the values are longer than codes of things are: then they are keys however many rows
    /// share one. `P-00123` has five digits beside its letters, a plain number eight.
    fn is_long_key(&self) -> bool {
        let has_digits = |least: usize| {
            self.are(90, |text| text.bytes().filter(u8::is_ascii_digit).count() >= least)
        };
        let begins_with_year = |text: &str| {
            text.get(..4).is_some_and(shape::is_year) && shape::n_digits(text).is_none()
        };
        match self.kind {
            Kind::Text => {
                let is_plain = self.are(90, |text| shape::n_digits(text).is_some());
                // Quarters and weeks are written so, too: `2024-W03`.
                let is_of_year = self.are(50, begins_with_year);
                let is_bare = self.are(90, |text| text.starts_with(char::is_alphanumeric));
                is_bare
                    && self.has_one_form()
                    && has_digits(if is_plain || is_of_year { 8 } else { 5 })
            }
            Kind::Integer => self.has_one_length() && has_digits(8),
            _ => false,
        }
    }

    /// Whether nearly all values are letters and digits in one order, with four digits at least.
    fn has_one_form(&self) -> bool {
        let Some(first) = self.sample.texts().next().map(|text| shape::form(text.trim())) else {
            return false;
        };
        // Amounts, times and shares are written with these alone.
        let is_amount = first.chars().all(|c| "9.,:+-% \u{20ac}$\u{a3}()".contains(c));
        let is_mere_digits = first == "9";
        let n_digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
        let has_blank = first.contains(char::is_whitespace);
        (is_mere_digits || !(is_amount || has_blank))
            && self.are(90, |text| shape::form(text) == first && n_digits(text) >= 4)
            && (!is_mere_digits || self.has_one_length())
    }

    /// Whether nearly all values have the same number of digits, six at least, and are not rounded.
    fn has_one_length(&self) -> bool {
        let is_round = || self.are(25, |text| text.ends_with('0'));
        (6..=24).any(|n| self.are(95, |text| shape::n_digits(text) == Some(n))) && !is_round()
    }

    /// Whether the values are nearly all whole numbers from a least to a greatest, as a counter
    /// gives them out. The sample tells how far they reach.
    fn is_sequence(&self) -> bool {
        let numbers = || self.sample.texts().filter_map(|text| text.trim().parse::<i64>().ok());
        let (Some(least), Some(greatest)) = (numbers().min(), numbers().max()) else {
            return false;
        };
        let reach = greatest.saturating_sub(least) as f64;
        self.distinct >= 500 && greatest >= 1000 && reach <= 1.3 * self.distinct as f64
    }

    /// Whether values are numbers with something behind the point.
    fn is_fractional(&self) -> bool {
        self.kind == Kind::Decimal && self.are(1, |text| text.contains('.'))
    }

    fn has_digits(&self) -> bool {
        self.are(80, |text| text.bytes().any(|byte| byte.is_ascii_digit()))
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
        // Many share a postcode; it has a leading zero at times, and is no round number more often
        // than others.
        let is_shared = self.distinct >= 3 && self.distinct * 2 <= self.present;
        let is_round = || self.are(40, |text| text.ends_with('0'));
        if is_of_one_length && (self.kind == Kind::Text || (is_shared && !is_round())) {
            return Some(quasi("its values look like postcodes, which others often know"));
        }
        None
    }

    fn otherwise(&self) -> Suggested {
        quasi(match self.kind {
            Kind::Integer | Kind::Decimal if self.distinct > 100 => {
                "a number that others may know; sensitive if they cannot and people would mind"
            }
            _ if self.distinct > 100 => "values that are shared and that others may know",
            _ => "few values that others may know",
        })
    }
}

/// A value without blanks around it and, where it is a whole number written as a decimal, without
/// its point: programs that know no missing whole numbers write `1234.0`.
fn whole(text: &str) -> &str {
    let text = text.trim();
    let stem = text.trim_end_matches('0').strip_suffix('.').unwrap_or(text);
    if shape::n_digits(stem).is_some() { stem } else { text }
}

#[cfg(test)]
mod tests;

/// What is known of a column all of whose values are known.
pub(crate) fn facts_of<'a>(values: &Values, n_rows: u64, sample: &'a Sample) -> Facts<'a> {
    let missing = values.n_missing();
    let n_values = values.texts.len();
    Facts {
        kind: values.natural_kind(),
        distinct: n_values as u64,
        unique: values.counts[..n_values].iter().filter(|&&count| count == 1).count() as u64,
        present: n_rows - missing,
        missing,
        bytes: values.texts.iter().map(|text| text.len() as u64).sum(),
        sample,
    }
}
