//! A recoding as two readable files: cuts and classes in values, not in codes, so that it can be
//! applied to other rows.
//!
//! The recoding itself tells what the release tells and no more ([`public`]). What `apply` needs
//! beyond that (values of suppressed rows, leaves below a label, cut points that no label prints)
//! is in its private part beside it, which is a complete recoding in the same form.

mod asked;
mod check;
mod kept;
mod public;
mod written;

use std::path::{Path, PathBuf};

use incrowd_data::{
    Attribute, Branches, Cell, Cuts, Dictionary, End, FrequencySet, Kind, Node, SUPPRESSED, Shape,
};
use incrowd_engine::Staged;
use incrowd_release::{Classes, LabelForm};
use incrowd_search::{Found, Recoding};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::flow::coding::Coding;
use crate::flow::regions::{Places, places_of};
use crate::flow::relabel::released_codes;
use crate::flow::stopped_search::checksum;
use crate::plan::Plan;
use crate::report::RecodingKind;
use crate::spec::error::{JobError, Problem};
use crate::spec::small_file::{read_text, unreadable};
use crate::spec::{BuiltSpec, ColumnSpec, HierarchySpec, PrivacySpec, QuasiSpec, Role};
use asked::{coalitions, named_sets, privacy};
use kept::{any, first_above, known, rules, say_anything};

/// The kind of what a search found.
pub(crate) fn kind_of(recoding: &Recoding) -> RecodingKind {
    match recoding {
        Recoding::Partition(_) => RecodingKind::Multidimensional,
        Recoding::FullDomain(_) => RecodingKind::FullDomain,
        Recoding::Intervals(_) => RecodingKind::SingleDimensional,
        Recoding::Blocks(_) | Recoding::Local(_) => RecodingKind::Local,
    }
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecodingFile {
    /// Version of the tool that wrote it.
    pub(crate) incrowd: String,
    pub(crate) kind: RecodingKind,
    /// What stands in a recoded cell.
    pub(crate) labels: String,
    /// The models that held when it was made.
    pub(crate) privacy: PrivacySpec,
    /// The quasi-identifier sets, where the job named them.
    #[serde(default)]
    pub(crate) quasi: Vec<QuasiSpec>,
    /// The coalitions of sets.
    #[serde(default)]
    pub(crate) collude: Vec<Vec<String>>,
    /// The columns and their roles.
    pub(crate) columns: IndexMap<String, ColumnSpec>,
    /// By unordered column, its values in the sequence that they were cut along.
    pub(crate) sequences: IndexMap<String, Vec<String>>,
    /// Columns of which only the private part tells how they are recoded.
    #[serde(default)]
    pub(crate) private: Vec<String>,
    /// In a private part, what identifies the recoding that it belongs to.
    #[serde(default)]
    pub(crate) public: Option<String>,
    /// By column whose hierarchy was built from values, how its labels are made.
    #[serde(default)]
    pub(crate) built: IndexMap<String, BuiltRecord>,
    /// By column whose hierarchy was made by a rule that gives every value its place, the rule.
    #[serde(default)]
    pub(crate) rules: IndexMap<String, BuiltSpec>,
    /// By sensitive column that a model looks at, the type of its values.
    #[serde(default)]
    pub(crate) types: IndexMap<String, String>,
    /// By column, the level of a full-domain recoding.
    #[serde(default)]
    pub(crate) levels: IndexMap<String, u8>,
    /// By unordered column, the values that region labels name; `null` is missing.
    #[serde(default)]
    pub(crate) known: IndexMap<String, Vec<Option<String>>>,
    /// The columns whose last interval is released as `*` by region labels.
    #[serde(default)]
    pub(crate) any: Vec<String>,
    /// By column, the first value of every interval but the first of a single-dimensional recoding;
    /// `null` is missing.
    #[serde(default)]
    pub(crate) cuts: IndexMap<String, Vec<Option<String>>>,
    /// The tree of cuts; the root is the first node. A full-domain recoding has none.
    pub(crate) nodes: Vec<NodeRecord>,
}

/// A node of the tree. Nodes are named by their place in the list, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum NodeRecord {
    /// Values up to one go to `low`, the others and missing ones to `high`.
    Cut { column: String, at_most: String, low: u32, high: u32 },
    /// Values below a cut point go to `low`, the others and missing ones to `high`; without a cut
    /// point all values go to `low`.
    Below { column: String, below: Option<String>, low: u32, high: u32 },
    /// Values up to each (in the hierarchy's leaf order; `null` is missing) go to a node.
    Children { column: String, children: Vec<(Option<String>, u32)> },
    /// A class, with the values that it covers: least and greatest, or all of an unordered column;
    /// `null` is missing.
    Class { class: u32, cells: IndexMap<String, Covered> },
}

