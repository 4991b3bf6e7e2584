//! What a single value looks like: an e-mail address, a telephone number, a postcode.
//!
//! The tests are lenient: a column is judged by nearly all of its values, and a wrong guess is a
//! suggestion that a person turns down.

use std::net::IpAddr;

use super::vocabulary::{STREET, has};

pub(crate) fn is_email(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else { return false };
    let is_clean = |part: &str| !part.is_empty() && !part.contains(['@', ' ', '/', ',']);
    is_clean(user) && is_clean(host) && host.trim_matches('.').contains('.')
}

pub(crate) fn is_url(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let starts = ["http://", "https://", "ftp://", "www."];
    starts.iter().any(|start| lower.len() > start.len() && lower.starts_with(start))
}

pub(crate) fn is_ip_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

pub(crate) fn is_uuid(text: &str) -> bool {
    let text = text.trim_start_matches('{').trim_end_matches('}');
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Six pairs of hexadecimal digits, as network devices have them.
pub(crate) fn is_mac_address(text: &str) -> bool {
    [':', '-'].iter().any(|&between| {
        let pairs: Vec<&str> = text.split(between).collect();
        let is_pair = |pair: &&str| pair.len() == 2 && pair.bytes().all(|b| b.is_ascii_hexdigit());
        pairs.len() == 6 && pairs.iter().all(is_pair)
    })
}

/// A hash or a random key: hexadecimal digits, or letters of both cases and digits mixed as no word
/// is.
pub(crate) fn is_token(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let has_one_case = !(has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase));
    let is_hex = bytes.len() >= 8 && has_one_case && bytes.iter().all(u8::is_ascii_hexdigit);
    if is_hex && is_mixed {
        return true;
    }
    // Between two characters of a word the case changes rarely, and a digit comes last if at all.
    let class = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let n_changes = bytes.windows(2).filter(|pair| class(&pair[0]) != class(&pair[1])).count();
    let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    bytes.len() >= 10 && bytes.iter().all(is_of_key) && is_mixed && 3 * n_changes >= bytes.len()
}

/// A country, two digits, and what the bank writes.
pub(crate) fn is_iban(text: &str) -> bool {
    let text = text.replace(' ', "");
    let bytes = text.as_bytes();
    (15..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4..].iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && bytes[4..].iter().filter(|byte| byte.is_ascii_digit()).count() >= 6
}

/// The number of a social security card, `123-45-6789`.
pub(crate) fn is_social_security(text: &str) -> bool {
    is_like(text, "999-99-9999")
}

/// A number that a state gives to a person, as it is written where it is more than digits, and
/// where its digits check each other: Brazil, France, Italy, Poland, Spain, Switzerland, the United
/// Kingdom.
pub(crate) fn is_state_number(text: &str) -> bool {
    const FORMS: [&str; 6] = [
        "999.999.999-99",
        "AAAAAA99A99A999A",
        "99999999A",
        "756.9999.9999.99",
        "AA999999A",
        "AA 99 99 99 A",
    ];
    let is_foreign = text.starts_with(['X', 'Y', 'Z']) && is_like(text, "A9999999A");
    is_foreign
        || FORMS.iter().any(|form| is_like(text, form))
        || is_pesel(text)
        || is_insee(&text.replace(' ', ""))
}

/// Eleven digits of which the first six are a day, and the last checks the others.
fn is_pesel(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    if digits.len() != 11 || text.len() != 11 {
        return false;
    }
    let weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1];
    let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
    let (month, day) = (digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]);
    sum.is_multiple_of(10) && (1..=12).contains(&(month % 20)) && (1..=31).contains(&day)
}

/// Fifteen digits: sex, year and month of birth, and a key of two digits.
fn is_insee(text: &str) -> bool {
    let is_digits = text.len() == 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits || !text.starts_with(['1', '2']) {
        return false;
    }
    let (number, key) = text.split_at(13);
    match (number.parse::<u64>(), key.parse::<u64>()) {
        (Ok(number), Ok(key)) => 97 - number % 97 == key,
        _ => false,
    }
}

/// A street and a house: `12 Main Street`, `Hauptstr. 5`, `calle Mayor 3`.
pub(crate) fn is_address(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split([' ', ',', '.']).filter(|word| !word.is_empty()).collect();
    let is_street = |word: &&str| {
        has(STREET, word)
            || STREET.split_whitespace().any(|street| street.len() >= 3 && word.ends_with(street))
    };
    let is_house = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    (2..=12).contains(&words.len()) && words.iter().any(is_street) && words.iter().any(is_house)
}

