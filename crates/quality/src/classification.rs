//! Classification metric (Iyengar 2002; Bayardo and Agrawal 2005).

/// Rows outside the majority of their class, plus the suppressed rows. Each item is the histogram
/// of the target column over one class.
#[must_use]
pub fn classification<'a>(classes: impl Iterator<Item = &'a [u64]>, n_suppressed: u64) -> u64 {
    let minority = |counts: &[u64]| counts.iter().sum::<u64>() - counts.iter().max().unwrap_or(&0);
    classes.map(minority).sum::<u64>() + n_suppressed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minorities_and_suppressed_rows_count() {
        let classes: [&[u64]; 3] = [&[3, 1], &[0, 5], &[2, 2]];
        assert_eq!(classification(classes.into_iter(), 4), 1 + 2 + 4);
    }
}
