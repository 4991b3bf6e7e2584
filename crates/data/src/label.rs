//! The text of labels: how a recoded cell is written, and how it is read back.
//!
//! All labels are read and written here. What a label means does not depend on the other labels of
//! its column, only on whether the column is a line of numbers, dates or times.

/// The meaning of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// `*`: anything, missing included.
    Any,
    /// One value, or the name of a node of a hierarchy.
    Value(String),
    /// `[25-28]`: all values from the first to the second, both included.
    Closed(String, String),
    /// `[10-20)`: all values from the first up to, but not including, the second.
    HalfOpen(String, String),
    /// `<10`: all values below this one.
    Below(String),
    /// `>=20`: this value and all values above it.
    From(String),
    /// `{a|b}`: exactly these values; an empty member is a missing value.
    Set(Vec<Option<String>>),
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelsOf {
    /// Numbers, dates or times: regions may be open or half-open.
    Line,
    /// Texts, with an order or without one: `<18` is a value.
    Texts,
}

impl Label {
    /// Reads a label. A text that has no other form is a value.
    #[must_use]
    pub fn parse(text: &str, of: LabelsOf) -> Label {
        if text == "*" {
            return Label::Any;
        }
        if let Some(value) = text.strip_prefix('\\') {
            // Only a text that would be read as something else needs a backslash.
            let bare = text.trim_start_matches('\\');
            let is_needed = Label::parse(bare, of) != Label::Value(bare.to_owned());
            return Label::Value(if is_needed { value } else { text }.to_owned());
        }
        let found = match text.as_bytes() {
            [b'[', .., b']'] => {
                ends(&text[1..text.len() - 1]).map(|(lo, hi)| Label::Closed(lo, hi))
            }
            [b'[', .., b')'] if of == LabelsOf::Line => {
                ends(&text[1..text.len() - 1]).map(|(lo, hi)| Label::HalfOpen(lo, hi))
            }
            [b'{', .., b'}'] => members(&text[1..text.len() - 1]).map(Label::Set),
            [b'<', _, ..] if of == LabelsOf::Line => Some(Label::Below(text[1..].to_owned())),
            [b'>', b'=', _, ..] if of == LabelsOf::Line => Some(Label::From(text[2..].to_owned())),
            _ => None,
        };
        found.unwrap_or_else(|| Label::Value(text.to_owned()))
    }

    /// The text of a label. A value that would be read as something else gets a leading backslash.
    #[must_use]
    pub fn write(&self, of: LabelsOf) -> String {
        match self {
            Label::Any => "*".to_owned(),
            Label::Value(value) => value_label(value, of),
            Label::Closed(lo, hi) => closed_label(lo, hi),
            Label::HalfOpen(lo, hi) => half_open_label(lo, hi),
            Label::Below(end) => format!("<{end}"),
            Label::From(end) => format!(">={end}"),
            Label::Set(members) => {
                let members: Vec<String> =
                    members.iter().map(|member| member_label(member.as_deref())).collect();
                format!("{{{}}}", members.join("|"))
            }
        }
    }
}

/// The label of a single value.
#[must_use]
pub fn value_label(value: &str, of: LabelsOf) -> String {
    let may_differ = value.starts_with(['*', '\\', '[', '{', '<', '>']);
    if may_differ && Label::parse(value, of) != Label::Value(value.to_owned()) {
        format!("\\{value}")
    } else {
        value.to_owned()
    }
}

/// `[lo-hi]`, or `[lo..hi]` where an end contains a hyphen.
#[must_use]
pub fn closed_label(lo: &str, hi: &str) -> String {
    format!("[{}]", between(lo, hi))
}

/// `[lo-hi)`, or `[lo..hi)` where an end contains a hyphen.
#[must_use]
pub fn half_open_label(lo: &str, hi: &str) -> String {
    format!("[{})", between(lo, hi))
}

/// The label of a set of values, none of which is missing.
#[must_use]
pub fn values_label<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let members: Vec<String> = values.into_iter().map(|value| member_label(Some(value))).collect();
    format!("{{{}}}", members.join("|"))
}

/// An empty text, since an empty member is a missing value.
const EMPTY: &str = "{}";

/// A member of a set: a bar or backslash within it has a backslash before it.
fn member_label(member: Option<&str>) -> String {
    match member {
        None => String::new(),
        Some("") => EMPTY.to_owned(),
        Some(EMPTY) => format!("\\{EMPTY}"),
        Some(value) => value.replace('\\', "\\\\").replace('|', "\\|"),
    }
}

/// Both ends of a range with the separator.
fn between(lo: &str, hi: &str) -> String {
    let separator = if lo.contains('-') || hi.contains('-') { ".." } else { "-" };
    // The ends contain dots that could be taken for the separator.
    let is_dotted = lo.contains("..")
        || hi.contains("..")
        || separator == ".." && (lo.ends_with('.') || hi.starts_with('.'));
    let escaped = |end: &str| match end {
        "" => EMPTY.to_owned(),
        EMPTY => format!("\\{EMPTY}"),
        _ if is_dotted => end.replace('\\', "\\\\").replace('.', "\\."),
        _ => end.replace('\\', "\\\\"),
    };
    format!("{}{separator}{}", escaped(lo), escaped(hi))
}

