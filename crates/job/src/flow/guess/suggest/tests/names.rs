//! Names in eight languages with values as they have them, at every volume.

use super::*;

/// Rows and people of a table: a day of data, some days, a year.
const VOLUMES: [(u64, u64); 4] = [(50, 40), (400, 390), (4_000, 1_500), (20_000, 7_400)];

/// What a person is called by: the same for all rows of the person.
fn person(row: u64, n_people: u64) -> u64 {
    mixed(row + 1) % n_people
}

/// Columns of values of one kind, each with the role that it has at every volume.
#[track_caller]
fn at_every_volume(
    names: &str,
    kind: Kind,
    of_person: impl Fn(u64) -> String,
    role: &str,
    is_entity: bool,
) {
    for (n_rows, n_people) in VOLUMES {
        let texts: Vec<String> = (0..n_rows).map(|row| of_person(person(row, n_people))).collect();
        for name in names.split(';').map(str::trim) {
            let found = suggested(name, kind, &texts);
            assert_eq!(found.role, role, "{name} at {n_rows} rows: {}", found.reason);
            assert_eq!(found.repeats.is_some(), is_entity, "{name} at {n_rows} rows");
        }
    }
}

const NUMBERS: &str = "\
    id; ID; Id; patient_id; patientId; PatientID; patientid; patient no; Patient #; MRN; user_id; \
    userid; customer number; cust_no; member key; client_code; employee id; subject_id; pid; uid; \
    ssn; case_no; policy number; account_id; encounterId; participant code; student_number; \
    Patientennummer; PatientenNr; Pat-Nr; KundenNr; kundennummer; Kd-Nr; Versicherten-Nr.; \
    Versichertennummer; Fallnummer; Personalnummer; Mitarbeiter-ID; Sch\u{fc}ler-ID; \
    Schuelerkennung; Benutzerkennung; Mitgliedsnr; Vertragsnummer; Matrikelnummer; Probanden-Code; \
    N\u{b0} patient; num\u{e9}ro patient; numero_dossier; code client; identifiant; matricule; \
    id_utilisateur; num\u{e9}ro de s\u{e9}curit\u{e9} sociale; code adh\u{e9}rent; \
    n\u{fa}mero de paciente; id_usuario; idpaciente; c\u{f3}digo cliente; DNI; nro_afiliado; \
    n\u{ba} historia cl\u{ed}nica; num_expediente; c\u{f3}digo de empleado; \
    codice_paziente; codice fiscale; id_utente; numero tessera; matricola; cod_cliente; \
    num_pratica; codice dipendente; \
    klantnummer; pati\u{eb}ntnummer; BSN; polisnr; gebruikers id; personeelsnummer; lidnummer; \
    n\u{fa}mero do utente; CPF; c\u{f3}digo do cliente; id_pessoa; n\u{ba} de benefici\u{e1}rio; \
    num_processo; matr\u{ed}cula; \
    numer pacjenta; nr_klienta; PESEL; id osoby; numer_umowy; identyfikator; kod pracownika; \
    nr_legitymacji; Kontonummer; rekeningnummer";

#[test]
fn numbers_of_people_are_identifiers_and_the_entity() {
    let number = |person: u64| (100_000 + person * 7).to_string();
    at_every_volume(NUMBERS, Kind::Integer, number, "identifier", true);
    let code = |person: u64| format!("P-{person:05}");
    at_every_volume(NUMBERS, Kind::Text, code, "identifier", true);
    // Programs without missing whole numbers write them as decimals.
    let decimal = |person: u64| format!("{}.0", 1_000 + person);
    at_every_volume("patient_id; KundenNr; user_id", Kind::Decimal, decimal, "identifier", true);
    // Five digits are no postcode under such a name.
    let short = |person: u64| (10_000 + person).to_string();
    at_every_volume("patient_nr; MRN; user_id; kunde", Kind::Integer, short, "identifier", true);
}

#[test]
fn numbers_of_people_by_shape() {
    let code = |person: u64| format!("AB{:06}X", person * 13 % 1_000_000);
    at_every_volume("a; xyz; col1", Kind::Text, code, "identifier", true);
    let number = |person: u64| (1_000_003 + person * 97).to_string();
    at_every_volume("a; xyz; col1", Kind::Integer, number, "identifier", true);
    let mail = |person: u64| format!("p{person}@example.org");
    at_every_volume("a; kontakt", Kind::Text, mail, "identifier", true);
}