/// The number of a payment card: its last digit checks the others.
pub(crate) fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    if !(13..=19).contains(&digits.len()) || text.contains(|c: char| !is_digit_or(c, " -")) {
        return false;
    }
    let doubled = |(at, &digit): (usize, &u32)| match at % 2 {
        1 => (2 * digit) / 10 + (2 * digit) % 10,
        _ => digit,
    };
    digits.iter().rev().enumerate().map(doubled).sum::<u32>().is_multiple_of(10)
}

/// Digits with a plus before them, or in groups.
pub(crate) fn is_phone(text: &str) -> bool {
    let is_international = text.starts_with('+');
    let rest = text.trim_start_matches('+');
    let n_digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let n_between = rest.chars().filter(|&c| " -./()".contains(c)).count();
    (7..=15).contains(&n_digits)
        && rest.chars().all(|c| is_digit_or(c, " -./()"))
        && (is_international || n_between >= 2 || is_national(text, n_digits))
        && !is_date(text)
}

/// Digits with a zero before them and a gap: `0171 1234567`.
fn is_national(text: &str, n_digits: usize) -> bool {
    text.starts_with('0') && text.contains([' ', '-', '/']) && n_digits >= 8
}

/// A day that is not written as ISO dates are: `31.12.1999`, `12/31/99`, `1999/12/31`.
pub(crate) fn is_date(text: &str) -> bool {
    ['/', '.', '-'].iter().any(|&between| {
        let parts: Vec<&str> = text.split(between).collect();
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        parts.iter().all(is_number)
            && matches!(lengths[..], [1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2])
    })
}

/// A postcode with letters or of two parts: `AB1 2CD`, `1234 AB`, `A1B 2C3`, `12345-6789`.
pub(crate) fn is_postcode(text: &str) -> bool {
    const FORMS: [&str; 12] = [
        "A9 9AA",
        "A99 9AA",
        "AA9 9AA",
        "AA99 9AA",
        "A9A 9AA",
        "AA9A 9AA",
        "9999 AA",
        "9999AA",
        "A9A 9A9",
        "A9A9A9",
        "99999-9999",
        "A-9999",
    ];
    FORMS.iter().any(|form| is_like(text, form))
}

/// Latitude and longitude in one cell.
pub(crate) fn is_place(text: &str) -> bool {
    let text = text.trim_start_matches("POINT").trim().trim_matches(['(', ')']);
    let parts: Vec<&str> = text.split([',', ';', ' ']).filter(|part| !part.is_empty()).collect();
    let is_degrees = |part: &&str| {
        part.contains('.') && part.parse::<f64>().is_ok_and(|degrees| degrees.abs() <= 180.0)
    };
    parts.len() == 2 && parts.iter().all(is_degrees)
}

/// Two or three capitalised words, one of which may be an initial: `Ada Lovelace`, `Lovelace, Ada`,
/// `Ada K. Lovelace`.
pub(crate) fn is_person(text: &str) -> bool {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let is_name = |word: &&str| {
        let mut letters = word.chars();
        let is_letter = |c: char| c.is_alphabetic() || "'\u{2019}-.".contains(c);
        letters.next().is_some_and(char::is_uppercase) && letters.all(is_letter)
    };
    let n_whole = words.iter().filter(|word| word.chars().count() > 2).count();
    (2..=3).contains(&words.len()) && words.iter().all(is_name) && n_whole >= 2
}

/// What a value is made of: `A` for letters, `9` for digits, signs as they are.
pub(crate) fn form(text: &str) -> String {
    let mut form = String::new();
    for character in text.chars() {
        let class = match character {
            c if c.is_ascii_digit() => '9',
            c if c.is_alphabetic() => 'A',
            c => c,
        };
        let repeats = class == '9' || class == 'A';
        if !(repeats && form.ends_with(class)) {
            form.push(class);
        }
    }
    form
}

/// A day as a whole number: `19991231`, `31121999`, or a month, `199912`.
pub(crate) fn is_compact_date(text: &str) -> bool {
    let within = |part: &str, most: u32| {
        part.parse::<u32>().is_ok_and(|number| (1..=most).contains(&number))
    };
    match n_digits(text) {
        Some(8) => {
            (is_year(&text[..4]) && within(&text[4..6], 12) && within(&text[6..], 31))
                || (is_year(&text[4..]) && within(&text[..2], 31) && within(&text[2..4], 31))
        }
        Some(6) => is_year(&text[..4]) && within(&text[4..], 12),
        _ => false,
    }
}

/// How many digits a value is, if it is nothing else.
pub(crate) fn n_digits(text: &str) -> Option<usize> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then_some(text.len())
}

/// A year that people live in.
pub(crate) fn is_year(text: &str) -> bool {
    n_digits(text) == Some(4) && ("1900"..="2100").contains(&text)
}

/// A form has a 9 for every digit and an A for every letter.
fn is_like(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_alphabetic(),
            other => byte == other,
        })
}

