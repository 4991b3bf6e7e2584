//! Models as a job asks for them, and as the searches and the verifier use them.

use incrowd_data::Dictionary;
use incrowd_privacy::{
    Column, Distance, DistinctDiversity, EntropyDiversity, Histogram, KAnonymity, Model,
    ParameterError, RecursiveDiversity, SquaredErrorDiversity, TCloseness,
};

use crate::spec::PrivacySpec;
use crate::spec::error::Problem;

/// A model of one sensitive column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ModelSpec {
    /// The column by its place in the source.
    pub(crate) column: usize,
    pub(crate) asks: Asks,
}

/// What a model asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asks {
    Distinct(f64),
    Entropy(f64),
    Recursive(f64, u32),
    Closeness(f64),
    SquaredError(f64),
}

/// A sensitive column as a model sees it.
pub(crate) struct SensitiveColumn<'a> {
    /// Its place among the histograms of a class, and the code of cells that count for nothing.
    pub(crate) column: Column,
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) is_ordered: bool,
    pub(crate) whole: &'a Histogram,
}

impl ModelSpec {
    /// The models of a job, each with the column it names (or none, for all sensitive columns).
    pub(crate) fn all(
        spec: &PrivacySpec,
        problems: &mut Vec<Problem>,
    ) -> Vec<(Option<String>, ModelSpec)> {
        let mut all = Vec::new();
        for diversity in &spec.l_diversity {
            let asks = [
                diversity.distinct.map(Asks::Distinct),
                diversity.entropy.map(Asks::Entropy),
                diversity.recursive.map(|(c, l)| Asks::Recursive(c, l)),
            ];
            if asks.iter().flatten().count() == 0 {
                problems.push(
                    Problem::new("an l-diversity says neither distinct, entropy nor recursive")
                        .help("write distinct:3, entropy:3 or recursive:4,3"),
                );
            }
            all.extend(asks.into_iter().flatten().map(|asks| (diversity.column.clone(), asks)));
        }
        all.extend(spec.t_closeness.iter().map(|l| (l.column.clone(), Asks::Closeness(l.value))));
        all.extend(
            spec.squared_error.iter().map(|l| (l.column.clone(), Asks::SquaredError(l.value))),
        );
        for (_, asks) in &all {
            problems.extend(asks.check().err().map(|error| Problem::new(error.to_string())));
        }
        all.into_iter().map(|(column, asks)| (column, ModelSpec { column: 0, asks })).collect()
    }

    /// The model over a class's histograms.
    pub(crate) fn build(&self, on: &SensitiveColumn) -> Result<Box<dyn Model>, ParameterError> {
        let at = on.column;
        Ok(match self.asks {
            Asks::Distinct(l) => Box::new(DistinctDiversity::new(at, l)?),
            Asks::Entropy(l) => Box::new(EntropyDiversity::new(at, l)?),
            Asks::Recursive(c, l) => Box::new(RecursiveDiversity::new(at, c, l)?),
            Asks::Closeness(t) => {
                let distance = if on.is_ordered { Distance::Ordered } else { Distance::Equal };
                Box::new(TCloseness::new(at, t, distance, on.whole)?)
            }
            Asks::SquaredError(error) => {
                Box::new(SquaredErrorDiversity::new(at, error, on.dictionary.positions.clone())?)
            }
        })
    }
}

impl Asks {
    fn check(self) -> Result<(), ParameterError> {
        match self {
            Asks::Distinct(l) => DistinctDiversity::new(0, l).map(drop),
            Asks::Entropy(l) => EntropyDiversity::new(0, l).map(drop),
            Asks::Recursive(c, l) => RecursiveDiversity::new(0, c, l).map(drop),
            Asks::Closeness(t) => {
                TCloseness::new(0, t, Distance::Equal, &Histogram::new(0)).map(drop)
            }
            Asks::SquaredError(error) => SquaredErrorDiversity::new(0, error, Vec::new()).map(drop),
        }
    }
}

/// k-anonymity, if a k is asked for.
pub(crate) fn k_anonymity(k: Option<u64>) -> Option<Box<dyn Model>> {
    let model = KAnonymity::new(k?).expect("k was checked with the job");
    Some(Box::new(model))
}
