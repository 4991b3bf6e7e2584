//! The forms of labels.

use incrowd_data::{Label, LabelsOf};

/// The form of a label.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form<'a> {
    /// An empty cell.
    Missing,
    /// Neither least nor greatest value: missing, or anything.
    Empty,
    /// `*`
    Star,
    /// One value, or the name of a node.
    Plain(&'a str),
    /// Least and greatest value, and the label.
    Closed(String, String, &'a str),
    /// The first value and the first one above, and the label.
    HalfOpen(String, String, &'a str),
    /// All values below a cut point, and the label.
    Below(&'a str, &'a str),
    /// All values from a cut point on, and the label.
    From(&'a str, &'a str),
    /// Least and greatest value.
    Bounds(&'a str, &'a str),
    /// The members of a set, and the label.
    Set(Vec<Option<String>>, &'a str),
    /// Digits followed by stars.
    Mask(&'a str),
    /// One bound without the other.
    Unknown,
}

/// The forms of labels; a `None` is a missing cell.
pub(super) fn forms<'a>(labels: &[Option<&'a str>]) -> Vec<Form<'a>> {
    labels.iter().map(|label| label.map_or(Form::Missing, form)).collect()
}

fn form(label: &str) -> Form<'_> {
    match Label::parse(label, LabelsOf::Line) {
        Label::Any => Form::Star,
        Label::Closed(lo, hi) => Form::Closed(lo, hi, label),
        Label::HalfOpen(lo, hi) => Form::HalfOpen(lo, hi, label),
        Label::Below(_) => Form::Below(&label[1..], label),
        Label::From(_) => Form::From(&label[2..], label),
        Label::Set(members) => Form::Set(members, label),
        Label::Value(value) => {
            // The rest of the label after a backslash.
            let value = &label[label.len() - value.len()..];
            let digits = value.trim_end_matches('*');
            let is_mask = digits.len() < value.len()
                && value.len() == label.len()
                && digits.bytes().all(|byte| byte.is_ascii_digit());
            if is_mask { Form::Mask(label) } else { Form::Plain(value) }
        }
    }
}

/// The range of numbers of digits followed by stars.
pub(super) fn masked(text: &str) -> Option<(f64, f64)> {
    let value = |digit: char| text.replace('*', &digit.to_string()).parse::<f64>().ok();
    value('0').zip(value('9')).filter(|_| text.len() <= 15)
}
