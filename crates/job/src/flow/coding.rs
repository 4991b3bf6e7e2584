//! From a table that was read to the frequency set that is searched.
//!
//! Equal rows are grouped unless a sample shows that more than 70% of the rows are distinct.
//! Grouping then costs more than it saves, and strict Mondrian gives the same result. Relaxed
//! Mondrian always groups, because it divides equal rows by the order of the vectors. Full-domain
//! searches group equal rows themselves.

use incrowd_data::{Attribute, Codes, Extra, FrequencySet, Kind, collapse, distinct_share};
use incrowd_engine::{Ranked, Table, Values};
use incrowd_privacy::{Column, Histogram, Model};
use incrowd_quality::Measure;
use incrowd_search::{RowGrouping, Workload};
use rayon::prelude::*;

use crate::flow::ordered::{
    Ordered, is_ordered, known_values, order_sensitive, order_values, raw_column,
};
use crate::flow::values::DistinctValues;
use crate::plan::Plan;
use crate::plan::models::{SensitiveColumn, k_anonymity};
use crate::spec::Role;
use crate::spec::error::{JobError, Problem};

/// The rows of a table that are equal on all quasi-identifier columns: how many they are, and by
/// row which.
#[derive(Clone, Copy)]
pub(crate) struct EqualRows<'a> {
    pub(crate) counts: &'a [u32],
    pub(crate) group_of: &'a [u32],
}

/// A table in codes, ready to be searched.
pub(crate) struct Coding {
    pub(crate) set: FrequencySet,
    /// By row, its vector.
    pub(crate) vector_of: Vec<u32>,
    pub(crate) models: Vec<Box<dyn Model>>,
    /// The extra column that k counts.
    pub(crate) entity: Option<usize>,
    /// The extra column that the classification measure looks at.
    pub(crate) target: Option<usize>,
    /// What the release is for, if the search looks at it.
    pub(crate) workload: Option<Workload>,
    /// By attribute, the rows of each code.
    pub(crate) value_rows: Vec<Vec<u64>>,
    /// The vectors that are searched, whether or not they are all in the set.
    pub(crate) n_vectors: u64,
    /// The sensitive columns that models look at, and what their values are.
    pub(crate) kinds: Vec<(usize, Kind)>,
}

impl Coding {
    /// The rows of a table that are equal on the quasi-identifier, if just those were put together:
    /// where texts that differ are one value (1 and 1.0), they look different in the table.
    pub(crate) fn equal_rows(&self, table: &Table) -> Option<EqualRows<'_>> {
        let is_same = |(attribute, rows): (&Attribute, &Vec<u64>)| {
            let n_values = rows.iter().filter(|rows| **rows > 0).count();
            let raw = table.column(&attribute.name);
            raw.is_some_and(|raw| raw.values.n_codes() as usize == n_values)
        };
        let is_grouped = self.set.extras.is_empty()
            && self.set.len() < self.vector_of.len()
            && self.set.attributes.iter().zip(&self.value_rows).all(is_same);
        is_grouped.then_some(EqualRows { counts: &self.set.counts, group_of: &self.vector_of })
    }
}

/// The share of distinct rows from which grouping equal ones is not worth it.
const MOST_DISTINCT: f64 = 0.7;

/// Gives every column its codes and collapses equal rows.
pub(crate) fn code(plan: &Plan, table: &Table) -> Result<Coding, JobError> {
    Ok(prepare(plan, table)?.collapse())
}

/// How the columns of a table become those of a frequency set.
pub(crate) struct Scheme {
    pub(crate) attributes: Vec<Attribute>,
    /// By attribute, the rows of each code.
    value_rows: Vec<Vec<u64>>,
    /// The attributes, then the extra columns.
    pub(crate) columns: Vec<CodedAs>,
    pub(crate) models: Vec<Box<dyn Model>>,
    pub(crate) entity: Option<usize>,
    pub(crate) target: Option<usize>,
    /// By extra column, the numbers that its codes stand for.
    positions: Vec<Vec<f64>>,
    pub(crate) workload: Option<Workload>,
    pub(crate) grouping: RowGrouping,
    /// The sensitive columns that models look at, and what their values are.
    kinds: Vec<(usize, Kind)>,
}

/// A column of a table, and what becomes of its codes.
pub(crate) struct CodedAs {
    /// The column of the plan.
    pub(crate) at: usize,
    /// By code of the table, the code of the set.
    pub(crate) map: Vec<u32>,
    pub(crate) n_codes: u32,
}

impl CodedAs {
    fn ordered(at: usize, values: &Values, ranked: &Ranked) -> CodedAs {
        CodedAs { at, map: values.map_to(ranked), n_codes: ranked.dictionary.n_codes() }
    }

