//! The hierarchy of a column: read from its file or built from its values.

use std::path::Path;

use incrowd_data::{BuildError, DatePart, Kind, MaskSide, dates, fan_out, intervals, mask};
use incrowd_engine::{Order, Values};

use crate::flow::values::DistinctValues;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::hierarchy_file::{Loaded, from_file, tree};
use crate::spec::{BuiltSpec, HierarchySpec};

/// The hierarchy of a column.
pub(crate) fn load(
    column: &str,
    spec: &HierarchySpec,
    values: &Values,
    known: &dyn DistinctValues,
    kind: Option<Kind>,
) -> Result<Loaded, JobError> {
    match spec {
        HierarchySpec::File(path) => from_file(Path::new(path)),
        HierarchySpec::Built(built) => build(column, built, values, known, kind),
        HierarchySpec::Rows(rows) => {
            let hierarchy = tree(rows)
                .map_err(|error| Problem::new(format!("the hierarchy of `{column}`: {error}")))?;
            Ok(Loaded { hierarchy, rows: rows.clone() })
        }
    }
}

/// Builds the hierarchy of a column from its values.
pub(crate) fn build(
    column: &str,
    spec: &BuiltSpec,
    values: &Values,
    known: &dyn DistinctValues,
    kind: Option<Kind>,
) -> Result<Loaded, JobError> {
    let ways =
        [spec.mask.is_some(), spec.dates.is_some(), spec.width.is_some(), spec.fan_out.is_some()];
    if ways.iter().filter(|is_said| **is_said).count() != 1 {
        return Err(Problem::new(format!("the hierarchy of `{column}` is built in just one way"))
            .help("say one of mask, dates, width and fan-out")
            .into());
    }
    let ranked =
        values.rank(Order::Natural(kind)).map_err(|misfits| known.explain(values, misfits))?;
    let dictionary = &ranked.dictionary;
    // Every spelling is a leaf; neighbours in value stay neighbours.
    let texts = &values.texts;
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| (ranked.code_of[a], &texts[a]).cmp(&(ranked.code_of[b], &texts[b])));
    let texts: Vec<&str> = order.iter().map(|&at| texts[at].as_str()).collect();
    let rows = build_rows(spec, &texts, dictionary.kind).map_err(|error| match error {
        NotBuilt::Words(problems) => JobError::Request(problems),
        NotBuilt::Values(error) => problem(column, &error),
    })?;
    if rows.is_empty() {
        // A column without a value has nothing to build from; any tree will do.
        let rows = vec![vec!["*".to_owned()]];
        return Ok(Loaded { hierarchy: tree(&rows).expect("one root"), rows });
    }
    let hierarchy = tree(&rows).map_err(|error| {
        JobError::from(Problem::new(format!("the hierarchy built for `{column}`: {error}")))
    })?;
    Ok(Loaded { hierarchy, rows })
}

pub(crate) fn problem(column: &str, error: &BuildError) -> JobError {
    Problem::new(format!("no hierarchy can be built for `{column}`: {error}")).into()
}

type Rows = Vec<Vec<String>>;

/// Why no hierarchy was built.
enum NotBuilt {
    /// Words of the job that say nothing.
    Words(Vec<Problem>),
    /// The values do not allow it.
    Values(BuildError),
}

impl From<BuildError> for NotBuilt {
    fn from(error: BuildError) -> NotBuilt {
        NotBuilt::Values(error)
    }
}

fn build_rows(spec: &BuiltSpec, values: &[&str], kind: Kind) -> Result<Rows, NotBuilt> {
    let mut problems = Vec::new();
    let rows = if let Some(side) = &spec.mask {
        let sides = [("left", MaskSide::Left), ("right", MaskSide::Right)];
        choice("mask", Some(side), &sides, &mut problems)
            .map(|side| mask(values, side, spec.character.unwrap_or('*')))
    } else if let Some(parts) = &spec.dates {
        let parts: Vec<DatePart> = parts
            .iter()
            .filter_map(|part| choice("dates", Some(part), &DatePart::NAMES, &mut problems))
            .collect();
        if problems.is_empty() { Some(dates(values, &parts)?) } else { None }
    } else if let Some(width) = spec.width {
        Some(intervals(values, width, spec.origin, spec.levels.as_deref().unwrap_or(&[]))?)
    } else {
        Some(fan_out(values, spec.fan_out.unwrap_or(0), kind == Kind::Text)?)
    };
    rows.ok_or(NotBuilt::Words(problems))
}

/// The rows that a rule makes of values, in their order; none if it does not hold for all of them.
pub(crate) fn rows_by_rule(rule: &BuiltSpec, values: &[&str]) -> Option<Vec<Vec<String>>> {
    build_rows(rule, values, Kind::Text).ok()
}
