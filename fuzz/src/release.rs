//! What holds for a release whatever the job was: its smallest class, told from the written file.

use std::collections::BTreeMap;

/// Panics if fewer than `k` rows of a released CSV file look the same on the columns that were
/// recoded.
pub(crate) fn check_k(path: &str, quasi: &[String], k: u64) {
    let mut reader = csv::Reader::from_path(path).expect("a release can be read");
    let header = reader.headers().expect("a release has a header").clone();
    let is_recoded = |name: &str| {
        let is_of = |quasi: &String| {
            let rest = name.strip_prefix(quasi.as_str());
            rest.is_some_and(|rest| matches!(rest, "" | "_min" | "_max" | "_mean"))
        };
        quasi.iter().any(is_of)
    };
    let columns: Vec<usize> = (0..header.len()).filter(|&at| is_recoded(&header[at])).collect();
    let mut classes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for record in reader.records() {
        let record = record.expect("a release is sound");
        let labels = columns.iter().map(|&at| record[at].to_owned()).collect();
        *classes.entry(labels).or_default() += 1;
    }
    let least = classes.values().min().copied().unwrap_or(k);
    assert!(least >= k, "a class of {least} rows in a {k}-anonymous release");
}
