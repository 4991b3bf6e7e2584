//! What the words in a column's name say, in eight languages.

use super::number::is_count;
use super::vocabulary::{
    ABOUT, CODE, DOCUMENT, IDENTIFIER, NAME, NUMBER, OWN, PERSON, PLACE, QUANTITY, QUASI, REMARK,
    SENSITIVE, THING, has,
};

/// A role that a word in a name stands for.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) role: &'static str,
    pub(crate) word: String,
}

/// The role that a name stands for. The name of a place, a trade or a thing is not a person's name.
pub(crate) fn meaning(name: &str, is_text: bool) -> Option<Meaning> {
    let parts = parts(name);
    let words = joined(&parts);
    let known = |role: &'static str, known: &str| {
        let word = words.iter().find(|word| has(known, word))?;
        Some(Meaning { role, word: word.clone() })
    };
    let is_about = parts.len() > 1 && parts.last().is_some_and(|last| has(ABOUT, last));
    let is_counted = is_count(&parts);
    let identifier = || known("identifier", IDENTIFIER).filter(|_| !is_about && !is_counted);
    let quasi = || known("quasi", QUASI);
    // The French count with the word by which the Spanish mean a name.
    let is_name = |word: &String| has(NAME, word) || (is_text && word == "nombre");
    let of_person = |word: &String| has(PERSON, word) || word == "birth" || word == "family";
    let is_of_thing = words.iter().any(|word| has(THING, word) || has(QUASI, word))
        && !words.iter().any(of_person);
    let person = || {
        let word = words.iter().find(|word| is_name(word)).filter(|_| !is_of_thing && !is_about)?;
        Some(Meaning { role: "identifier", word: word.clone() })
    };
    identifier()
        .or_else(person)
        .or_else(quasi)
        .or_else(|| known("sensitive", SENSITIVE))
        .or_else(|| compound(&parts))
}

/// Ends of compound words that name people or lead to them.
const NAMES: &str = "vorname nachname familienname anschrift adresse telefonnummer \
                     voornaam achternaam telefoonnummer emailadresse strasse straat";

/// A long word that ends in a known one, as German and Dutch build them: `Aufnahmediagnose`.
fn compound(parts: &[String]) -> Option<Meaning> {
    let of_list = |role: &'static str, list: &str| {
        let ends = |part: &&String| {
            list.split_whitespace()
                .any(|word| word.len() >= 5 && part.len() >= word.len() + 3 && part.ends_with(word))
        };
        parts.iter().find(ends).map(|part| Meaning { role, word: part.clone() })
    };

    of_list("identifier", NAMES)
        .or_else(|| of_list("quasi", QUASI))
        .or_else(|| of_list("sensitive", SENSITIVE))
}

/// Whether a name says that each value belongs to one person: an account, not a street.
pub(crate) fn is_own_name(name: &str) -> bool {
    let parts = parts(name);
    let is_about = parts.len() > 1 && parts.last().is_some_and(|last| has(ABOUT, last));
    !is_about && joined(&parts).iter().any(|word| has(OWN, word))
}

/// Whether a name says that the values are degrees.
pub(crate) fn is_place_name(name: &str) -> bool {
    joined(&parts(name)).iter().any(|word| has(PLACE, word))
}

/// Whether a name says that the values are measured or counted.
pub(crate) fn is_quantity_name(name: &str) -> bool {
    let parts = parts(name);
    is_count(&parts) || joined(&parts).iter().any(|word| has(QUANTITY, word))
}

/// Whether a name says that many people share a value: a place, a class, a product.
pub(crate) fn is_thing_name(name: &str) -> bool {
    joined(&parts(name)).iter().any(|word| has(THING, word))
}

/// Whether a name says that the values are remarks.
pub(crate) fn is_remark_name(name: &str) -> bool {
    joined(&parts(name)).iter().any(|word| has(REMARK, word))
}

/// The words of a name, also those that two or three neighbours make together and those without
/// the ending of a plural.
fn joined(parts: &[String]) -> Vec<String> {
    let mut words = parts.to_vec();
    words.extend(parts.windows(2).map(<[String]>::concat));
    words.extend(parts.windows(3).map(<[String]>::concat));
    let singular = |word: &String| word.strip_suffix('s').map(str::to_owned);
    let singulars: Vec<String> = words.iter().filter_map(singular).collect();
    words.extend(singulars);
    words
}

