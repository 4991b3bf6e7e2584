//! The meaning of a label: the values that the cell can have, which are equally likely.

use std::collections::BTreeSet;

use incrowd_data::{Hierarchy, Kind, Level};

use super::domain::{Domain, Line, List, ListOrder, Parse};
use super::form::{Form, forms, leaf_forms, tree_forms};
use super::place::{Part, near, part_of};

/// The values that a cell can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The likely values, which are equally likely.
    pub values: Values,
    /// The probability that the cell is missing.
    pub missing: f64,
    /// Whether the cell may be missing at all.
    pub may_be_missing: bool,
    /// Whether the cell may also have a value that nothing mentions.
    pub is_open: bool,
    /// The mean of the class, if it is released.
    pub mean: Option<f64>,
    /// The range of possible keys, if it is larger than that of the likely ones: for a region
    /// without an end, or an end that is rounded.
    pub reach: Option<(f64, f64)>,
}

/// Values that are equally likely.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// None: the cell is missing, or nothing is known about its value.
    None,
    /// All keys from one to another on a line, both included.
    Range(f64, f64),
    /// All values from one to another of a list, both included.
    Run(u32, u32),
    /// Some values of a list, ascending.
    Set(Vec<u32>),
    /// Unknown except for their mean.
    About(f64),
}

impl Spread {
    fn of(values: Values) -> Spread {
        Spread {
            values,
            missing: 0.0,
            may_be_missing: false,
            is_open: false,
            mean: None,
            reach: None,
        }
    }

    fn missing() -> Spread {
        Spread { missing: 1.0, may_be_missing: true, ..Spread::of(Values::None) }
    }

    /// Anything, including a missing value; `values` are the likely ones.
    fn star(values: Values, missing: f64, is_open: bool) -> Spread {
        Spread { missing, may_be_missing: true, is_open, ..Spread::of(values) }
    }
}

/// What is known about a column's labels.
#[derive(Clone, Debug, PartialEq)]
pub enum LabelKnowledge {
    /// Nothing: labels are recognised by their form.
    Nothing,
    /// Every text is a value of the column, of this kind if given.
    Plain(Option<Kind>),
    /// Recoded values of this kind, in no hierarchy.
    Kind(Kind),
    /// Unordered values: these and those in the labels.
    Values(Vec<String>),
    /// Values in a declared order.
    Order(Vec<String>),
    /// Leaves and nodes of a hierarchy.
    Tree(Hierarchy),
    /// Leaves of a hierarchy, in a table that is not recoded: a text that is a leaf is just that.
    Leaves(Hierarchy),
    /// Means of classes.
    Means {
        /// Whether the column holds numbers for certain; otherwise labels that are not numbers are
        /// recognised by their form.
        is_number: bool,
        /// Whether a class may have missing cells in addition to the values of its mean.
        may_miss: bool,
    },
}

/// Values of a line that are possible in addition to those of the labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The least.
    pub lo: f64,
    /// The greatest.
    pub hi: f64,
    /// Whether all values of the column are inside.
    pub is_whole: bool,
    /// Whether the column has missing cells.
    pub has_missing: bool,
}

/// Labels that cannot be understood, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub Vec<usize>);

/// The meanings of the distinct labels of a column; `span` has additional possible values.
pub fn read_labels(
    labels: &[Option<&str>],
    known: &LabelKnowledge,
    span: Option<Span>,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    match known {
        LabelKnowledge::Nothing => by_form(labels, span, parse),
        LabelKnowledge::Plain(kind) => plain(labels, *kind, parse),
        LabelKnowledge::Kind(kind) if kind.is_numeric() => {
            on_line(&forms(labels), *kind, span, parse)
        }
        LabelKnowledge::Kind(Kind::Boolean) => {
            let forms = forms(labels);
            sets(&forms, &both_truths(&forms), Hidden::Nothing, parse)
        }
        LabelKnowledge::Kind(_) => sets(&forms(labels), &[], Hidden::InStars, parse),
        LabelKnowledge::Values(values) => sets(&forms(labels), values, Hidden::Nothing, parse),
        LabelKnowledge::Order(texts) => {
            let list = List::new(texts.clone(), ListOrder::Declared, parse);
            let list = List { what: Some("declared order"), ..list };
            in_list(&forms(labels), list, None, false)
        }
        LabelKnowledge::Tree(hierarchy) => {
            let list = List::natural(hierarchy.leaves().map(str::to_owned).collect(), parse);
            let list = List { what: Some("hierarchy"), ..list };
            in_list(&tree_forms(labels, hierarchy), list, Some(hierarchy), false)
        }
        LabelKnowledge::Leaves(hierarchy) => {
            let list = List::natural(hierarchy.leaves().map(str::to_owned).collect(), parse);
            let list = List { what: Some("hierarchy"), ..list };
            in_list(&leaf_forms(labels, hierarchy), list, Some(hierarchy), false)
        }
        LabelKnowledge::Means { is_number, may_miss } => {
            let means = of_means(labels, *may_miss, parse);
            let says_something = labels.iter().flatten().any(|label| *label != "*");
            match means {
                Ok(found) if *is_number || says_something => Ok(found),
                Err(unreadable) if *is_number => Err(unreadable),
                _ => by_form(labels, span, parse),
            }
        }
    }
}

