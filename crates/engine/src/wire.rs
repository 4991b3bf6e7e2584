//! Bytes that travel between the client and the workers, which are all of the same build: numbers
//! of as many bytes as they need, texts with their lengths, and all of it compressed if it is long.

/// From this many bytes on it is compressed.
const LONG: usize = 4096;
const PLAIN: u8 = 0;
const COMPRESSED: u8 = 1;

/// Bytes to be sent.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// What [`Reader::unpacked`] takes.
    pub(crate) fn packed(self) -> Vec<u8> {
        if self.0.len() >= LONG
            && let Ok(mut bytes) = zstd::encode_all(self.0.as_slice(), 1)
        {
            bytes.push(COMPRESSED);
            return bytes;
        }
        let mut bytes = self.0;
        bytes.push(PLAIN);
        bytes
    }
}

/// Bytes that came; nothing where they are damaged.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn unpacked(bytes: &[u8]) -> Option<std::borrow::Cow<'_, [u8]>> {
        let (&how, bytes) = bytes.split_last()?;
        match how {
            PLAIN => Some(bytes.into()),
            COMPRESSED => Some(zstd::decode_all(bytes).ok()?.into()),
            _ => None,
        }
    }

    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Reader, Writer};

    #[test]
    fn what_is_written_is_read_and_damage_is_noticed() {
        for n_texts in [3, 3000] {
            let mut to = Writer::default();
            for number in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX] {
                to.number(number);
            }
            for at in 0..n_texts {
                to.text(&format!("text {at}"));
            }
            let packed = to.packed();
            let bytes = Reader::unpacked(&packed).unwrap();
            let mut from = Reader::new(&bytes);
            for number in [0, 1, 127, 128, u64::from(u32::MAX), u64::MAX] {
                assert_eq!(from.number(), Some(number));
            }
            for at in 0..n_texts {
                assert_eq!(from.text(), Some(format!("text {at}").as_str()));
            }
            assert!(from.is_at_end());
            assert_eq!(from.byte(), None);
            assert_eq!(Reader::new(&bytes[..bytes.len() - 1]).bytes(), Some(&[][..]));
        }
        assert!(Reader::unpacked(&[]).is_none());
        assert!(Reader::unpacked(&[1, 2, 3, 1]).is_none());
        assert_eq!(Reader::new(&[9, 1]).bytes(), None);
    }
}
