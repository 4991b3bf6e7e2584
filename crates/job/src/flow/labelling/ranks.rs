//! The order of labels that are too many to be held at once.
//!
//! Of every label its number, the first bytes of its text and its cell are kept. Where these do not tell two labels
//! apart, the texts of those few are made again.

use incrowd_data::{Attribute, Cell, Codes, Kind, Labels, RecodedColumn};
use incrowd_release::{LabelForm, labels};
use rayon::prelude::*;

use super::label_key;

/// Cells whose labels are made at a time.
const CHUNK: usize = 1 << 16;

/// What tells most labels apart.
#[derive(Clone, Copy, PartialEq)]
struct Entry {
    number: f64,
    start: [u8; 16],
    cell: u32,
    key: u8,
}

impl Entry {
    fn new(cell: u32, text: Option<&str>) -> Entry {
        let (key, number) = label_key(text);
        let mut start = [0; 16];
        let bytes = text.unwrap_or_default().as_bytes();
        let n = bytes.len().min(16);
        start[..n].copy_from_slice(&bytes[..n]);
        Entry { number, start, cell, key }
    }

    fn compare(&self, other: &Entry) -> std::cmp::Ordering {
        let by_number = self.key.cmp(&other.key).then(self.number.total_cmp(&other.number));
        by_number.then(self.start.cmp(&other.start))
    }
}

/// By column of an attribute's labels, the column without its labels, the place of each class's label among all of
/// them, and how many places there are. With `stars` there is one more class, whose label is `*`.
pub(super) fn ranks_by_cell(
    attribute: &Attribute,
    column: &RecodedColumn,
    form: LabelForm,
    stars: bool,
) -> Vec<(Labels, Codes, u32)> {
    let chunk_labels = |cells: &[Cell]| {
        let of_class = (0..).take(cells.len()).collect();
        labels(attribute, &RecodedColumn { cells: cells.to_vec(), of_class }, form, None)
    };
    let mut columns = chunk_labels(&[]);
    let mut entries: Vec<Vec<Entry>> = columns.iter().map(|_| Vec::new()).collect();
    for (chunk, cells) in column.cells.chunks(CHUNK).enumerate() {
        for ((whole, entries), made) in
            columns.iter_mut().zip(&mut entries).zip(chunk_labels(cells))
        {
            // A column is what its values are only if that is so of all labels.
            if made.kind == Kind::Text {
                whole.kind = Kind::Text;
            }
            let first = u32::try_from(chunk * CHUNK).expect("fewer cells than classes");
            let texts = (first..).zip(&made.texts);
            entries.extend(texts.map(|(cell, text)| Entry::new(cell, text.as_deref())));
        }
    }
    let of_column = |(at, (mut whole, entries)): (usize, (Labels, Vec<Entry>))| {
        let text = |cell: u32| {
            let mut made = chunk_labels(&column.cells[cell as usize..=cell as usize]);
            made.swap_remove(at).texts.pop().flatten()
        };
        let (ranks, mut n_ranks, last_star) = rank(entries, text);
        let star = stars.then(|| {
            whole.kind = Kind::Text;
            last_star.unwrap_or_else(|| {
                n_ranks += 1;
                n_ranks - 1
            })
        });
        let of_class = column.of_class.iter().map(|&cell| ranks[cell as usize]).chain(star);
        (whole, Codes::pack(n_ranks, of_class), n_ranks)
    };
    columns.into_iter().zip(entries).enumerate().map(of_column).collect()
}

/// By cell, the place of its label; how many places there are; and the place of `*`, if it is there.
fn rank(
    mut entries: Vec<Entry>,
    text: impl Fn(u32) -> Option<String>,
) -> (Vec<u32>, u32, Option<u32>) {
    entries.par_sort_unstable_by(|a, b| a.compare(b).then(a.cell.cmp(&b.cell)));
    let mut ranks = vec![0; entries.len()];
    let (mut next, mut star) = (0, None);
    for alike in entries.chunk_by(|a, b| a.compare(b).is_eq()) {
        if alike[0].key == super::STAR_KEY {
            star = Some(next);
        }
        if let [only] = alike {
            ranks[only.cell as usize] = next;
            next += 1;
            continue;
        }
        let mut texts: Vec<(Option<String>, u32)> =
            alike.iter().map(|entry| (text(entry.cell), entry.cell)).collect();
        texts.sort_unstable();
        for same in texts.chunk_by(|a, b| a.0 == b.0) {
            for (_, cell) in same {
                ranks[*cell as usize] = next;
            }
            next += 1;
        }
    }
    (ranks, next, star)
}
