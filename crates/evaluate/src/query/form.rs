//! The forms of labels.

use std::collections::BTreeSet;

use incrowd_data::{Hierarchy, Label, LabelsOf, Level};

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
    /// A leaf of a hierarchy, and no node of the same name.
    Leaf(&'a str),
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

/// The forms of labels of a hierarchy. A name with a backslash before it is that of a leaf if no
/// node but the root has it: a root is released as it is.
pub(super) fn tree_forms<'a>(labels: &[Option<&'a str>], hierarchy: &Hierarchy) -> Vec<Form<'a>> {
    let leaves: BTreeSet<&str> = hierarchy.leaves().collect();
    let is_inner = |name: &str| {
        let mut levels = (1..hierarchy.height().0).map(|level| hierarchy.groups(Level(level)));
        levels.any(|groups| groups.iter().any(|group| group.label == name))
    };
    let is_leaf = |label: &str, name: &str| {
        label.len() > name.len() && leaves.contains(name) && !is_inner(name)
    };
    let form = |label| match form(label) {
        Form::Plain(name) if is_leaf(label, name) => Form::Leaf(name),
        form => form,
    };
    labels.iter().map(|label| label.map_or(Form::Missing, form)).collect()
}

/// The forms of values of which most are leaves: none of them is a label. Other texts may be nodes.
pub(super) fn leaf_forms<'a>(texts: &[Option<&'a str>], hierarchy: &Hierarchy) -> Vec<Form<'a>> {
    let leaves: BTreeSet<&str> = hierarchy.leaves().collect();
    let form = |text| if leaves.contains(text) { Form::Leaf(text) } else { Form::Plain(text) };
    texts.iter().map(|text| text.map_or(Form::Missing, form)).collect()
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
