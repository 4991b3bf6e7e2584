//! Answers as they are reported.

use std::collections::BTreeMap;

use incrowd_data::Aggregate;
use incrowd_engine::text_at;
use incrowd_evaluate::query::{Answer, Domain, GroupAnswers, Release, Value, deviation, summary};
use serde_json::Value as Json;

use crate::flow::answers::Asked;
use crate::report::{
    AnswerReport, ErrorSummary, ErrorsReport, GroupReport, QueryAnswers, QueryReport, TableReport,
    TruthReport,
};

/// Puts the answers together, with the truth if it is known.
pub(crate) fn report(
    asked: &[Asked],
    release: &Release,
    answers: &[Vec<GroupAnswers>],
    truth: Option<&(Release, Vec<Vec<GroupAnswers>>)>,
) -> QueryReport {
    let rows = |release: &Release| TableReport {
        rows: release.counts.iter().map(|&rows| u64::from(rows)).sum(),
    };
    let queries: Vec<QueryAnswers> = asked
        .iter()
        .zip(answers)
        .enumerate()
        .map(|(at, (asked, answers))| QueryAnswers {
            query: asked.text.text.clone(),
            line: asked.text.line,
            weight: Some(asked.text.weight).filter(|weight| weight.total_cmp(&1.0).is_ne()),
            group_by: asked.query.group_by.clone(),
            rows: groups(asked, release, answers, truth.map(|(table, all)| (table, &all[at][..]))),
        })
        .collect();
    let errors = truth.map(|_| errors(&queries));
    QueryReport {
        incrowd: crate::VERSION,
        release: rows(release),
        original: truth.map(|(table, _)| rows(table)),
        queries,
        errors,
    }
}

fn errors(queries: &[QueryAnswers]) -> ErrorsReport {
    let all = || queries.iter().flat_map(|q| &q.rows).flat_map(|group| &group.answers);
    let of = |error: fn(&TruthReport) -> Option<f64>| {
        all().filter_map(|answer| error(answer.truth.as_ref()?)).collect::<Vec<f64>>()
    };
    let absolute = of(|truth| truth.absolute_error);
    ErrorsReport {
        answers: absolute.len(),
        exact: all().filter(|answer| answer.exact).count(),
        absolute: summary(&absolute).map(ErrorSummary::from),
        relative: summary(&of(|truth| truth.relative_error)).map(ErrorSummary::from),
        weighted_relative_mean: weighted_relative_mean(queries),
    }
}

fn weighted_relative_mean(queries: &[QueryAnswers]) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for query in queries {
        let weight = query.weight.unwrap_or(1.0);
        for answer in query.rows.iter().flat_map(|group| &group.answers) {
            if let Some(error) = answer.truth.as_ref().and_then(|truth| truth.relative_error) {
                sum += weight * error;
                weights += weight;
            }
        }
    }
    let is_weighted = queries.iter().any(|query| query.weight.is_some());
    (is_weighted && weights > 0.0).then(|| sum / weights)
}

/// The values of a group, by which estimates and truths find each other.
type Values = Vec<Option<String>>;

/// The groups of a query: those of the release, then those that only the original has.
fn groups(
    asked: &Asked,
    release: &Release,
    answers: &[GroupAnswers],
    truth: Option<(&Release, &[GroupAnswers])>,
) -> Vec<GroupReport> {
    let mut truths: BTreeMap<Values, &GroupAnswers> = BTreeMap::new();
    if let Some((table, all)) = truth {
        truths.extend(all.iter().map(|found| (values(asked, table, found), found)));
    }
    let mut groups = Vec::new();
    for found in answers {
        let actual = truths.remove(&values(asked, release, found));
        let truth = truth.map(|(table, _)| (table, actual));
        groups.push(group(asked, release, found, &both(asked, release, Some(found), truth)));
    }
    if let Some((table, all)) = truth {
        for found in all.iter().filter(|found| truths.contains_key(&values(asked, table, found))) {
            let truth = Some((table, Some(found)));
            groups.push(group(asked, table, found, &both(asked, release, None, truth)));
        }
    }
    groups
}

