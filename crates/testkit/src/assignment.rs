//! Checks of a search's result, and its classes as rows.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_data::{Assignment, Branches, FrequencySet, Node, PartitionTree, SUPPRESSED};

use crate::Table;

/// A set of rows, by index.
pub type Rows = Vec<usize>;

/// Whether every row of the set is in exactly one class, or left out together with its whole
/// vector.
///
/// # Errors
///
/// What is wrong, in words.
pub fn check_assignment(set: &FrequencySet, assignment: &Assignment) -> Result<(), String> {
    let Assignment { class_of, n_classes, shares } = assignment;
    if class_of.len() != set.len() {
        return Err(format!("{} vectors have a class, of {}", class_of.len(), set.len()));
    }
    if !shares.is_sorted_by_key(|share| share.vector) {
        return Err("the shares are not in the order of their vectors".to_owned());
    }
    let mut divided: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for share in shares {
        divided.entry(share.vector).or_default().push((share.class, share.n_rows));
    }
    for (vector, (&class, &count)) in (0u32..).zip(class_of.iter().zip(&set.counts)) {
        let of_vector = divided.remove(&vector).unwrap_or_else(|| vec![(class, count)]);
        if of_vector[0].0 != class {
            return Err(format!("vector {vector} is of class {class}, its first share is not"));
        }
        if class == SUPPRESSED && of_vector.len() == 1 {
            continue;
        }
        let classes: BTreeSet<u32> = of_vector.iter().map(|&(class, _)| class).collect();
        let total: u64 = of_vector.iter().map(|&(_, rows)| u64::from(rows)).sum();
        if classes.len() != of_vector.len()
            || total != u64::from(count)
            || of_vector.iter().any(|&(class, rows)| class >= *n_classes || rows == 0)
        {
            return Err(format!("vector {vector} of {count} rows has the shares {of_vector:?}"));
        }
    }
    if divided.is_empty() { Ok(()) } else { Err(format!("no vector has the shares {divided:?}")) }
}

/// The rows of every class of a valid assignment, without rows that are left out. The rows of a
/// divided vector are equal; they are assigned to its shares in order.
///
/// # Panics
///
/// If the assignment is not valid.
#[must_use]
pub fn class_rows(vector_of: &[u32], assignment: &Assignment) -> Vec<Rows> {
    let mut open: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for share in assignment.shares.iter().rev() {
        open.entry(share.vector).or_default().push((share.class, share.n_rows));
    }
    let mut classes = vec![Rows::new(); assignment.n_classes as usize];
    for (row, vector) in vector_of.iter().enumerate() {
        let class = match open.get_mut(vector) {
            None => assignment.class_of[*vector as usize],
            Some(shares) => {
                let share = shares.last_mut().expect("a share with room");
                let class = share.0;
                share.1 -= 1;
                if share.1 == 0 {
                    shares.pop();
                }
                class
            }
        };
        if class != SUPPRESSED {
            classes[class as usize].push(row);
        }
    }
    classes
}

/// The partition in canonical form: rows ascending, classes by their first row.
#[must_use]
pub fn canonical(mut classes: Vec<Rows>) -> Vec<Rows> {
    for rows in &mut classes {
        rows.sort_unstable();
    }
    classes.sort_unstable();
    classes
}

/// The contents of the classes, independent of row numbers: for comparing tables with different row
/// orders.
#[must_use]
pub fn contents(table: &Table, classes: &[Rows]) -> Vec<Vec<Vec<u32>>> {
    let mut contents: Vec<Vec<Vec<u32>>> = classes
        .iter()
        .map(|rows| rows.iter().map(|&row| table.rows[row].clone()).collect())
        .collect();
    for rows in &mut contents {
        rows.sort_unstable();
    }
    contents.sort_unstable();
    contents
}

