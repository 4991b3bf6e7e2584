//! How a region is cut along a hierarchy: into the children of the node that holds it.
//!
//! Children that satisfy the models become parts of their own. The others stay together as one part;
//! while that part does not satisfy the models, the child with the fewest rows joins it. So a small
//! child does not keep the large ones from being told apart.

/// The part of each child, or none if fewer than two parts with rows are left. `rows` is the number of
/// rows of each child; `holds` says whether some children together satisfy the models.
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
    let mut part_of = Vec::with_capacity(rows.len());
    let mut n_parts = 0;
    for child in 0..rows.len() {
        let part = match rest.first() {
            Some(&first) if first < child && rest.contains(&child) => part_of[first],
            _ => {
                n_parts += 1;
                n_parts - 1
            }
        };
        part_of.push(part);
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
}
