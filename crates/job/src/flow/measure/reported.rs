//! What was measured, as the report tells it.

use incrowd_quality::ClassSizes;
use incrowd_release::{Privacy, Risk, SensitiveFound, THRESHOLDS};
use indexmap::IndexMap;

use super::{Measured, MeasuredSet};
use crate::plan::Plan;
use crate::plan::models::Asks;
use crate::plan::sets::QuasiSet;
use crate::report::{
    BrokenReport, CollusionReport, MeasuresReport, PrivacyReport, ReleaseReport, RiskReport,
    SensitiveReport, SizesReport,
};
use crate::spec::Role;

/// Suppressed rows that are released as `*`: a class for the models, but not one of the release.
#[derive(Clone, Copy, Default)]
pub(crate) struct Starred {
    pub(crate) n_rows: u64,
    /// Those outside the majority of the target.
    pub(crate) n_minority: u64,
}

/// What holds for each quasi-identifier set.
pub(crate) fn privacy_report(plan: &Plan, measured: &Measured) -> Vec<PrivacyReport> {
    let report = |one: &MeasuredSet| {
        let MeasuredSet { set, columns, found, .. } = one;
        let sensitive: IndexMap<String, SensitiveReport> = found
            .sensitive
            .iter()
            .filter(|_| found.k.is_some())
            .map(|s| (s.name.clone(), sensitive_report(s)))
            .collect();
        let least = |of: fn(&SensitiveReport) -> f64| sensitive.values().map(of).reduce(f64::min);
        PrivacyReport {
            quasi: set.name.clone(),
            columns: columns.clone(),
            k: found.k.unwrap_or(0),
            l_distinct: least(|s| s.l_distinct),
            l_entropy: least(|s| s.l_entropy),
            t: sensitive.values().map(|s| s.t).reduce(f64::max),
            risk: risk(one),
            required: required(plan, set),
            broken: broken(found),
            satisfied: found.is_satisfied() && one.exceeded(&measured.limits).is_empty(),
            sensitive,
        }
    };
    measured.sets.iter().map(report).collect()
}

fn sensitive_report(found: &SensitiveFound) -> SensitiveReport {
    SensitiveReport {
        l_distinct: found.l_distinct,
        l_entropy: found.l_entropy,
        t: found.t,
        l_recursive: found.recursive(),
        alpha: found.alpha,
        delta: found.delta,
        beta: found.beta,
        beta_enhanced: Some(found.beta_enhanced).filter(|beta| beta.is_finite()),
    }
}

fn broken(found: &Privacy) -> Vec<BrokenReport> {
    found
        .broken
        .iter()
        .filter(|model| model.n_classes > 0)
        .map(|broken| BrokenReport {
            model: broken.model.clone(),
            classes: broken.n_classes,
            rows: broken.n_rows,
        })
        .collect()
}

fn required(plan: &Plan, set: &QuasiSet) -> IndexMap<String, serde_json::Value> {
    let mut required = IndexMap::new();
    if let Some(k) = set.k {
        required.insert("k".to_owned(), k.into());
    }
    for limit in &plan.limits {
        let (name, most) = limit.named();
        required.insert(name.to_owned(), most.into());
    }
    for model in &plan.models {
        let (name, value) = match model.asks {
            Asks::Distinct(l) => ("l_distinct", serde_json::json!(l)),
            Asks::Entropy(l) => ("l_entropy", serde_json::json!(l)),
            Asks::Recursive(c, l) => ("l_recursive", serde_json::json!([c, l])),
            Asks::Closeness(t) => ("t", serde_json::json!(t)),
            Asks::SquaredError(error) => ("squared_error", serde_json::json!(error)),
        };
        let column = &plan.columns[model.column].name;
        let is_only = plan.with_role(Role::Sensitive).count() == 1;
        let key = if is_only { name.to_owned() } else { format!("{name}({column})") };
        required.insert(key, value);
    }
    required
}

/// The sizes of the classes of a release, without that of the rows that are starred.
fn released(measured: &Measured, starred: Starred) -> ClassSizes {
    let mut sizes = measured.union.sizes.clone();
    if starred.n_rows > 0 {
        sizes.remove_one(starred.n_rows);
    }
    sizes
}

