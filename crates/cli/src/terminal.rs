//! The one place where text leaves for a terminal, a pipe or a file.
//!
//! Names of columns and files and texts of job files come from outside. Whatever they hold, they
//! must not move the cursor, colour the screen, hide or reorder text: characters that would are
//! written as escapes.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};

use incrowd_job::JobError;

/// Whether a character shows something else than itself: it controls the terminal, changes the
/// direction of text, or has no width.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text that takes one line and shows all that it holds.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |char, into| into.extend(char.escape_default()))
}

/// The same for a text of several lines of ours.
fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_hidden = |char| char != '\n' && is_hidden(char);
    escaped(text, is_hidden, |char, into| into.extend(char.escape_default()))
}

/// The same for JSON, which stays the same JSON.
fn visible_json(text: &str) -> Cow<'_, str> {
    let is_hidden = |char| char != '\n' && is_hidden(char);
    escaped(text, is_hidden, |char, into| {
        for unit in char.encode_utf16(&mut [0; 2]) {
            into.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

fn escaped(
    text: &str,
    is_hidden: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_hidden(char) { escape(char, &mut shown) } else { shown.push(char) }
    }
    Cow::Owned(shown)
}

/// Writes a line to standard error. Nobody can be told if that fails.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", visible(text));
}

/// Replaces the line of standard error that shows progress.
pub(crate) fn status(line: &str) {
    let _ = write!(std::io::stderr(), "\r\x1b[2K{}", visible(line));
}

/// Writes lines of text to standard output.
pub(crate) fn text(text: &str) -> Result<(), JobError> {
    out(visible_lines(text).as_bytes())
}

/// Writes JSON to standard output.
pub(crate) fn json(text: &str) -> Result<(), JobError> {
    out(visible_json(text).as_bytes())
}

/// Writes what is to be a file to standard output: its very bytes, unless a person reads them.
pub(crate) fn file(content: &str) -> Result<(), JobError> {
    if std::io::stdout().is_terminal() { text(content) } else { out(content.as_bytes()) }
}

fn out(bytes: &[u8]) -> Result<(), JobError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // Whoever reads has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done.map_err(JobError::Print),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_or_hides_text_gets_through() {
        assert_eq!(visible("a\x1b[31mb\u{9b}"), r"a\u{1b}[31mb\u{9b}");
        assert_eq!(visible("a\nb\r\tc\u{7f}\0"), r"a\nb\r\tc\u{7f}\u{0}");
        assert_eq!(
            visible("a\u{202e}b\u{200b}\u{feff}\u{2066}"),
            r"a\u{202e}b\u{200b}\u{feff}\u{2066}"
        );
        assert_eq!(visible("Größe 名前 😀 `x`"), "Größe 名前 😀 `x`");
        assert_eq!(visible_lines("a\n\x1bb\n"), "a\n\\u{1b}b\n");
    }

    #[test]
    fn json_stays_the_same() {
        let text = "{\n  \"a\u{202e}\u{e0041}\u{9b}\": 1\n}";
        let shown = visible_json(text);
        assert_eq!(shown, "{\n  \"a\\u202e\\udb40\\udc41\\u009b\": 1\n}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(text), value(&shown));
    }
}