/// The meanings of labels in two columns, least and greatest value.
pub fn read_bounds(
    labels: &[(Option<&str>, Option<&str>)],
    known: &LabelKnowledge,
    span: Option<Span>,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let forms: Vec<Form> = labels
        .iter()
        .map(|pair| match pair {
            // A suppressed row.
            (Some("*"), Some("*")) => Form::Star,
            (Some(lo), Some(hi)) if lo == hi => Form::Plain(lo),
            (Some(lo), Some(hi)) => Form::Bounds(lo, hi),
            (None, None) => Form::Empty,
            _ => Form::Unknown,
        })
        .collect();
    match known {
        LabelKnowledge::Order(texts) => {
            let list = List::new(texts.clone(), ListOrder::Declared, parse);
            in_list(&forms, List { what: Some("declared order"), ..list }, None, false)
        }
        LabelKnowledge::Kind(kind) if kind.is_numeric() => on_line(&forms, *kind, span, parse),
        _ => on_some_line(&forms, &LINE_KINDS, span, parse)
            .ok_or_else(|| Unreadable((0..labels.len()).collect())),
    }
}

const LINE_KINDS: [Kind; 4] = [Kind::Integer, Kind::Decimal, Kind::Date, Kind::Timestamp];

/// Every text is a value.
fn plain(
    labels: &[Option<&str>],
    kind: Option<Kind>,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let forms: Vec<Form> =
        labels.iter().map(|label| label.map_or(Form::Missing, Form::Plain)).collect();
    let candidates: &[Kind] = match &kind {
        Some(kind) if kind.is_numeric() => std::slice::from_ref(kind),
        Some(_) => &[],
        None => &LINE_KINDS,
    };
    let has_values = labels.iter().any(Option::is_some);
    let line = on_some_line(&forms, candidates, None, parse);
    match line {
        Some(found) if has_values || kind.is_some() => Ok(found),
        _ => sets(&forms, &[], Hidden::Nothing, parse),
    }
}

/// The narrowest reading that fits all labels.
fn by_form(
    labels: &[Option<&str>],
    span: Option<Span>,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let forms = forms(labels);
    let says_something = |form: &Form| !matches!(form, Form::Missing | Form::Star);
    if !forms.iter().any(says_something) && forms.contains(&Form::Star) {
        // Only stars: their domain is unknown.
        return Err(Unreadable((0..labels.len()).collect()));
    }
    if forms.iter().any(says_something) {
        if let Some(found) = padded(&forms) {
            return Ok(found);
        }
        if let Some(found) = on_some_line(&forms, &LINE_KINDS, span, parse) {
            return Ok(found);
        }
    }
    // A single star that had a backslash before it is a value.
    let is_masked =
        |form: &Form| matches!(form, Form::Plain(text) if text.contains('*') && *text != "*");
    let hidden: Vec<usize> = (0..forms.len()).filter(|&at| is_masked(&forms[at])).collect();
    if !hidden.is_empty() {
        return Err(Unreadable(hidden));
    }
    let is_truth = |form: &Form| match form {
        Form::Plain(text) => is_boolean(text),
        Form::Missing | Form::Star => true,
        Form::Set(members, _) => members.iter().flatten().all(|member| is_boolean(member)),
        _ => false,
    };
    let is_boolean = forms.contains(&Form::Star) && forms.iter().all(is_truth);
    let truths = if is_boolean { both_truths(&forms) } else { Vec::new() };
    sets(&forms, &truths, Hidden::Anywhere, parse)
}

fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

/// `true` and `false`, except those that labels spell differently.
fn both_truths(forms: &[Form]) -> Vec<String> {
    let is_written = |truth: &str| {
        forms.iter().any(|form| match form {
            Form::Plain(text) => text.eq_ignore_ascii_case(truth),
            Form::Set(members, _) => {
                members.iter().flatten().any(|member| member.eq_ignore_ascii_case(truth))
            }
            _ => false,
        })
    };
    ["false", "true"].into_iter().filter(|truth| !is_written(truth)).map(str::to_owned).collect()
}

/// Codes of digits, all of the same length, some of which start with zero or end in stars.
fn padded(forms: &[Form]) -> Option<(Domain, Vec<Spread>)> {
    let mut width = None;
    let mut is_needed = false;
    for form in forms {
        let (text, is_mask) = match form {
            Form::Plain(text) => (text, false),
            Form::Mask(text) => (text, true),
            Form::Missing | Form::Star => continue,
            _ => return None,
        };
        let is_code = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*');
        if !is_code || width.is_some_and(|width| width != text.len()) || text.len() > 15 {
            return None;
        }
        width = Some(text.len());
        is_needed |= is_mask || (text.len() > 1 && text.starts_with('0'));
    }
    let parse: Parse = |_, text| text.parse().ok();
    let (domain, spreads) =
        is_needed.then(|| on_line(forms, Kind::Integer, None, parse).ok()).flatten()?;
    let Domain::Line(line) = domain else { return None };
    Some((Domain::Line(Line { width, ..line }), spreads))
}

/// Labels as points and ranges of a line.
fn on_line(
    forms: &[Form],
    kind: Kind,
    span: Option<Span>,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let mut unreadable = Vec::new();
    let mut parts: Vec<Option<Part>> = Vec::with_capacity(forms.len());
    for (at, form) in forms.iter().enumerate() {
        let part = part_of(form, kind, parse);
        if part.is_none() && !matches!(form, Form::Missing | Form::Empty | Form::Star) {
            unreadable.push(at);
        }
        parts.push(part);
    }
    if !unreadable.is_empty() {
        return Err(Unreadable(unreadable));
    }
    let spanned = span.map(|span| (span.lo, span.hi));
    let mut ranges: Vec<Option<(f64, f64)>> =
        parts.iter().map(|part| part.map(|part| part.ends)).collect();
    close(&mut ranges, spanned);
    let covered = ranges.iter().flatten().copied().chain(spanned);
    let (lo, hi) =
        covered.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    let line = Line { kind, width: None, lo, hi };
    let all = if lo > hi { Values::None } else { Values::Range(lo, hi) };
    let is_open = !span.is_some_and(|span| span.is_whole);
    let has_missing = forms.contains(&Form::Missing) || span.is_some_and(|span| span.has_missing);
    // If values can be counted, missing counts as one more value.
    let is_counted = line.is_discrete() && lo <= hi;
    let missing = if has_missing && is_counted { 1.0 / (hi - lo + 2.0) } else { 0.0 };
    let spread = |(form, range): (&Form, &Option<(f64, f64)>)| match (form, range) {
        (Form::Missing, _) => Spread::missing(),
        (Form::Empty, _) => Spread::star(all.clone(), 1.0, is_open),
        (_, Some((lo, hi))) => Spread::of(Values::Range(*lo, *hi)),
        (_, None) => Spread::star(all.clone(), missing, is_open),
    };
    let spreads = forms.iter().zip(&ranges).map(spread).zip(&parts).map(|(spread, part)| {
        let reach = part.and_then(|part| part.reach);
        Spread { reach, ..spread }
    });
    Ok((Domain::Line(line), spreads.collect()))
}

/// Gives regions without an end one: that of the span if it is beyond, otherwise at the distance of
/// the widest region with two ends. A release does not say how far its values extend.
fn close(ranges: &mut [Option<(f64, f64)>], span: Option<(f64, f64)>) {
    let widths = ranges.iter().flatten().map(|(lo, hi)| hi - lo).filter(|width| width.is_finite());
    let width = widths.fold(0.0, f64::max);
    for (lo, hi) in ranges.iter_mut().flatten() {
        if lo.is_infinite() {
            *lo = span.map_or(f64::INFINITY, |span| span.0).min(*hi - width);
        }
        if hi.is_infinite() {
            *hi = span.map_or(f64::NEG_INFINITY, |span| span.1).max(*lo + width);
        }
    }
}