/// What a class covers of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Covered {
    /// Least and greatest value (of a hierarchy, those of each node), or all of an unordered
    /// column; `null` is missing.
    Values(Vec<Option<String>>),
    /// `*`: anything.
    Any(String),
}

impl Covered {
    fn anything() -> Covered {
        Covered::Any("*".to_owned())
    }

    /// The values that it names.
    pub(crate) fn values(&self) -> &[Option<String>] {
        match self {
            Covered::Values(values) => values,
            Covered::Any(_) => &[],
        }
    }
}

/// How the labels of a hierarchy are made that was built from values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuiltRecord {
    /// What the job says of it.
    pub(crate) by: BuiltSpec,
    /// The leaves that released rows had.
    pub(crate) leaves: Vec<String>,
}

/// Where the private part of a recoding is: `recoding.private.json` beside `recoding.json`.
pub(crate) fn private_path(recoding: &Path) -> PathBuf {
    let mut name = recoding.file_stem().unwrap_or_default().to_owned();
    name.push(".private");
    if let Some(extension) = recoding.extension() {
        name.push(".");
        name.push(extension);
    }
    recoding.with_file_name(name)
}

/// Writes the files of a recoding that a search found beside their places: its private part, and
/// the recoding. A tree has a node or two for every class, so that nodes are made and written one
/// by one.
pub(crate) fn stage(
    path: &Path,
    plan: &Plan,
    coding: &Coding,
    found: &Found,
    classes: &Classes,
) -> Result<Vec<Staged>, JobError> {
    let set = &coding.set;
    let places = match plan.labels {
        LabelForm::Region => places_of(set, found),
        _ => Places::new(),
    };
    let tree: &[Node] = match &found.recoding {
        Recoding::Partition(tree) => &tree.nodes,
        _ => &[],
    };
    let nodes = || tree.iter().map(|node| node_record(set, node, classes, &places));
    let mut complete = RecodingFile::new(plan, set, found, classes, &places);
    let (told, cuts) = public::public(&complete, plan, coding, found, classes);
    let (public, sum) = match cuts {
        Some(cuts) => {
            let of_node = |(record, node)| cuts.node(record, node, (plan, set, classes));
            told.stage(path, nodes().zip(tree).map(of_node))?
        }
        None => told.stage(path, std::iter::empty())?,
    };
    complete.public = Some(sum);
    let typed = |(at, kind): &(usize, Kind)| (plan.columns[*at].name.clone(), kind.to_string());
    complete.types = coding.kinds.iter().map(typed).collect();
    let (private, _) = complete.stage(&private_path(path), nodes())?;
    Ok(vec![private, public])
}