    /// A column of which only matters which cells are equal. Its codes are ranks, so that they do
    /// not depend on the order of the rows.
    pub(crate) fn identified(
        plan: &Plan,
        at: usize,
        known: &dyn DistinctValues,
    ) -> Result<CodedAs, JobError> {
        let values = known_values(plan, known, at);
        let identified = values.identify(plan.columns[at].kind);
        let (map, n_codes) = identified.map_err(|misfits| known.explain(values, misfits))?;
        Ok(CodedAs { at, map, n_codes })
    }
}

/// Columns in codes, not yet collapsed.
pub(crate) struct Prepared {
    scheme: Scheme,
    /// The codes of the scheme's columns.
    columns: Vec<(Codes, u32)>,
    n_rows: usize,
}

/// Gives every column its codes.
pub(crate) fn prepare(plan: &Plan, table: &Table) -> Result<Prepared, JobError> {
    let scheme = scheme(plan, table)?;
    let code = |CodedAs { at, map, n_codes }: &CodedAs| {
        (raw_column(plan, table, *at).codes.remap(map, *n_codes), *n_codes)
    };
    let columns = scheme.columns.par_iter().map(code).collect();
    Ok(Prepared { scheme, columns, n_rows: table.n_rows })
}

/// How the columns of a table are coded.
pub(crate) fn scheme(plan: &Plan, known: &dyn DistinctValues) -> Result<Scheme, JobError> {
    let values = |at: usize| known_values(plan, known, at);
    let order = |at: usize| order_values(&plan.columns[at], values(at), known);
    let (mut attributes, mut value_rows) = (Vec::new(), Vec::new());
    let mut columns: Vec<CodedAs> = Vec::new();
    let quasi: Vec<usize> = plan.with_role(Role::Quasi).collect();
    let ordered: Vec<Result<Ordered, JobError>> = quasi.par_iter().map(|&at| order(at)).collect();
    for (at, ordered) in quasi.into_iter().zip(ordered) {
        let ordered = ordered?;
        columns.push(CodedAs::ordered(at, values(at), &ordered.ranked));
        value_rows.push(ordered.counts);
        attributes.push(Attribute {
            name: plan.columns[at].name.clone(),
            dictionary: ordered.ranked.dictionary,
            shape: ordered.shape,
        });
    }
    // The search looks at the sensitive columns that a model names, at the entity and at the
    // target.
    let mut looked_at: Vec<usize> = plan.models.iter().map(|model| model.column).collect();
    looked_at.sort_unstable();
    looked_at.dedup();
    let mut extras = Vec::new();
    for &at in &looked_at {
        let ordered = order_sensitive(plan, at, values(at), known)?;
        columns.push(CodedAs::ordered(at, values(at), &ordered.ranked));
        extras.push(ordered);
    }
    let models = build_models(plan, &looked_at, &extras)?;
    let kind = |extra: &Ordered| extra.ranked.dictionary.kind;
    let kinds = looked_at.iter().copied().zip(extras.iter().map(kind)).collect();
    let n_attributes = attributes.len();
    let mut push = |at: usize| -> Result<usize, JobError> {
        columns.push(CodedAs::identified(plan, at, known)?);
        Ok(columns.len() - 1 - n_attributes)
    };
    let entity = plan.entity().map(&mut push).transpose()?;
    let needs_target = plan.measure == Measure::Classification;
    let target = plan.target().filter(|_| needs_target).map(&mut push).transpose()?;
    let (workload, positions) = workload(plan, known, &attributes, &mut columns)?;
    let grouping = plan.method.algorithm.row_grouping();
    Ok(Scheme {
        attributes,
        value_rows,
        columns,
        models,
        entity,
        target,
        positions,
        workload,
        grouping,
        kinds,
    })
}

/// The workload in codes, and by extra column the numbers of those that it looks at; adds them to
/// the columns.
fn workload(
    plan: &Plan,
    known: &dyn DistinctValues,
    attributes: &[Attribute],
    columns: &mut Vec<CodedAs>,
) -> Result<(Option<Workload>, Vec<Vec<f64>>), JobError> {
    let n_extras = |columns: &[CodedAs]| columns.len() - attributes.len();
    plan.workload.check_selections(attributes)?;
    if !plan.workload.is_used() {
        return Ok((None, vec![Vec::new(); n_extras(columns)]));
    }
    let is_quasi = |at: usize| plan.columns[at].role == Some(Role::Quasi);
    let targets = plan.targets().filter(|_| plan.workload.uses_targets);
    let asked = (0..plan.columns.len()).filter(|&at| plan.columns[at].is_asked && !is_quasi(at));
    let mut wanted: Vec<usize> = targets.chain(asked).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let values = |at: usize| known_values(plan, known, at);
    let ordered = wanted.iter().map(|&at| order_values(&plan.columns[at], values(at), known));
    let ordered: Vec<Ordered> = ordered.collect::<Result<_, JobError>>()?;
    let first = n_extras(columns);
    let extras: Vec<(usize, usize, &Ordered)> =
        wanted.iter().zip(first..).zip(&ordered).map(|((at, extra), o)| (*at, extra, o)).collect();
    let workload = plan.workload.build(plan, attributes, &extras)?;
    let mut positions = vec![Vec::new(); first];
    for (at, ordered) in wanted.into_iter().zip(ordered) {
        columns.push(CodedAs::ordered(at, values(at), &ordered.ranked));
        positions.push(ordered.ranked.dictionary.positions);
    }
    Ok((Some(workload), positions))
}

