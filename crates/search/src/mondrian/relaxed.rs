//! Relaxed partitioning: regions may overlap, and rows at the median are divided between both
//! halves, to make them equally large (section 4 of the paper).
//!
//! The division follows the order of the vectors, which is that of their codes and of the extra
//! columns, so it does not depend on the order of the input.

use incrowd_data::{
    Assignment, Attribute, Codes, Divided, FrequencySet, Level, Shape, VectorShare,
};
use incrowd_privacy::{Tally, all_hold};

use crate::{Counters, Found, Outcome, Problem, Proof, Recoding};

/// Some rows of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    vector: u32,
    rows: u32,
}

/// Shares that are divided together.
#[derive(Clone, Debug)]
struct Region {
    /// In ascending order of their vectors.
    shares: Vec<Share>,
    /// By attribute, the node of its hierarchy that was divided last.
    divided: Vec<Option<(Level, u32)>>,
}

/// Shares below which a region is finished by the thread that has it.
const PARALLEL_FROM: usize = 1 << 12;

/// Anonymize of Figure 7, with the points at the median divided evenly.
pub(crate) fn relaxed(problem: &Problem) -> Outcome {
    let shares =
        (0..).zip(&problem.set.counts).map(|(vector, &rows)| Share { vector, rows }).collect();
    let n_attributes = problem.set.attributes.len();
    let whole = Region { shares, divided: vec![None; n_attributes] };
    let mut tally = Tally::new(problem.set, problem.entity);
    let classes = anonymize(problem, whole, &mut tally);
    if problem.budget.is_cancelled() {
        return Outcome::Cancelled;
    }
    let nodes_checked = 2 * classes.len() as u64 - 1;
    let counters = Counters { nodes_checked, table_scans: 1, ..Counters::default() };
    let proof = Proof { is_cut_short: problem.budget.is_spent(), ..Proof::default() };
    let assignment = assign(problem.set.len(), &classes);
    let divided_on = |at: usize| classes.iter().map(|class| class.divided[at].as_slice()).collect();
    let divided: Vec<Divided> = (0..n_attributes).map(divided_on).collect();
    let recoding = Recoding::Local(divided);
    let (minimal, stopped) = (None, None);
    Outcome::Found(Box::new(Found { assignment, recoding, proof, counters, minimal, stopped }))
}

/// The classes of a region.
fn anonymize(problem: &Problem, region: Region, tally: &mut Tally) -> Vec<Region> {
    debug_assert!(satisfies(problem, &region.shares, tally), "M2");
    if problem.budget.is_spent() {
        return vec![region];
    }
    let Some(parts) = halve(problem, &region, tally) else { return vec![region] };
    if region.shares.len() < PARALLEL_FROM {
        return parts.into_iter().flat_map(|part| anonymize(problem, part, tally)).collect();
    }
    drop(region);
    let mut parts = parts.into_iter();
    let first = parts.next().expect("a cut has parts");
    let rest: Vec<Region> = parts.collect();
    let (mut classes, more) = rayon::join(
        || anonymize(problem, first, &mut Tally::new(problem.set, problem.entity)),
        || {
            let mut tally = Tally::new(problem.set, problem.entity);
            rest.into_iter()
                .flat_map(|part| anonymize(problem, part, &mut tally))
                .collect::<Vec<_>>()
        },
    );
    classes.extend(more);
    classes
}

/// The parts of a region, by the widest attribute on which it can be divided.
fn halve(problem: &Problem, region: &Region, tally: &mut Tally) -> Option<Vec<Region>> {
    let Region { shares, divided } = region;
    let n_rows: u64 = shares.iter().map(|share| u64::from(share.rows)).sum();
    if problem.entity.is_none() && n_rows < 2 * problem.k {
        return None;
    }
    by_width(problem.set, shares).into_iter().find_map(|attribute| {
        if let Some((node, parts)) = children(problem, shares, attribute, tally) {
            let mut divided = divided.clone();
            divided[attribute] = Some(node);
            let part = |shares| Region { shares, divided: divided.clone() };
            return Some(parts.into_iter().map(part).collect());
        }
        let halves = divide(problem, shares, attribute, n_rows, tally)?;
        let half = |shares| Region { shares, divided: divided.clone() };
        Some(halves.into_iter().map(half).collect())
    })
}

/// The attributes on which a region has any width, widest first; ties as in the strict form.
fn by_width(set: &FrequencySet, region: &[Share]) -> Vec<usize> {
    let mut order: Vec<(f64, u32, usize)> = set
        .attributes
        .iter()
        .enumerate()
        .map(|(id, attribute)| {
            let codes = region.iter().map(|share| set.vectors[id].get(share.vector as usize));
            (reach(attribute, codes), attribute.n_codes(), id)
        })
        .filter(|(width, ..)| *width > 0.0)
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    order.into_iter().map(|(_, _, id)| id).collect()
}

/// The normalised width of some codes.
fn reach(attribute: &Attribute, codes: impl Iterator<Item = u32> + Clone) -> f64 {
    let (lo, hi) = codes.clone().fold((u32::MAX, 0), |(lo, hi), c| (lo.min(c), hi.max(c)));
    if !matches!(attribute.shape, Shape::Unordered) || lo == hi {
        return attribute.span(lo, hi);
    }
    let mut present: Vec<u32> = codes.collect();
    present.sort_unstable();
    present.dedup();
    attribute.loss(&attribute.cell(lo, hi, &present))
}

