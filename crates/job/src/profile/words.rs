//! What the words in a column's name say.

/// A role that a word in a name stands for.
pub(super) struct Meaning {
    pub(super) role: &'static str,
    pub(super) word: String,
}

const IDENTIFIER: &[&str] = &[
    "account",
    "address",
    "email",
    "fax",
    "firstname",
    "forename",
    "fullname",
    "guid",
    "iban",
    "imei",
    "ip",
    "lastname",
    "login",
    "mail",
    "maiden",
    "mobile",
    "mrn",
    "nhs",
    "nin",
    "nino",
    "passport",
    "phone",
    "photo",
    "plate",
    "signature",
    "ssn",
    "street",
    "surname",
    "telephone",
    "url",
    "username",
    "uuid",
    "vin",
    "website",
];

const QUASI: &[&str] = &[
    "admission",
    "admitted",
    "age",
    "ancestry",
    "birth",
    "birthdate",
    "birthday",
    "birthplace",
    "born",
    "children",
    "citizenship",
    "city",
    "country",
    "county",
    "date",
    "death",
    "degree",
    "dependents",
    "discharge",
    "district",
    "dob",
    "education",
    "employer",
    "employment",
    "ethnic",
    "ethnicity",
    "family",
    "gender",
    "height",
    "household",
    "industry",
    "job",
    "language",
    "location",
    "marital",
    "married",
    "municipality",
    "nationality",
    "occupation",
    "origin",
    "parish",
    "postal",
    "postcode",
    "profession",
    "province",
    "race",
    "region",
    "relationship",
    "school",
    "sex",
    "spouse",
    "state",
    "suburb",
    "town",
    "vehicle",
    "veteran",
    "weight",
    "workclass",
    "year",
    "zip",
    "zipcode",
];

const SENSITIVE: &[&str] = &[
    "abortion",
    "addiction",
    "aids",
    "alcohol",
    "arrest",
    "balance",
    "bankruptcy",
    "belief",
    "cancer",
    "condition",
    "conviction",
    "credit",
    "crime",
    "criminal",
    "debt",
    "diagnosis",
    "disability",
    "disease",
    "drug",
    "earning",
    "faith",
    "genotype",
    "grade",
    "hiv",
    "icd",
    "illness",
    "income",
    "loan",
    "medication",
    "medicine",
    "mental",
    "mortgage",
    "mutation",
    "offence",
    "offense",
    "orientation",
    "outcome",
    "party",
    "political",
    "politics",
    "pregnancy",
    "pregnant",
    "prescription",
    "procedure",
    "religion",
    "result",
    "salary",
    "saving",
    "score",
    "sexual",
    "smoker",
    "smoking",
    "symptom",
    "therapy",
    "treatment",
    "wage",
    "wealth",
];

/// Words that stand for a number of a person or a thing.
const NUMBER: &[&str] = &["id", "key", "no", "nr", "number"];

const PLACE: &[&str] =
    &["coordinate", "lat", "latitude", "lng", "lon", "longitude", "easting", "northing"];

/// The role that a name stands for. A name of a place or a trade is no name of a person.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let known = |role: &'static str, known: &[&str]| {
        let word = words.iter().find(|word| known.contains(&word.as_str()))?;
        Some(Meaning { role, word: word.clone() })
    };
    let is_person = |found: &Meaning| found.word == "birth" || found.word == "family";
    let is_name = words.iter().any(|word| word == "name");
    let name = || is_name.then(|| Meaning { role: "identifier", word: "name".to_owned() });
    let quasi = || known("quasi", QUASI);
    known("identifier", IDENTIFIER)
        .or_else(|| if quasi().is_none_or(|found| is_person(&found)) { name() } else { None })
        .or_else(quasi)
        .or_else(|| known("sensitive", SENSITIVE))
}

/// Whether a name says that the values are numbers of something.
pub(super) fn is_number_name(name: &str) -> bool {
    words(name).iter().any(|word| NUMBER.contains(&word.as_str()))
}

/// Whether a name says that the values are degrees.
pub(super) fn is_place_name(name: &str) -> bool {
    words(name).iter().any(|word| PLACE.contains(&word.as_str()))
}

/// The words of a name in lower case, also those that two neighbours make together and those without the
/// ending of a plural.
fn words(name: &str) -> Vec<String> {
    let parts = parts(name);
    let mut words = parts.clone();
    words.extend(parts.windows(2).map(<[String]>::concat));
    let singular = |word: &String| word.strip_suffix('s').map(str::to_owned);
    let singulars: Vec<String> = words.iter().filter_map(singular).collect();
    words.extend(singulars);
    words
}

/// A name cut where it is no letter or digit, where letters meet digits, and where `camelCase` begins a word.
fn parts(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map_or(' ', |at| characters[at]);
        let behind = characters.get(at + 1).copied().unwrap_or(' ');
        let begins = character.is_uppercase()
            && (before.is_lowercase() || (before.is_uppercase() && behind.is_lowercase()));
        if begins || before.is_numeric() != character.is_numeric() {
            parts.push(String::new());
        }
        if character.is_alphanumeric() {
            let part = parts.last_mut().expect("there is one from the start");
            part.extend(character.to_lowercase());
        } else {
            parts.push(String::new());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
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
            ("Größe (cm)", "größe cm"),
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
            ("stated", "nothing"),
            ("usage", "nothing"),
        ] {
            let found = meaning(name).map_or_else(
                || "nothing".to_owned(),
                |Meaning { role, word }| format!("{role} by {word}"),
            );
            assert_eq!(found, expected, "{name}");
        }
    }
}
