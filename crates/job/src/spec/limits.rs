//! Limits on the risk of a table, and presets that name where a limit comes from.

use incrowd_release::Risk;

use crate::spec::PrivacySpec;
use crate::spec::error::{Problem, nearest};

/// A risk, by the attacker that it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RiskKind {
    /// Who knows that a person is in the table: the greatest risk of a record.
    Prosecutor,
    /// Who does not know that: without a table of the population no more than the prosecutor's.
    Journalist,
    /// Who wants to find as many people as possible: the share that is found rightly.
    Marketer,
}

impl RiskKind {
    const ALL: [(&'static str, RiskKind); 3] = [
        ("prosecutor", RiskKind::Prosecutor),
        ("journalist", RiskKind::Journalist),
        ("marketer", RiskKind::Marketer),
    ];

    fn name(self) -> &'static str {
        RiskKind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    fn of(self, risk: &Risk) -> f64 {
        match self {
            RiskKind::Prosecutor | RiskKind::Journalist => risk.prosecutor_max,
            RiskKind::Marketer => risk.prosecutor_average,
        }
    }
}

/// A risk that is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RiskLimit {
    kind: RiskKind,
    most: f64,
}

impl RiskLimit {
    /// The name of the report's key, and the limit.
    pub(crate) fn named(self) -> (&'static str, f64) {
        (self.kind.name(), self.most)
    }

    /// What is wrong with a risk, if something is.
    pub(crate) fn broken(self, risk: &Risk) -> Option<String> {
        let RiskLimit { kind, most } = self;
        let found = kind.of(risk);
        (found > most).then(|| format!("the {} risk is {found:.4}, above {most}", kind.name()))
    }
}

/// A level of protection that a rule or a practice asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The least size of a class.
    pub k: u64,
    /// The greatest risk of a record, where the rule states one.
    pub most: Option<f64>,
    /// Where the number comes from.
    pub source: &'static str,
}

/// The presets.
pub const PRESETS: [Preset; 3] = [
    Preset {
        name: "ema-0.09",
        k: 12,
        most: Some(0.09),
        source: "the European Medicines Agency's guidance on publishing clinical data (policy 0070) takes 0.09 as the \
                 greatest risk of a record; a class of 11 has 1/11 = 0.0909, which is above, so it takes 12",
    },
    Preset {
        name: "tre-10",
        k: 10,
        most: None,
        source: "trusted research environments commonly let no count below 10 out",
    },
    Preset {
        name: "hipaa-5",
        k: 5,
        most: Some(0.2),
        source: "expert determination under HIPAA states no number; a least cell of 5, a risk of 0.2, is a common choice of \
                 experts for data that is not made public",
    },
];

/// The preset of that name.
pub(crate) fn preset(name: &str) -> Result<Preset, Problem> {
    PRESETS.into_iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        Problem::new(format!("there is no preset `{name}`"))
            .help(format!("choose one of {}", names.join(", ")))
    })
}

impl PrivacySpec {
    /// The preset, if the job names one that there is.
    #[must_use]
    pub fn chosen_preset(&self) -> Option<Preset> {
        self.preset.as_deref().and_then(|name| preset(name).ok())
    }

    /// The k of sets that do not say their own: the job's, or that of its preset.
    #[must_use]
    pub fn least_k(&self) -> Option<u64> {
        self.k.or(self.chosen_preset().map(|preset| preset.k))
    }
}

/// The limits of a job, those of its preset included, and all that is wrong with them.
pub(crate) fn limits(
    spec: &PrivacySpec,
    set_ks: impl Iterator<Item = u64>,
    problems: &mut Vec<Problem>,
) -> Vec<RiskLimit> {
    let mut limits = Vec::new();
    match spec.preset.as_deref().map(preset) {
        None => {}
        Some(Err(problem)) => problems.push(problem),
        Some(Ok(Preset { name, k, most, .. })) => {
            if let Some(less) = spec.k.into_iter().chain(set_ks).find(|&less| less < k) {
                problems.push(
                    Problem::new(format!("k = {less} is less than the preset `{name}` asks for"))
                        .help(format!("ask for -k {k} or more, or leave the preset or the k out")),
                );
            }
            limits.extend(most.map(|most| RiskLimit { kind: RiskKind::Prosecutor, most }));
        }
    }
    for (name, &most) in &spec.fail_above {
        let kind = RiskKind::ALL.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind);
        match kind {
            None => {
                let names = RiskKind::ALL.map(|(name, _)| name);
                let problem = Problem::new(format!("`{name}` is not a risk"));
                problems.push(match nearest(name, names) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem.help(format!("limit one of {}", names.join(", "))),
                });
            }
            Some(_) if !(0.0..=1.0).contains(&most) => problems.push(
                Problem::new(format!("the limit of the {name} risk must be a number from 0 to 1"))
                    .help(format!("write {name}=0.09")),
            ),
            Some(kind) => limits.push(RiskLimit { kind, most }),
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(sizes: &[u64]) -> Risk {
        Risk::of(&sizes.iter().copied().collect(), 2)
    }

    #[test]
    fn presets_are_as_strict_as_they_say() {
        for preset in PRESETS {
            let Some(most) = preset.most else { continue };
            let limit = RiskLimit { kind: RiskKind::Prosecutor, most };
            assert_eq!(limit.broken(&risk(&[preset.k])), None, "{}", preset.name);
            assert!(limit.broken(&risk(&[preset.k - 1])).is_some(), "{}", preset.name);
        }
    }

    #[test]
    fn the_marketer_finds_a_class_each() {
        let limit = RiskLimit { kind: RiskKind::Marketer, most: 0.25 };
        assert_eq!(limit.broken(&risk(&[4, 4, 4])), None);
        let found = limit.broken(&risk(&[1, 4, 4]));
        assert_eq!(found.as_deref(), Some("the marketer risk is 0.3333, above 0.25"));
    }

    #[test]
    fn what_is_wrong_is_said_at_once() {
        let fail_above = [("prosecuter", 0.1), ("marketer", 1.5)];
        let spec = PrivacySpec {
            k: Some(5),
            preset: Some("ema-0.09".to_owned()),
            fail_above: fail_above.map(|(name, most)| (name.to_owned(), most)).into(),
            ..PrivacySpec::default()
        };
        let mut problems = Vec::new();
        limits(&spec, std::iter::empty(), &mut problems);
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert_eq!(problems[1].help.as_deref(), Some("did you mean `prosecutor`?"));
    }
}
