//! Which algorithm to take, and why.

use super::held_out::score;
use crate::command::evaluate::{ALPHA, by_fold};
use crate::report::comparison::{figure, judged, mean};
use crate::report::{Advice, Against, Compared, FoundCase, HeldOut, HeldOutScore};

/// Which algorithm to take: by scores on held-out rows if there are any.
pub(super) fn advice(cases: &[Compared], held_out: Option<&HeldOut>) -> Option<Advice> {
    let by_score = held_out.and_then(|held_out| by_held_out(cases, held_out));
    by_score.or_else(|| by_measure(cases))
}

/// The algorithms that have something in a case, in their order, and the k for which all of them
/// do.
fn common(cases: &[Compared], has: impl Fn(&FoundCase) -> bool) -> (Vec<&str>, Vec<u64>) {
    let is_found = |case: &Compared| case.found.as_deref().is_some_and(&has);
    let mut names: Vec<&str> = Vec::new();
    for case in cases.iter().filter(|case| is_found(case)) {
        if !names.contains(&case.algorithm.as_str()) {
            names.push(&case.algorithm);
        }
    }
    let mut ks: Vec<u64> = cases.iter().map(|case| case.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let has_k = |name: &str, k: u64| {
        cases.iter().any(|case| case.algorithm == name && case.k == k && is_found(case))
    };
    ks.retain(|&k| names.iter().all(|name| has_k(name, k)));
    (names, ks)
}

fn of<'a>(cases: &'a [Compared], name: &str, k: u64) -> Option<(&'a Compared, &'a FoundCase)> {
    let case = cases.iter().find(|case| case.algorithm == name && case.k == k)?;
    Some((case, case.found.as_deref()?))
}

/// The algorithm whose releases models learn from best, over the k for which all that have a score
/// have one.
fn by_held_out(cases: &[Compared], held_out: &HeldOut) -> Option<Advice> {
    let (names, ks) = common(cases, |found| found.held_out.is_some());
    let mut scored: Vec<(&str, HeldOutScore)> = names
        .iter()
        .filter_map(|&name| {
            let of_k = |&k: &u64| of(cases, name, k)?.1.held_out.as_ref().map(|s| &s.by_fold);
            let by_k: Vec<&Vec<f64>> = ks.iter().filter_map(of_k).collect();
            let n_folds = by_k.first()?.len();
            let over_ks = |fold: usize| mean(by_k.iter().map(|scores| scores[fold]));
            let by_fold: Vec<f64> = (0..n_folds).filter_map(over_ks).collect();
            Some((name, score(by_fold, held_out.ratio())?))
        })
        .collect();
    let is_accuracy = held_out.is_accuracy();
    // Of equals the one that was named first.
    scored.sort_by(
        |(_, a), (_, b)| {
            if is_accuracy { b.mean.total_cmp(&a.mean) } else { a.mean.total_cmp(&b.mean) }
        },
    );
    let ((best, score), others) = scored.split_first()?;
    // All intervals together shall miss with the probability of one, also though the best was
    // picked for its score.
    let alpha = ALPHA / others.len().max(1) as f64;
    let against: Vec<Against> = others
        .iter()
        .filter_map(|(name, other)| {
            let difference = by_fold(&score.by_fold, &other.by_fold, held_out.ratio(), alpha)?;
            let (algorithm, mean) = ((*name).to_owned(), other.mean);
            Some(Against { algorithm, mean, difference, is_shown: difference.is_shown() })
        })
        .collect();
    let (reach, by) = if is_accuracy {
        ("reach an accuracy of", "accuracy on held-out rows")
    } else {
        ("leave, of the error of always giving the same answer,", "error on held-out rows")
    };
    let over: Vec<String> = ks.iter().map(ToString::to_string).collect();
    let mut why = format!(
        "take `{best}`: over k = {} models trained on its releases {reach} {} (95% interval {} to {})",
        over.join(", "),
        figure(score.mean),
        figure(score.lower),
        figure(score.upper)
    );
    let one = |other: &Against| format!("`{}` ({})", other.algorithm, figure(other.mean));
    let list = |is_shown: bool| {
        let found = against.iter().filter(|other| other.is_shown == is_shown).map(one);
        found.collect::<Vec<String>>().join(", ")
    };
    let (worse, alike) = (list(true), list(false));
    if !alike.is_empty() {
        why.push_str(&format!("; no difference shown from {alike}"));
    }
    if !worse.is_empty() {
        why.push_str(&format!("; shown to be better than {worse}"));
    }
    Some(Advice { algorithm: (*best).to_owned(), by, why, against })
}

/// An algorithm with the mean of what it is judged by, and of its seconds, over the k that all
/// reached.
struct Candidate<'a> {
    name: &'a str,
    value: f64,
    seconds: f64,
}

/// The algorithm with the least mean of what the job is for, over the k for which all that came to
/// an end at all have a release.
fn by_measure(cases: &[Compared]) -> Option<Advice> {
    let (names, ks) = common(cases, |found| judged(found).is_some());
    // Where not all have the workload's figure, loss is what they have in common.
    let by = judged(of(cases, names.first()?, *ks.first()?)?.1)?.0;
    let found = || cases.iter().filter_map(|case| judged(case.found.as_deref()?));
    let by = if found().all(|(name, _)| name == by) { by } else { "loss" };
    let value = |found: &FoundCase| match by {
        "loss" => found.measures.loss,
        _ => judged(found).map(|(_, value)| value),
    };
    let mut candidates: Vec<Candidate> = (names.iter())
        .filter_map(|&name| {
            let reached = || ks.iter().filter_map(move |&k| of(cases, name, k));
            let value = mean(reached().filter_map(|(_, found)| value(found)))?;
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
    Some(Advice { algorithm: best.name.to_owned(), by, why, against: Vec::new() })
}
