//! The CSV inspector against two other parsers: a plain one that knows the inspector's rules, and
//! the `csv` crate; then the file read by the engine, cell by cell.
//!
//! The first byte of an input says whether the delimiter is told (`1` to `4`) or to be recognised;
//! the rest is the file.

use std::collections::HashSet;

use incrowd_engine::fuzzing::{inspect, Inspected};
use incrowd_engine::{read, CsvError, Source, Use};

use crate::{mutation, sandbox, Seed};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Nothing is needed.
pub fn start() {}

/// Files of all forms.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let files: [&[u8]; 16] = [
        b"0a,b\n1,2\n3,4\n",
        b"0a;b\r\n1,5;2\r\n",
        b"0a\tb\r1\t2\r",
        b"0a|b|c\n1|2|3\n",
        b"1\xef\xbb\xbfa,b\n1,2\n\n\r\n",
        b"0\"a,x\",\"b\"\"c\"\n\"1,\",\"\"\"\"\n",
        b"0a,b\n1,\"x\ny\"\n2,\"\r\n\"\n",
        b"0a\n\"\"\n \n",
        b"2a;b,c\n1;2,3\n",
        b"0a,b\n5\" disk,b\"\"\n",
        "0größe,名前\né,ü\n😀😀😀,名前名前\n".as_bytes(),
        b"0a,b\n1,\"2\"x\n",
        b"0a,b\n1,\"2\n3,4\n",
        b"0a,b\n1,2\n\n3,4\n",
        b"0a,b\n1,2,3\n",
        b"0a,b\n1,\xff\n3,\0\n",
    ];
    let long = [b"0".as_slice(), include_bytes!("../../examples/patients/patients.csv")].concat();
    let numbered = files.iter().enumerate().map(|(at, file)| (format!("form-{at}"), file.to_vec()));
    numbered.chain([("patients".to_owned(), long)]).collect()
}

/// Lines are put together anew now and then.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    mutation::of_text(
        data,
        size,
        most,
        seed,
        &[b"\n", b"\"", b",", b"\r\n", b"\"\"", b"\xef\xbb\xbf"],
    )
}

/// Inspects a file, and reads it if it is sound.
pub fn run(input: &[u8]) {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let delimiter = match choice {
        b'1'..=b'4' => Some(DELIMITERS[usize::from(choice - b'1')]),
        _ => None,
    };
    let found = inspect(bytes, delimiter, 1 << 20);
    for block in [4, 7, 64, 130] {
        let other = inspect(bytes, delimiter, block);
        assert_eq!(format!("{found:?}"), format!("{other:?}"), "blocks of {block} bytes");
    }
    let Some(delimiter) = delimiter else {
        let with_each = || DELIMITERS.map(|each| format!("{:?}", inspect(bytes, Some(each), 64)));
        let shown = format!("{found:?}");
        assert!(with_each().contains(&shown), "{shown} is found with no delimiter");
        if let Ok(found) = found {
            let records = check(bytes, found.delimiter, &Ok(found.clone()));
            check_cells(bytes, &found, &records);
        }
        return;
    };
    check(bytes, delimiter, &found);
}

/// A record: its fields, unquoted.
type Record = Vec<Vec<u8>>;

/// Compares a verdict with that of the plain parser, and the records with those of the `csv` crate;
/// the records of a sound file.
fn check(bytes: &[u8], delimiter: u8, found: &Result<Inspected, CsvError>) -> Vec<Record> {
    let plain = Plain::parse(bytes, delimiter);
    match found {
        Ok(found) => {
            assert!(plain.faults.is_empty(), "accepted in spite of {:?}", plain.faults);
            let header: Vec<&[u8]> = found.header.iter().map(String::as_bytes).collect();
            assert_eq!(plain.records[0], header, "the header");
            assert_eq!(plain.records.len() as u64, found.n_rows + 1, "the number of rows");
            assert_eq!(plain.has_newlines, found.has_newlines_in_values, "line ends in quotes");
            assert_eq!(of_csv_crate(bytes, delimiter), plain.records, "the csv crate");
        }
        Err(error) => {
            let shown = format!("{error:?}");
            let kind = shown.split([' ', '(']).next().unwrap_or_default().to_owned();
            let line = error.line().unwrap_or(1);
            let is_expected = plain.expected().any(|fault| fault == (line, kind.as_str()));
            assert!(is_expected, "refused by {shown}, found {:?}", plain.faults);
        }
    }
    plain.records
}

