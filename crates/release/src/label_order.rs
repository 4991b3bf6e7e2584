//! The order of labels: numbers and ranges by their first number, other texts by their characters,
//! then nothing, then `*`. It depends on what is published alone.
//!
//! Labels that are too many to be held at once are ordered by [`ranks_by_cell`]: of each its
//! number, the first bytes of its text and its cell are kept. Where these do not tell two labels
//! apart, the texts of those few are made again.

use incrowd_data::{Attribute, Cell, Codes, Collapsed, Kind, Labels, RecodedColumn, collapse};
use rayon::prelude::*;

use crate::label::{LabelForm, labels};

/// A column of labels in their order.
pub struct RankedLabels {
    /// The column, without its labels.
    pub labels: Labels,
    /// By class, the place of its label among all of them.
    pub ranks: Codes,
    /// How many places there are.
    pub n_ranks: u32,
}

/// Orders classes by what is published of them, and of nothing else: classes with the same labels
/// are one. Gives the place of each class, and puts the labels into the order of the places.
#[must_use]
pub fn order_by_labels(label_columns: &mut [Vec<Labels>]) -> Vec<u32> {
    let columns: Vec<&Labels> = label_columns.iter().flatten().collect();
    let ranked: Vec<(Codes, u32)> =
        columns.par_iter().map(|labels| ranks_of_classes(labels)).collect();
    let n_classes = columns.first().map_or(0, |labels| labels.of_class.len());
    let ranked: Vec<(&Codes, u32)> = ranked.iter().map(|(codes, n)| (codes, *n)).collect();
    let Collapsed { representatives, vector_of, .. } = collapse(&ranked, n_classes);
    for labels in label_columns.iter_mut().flatten() {
        labels.of_class =
            representatives.iter().map(|&class| labels.of_class[class as usize]).collect();
    }
    vector_of
}

/// What comes before the characters in the order of labels: the last kind is that of `*`.
fn label_key(text: Option<&str>) -> (u8, f64) {
    let Some(text) = text else { return (2, 0.0) };
    if text == "*" {
        return (STAR_KEY, 0.0);
    }
    // A region without a beginning comes before the others.
    let below = text.strip_prefix('<').and_then(leading_number);
    if below.is_some() {
        return (0, f64::NEG_INFINITY);
    }
    let begins = text.strip_prefix('[').or_else(|| text.strip_prefix(">=")).unwrap_or(text);
    leading_number(begins).map_or((1, 0.0), |number| (0, number))
}

/// The number that a text begins with.
fn leading_number(text: &str) -> Option<f64> {
    let is_within = |(_, c): &(usize, char)| c.is_ascii_digit() || *c == '.';
    let end = text.char_indices().skip(1).find(|char| !is_within(char));
    let digits = &text[..end.map_or(text.len(), |(at, _)| at)];
    // The dots between two ends are none of a number.
    let digits = digits.split("..").next().unwrap_or(digits);
    digits.parse::<f64>().ok()
}

const STAR_KEY: u8 = 3;

/// By class, the place of its label among its column's, and how many places there are.
#[must_use]
pub fn ranks_of_classes(labels: &Labels) -> (Codes, u32) {
    let ranks = label_ranks(&labels.texts);
    let n_ranks = ranks.iter().max().map_or(0, |last| last + 1);
    let ranks = labels.of_class.iter().map(|&label| ranks[label as usize]);
    (Codes::pack(n_ranks, ranks), n_ranks)
}

/// The place of each label among its column's: numbers and ranges by their first number, other
/// texts behind them by their characters, then nothing, then `*`. Equal labels have equal places.
fn label_ranks(texts: &[Option<String>]) -> Vec<u32> {
    let key = |text: &Option<String>| label_key(text.as_deref());
    let compare = |a: &Option<String>, b: &Option<String>| {
        let (key_a, key_b) = (key(a), key(b));
        key_a.0.cmp(&key_b.0).then(key_a.1.total_cmp(&key_b.1)).then_with(|| a.cmp(b))
    };
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| compare(&texts[a], &texts[b]));
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (at, &label) in order.iter().enumerate() {
        rank += u32::from(at > 0 && texts[order[at - 1]] != texts[label]);
        ranks[label] = rank;
    }
    ranks
}

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

/// By column of an attribute's labels, the column without its labels, the place of each class's
/// label among all of them, and how many places there are. With `stars` there is one more class,
/// whose label is `*`.
#[must_use]
pub fn ranks_by_cell(
    attribute: &Attribute,
    column: &RecodedColumn,
    form: LabelForm,
    stars: bool,
) -> Vec<RankedLabels> {
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
        RankedLabels { labels: whole, ranks: Codes::pack(n_ranks, of_class), n_ranks }
    };
    columns.into_iter().zip(entries).enumerate().map(of_column).collect()
}

/// By cell, the place of its label; how many places there are; and the place of `*`, if it is
/// there.
fn rank(
    mut entries: Vec<Entry>,
    text: impl Fn(u32) -> Option<String>,
) -> (Vec<u32>, u32, Option<u32>) {
    entries.par_sort_unstable_by(|a, b| a.compare(b).then(a.cell.cmp(&b.cell)));
    let mut ranks = vec![0; entries.len()];
    let (mut next, mut star) = (0, None);
    for alike in entries.chunk_by(|a, b| a.compare(b).is_eq()) {
        if alike[0].key == STAR_KEY {
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
