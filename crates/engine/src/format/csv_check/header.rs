//! Whether the first line of a file is a header, or a row that nobody gave a header.
//!
//! Nobody can tell for certain. A wrong yes costs the names of columns in messages; a wrong no prints a
//! row about a person. So one sign is enough.

/// Whether the names of columns look like the cells below them.
pub(super) fn looks_like_a_row(names: &[String], rows: &[Vec<String>]) -> bool {
    (names.iter().enumerate()).any(|(at, name)| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.trim());
        looks_like_a_cell(name.trim(), cells.filter(|cell| !cell.is_empty()))
    })
}

fn looks_like_a_cell<'a>(name: &str, cells: impl Iterator<Item = &'a str>) -> bool {
    if is_quantity(name) || is_address(name) {
        return true;
    }
    let shape = shape(name);
    // A code: so many letters and digits in this order.
    let is_code = name.len() >= 4 && shape.contains('9') && shape.contains('a');
    let (mut n_cells, mut n_alike) = (0, 0);
    for cell in cells {
        if cell == name {
            return true;
        }
        n_cells += 1;
        n_alike += usize::from(is_code && self::shape(cell) == shape);
    }
    n_alike >= 2 && 2 * n_alike > n_cells
}

/// A number, an amount, a date, a time or a number with a prefix such as +49: digits and the signs
/// that go with them.
fn is_quantity(name: &str) -> bool {
    const SIGNS: &str = "+-.,:/'% ()€$£#T Z\u{a0}\u{202f}";
    let has_digit = name.contains(|char: char| char.is_ascii_digit());
    has_digit && name.chars().all(|char| char.is_ascii_digit() || SIGNS.contains(char))
}

/// An e-mail address.
fn is_address(name: &str) -> bool {
    name.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'))
}

/// Letters as `a`, digits as `9`, the rest as it is.
fn shape(text: &str) -> String {
    let class = |char: char| match char {
        _ if char.is_alphabetic() => 'a',
        _ if char.is_numeric() => '9',
        other => other,
    };
    text.chars().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        let mut rows: Vec<Vec<String>> =
            (lines.iter()).map(|line| line.split(';').map(str::to_owned).collect()).collect();
        let header = rows.remove(0);
        assert_eq!(looks_like_a_row(&header, &rows), expected, "{lines:?}");
    }

    #[test]
    fn headers() {
        check(&["age;sex", "25;m", "31;f"], false);
        check(&["age;sex"], false);
        check(&["q1;income (€)", "a5;1", "b6;2", "c7;2"], false);
        check(&["Größe;prénom", "1,75;Zoé", ";"], false);
        check(&["x_1;x_2", "1;2", "3;4"], false);
    }

    #[test]
    fn rows() {
        check(&["25;Male;53711", "26;Female;53712"], true);
        check(&["ann;1,75"], true);
        check(&["Zoé;2024-01-31T10:00"], true);
        check(&["Zoé;31.01.1980", "x;y"], true);
        check(&["Zoé;+49 (30) 1234"], true);
        check(&["Male;Flu", "Female;Flu", "Male;Cold"], true);
        check(&["P-00917;Ann", "P-00918;Bob", "P-00919;Eve"], true);
        check(&["ann@example.org;x", "y;z"], true);
    }
}
