//! Figures with what they mean, their formula, and the attacker that they speak of.

use serde_json::Value;

use crate::report::page::{Card, count, decimal, percent};
use crate::report::{MeasuresReport, PrivacyReport, RiskReport, SensitiveReport};

const PROSECUTOR: &str = "the prosecutor, who knows that a certain person is in the table and what the person's quasi-identifier is";
const JOURNALIST: &str = "the journalist, who wants to show that anybody can be found, and does not know who is in the table";

const MARKETER: &str =
    "the marketer, who links everybody with an outside list and is content if many links are right";

const CURIOUS: &str = "whoever has found a person's class and wants to learn more of that person";

/// A value with what it was before and what was asked for.
struct Values {
    value: String,
    beside: Vec<String>,
}

/// Before, after and what is asked for, as one reads them.
fn told<T: Copy>(
    after: T,
    before: Option<T>,
    asked: Option<&Value>,
    text: impl Fn(T) -> String,
) -> Values {
    let mut beside = Vec::new();
    beside.extend(before.map(|before| format!("before: {}", text(before))));
    beside.extend(asked.map(|asked| format!("asked for: {asked}")));
    Values { value: text(after), beside }
}

fn card(name: &str, told: Values, meaning: String, formula: &str, attacker: &'static str) -> Card {
    let Values { value, beside } = told;
    let (name, formula) = (name.to_owned(), formula.to_owned());
    Card { name, value, beside, meaning, formula, attacker: Some(attacker) }
}

/// How large the crowds of a set are.
pub(super) fn crowd(set: &PrivacyReport, before: Option<&PrivacyReport>, counted: &str) -> Card {
    let meaning =
        format!("The least number of {counted} that look the same on {}.", set.columns_in_words());
    let asked = set.required.get("k");
    let told = told(set.k, before.map(|before| before.k), asked, count);
    card("k", told, meaning, "k = min |class|", PROSECUTOR)
}

/// The risk of being found; `has_entity` says that classes are counted in people, of whom each may
/// have several records.
pub(super) fn risk(
    set: &PrivacyReport,
    before: Option<&PrivacyReport>,
    has_entity: bool,
) -> Vec<Card> {
    let size = if has_entity { "people in the class" } else { "|class|" };
    let marketer = if has_entity {
        "(1 / n) \u{3a3} 1 / people in the class of the record"
    } else {
        "classes / records"
    };
    let (risk, before) = (&set.risk, before.map(|before| &before.risk));
    let of = |name: &str, figure: fn(&RiskReport) -> f64, asked: &str| {
        let told = told(figure(risk), before.map(figure), set.required.get(asked), decimal);
        (name.to_owned(), told)
    };
    let card = |(name, told): (String, Values), meaning: &str, formula: &str, attacker| {
        card(&name, told, meaning.to_owned(), formula, attacker)
    };
    let mut cards = vec![
        card(
            of("Greatest risk of a record", |risk| risk.prosecutor_max, "prosecutor"),
            "The chance of picking the right record for the person whose crowd is smallest.",
            &format!("max 1 / {size}"),
            PROSECUTOR,
        ),
        card(
            of("Mean risk of a record", |risk| risk.prosecutor_average, ""),
            "The same chance as a mean over all records.",
            &format!("(1 / n) \u{3a3} 1 / {size} of the record"),
            PROSECUTOR,
        ),
        card(
            of("Journalist risk", |risk| risk.journalist_max, "journalist"),
            "At most the greatest risk above: how much less it is only a table of the whole population would tell.",
            &format!("max 1 / |class in the population| \u{2264} max 1 / {size}"),
            JOURNALIST,
        ),
        card(
            of("Marketer risk", |risk| risk.marketer, "marketer"),
            "The share of all records that are linked rightly if one of each crowd is picked blindly.",
            marketer,
            MARKETER,
        ),
    ];
    for (limit, &share) in &risk.share_above {
        let was = before.and_then(|before| before.share_above.get(limit).copied());
        let name = format!("Records with a risk above {limit}");
        let told = told(share, was, None, percent);
        let meaning = "The share of records whose own risk is above that limit.";
        let formula = format!("share of records with 1 / {size} > {limit}");
        cards.push(card((name, told), meaning, &formula, PROSECUTOR));
    }
    let was = before.map(|before| before.records_at_risk);
    let least = set.required.get("k").and_then(Value::as_u64).unwrap_or(5);
    cards.push(Card {
        name: "Records at risk".to_owned(),
        meaning: format!("How many records have a crowd of fewer than {least}."),
        formula: format!("records with {size} < {least}"),
        ..card((String::new(), told(risk.records_at_risk, was, None, count)), "", "", PROSECUTOR)
    });
    cards
}

