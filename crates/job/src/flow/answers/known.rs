//! What is known of the columns of a release: from its recoding, from the job, from flags.

use incrowd_data::{Hierarchy, Kind};
use incrowd_engine::position;
use incrowd_evaluate::query::{LabelKnowledge, Span, near};
use incrowd_release::LabelForm;
use indexmap::IndexMap;

use crate::flow::answers::QueryOptions;
use crate::flow::recoding_file::{Covered, NodeRecord, RecodingFile};
use crate::report::RecodingKind;
use crate::spec::choice::choice;
use crate::spec::error::{JobError, Problem};
use crate::spec::hierarchy_file::{from_file, leaves_of};
use crate::spec::{ColumnSpec, HierarchySpec};

/// What is known of a release.
pub(crate) struct Knowledge {
    columns: IndexMap<String, ColumnSpec>,
    recoding: Option<RecodingFile>,
    /// What stands in recoded cells, where it is known.
    pub(crate) labels: Option<LabelForm>,
    /// Whether a label's ends occur in every class: Mondrian's classes, labelled by what is in
    /// them.
    pub(crate) has_ends: bool,
}

impl Knowledge {
    pub(crate) fn new(options: &QueryOptions) -> Result<Knowledge, JobError> {
        let recoding = options.recoding.as_deref().map(RecodingFile::read_any).transpose()?;
        let mut columns =
            recoding.as_ref().map_or_else(IndexMap::new, |recoding| recoding.columns.clone());
        for (name, said) in &options.job.columns {
            let known = columns.entry(name.clone()).or_default();
            known.role = said.role.clone().or(known.role.take());
            known.kind = said.kind.clone().or(known.kind.take());
            known.entity |= said.entity;
            let taken = said.order_from.as_deref().map(leaves_of).transpose()?;
            known.order = said.order.clone().or(taken).or(known.order.take());
            known.hierarchy = said.hierarchy.clone().or(known.hierarchy.take());
        }
        for set in &options.job.quasi {
            for name in &set.columns {
                columns.entry(name.clone()).or_default().role = Some("quasi".to_owned());
            }
        }
        let mut problems = Vec::new();
        let said = options.labels.as_ref().or(options.job.release.labels.as_ref());
        let said = said.or(recoding.as_ref().map(|recoding| &recoding.labels));
        let mut labels =
            choice("labels", said.map(String::as_str), &LabelForm::NAMES, &mut problems);
        let is_mondrian = if let Some(recoding) = &recoding {
            matches!(recoding.kind, RecodingKind::Multidimensional | RecodingKind::Local)
        } else {
            let algorithm = options.job.search.algorithm.as_deref();
            options.has_job_file && algorithm.is_none_or(|name| name == "mondrian")
        };
        if options.has_job_file && labels.is_none() && problems.is_empty() {
            labels = Some(LabelForm::Range);
        }
        let is_quasi = |column: &ColumnSpec| column.role.as_deref() == Some("quasi");
        if labels == Some(LabelForm::Mean) && !columns.values().any(is_quasi) {
            problems.push(
                Problem::new("nothing says which columns hold means")
                    .help("name them with --quasi a,b, or pass --recoding FILE"),
            );
        }
        let has_ends = is_mondrian
            && matches!(labels, Some(LabelForm::Range | LabelForm::Bounds | LabelForm::RangeMean));
        let knowledge = Knowledge { columns, recoding, labels, has_ends };
        if problems.is_empty() { Ok(knowledge) } else { Err(JobError::Request(problems)) }
    }

    /// The least k that the recoding was found with.
    pub(crate) fn least_k(&self) -> Option<u64> {
        self.recoding.as_ref()?.privacy.least_k()
    }

    /// The column that tells people apart, if the job or the recoding names one.
    pub(crate) fn entity(&self) -> Option<&str> {
        let mut columns = self.columns.iter();
        columns.find(|(_, column)| column.entity).map(|(name, _)| name.as_str())
    }

    fn role(&self, column: &str) -> Option<&str> {
        self.columns.get(column)?.role.as_deref()
    }

    /// Whether a column is a quasi-identifier column, if that is known.
    pub(crate) fn is_quasi(&self, column: &str) -> Option<bool> {
        self.role(column).map(|role| role == "quasi")
    }

    /// Whether a column is known to be sensitive.
    pub(crate) fn is_sensitive(&self, column: &str) -> bool {
        self.role(column) == Some("sensitive")
    }

