//! Which algorithm to take, and why.

use serde::Serialize;

use super::{Compared, FoundCase};

/// Which algorithm to take.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Its name.
    pub algorithm: String,
    /// What was compared: `loss`, or what the workload asks for.
    pub by: &'static str,
    /// A sentence for people.
    pub why: String,
}

/// What a release is judged by, and its value: the workload's figure where the job has one. Less is better.
pub(super) fn judged(found: &FoundCase) -> Option<(&'static str, f64)> {
    if let Some(workload) = &found.workload {
        let open = workload.targets.iter().filter_map(|target| target.conditional_entropy);
        if let Some(bits) = mean(open) {
            return Some(("conditional entropy of the targets", bits));
        }
        let left = workload.targets.iter().filter_map(|target| target.error_share);
        if let Some(share) = mean(left) {
            return Some(("squared error of the targets", share));
        }
        #[expect(clippy::cast_precision_loss, reason = "rows of a table")]
        let rows = workload.selections.iter().map(|selection| selection.imprecision as f64);
        if let Some(rows) = mean(rows) {
            return Some(("imprecision of the selections", rows));
        }
    }
    found.measures.loss.map(|loss| ("loss", loss))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    (n > 0.0).then(|| sum / n)
}

/// An algorithm with the mean of what it is judged by, and of its seconds, over the k that all reached.
struct Candidate<'a> {
    name: &'a str,
    value: f64,
    seconds: f64,
}

/// Which algorithm to take: the one with the least mean of what the job is for, over the k for which all that
/// came to an end at all have a release.
pub(super) fn advice(cases: &[Compared]) -> Option<Advice> {
    let mut names: Vec<&str> = Vec::new();
    for case in cases.iter().filter(|case| case.found.is_some()) {
        if !names.contains(&case.algorithm.as_str()) {
            names.push(&case.algorithm);
        }
    }
    let of = |name: &str, k: u64| {
        let case = cases.iter().find(|case| case.algorithm == name && case.k == k)?;
        Some((case, judged(case.found.as_deref()?)?))
    };
    let mut ks: Vec<u64> = cases.iter().map(|case| case.k).collect();
    ks.sort_unstable();
    ks.dedup();
    ks.retain(|&k| names.iter().all(|name| of(name, k).is_some()));
    let by = of(names.first()?, *ks.first()?)?.1.0;
    let mut candidates: Vec<Candidate> = (names.iter())
        .filter_map(|&name| {
            let reached = || ks.iter().filter_map(move |&k| of(name, k));
            let value = mean(reached().map(|(_, (_, value))| value))?;
            let seconds = mean(reached().map(|(case, _)| case.elapsed_s))?;
            Some(Candidate { name, value, seconds })
        })
        .collect();
    // Of equals the one that was named first: times would make the advice depend on chance.
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    let best = candidates.first()?;
    let over: Vec<String> = ks.iter().map(ToString::to_string).collect();
    let over = over.join(", ");
    let why = match candidates.get(1) {
        Some(next) if next.value <= best.value => format!(
            "take `{}`: over k = {over} its mean {by} is {}, as that of `{}`, and no other does better; a release took {:.1} s on average",
            best.name,
            figure(best.value),
            next.name,
            best.seconds
        ),
        Some(next) => format!(
            "take `{}`: over k = {over} its mean {by} is {}, against {} of `{}`, the next; a release took {:.1} s on average",
            best.name,
            figure(best.value),
            figure(next.value),
            next.name,
            best.seconds
        ),
        None => format!(
            "`{}` is the only one with a release; over k = {over} its mean {by} is {}, and a release took {:.1} s on average",
            best.name,
            figure(best.value),
            best.seconds
        ),
    };
    Some(Advice { algorithm: best.name.to_owned(), by, why })
}

/// A number with as many digits as tell something.
pub(super) fn figure(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.4}") }
}