/// Labels on a line of the first kind that all of them allow. Numbers that a float cannot tell
/// apart are on a line only if there are ranges of them; otherwise they are texts, which can be
/// equal.
fn on_some_line(
    forms: &[Form],
    kinds: &[Kind],
    span: Option<Span>,
    parse: Parse,
) -> Option<(Domain, Vec<Spread>)> {
    let is_one = |form: &Form| {
        matches!(form, Form::Missing | Form::Empty | Form::Star | Form::Plain(_) | Form::Mask(_))
    };
    let may_round = !forms.iter().all(is_one);
    let allows = |form: &Form, kind: Kind| {
        matches!(form, Form::Missing | Form::Empty | Form::Star)
            || part_of(form, kind, parse).is_some_and(|part| may_round || !part.is_rounded)
    };
    // The first labels rule out most kinds.
    let mut likely = kinds.iter().filter(|kind| forms.iter().take(100).all(|f| allows(f, **kind)));
    likely.find_map(|&kind| {
        let is_allowed = may_round || forms.iter().all(|form| allows(form, kind));
        is_allowed.then(|| on_line(forms, kind, span, parse).ok()).flatten()
    })
}

/// Where unnamed values may hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    /// All values are known.
    Nothing,
    /// A star may be any value.
    InStars,
    /// Any label may be a node of a hierarchy.
    Anywhere,
}

/// Labels as values and sets of values.
fn sets(
    forms: &[Form],
    values: &[String],
    hidden: Hidden,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let is_open = hidden == Hidden::Anywhere;
    let mut found: BTreeSet<&str> = values.iter().map(String::as_str).collect();
    let mut unreadable = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        match form {
            Form::Plain(text) => {
                found.insert(text);
            }
            // A value that looks like another form, in a column without such labels.
            Form::Mask(label) | Form::Closed(.., label) | Form::HalfOpen(.., label) if !is_open => {
                found.insert(label);
            }
            // In a column of texts these are values.
            Form::Below(_, label) | Form::From(_, label) => {
                found.insert(label);
            }
            Form::Set(members, _) => found.extend(members.iter().flatten().map(String::as_str)),
            Form::Missing | Form::Empty | Form::Star => {}
            _ => unreadable.push(at),
        }
    }
    if !unreadable.is_empty() {
        return Err(Unreadable(unreadable));
    }
    let texts = found.into_iter().map(str::to_owned).collect();
    let list = List::natural(texts, parse);
    in_list(forms, List { is_open, ..list }, None, hidden != Hidden::Nothing)
}

/// Labels as values, ranges, sets and nodes of a list.
fn in_list(
    forms: &[Form],
    list: List,
    hierarchy: Option<&Hierarchy>,
    is_star_open: bool,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let places: std::collections::BTreeMap<&str, u32> =
        list.texts.iter().map(String::as_str).zip(0u32..).collect();
    let code = |text: &str| places.get(text).copied();
    let has_missing = forms.iter().any(|form| match form {
        Form::Missing => true,
        Form::Set(members, _) => members.contains(&None),
        _ => false,
    });
    let top = u32::try_from(list.texts.len()).expect("fewer values than 2^32").checked_sub(1);
    let all = top.map_or(Values::None, |top| Values::Run(0, top));
    let leaves = |text: &str| node(hierarchy, text).or_else(|| code(text).map(|code| (code, code)));
    let whole = |text: &str| leaves(text).map(|(lo, hi)| Spread::of(Values::Run(lo, hi)));
    let mut unreadable = Vec::new();
    let mut spreads = Vec::with_capacity(forms.len());
    for (at, form) in forms.iter().enumerate() {
        let spread = match form {
            Form::Missing => Some(Spread::missing()),
            Form::Star => Some({
                let is_counted = has_missing && top.is_some();
                let missing =
                    if is_counted { 1.0 / (f64::from(top.unwrap_or(0)) + 2.0) } else { 0.0 };
                Spread::star(all.clone(), missing, is_star_open)
            }),
            Form::Empty => Some(Spread::star(all.clone(), 1.0, is_star_open)),
            Form::Leaf(text) => code(text).map(|code| Spread::of(Values::Run(code, code))),
            Form::Plain(text) | Form::Mask(text) => whole(text),
            Form::HalfOpen(.., label) | Form::Below(_, label) | Form::From(_, label) => {
                whole(label)
            }
            Form::Bounds(lo, hi) => code(lo)
                .zip(code(hi))
                .filter(|(lo, hi)| lo <= hi)
                .map(|(lo, hi)| Spread::of(Values::Run(lo, hi))),
            Form::Closed(lo, hi, label) => whole(label).or_else(|| {
                let ends = code(lo).zip(code(hi)).filter(|(lo, hi)| lo <= hi);
                ends.map(|(lo, hi)| Spread::of(Values::Run(lo, hi)))
            }),
            // Of a hierarchy, a value that looks like a set has a backslash before it. Otherwise it
            // may be of a table of values.
            Form::Set(members, label) => {
                (if hierarchy.is_some() { node(hierarchy, label) } else { leaves(label) })
                    .map(|(lo, hi)| Spread::of(Values::Run(lo, hi)))
                    .or_else(|| set(members, leaves))
                    .or_else(|| whole(label))
            }
            Form::Unknown => None,
        };
        match spread {
            Some(spread) => spreads.push(spread),
            None => unreadable.push(at),
        }
    }
    if unreadable.is_empty() {
        Ok((Domain::List(list), spreads))
    } else {
        Err(Unreadable(unreadable))
    }
}