    /// What the labels of a column are, in a release or in the table that it was made from.
    pub(crate) fn of(&self, column: &str, is_original: bool) -> Result<LabelKnowledge, JobError> {
        let Some(spec) = self.columns.get(column) else {
            return Ok(if is_original {
                LabelKnowledge::Plain(None)
            } else {
                LabelKnowledge::Nothing
            });
        };
        let mut problems = Vec::new();
        let kind = choice("type", spec.kind.as_deref(), &Kind::NAMES, &mut problems);
        if !problems.is_empty() {
            return Err(JobError::Request(problems));
        }
        if let Some(hierarchy) = &spec.hierarchy {
            return tree(column, hierarchy, is_original);
        }
        if let Some(order) = &spec.order {
            return Ok(LabelKnowledge::Order(order.clone()));
        }
        let is_as_it_is = matches!(self.role(column), Some("sensitive" | "insensitive"));
        if is_original || is_as_it_is {
            return Ok(LabelKnowledge::Plain(kind));
        }
        let is_number = matches!(kind, None | Some(Kind::Integer | Kind::Decimal));
        if self.labels == Some(LabelForm::Mean) && is_number && self.is_quasi(column) == Some(true)
        {
            let may_miss = self.has_missing(column) != Some(false);
            return Ok(LabelKnowledge::Means { is_number: kind.is_some(), may_miss });
        }
        let sequence = self.recoding.as_ref().and_then(|file| file.sequences.get(column));
        Ok(match (kind, sequence) {
            (_, Some(values)) => LabelKnowledge::Values(values.clone()),
            (Some(kind), None) => LabelKnowledge::Kind(kind),
            (None, None) => LabelKnowledge::Nothing,
        })
    }

    /// What classes of the recoding cover of a column.
    fn covered<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a Covered> {
        let nodes = self.recoding.iter().flat_map(|recoding| &recoding.nodes);
        nodes.filter_map(move |node| match node {
            NodeRecord::Class { cells, .. } => cells.get(column),
            _ => None,
        })
    }

    /// Whether a column of numbers, dates or times has missing cells, if the recoding says so.
    fn has_missing(&self, column: &str) -> Option<bool> {
        self.covered(column).next()?;
        // A class that covers anything mixes values and missing cells.
        let has_missing = |covered: &Covered| {
            matches!(covered, Covered::Any(_)) || covered.values().iter().any(Option::is_none)
        };
        Some(self.covered(column).any(has_missing))
    }

    /// The least and the greatest value of a column that the recoding speaks of, on the number
    /// line.
    pub(crate) fn span(&self, column: &str) -> Option<Span> {
        let recoding = self.recoding.as_ref()?;
        let kind = self.columns.get(column)?.kind.as_deref()?;
        let kind = Kind::NAMES.iter().find(|(name, _)| *name == kind)?.1;
        let cuts = recoding.cuts.get(column).into_iter().flatten();
        let values = self.covered(column).flat_map(Covered::values).chain(cuts);
        let ends = |text: &String| match near(kind, text, position)? {
            (at, false) => Some((at, at)),
            // Other numbers have the same place.
            (at, true) => Some((at.next_down(), at.next_up())),
        };
        let ends = values.flatten().filter_map(ends);
        let (lo, hi) = ends.reduce(|(lo, hi), (a, b)| (lo.min(a), hi.max(b)))?;
        // Least and greatest value and missing: the whole domain. Files of old hold no greatest
        // one.
        let is_whole = self.covered(column).any(|of| matches!(of.values(), [_, Some(_), None]));
        Some(Span { lo, hi, is_whole, has_missing: self.has_missing(column) == Some(true) })
    }
}

/// The hierarchy of a column. One that is built of values is not known here; masks are read by
/// their form.
fn tree(column: &str, spec: &HierarchySpec, is_original: bool) -> Result<LabelKnowledge, JobError> {
    let hierarchy = match spec {
        HierarchySpec::File(path) => from_file(std::path::Path::new(path))?.hierarchy,
        HierarchySpec::Rows(rows) => Hierarchy::from_rows(rows)
            .map_err(|error| Problem::new(format!("the hierarchy of `{column}`: {error}")))?,
        HierarchySpec::Built(_) if is_original => return Ok(LabelKnowledge::Plain(None)),
        HierarchySpec::Built(built) if built.mask.is_some() => return Ok(LabelKnowledge::Nothing),
        HierarchySpec::Built(_) => {
            return Err(Problem::new(format!(
                "the hierarchy of `{column}` was built of the values of the original table"
            ))
            .help("pass the --recoding that the release was made with; it holds the hierarchy")
            .into());
        }
    };
    Ok(if is_original {
        LabelKnowledge::Leaves(hierarchy)
    } else {
        LabelKnowledge::Tree(hierarchy)
    })
}
