//! The authority on what a CSV file says: csv-core's state machine, with lines and errors.

use memchr::{memchr, memchr3};

use super::HEAD;
use super::certifier::Certifier;
use crate::CsvError;

/// What is wrong with a byte wherever it stands.
#[derive(Clone, Copy)]
pub(super) enum BadByte {
    Nul,
    NotUtf8,
}

/// The first byte of `chunk` that no CSV file may contain.
pub(super) fn first_bad_byte(chunk: &[u8]) -> Option<(usize, BadByte)> {
    let valid = match simdutf8::basic::from_utf8(chunk) {
        Ok(_) => chunk.len(),
        Err(_) => std::str::from_utf8(chunk).map_or_else(|error| error.valid_up_to(), str::len),
    };
    let nul = memchr(0, &chunk[..valid]).map(|at| (at, BadByte::Nul));
    nul.or((valid < chunk.len()).then_some((valid, BadByte::NotUtf8)))
}

/// Where in a record the scanner is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    RecordStart,
    FieldStart,
    Unquoted,
    Quoted,
    /// After a quote in a quoted field: it closes the field, unless another quote follows.
    QuoteSeen,
}

/// Where reading in file order has got to, and what has been found so far.
pub(super) struct Scanner {
    delimiter: u8,
    /// The header's number of fields; unknown until its end is read or it is told.
    pub(super) expected: Option<u64>,
    mode: Mode,
    /// The byte before the next one.
    last: u8,
    /// Fields of this record so far.
    pub(super) fields: u64,
    /// Sound records so far, the header included.
    pub(super) records: u64,
    line: u64,
    record_line: u64,
    quote_line: u64,
    /// The first of the blank lines just read, an error if anything follows.
    blank: Option<u64>,
    /// A bad byte in this record, an error unless the record has another on an earlier line.
    bad: Option<(u64, BadByte)>,
    pub(super) newlines_in_values: bool,
}

impl Scanner {
    pub(super) fn new(delimiter: u8, expected: Option<u64>) -> Self {
        Self {
            delimiter,
            expected,
            mode: Mode::RecordStart,
            last: 0,
            fields: 0,
            records: 0,
            line: 1,
            record_line: 1,
            quote_line: 1,
            blank: None,
            bad: None,
            newlines_in_values: false,
        }
    }

    /// Feeds `head` until `limit` records are read, and then its end if it is the `whole` file.
    pub(super) fn feed_records(
        &mut self,
        head: &[u8],
        whole: bool,
        limit: u64,
        find_bad: impl Fn(&[u8]) -> Option<(usize, BadByte)>,
    ) -> Result<(), CsvError> {
        for line in head.split_inclusive(|&byte| byte == b'\n') {
            self.feed_checked(line, find_bad(line))?;
            if self.records >= limit {
                return Ok(());
            }
        }
        if whole { self.finish() } else { Ok(()) }
    }

    /// The state after `chunk` if a record starts with it; none if something is wrong with it then.
    pub(super) fn guess(&self, chunk: &[u8]) -> Option<Self> {
        let mut ahead = Self::new(self.delimiter, self.expected);
        let Some(sound) = Certifier::certify(chunk, self.delimiter, self.expected?) else {
            return ahead.feed(chunk).ok().map(|()| ahead);
        };
        ahead.records = sound.rows;
        ahead.line += sound.rows + sound.inner_lines;
        ahead.newlines_in_values = sound.inner_lines > 0;
        ahead.last = b'\n';
        Some(ahead)
    }

    /// Whether a record could start here with nothing held against what came before.
    pub(super) fn is_fresh(&self) -> bool {
        self.mode == Mode::RecordStart && self.last != b'\r' && self.blank.is_none()
    }

    /// Goes on to the state of a scanner that started where this one is.
    pub(super) fn absorb(&mut self, ahead: &Self) {
        let before = self.line - 1;
        self.mode = ahead.mode;
        self.last = ahead.last;
        self.fields = ahead.fields;
        self.records += ahead.records;
        self.line = before + ahead.line;
        self.record_line = before + ahead.record_line;
        self.quote_line = before + ahead.quote_line;
        self.blank = ahead.blank.map(|line| before + line);
        self.newlines_in_values |= ahead.newlines_in_values;
    }

