//! Where regions are cut, in values: `--labels region`.
//!
//! A cut in codes lies somewhere between two neighbouring values. It is said as a [`CutPoint`] that
//! is made of the released values beside it and of nothing else, so that neither a label nor the
//! recoding tells a value of a suppressed row, and every table that the recoding is applied to has
//! the same labels.

use std::collections::BTreeMap;

use incrowd_data::{
    Attribute, Branches, Cuts, Dictionary, End, FrequencySet, Node, PartitionTree, SUPPRESSED,
    Shape,
};
use incrowd_engine::CutPoint;
use incrowd_release::{Classes, CutPlace, Regions, recode_intervals, recode_regions};
use incrowd_search::{Found, Recoding};

use crate::flow::relabel::released_codes;

/// By attribute, by first code above a cut, where the cut is.
pub(crate) type Places = Vec<BTreeMap<u32, CutPlace>>;

/// The classes of a recoding with the cells of their regions. Cuts that released rows do not tell
/// are taken out of the recoding.
pub(crate) fn region_classes(set: &FrequencySet, found: &mut Found) -> Classes {
    let is_known = released_codes(set, &found.assignment.class_of);
    settle(&set.attributes, &is_known, found);
    let places = places(&set.attributes, &is_known, &found.recoding);
    let regions = Regions { places: &places, is_known: &is_known };
    match &found.recoding {
        Recoding::Intervals(cuts) => recode_intervals(set, &found.assignment, cuts, &regions, None),
        Recoding::Partition(tree) => recode_regions(set, &found.assignment, tree, &regions, None),
        Recoding::FullDomain(_) | Recoding::Blocks(_) | Recoding::Local(_) => {
            unreachable!("only these have regions that are cut")
        }
    }
}

/// The places of all cuts of a recoding, as the released values tell them.
pub(crate) fn places_of(set: &FrequencySet, found: &Found) -> Places {
    let is_known = released_codes(set, &found.assignment.class_of);
    places(&set.attributes, &is_known, &found.recoding)
}

fn places(attributes: &[Attribute], is_known: &[Vec<bool>], recoding: &Recoding) -> Places {
    let place = |(at, attribute): (usize, &Attribute)| {
        if !matches!(attribute.shape, Shape::Numeric) {
            return BTreeMap::new();
        }
        let firsts = first_codes(recoding, at).into_iter();
        let of_first = |first: u32| {
            let (below, above) = beside(attribute, &is_known[at], first)?;
            let text = |code: u32| attribute.dictionary.text(code).unwrap_or_default();
            let kind = attribute.dictionary.kind;
            Some((first, cut_place(&CutPoint::between(kind, text(below), text(above)))))
        };
        firsts.filter_map(of_first).collect()
    };
    attributes.iter().enumerate().map(place).collect()
}

/// A cut point as an end of regions.
pub(crate) fn cut_place(point: &CutPoint) -> CutPlace {
    let last = point.last_below.as_ref();
    CutPlace {
        first: End::new(point.text.clone(), point.position),
        last_below: last.map(|(text, position)| End::new(text.clone(), *position)),
    }
}

/// The first codes above the cuts of an attribute.
fn first_codes(recoding: &Recoding, at: usize) -> Vec<u32> {
    let of_node = |node: &Node| match node {
        Node::Cut { attribute, branches: Branches::Binary { at: last, .. } }
            if *attribute == at =>
        {
            Some(last + 1)
        }
        _ => None,
    };
    match recoding {
        Recoding::Intervals(cuts) => cuts.of(at).to_vec(),
        Recoding::Partition(tree) => tree.nodes.iter().filter_map(of_node).collect(),
        Recoding::FullDomain(_) | Recoding::Blocks(_) | Recoding::Local(_) => Vec::new(),
    }
}

/// The released values beside a cut.
fn beside(attribute: &Attribute, is_known: &[bool], first: u32) -> Option<(u32, u32)> {
    let is_known = |code: &u32| is_known[*code as usize];
    let below = (0..first.min(attribute.n_values())).rev().find(is_known)?;
    let above = (first..attribute.n_values()).find(is_known)?;
    Some((below, above))
}

/// Which side of a cut is left where released rows do not tell the two apart.
#[derive(Clone, Copy)]
enum Left {
    Both(u32),
    Low,
    High,
}