/// Whether the nodes form a tree, every class is exactly one leaf, and every vector of the domain
/// falls into a leaf whose region contains it. Checks the whole domain, or about `at_most` evenly
/// spread vectors of it.
///
/// # Errors
///
/// What is wrong, in words.
pub fn check_tree(tree: &PartitionTree, n_codes: &[u32], at_most: u64) -> Result<(), String> {
    check_nodes(tree)?;
    let regions = tree.regions(n_codes);
    let domain: u64 = n_codes.iter().map(|&n| u64::from(n)).product();
    for at in (0..domain).step_by(usize::try_from(domain / at_most + 1).unwrap_or(usize::MAX)) {
        let vector = unpack(at, n_codes);
        let class = tree.class_of(|attribute| vector[attribute]);
        let region = regions.get(class as usize).ok_or(format!("no class {class}"))?;
        if !region.iter().zip(&vector).all(|((lo, hi), code)| (lo..=hi).contains(&code)) {
            return Err(format!("{vector:?} is of class {class}, whose region is {region:?}"));
        }
    }
    Ok(())
}

/// Every node but the first is below exactly one earlier node; every class is exactly one leaf.
fn check_nodes(tree: &PartitionTree) -> Result<(), String> {
    let mut n_parents = vec![0; tree.nodes.len()];
    let mut leaves = Vec::new();
    for (id, node) in tree.nodes.iter().enumerate() {
        let children: Vec<u32> = match node {
            Node::Leaf { class } => {
                leaves.push(*class);
                vec![]
            }
            Node::Cut { branches: Branches::Binary { low, high, .. }, .. } => vec![*low, *high],
            Node::Cut { branches: Branches::Runs(runs), .. } => {
                if runs.len() < 2 || !runs.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(format!("node {id} has the runs {runs:?}"));
                }
                // Several runs may share a subtree.
                let children: BTreeSet<u32> = runs.iter().map(|&(_, child)| child).collect();
                children.into_iter().collect()
            }
        };
        for child in children {
            if child as usize <= id {
                return Err(format!("node {child} comes before its parent {id}"));
            }
            n_parents[child as usize] += 1;
        }
    }
    leaves.sort_unstable();
    if leaves != (0..tree.n_classes).collect::<Vec<u32>>() {
        return Err("the leaves are not each class once".to_owned());
    }
    if n_parents.iter().skip(1).any(|&n| n != 1) {
        return Err("a node has not exactly one parent".to_owned());
    }
    Ok(())
}

/// The `at`-th vector of the domain.
fn unpack(mut at: u64, n_codes: &[u32]) -> Vec<u32> {
    n_codes
        .iter()
        .map(|&n| {
            let code = at % u64::from(n);
            at /= u64::from(n);
            u32::try_from(code).unwrap_or(0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use incrowd_data::VectorShare;

    use super::*;
    use crate::table;

    fn share(&[vector, class, n_rows]: &[u32; 3]) -> VectorShare {
        VectorShare { vector, class, n_rows }
    }

    #[test]
    fn wrong_assignments_are_found() {
        let set = table("a:num", "1\n1\n2").frequency_set();
        let check = |class_of: &[u32], n_classes, shares: &[[u32; 3]]| {
            let shares = shares.iter().map(share).collect();
            check_assignment(&set, &Assignment { class_of: class_of.to_vec(), n_classes, shares })
                .is_ok()
        };
        assert!(check(&[0, 1], 2, &[]) && check(&[0, 1], 2, &[[0, 0, 1], [0, 1, 1]]));
        assert!(!check(&[0], 1, &[]), "a vector without class");
        assert!(!check(&[0, 2], 2, &[]), "a class beyond the last");
        assert!(!check(&[0, 1], 2, &[[0, 0, 1]]), "a lost row");
        assert!(!check(&[0, 1], 2, &[[0, 0, 1], [0, 0, 1]]), "two shares of one class");
        assert!(!check(&[0, 1], 2, &[[0, 1, 1], [0, 0, 1]]), "the first share is another class");
        assert!(!check(&[0, 1], 2, &[[7, 1, 1]]), "no such vector");
    }

    #[test]
    fn divided_rows_are_assigned_to_the_shares() {
        let shares = [[0, 0, 2], [0, 1, 1]].iter().map(share).collect();
        let assignment = Assignment { class_of: vec![0, 1], n_classes: 2, shares };
        assert_eq!(class_rows(&[0, 1, 0, 0], &assignment), [vec![0, 2], vec![1, 3]]);
    }
}
