//! The compact protocol of Thrift, in which the metadata of Parquet files is written: enough of it
//! to look at a few numbers and to pass over the rest without allocating anything.

/// Structures, lists and maps within each other; the metadata of a Parquet file has fewer than ten.
const MOST_NESTED: u8 = 32;

/// Why the bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// They end too early; more of them may help.
    TooShort,
    /// They say what cannot be.
    Damaged,
}

/// The type of a field, of an element or of a key, as it is written.
pub(super) type Kind = u8;

pub(super) const TRUE: Kind = 1;
pub(super) const FALSE: Kind = 2;
pub(super) const BYTE: Kind = 3;
pub(super) const I16: Kind = 4;
pub(super) const I32: Kind = 5;
pub(super) const I64: Kind = 6;
pub(super) const DOUBLE: Kind = 7;
pub(super) const BINARY: Kind = 8;
pub(super) const LIST: Kind = 9;
pub(super) const SET: Kind = 10;
const MAP: Kind = 11;
pub(super) const STRUCT: Kind = 12;
const UUID: Kind = 13;

/// Reads from the beginning of the bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    n_nested: u8,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, n_nested: 0 }
    }

    pub(super) fn n_left(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a structure. Every field is handed over by its number and type, and must be read or
    /// [passed over](Reader::pass).
    pub(super) fn fields(
        &mut self,
        field: &mut dyn FnMut(&mut Reader<'a>, i64, Kind) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.nested(|reader| {
            let mut id = 0i64;
            loop {
                let head = reader.byte()?;
                let kind = head & 0x0f;
                if kind == 0 {
                    return Ok(());
                }
                id = match head >> 4 {
                    0 => reader.number()?,
                    step => id.saturating_add(i64::from(step)),
                };
                if !(1..=i64::from(i16::MAX)).contains(&id) {
                    return Err(Fault::Damaged);
                }
                field(reader, id, kind)?;
            }
        })
    }

    /// Reads a list. Every element is handed over, and must be read or passed over.
    pub(super) fn list(
        &mut self,
        element: &mut dyn FnMut(&mut Reader<'a>, Kind) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let head = self.byte()?;
        let n = match head >> 4 {
            15 => self.varint()?,
            n => u64::from(n),
        };
        // Every element takes a byte at least.
        self.has(n)?;
        self.nested(|reader| (0..n).try_for_each(|_| element(reader, head & 0x0f)))
    }

    /// A whole number of 16, 32 or 64 bits.
    pub(super) fn number(&mut self) -> Result<i64, Fault> {
        let coded = self.varint()?;
        Ok((coded >> 1).cast_signed() ^ -(coded & 1).cast_signed())
    }

    /// Passes over the value of a field.
    pub(super) fn pass(&mut self, kind: Kind) -> Result<(), Fault> {
        match kind {
            // Truth is in the type.
            TRUE | FALSE => Ok(()),
            BYTE => self.skip(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.skip(8),
            BINARY => {
                let n = self.varint()?;
                self.skip(n)
            }
            LIST | SET => self.list(&mut |reader, kind| reader.pass_element(kind)),
            MAP => self.pass_map(),
            STRUCT => self.fields(&mut |reader, _, kind| reader.pass(kind)),
            UUID => self.skip(16),
            _ => Err(Fault::Damaged),
        }
    }

    /// The same within a list, where truth takes a byte.
    fn pass_element(&mut self, kind: Kind) -> Result<(), Fault> {
        if matches!(kind, TRUE | FALSE) { self.skip(1) } else { self.pass(kind) }
    }

    fn pass_map(&mut self) -> Result<(), Fault> {
        let n = self.varint()?;
        self.has(n)?;
        if n == 0 {
            return Ok(());
        }
        let kinds = self.byte()?;
        self.nested(|reader| {
            (0..n).try_for_each(|_| {
                reader.pass_element(kinds >> 4)?;
                reader.pass_element(kinds & 0x0f)
            })
        })
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Reader<'a>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.n_nested == MOST_NESTED {
            return Err(Fault::Damaged);
        }
        self.n_nested += 1;
        let read = read(self);
        self.n_nested -= 1;
        read
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let (&first, rest) = self.bytes.split_first().ok_or(Fault::TooShort)?;
        self.bytes = rest;
        Ok(first)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Damaged)
    }

    fn has(&self, n: u64) -> Result<(), Fault> {
        if n <= self.bytes.len() as u64 { Ok(()) } else { Err(Fault::TooShort) }
    }

    fn skip(&mut self, n: u64) -> Result<(), Fault> {
        self.has(n)?;
        self.bytes = usize::try_from(n).ok().and_then(|n| self.bytes.get(n..)).unwrap_or_default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_passed_over() {
        // A structure of: true, a byte, -1, a double, "ab", [true, false], a map of a byte to "x",
        // a structure in field 100.
        let bytes = [
            0x11, 0x13, 7, 0x15, 1, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x18, 2, b'a', b'b', 0x19, 0x21,
            1, 2, 0x1b, 1, 0x38, 9, 1, b'x', 0x0c, 0xc8, 1, 0x15, 2, 0, 0, 77,
        ];
        let mut seen = Vec::new();
        let mut reader = Reader::new(&bytes);
        let read = reader.fields(&mut |reader, id, kind| {
            seen.push((id, kind));
            reader.pass(kind)
        });
        assert_eq!(read, Ok(()));
        let kinds = [1, 3, 5, 7, 8, 9, 11].into_iter().zip(1..).map(|(kind, id)| (id, kind));
        assert_eq!(seen, kinds.chain([(100, 12)]).collect::<Vec<_>>());
        assert_eq!(reader.n_left(), 1);
        for n in 0..bytes.len() - 1 {
            assert_eq!(Reader::new(&bytes[..n]).pass(STRUCT), Err(Fault::TooShort), "{n} bytes");
        }
    }

    #[test]
    fn numbers_that_cannot_be_are_refused() {
        assert_eq!(Reader::new(&[0x01]).number(), Ok(-1));
        assert_eq!(Reader::new(&[0xfe, 0x01]).number(), Ok(127));
        assert_eq!(Reader::new(&[0xff; 12]).number(), Err(Fault::Damaged));
        // A list of four billion structures, a text of as many bytes.
        let many = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
        assert_eq!(
            Reader::new(&[&[0xfc], many.as_slice()].concat()).pass(LIST),
            Err(Fault::TooShort)
        );
        assert_eq!(Reader::new(&many).pass(8), Err(Fault::TooShort));
        assert_eq!(Reader::new(&[0x1c; 100]).pass(STRUCT), Err(Fault::Damaged));
    }
}
