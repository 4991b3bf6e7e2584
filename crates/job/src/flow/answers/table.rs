//! A release, or the table that it was made from, as queries see it.

use std::collections::BTreeMap;

use incrowd_data::{Codes, Kind, LabelsOf, Test, collapse, value_label};
use incrowd_engine::{Engine, RawColumn, Source, Table, Use, position, read};
use incrowd_evaluate::query::{
    Column, Domain, LabelKnowledge, Release, Spread, Unreadable, Values, near, read_bounds,
    read_labels,
};
use incrowd_release::LabelForm;
use rayon::prelude::*;

use crate::flow::answers::known::Knowledge;
use crate::flow::answers::{Asked, Problems, columns};
use crate::plan::naming::suggest;
use crate::spec::error::{JobError, Problem};

/// Where the cells of a column that queries name stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In one column of the source.
    One(usize),
    /// In two, least and greatest value.
    Bounds(usize, usize),
    /// In one, with the mean of the class in another.
    WithMean(usize, usize),
}

/// The columns that queries need.
pub(crate) struct Layout {
    columns: Vec<(String, Place)>,
    /// By column, the constants that it is compared with.
    constants: BTreeMap<String, Vec<String>>,
    is_original: bool,
}

impl Layout {
    /// Finds the columns of all queries; every one that is missing is a problem.
    pub(crate) fn new(
        source: &Source,
        knowledge: &Knowledge,
        asked: &[Asked],
        (named, is_original): (&[String], bool),
        problems: &mut Problems,
    ) -> Layout {
        let constants = constants(asked);
        let mut layout = Layout { columns: Vec::new(), constants, is_original };
        let what = if is_original { "the original table" } else { "the release" };
        for Asked { at, text, query } in asked {
            for name in columns(query) {
                if layout.columns.iter().any(|(known, _)| known == name) {
                    continue;
                }
                if let Some(place) = place(source, knowledge, name, is_original) {
                    layout.columns.push((name.to_owned(), place));
                } else {
                    let message = text.at(&format!("column `{name}` is not in {what}"));
                    problems.of_query(*at, unknown(source, name, message));
                }
            }
        }
        for name in named {
            if place(source, knowledge, name, is_original).is_none() {
                let message = format!("column `{name}` is not in {what}");
                problems.add(None, unknown(source, name, message));
            }
        }
        layout
    }

    /// Which columns of the source are read: one at least, to count the rows.
    fn uses(&self, source: &Source) -> Vec<Use> {
        let mut uses = vec![Use::Skip; source.columns().len()];
        for (_, place) in &self.columns {
            match *place {
                Place::One(at) => uses[at] = Use::Code,
                Place::Bounds(a, b) | Place::WithMean(a, b) => {
                    uses[a] = Use::Code;
                    uses[b] = Use::Code;
                }
            }
        }
        let first = (0..uses.len()).find(|&at| source.can_code(at));
        if let Some(first) = first.filter(|_| self.columns.is_empty()) {
            uses[first] = Use::Code;
        }
        uses
    }
}

fn place(source: &Source, knowledge: &Knowledge, name: &str, is_original: bool) -> Option<Place> {
    let with = |suffix: &str| source.position(&format!("{name}_{suffix}"));
    if let Some(at) = source.position(name) {
        let may_have_mean = matches!(knowledge.labels, None | Some(LabelForm::RangeMean));
        let is_as_it_is = knowledge.is_quasi(name) == Some(false);
        return Some(match with("mean") {
            Some(mean) if may_have_mean && !is_as_it_is && !is_original => {
                Place::WithMean(at, mean)
            }
            _ => Place::One(at),
        });
    }
    let bounds = with("min").zip(with("max")).filter(|_| !is_original);
    bounds.map(|(min, max)| Place::Bounds(min, max))
}

pub(crate) fn unknown(source: &Source, name: &str, message: String) -> Problem {
    let mut names: Vec<&str> = source.columns().iter().map(|column| column.name.as_str()).collect();
    let bases: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix("_min"))
        .filter(|base| source.position(&format!("{base}_max")).is_some())
        .collect();
    names.extend(bases);
    suggest(source.looks_headerless(), Problem::new(message), name, &names)
}

/// By column, the constants that it is compared with.
fn constants(asked: &[Asked]) -> BTreeMap<String, Vec<String>> {
    let mut constants: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Asked { query, .. } in asked {
        query.condition.each_test(&mut |column, test| {
            let literals = match test {
                Test::Compare(_, literal) => std::slice::from_ref(literal),
                Test::In(literals) | Test::NotIn(literals) => &literals[..],
                Test::IsMissing | Test::IsPresent => &[],
            };
            let texts = literals.iter().map(|literal| literal.text.clone());
            constants.entry(column.to_owned()).or_default().extend(texts);
        });
    }
    constants
}

