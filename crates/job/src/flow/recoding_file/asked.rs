//! What a recoding says of the job that it was made for.

use crate::plan::Plan;
use crate::plan::models::Asks;
use crate::plan::sets::{DEFAULT, QuasiSet};
use crate::spec::{DiversitySpec, PrivacySpec, QuasiSpec, ValueLimit};

/// The quasi-identifier sets that a job names.
pub(super) fn named_sets(plan: &Plan) -> Vec<QuasiSpec> {
    let is_unnamed = plan.sets.len() == 1 && plan.sets[0].name == DEFAULT;
    let named = plan.sets.iter().filter(|set| !set.is_coalition() && !is_unnamed);
    let spec = |set: &QuasiSet| QuasiSpec {
        name: set.name.clone(),
        columns: set.columns.iter().map(|&at| plan.columns[at].name.clone()).collect(),
        k: set.k,
        collude: Vec::new(),
    };
    named.map(spec).collect()
}

pub(super) fn coalitions(plan: &Plan) -> Vec<Vec<String>> {
    let names =
        |set: &QuasiSet| set.members.iter().map(|&member| plan.sets[member].name.clone()).collect();
    plan.sets.iter().filter(|set| set.is_coalition()).map(names).collect()
}

pub(super) fn privacy(plan: &Plan) -> PrivacySpec {
    let mut spec = PrivacySpec {
        k: plan.k,
        suppress: Some(plan.suppress.clone()),
        missing_sensitive: plan.missing_is_value.then(|| "value".to_owned()),
        ..PrivacySpec::default()
    };
    for model in &plan.models {
        let column = Some(plan.columns[model.column].name.clone());
        let diversity = DiversitySpec { column: column.clone(), ..DiversitySpec::default() };
        match model.asks {
            Asks::Distinct(l) => {
                spec.l_diversity.push(DiversitySpec { distinct: Some(l), ..diversity });
            }
            Asks::Entropy(l) => {
                spec.l_diversity.push(DiversitySpec { entropy: Some(l), ..diversity });
            }
            Asks::Recursive(c, l) => {
                spec.l_diversity.push(DiversitySpec { recursive: Some((c, l)), ..diversity });
            }
            Asks::Closeness(value) => spec.t_closeness.push(ValueLimit { column, value }),
            Asks::SquaredError(value) => spec.squared_error.push(ValueLimit { column, value }),
        }
    }
    spec
}