fn values(asked: &Asked, table: &Release, found: &GroupAnswers) -> Values {
    let pairs = asked.query.group_by.iter().zip(&found.group);
    pairs.map(|(name, key)| key.map(|key| text_of(table, name, key))).collect()
}

fn group(
    asked: &Asked,
    table: &Release,
    found: &GroupAnswers,
    answers: &[AnswerReport],
) -> GroupReport {
    let json = |(name, key): (&String, &Option<f64>)| {
        (name.clone(), key.map_or(Json::Null, |key| json_of(table, name, key)))
    };
    let group = asked.query.group_by.iter().zip(&found.group).map(json).collect();
    GroupReport { group, answers: answers.to_vec() }
}

/// Estimates with the truth, if it is known. A group that one of the two tables lacks has no rows
/// there.
fn both(
    asked: &Asked,
    release: &Release,
    found: Option<&GroupAnswers>,
    truth: Option<(&Release, Option<&GroupAnswers>)>,
) -> Vec<AnswerReport> {
    let one = |(at, aggregate): (usize, &Aggregate)| {
        let of = |found: Option<&GroupAnswers>| {
            found.map_or_else(|| of_no_rows(aggregate), |found| found.answers[at])
        };
        let answer = of(found);
        let json = |table: &Release, value: Option<f64>| match aggregate {
            Aggregate::Min(column) | Aggregate::Max(column) => {
                value.map_or(Json::Null, |key| json_of(table, column, key))
            }
            _ => value.map_or(Json::Null, Json::from),
        };
        let truth = truth.map(|(table, actual)| {
            let actual = of(actual).estimate;
            let is_number = match aggregate {
                Aggregate::Min(column) | Aggregate::Max(column) => {
                    domain(table, column).is_number() && domain(release, column).is_number()
                }
                _ => true,
            };
            let error = deviation(answer.estimate, actual).filter(|_| is_number);
            TruthReport {
                value: json(table, actual),
                absolute_error: error.map(|error| error.absolute),
                relative_error: error.map(|error| error.relative),
            }
        });
        AnswerReport {
            aggregate: name_of(aggregate),
            estimate: json(release, answer.estimate),
            exact: answer.exact,
            least: json(release, answer.least),
            greatest: json(release, answer.greatest),
            truth,
        }
    };
    asked.query.aggregates.iter().enumerate().map(one).collect()
}

fn of_no_rows(aggregate: &Aggregate) -> Answer {
    let is_count = matches!(aggregate, Aggregate::Count | Aggregate::CountOf(_));
    Answer { estimate: is_count.then_some(0.0), exact: false, least: None, greatest: None }
}

fn name_of(aggregate: &Aggregate) -> String {
    match aggregate {
        Aggregate::Count => "COUNT(*)".to_owned(),
        Aggregate::CountOf(column) => format!("COUNT({column})"),
        Aggregate::Sum(column) => format!("SUM({column})"),
        Aggregate::Avg(column) => format!("AVG({column})"),
        Aggregate::Min(column) => format!("MIN({column})"),
        Aggregate::Max(column) => format!("MAX({column})"),
    }
}

fn domain<'a>(table: &'a Release, column: &str) -> &'a Domain {
    let found = table.columns.iter().find(|known| known.name == column);
    &found.expect("queries look at columns that were read").domain
}

/// The text of a value.
fn text_of(table: &Release, column: &str, key: f64) -> String {
    match domain(table, column).value(key) {
        Some(Value::Position(line, at)) => match line.width {
            Some(width) => format!("{at:0width$}"),
            None => text_at(line.kind, at),
        },
        Some(Value::Text(text)) => text.to_owned(),
        None => String::new(),
    }
}

/// A value in JSON: numbers as such, anything else as text.
fn json_of(table: &Release, column: &str, key: f64) -> Json {
    let domain = domain(table, column);
    let is_padded = matches!(domain, Domain::Line(line) if line.width.is_some());
    if !domain.is_number() || is_padded {
        return Json::from(text_of(table, column, key));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
    if key.fract() == 0.0 && key.abs() < 9e15 { Json::from(key as i64) } else { Json::from(key) }
}