/// What a column of no declared type holds whose labels say nothing: what it is compared with.
fn kind_of_constants(constants: &[String], known: LabelKnowledge) -> LabelKnowledge {
    if !matches!(known, LabelKnowledge::Nothing | LabelKnowledge::Means { is_number: false, .. }) {
        return known;
    }
    let is_of = |kind: &Kind| constants.iter().all(|text| position(*kind, text).is_some());
    let kinds = [Kind::Decimal, Kind::Date, Kind::Timestamp, Kind::Boolean];
    LabelKnowledge::Kind(kinds.into_iter().find(is_of).unwrap_or(Kind::Text))
}

/// Reads the columns of a layout and groups equal rows. A column that cannot be understood is a
/// problem, and left out.
pub(crate) fn load(
    engine: &Engine,
    source: &Source,
    layout: &Layout,
    knowledge: &Knowledge,
    problems: &mut Problems,
) -> Result<Release, JobError> {
    let table = read(engine, source, &layout.uses(source), false)?;
    let mut made = Vec::new();
    let mut codes: Vec<(Codes, u32)> = Vec::new();
    for (name, place) in &layout.columns {
        let Some(known) = problems.take(knowledge.of(name, layout.is_original))? else { continue };
        let mut labels = Labels::new(source, &table, *place);
        if layout.is_original && matches!(known, LabelKnowledge::Order(_)) {
            labels.are_values();
        }
        let is_label = !layout.is_original && knowledge.is_quasi(name) == Some(true);
        let known = if is_label && labels.say_nothing() {
            kind_of_constants(layout.constants.get(name).map_or(&[], Vec::as_slice), known)
        } else {
            known
        };
        match column(name, *place, &labels, &known, knowledge) {
            Ok(column) => {
                let is_of_class = !layout.is_original && column.is_of_class;
                made.push(Column { is_of_class, ..column });
                codes.push((labels.codes, labels.n_codes));
            }
            Err(unreadable) => {
                problems.add(None, labels.unreadable(name, &unreadable, layout.is_original));
            }
        }
    }
    let borrowed: Vec<(&Codes, u32)> = codes.iter().map(|(codes, n)| (codes, *n)).collect();
    let collapsed = collapse(&borrowed, table.n_rows);
    let vectors = codes.iter().map(|(codes, n)| collapsed.project(codes, *n)).collect();
    Ok(Release { columns: made, vectors, counts: collapsed.counts, parse: position })
}

/// The distinct labels of a column in an order that does not depend on that of the rows.
struct Labels {
    /// One text, or two.
    texts: Vec<(Option<String>, Option<String>)>,
    codes: Codes,
    n_codes: u32,
    is_bounds: bool,
}

impl Labels {
    fn new(source: &Source, table: &Table, place: Place) -> Labels {
        let raw = |at: usize| {
            let name = &source.columns()[at].name;
            table.column(name).expect("it was read with codes")
        };
        match place {
            Place::One(at) => {
                let (texts, codes) = sorted(raw(at));
                let n_codes = u32::try_from(texts.len()).expect("fewer labels than rows");
                let texts = texts.into_iter().map(|text| (text, None)).collect();
                Labels { texts, codes, n_codes, is_bounds: false }
            }
            Place::Bounds(a, b) | Place::WithMean(a, b) => {
                let (first, first_codes) = sorted(raw(a));
                let (second, second_codes) = sorted(raw(b));
                let n = |texts: &[Option<String>]| {
                    u32::try_from(texts.len()).expect("fewer labels than rows")
                };
                let pairs = [(&first_codes, n(&first)), (&second_codes, n(&second))];
                let pairs = collapse(&pairs, table.n_rows);
                let n_codes = u32::try_from(pairs.counts.len()).expect("fewer labels than rows");
                let text = |&row: &u32| {
                    let of = |texts: &[Option<String>], codes: &Codes| {
                        texts[codes.get(row as usize) as usize].clone()
                    };
                    (of(&first, &first_codes), of(&second, &second_codes))
                };
                let texts = pairs.representatives.iter().map(text).collect();
                let codes = Codes::pack(n_codes, pairs.vector_of.into_iter());
                Labels { texts, codes, n_codes, is_bounds: matches!(place, Place::Bounds(..)) }
            }
        }
    }

    /// Takes the texts for values, even those that look like labels: an original has no labels.
    fn are_values(&mut self) {
        for (text, _) in &mut self.texts {
            *text = text.take().map(|text| value_label(&text, LabelsOf::Line));
        }
    }

    /// Whether the labels are stars, or bounds that are left empty.
    fn say_nothing(&self) -> bool {
        let is_star = |text: &Option<String>| text.as_deref() == Some("*");
        let mut has_star = false;
        let all = self.texts.iter().all(|(first, second)| {
            has_star |= is_star(first) || self.is_bounds;
            (first.is_none() && (second.is_none() || !self.is_bounds)) || is_star(first)
        });
        all && has_star
    }

