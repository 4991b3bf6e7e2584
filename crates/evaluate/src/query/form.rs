//! How labels are written.

/// How a label is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form<'a> {
    /// An empty cell.
    Missing,
    /// Neither least nor greatest value: missing, or anything.
    Empty,
    /// `*`
    Star,
    /// Anything else.
    Plain(&'a str),
    /// What stands between brackets, and the label.
    Brackets(&'a str, &'a str),
    /// Least and greatest value.
    Bounds(&'a str, &'a str),
    /// The members of a set, and the label.
    Set(Vec<String>, &'a str),
    /// Digits and then stars.
    Mask(&'a str),
    /// One bound without the other.
    Unknown,
}

/// The forms of labels; none is a missing cell.
pub(super) fn forms<'a>(labels: &[Option<&'a str>]) -> Vec<Form<'a>> {
    labels.iter().map(|label| label.map_or(Form::Missing, form)).collect()
}

fn form(label: &str) -> Form<'_> {
    if label == "*" {
        return Form::Star;
    }
    let inner = label.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(inner) = inner.filter(|inner| inner.contains('-')) {
        return Form::Brackets(inner, label);
    }
    if let Some(inner) = label.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        let members = members(inner);
        if members.len() > 1 {
            return Form::Set(members, label);
        }
    }
    let digits = label.trim_end_matches('*');
    if digits.len() < label.len() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Form::Mask(label);
    }
    Form::Plain(label)
}

/// The values between bars; a bar or backslash within a value has a backslash before it.
fn members(inner: &str) -> Vec<String> {
    let mut members = vec![String::new()];
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        let member = members.last_mut().expect("one is open");
        match char {
            '\\' => member.extend(chars.next()),
            '|' => members.push(String::new()),
            _ => member.push(char),
        }
    }
    members
}

/// The two ends of `a-b`: at the dash that leaves a value on both sides, the first not after the second.
pub(super) fn ends<T: PartialOrd>(
    inner: &str,
    value: impl Fn(&str) -> Option<T>,
) -> Option<(T, T)> {
    inner.match_indices('-').find_map(|(at, _)| {
        let (lo, hi) = (value(&inner[..at])?, value(&inner[at + 1..])?);
        (lo <= hi).then_some((lo, hi))
    })
}

/// The numbers that digits with stars behind them stand for.
pub(super) fn masked(text: &str) -> Option<(f64, f64)> {
    let value = |digit: char| text.replace('*', &digit.to_string()).parse::<f64>().ok();
    value('0').zip(value('9')).filter(|_| text.len() <= 15)
}