fn of_csv_crate(bytes: &[u8], delimiter: u8) -> Vec<Record> {
    let mut builder = csv::ReaderBuilder::new();
    let builder = builder.has_headers(false).delimiter(delimiter);
    let records = builder.from_reader(bytes).into_byte_records();
    let fields = |record: csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect();
    records.map(|record| fields(record.expect("a sound file"))).collect()
}

/// What a parser without any art makes of a file.
#[derive(Default)]
struct Plain {
    records: Vec<Record>,
    /// What is wrong, by line and name.
    faults: Vec<(u64, &'static str)>,
    /// The last line of the header.
    header_end: u64,
    has_newlines: bool,
}

impl Plain {
    fn parse(bytes: &[u8], delimiter: u8) -> Plain {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut plain = Plain::default();
        plain.bad_bytes(bytes);
        if let Err(fault) = plain.structure(bytes, delimiter) {
            plain.faults.push(fault);
        }
        if let Some(header) = plain.records.first() {
            let name = |field: &Vec<u8>| String::from_utf8_lossy(field).into_owned();
            let names: Vec<String> = header.iter().map(name).collect();
            if names.iter().any(|name| name.trim().is_empty()) {
                plain.faults.push((1, "EmptyHeader"));
            }
            if names.iter().collect::<HashSet<_>>().len() < names.len() {
                plain.faults.push((1, "DuplicateHeader"));
            }
        }
        plain
    }

    fn bad_bytes(&mut self, bytes: &[u8]) {
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        if valid < bytes.len() {
            self.faults.push((line_at(bytes, valid), "NotUtf8"));
        }
        if let Some(nul) = bytes.iter().position(|byte| *byte == 0) {
            self.faults.push((line_at(bytes, nul), "NulByte"));
        }
    }

