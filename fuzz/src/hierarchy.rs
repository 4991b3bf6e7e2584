//! Hierarchy files and builders. A file that is accepted is a tree over its rows, and survives
//! being written; the rows of a builder are a hierarchy whose labels cover the values under them.
//!
//! The first byte of an input says what follows: `f` a file, anything else choices of a builder.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use arbitrary::{Result as Drawn, Unstructured};
use incrowd_data::{dates, fan_out, intervals, mask, DatePart, Hierarchy, Level, MaskSide};
use incrowd_job::hierarchy::{from_file, show, to_text};

use crate::{mutation, sandbox, Seed};

/// Nothing is needed.
pub fn start() {}

/// Files of all forms, and the bundled ones.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let files: [&str; 9] = [
        "fa;x;*\nb;x;*\nc;y;*\n",
        "fa,x,*\r\nb,x,*\r\n\r\n",
        "f\u{feff}a|x|*\nb|y|*\n",
        "f\"a;b\";\"say \"\"x\"\"\";*\nc;\"q\";*\n",
        "ffr;eu;*\njp;as;*\nde;eu;*\ncn;as;*\n",
        "f;x;*\nb;x;*\n",
        "f*\n",
        "fa;x;*\na;x;*\n",
        "fa;x;y;*\nb;x;z;*\n",
    ];
    let mut all: Vec<Seed> =
        (0..).zip(files).map(|(at, f): (u32, _)| (format!("form-{at}"), f.into())).collect();
    let bundled = include_str!("../../examples/adult/hierarchies/marital-status.csv");
    all.push(("marital-status".to_owned(), format!("f{bundled}").into_bytes()));
    for at in 0..8u8 {
        let choices = (0..200u8).map(|byte| byte.wrapping_mul(37).wrapping_add(at));
        all.push((format!("built-{at}"), std::iter::once(at).chain(choices).collect()));
    }
    all
}

/// Lines are put together anew now and then.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    mutation::of_text(
        data,
        size,
        most,
        seed,
        &[b"\n", b"\"", b";", b"*", b";*\n", b"\r\n", b"\"\""],
    )
}

/// Reads a file, or builds a hierarchy.
pub fn run(input: &[u8]) {
    match input.split_first() {
        Some((b'f', file)) => read_file(file),
        Some((_, choices)) => {
            let _ = build(&mut Unstructured::new(choices));
        }
        None => {}
    }
}

fn read_file(file: &[u8]) {
    let path = sandbox::write("hierarchy.csv", file);
    let Ok(loaded) = from_file(Path::new(&path)) else { return };
    check_tree(&loaded.hierarchy, &loaded.rows);
    let _ = show(&loaded.hierarchy, 3);
    let text = to_text(&loaded.rows);
    let path = sandbox::write("again.csv", text.as_bytes());
    let again = from_file(Path::new(&path)).expect("a hierarchy that was written is one");
    assert_eq!(again.rows, loaded.rows, "rows of the file that was written");
    assert_eq!(again.hierarchy, loaded.hierarchy, "the file that was written");
}

/// A hierarchy is a tree over the rows that it was made from.
fn check_tree(tree: &Hierarchy, rows: &[Vec<String>]) {
    let of_tree: BTreeSet<Vec<&str>> = tree.rows().collect();
    let given: BTreeSet<Vec<&str>> =
        rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    assert_eq!(of_tree, given, "the rows");
    assert_eq!(tree.n_leaves() as usize, rows.len(), "the leaves");
    assert_eq!(usize::from(tree.height().0) + 1, rows[0].len(), "the height");
    let leaves: HashSet<&str> = tree.leaves().collect();
    assert_eq!(leaves.len(), rows.len(), "the leaves differ");
    check_levels(tree, true);
    let with_missing = tree.with_missing();
    assert_eq!(with_missing.n_leaves(), tree.n_leaves() + 1, "a leaf for missing cells");
    check_levels(&with_missing, false);
}