    /// Labels that cannot be understood, with the first row that has one.
    fn unreadable(&self, name: &str, unreadable: &Unreadable, is_original: bool) -> Problem {
        let is_in = |code: u32| unreadable.0.contains(&(code as usize));
        let row = (1u64..).zip(self.codes.iter()).find(|(_, code)| is_in(*code));
        let row = row.map_or(0, |(row, _)| row);
        let n = unreadable.0.len();
        if is_original {
            return Problem::new(format!(
                "{n} values of column `{name}` of the original table are not what is said of it, the first in data row {row}"
            ));
        }
        Problem::new(format!(
            "{n} labels of column `{name}` cannot be understood, the first in data row {row}"
        ))
        .help(format!(
            "pass --recoding FILE or --hierarchy {name}=FILE, which say what they stand for"
        ))
    }
}

/// The distinct texts of a column sorted, missing ones last, with the codes that they then have.
pub(crate) fn sorted(raw: &RawColumn) -> (Vec<Option<String>>, Codes) {
    let mut order: Vec<usize> = (0..raw.values.texts.len()).collect();
    order.par_sort_unstable_by(|&a, &b| raw.values.texts[a].cmp(&raw.values.texts[b]));
    let mut map = vec![0; raw.values.texts.len()];
    for (new, &old) in (0u32..).zip(&order) {
        map[old] = new;
    }
    let mut texts: Vec<Option<String>> =
        order.iter().map(|&at| Some(raw.values.texts[at].clone())).collect();
    if raw.values.has_missing {
        map.push(u32::try_from(texts.len()).expect("fewer labels than rows"));
        texts.push(None);
    }
    let codes = raw.codes.remap(&map, raw.values.n_codes());
    (texts, codes)
}

/// What the labels of a column stand for.
fn column(
    name: &str,
    place: Place,
    labels: &Labels,
    known: &LabelKnowledge,
    knowledge: &Knowledge,
) -> Result<Column, Unreadable> {
    let span = knowledge.span(name);
    let firsts: Vec<Option<&str>> = labels.texts.iter().map(|(text, _)| text.as_deref()).collect();
    let (mut domain, mut spreads) = match place {
        Place::Bounds(..) => {
            let pairs: Vec<(Option<&str>, Option<&str>)> =
                labels.texts.iter().map(|(a, b)| (a.as_deref(), b.as_deref())).collect();
            read_bounds(&pairs, known, span, position)?
        }
        Place::One(_) | Place::WithMean(..) => read_labels(&firsts, known, span, position)?,
    };
    if matches!(place, Place::WithMean(..)) {
        add_means(&mut spreads, &labels.texts);
    }
    let role = knowledge.is_quasi(name);
    if let (Domain::List(list), Some(_)) = (&mut domain, role) {
        // A column of a known role without a hierarchy has no label but its values.
        list.is_open = false;
    }
    let is_one = |spread: &Spread| match &spread.values {
        Values::None => !spread.is_open,
        Values::Range(lo, hi) => {
            lo.total_cmp(hi).is_eq() && !spread.may_be_missing && spread.reach.is_none()
        }
        Values::Run(lo, hi) => lo == hi && !spread.may_be_missing,
        Values::Set(_) | Values::About(_) => false,
    };
    let is_recoded = !spreads.iter().all(is_one);
    let has_ends = knowledge.has_ends
        && !matches!(known, LabelKnowledge::Tree(_) | LabelKnowledge::Leaves(_))
        // An end that is rounded is none that a class has.
        && spreads.iter().all(|spread| spread.reach.is_none());
    Ok(Column {
        name: name.to_owned(),
        domain,
        spreads,
        is_of_class: role.unwrap_or(is_recoded),
        has_ends,
    })
}

/// Adds the means of ranges, if every one lies within its range: otherwise the column is another
/// one.
fn add_means(spreads: &mut [Spread], texts: &[(Option<String>, Option<String>)]) {
    let mean = |text: &Option<String>| {
        near(Kind::Decimal, text.as_deref()?, position).map(|(mean, _)| mean)
    };
    let fits = |(spread, (_, text)): (&Spread, &(Option<String>, Option<String>))| {
        match (&spread.values, mean(text)) {
            _ if spread.is_open => true,
            (Values::Range(lo, hi), Some(mean)) => *lo <= mean && mean <= *hi,
            (Values::None, None) => true,
            // A row that was left out has a star.
            (Values::Range(..), None) => spread.may_be_missing,
            _ => false,
        }
    };
    if spreads.iter().zip(texts).all(fits) {
        for (spread, (_, text)) in spreads.iter_mut().zip(texts) {
            spread.mean = mean(text);
        }
    }
}