impl RecodingFile {
    /// All but its nodes.
    fn new(
        plan: &Plan,
        set: &FrequencySet,
        found: &Found,
        classes: &Classes,
        places: &Places,
    ) -> RecodingFile {
        let names = set.attributes.iter().map(|attribute| attribute.name.clone());
        let is_region = plan.labels == LabelForm::Region;
        let levels = match &found.recoding {
            Recoding::FullDomain(levels) => {
                let levels = levels.iter().map(|level| level.0);
                names.zip(levels).collect()
            }
            _ => IndexMap::new(),
        };
        let cuts = match &found.recoding {
            Recoding::Intervals(cuts) => values_of_cuts(set, cuts, places),
            _ => IndexMap::new(),
        };
        let labels = LabelForm::NAMES.iter().find(|(_, form)| *form == plan.labels);
        RecodingFile {
            incrowd: crate::VERSION.to_owned(),
            kind: kind_of(&found.recoding),
            labels: labels.map_or("range", |(name, _)| name).to_owned(),
            privacy: privacy(plan),
            quasi: named_sets(plan),
            collude: coalitions(plan),
            columns: columns(plan, set),
            sequences: sequences(set),
            private: Vec::new(),
            public: None,
            built: built(plan, set, &found.assignment.class_of),
            rules: rules(plan),
            types: IndexMap::new(),
            levels,
            known: if is_region { known(set, found) } else { IndexMap::new() },
            any: if is_region { any(set, found, classes) } else { Vec::new() },
            cuts,
            nodes: Vec::new(),
        }
    }

    /// Reads a recoding that can be applied: its private part, if that is beside it.
    pub(crate) fn read(path: &Path) -> Result<RecodingFile, JobError> {
        let file = RecodingFile::read_any(path)?;
        let name = path.display();
        if file.kind == RecodingKind::Local {
            return Err(Problem::new(format!(
                "`{name}` is a local recoding: it was made for the rows of one table and cannot be \
                 applied to others"
            ))
            .help("anonymize with another algorithm than butterfly and without --relaxed to get a recoding that can be applied")
            .into());
        }
        if !file.private.is_empty() {
            let columns: Vec<String> =
                file.private.iter().map(|column| format!("`{column}`")).collect();
            let private = private_path(path);
            return Err(Problem::new(format!(
                "`{name}` does not tell how {} is recoded: only its private part does, and that is \
                 not beside it",
                columns.join(", ")
            ))
            .help(format!("put `{}`, which was written with it, there", private.display()))
            .into());
        }
        Ok(file)
    }

    /// Reads a recoding for what it says of its columns, with its private part if that is beside
    /// it.
    pub(crate) fn read_any(path: &Path) -> Result<RecodingFile, JobError> {
        let private = private_path(path);
        // Where the two belong together, the private part alone tells everything.
        if path.is_file()
            && private.is_file()
            && let Ok((complete, _)) = RecodingFile::read_one(&private)
            && complete.public.is_some()
            && complete.public == written::checksum_of(path).ok()
        {
            return Ok(complete);
        }
        let (file, text) = RecodingFile::read_one(path)?;
        if file.public.is_some() || !private.exists() {
            return Ok(file);
        }
        let (complete, _) = RecodingFile::read_one(&private)?;
        if complete.public != Some(checksum(&text)) {
            return Err(Problem::new(format!(
                "`{}` does not belong to `{}`, or one of them was changed",
                private.display(),
                path.display()
            ))
            .help("put the two files side by side as anonymize wrote them")
            .into());
        }
        Ok(complete)
    }

    /// Reads one file of a recoding, and its text.
    fn read_one(path: &Path) -> Result<(RecodingFile, String), JobError> {
        let name = path.display();
        let text = read_text(path).map_err(|error| unreadable("the recoding", path, &error))?;
        let file: RecodingFile = serde_json::from_str(&text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Problem::new(format!(
                "`{name}` is not a recoding: line {line}, column {column} is not as expected"
            ))
            .help("name a file that `incrowd anonymize --recoding FILE` wrote")
        })?;
        file.check().map_err(|reason| damaged(path, &reason))?;
        Ok((file, text))
    }

    /// The cuts of a single-dimensional recoding in the codes of a table; those before values that
    /// the table does not have are left out.
    pub(crate) fn cuts_in(&self, set: &FrequencySet) -> Cuts {
        let mut cuts = Cuts::none(set.attributes.len());
        for (at, attribute) in set.attributes.iter().enumerate() {
            let dictionary = &attribute.dictionary;
            for value in self.cuts.get(&attribute.name).into_iter().flatten() {
                let code = match value {
                    Some(text) => {
                        let place = dictionary.texts.iter().position(|known| known == text);
                        // A cut point need not be a value.
                        let place = place.or_else(|| first_above(dictionary, text));
                        place.and_then(|place| u32::try_from(place).ok())
                    }
                    None => dictionary.missing(),
                };
                if let Some(code) = code.filter(|code| *code > 0) {
                    cuts.insert(at, code);
                }
            }
        }
        cuts
    }
}

