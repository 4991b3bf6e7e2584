use std::fs;
use std::io::Write;

use super::certifier::Certifier;
use super::*;

/// What is found in `bytes`, whatever the size of the blocks they are read in.
#[track_caller]
fn found(bytes: &[u8], delimiter: Option<u8>, blocks: &[usize]) -> String {
    let mut all = blocks.iter().map(|&block| show(inspect_blocks(bytes, delimiter, block)));
    let first = all.next().unwrap();
    all.for_each(|other| assert_eq!(first, other, "blocks differ for {:?}", bytes.escape_ascii()));
    first
}

fn show(outcome: Result<CsvFacts, CsvError>) -> String {
    match outcome {
        Ok(facts) => {
            let newlines = if facts.has_newlines_in_values { ", newlines" } else { "" };
            let (delimiter, header) = (char::from(facts.delimiter), facts.header);
            format!("{delimiter:?} {header:?} {} rows{newlines}", facts.n_rows)
        }
        Err(error) => format!("{error:?}"),
    }
}

#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(found(bytes.as_ref(), None, &[7, 8, 64, 1000]), expected);
}

#[test]
fn sound_files() {
    check("a,b\n1,2\n3,4\n", r#"',' ["a", "b"] 2 rows"#);
    check("a,b\n1,2\n3,4", r#"',' ["a", "b"] 2 rows"#);
    check("a,b\r\n1,2\r\n3,4\r\n", r#"',' ["a", "b"] 2 rows"#);
    check("a,b\r1,2\r3,4\r", r#"',' ["a", "b"] 2 rows"#);
    check("a,b\r1,2\n3,4\r\n5,6", r#"',' ["a", "b"] 3 rows"#);
    check("a,b\n", r#"',' ["a", "b"] 0 rows"#);
    check("a", r#"',' ["a"] 0 rows"#);
    check("a,b\n1,", r#"',' ["a", "b"] 1 rows"#);
    check("a,b\n,\n,", r#"',' ["a", "b"] 2 rows"#);
    check("a\n\"\"\n \n", r#"',' ["a"] 2 rows"#);
    check("a,b\n1,2\n\n\r\n\r", r#"',' ["a", "b"] 1 rows"#);
    check("a , b\n1,2\n", r#"',' ["a ", " b"] 1 rows"#);
    check("\u{feff}a,b\n1,2\n", r#"',' ["a", "b"] 1 rows"#);
    check("\u{feff}\"a\",b\n1,2\n", r#"',' ["a", "b"] 1 rows"#);
    check("größe,名前\né,ü\n😀😀😀😀😀😀,名前名前名前\n", r#"',' ["größe", "名前"] 2 rows"#);
}

#[test]
fn quotes() {
    check("\"a\",\"b\"\n\"1\",\"2\"\n", r#"',' ["a", "b"] 1 rows"#);
    check("\"a,x\",\"b\"\"c\"\n\"1,\",\"\"\"\"\n", r#"',' ["a,x", "b\"c"] 1 rows"#);
    check("a,b\n5\" disk,b\"\"\n", r#"',' ["a", "b"] 1 rows"#);
    check("a,b\n1, \"x\n", r#"',' ["a", "b"] 1 rows"#);
    check("a,b\n1,\"x\ny\"\n", r#"',' ["a", "b"] 1 rows, newlines"#);
    check("a,b\n1,\"x\ry\"\n2,3", r#"',' ["a", "b"] 2 rows, newlines"#);
    check("a,b\n1,\"\n\n\r\n\"\n", r#"',' ["a", "b"] 1 rows, newlines"#);
    check("\"a\nx\",b\n1,2\n", r#"',' ["a\nx", "b"] 1 rows, newlines"#);
    check("a,b\n1,\"2\"x\n", "TextAfterQuote { line: 2 }");
    check("a,b\n1,\"2\n\" \n", "TextAfterQuote { line: 3 }");
    check("a,\"b\" \n1,2\n", "TextAfterQuote { line: 1 }");
    check("a,b\n1,\"2\n3,4\n", "UnclosedQuote { line: 2 }");
    check("a,b\n\"1\n\",\"2\n3,4\n", "UnclosedQuote { line: 3 }");
    check("a,b\n1,\"", "UnclosedQuote { line: 2 }");
    check("a,\"b\n1,2\n", "UnclosedQuote { line: 1 }");
}

#[test]
fn delimiters() {
    check("a;b\n1,5;2\n", r#"';' ["a", "b"] 1 rows"#);
    check("a\tb\n1\t2\n", r#"'\t' ["a", "b"] 1 rows"#);
    check("a|b|c\n1|2|3\n", r#"'|' ["a", "b", "c"] 1 rows"#);
    check("a b\n1 2\n", r#"',' ["a b"] 1 rows"#);
    check("a;b,c\n1;2,3\n", r#"',' ["a;b", "c"] 1 rows"#);
    check("a,b,c;d\n1;2\n", r#"';' ["a,b,c", "d"] 1 rows"#);
    check("a,b,c;d\n1;2\n\n3;4", "BlankLine { line: 3 }");
    check("\"a\";\"x,y,z\"\n\"1\";\"2,3,4\"\n", r#"';' ["a", "x,y,z"] 1 rows"#);
    check("a,b;c;d\n1\n", "Ragged { line: 2, found: 1, expected: 3 }");
    check("a,b\n1;2;3\n", "Ragged { line: 2, found: 1, expected: 2 }");
    let sample = |rows: usize| format!("a,b;c;d\n{}1,2\n", "1,2;3;4\n".repeat(rows));
    check(sample(98), "',' [\"a\", \"b;c;d\"] 99 rows");
    check(sample(99), "Ragged { line: 101, found: 1, expected: 3 }");
    let forced = |delimiter| found(b"a;b,c\n1;2,3\n", Some(delimiter), &[7, 99]);
    assert_eq!(forced(b';'), r#"';' ["a", "b,c"] 1 rows"#);
    assert_eq!(forced(b'#'), r#"'#' ["a;b,c"] 1 rows"#);
    for byte in [0, b'"', b'\n', b'\r', 0x80, 0xff] {
        assert_eq!(forced(byte), format!("BadDelimiter {{ found: {byte} }}"));
    }
}

#[test]
fn headers() {
    check("", "NoHeader");
    check("\u{feff}", "NoHeader");
    check("\n\r\n\r", "NoHeader");
    check("a,,c\n1,2,3\n", "EmptyHeader { column: 2 }");
    check("a,\" \t\"\n1,2\n", "EmptyHeader { column: 2 }");
    check(",\n1,2,3\n", "EmptyHeader { column: 1 }");
    check("a,b,\"a\"\n1,2\n", "DuplicateHeader { first: 1, second: 3 }");
    check("a,a\r1,2,3\r", "DuplicateHeader { first: 1, second: 2 }");
    check("a,A, a\n1,2,3\n", r#"',' ["a", "A", " a"] 1 rows"#);
    check(b"a,a\xff\n", "NotUtf8 { line: 1 }");
}

#[test]
fn headers_that_do_not_end() {
    let long = "ä".repeat(HEAD / 2);
    let check = |bytes: String, expected: &str| {
        assert_eq!(show(inspect_blocks(bytes.as_bytes(), None, BLOCK)), expected);
    };
    check(format!("a{long}b\n"), "HeaderTooLong { limit: 1048576 }");
    check(format!("a\0{long}b\n"), "NulByte { line: 1 }");
    check(format!("\n,\"{long}b\n"), "BlankLine { line: 1 }");
    check(format!("a,\"\n{long}b\",c\n1,2\n"), "UnclosedQuote { line: 1 }");
    check("\n".repeat(HEAD + 1), "BlankLine { line: 1 }");
}

#[test]
fn records() {
    check("a,b\n1,2\n3\n", "Ragged { line: 3, found: 1, expected: 2 }");
    check("a,b\n1,2,3\n3\n", "Ragged { line: 2, found: 3, expected: 2 }");
    check("a,b\r\n1,2\r\n3,4,5", "Ragged { line: 3, found: 3, expected: 2 }");
    check("a,b\n1,\"2\n\n\"\n\"\n\"\n", "Ragged { line: 5, found: 1, expected: 2 }");
    check("a,b\n1,2\n \n", "Ragged { line: 3, found: 1, expected: 2 }");
    check("a,b\n1,2\n\n3,4\n", "BlankLine { line: 3 }");
    check("a,b\n1,2\r\n\r\n\r\n3\n", "BlankLine { line: 3 }");
    check("a,b\n1,2\r\r\n3,4\n", "BlankLine { line: 3 }");
    check("a,b\n1,2\n\r3,4\n", "BlankLine { line: 3 }");
    check("\na,b\n1,2\n", "BlankLine { line: 1 }");
    check("a\n1\n\n2\n", "BlankLine { line: 3 }");
    check("a\n1\n\n", "BlankLine { line: 3 }");
}

#[test]
fn bytes() {
    check(b"a,b\n1,2\n3,\xff\n", "NotUtf8 { line: 3 }");
    check(b"a,b\n1,\xe2\x82\n3,4\n", "NotUtf8 { line: 2 }");
    check(b"a,b\n1,2\n3,\xe2\x82", "NotUtf8 { line: 3 }");
    check(b"\xff\xfea\0,\0b\0\n\0", "NotUtf8 { line: 1 }");
    check("a,b\n1,2\r\n3,\0\n", "NulByte { line: 3 }");
    check("a,b\n1,\"2\n\0\"\n", "NulByte { line: 3 }");
}

#[test]
fn the_first_of_several_errors() {
    check("a,b\n1\n2,\0\n", "Ragged { line: 2, found: 1, expected: 2 }");
    check("a,b\n1,2\0\n2\n", "NulByte { line: 2 }");
    check("a,b\n1\0\n2\n", "NulByte { line: 2 }");
    check("a,b\n\"1\n\0\"\n2\n", "Ragged { line: 2, found: 1, expected: 2 }");
    check("a,b\n1,\"2\n\0", "UnclosedQuote { line: 2 }");
    check("a,b\n1,\"2\n\0\"x\n", "NulByte { line: 3 }");
    check("a,b\n\n\0", "BlankLine { line: 2 }");
    check(b"a,b\n1,\0\xff\n", "NulByte { line: 2 }");
    check(b"a,b\n1,\xff\0\n", "NotUtf8 { line: 2 }");
}

#[test]
fn messages_say_the_line_and_no_cell() {
    let message = |bytes: &str| inspect_blocks(bytes.as_bytes(), None, 7).unwrap_err().to_string();
    assert_eq!(message("a,b\nx,y,z\n"), "line 2 has 3 fields where the header has 2");
    assert_eq!(message("a,b\nx\n"), "line 2 has 1 field where the header has 2");
    assert!(message("a\n\n").ends_with("write \"\" for a missing value"));
    for bytes in ["a,b\n\"secret\"x,1\n", "a,b\nsecret,\"1\n", "a,b\nsecret\n", "a,b\nsecret\0,1\n"]
    {
        assert!(message(bytes).starts_with("line 2 ") && !message(bytes).contains("secret"));
    }
}

#[test]
fn the_fast_path_is_taken_where_it_may_be() {
    // The dots stand for a text of every length, so that lanes end everywhere.
    let vouched = |line: &str, pad: usize, times: usize| {
        let lines = line.replace('.', &"x".repeat(pad)).repeat(times);
        let sound = Certifier::certify(lines.as_bytes(), b',', 3)?;
        Some((sound.rows, sound.inner_lines))
    };
    let sound = ["1.,22,333\n", ".,22,\r\n", "1.,\"2,\"\"2\",\"\"\n", "\".\n\",\"2,\r\n\",3\r\n"];
    let unsound =
        ["1.,2\n", "1,.2,3,.4\n", "1.,2,3\n\n", "1.,2,3\r\n\r\n", "1.,2,3\r", "1.,2,\"\n"];
    let misquoted = ["1.,2,5\"\n", "1,.\"2\",3\n", "1.,\"2\"x,3\n", "1,2,\"3.\" \n"];
    for pad in 1..200 {
        assert_eq!(sound.map(|line| vouched(line, pad, 9).unwrap().0), [9; 4], "{pad}");
        assert_eq!(vouched(sound[3], pad, 9), Some((9, 18)));
        assert_eq!(unsound.map(|line| vouched(line, pad, 1)), [None; 6], "{pad}");
        assert_eq!(misquoted.map(|line| vouched(line, pad, 1)), [None; 4], "{pad}");
    }
}

#[test]
fn compressed_files() {
    let text = format!("a,b\n{}", "1,22\n".repeat(100_000));
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
    let (gz, zst) = (gzip(&text), zstd(&text));
    let (gz_twice, zst_twice) =
        ([&gz[..], &gzip("3,4")].concat(), [&zst[..], &zstd("3,4")].concat());
    let file = tempfile::NamedTempFile::new().unwrap();
    let check = |bytes: &[u8], compression, expected: &str| {
        fs::write(file.path(), bytes).unwrap();
        let shown = show(inspect(file.path(), compression, None, &AtomicBool::new(false)));
        assert!(shown.starts_with(expected), "{shown}");
    };
    check(text.as_bytes(), Compression::None, r#"',' ["a", "b"] 100000 rows"#);
    check(&gz, Compression::Gzip, r#"',' ["a", "b"] 100000 rows"#);
    check(&zst, Compression::Zstd, r#"',' ["a", "b"] 100000 rows"#);
    check(&gz_twice, Compression::Gzip, r#"',' ["a", "b"] 100001 rows"#);
    check(&zst_twice, Compression::Zstd, r#"',' ["a", "b"] 100001 rows"#);
    check(&gz[..gz.len() - 9], Compression::Gzip, "Decompress { format: \"gzip\"");
    check(&zst[..zst.len() - 1], Compression::Zstd, "Decompress { format: \"zstd\"");
    check(text.as_bytes(), Compression::Gzip, "Decompress { format: \"gzip\"");
    check(text.as_bytes(), Compression::Zstd, "Decompress { format: \"zstd\"");
    check(&gz, Compression::None, "N");
    let missing = file.path().with_extension("missing");
    let never = AtomicBool::new(false);
    assert!(matches!(inspect(&missing, Compression::Gzip, None, &never), Err(CsvError::Io(_))));
}

#[test]
fn the_longest_row_is_known() {
    let extent = |text: &str| inspect_blocks(text.as_bytes(), None, 64).unwrap().extent;
    let short = "a,b\n".to_owned() + &"1,2\n".repeat(1000);
    let found = extent(&short);
    assert_eq!(found.n_bytes, short.len() as u64);
    assert!(found.longest_row <= 64 && found.row_bytes <= 8, "{found:?}");
    for (before, after) in [(0, 0), (1000, 0), (0, 1000), (500, 500)] {
        let rows = |n: usize| "1,2\n".repeat(n);
        let long = format!("a,b\n{}1,\"{}\"\n{}", rows(before), "x\n".repeat(5000), rows(after));
        let found = extent(&long);
        assert!((10_000..10_200).contains(&found.longest_row), "{found:?}");
        assert!(found.row_bytes >= 10_000 / 20, "{found:?}");
    }
}

/// A pseudo-random number below `n`.
fn draw(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % n
}

#[test]
fn random_bytes_are_read_as_by_the_reference() {
    let mut state = 1;
    for _ in 0..20_000 {
        let len = draw(&mut state, 24);
        let bytes: Vec<u8> = (0..len).map(|_| b"aaa,,;\"\"\n\n\r"[draw(&mut state, 11)]).collect();
        check(&bytes, &show(reference::inspect(&bytes)));
    }
}

#[test]
fn random_tables_are_read_as_by_the_reference() {
    let mut state = 2;
    let (mut sound, mut multiline) = (0, 0);
    for _ in 0..6_000 {
        let bytes = random_table(&mut state);
        let expected = show(reference::inspect(&bytes));
        assert_eq!(found(&bytes, None, &[7, 100, 2000, 100_000]), expected);
        sound += u32::from(expected.contains("rows"));
        multiline += u32::from(expected.contains("newlines"));
    }
    assert!((2000..5000).contains(&sound) && multiline > 1000, "{sound} {multiline}");
}

/// A table that has about one fault.
fn random_table(state: &mut u64) -> Vec<u8> {
    let cells: [&[u8]; 10] = [
        b"",
        b"a",
        b"1.5",
        b"\"\"",
        b"\"x\"",
        b"\"a,b\"",
        b"\"\"\"\n\r\n\"",
        b"6\"",
        "é€😀".as_bytes(),
        b"a longer text that goes on",
    ];
    let (columns, rows) = (1 + draw(state, 4), draw(state, 40));
    let kinds = 2 + draw(state, cells.len() - 1);
    let end: &[u8] = [&b"\n"[..], b"\r\n", b"\r"][draw(state, 9) % 7 % 3];
    let mut bytes = b"c1,c2,c3,c4"[..columns * 3 - 1].to_vec();
    for _ in 0..rows {
        bytes.extend(end);
        let mut row = Vec::new();
        for column in 0..columns {
            row.extend(if column > 0 { &b","[..] } else { b"" });
            row.extend(cells[draw(state, kinds)]);
        }
        bytes.extend(if row.is_empty() { b"\"\"" } else { &row[..] });
    }
    bytes.extend(if draw(state, 2) == 0 { end } else { b"" });
    if draw(state, 2) == 0 {
        let at = draw(state, bytes.len() + 1);
        bytes.splice(at..at, [b",;\"\n\ra\0\xff"[draw(state, 8)]]);
    }
    bytes
}

/// The same inspection, one byte after another and with the whole file at hand.
mod reference {
    use super::super::{CsvError, CsvFacts, DELIMITERS};

    enum Item {
        Blank { at: usize, line: u64 },
        Record { start: usize, end: usize, fields: Vec<String>, newlines: bool },
        Broken { start: usize, at: usize, n_fields: usize, error: CsvError },
    }

    fn is_end(byte: u8) -> bool {
        byte == b'\n' || byte == b'\r'
    }

    fn line_of(bytes: &[u8], at: usize) -> u64 {
        let ends_line =
            |&i: &usize| bytes[i] == b'\n' || bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n');
        1 + (0..at).filter(ends_line).count() as u64
    }

    fn items(bytes: &[u8], delimiter: u8) -> Vec<Item> {
        let (mut items, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            if is_end(bytes[at]) {
                items.push(Item::Blank { at, line: line_of(bytes, at) });
            } else {
                let item = record(bytes, at, delimiter);
                at = if let Item::Record { end, .. } = &item { *end } else { bytes.len() };
                items.push(item);
            }
            at += if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
        }
        items
    }

    fn record(bytes: &[u8], start: usize, delimiter: u8) -> Item {
        let (mut at, mut fields, mut newlines) = (start, Vec::new(), false);
        let stops = |at: usize| at == bytes.len() || bytes[at] == delimiter || is_end(bytes[at]);
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        loop {
            let open = at;
            let broken = |at, error| Item::Broken { start, at, n_fields: fields.len() + 1, error };
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                while at < bytes.len() && (bytes[at] != b'"' || bytes.get(at + 1) == Some(&b'"')) {
                    newlines |= is_end(bytes[at]);
                    at += if bytes[at] == b'"' { 2 } else { 1 };
                }
                if at == bytes.len() {
                    return broken(at, CsvError::UnclosedQuote { line: line_of(bytes, open) });
                }
                at += 1;
                if !stops(at) {
                    return broken(at, CsvError::TextAfterQuote { line: line_of(bytes, at) });
                }
                fields.push(text(&bytes[open + 1..at - 1]).replace("\"\"", "\""));
            } else {
                while !stops(at) {
                    at += 1;
                }
                fields.push(text(&bytes[open..at]));
            }
            if bytes.get(at) != Some(&delimiter) {
                return Item::Record { start, end: at, fields, newlines };
            }
            at += 1;
        }
    }

    fn recognise(bytes: &[u8]) -> u8 {
        let splits = |delimiter: u8| {
            let items = items(bytes, delimiter);
            let sample: Vec<Option<usize>> = items
                .iter()
                .map_while(|item| match item {
                    Item::Blank { .. } => None,
                    Item::Record { fields, .. } => Some(Some(fields.len())),
                    Item::Broken { .. } => Some(None),
                })
                .collect();
            let n_fields = match items.first() {
                Some(Item::Record { fields, .. }) => fields.len(),
                Some(Item::Broken { n_fields, .. }) => *n_fields,
                _ => 0,
            };
            (sample.iter().take(100).all(|&found| found == Some(n_fields)), n_fields)
        };
        let mut splitting: Vec<u8> =
            DELIMITERS.into_iter().filter(|&by| splits(by).1 > 1).collect();
        splitting.sort_by_key(|&by| std::cmp::Reverse(splits(by)));
        *splitting.first().unwrap_or(&b',')
    }

    fn bad_byte(bytes: &[u8]) -> Option<(usize, CsvError)> {
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        match bytes[..valid].iter().position(|&byte| byte == 0) {
            Some(at) => Some((at, CsvError::NulByte { line: line_of(bytes, at) })),
            None if valid == bytes.len() => None,
            None => Some((valid, CsvError::NotUtf8 { line: line_of(bytes, valid) })),
        }
    }

    fn name_error(names: &[String]) -> Option<CsvError> {
        (0..names.len()).find_map(|i| {
            let same = names[..i].iter().position(|name| *name == names[i]);
            match same.map(|j| j + 1) {
                _ if names[i].trim().is_empty() => Some(CsvError::EmptyHeader { column: i + 1 }),
                Some(first) => Some(CsvError::DuplicateHeader { first, second: i + 1 }),
                None => None,
            }
        })
    }

    pub(super) fn inspect(bytes: &[u8]) -> Result<CsvFacts, CsvError> {
        let bad = bad_byte(bytes);
        let structure = structure(bytes, bad.as_ref().map(|(at, _)| *at));
        match (structure, bad) {
            (Err((at, error)), Some((bad_at, bad)))
                if bad_at <= at && bad.line() <= error.line() =>
            {
                Err(bad)
            }
            (Err((_, error)), _) | (Ok(_), Some((_, error))) => Err(error),
            (Ok(facts), None) => Ok(facts),
        }
    }

    /// The facts, or the first error of structure and where it shows.
    fn structure(bytes: &[u8], bad_at: Option<usize>) -> Result<CsvFacts, (usize, CsvError)> {
        let delimiter = recognise(bytes);
        let mut facts = CsvFacts {
            delimiter,
            header: vec![],
            n_rows: 0,
            has_newlines_in_values: false,
            looks_headerless: false,
            extent: super::super::Extent::default(),
        };
        let mut blank = None;
        for item in items(bytes, delimiter) {
            if let (Item::Record { start, .. } | Item::Broken { start, .. }, Some(line)) =
                (&item, blank)
            {
                return Err((*start, CsvError::BlankLine { line }));
            }
            match item {
                Item::Blank { at, line } if facts.header.len() == 1 => {
                    return Err((at, CsvError::BlankLine { line }));
                }
                Item::Blank { line, .. } => blank = blank.or(Some(line)),
                Item::Broken { at, error, .. } => return Err((at, error)),
                Item::Record { end, fields, newlines, .. } if facts.header.is_empty() => {
                    // Names are judged only in a header without bad bytes.
                    if bad_at.is_none_or(|at| at > end)
                        && let Some(error) = name_error(&fields)
                    {
                        return Err((0, error));
                    }
                    facts.header = fields;
                    facts.has_newlines_in_values = newlines;
                }
                Item::Record { start, end, fields, newlines } => {
                    let (found, expected) = (fields.len() as u64, facts.header.len() as u64);
                    if found != expected {
                        return Err((
                            end,
                            CsvError::Ragged { line: line_of(bytes, start), found, expected },
                        ));
                    }
                    facts.n_rows += 1;
                    facts.has_newlines_in_values |= newlines;
                }
            }
        }
        if facts.header.is_empty() { Err((0, CsvError::NoHeader)) } else { Ok(facts) }
    }
}