/// Every level divides the leaves into runs, each within one of the next level; the last is one
/// run.
fn check_levels(tree: &Hierarchy, labels_differ: bool) {
    let n_leaves = tree.n_leaves();
    let levels = (0..=tree.height().0).map(Level);
    for level in levels {
        let groups = tree.groups(level);
        let mut next = 0;
        for (at, group) in (0u32..).zip(groups) {
            assert_eq!(group.lo, next, "level {} has no gap", level.0);
            assert!(group.hi >= group.lo, "a group has leaves");
            next = group.hi + 1;
            for leaf in group.lo..=group.hi {
                assert_eq!(tree.group_of(level, leaf), at, "the group of a leaf");
            }
            let below = tree.children(level, at);
            if level.0 > 0 {
                assert_eq!(below.first().map(|child| child.lo), Some(group.lo), "first child");
                assert_eq!(below.last().map(|child| child.hi), Some(group.hi), "last child");
            }
        }
        assert_eq!(next, n_leaves, "level {} holds every leaf", level.0);
        let labels: HashSet<&str> = groups.iter().map(|group| group.label.as_str()).collect();
        assert!(!labels_differ || labels.len() == groups.len(), "labels of level {}", level.0);
    }
    assert_eq!(tree.groups(tree.height()).len(), 1, "one root");
    for (a, b) in [(0, n_leaves - 1), (0, 0), (n_leaves / 2, n_leaves - 1)] {
        let (level, group) = tree.common(a, b);
        assert_eq!(tree.group_of(level, a), group, "the common node holds the first");
        assert_eq!(tree.group_of(level, b), group, "the common node holds the second");
        if let Some(below) = level.0.checked_sub(1) {
            let (a, b) = (tree.group_of(Level(below), a), tree.group_of(Level(below), b));
            assert_ne!(a, b, "the common node is the lowest");
        }
        let n_parts = tree.parts(a, b).len();
        assert!(level.0 == 0 || n_parts > 1, "the lowest common node has parts");
    }
}

/// Builds a hierarchy from drawn values.
fn build(u: &mut Unstructured) -> Drawn<()> {
    match u.int_in_range(0..=3)? {
        0 => {
            let values = list(u, text)?;
            let side = if u.arbitrary()? { MaskSide::Left } else { MaskSide::Right };
            let character = *u.choose(&['*', '#', ' ', '0', 'é', '\u{0}'])?;
            let rows = mask(&texts(&values), side, character);
            check_built(&values, &rows);
            for row in &rows {
                check_mask(row, character);
            }
        }
        1 => {
            let values = list(u, number)?;
            let width = width(u)?;
            let origin = if u.arbitrary()? { Some(f64::from(u.arbitrary::<i16>()?)) } else { None };
            let levels: Vec<u32> =
                (0..u.int_in_range(0..=3)?).map(|_| u.int_in_range(0..=9)).collect::<Drawn<_>>()?;
            if let Ok(rows) = intervals(&texts(&values), width, origin, &levels) {
                check_built(&values, &rows);
                for row in &rows {
                    check_interval(row);
                }
            }
        }
        2 => {
            let values = list(u, date)?;
            let mut parts = DatePart::NAMES.map(|(_, part)| part).to_vec();
            parts.retain(|_| u.arbitrary().unwrap_or(false));
            if let Ok(rows) = dates(&texts(&values), &parts) {
                check_built(&values, &rows);
                for row in &rows {
                    check_dates(row, &parts);
                }
            }
        }
        _ => {
            let values = list(u, text)?;
            let is_text = u.arbitrary()?;
            let n_joined = u.int_in_range(0..=5)?;
            if let Ok(rows) = fan_out(&texts(&values), n_joined, is_text) {
                check_built(&values, &rows);
            }
        }
    }
    Ok(())
}