/// The words of a name in lower case without diacritics: cut where there is no letter or digit,
/// where letters meet digits, and where `camelCase` begins a word.
pub(crate) fn parts(name: &str) -> Vec<String> {
    // A sign for "number" is a word of its own; an accent that stands behind its letter is none.
    let name = name.replace(['#', '\u{2116}'], " no ").replace('\u{b0}', "o ");
    let is_accent = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let characters: Vec<char> = name.chars().filter(|c| !is_accent(c)).collect();
    let mut parts = vec![String::new()];
    let mut begins_next = false;
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |at| characters[at]);
        let after = characters.get(at + 1).copied().unwrap_or(' ');
        let ends_capitals = before.is_uppercase() && after.is_lowercase();
        let is_last_capital = ends_capitals && is_cut_after(&characters[at..]);
        let begins = character.is_uppercase()
            && (before.is_lowercase() || (ends_capitals && !is_last_capital));
        // The s of a plural belongs to the capitals as well.
        let is_word_next =
            is_last_capital && characters.get(at + 2).is_some_and(|c| c.is_lowercase());
        let is_next = std::mem::replace(&mut begins_next, is_word_next);
        if begins || is_next || before.is_ascii_digit() != character.is_ascii_digit() {
            parts.push(String::new());
        }
        if character.is_alphanumeric() {
            let part = parts.last_mut().expect("there is one from the start");
            character.to_lowercase().for_each(|lower| push_plain(part, lower));
        } else {
            parts.push(String::new());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether the last of several capitals belongs to them, not to the small letters after it:
/// `IDpatient`, `patientIDs`, but `SSNNumber`. The words that are known decide.
fn is_cut_after(from_last: &[char]) -> bool {
    let is_known = |word: &str| {
        let lists = [PERSON, DOCUMENT, THING, NUMBER, CODE, NAME, QUASI, SENSITIVE, ABOUT];
        lists.iter().any(|list| has(list, word))
    };
    let mut whole = String::new();
    for (at, &letter) in from_last.iter().enumerate() {
        if at > 0 && !letter.is_lowercase() {
            break;
        }
        letter.to_lowercase().for_each(|lower| push_plain(&mut whole, lower));
    }
    let rest: String = whole.chars().skip(1).collect();
    !is_known(&whole) && (rest == "s" || is_known(&rest))
}

/// Appends a letter without its diacritics.
fn push_plain(to: &mut String, letter: char) {
    const PLAIN: [(&str, &str); 17] = [
        ("\u{e0}\u{e1}\u{e2}\u{e3}\u{e4}\u{e5}\u{101}\u{103}\u{105}", "a"),
        ("\u{e6}", "ae"),
        ("\u{e7}\u{107}\u{10d}", "c"),
        ("\u{10f}\u{111}", "d"),
        ("\u{e8}\u{e9}\u{ea}\u{eb}\u{113}\u{119}\u{11b}", "e"),
        ("\u{ec}\u{ed}\u{ee}\u{ef}\u{131}", "i"),
        ("\u{142}", "l"),
        ("\u{f1}\u{144}\u{148}", "n"),
        ("\u{f2}\u{f3}\u{f4}\u{f5}\u{f6}\u{f8}\u{151}\u{ba}", "o"),
        ("\u{153}", "oe"),
        ("\u{159}", "r"),
        ("\u{df}", "ss"),
        ("\u{15b}\u{161}\u{219}", "s"),
        ("\u{165}\u{21b}", "t"),
        ("\u{f9}\u{fa}\u{fb}\u{fc}\u{16f}\u{171}", "u"),
        ("\u{fd}\u{ff}", "y"),
        ("\u{17a}\u{17c}\u{17e}", "z"),
    ];
    match PLAIN.iter().find(|(letters, _)| letters.contains(letter)) {
        Some((_, plain)) => to.push_str(plain),
        None => to.push(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_into_words() {
        for (name, expected) in [
            ("zip-code", "zip code"),
            ("birthDate", "birth date"),
            ("SSNNumber", "ssn number"),
            ("address1", "address 1"),
            ("HIV_status", "hiv status"),
            ("ZIP", "zip"),
            ("", ""),
            ("Gr\u{f6}\u{df}e (cm)", "grosse cm"),
            ("N\u{b0} patient", "no patient"),
            ("n\u{ba}Paciente", "no paciente"),
            ("IDpatient", "id patient"),
            ("patientIDs", "patient ids"),
            ("HIVstatus", "hiv status"),
            ("NRows", "n rows"),
            ("ICDCode", "icd code"),
            ("Patient #", "patient no"),
            ("num\u{e9}roDossier", "numero dossier"),
            ("nume\u{301}ro", "numero"),
            ("p\u{142}e\u{107}", "plec"),
            ("imi\u{119}", "imie"),
        ] {
            assert_eq!(parts(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn words_have_meanings() {
        for (name, expected) in [
            ("PostCode", "quasi by postcode"),
            ("customerName", "identifier by name"),
            ("country_name", "quasi by country"),
            ("birth name", "identifier by name"),
            ("diagnosisCodes", "sensitive by diagnosis"),
            ("symptoms", "sensitive by symptom"),
            ("emailAddress", "identifier by email"),
            ("drug_name", "sensitive by drug"),
            ("email_verified", "nothing"),
            ("Aufnahmediagnose", "sensitive by aufnahmediagnose"),
            ("stated", "nothing"),
            ("usage", "nothing"),
        ] {
            let found = meaning(name, true).map_or_else(
                || "nothing".to_owned(),
                |Meaning { role, word }| format!("{role} by {word}"),
            );
            assert_eq!(found, expected, "{name}");
        }
    }
}
