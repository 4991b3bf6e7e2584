//! What an attack found, as it is reported. No cell of either table stands in it.

use incrowd_evaluate::attack::{Bucket, Found, Summary, linked, posterior, summary};

use super::AttackOptions;
use super::read::Compared;
use crate::report::page::count;
use crate::report::{
    AttackReport, AttackedColumn, BeforeReport, CandidateBucket, CandidatesReport, LinkedReport,
    PosteriorReport, TableReport,
};

/// What was found in one table.
pub(super) struct FoundIn {
    pub(super) rows: TableReport,
    pub(super) on: Vec<AttackedColumn>,
    pub(super) candidates: CandidatesReport,
    pub(super) linked: LinkedReport,
    pub(super) sensitive: Option<PosteriorReport>,
    /// Outside rows with candidates, but fewer than `--fail-below` says.
    pub(super) failed: Option<u64>,
}

impl FoundIn {
    pub(super) fn new(
        compared: Compared,
        found: &[Found],
        k: u64,
        options: &AttackOptions,
    ) -> FoundIn {
        let Compared { tables, columns, n_release, .. } = compared;
        let rows = &tables.outside;
        let linked = linked(&tables, found);
        let sensitive = options.sensitive.clone().zip(posterior(found, rows));
        FoundIn {
            rows: TableReport { rows: n_release },
            on: columns,
            candidates: candidates(&summary(found, rows, k)),
            linked: LinkedReport {
                rows: linked.rows,
                release_rows: linked.release_rows,
                finer: linked.finer,
                unique: linked.unique,
            },
            sensitive: sensitive.map(|(column, (certain, greatest_share, mean_share))| {
                PosteriorReport { column, certain, greatest_share, mean_share }
            }),
            failed: options.fail_below.map(|limit| summary(found, rows, limit).below_k),
        }
    }
}

fn candidates(summed: &Summary) -> CandidatesReport {
    let bucket = |of: &Bucket| CandidateBucket { from: of.from, to: of.to, rows: of.rows };
    CandidatesReport {
        none: summed.none,
        one: summed.one,
        below_k: summed.below_k,
        least: summed.spread.map(|of| of.least),
        median: summed.spread.map(|of| of.median),
        mean: summed.spread.map(|of| of.mean),
        greatest: summed.spread.map(|of| of.greatest),
        expected_links: summed.expected_links,
        distribution: summed.buckets.iter().map(bucket).collect(),
    }
}

pub(super) fn report(
    release: FoundIn,
    before: Option<FoundIn>,
    n_outside: u64,
    (k, options): (u64, &AttackOptions),
) -> AttackReport {
    let before = before.map(|FoundIn { rows, on, candidates, linked, sensitive, .. }| {
        BeforeReport { original: rows, on, candidates, linked, sensitive }
    });
    let FoundIn { rows, on, candidates, linked, sensitive, failed } = release;
    let column = options.sensitive.as_deref();
    let pinned = |candidates: &CandidatesReport, learned: Option<&PosteriorReport>| {
        (candidates.one, learned.map_or(0, |of| of.certain))
    };
    let pinned_before = before.as_ref().map(|of| pinned(&of.candidates, of.sensitive.as_ref()));
    let pinned = pinned(&candidates, sensitive.as_ref());
    let conclusion = conclusion(pinned, pinned_before, n_outside, column);
    AttackReport {
        incrowd: crate::VERSION,
        release: rows,
        outside: TableReport { rows: n_outside },
        on,
        k,
        candidates,
        linked,
        sensitive,
        conclusion,
        before,
        fail_below: options.fail_below,
        failed,
        warnings: Vec::new(),
        elapsed_s: 0.0,
    }
}

/// A sentence about the people that are pinned down to one record, and those whose sensitive value
/// is known, in the release and before.
fn conclusion(
    release: (u64, u64),
    before: Option<(u64, u64)>,
    n_outside: u64,
    sensitive: Option<&str>,
) -> String {
    let some = |n: u64| if n == 0 { "none".to_owned() } else { count(n) };
    let (one, certain) = before.unwrap_or(release);
    let verb = if one <= 1 { "is" } else { "are" };
    let people = if n_outside == 1 { "person" } else { "people" };
    let mut text = format!(
        "{}: {} of {} outside {people} {verb} pinned down to one record",
        if before.is_some() { "before" } else { "in the release" },
        some(one),
        count(n_outside)
    );
    if let Some(column) = sensitive {
        text.push_str(&format!(", and the {column} of {} is known for certain", some(certain)));
    }
    if before.is_some() {
        text.push_str(&format!("; in the release: {}", some(release.0)));
        if sensitive.is_some() {
            text.push_str(&format!(" and {}", some(release.1)));
        }
    }
    text
}