/// The two ends of the text between brackets, if it can be read in only one way.
fn ends(inner: &str) -> Option<(String, String)> {
    let (mut dots, mut hyphen, mut n_hyphens) = (None, None, 0);
    let mut chars = inner.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => {
                chars.next();
            }
            '.' if dots.is_none() && matches!(chars.peek(), Some((_, '.'))) => dots = Some(at),
            '-' => {
                hyphen = hyphen.or(Some(at));
                n_hyphens += 1;
            }
            _ => {}
        }
    }
    let (lo, hi) = match (dots, hyphen) {
        (Some(at), _) => (&inner[..at], &inner[at + 2..]),
        (None, Some(at)) if n_hyphens == 1 => (&inner[..at], &inner[at + 1..]),
        _ => return None,
    };
    let ends = (end(lo)?, end(hi)?);
    // Other spellings of the same ends would be values.
    (between(&ends.0, &ends.1) == inner).then_some(ends)
}

/// An end of a range, or a member of a set, without its backslashes. It is not empty.
fn end(text: &str) -> Option<String> {
    match text {
        "" => None,
        EMPTY => Some(String::new()),
        _ => Some(unescaped(text)),
    }
}

fn unescaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        found.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    found
}

/// The members of a set: at least two, separated by bars.
fn members(inner: &str) -> Option<Vec<Option<String>>> {
    let mut members = Vec::new();
    let mut start = 0;
    let mut chars = inner.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => {
                chars.next();
            }
            '|' => {
                members.push(end(&inner[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(end(&inner[start..]));
    // Other spellings of the same members would be values.
    let written: Vec<String> =
        members.iter().map(|member| member_label(member.as_deref())).collect();
    (members.len() > 1 && written.join("|") == inner).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &Label, of: LabelsOf, text: &str) {
        assert_eq!(label.write(of), text);
        assert_eq!(&Label::parse(text, of), label, "{text}");
    }

    fn closed(lo: &str, hi: &str) -> Label {
        Label::Closed(lo.to_owned(), hi.to_owned())
    }

    #[test]
    fn labels_as_the_guide_shows_them() {
        let value = |text: &str| Label::Value(text.to_owned());
        let set = |members: &[Option<&str>]| {
            Label::Set(members.iter().map(|member| member.map(str::to_owned)).collect())
        };
        let (line, texts) = (LabelsOf::Line, LabelsOf::Texts);
        check(&Label::Any, line, "*");
        check(&closed("25", "28"), line, "[25-28]");
        check(&closed("-16.9", "-4.6"), line, "[-16.9..-4.6]");
        check(&closed("2024-01-03", "2024-02-11"), line, "[2024-01-03..2024-02-11]");
        check(&Label::HalfOpen("0.5".into(), "1".into()), line, "[0.5-1)");
        check(&Label::Below("-5".into()), line, "<-5");
        check(&Label::From("20".into()), line, ">=20");
        check(&closed("5th-6th", "10th"), texts, "[5th-6th..10th]");
        check(&closed("a..b", "c"), texts, r"[a\.\.b-c]");
        check(&closed("a-b.", "c"), texts, r"[a-b\...c]");
        check(&closed("", "{}"), texts, r"[{}-\{}]");
        check(&set(&[Some("Divorced"), Some("Widowed")]), texts, "{Divorced|Widowed}");
        check(&set(&[None, Some(""), Some("a|b"), Some("{}")]), texts, r"{|{}|a\|b|\{}}");
        check(&value("*"), texts, r"\*");
        check(&value("[1-2]"), texts, r"\[1-2]");
        check(&value("{a|b}"), texts, r"\{a|b}");
        check(&value(r"\*"), texts, r"\\*");
        for plain in [
            r"\", r"\x", r"\|a", "<18", ">=65", "[", "{", "{a}", "[a]", "[1-2", "[a-b-c]", "",
            " x ", "a|b",
        ] {
            check(&value(plain), texts, plain);
        }
    }

    /// All texts of some characters, up to a length.
    fn texts(alphabet: &[char], longest: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..longest {
            last = last
                .iter()
                .flat_map(|text| alphabet.iter().map(move |char| format!("{text}{char}")))
                .collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn every_label_of_hostile_texts_is_read_back() {
        let of = LabelsOf::Texts;
        let again = |label: &Label| assert_eq!(&Label::parse(&label.write(of), of), label);
        let hostile = texts(&['a', '-', '.', '|', '\\', '{', '}', '[', ']', '*'], 3);
        for text in &hostile {
            again(&Label::Value(text.clone()));
            // As the text between brackets, or as a set.
            again(&Label::Value(format!("[{text}]")));
            again(&Label::Value(format!("{{{text}}}")));
        }
        let short = texts(&['a', '-', '.', '|', '\\', '{', '}', ']'], 2);
        for a in &short {
            for b in &short {
                again(&Label::Closed(a.clone(), b.clone()));
                again(&Label::Set(vec![Some(a.clone()), Some(b.clone())]));
                again(&Label::Set(vec![None, Some(a.clone()), Some(b.clone())]));
            }
        }
    }

    #[test]
    fn a_label_has_one_spelling() {
        for of in [LabelsOf::Line, LabelsOf::Texts] {
            for text in texts(&['1', '-', '.', '|', '\\', '{', '}', '[', ']', ')', '<'], 5) {
                let label = Label::parse(&text, of);
                assert_eq!(label.write(of), text, "{label:?}");
            }
        }
    }
}
