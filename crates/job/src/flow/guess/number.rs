//! Whether a name says that a column holds the numbers of people.

use super::vocabulary::{
    ABOUT, CODE, COUNT, COUNTED, DOCUMENT, ID, NUMBER, OF, OFFICIAL, OFFICIAL_PERHAPS, PERSON,
    QUASI, SENSITIVE, THING, has,
};
use super::words::parts;

/// What a name says of a column that may hold numbers of people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) sure: Sure,
    pub(crate) whose: Whose,
}

/// How sure a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sure {
    /// Whatever the values.
    Yes,
    /// Unless the values are few and shared by many rows: an id of something.
    Id,
    /// If there are many values for few rows each: a number of something.
    Number,
    /// If there are several values: a word for a number, or for a person, and no other word.
    Alone,
    /// If there are several long values for few rows each: a word for a paper or a case and no
    /// other, or an `n` before a word, which may also count.
    Long,
    /// If the values look like it, too: a code of something.
    Perhaps,
}

/// Whose number it is: the nearer to a person, the better it tells people apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whose {
    /// A patient's, a customer's.
    Person,
    /// A social security number, an e-mail address.
    Official,
    /// Of something that the name does not say.
    Unknown,
    /// A case's, a contract's, a device's.
    Document,
}

/// What a name says, if it says that the values are numbers, ids or codes of somebody.
pub(crate) fn numbered(name: &str) -> Option<Numbered> {
    let mut parts: Vec<String> = parts(name)
        .into_iter()
        .flat_map(|part| divided(&part).unwrap_or_else(|| vec![part]))
        .filter(|part| !part.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    // `n` is short for number before one that has a number; before several it counts them.
    let is_singular = |word: &str| !["s", "en"].iter().any(|plural| word.ends_with(plural));
    let is_short =
        matches!(&parts[..], [n, whose] if n == "n" && is_whose(whose) && is_singular(whose));
    if is_short {
        "no".clone_into(&mut parts[0]);
    }
    let last = parts.last()?;
    if is_count(&parts) || (parts.len() > 1 && has(ABOUT, last)) {
        return None;
    }
    let any = |list: &str| parts.iter().any(|part| has(list, part));
    let word = match () {
        () if any(ID) => Sure::Id,
        () if any(NUMBER) => Sure::Number,
        () => Sure::Perhaps,
    };
    let found = |sure: Sure, whose: Whose| {
        let is_doubtful = is_short && whose != Whose::Official;
        Some(Numbered { sure: if is_doubtful { Sure::Long } else { sure }, whose })
    };
    let together: Vec<String> = parts.windows(2).map(<[String]>::concat).collect();
    let is_official = parts.iter().chain(&together).any(|word| has(OFFICIAL, word));
    let of_person = || context(&parts).any(|word| has(PERSON, word));
    let Some(whose) = deciding(&parts) else {
        // There is no word for a number, or nothing but one.
        let is_one = context(&parts).count() == 1;
        let is_perhaps = |list: &[String]| list.iter().any(|word| has(OFFICIAL_PERHAPS, word));
        return match () {
            () if is_official => found(Sure::Yes, Whose::Official),
            () if of_person() && is_one => found(Sure::Alone, Whose::Person),
            () if is_one && is_perhaps(&parts) => found(Sure::Alone, Whose::Official),
            () if parts.len() == 2 && is_perhaps(&together) => found(Sure::Alone, Whose::Official),
            () if is_perhaps(&parts) => found(Sure::Number, Whose::Official),
            () if any(SURE_ALONE) => found(Sure::Yes, Whose::Unknown),
            () if any(ID) || any(NUMBER) || any(CODE) => found(Sure::Alone, Whose::Unknown),
            () if any(QUASI) || any(SENSITIVE) => None,
            () if is_one && any(DOCUMENT) => found(Sure::Long, Whose::Document),
            () => None,
        };
    };
    let is_of = |list: &str| has(list, whose);
    match () {
        () if is_of(PERSON) => found(Sure::Yes, Whose::Person),
        () if is_official => found(Sure::Yes, Whose::Official),
        // What a thing is called by, many people share.
        () if is_of(THING) => None,
        () if is_of(DOCUMENT) && word != Sure::Perhaps => found(Sure::Id, Whose::Document),
        () if is_of(QUASI) => None,
        () if is_of(SENSITIVE) && word == Sure::Perhaps => None,
        () if is_of(SENSITIVE) => found(Sure::Number, Whose::Document),
        () if of_person() => found(Sure::Yes, Whose::Person),
        () => found(word, Whose::Unknown),
    }
}

/// Words for an id that need no other.
const SURE_ALONE: &str = "id ids uid guid identifier kennung identifiant identificador \
                          identificativo identyfikator pk";

fn is_number_word(word: &str) -> bool {
    [ID, NUMBER, CODE].iter().any(|list| has(list, word))
}

/// The words that are neither for a number nor between words.
fn context(parts: &[String]) -> impl Iterator<Item = &String> {
    parts.iter().filter(|part| !is_number_word(part) && !has(OF, part))
}

/// The word that says whose number it is: the one before the word for a number, as in
/// `patient zip code`, else the one after it, as in `code postal du patient`.
fn deciding(parts: &[String]) -> Option<&String> {
    let at = parts.iter().rposition(|part| is_number_word(part))?;
    let before = context(&parts[..at]).last();
    before.or_else(|| context(&parts[at..]).next())
}

/// Whether the words speak of how many there are: `number of visits`, `num_visits`, `Anzahl`.
pub(crate) fn is_count(parts: &[String]) -> bool {
    if parts.iter().any(|part| has(COUNT, part)) {
        return true;
    }
    let Some(at) = parts.iter().position(|part| has(NUMBER, part) || part == "nombre") else {
        return false;
    };
    if parts[at] == "nombre" {
        return parts.len() > at + 1 && !parts[at + 1..].iter().any(|part| is_whose(part));
    }
    let rest: Vec<&String> = parts[at + 1..].iter().filter(|part| !has(OF, part)).collect();
    let Some(first) = rest.first() else { return false };
    let is_plural = first.len() > 3
        && first.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| first.ends_with(end));
    let says_of = parts.get(at + 1).is_some_and(|part| part == "of");
    has(COUNTED, first) || says_of || (is_plural && !is_whose(first))
}