/// The leaves below the highest node of a label. If a node below it has the same label, the label
/// is ambiguous.
fn node(hierarchy: Option<&Hierarchy>, label: &str) -> Option<(u32, u32)> {
    let hierarchy = hierarchy?;
    (1..=hierarchy.height().0).rev().find_map(|level| {
        let mut groups = hierarchy.groups(Level(level)).iter();
        groups.find(|group| group.label == label).map(|group| (group.lo, group.hi))
    })
}

/// The values of a set: leaves, or all leaves of nodes.
fn set(members: &[Option<String>], leaves: impl Fn(&str) -> Option<(u32, u32)>) -> Option<Spread> {
    let runs = members.iter().flatten().map(|member| leaves(member));
    let runs = runs.collect::<Option<Vec<(u32, u32)>>>()?;
    let mut codes: Vec<u32> = runs.into_iter().flat_map(|(lo, hi)| lo..=hi).collect();
    codes.sort_unstable();
    codes.dedup();
    let may_be_missing = members.contains(&None);
    let missing = if may_be_missing { 1.0 / (codes.len() as f64 + 1.0) } else { 0.0 };
    Some(Spread { missing, may_be_missing, ..Spread::of(Values::Set(codes)) })
}

/// Means of classes: nothing else is known about their values.
fn of_means(
    labels: &[Option<&str>],
    may_miss: bool,
    parse: Parse,
) -> Result<(Domain, Vec<Spread>), Unreadable> {
    let mut unreadable = Vec::new();
    let mut spreads = Vec::new();
    let mut keys: Vec<f64> = Vec::new();
    // A class with some missing cells has a mean like any other.
    let may_be_missing = may_miss || labels.iter().any(Option::is_none);
    for (at, label) in labels.iter().enumerate() {
        let mean = label.and_then(|text| near(Kind::Decimal, text, parse)).map(|(at, _)| at);
        match (label, mean) {
            // Apparently no value, but the mean may have been withheld.
            (None, _) => {
                let values = Values::About(f64::NAN);
                spreads.push(Spread { missing: 1.0, ..Spread::of(values) });
            }
            (_, Some(mean)) => {
                keys.push(mean);
                let spread = Spread::of(Values::About(mean));
                spreads.push(Spread { mean: Some(mean), may_be_missing, ..spread });
            }
            // A suppressed row: anything.
            (Some("*"), None) => spreads.push(Spread::of(Values::About(f64::NAN))),
            (Some(_), None) => unreadable.push(at),
        }
    }
    if !unreadable.is_empty() {
        return Err(Unreadable(unreadable));
    }
    let (lo, hi) = keys
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &key| (lo.min(key), hi.max(key)));
    for spread in &mut spreads {
        if matches!(spread.values, Values::About(mean) if mean.is_nan()) {
            let all = if lo > hi { Values::None } else { Values::Range(lo, hi) };
            *spread = Spread::star(all, spread.missing, true);
        }
    }
    Ok((Domain::Line(Line { kind: Kind::Decimal, width: None, lo, hi }), spreads))
}
