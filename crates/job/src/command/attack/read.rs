//! Both tables of an attack: which columns are compared, and what their labels stand for.

use incrowd_data::{Codes, closed_label, collapse};
use incrowd_engine::{Engine, Source, Table, Use, position, read};
use incrowd_evaluate::attack::{Both, Column, Sensitive, Tables, read_both};

use super::{AttackOptions, word};
use crate::flow::answers::Problems;
use crate::flow::answers::known::Knowledge;
use crate::flow::answers::table::{sorted, unknown};
use crate::plan::naming::GIVE_A_HEADER;
use crate::report::AttackedColumn;
use crate::spec::error::{JobError, Problem};

/// Where the cells of a column stand in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In one column of the source.
    One(usize),
    /// In two, least and greatest value.
    Bounds(usize, usize),
}

fn place(source: &Source, name: &str) -> Option<Place> {
    let with = |suffix: &str| source.position(&format!("{name}_{suffix}"));
    let bounds = || Some(Place::Bounds(with("min")?, with("max")?));
    source.position(name).map(Place::One).or_else(bounds)
}

/// The columns of an attack.
pub(super) struct Chosen {
    on: Vec<(String, Place, Place)>,
    sensitive: Option<usize>,
    /// The column that tells people apart.
    pub(super) entity: Option<usize>,
}

/// Two tables, ready to be compared.
pub(super) struct Compared {
    pub(super) tables: Tables,
    pub(super) columns: Vec<AttackedColumn>,
    pub(super) n_release: u64,
    pub(super) n_outside: u64,
}

/// Chooses the columns that are compared; every one that is missing is a problem.
pub(super) fn compared(
    (release, outside): (Option<&Source>, Option<&Source>),
    (options, knowledge): (&AttackOptions, Option<&Knowledge>),
    problems: &mut Problems,
) -> Option<Chosen> {
    let entity = knowledge.and_then(Knowledge::entity);
    let wanted = options.on.iter().chain(&options.named);
    for (source, what, names) in [
        (release, "the release", wanted.collect::<Vec<&String>>()),
        (outside, "the outside table", options.on.iter().collect()),
    ] {
        let Some(source) = source else { continue };
        for name in names {
            if place(source, name).is_none() {
                let message = format!("column `{name}` is not in {what}");
                problems.add(None, unknown(source, name, message));
            }
        }
    }
    if let (Some(release), Some(name)) = (release, &options.sensitive)
        && release.position(name).is_none()
    {
        let message = format!("column `{name}` is not in the release");
        problems.add(None, unknown(release, name, message));
    }
    for (at, name) in options.on.iter().enumerate() {
        let again = options.on[..at].contains(name);
        if again || options.sensitive.as_ref() == Some(name) {
            let and = if again { "--on twice" } else { "--on and --sensitive" };
            problems.add(None, Problem::new(format!("column `{name}` is named by {and}")));
        }
    }
    let (release, outside) = release.zip(outside)?;
    if options.on.is_empty() && [release, outside].iter().any(|source| source.looks_headerless()) {
        // The names would be cells.
        let problem = Problem::new("a table has no header, so that columns cannot be told by name");
        problems.add(None, problem.help(GIVE_A_HEADER));
        return None;
    }
    let names = if options.on.is_empty() { common(release, outside) } else { options.on.clone() };
    // Whoever knows whose rows they are needs no attack, and what is sensitive is what they are
    // after.
    let is_compared = |name: &&String| {
        let is_known = !options.on.is_empty()
            || Some(name.as_str()) != entity
                && !knowledge.is_some_and(|knowledge| knowledge.is_sensitive(name));
        Some(*name) != options.sensitive.as_ref() && is_known
    };
    let places = |name: &String| Some((name.clone(), place(release, name)?, place(outside, name)?));
    let on: Vec<(String, Place, Place)> =
        names.iter().filter(is_compared).filter_map(places).collect();
    if on.is_empty() && options.on.is_empty() {
        let problem = if names.is_empty() {
            Problem::new("the release and the outside table have no column in common")
                .help("columns are compared by name; rename those of one table")
        } else {
            Problem::new(
                "the release and the outside table have no column in common but sensitive columns and the entity",
            )
            .help("name those that an attacker can know with --on")
        };
        problems.add(None, problem);
    }
    let sensitive = options.sensitive.as_ref().and_then(|name| release.position(name));
    Some(Chosen { on, sensitive, entity: entity.and_then(|name| release.position(name)) })
}