fn left(attribute: &Attribute, is_known: &[bool], first: u32) -> Left {
    let is_line = matches!(attribute.shape, Shape::Numeric | Shape::Ordinal);
    // Missing cells are apart from all values.
    if !is_line || first >= attribute.n_values() {
        return Left::Both(first);
    }
    let is_missing_known = || is_known[attribute.n_values() as usize..].contains(&true);
    match beside(attribute, is_known, first) {
        // A declared order is nobody's: its cuts are before a released value.
        Some((_, above)) if matches!(attribute.shape, Shape::Ordinal) => Left::Both(above),
        Some(_) => Left::Both(first),
        None if is_known[..first as usize].contains(&true) => {
            // Missing cells come after all values: their side stays, though it has no value.
            if is_missing_known() { Left::Both(attribute.n_values()) } else { Left::Low }
        }
        None => Left::High,
    }
}

/// Takes the cuts out of a recoding beyond which there is no released value: saying where they are
/// would tell where the values of suppressed rows lie.
fn settle(attributes: &[Attribute], is_known: &[Vec<bool>], found: &mut Found) {
    let left = |at: usize, first: u32| left(&attributes[at], &is_known[at], first);
    match &mut found.recoding {
        Recoding::Intervals(cuts) => {
            let mut settled = Cuts::none(attributes.len());
            for at in 0..attributes.len() {
                for &first in cuts.of(at) {
                    if let Left::Both(first) = left(at, first) {
                        settled.insert(at, first);
                    }
                }
            }
            *cuts = settled;
        }
        Recoding::Partition(tree) => {
            let (settled, class_of) = settled(tree, left);
            *tree = settled;
            found.assignment.n_classes = tree.n_classes;
            for class in &mut found.assignment.class_of {
                if *class != SUPPRESSED {
                    *class = class_of[*class as usize];
                    assert!(*class != SUPPRESSED, "a released row stays in a class");
                }
            }
        }
        Recoding::FullDomain(_) | Recoding::Blocks(_) | Recoding::Local(_) => {}
    }
}

/// A tree without the cuts of which one side is left, and the new number of each class.
fn settled(tree: &PartitionTree, left: impl Fn(usize, u32) -> Left) -> (PartitionTree, Vec<u32>) {
    let mut settled = PartitionTree { nodes: Vec::new(), n_classes: 0 };
    let mut class_of = vec![SUPPRESSED; tree.n_classes as usize];
    // Nodes to visit, each with the new number that waits for it. Children come after their parent.
    let mut new_of = vec![None; tree.nodes.len()];
    let mut order = Vec::new();
    let mut open = vec![0u32];
    let follow = |mut id: u32| loop {
        let Node::Cut { attribute, branches: Branches::Binary { at, low, high } } =
            &tree.nodes[id as usize]
        else {
            return id;
        };
        match left(*attribute, at + 1) {
            Left::Both(_) => return id,
            Left::Low => id = *low,
            Left::High => id = *high,
        }
    };
    while let Some(id) = open.pop() {
        let id = follow(id);
        if new_of[id as usize].is_some() {
            continue;
        }
        new_of[id as usize] = Some(u32::try_from(order.len()).expect("no more nodes than before"));
        order.push(id);
        if let Node::Cut { branches, .. } = &tree.nodes[id as usize] {
            match branches {
                Branches::Binary { low, high, .. } => open.extend([*high, *low]),
                Branches::Runs(runs) => open.extend(runs.iter().rev().map(|(_, child)| *child)),
            }
        }
    }
    let new = |id: u32| new_of[follow(id) as usize].expect("every node that is left was visited");
    for id in order {
        let node = match &tree.nodes[id as usize] {
            Node::Leaf { class } => {
                class_of[*class as usize] = settled.n_classes;
                settled.n_classes += 1;
                Node::Leaf { class: settled.n_classes - 1 }
            }
            Node::Cut { attribute, branches: Branches::Binary { at, low, high } } => {
                let at = match left(*attribute, at + 1) {
                    Left::Both(first) => first - 1,
                    Left::Low | Left::High => *at,
                };
                let branches = Branches::Binary { at, low: new(*low), high: new(*high) };
                Node::Cut { attribute: *attribute, branches }
            }
            Node::Cut { attribute, branches: Branches::Runs(runs) } => {
                let runs = runs.iter().map(|(end, child)| (*end, new(*child))).collect();
                Node::Cut { attribute: *attribute, branches: Branches::Runs(runs) }
            }
        };
        settled.nodes.push(node);
    }
    (settled, class_of)
}

/// The values that sets of an unordered column may name: those that released rows have; none is
/// missing.
pub(crate) fn known_values(dictionary: &Dictionary, is_known: &[bool]) -> Vec<Option<String>> {
    let codes = (0..dictionary.n_codes()).filter(|&code| is_known[code as usize]);
    codes.map(|code| dictionary.text(code).map(str::to_owned)).collect()
}