/// A node of a hierarchy, and the parts for its children.
type ByChildren = ((Level, u32), Vec<Vec<Share>>);

/// The cut of a hierarchy attribute into the children of its node.
fn children(
    problem: &Problem,
    region: &[Share],
    attribute: usize,
    tally: &mut Tally,
) -> Option<ByChildren> {
    let Shape::Tree(hierarchy) = &problem.set.attributes[attribute].shape else { return None };
    let code = |share: &Share| problem.set.vectors[attribute].get(share.vector as usize);
    let (lo, hi) =
        region.iter().map(code).fold((u32::MAX, 0), |(lo, hi), c| (lo.min(c), hi.max(c)));
    let (level, node) = hierarchy.common(lo, hi);
    let children = hierarchy.children(level, node);
    let mut shares = vec![Vec::new(); children.len()];
    for share in region {
        shares[children.partition_point(|child| child.hi < code(share))].push(*share);
    }
    let count = |shares: &Vec<Share>| shares.iter().map(|share| u64::from(share.rows)).sum();
    let rows: Vec<u64> = shares.iter().map(count).collect();
    let part_of = super::children::parts(&rows, |children| {
        let together: Vec<Share> =
            children.iter().flat_map(|&child| shares[child].clone()).collect();
        satisfies(problem, &together, tally)
    })?;
    let mut parts = vec![Vec::new(); children.len()];
    for (shares, part) in shares.into_iter().zip(part_of) {
        parts[part].extend(shares);
    }
    parts.retain(|part| !part.is_empty());
    // Shares stay in ascending order of their vectors.
    for part in &mut parts {
        part.sort_unstable();
    }
    Some(((level, node), parts))
}

/// Two halves along the order of the attribute, of equal size if the models allow it, otherwise cut
/// as near the middle as they allow.
fn divide(
    problem: &Problem,
    region: &[Share],
    attribute: usize,
    n_rows: u64,
    tally: &mut Tally,
) -> Option<Vec<Vec<Share>>> {
    let codes = &problem.set.vectors[attribute];
    let mut sorted = region.to_vec();
    // Shares come in ascending order of their vectors; a stable sort keeps that order among equals.
    sorted.sort_by_key(|share| codes.get(share.vector as usize));
    let half = n_rows.div_ceil(2);
    let mut places = vec![half];
    let before_missing = rows_before_missing(&problem.set.attributes[attribute], codes, &sorted);
    if !problem.only_counts() {
        let ends = sorted.iter().scan(0, |end, share| {
            *end += u64::from(share.rows);
            Some(*end)
        });
        places.extend(ends.filter(|&end| end < n_rows && end != half));
        places.sort_by_key(|&place| (place.abs_diff(half), place));
    }
    places.splice(0..0, before_missing.filter(|&place| 0 < place && place < n_rows));
    places.into_iter().find_map(|place| {
        let (mut low, mut high) = split_at(&sorted, place);
        if !satisfies(problem, &low, tally) || !satisfies(problem, &high, tally) {
            return None;
        }
        low.sort_unstable();
        high.sort_unstable();
        Some(vec![low, high])
    })
}

/// The rows that have a value, if the attribute is ordered and some rows have none.
fn rows_before_missing(attribute: &Attribute, codes: &Codes, sorted: &[Share]) -> Option<u64> {
    let missing = attribute.dictionary.missing()?;
    if !matches!(attribute.shape, Shape::Numeric | Shape::Ordinal) {
        return None;
    }
    let valued = sorted.iter().filter(|share| codes.get(share.vector as usize) != missing);
    Some(valued.map(|share| u64::from(share.rows)).sum())
}

/// The first `n_rows` rows and the others.
fn split_at(shares: &[Share], n_rows: u64) -> (Vec<Share>, Vec<Share>) {
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut left = n_rows;
    for &Share { vector, rows } in shares {
        let to_low = u32::try_from(left.min(u64::from(rows))).expect("at most rows");
        left -= u64::from(to_low);
        if to_low > 0 {
            low.push(Share { vector, rows: to_low });
        }
        if to_low < rows {
            high.push(Share { vector, rows: rows - to_low });
        }
    }
    (low, high)
}

fn satisfies(problem: &Problem, part: &[Share], tally: &mut Tally) -> bool {
    if problem.only_counts() {
        return part.iter().map(|share| u64::from(share.rows)).sum::<u64>() >= problem.k;
    }
    tally.clear();
    for share in part {
        tally.add(share.vector as usize, share.rows);
    }
    all_hold(problem.models, tally.class())
}

fn assign(n_vectors: usize, classes: &[Region]) -> Assignment {
    let in_class =
        |share: &Share, class: u32| VectorShare { vector: share.vector, class, n_rows: share.rows };
    let mut all: Vec<VectorShare> = (0u32..)
        .zip(classes)
        .flat_map(|(class, of)| of.shares.iter().map(move |share| in_class(share, class)))
        .collect();
    all.sort_unstable();
    let mut class_of = vec![0; n_vectors];
    let mut shares = Vec::new();
    for of_vector in all.chunk_by(|a, b| a.vector == b.vector) {
        class_of[of_vector[0].vector as usize] = of_vector[0].class;
        if of_vector.len() > 1 {
            shares.extend_from_slice(of_vector);
        }
    }
    let n_classes = u32::try_from(classes.len()).expect("fewer classes than rows");
    Assignment { class_of, n_classes, shares }
}