/// The size figures of a table.
pub(crate) fn release_report(
    measured: &Measured,
    n_suppressed: u64,
    starred: Starred,
) -> ReleaseReport {
    let sizes = released(measured, starred);
    ReleaseReport {
        rows: measured.n_rows - starred.n_rows,
        suppressed: n_suppressed,
        classes: sizes.n_classes(),
        smallest_class: sizes.smallest().unwrap_or(0),
        largest_class: sizes.largest().unwrap_or(0),
        class_sizes: by_size(&sizes),
    }
}

/// Classes by size, in steps that double.
fn by_size(sizes: &ClassSizes) -> Vec<SizesReport> {
    let mut steps: Vec<SizesReport> = Vec::new();
    let mut all: Vec<(u64, u64)> =
        sizes.iter().filter(|(rows, _, _)| *rows > 0).map(|(rows, _, n)| (rows, n)).collect();
    all.sort_unstable();
    for (rows, classes) in all {
        let least = 1 << rows.ilog2();
        if steps.last().is_none_or(|step| step.least != least) {
            steps.push(SizesReport { least, greatest: 2 * least - 1, classes: 0, rows: 0 });
        }
        if let Some(step) = steps.last_mut() {
            step.classes += classes;
            step.rows += rows * classes;
        }
    }
    steps
}

/// What attackers would find together; nothing where there is but one set.
pub(crate) fn collusion_report(plan: &Plan, measured: &Measured) -> Vec<CollusionReport> {
    let report = |measured: &MeasuredSet| {
        let MeasuredSet { set, columns, found, .. } = measured;
        CollusionReport {
            quasi: set.members.iter().map(|&at| plan.sets[at].name.clone()).collect(),
            columns: columns.clone(),
            k: found.k.unwrap_or(0),
            risk: risk(measured),
            required: plan.sets.iter().any(|asked| asked.covers(&set.columns) && asked.k >= set.k),
        }
    };
    measured.collusion.iter().map(report).collect()
}

fn risk(measured: &MeasuredSet) -> RiskReport {
    let Risk { prosecutor_max, prosecutor_average, records_at_risk, shares_above } = measured.risk;
    let above = THRESHOLDS.iter().map(ToString::to_string).zip(shares_above);
    RiskReport {
        prosecutor_max,
        prosecutor_average,
        journalist_max: prosecutor_max,
        marketer: prosecutor_average,
        records_at_risk,
        share_above: above.collect(),
    }
}

/// The risk of the set with the greatest one.
pub(crate) fn risk_report(measured: &Measured) -> RiskReport {
    let worst = measured.sets.iter().map(risk).max_by(|a, b| {
        let by_max = a.prosecutor_max.total_cmp(&b.prosecutor_max);
        by_max.then(a.prosecutor_average.total_cmp(&b.prosecutor_average))
    });
    worst.expect("a job has a set at least")
}

/// The measures that a table alone tells.
pub(crate) fn measures_report(
    plan: &Plan,
    measured: &Measured,
    n_suppressed: u64,
    starred: Starred,
) -> MeasuresReport {
    let sizes = released(measured, starred);
    let classification = measured.union.classification.map(|rows| rows - starred.n_minority);
    MeasuresReport {
        discernibility: incrowd_quality::discernibility(&sizes, n_suppressed),
        average_class_size: plan.k.and_then(|k| incrowd_quality::average_class_size(&sizes, k)),
        loss: None,
        loss_by_column: IndexMap::new(),
        entropy: None,
        classification: classification.map(|rows| (rows + n_suppressed) as f64),
        precision: None,
        height: None,
    }
}

/// What is wrong, in sentences.
pub(crate) fn failures(measured: &Measured) -> Vec<String> {
    let mut reasons = Vec::new();
    for one in &measured.sets {
        let MeasuredSet { set, columns, found, .. } = one;
        let is_one = measured.sets.len() == 1;
        let of_set = if is_one { String::new() } else { format!(" of `{}`", set.name) };
        for broken in broken(found) {
            reasons.push(format!(
                "{} does not hold with respect to {{{}}}{of_set}: {} classes with {} rows break it",
                broken.model,
                columns.join(", "),
                broken.classes,
                broken.rows
            ));
        }
        for exceeded in one.exceeded(&measured.limits) {
            reasons.push(format!("{exceeded}, with respect to {{{}}}{of_set}", columns.join(", ")));
        }
    }
    reasons
}
