//! The distribution of the codes of extra columns over groups.

use super::Counter;

/// How often each code of an extra column occurs in each group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    /// By group, the end of its entries.
    pub(super) ends: Vec<u32>,
    /// Code and rows.
    pub(super) entries: Vec<(u32, u32)>,
}

impl Spread {
    /// The codes of a group with their rows, each code once.
    pub(crate) fn of_group(&self, group: usize) -> &[(u32, u32)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        &self.entries[start..self.ends[group] as usize]
    }
}

impl Counter<'_> {
    /// Adds up the entries of an extra column by new group.
    pub(super) fn spread(
        &self,
        extra: usize,
        n_groups: usize,
        group_of: &[u32],
        entries: impl Iterator<Item = impl AsRef<[(u32, u32)]>> + Clone,
    ) -> Spread {
        // Visits sources in the order of their groups, so that one dense histogram serves all
        // groups.
        let mut ends = vec![0u32; n_groups + 1];
        for (&group, entries) in group_of.iter().zip(entries.clone()) {
            ends[group as usize + 1] +=
                u32::try_from(entries.as_ref().len()).expect("fewer entries than rows");
        }
        for group in 0..n_groups {
            ends[group + 1] += ends[group];
        }
        let mut sorted = vec![(0u32, 0u32); ends[n_groups] as usize];
        let mut next = ends.clone();
        for (&group, entries) in group_of.iter().zip(entries) {
            let place = &mut next[group as usize];
            for &entry in entries.as_ref() {
                sorted[*place as usize] = entry;
                *place += 1;
            }
        }
        let mut rows_of = vec![0u32; self.set.extras[extra].n_codes as usize];
        let mut spread = Spread { ends: Vec::with_capacity(n_groups), entries: Vec::new() };
        for group in 0..n_groups {
            let of_group = &sorted[ends[group] as usize..ends[group + 1] as usize];
            let start = spread.entries.len();
            for &(code, rows) in of_group {
                if rows_of[code as usize] == 0 {
                    spread.entries.push((code, 0));
                }
                rows_of[code as usize] += rows;
            }
            for entry in &mut spread.entries[start..] {
                entry.1 = std::mem::take(&mut rows_of[entry.0 as usize]);
            }
            spread.ends.push(u32::try_from(spread.entries.len()).expect("fewer than rows"));
        }
        spread
    }
}
