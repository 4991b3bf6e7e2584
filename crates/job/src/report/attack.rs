//! What an attack found, as it is reported. No cell of either table stands in it.

use serde::Serialize;

use super::TableReport;
use super::page::count;

/// How many rows of a release the rows of an outside table could be.
#[derive(Clone, Debug, Serialize)]
pub struct AttackReport {
    /// Version of the tool.
    pub incrowd: &'static str,
    /// The release.
    pub release: TableReport,
    /// The outside table.
    pub outside: TableReport,
    /// The compared columns.
    pub on: Vec<AttackedColumn>,
    /// What `below_k` speaks of.
    pub k: u64,
    /// Candidates of outside rows.
    pub candidates: CandidatesReport,
    /// Outside rows with just one candidate.
    pub linked: LinkedReport,
    /// What is learned of the sensitive column, if one was named and an outside row has candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<PosteriorReport>,
    /// The same attack on the table that the release was made from, if it was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<BeforeReport>,
    /// What came of it, in a sentence.
    pub conclusion: String,
    /// The limit of `--fail-below`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<u64>,
    /// Outside rows with candidates, but fewer than that limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// What may be amiss, as on standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Seconds, reading included.
    pub elapsed_s: f64,
}

/// What the same attack finds in the table that the release was made from.
#[derive(Clone, Debug, Serialize)]
pub struct BeforeReport {
    /// That table.
    pub original: TableReport,
    /// The compared columns.
    pub on: Vec<AttackedColumn>,
    /// Candidates of outside rows.
    pub candidates: CandidatesReport,
    /// Outside rows with just one candidate.
    pub linked: LinkedReport,
    /// What is learned of the sensitive column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<PosteriorReport>,
}

/// A compared column.
#[derive(Clone, Debug, Serialize)]
pub struct AttackedColumn {
    /// Its name.
    pub column: String,
    /// What its labels were taken for: `integer`, `decimal`, `date`, `timestamp`, `hierarchy`,
    /// `order`, `values`, `texts` (nothing is known of them) or `means`.
    pub read_as: &'static str,
    /// Distinct labels of the release.
    pub release_labels: usize,
    /// Distinct labels of the outside table.
    pub outside_labels: usize,
    /// Those of them that are compatible with none of the release.
    pub unmatched_labels: usize,
}

impl AttackedColumn {
    /// Whether its labels may be nodes of a hierarchy that nobody named: nothing is known of them,
    /// and they do not agree with some of the outside table.
    pub(crate) fn may_be_nodes(&self) -> bool {
        self.read_as == "texts" && self.unmatched_labels > 0
    }
}

/// How many candidates outside rows have.
#[derive(Clone, Debug, Serialize)]
pub struct CandidatesReport {
    /// Outside rows without one.
    pub none: u64,
    /// Outside rows with just one.
    pub one: u64,
    /// Outside rows with at least one and fewer than k.
    pub below_k: u64,
    /// The least number, of the rows that have some; `null` if none has.
    pub least: Option<u64>,
    /// The median of them; of two in the middle the lower one.
    pub median: Option<u64>,
    /// The mean of them.
    pub mean: Option<f64>,
    /// The greatest.
    pub greatest: Option<u64>,
    /// How many rows an attacker links rightly who picks a candidate of each by chance, if everyone
    /// with candidates is in the release.
    pub expected_links: f64,
    /// Outside rows by number of candidates.
    pub distribution: Vec<CandidateBucket>,
}

/// Outside rows with some number of candidates.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CandidateBucket {
    /// The least number.
    pub from: u64,
    /// The greatest; `null` is no limit.
    pub to: Option<u64>,
    /// Outside rows.
    pub rows: u64,
}

impl CandidateBucket {
    /// The numbers in words.
    #[must_use]
    pub fn name(&self) -> String {
        let from = count(self.from);
        match self.to.map(count) {
            _ if self.from == 0 => "none".to_owned(),
            Some(to) if to == from => from,
            Some(to) => format!("{from} to {to}"),
            None => format!("{from} or more"),
        }
    }
}

/// Outside rows with just one candidate.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LinkedReport {
    /// Outside rows.
    pub rows: u64,
    /// Rows of the release that they lead to.
    pub release_rows: u64,
    /// Outside rows of which the release says more in a compared column than the outside table.
    pub finer: u64,
    /// Outside rows whose compared cells, put together from both tables, no other linked row has.
    pub unique: u64,
}

/// What is learned of a sensitive column.
#[derive(Clone, Debug, Serialize)]
pub struct PosteriorReport {
    /// The column.
    pub column: String,
    /// Outside rows whose candidates all have the same value.
    pub certain: u64,
    /// The greatest share that one value has among the candidates of a row.
    pub greatest_share: f64,
    /// The share of the commonest value among the candidates of a row, on average over rows.
    pub mean_share: f64,
}

impl AttackReport {
    /// The report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has a JSON form") + "\n"
    }

    /// Outside rows by number of candidates: before, if that was looked at, and in the release. A
    /// bucket that is empty in one of them has no rows there.
    #[must_use]
    pub fn side_by_side(&self) -> Vec<(CandidateBucket, u64, u64)> {
        let of = |candidates: &CandidatesReport, from: u64| {
            let found = candidates.distribution.iter().find(|bucket| bucket.from == from);
            found.map_or(0, |bucket| bucket.rows)
        };
        let before = self.before.as_ref().map(|before| &before.candidates);
        let mut buckets = self.candidates.distribution.clone();
        buckets.extend(before.iter().flat_map(|before| before.distribution.iter().copied()));
        buckets.sort_by_key(|bucket| bucket.from);
        buckets.dedup_by_key(|bucket| bucket.from);
        let rows = |bucket: CandidateBucket| {
            let earlier = before.map_or(0, |before| of(before, bucket.from));
            (bucket, earlier, of(&self.candidates, bucket.from))
        };
        buckets.into_iter().map(rows).collect()
    }
}
