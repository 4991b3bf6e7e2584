//! Whether the first line of a file is a header, or a row that nobody gave a header.
//!
//! Nobody can tell for certain. A wrong yes costs the names of columns in messages; a wrong no
//! prints a row about a person. So one sign of a row is enough; and where there is none, one of a
//! header is needed: a name that columns often have, or one that is not written as the cells below
//! it are.

/// Words that columns are often called by, in lower case. They are seldom cells.
const WORDS: &str = "\
    id name age sex gender date time year month day birth born dob zip zipcode postcode postal city \
    state country county region district address street phone email patient person customer client \
    user member employee student subject case record visit admission discharge diagnosis disease \
    condition symptom treatment drug medication ward department dept unit hospital clinic doctor \
    status type kind class category group code number no nr key value score level rate count total \
    amount price cost income salary wage job occupation profession education school degree marital \
    religion race ethnicity nationality language relationship workclass insurance policy account \
    product item order invoice vehicle comment remark note description title label target result \
    test lab weight height first last surname forename firstname lastname household family party \
    vorname nachname alter geschlecht geburtsdatum datum plz ort stadt land beruf diagnose station \
    patientin kunde nummer klinik familienstand einkommen gehalt krankheit strasse \
    nom prenom sexe naissance ville pays profession diagnostic adresse maladie \
    nombre apellido sexo edad ciudad pais fecha diagnostico profesion enfermedad \
    nome cognome sesso eta citta paese data diagnosi professione malattia \
    naam voornaam achternaam geslacht leeftijd plaats beroep geboortedatum ziekte \
    idade cidade profissao doenca imie nazwisko plec wiek miasto zawod kraj choroba";

/// Whether the names of columns look like the cells below them.
pub(super) fn looks_like_a_row(names: &[String], rows: &[Vec<String>]) -> bool {
    let cells_of = |at: usize| {
        let cells = rows.iter().filter_map(move |row| row.get(at)).map(|cell| cell.trim());
        cells.filter(|cell| !cell.is_empty())
    };
    let columns = || names.iter().map(|name| name.trim()).enumerate();
    let has_cells = columns().any(|(at, _)| cells_of(at).next().is_some());
    columns().any(|(at, name)| looks_like_a_cell(name, cells_of(at)))
        || (has_cells && !columns().any(|(at, name)| looks_like_a_name(name, cells_of(at))))
}

/// Whether a cell of the first line is one that a header has.
fn looks_like_a_name<'a>(name: &str, cells: impl Iterator<Item = &'a str>) -> bool {
    const MISSING: &str = "na n/a nan nil null none missing unknown";
    let lower = name.to_lowercase();
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    if !name.contains(char::is_alphabetic) || is_in(MISSING, &lower) {
        return false;
    }
    let is_known = |word: &String| {
        is_in(WORDS, word) || word.strip_suffix('s').is_some_and(|word| is_in(WORDS, word))
    };
    let is_letter = name.chars().next().is_some_and(char::is_alphabetic)
        && name.chars().skip(1).all(|char| char.is_ascii_digit())
        && name.len() <= 3;
    if is_letter || words(name).iter().any(is_known) {
        return true;
    }
    let (mut n_cells, mut n_numbers, mut n_plain) = (0, 0, 0);
    for cell in cells {
        n_cells += 1;
        n_numbers += usize::from(is_quantity(cell));
        n_plain += usize::from(is_plain(cell));
    }
    2 * n_numbers > n_cells || (is_plain(name) && n_cells > 0 && 2 * n_plain <= n_cells)
}

/// Words that begin small and have no signs but underscores between them: `birth_date`,
/// `birthDate`.
fn is_plain(text: &str) -> bool {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    text.starts_with(char::is_lowercase) && text.chars().all(is_of_word)
}

/// The words of a name in lower case, cut where there is no letter and where a capital follows a
/// small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for char in name.chars() {
        if !char.is_alphabetic() || (was_small && char.is_uppercase()) {
            words.push(String::new());
        }
        was_small = char.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| char.is_alphabetic()) {
            word.extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
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
        check(&["Name;Disease", "Anna;Flu", "Bob;Cold"], false);
        check(&["homeTown;illness", "Berlin;flu"], false);
        check(&["a;b", "x;y"], false);
        check(&["Xyz;Abc", "Anna;25", "Bob;31"], false);
        check(&["Xyz;Abc"], false);
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
        check(&["Anna Smith;HIV;Berlin", "Bob Miller;flu;Paris"], true);
        check(&["K12345;Anna;B-12", "K12346;Bob;B-13"], true);
        check(&["Smith;Anna;-", "Miller;Bob;x"], true);
        check(&["smith;anna;hiv", "miller;bob;flu"], true);
        check(&["Smith;NA", "Miller;25"], true);
    }
}