/// A recoding that contradicts itself.
pub(crate) fn damaged(path: &Path, reason: &str) -> Problem {
    Problem::new(format!("`{}` is damaged: {reason}", path.display()))
        .help("write it again with `incrowd anonymize --recoding FILE`")
}

/// The columns with everything that is needed to order their values again, in this form only.
fn columns(plan: &Plan, set: &FrequencySet) -> IndexMap<String, ColumnSpec> {
    let mut columns = IndexMap::new();
    for column in plan.columns.iter().filter(|column| column.role.is_some()) {
        let role = match column.role {
            Some(Role::Quasi) => "quasi",
            Some(Role::Sensitive) => "sensitive",
            Some(Role::Insensitive) => "insensitive",
            Some(Role::Identifier) | None => "identifier",
        };
        // Bins bind the search alone; its cuts are what is kept.
        let role = Some(role.to_owned());
        let mut spec = ColumnSpec { role, bins: None, ..column.spec.clone() };
        if let Some(attribute) = set.attributes.iter().find(|a| a.name == column.name) {
            match &attribute.shape {
                Shape::Tree(hierarchy) => {
                    let rows =
                        hierarchy.rows().map(|row| row.into_iter().map(str::to_owned).collect());
                    let n_leaves = attribute.n_values() as usize;
                    spec.hierarchy = Some(HierarchySpec::Rows(rows.take(n_leaves).collect()));
                }
                Shape::Ordinal => spec.order = Some(attribute.dictionary.texts.clone()),
                Shape::Numeric | Shape::Unordered => {
                    spec.kind = Some(attribute.dictionary.kind.to_string());
                }
            }
        }
        columns.insert(column.name.clone(), spec);
    }
    columns
}

fn sequences(set: &FrequencySet) -> IndexMap<String, Vec<String>> {
    let unordered = set.attributes.iter().filter(|a| matches!(a.shape, Shape::Unordered));
    unordered.map(|a| (a.name.clone(), a.dictionary.texts.clone())).collect()
}

fn values_of_cuts(
    set: &FrequencySet,
    cuts: &Cuts,
    places: &Places,
) -> IndexMap<String, Vec<Option<String>>> {
    let of_attribute = |(at, attribute): (usize, &Attribute)| {
        let value = |code: &u32| match places.get(at).and_then(|places| places.get(code)) {
            Some(place) => Some(place.first.text.clone()),
            None => attribute.dictionary.text(*code).map(str::to_owned),
        };
        let mut values: Vec<Option<String>> = cuts.of(at).iter().map(value).collect();
        values.dedup();
        (attribute.name.clone(), values)
    };
    set.attributes.iter().enumerate().map(of_attribute).collect()
}

/// A node of a tree in values.
fn node_record(set: &FrequencySet, node: &Node, classes: &Classes, places: &Places) -> NodeRecord {
    let attributes = &set.attributes;
    let text = |dictionary: &Dictionary, code: u32| dictionary.text(code).map(str::to_owned);
    match node {
        Node::Leaf { class } => {
            let mut cells = cells(attributes, classes, *class);
            if !places.is_empty() {
                say_anything(attributes, classes, *class, &mut cells);
            }
            NodeRecord::Class { class: *class, cells }
        }
        Node::Cut { attribute, branches } => {
            let Attribute { name, dictionary, shape } = &attributes[*attribute];
            let column = name.clone();
            let place = |first| places.get(*attribute).and_then(|of| of.get(&first));
            match branches {
                Branches::Binary { at, low, high } => {
                    let (low, high) = (*low, *high);
                    let parts_missing = !places.is_empty()
                        && !matches!(shape, Shape::Unordered)
                        && dictionary.missing() == Some(at + 1);
                    let below = place(at + 1).map(|place| place.first.text.clone());
                    if below.is_some() || parts_missing {
                        return NodeRecord::Below { column, below, low, high };
                    }
                    let at_most = text(dictionary, *at).expect("no cut lies behind missing");
                    NodeRecord::Cut { column, at_most, low, high }
                }
                Branches::Runs(runs) => {
                    let children =
                        runs.iter().map(|(end, child)| (text(dictionary, *end), *child)).collect();
                    NodeRecord::Children { column, children }
                }
            }
        }
    }
}