fn is_digit_or(c: char, others: &str) -> bool {
    c.is_ascii_digit() || others.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is: fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(is(text), "{text}");
        }
        for text in no {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn identifiers() {
        check(is_email, &["a@b.org", "a.b+c@d.co.uk"], &["a@b", "@b.org", "a b@c.org", "a@b@c.d"]);
        check(is_url, &["https://a.b", "HTTP://x", "www.a.b"], &["http", "http://", "a.b"]);
        check(is_ip_address, &["10.0.0.1", "::1", "fe80::1:2"], &["10.0.0", "300.1.1.1", "1"]);
        let uuid = "123e4567-e89b-12d3-a456-426614174000";
        check(is_uuid, &[uuid], &[&uuid[1..], "123e4567-e89b-12d3-a456-42661417400g"]);
        let ibans = ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"];
        check(is_iban, &ibans, &["DE89", "de89370400440532013000", "INSURANCEHOLDERS"]);
        check(is_social_security, &["123-45-6789"], &["123456789", "12-345-6789"]);
        check(is_card, &["4111 1111 1111 1111", "4111111111111111"], &["4111111111111112", "41"]);
        let phones = [
            "+44 20 7946 0000",
            "(555) 123-4567",
            "555-123-4567",
            "+15551234567",
            "0171 1234567",
            "06 12 34 56 78",
        ];
        let others = ["12345-6789", "31.12.1999", "1999-12-31", "5551234567", "[10-20]", "1.5"];
        check(is_phone, &phones, &others);
    }

    #[test]
    fn keys_that_machines_make() {
        let addresses = ["0a:1b:2c:3d:4e:5f", "0A-1B-2C-3D-4E-5F"];
        check(is_mac_address, &addresses, &["0a:1b:2c:3d:4e", "12:30:45", "0a:1b:2c:3d:4e:5g"]);
        let tokens = [
            "0777d5c17d4066b8",
            "9B74C989",
            "d41d8cd98f00b204e9800998ecf8427e",
            "kq3ZtX9-aB1c",
            "Zm9vYmFyMTI=",
        ];
        let others = [
            "12345678",
            "deadbeef",
            "20240131",
            "E11.9",
            "InternalMedicine1",
            "HS-grad",
            "SW1A 1AA",
            "ward-2024-01",
            "Some-college",
        ];
        check(is_token, &tokens, &others);
    }

    #[test]
    fn numbers_that_states_give() {
        let numbers = [
            "123.456.789-09",
            "RSSMRA85T10A562S",
            "12345678Z",
            "X1234567L",
            "756.1234.5678.97",
            "AB123456C",
            "44051401359",
            "255081416802538",
            "2 55 08 14 168 025 38",
        ];
        let others = ["44051401358", "255081416802539", "12345678", "A12345678B", "123.456.789"];
        check(is_state_number, &numbers, &others);
    }

    #[test]
    fn addresses_and_forms() {
        let addresses = [
            "12 Main Street",
            "Hauptstr. 5",
            "Lange Stra\u{df}e 7a",
            "3 rue de la Paix",
            "Calle Mayor 3",
            "via Roma 10",
            "Keizersgracht 12",
            "Rua Augusta, 100",
            "ul. D\u{142}uga 7",
        ];
        check(
            is_address,
            &addresses,
            &["Main Street", "12", "Broken Arm", "Ward 7", "B12 deficit"],
        );
        assert_eq!(["P-0012", "AB12cd", ""].map(form), ["A-9", "A9A", ""]);
        check(is_compact_date, &["19991231", "31121999", "202401"], &["19991331", "123456"]);
    }

    #[test]
    fn what_others_may_know() {
        check(
            is_date,
            &["31.12.1999", "12/31/99", "1999/1/3"],
            &["1999", "1.5", "1.2.3", "a/b/cd"],
        );
        let postcodes = ["SW1A 1AA", "M1 1AE", "1234 AB", "K1A 0B1", "12345-6789"];
        check(is_postcode, &postcodes, &["12345", "AB", "1234 ABC", "Oslo 1AA"]);
        check(is_place, &["52.52, 13.405", "POINT(13.4 52.5)"], &["52.52", "1,2", "200.5,1.5"]);
        check(is_year, &["1984"], &["198", "1066", "84", "19845"]);
        assert_eq!(["0123", "", "12a"].map(n_digits), [Some(4), None, None]);
    }

    #[test]
    fn people() {
        let people =
            ["Ada Lovelace", "Lovelace, Ada", "Ada K. Lovelace", "Sean O'Neill", "Émile Zola"];
        let others =
            ["Flu", "broken arm", "HS-grad", "A B", "Ada 2 Lovelace", "One Two Three Four"];
        check(is_person, &people, &others);
    }
}
