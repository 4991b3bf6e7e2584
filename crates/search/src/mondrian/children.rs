//! How a region is cut along a hierarchy: into the children of the node that contains it.
//!
//! Children that satisfy the models become parts of their own. The others stay together as one
//! part; while that part does not satisfy the models, the child with the fewest rows joins it. So a
//! small child does not prevent the separation of the large ones.
//!
//! A part of several children is labelled by naming them, never by their parent, which would cover
//! the other parts too. Nobody reads a label of hundreds of names, so more than [`MOST`] children
//! are divided further, in their order; if that is not possible, the node is not cut.

/// Children that may stay together.
const MOST: usize = 256;

/// The part of each child, or `None` if fewer than two parts have rows. `rows` is the number of
/// rows of each child; `holds` tells whether some children together satisfy the models.
///
/// Parts are numbered by their first child. A child without rows is a part of its own.
pub(super) fn parts(rows: &[u64], mut holds: impl FnMut(&[usize]) -> bool) -> Option<Vec<usize>> {
    let present: Vec<usize> = (0..rows.len()).filter(|&child| rows[child] > 0).collect();
    let (mut alone, mut rest): (Vec<usize>, Vec<usize>) =
        present.iter().partition(|&&child| holds(&[child]));
    while !rest.is_empty() && !holds(&rest) {
        let fewest = alone.iter().copied().min_by_key(|&child| (rows[child], child))?;
        alone.retain(|&child| child != fewest);
        rest.push(fewest);
        rest.sort_unstable();
    }
    if alone.len() + usize::from(!rest.is_empty()) < 2 {
        return None;
    }
    // As even as possible.
    let n_groups = rest.len().div_ceil(MOST).max(1);
    let together: Vec<&[usize]> = rest.chunks(rest.len().div_ceil(n_groups).max(1)).collect();
    if together.len() > 1 && !together.iter().all(|children| holds(children)) {
        return None;
    }
    let mut first_of: Vec<usize> = (0..rows.len()).collect();
    for children in together {
        for &child in children {
            first_of[child] = children[0];
        }
    }
    let mut part_of = Vec::with_capacity(rows.len());
    let mut n_parts = 0;
    for (child, &first) in first_of.iter().enumerate() {
        part_of.push(if first < child { part_of[first] } else { n_parts });
        n_parts += usize::from(first == child);
    }
    Some(part_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rows: &[u64], k: u64, expected: Option<&[usize]>) {
        let holds =
            |children: &[usize]| children.iter().map(|&child| rows[child]).sum::<u64>() >= k;
        assert_eq!(parts(rows, holds).as_deref(), expected);
    }

    #[test]
    fn small_children_stay_together() {
        check(&[5, 5], 5, Some(&[0, 1]));
        check(&[9, 3, 7, 2], 5, Some(&[0, 1, 2, 1]));
        check(&[9, 1, 7, 0, 2], 5, Some(&[0, 1, 1, 2, 1]));
        check(&[9, 1, 0], 5, None);
        check(&[9, 0, 0], 5, None);
        check(&[3, 3, 3], 5, None);
        check(&[3, 3, 9], 5, Some(&[0, 0, 1]));
    }

    #[test]
    fn too_many_children_for_a_label_are_divided() {
        let mut rows = vec![1; 600];
        rows[300] = 400;
        let sizes = |k: u64| {
            let holds =
                |children: &[usize]| children.iter().map(|&child| rows[child]).sum::<u64>() >= k;
            parts(&rows, holds).map(|part_of| {
                let mut sizes = vec![0; part_of.iter().max().unwrap() + 1];
                for part in part_of {
                    sizes[part] += 1;
                }
                sizes
            })
        };
        assert_eq!(sizes(199), Some(vec![200, 200, 1, 199]));
        assert_eq!(sizes(201), None);
    }
}