/// The same columns of the table that a release was made from; every one that it lacks is a
/// problem.
pub(super) fn compared_before(
    original: &Source,
    chosen: &Chosen,
    (options, entity): (&AttackOptions, Option<&str>),
    problems: &mut Problems,
) -> Chosen {
    let mut lacks = |name: &String| {
        let message = format!("column `{name}` is not in the original table");
        problems.add(None, unknown(original, name, message));
    };
    let mut on = Vec::new();
    for (name, _, outside) in &chosen.on {
        match place(original, name) {
            Some(place) => on.push((name.clone(), place, *outside)),
            None => lacks(name),
        }
    }
    let sensitive = options.sensitive.as_ref().filter(|_| chosen.sensitive.is_some());
    let place = sensitive.and_then(|name| original.position(name));
    if let (Some(name), None) = (sensitive, place) {
        lacks(name);
    }
    Chosen { on, sensitive: place, entity: entity.and_then(|name| original.position(name)) }
}

/// The columns that both tables have, in the order of the release: two columns of bounds are one,
/// and means of classes that stand beside their column are none.
fn common(release: &Source, outside: &Source) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in release.columns() {
        let name = column.name.as_str();
        let base = |suffix: &str| {
            let base = name.strip_suffix(suffix)?;
            let has_bounds = matches!(place(release, base), Some(Place::Bounds(..)));
            (has_bounds && place(outside, base).is_some()).then_some(base)
        };
        let is_mean_of = |base: &str| place(release, base).is_some();
        if name.strip_suffix("_mean").is_some_and(is_mean_of) {
            continue;
        }
        let name = base("_min").or_else(|| base("_max")).unwrap_or(name);
        if place(outside, name).is_some() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// A table that is attacked: the release, or the one that it was made from.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) source: &'a Source,
    pub(super) chosen: &'a Chosen,
    pub(super) is_original: bool,
}

/// The outside table, read once for all that is attacked with it.
pub(super) fn load_outside(
    engine: &Engine,
    outside: &Source,
    chosen: &Chosen,
) -> Result<Side, JobError> {
    Side::read(engine, outside, chosen.on.iter().map(|on| on.2).collect(), (None, None))
}

/// Reads a table and groups equal rows. Labels of it that cannot be understood are problems.
pub(super) fn load(
    engine: &Engine,
    target: Target,
    known_outside: &Side,
    knowledge: &Knowledge,
    problems: &mut Problems,
) -> Result<Compared, JobError> {
    let Target { source, chosen, is_original } = target;
    let places = chosen.on.iter().map(|on| on.1).collect();
    let released = Side::read(engine, source, places, (chosen.sensitive, chosen.entity))?;
    let what = if is_original { "the original table" } else { "the release" };
    let mut columns = Vec::new();
    let mut attacked = Vec::new();
    for (at, (name, ..)) in chosen.on.iter().enumerate() {
        let (labels, other) = (&released.labels[at], &known_outside.labels[at]);
        let Some(known) = problems.take(knowledge.of(name, is_original))? else { continue };
        let both = match read_both(&labels.refs(), &other.refs(), &known, position) {
            Ok(both) => both,
            Err(unreadable) => {
                problems.add(None, labels.unreadable(name, what, &unreadable.0));
                continue;
            }
        };
        attacked.push(described(name, &both));
        columns.push(Column {
            release: both.release,
            outside: both.outside,
            release_labels: released.of_vectors(at),
            outside_labels: known_outside.of_vectors(at),
        });
    }
    let sensitive = chosen.sensitive.map(|_| {
        let at = released.labels.len() - 1 - usize::from(chosen.entity.is_some());
        let labels = &released.labels[at];
        let star = labels.texts.iter().position(|text| text.as_deref() == Some("*"));
        let hidden = star.map(|at| u32::try_from(at).expect("fewer labels than rows"));
        let values = released.of_vectors(at);
        Sensitive { values, n_values: labels.n_codes, hidden }
    });
    let (n_release, n_outside) = (released.n_rows, known_outside.n_rows);
    let outside = known_outside.counts.clone();
    let people = chosen.entity.map(|_| {
        let last = released.labels.len() - 1;
        (released.of_vectors(last), released.labels[last].n_codes)
    });
    let tables = Tables { columns, release: released.counts, outside, sensitive, people };
    Ok(Compared { tables, columns: attacked, n_release, n_outside })
}

fn described(name: &str, both: &Both) -> AttackedColumn {
    AttackedColumn {
        column: name.to_owned(),
        read_as: word(both.read),
        release_labels: both.release.len(),
        outside_labels: both.outside.len(),
        unmatched_labels: both.n_unmatched(),
    }
}

/// One of both tables: labels by column, and distinct vectors of them with counts.
pub(super) struct Side {
    labels: Vec<Labels>,
    representatives: Vec<u32>,
    counts: Vec<u32>,
    n_rows: u64,
}