/// What a class covers, by column; nothing for a class without rows.
fn cells(attributes: &[Attribute], classes: &Classes, class: u32) -> IndexMap<String, Covered> {
    let number = classes.number_of[class as usize];
    if number == SUPPRESSED {
        return IndexMap::new();
    }
    attributes
        .iter()
        .zip(&classes.recoded.columns)
        .map(|(attribute, column)| {
            let cell = &column.cells[column.of_class[number as usize] as usize];
            (attribute.name.clone(), covered(attribute, cell))
        })
        .collect()
}

/// The values that a cell covers.
fn covered(attribute: &Attribute, cell: &Cell) -> Covered {
    let last = attribute.n_codes() - 1;
    let codes = match cell {
        Cell::Between(part) => {
            let end = |end: &Option<End>| end.as_ref().map(|end| Some(end.text.clone()));
            let to = part.last.as_ref().filter(|_| part.from.is_some());
            let to = to.or(part.below.as_ref()).cloned();
            let ends: Vec<Option<String>> =
                [end(&part.from), end(&to)].into_iter().flatten().collect();
            return if ends.is_empty() { Covered::anything() } else { Covered::Values(ends) };
        }
        Cell::Value(code) => vec![*code],
        Cell::Range(lo, hi) => vec![*lo, *hi],
        Cell::Set(codes) => codes.clone(),
        // First and last leaf of each node: in the same region they stand for the same nodes again.
        Cell::Node(..) | Cell::Nodes(_) => {
            let runs = attribute.runs(cell);
            runs.into_iter()
                .flat_map(|(lo, hi)| if lo < hi { vec![lo, hi] } else { vec![lo] })
                .collect()
        }
        // The whole domain: least and greatest value, and missing.
        Cell::All if matches!(attribute.shape, Shape::Numeric | Shape::Ordinal) => {
            let greatest = attribute.n_values().saturating_sub(1);
            std::iter::once(0).chain([greatest]).chain(attribute.dictionary.missing()).collect()
        }
        // More values than are listed.
        Cell::All if matches!(attribute.shape, Shape::Unordered) => return Covered::anything(),
        Cell::All => vec![0, last],
    };
    let text = |code: u32| attribute.dictionary.text(code).map(str::to_owned);
    Covered::Values(codes.into_iter().map(text).collect())
}

/// How the labels of built hierarchies are made, where some of their leaves are not released.
fn built(plan: &Plan, set: &FrequencySet, class_of: &[u32]) -> IndexMap<String, BuiltRecord> {
    if !class_of.contains(&SUPPRESSED) {
        return IndexMap::new();
    }
    let released = released_codes(set, class_of);
    let mut built = IndexMap::new();
    for (attribute, is_released) in set.attributes.iter().zip(&released) {
        let column = plan.columns.iter().find(|column| column.name == attribute.name);
        let spec = column.and_then(|column| column.spec.hierarchy.as_ref());
        if let Some(HierarchySpec::Built(by)) = spec {
            let leaves = attribute.dictionary.texts.iter().zip(is_released);
            let leaves = leaves.filter(|(_, is_released)| **is_released);
            let leaves = leaves.map(|(leaf, _)| leaf.clone()).collect();
            built.insert(attribute.name.clone(), BuiltRecord { by: by.clone(), leaves });
        }
    }
    built
}