    /// Feeds `chunk`, whose first bad byte is at the given index.
    pub(super) fn feed_checked(
        &mut self,
        chunk: &[u8],
        bad: Option<(usize, BadByte)>,
    ) -> Result<(), CsvError> {
        let Some((at, kind)) = bad else { return self.feed(chunk) };
        self.feed(&chunk[..at])?;
        self.bad.get_or_insert((self.line, kind));
        self.feed(&chunk[at..])
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), CsvError> {
        let mut at = 0;
        while at < bytes.len() {
            let next = match self.mode {
                Mode::Unquoted => memchr3(self.delimiter, b'\n', b'\r', &bytes[at..]),
                Mode::Quoted => memchr3(b'"', b'\n', b'\r', &bytes[at..]),
                Mode::RecordStart | Mode::FieldStart | Mode::QuoteSeen => Some(0),
            };
            let Some(skipped) = next else { break };
            at += skipped;
            match bytes[at] {
                // The second half of a line end: its first half has been dealt with.
                b'\n' if b'\r' == if at == 0 { self.last } else { bytes[at - 1] } => {}
                b'\n' | b'\r' => self.end_line()?,
                byte => self.step(byte)?,
            }
            at += 1;
        }
        self.last = bytes.last().copied().unwrap_or(self.last);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), CsvError> {
        match self.mode {
            Mode::Quoted => self.newlines_in_values = true,
            Mode::RecordStart if self.expected == Some(1) => {
                return Err(self.error(CsvError::BlankLine { line: self.line }));
            }
            Mode::RecordStart => {
                self.blank.get_or_insert(self.line);
            }
            Mode::FieldStart | Mode::Unquoted | Mode::QuoteSeen => self.end_record()?,
        }
        self.line += 1;
        Ok(())
    }

    /// Takes a byte that is no line end.
    fn step(&mut self, byte: u8) -> Result<(), CsvError> {
        if self.mode == Mode::RecordStart {
            if let Some(line) = self.blank {
                return Err(self.error(CsvError::BlankLine { line }));
            }
            self.record_line = self.line;
            self.fields = 1;
        }
        let delimits = byte == self.delimiter && self.mode != Mode::Quoted;
        self.fields += u64::from(delimits);
        self.mode = match (self.mode, byte) {
            _ if delimits => Mode::FieldStart,
            (Mode::RecordStart | Mode::FieldStart, b'"') => {
                self.quote_line = self.line;
                Mode::Quoted
            }
            (Mode::RecordStart | Mode::FieldStart | Mode::Unquoted, _) => Mode::Unquoted,
            (Mode::Quoted, b'"') => Mode::QuoteSeen,
            (Mode::QuoteSeen, b'"') | (Mode::Quoted, _) => Mode::Quoted,
            (Mode::QuoteSeen, _) => {
                return Err(self.error(CsvError::TextAfterQuote { line: self.line }));
            }
        };
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), CsvError> {
        let (line, found) = (self.record_line, self.fields);
        let expected = *self.expected.get_or_insert(found);
        if found != expected {
            return Err(self.error(CsvError::Ragged { line, found, expected }));
        }
        if let Some(bad) = self.bad {
            return Err(bad_byte(bad));
        }
        self.records += 1;
        self.mode = Mode::RecordStart;
        Ok(())
    }

    /// Takes the end of the file.
    pub(super) fn finish(&mut self) -> Result<(), CsvError> {
        match self.mode {
            Mode::RecordStart if self.records == 0 => Err(CsvError::NoHeader),
            Mode::RecordStart => Ok(()),
            Mode::Quoted => Err(self.error(CsvError::UnclosedQuote { line: self.quote_line })),
            Mode::FieldStart | Mode::Unquoted | Mode::QuoteSeen => self.end_record(),
        }
    }

    /// Why there is no header though enough for one was fed.
    pub(super) fn unfinished(&self) -> CsvError {
        self.error(match (self.mode, self.blank) {
            (Mode::Quoted, _) => CsvError::UnclosedQuote { line: self.quote_line },
            (_, Some(line)) => CsvError::BlankLine { line },
            (_, None) => CsvError::HeaderTooLong { limit: HEAD },
        })
    }

    /// `error`, or the bad byte before it if that is not on a later line.
    fn error(&self, error: CsvError) -> CsvError {
        match self.bad {
            Some(bad) if Some(bad.0) <= error.line() => bad_byte(bad),
            _ => error,
        }
    }
}

fn bad_byte((line, kind): (u64, BadByte)) -> CsvError {
    match kind {
        BadByte::Nul => CsvError::NulByte { line },
        BadByte::NotUtf8 => CsvError::NotUtf8 { line },
    }
}