impl Side {
    fn read(
        engine: &Engine,
        source: &Source,
        places: Vec<Place>,
        (sensitive, entity): (Option<usize>, Option<usize>),
    ) -> Result<Side, JobError> {
        let mut uses = vec![Use::Skip; source.columns().len()];
        let more = sensitive.into_iter().chain(entity).map(Place::One);
        let places: Vec<Place> = places.into_iter().chain(more).collect();
        for place in &places {
            match *place {
                Place::One(at) => uses[at] = Use::Code,
                Place::Bounds(lo, hi) => {
                    uses[lo] = Use::Code;
                    uses[hi] = Use::Code;
                }
            }
        }
        let table = read(engine, source, &uses, false)?;
        let mut labels: Vec<Labels> =
            places.iter().map(|place| Labels::new(source, &table, *place)).collect();
        if let (Some(at), Some(last)) = (entity, labels.last_mut()) {
            last.identify(source, &table, at)?;
        }
        let codes: Vec<(&Codes, u32)> = labels.iter().map(|of| (&of.codes, of.n_codes)).collect();
        let collapsed = collapse(&codes, table.n_rows);
        Ok(Side {
            representatives: collapsed.representatives,
            counts: collapsed.counts,
            n_rows: table.n_rows as u64,
            labels,
        })
    }

    /// By distinct vector, the label of a column.
    fn of_vectors(&self, at: usize) -> Codes {
        let Labels { codes, n_codes, .. } = &self.labels[at];
        Codes::pack(*n_codes, self.representatives.iter().map(|&row| codes.get(row as usize)))
    }
}

/// The distinct labels of a column.
struct Labels {
    texts: Vec<Option<String>>,
    codes: Codes,
    n_codes: u32,
}

impl Labels {
    fn new(source: &Source, table: &Table, place: Place) -> Labels {
        let raw = |at: usize| {
            let name = &source.columns()[at].name;
            let raw = table.column(name);
            sorted(raw.expect("it was read with codes"))
        };
        let n = |texts: &[Option<String>]| u32::try_from(texts.len()).expect("fewer than rows");
        let (min, max) = match place {
            Place::One(at) => {
                let (texts, codes) = raw(at);
                return Labels { n_codes: n(&texts), texts, codes };
            }
            Place::Bounds(min, max) => (raw(min), raw(max)),
        };
        let pairs = collapse(&[(&min.1, n(&min.0)), (&max.1, n(&max.0))], table.n_rows);
        let text = |&row: &u32| {
            let of = |(texts, codes): &(Vec<Option<String>>, Codes)| {
                texts[codes.get(row as usize) as usize].clone()
            };
            Some(range(of(&min), of(&max)))
        };
        let texts: Vec<Option<String>> = pairs.representatives.iter().map(text).collect();
        let n_codes = n(&texts);
        Labels { texts, codes: Codes::pack(n_codes, pairs.vector_of.into_iter()), n_codes }
    }

    /// Makes texts of one value (`7` and `7.0`) one label, as they are one person.
    fn identify(&mut self, source: &Source, table: &Table, at: usize) -> Result<(), JobError> {
        let raw = table.column(&source.columns()[at].name).expect("it was read with codes");
        let (map, n_codes) = raw
            .values
            .identify(None)
            .map_err(|misfits| misfits.found_in(&raw.values, raw.codes.iter()))?;
        (self.codes, self.n_codes) = (raw.codes.remap(&map, n_codes), n_codes);
        Ok(())
    }

    fn refs(&self) -> Vec<Option<&str>> {
        self.texts.iter().map(Option::as_deref).collect()
    }

    /// Labels that cannot be understood, with the first row that has one.
    fn unreadable(&self, name: &str, what: &str, places: &[usize]) -> Problem {
        let is_in = |code: u32| places.contains(&(code as usize));
        let row = (1u64..).zip(self.codes.iter()).find(|(_, code)| is_in(*code));
        let row = row.map_or(0, |(row, _)| row);
        let n = places.len();
        Problem::new(format!(
            "{n} labels of column `{name}` of {what} cannot be understood, the first in data row {row}"
        ))
        .help(format!(
            "pass --recoding FILE or --hierarchy {name}=FILE, which say what they stand for"
        ))
    }
}

/// Bounds as a label of a range. Without both of them nothing is known; with one they are no label.
fn range(min: Option<String>, max: Option<String>) -> String {
    match (min, max) {
        (None, None) => "*".to_owned(),
        (Some(min), Some(max)) if min == max => min,
        (min, max) => closed_label(&min.unwrap_or_default(), &max.unwrap_or_default()),
    }
}