impl Prepared {
    /// How the columns are coded.
    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Groups equal rows.
    pub(crate) fn collapse(self) -> Coding {
        let Prepared { mut scheme, columns, n_rows } = self;
        let coded = std::mem::take(&mut scheme.columns);
        let Grouped { columns, counts, vector_of } = group(columns, n_rows, scheme.grouping);
        scheme.coding(&coded, columns, counts, vector_of, n_rows as u64)
    }
}

impl Scheme {
    /// The coding of a table whose distinct vectors have these codes and rows.
    pub(crate) fn coding(
        self,
        columns: &[CodedAs],
        mut vectors: Vec<Codes>,
        counts: Vec<u32>,
        vector_of: Vec<u32>,
        n_rows: u64,
    ) -> Coding {
        let Scheme { attributes, models, entity, target, positions, .. } = self;
        let Scheme { workload, value_rows, kinds, .. } = self;
        let extras = vectors.split_off(attributes.len()).into_iter();
        let extras = extras.zip(&columns[attributes.len()..]).zip(positions);
        let extras = extras.map(|((codes, coded), positions)| Extra {
            name: String::new(),
            codes,
            n_codes: coded.n_codes,
            positions,
        });
        let n_vectors = counts.len() as u64;
        let set = FrequencySet { extras: extras.collect(), attributes, vectors, counts, n_rows };
        Coding { set, vector_of, models, entity, target, workload, value_rows, n_vectors, kinds }
    }
}

/// Columns with one cell per vector.
pub(crate) struct Grouped {
    pub(crate) columns: Vec<Codes>,
    pub(crate) counts: Vec<u32>,
    pub(crate) vector_of: Vec<u32>,
}

/// Groups equal rows, unless nearly all differ: then every row is a vector of its own, which saves
/// a sort. Searches that go by the order of the vectors need it all the same.
pub(crate) fn group(columns: Vec<(Codes, u32)>, n_rows: usize, grouping: RowGrouping) -> Grouped {
    let borrowed: Vec<(&Codes, u32)> = columns.iter().map(|(codes, n)| (codes, *n)).collect();
    let is_left = match grouping {
        RowGrouping::Always => false,
        RowGrouping::WhenWorthwhile => distinct_share(&borrowed, n_rows) > MOST_DISTINCT,
        RowGrouping::Never => true,
    };
    if is_left {
        return Grouped {
            columns: columns.into_iter().map(|(codes, _)| codes).collect(),
            counts: vec![1; n_rows],
            vector_of: (0..).take(n_rows).collect(),
        };
    }
    let collapsed = collapse(&borrowed, n_rows);
    let project = |(codes, n_codes): &(Codes, u32)| collapsed.project(codes, *n_codes);
    Grouped {
        columns: columns.par_iter().map(project).collect(),
        counts: collapsed.counts,
        vector_of: collapsed.vector_of,
    }
}

fn build_models(
    plan: &Plan,
    looked_at: &[usize],
    extras: &[Ordered],
) -> Result<Vec<Box<dyn Model>>, JobError> {
    let mut models: Vec<Box<dyn Model>> = k_anonymity(plan.k).into_iter().collect();
    for spec in &plan.models {
        let index = looked_at.iter().position(|&at| at == spec.column).expect("collected above");
        models.push(model_on(plan, spec, index, &extras[index])?);
    }
    Ok(models)
}

/// A model over the histograms of an ordered column.
pub(crate) fn model_on(
    plan: &Plan,
    spec: &crate::plan::models::ModelSpec,
    index: usize,
    ordered: &Ordered,
) -> Result<Box<dyn Model>, JobError> {
    let dictionary = &ordered.ranked.dictionary;
    let mut whole = Histogram::new(dictionary.n_codes());
    for (code, &rows) in (0..).zip(&ordered.counts).filter(|(_, rows)| **rows > 0) {
        whole.add(code, rows);
    }
    let is_squared = matches!(spec.asks, crate::plan::models::Asks::SquaredError(_));
    let is_number = matches!(dictionary.kind, Kind::Integer | Kind::Decimal);
    if is_squared && !is_number && ordered.counts.iter().any(|&rows| rows > 0) {
        let name = &plan.columns[spec.column].name;
        return Err(Problem::new(format!(
            "squared-error diversity needs numbers, column `{name}` is {}",
            dictionary.kind
        ))
        .help("ask for an l-diversity of it instead")
        .into());
    }
    let on = SensitiveColumn {
        column: Column { at: index, missing: plan.counts_for_nothing(dictionary) },
        dictionary,
        is_ordered: is_ordered(&ordered.shape),
        whole: &whole,
    };
    spec.build(&on).map_err(|error| Problem::new(error.to_string()).into())
}