    /// The faults that may be reported: those on the first line that has any. Faults of the
    /// header's names come before all that follow the header, and after those within it.
    fn expected(&self) -> impl Iterator<Item = (u64, &'static str)> + '_ {
        let first = self.faults.iter().map(|(line, _)| *line).min().unwrap_or(0);
        let has_bad_names = self.faults.iter().any(|(_, name)| name.ends_with("Header"));
        let last = if has_bad_names { self.header_end.max(first) } else { first };
        self.faults.iter().copied().filter(move |(line, _)| *line <= last)
    }

    fn structure(&mut self, bytes: &[u8], delimiter: u8) -> Result<(), (u64, &'static str)> {
        let mut at = 0;
        let mut blank = None;
        while at < bytes.len() {
            let line = line_at(bytes, at);
            if let Some(next) = after_line_end(bytes, at) {
                if self.records.first().is_some_and(|header| header.len() == 1) {
                    return Err((line, "BlankLine"));
                }
                blank.get_or_insert(line);
                at = next;
                continue;
            }
            if let Some(line) = blank {
                return Err((line, "BlankLine"));
            }
            let (record, next) = self.record(bytes, at, delimiter)?;
            let n_expected = self.records.first().map_or(record.len(), Vec::len);
            if record.len() != n_expected {
                return Err((line, "Ragged"));
            }
            self.records.push(record);
            at = next;
            if self.records.len() == 1 {
                self.header_end = line_at(bytes, at.saturating_sub(1));
            }
        }
        if self.records.is_empty() {
            Err((1, "NoHeader"))
        } else {
            Ok(())
        }
    }

    /// The record that starts somewhere, and where the next line starts.
    fn record(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        delimiter: u8,
    ) -> Result<(Record, usize), (u64, &'static str)> {
        let mut record = Vec::new();
        loop {
            let mut field = Vec::new();
            if bytes.get(at) == Some(&b'"') {
                at = self.quoted(bytes, at, &mut field)?;
                let is_end = at == bytes.len() || matches!(bytes[at], b'\n' | b'\r');
                if !is_end && bytes[at] != delimiter {
                    return Err((line_at(bytes, at), "TextAfterQuote"));
                }
            } else {
                let is_in = |byte: &&u8| **byte != delimiter && !matches!(**byte, b'\n' | b'\r');
                field.extend(bytes[at..].iter().take_while(is_in));
                at += field.len();
            }
            record.push(field);
            match bytes.get(at) {
                None => return Ok((record, at)),
                Some(byte) if *byte == delimiter => at += 1,
                Some(_) => {
                    return Ok((record, after_line_end(bytes, at).expect("a line end")));
                }
            }
        }
    }

    /// Takes a quoted field; where the text behind it starts.
    fn quoted(
        &mut self,
        bytes: &[u8],
        start: usize,
        field: &mut Vec<u8>,
    ) -> Result<usize, (u64, &'static str)> {
        let mut at = start + 1;
        let mut has_newlines = false;
        loop {
            match (bytes.get(at), bytes.get(at + 1)) {
                (None, _) => return Err((line_at(bytes, start), "UnclosedQuote")),
                (Some(b'"'), Some(b'"')) => {
                    field.push(b'"');
                    at += 2;
                }
                (Some(b'"'), _) => {
                    self.has_newlines |= has_newlines;
                    return Ok(at + 1);
                }
                (Some(byte), _) => {
                    has_newlines |= matches!(byte, b'\n' | b'\r');
                    field.push(*byte);
                    at += 1;
                }
            }
        }
    }
}

/// Where the line behind a line end starts; none if there is no line end.
fn after_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes[at], bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        (b'\r' | b'\n', _) => Some(at + 1),
        _ => None,
    }
}

/// The number of the line, from 1, that a byte is on.
fn line_at(bytes: &[u8], at: usize) -> u64 {
    let mut line = 1;
    let mut here = 0;
    while here < at {
        match after_line_end(bytes, here) {
            Some(next) if next <= at => {
                line += 1;
                here = next;
            }
            _ => here += 1,
        }
    }
    line
}

/// Reads a sound file with the engine, once as codes and once as it is, and compares the cells.
fn check_cells(bytes: &[u8], found: &Inspected, records: &[Record]) {
    let path = sandbox::write("table.csv", bytes);
    let engine = sandbox::engine();
    let source = Source::open(engine, &path).expect("the inspector found the file sound");
    let names: Vec<&str> = source.columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, found.header, "the columns");
    let cell = |row: usize, column: usize| {
        let field = std::str::from_utf8(&records[row + 1][column]).expect("a sound file");
        (!field.is_empty()).then_some(field)
    };
    let n_rows = records.len() - 1;
    let coded = read(engine, &source, &vec![Use::Code; names.len()], false).expect("a sound file");
    assert_eq!(coded.n_rows, n_rows, "rows with codes");
    for (at, column) in coded.coded.iter().enumerate() {
        for row in 0..n_rows {
            let code = column.codes.get(row) as usize;
            let text = column.values.texts.get(code).map(String::as_str);
            assert_eq!(text, cell(row, at), "row {row}, column {at}, by its code");
        }
    }
    let kept = read(engine, &source, &vec![Use::Keep; names.len()], true).expect("a sound file");
    assert_eq!(kept.n_rows, n_rows, "rows that are kept");
    let mut row = 0;
    for batch in kept.kept.batches() {
        for (at, array) in batch.iter().enumerate() {
            let texts = arrow::array::AsArray::as_string::<i32>(array);
            for (place, text) in texts.iter().enumerate() {
                assert_eq!(text, cell(row + place, at), "row {}, column {at}", row + place);
            }
        }
        row += batch[0].len();
    }
}