fn is_whose(word: &str) -> bool {
    has(PERSON, word) || has(DOCUMENT, word)
}

/// A word that is two: `kundennr`, `patientid`, `idpaciente`, `Versichertennummer`.
fn divided(word: &str) -> Option<Vec<String>> {
    const LAST: &str = "identifikationsnummer identifier nummer number numero numer kennung \
                        schluessel schlussel kennzeichen code num nbr nr no id key";
    const FIRST: &str = "identifiant codice codigo numero numer code num cod nro nr no id n";
    if [PERSON, DOCUMENT, THING, OFFICIAL, ID, NUMBER, CODE].iter().any(|list| has(list, word)) {
        return None;
    }
    let known = |stem: &str| [PERSON, DOCUMENT, THING].iter().any(|list| has(list, stem));
    // Letters that German and Dutch put between the parts.
    let stem_of = |stem: &str| {
        let bare = ["", "s", "n", "en", "es", "e", "er"].iter();
        let mut bare = bare.filter_map(|between| stem.strip_suffix(between));
        bare.find(|stem| known(stem)).map(str::to_owned)
    };
    for last in LAST.split_whitespace() {
        let Some(stem) = word.strip_suffix(last).filter(|stem| !stem.is_empty()) else { continue };
        // No other word ends in `nr`.
        let is_long = (last.len() >= 6 && stem.len() >= 3) || (last == "nr" && stem.len() >= 2);
        if let Some(stem) = stem_of(stem).or_else(|| is_long.then(|| stem.to_owned())) {
            return Some(vec![stem, last.to_owned()]);
        }
    }
    for first in FIRST.split_whitespace() {
        let rest = word.strip_prefix(first).filter(|rest| is_whose(rest) && rest.len() > 3);
        if let Some(rest) = rest {
            return Some(vec![first.to_owned(), rest.to_owned()]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], sure: Option<Sure>) {
        for name in names {
            assert_eq!(numbered(name).map(|found| found.sure), sure, "{name}");
        }
    }

    #[test]
    fn names_of_numbers_of_people() {
        let english = ["id", "ID", "patient_id", "patientId", "PatientID", "patientid", "MRN"];
        check(&english, Some(Sure::Yes));
        check(&["user id", "customer no.", "CustomerNumber", "Patient #", "ssn"], Some(Sure::Yes));
        check(&["member key", "client_code", "patient_unique_id"], Some(Sure::Yes));
        let german = ["Patientennummer", "KundenNr", "kundennr", "Versicherten-Nr.", "Kd-Nr"];
        check(&german, Some(Sure::Yes));
        check(&["Sch\u{fc}ler-ID", "Schuelerkennung", "Personalnummer"], Some(Sure::Yes));
        let french = ["N\u{b0} patient", "code client", "identifiant du patient"];
        check(&french, Some(Sure::Yes));
        let official = ["identifiant", "matricule", "num\u{e9}ro de s\u{e9}curit\u{e9} sociale"];
        check(&official, Some(Sure::Yes));
        let spanish =
            ["n\u{fa}mero de paciente", "id_usuario", "idpaciente", "c\u{f3}digo cliente"];
        check(&spanish, Some(Sure::Yes));
        check(&["DNI", "nro_afiliado"], Some(Sure::Yes));
        check(
            &[
                "n\u{ba} historia cl\u{ed}nica",
                "expediente",
                "historia cl\u{ed}nica",
                "processo cl\u{ed}nico",
            ],
            Some(Sure::Yes),
        );
        check(&["patient_hash", "person_hash", "anonid", "sid"], Some(Sure::Yes));
        check(&["s\u{e9}cu", "n_secu"], Some(Sure::Yes));
        check(&["mrno", "mr_no", "IDpatient", "IDcli", "ptid", "hospno", "regno"], Some(Sure::Yes));
        check(&["rrn", "avs", "codcli", "cod_cli", "idpat"], Some(Sure::Yes));
        check(&["codice fiscale", "codice_paziente"], Some(Sure::Yes));
        check(&["klantnummer", "BSN", "pati\u{eb}ntnummer"], Some(Sure::Yes));
        check(&["n\u{fa}mero do utente", "CPF", "c\u{f3}digo do cliente"], Some(Sure::Yes));
        check(&["numer pacjenta", "nr_klienta", "PESEL", "id osoby"], Some(Sure::Yes));
    }

    #[test]
    fn names_whose_values_decide() {
        check(&["foo_id", "xyzKey", "policyNumber", "case_no", "num_dossier"], Some(Sure::Id));
        check(&["numero tessera", "polisnr"], Some(Sure::Id));
        check(&["Fallnummer", "nr umowy"], Some(Sure::Id));
        check(&["study_no", "session_hash", "studienr", "Studiennummer"], Some(Sure::Id));
        check(&["xyznr", "telNr"], Some(Sure::Number));
        let alone = ["case", "session", "policy", "ticket", "booking", "invoice", "record"];
        check(&alone, Some(Sure::Long));
        check(&["nClient", "nclient", "n_visit"], Some(Sure::Long));
        check(&["foo_no", "result_id"], Some(Sure::Number));
        check(&["nr", "number", "no", "code", "token", "hash"], Some(Sure::Alone));
        check(&["patient", "Kunde", "participant", "usr", "subj"], Some(Sure::Alone));
        check(&["NIR", "RG", "C.F.", "Kennzeichen"], Some(Sure::Alone));
        check(&["foo_code"], Some(Sure::Perhaps));
    }

    #[test]
    fn names_of_other_things() {
        check(&["zip code", "postcode", "country_code", "diagnosis code", "department_id"], None);
        check(&["number of visits", "num_visits", "no_of_children", "nr_kinder"], None);
        check(&["Anzahl Kinder", "nombre_enfants", "n\u{fa}mero de hijos", "aantal"], None);
        check(&["numero di figli", "liczba dzieci", "patient_id_type", "education-num"], None);
        check(&["age", "paid", "covid", "casino", "monkey", "video", "status", "PLZ"], None);
        check(&["patient_zip_code", "code postal du patient", "customer_group_id"], None);
        check(&["n_clients", "n_patienten", "nVisits", "postnr", "npa", "area"], None);
        check(&["code postal", "kod pocztowy", "c\u{f3}digo postal", "product_code"], None);
    }
}