/// Keys that machines make, whatever their column is called.
#[test]
fn random_keys_are_identifiers_and_the_entity() {
    const VOLUMES: [(u64, u64); 3] = [(30, 6), (600, 40), (5_000, 200)];
    let hex = |person: u64| {
        format!("{:016x}", person.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    };
    let mac = |person: u64| {
        let hex = hex(person);
        let pairs: Vec<&str> = (0..6).map(|at| &hex[2 * at..2 * at + 2]).collect();
        pairs.join(":")
    };
    let forms: [&dyn Fn(u64) -> String; 4] =
        [&hex, &|person| hex(person)[..8].to_owned(), &|person| hex(person).repeat(2), &mac];
    for (n_rows, n_people) in VOLUMES {
        for (at, form) in forms.iter().enumerate() {
            let texts: Vec<String> = (0..n_rows).map(|row| form(row % n_people)).collect();
            for name in ["x", "patient_hash", "device", "h"] {
                let found = suggested(name, Kind::Text, &texts);
                assert_eq!(found.role, "identifier", "{name} {at} {n_rows}: {}", found.reason);
                assert!(found.repeats.is_some(), "{name} {at} {n_rows}");
            }
        }
    }
}

/// A name that says whose number it is needs no long numbers.
#[test]
fn short_numbers_of_people_are_identifiers() {
    let texts: Vec<String> = (0..600).map(|row| (row % 40 + 1).to_string()).collect();
    let names = "participant; respondent; subj; usr; NIR; RG; C.F.; expediente; historia clinica; \
                 processo cl\u{ed}nico; Kennzeichen; no; nr; number; code; token; study_no; sid";
    for name in names.split(';').map(str::trim) {
        let found = suggested(name, Kind::Integer, &texts);
        assert_eq!(found.role, "identifier", "{name}: {}", found.reason);
        assert!(found.repeats.is_some(), "{name}");
    }
}

/// Names of numbers and of papers, also cut short.
#[test]
fn numbers_of_four_and_five_digits_are_no_postcodes_under_such_names() {
    let names = "mrno; mr_no; IDpatient; ptid; hospno; regno; studienr; record; rrn; avs; codcli; \
                 nClient; case; session; policy; ticket; booking; invoice";
    for (least, reach) in [(1_000, 9_000), (10_000, 90_000)] {
        let number = |row: u64| (least + mixed(row % 900 + 1) % reach).to_string();
        let texts: Vec<String> = (0..2_400).map(number).collect();
        for name in names.split(';').map(str::trim) {
            let found = suggested(name, Kind::Integer, &texts);
            assert_eq!(found.role, "identifier", "{name}: {}", found.reason);
            assert!(found.repeats.is_some(), "{name}");
        }
        // By their shape, where nothing says what they are.
        for name in ["a", "xyz"] {
            let found = suggested(name, Kind::Integer, &texts);
            assert_eq!(found.role, "identifier", "{name}: {}", found.reason);
            assert!(found.repeats.is_some(), "{name}");
        }
        for name in ["zip", "postnr", "NPA", "area_code", "cost"] {
            let found = suggested(name, Kind::Integer, &texts);
            assert_eq!(found.role, "quasi", "{name}: {}", found.reason);
        }
    }
    // A counter with zeros before it.
    let texts: Vec<String> = (0..1_200).map(|row| format!("{:05}", row / 3 + 1)).collect();
    assert_eq!(suggested("a", Kind::Text, &texts).role, "identifier");
}

/// Whole numbers of five digits that nobody gave out.
#[test]
fn postcodes_and_measures_without_a_name_are_quasi() {
    let kinds: [(u64, &dyn Fn(u64) -> u64); 4] = [
        // Postcodes of a region and of visitors, few rows each.
        (900, &|row| match row % 300 {
            near @ 0..240 => 10_115 + 3 * near,
            far => 20_000 + mixed(far) % 70_000,
        }),
        // Postcodes of a country, many rows each.
        (3_600, &|row| 10_001 + mixed(row % 300) % 80_000),
        // Amounts, of which most are small.
        (1_200, &|row| 10_001 + (row % 300).pow(2)),
        (1_200, &|row| 1_900 + row % 200),
    ];
    for (at, (n_rows, of)) in kinds.into_iter().enumerate() {
        let texts: Vec<String> = (0..n_rows).map(|row| of(row).to_string()).collect();
        let found = suggested("x", Kind::Integer, &texts);
        assert_eq!(found.role, "quasi", "{at}: {}", found.reason);
    }
}

/// A few cases are counted, and people of a household.
#[test]
fn small_numbers_under_short_names_are_quasi() {
    let texts: Vec<String> = (0..600).map(|row| (row % 12 + 1).to_string()).collect();
    for name in ["visit", "trial", "n_person", "episode"] {
        let found = suggested(name, Kind::Integer, &texts);
        assert_eq!(found.role, "quasi", "{name}: {}", found.reason);
    }
}

/// Long keys of one form, of few people and of many.
#[test]
fn long_keys_are_identifiers_at_every_volume() {
    for (n_rows, n_people) in [(30u64, 12u64), (60, 25), (600, 60), (4_000, 1_000)] {
        let forms: [(Kind, &dyn Fn(u64) -> String); 4] = [
            (Kind::Text, &|person| format!("P-{person:05}")),
            (Kind::Text, &|person| format!("2019/{person:04}")),
            (Kind::Text, &|person| format!("{:010}", person * 7919)),
            (Kind::Integer, &|person| (4_000_000_007 + person * 7919).to_string()),
        ];
        for (kind, form) in forms {
            let texts: Vec<String> = (0..n_rows).map(|row| form(row % n_people)).collect();
            let found = suggested("x", kind, &texts);
            assert_eq!(found.role, "identifier", "{} {n_rows}: {}", texts[1], found.reason);
        }
    }
}

const NAMES: &str = "\
    name; first_name; lastName; surname; full name; customer_name; street; address; \
    Vorname; Nachname; Familienname; Anschrift; Stra\u{df}e; Strasse; Geburtsname; \
    pr\u{e9}nom; nom; nom de famille; adresse; \
    nombre; apellidos; nombre_completo; direcci\u{f3}n; domicilio; \
    nome; cognome; indirizzo; nominativo; \
    voornaam; achternaam; adres; straat; \
    sobrenome; apelido; endere\u{e7}o; morada; \
    imi\u{119}; nazwisko; imie; ulica; website";

const OWN: &str = "\
    username; login; Benutzername; gebruikersnaam; e-mail; email; courriel; telefon; phone; \
    t\u{e9}l\u{e9}phone; tel\u{e9}fono; cellulare; telefoon; telem\u{f3}vel; IBAN; account; plate";

#[test]
fn what_names_people_is_an_identifier() {
    let name = |person: u64| format!("A{}", letters(mixed(person)));
    at_every_volume(NAMES, Kind::Text, name, "identifier", false);
    at_every_volume(OWN, Kind::Text, name, "identifier", true);
    let remark = |person: u64| format!("came {} and went home", letters(person));
    let names = "remarks; Bemerkungen; commentaire; observaciones; commento; opmerking; \
                 observa\u{e7}\u{f5}es; uwagi";
    at_every_volume(names, Kind::Text, remark, "identifier", false);
}

const AGES: &str = "\
    age; Age; Alter; Lebensalter; \u{e2}ge; edad; et\u{e0}; eta; leeftijd; idade; wiek; alter_jahre; \
    patient_age; hours; visits; number of visits; num_visits; no_of_children; Anzahl Kinder; \
    nr_kinder; nombre_enfants; n\u{fa}mero de hijos; numero di figli; aantal kinderen; \
    n\u{fa}mero de filhos; liczba dzieci; education-num; gender_code; department_id; ward number; \
    month; x; Gr\u{f6}\u{df}e; poids; peso; waga; product_code; n_stays";

#[test]
fn ages_and_counts_are_quasi() {
    let few = |person: u64| (person % 19).to_string();
    for (n_rows, n_people) in VOLUMES {
        let texts: Vec<String> = (0..n_rows).map(|row| few(person(row, n_people))).collect();
        for name in AGES.split(';').map(str::trim) {
            let found = suggested(name, Kind::Integer, &texts);
            assert_eq!(found.role, "quasi", "{name} at {n_rows} rows: {}", found.reason);
        }
    }
}

#[test]
fn codes_of_things_are_nobodys() {
    let postcode = |person: u64| (10_000 + mixed(person) % 80_000).to_string();
    let names = "postcode; zip_code; zipCode; PLZ; code postal; c\u{f3}digo postal; CAP; \
                 kod pocztowy; CEP; patient_zip_code; Postleitzahl";
    at_every_volume(names, Kind::Integer, postcode, "quasi", false);
    let icd = |person: u64| format!("E{:02}.{}", person % 90, person % 10);
    for (n_rows, n_people) in VOLUMES {
        let texts: Vec<String> = (0..n_rows).map(|row| icd(person(row, n_people) % 30)).collect();
        for name in ["diagnosis code", "ICD", "Diagnose", "diagn\u{f3}stico", "rozpoznanie"] {
            let found = suggested(name, Kind::Text, &texts);
            assert_eq!(found.role, "sensitive", "{name} at {n_rows} rows: {}", found.reason);
        }
        let texts: Vec<String> = texts.iter().map(|text| text[1..3].to_owned()).collect();
        for name in ["country_code", "department", "Station", "status", "pays", "kraj"] {
            let found = suggested(name, Kind::Text, &texts);
            assert_eq!(found.role, "quasi", "{name} at {n_rows} rows: {}", found.reason);
        }
    }
}

/// Whatever else is measured may be known to others.
#[test]
fn nothing_that_differs_is_insensitive() {
    for (n_rows, n_people) in VOLUMES {
        let value = |row: u64| format!("{}.{}", mixed(person(row, n_people)) % 90, row % 10);
        let texts: Vec<String> = (0..n_rows).map(value).collect();
        for name in ["x", "value", "weight", "cost", "lab1", "measure", "Kosten", "fnlwgt"] {
            let found = suggested(name, Kind::Decimal, &texts);
            assert_eq!(found.role, "quasi", "{name} at {n_rows} rows: {}", found.reason);
        }
    }
}