fn texts(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

fn list(u: &mut Unstructured, one: fn(&mut Unstructured) -> Drawn<String>) -> Drawn<Vec<String>> {
    (0..u.int_in_range(0..=9)?).map(|_| one(u)).collect()
}

fn text(u: &mut Unstructured) -> Drawn<String> {
    const PARTS: [&str; 14] =
        ["a", "b", "0", "*", "|", "{", "}", "-", "[", "]", "é", "ab", "1234", ""];
    let n_parts = if u.ratio(1, 40)? { 300 } else { u.int_in_range(0..=4)? };
    (0..n_parts).map(|_| Ok(*u.choose(&PARTS)?)).collect()
}

fn number(u: &mut Unstructured) -> Drawn<String> {
    Ok(match u.int_in_range(0..=5)? {
        0 => u.arbitrary::<i8>()?.to_string(),
        1 => u.arbitrary::<i64>()?.to_string(),
        2 => format!("{}.{}", u.arbitrary::<i16>()?, u.arbitrary::<u16>()?),
        3 => format!("{}e{}", u.arbitrary::<i8>()?, u.int_in_range(-45i32..=45)?),
        4 => format!("-0.{:03}", u.int_in_range(0..=999)?),
        _ => {
            (*u.choose(&["0", "-0", "1e400", "x", "", "9".repeat(40).as_str(), "+1", ".5", "5."])?)
                .to_owned()
        }
    })
}

fn width(u: &mut Unstructured) -> Drawn<f64> {
    Ok(match u.int_in_range(0..=4)? {
        0 => f64::from(u.arbitrary::<i8>()?),
        1 => f64::from(u.arbitrary::<u16>()?) / 10.0,
        2 => f64::from_bits(u.arbitrary()?),
        3 => f64::from(u.arbitrary::<u32>()?) * 1e30,
        _ => *u.choose(&[0.1, 0.25, 1e-300, 1e300, 5.0])?,
    })
}

fn date(u: &mut Unstructured) -> Drawn<String> {
    let year = match u.int_in_range(0..=3)? {
        0 => *u.choose(&[0, 1, 99, 1899, 1900, 2000, 9999, 10_000])?,
        _ => u.int_in_range(1990..=2030)?,
    };
    let (month, day): (u32, u32) = (u.int_in_range(0..=13)?, u.int_in_range(0..=32)?);
    let time = *u.choose(&["", "T10:00", " 23:59:59.5", "T24:00", "Z", "T1é:00"])?;
    Ok(format!("{year:04}-{month:02}-{day:02}{time}"))
}

/// A builder gives a row for each distinct value, in order, under the root `*`, nested.
fn check_built(values: &[String], rows: &[Vec<String>]) {
    let mut seen = HashSet::new();
    let distinct: Vec<&String> = values.iter().filter(|value| seen.insert(*value)).collect();
    assert_eq!(rows.iter().map(|row| &row[0]).collect::<Vec<_>>(), distinct, "a row a value");
    if rows.is_empty() {
        return;
    }
    assert!(rows.iter().all(|row| row[row.len() - 1] == "*"), "the root");
    let tree = Hierarchy::from_rows(rows).expect("what a builder builds is a hierarchy");
    check_tree(&tree, rows);
    let written = to_text(rows);
    let path = sandbox::write("built.csv", written.as_bytes());
    let again = from_file(Path::new(&path)).expect("what a builder builds can be read again");
    assert_eq!(again.rows, rows, "rows that were written and read");
}

/// A masked label has the characters of the value where it is not masked.
fn check_mask(row: &[String], character: char) {
    let n_levels = row.len() - 1;
    // Where everything is hidden, the label is that of the root.
    for label in row[1..n_levels].iter().filter(|label| *label != "*") {
        let hidden = label.chars().filter(|c| *c == character).count();
        assert!(hidden > 0, "a masked label hides something");
        let shown: String = label.chars().filter(|c| *c != character).collect();
        let value: String = row[0].chars().filter(|c| *c != character).collect();
        assert!(value.starts_with(&shown) || value.ends_with(&shown), "a mask shows one end");
    }
}

/// An interval holds its value.
fn check_interval(row: &[String]) {
    let value: f64 = row[0].parse().expect("only numbers have intervals");
    let near = value.abs().max(1.0) * 1e-9;
    for label in &row[1..row.len() - 1] {
        let (ends, is_open) = match label.strip_suffix(')') {
            Some(ends) => (ends, true),
            None => (label.strip_suffix(']').unwrap_or(label), false),
        };
        let ends = ends.strip_prefix('[').unwrap_or(ends);
        // A minus in an end, its sign or that of a power, takes dots in between.
        let between =
            ends.split_once("..").or_else(|| ends.split_once('-').filter(|_| ends != label));
        let (low, high) = between.unwrap_or((ends, ends));
        let (low, high): (f64, f64) = match (low.parse(), high.parse()) {
            (Ok(low), Ok(high)) => (low, high),
            _ => panic!("an interval that cannot be read: {label}"),
        };
        assert!(low - near <= value, "{label} starts above its value");
        assert!(value <= high + near + if is_open { 0.0 } else { near }, "{label} ends below");
    }
}

/// A label of a date starts with what it keeps of it.
fn check_dates(row: &[String], parts: &[DatePart]) {
    for (label, part) in row[1..].iter().zip(parts) {
        let year: i32 = row[0][..4].parse().expect("a date starts with its year");
        let kept = match part {
            DatePart::Day => &row[0][..10],
            DatePart::Month => &row[0][..7],
            DatePart::Year => &row[0][..4],
            DatePart::Quarter => {
                let month: u32 = row[0][5..7].parse().expect("a month");
                assert_eq!(*label, format!("{year:04}-Q{}", month.div_ceil(3)), "a quarter");
                continue;
            }
            DatePart::Week => {
                let of_label: i32 = label[..4].parse().expect("a year");
                assert!((of_label - year).abs() <= 1, "a week of another year");
                continue;
            }
            DatePart::Decade | DatePart::Century => {
                let (low, high) = label.trim_matches(['[', ']']).split_once('-').expect("years");
                let years = low.parse::<i32>().expect("a year")..=high.parse().expect("a year");
                assert!(years.contains(&year), "{label} does not hold its year");
                continue;
            }
        };
        assert_eq!(label, kept, "the label of a date");
    }
}