/// What classes tell of a sensitive column.
pub(super) fn sensitive(
    column: &str,
    found: &SensitiveReport,
    before: Option<&SensitiveReport>,
    set: &PrivacyReport,
) -> Vec<Card> {
    let asked = |key: &str| {
        let of_column = format!("{key}({column})");
        set.required.get(&of_column).or_else(|| set.required.get(key))
    };
    let of = |figure: fn(&SensitiveReport) -> f64, key: &str| {
        told(figure(found), before.map(figure), asked(key), decimal)
    };
    vec![
        card(
            "Fewest values (l)",
            of(|found| found.l_distinct, "l_distinct"),
            format!(
                "The least number of different values of {column} in a class; 1 means that some class gives the value away."
            ),
            "min |values in the class|",
            CURIOUS,
        ),
        card(
            "Entropy l",
            of(|found| found.l_entropy, "l_entropy"),
            format!(
                "As many equally common values of {column} would leave as much open as the class that leaves least open."
            ),
            "min exp(-\u{3a3} p ln p)",
            CURIOUS,
        ),
        card(
            "Distance t",
            of(|found| found.t, "t"),
            format!(
                "How far the values of {column} in a class are from those of all records at most, from 0 (the same) to 1."
            ),
            "max earth mover's distance(class, all)",
            CURIOUS,
        ),
        card(
            "Commonest value (alpha)",
            of(|found| found.alpha, ""),
            format!(
                "The greatest share that one value of {column} has in a class: how sure a guess can be."
            ),
            "max share of a value in the class",
            CURIOUS,
        ),
        card(
            "Disclosure (delta)",
            of(|found| found.delta, ""),
            format!(
                "By how much the share of a value of {column} in a class is multiplied or divided at most, as a logarithm; 0 is not at all."
            ),
            "max |ln(share in the class / share in all)|",
            CURIOUS,
        ),
        card(
            "Gain (beta)",
            of(|found| found.beta, ""),
            format!(
                "By how much a value of {column} is more common in a class than in all records at most; 1 is twice as common."
            ),
            "max (share in the class - share in all) / share in all",
            CURIOUS,
        ),
    ]
}

/// What a measure is called, what it means and how it is worked out.
type MeasureText = (&'static str, &'static str, &'static str);

const DISCERNIBILITY: MeasureText = (
    "Discernibility",
    "How many records each record cannot be told from, summed over all records; a record that was left out counts as one that cannot be told from any.",
    "\u{3a3} |class|\u{b2} + records left out \u{d7} all records",
);

const CLASS_SIZE: MeasureText = (
    "Average class size",
    "Records per class in multiples of k; 1 is the least that is possible.",
    "(records / classes) / k",
);

const LOSS: MeasureText = (
    "Loss",
    "How much of a column's range a recoded cell covers, as a mean over all such cells: 0 is the value itself, 1 is anything.",
    "mean of (greatest - least) / range, (leaves - 1) / (all leaves - 1), (values - 1) / (all values - 1)",
);

const ENTROPY: MeasureText = (
    "Entropy",
    "The bits that are hidden about the cells, as a share of the bits that releasing nothing would hide.",
    "\u{3a3} -log(share of the value among the values that the cell covers) / \u{3a3} -log(share of the value)",
);

const PRECISION: MeasureText = (
    "Precision",
    "How high in its hierarchy a cell stands on average: 0 is the value itself, 1 is the root.",
    "mean of level / height",
);

const CLASSIFICATION: MeasureText = (
    "Classification",
    "Records whose target is not the commonest one of their class, and those that were left out.",
    "\u{3a3} records outside the majority of their class + records left out",
);

/// What was lost.
pub(super) fn measures(measures: &MeasuresReport) -> Vec<Card> {
    let all = [
        (LOSS, measures.loss.map(decimal)),
        (ENTROPY, measures.entropy.map(decimal)),
        (DISCERNIBILITY, Some(decimal(measures.discernibility))),
        (CLASS_SIZE, measures.average_class_size.map(decimal)),
        (PRECISION, measures.precision.map(decimal)),
        (CLASSIFICATION, measures.classification.map(decimal)),
    ];
    all.into_iter().filter_map(|(text, value)| Some(measure(text, value?))).collect()
}

/// What the release alone tells of what was lost.
pub(super) fn measures_told(measures: &MeasuresReport) -> Vec<Card> {
    let size = measures.average_class_size.map(decimal);
    size.map(|size| measure(CLASS_SIZE, size)).into_iter().collect()
}

fn measure((name, meaning, formula): MeasureText, value: String) -> Card {
    Card {
        name: name.to_owned(),
        value,
        meaning: meaning.to_owned(),
        formula: formula.to_owned(),
        ..Card::default()
    }
}
