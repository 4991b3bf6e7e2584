//! `attack`: which rows of a release the rows of an outside table could be.

mod read;
mod report;

use std::path::PathBuf;

use incrowd_data::Kind;
use incrowd_engine::{Engine, EngineError, Source};
use incrowd_evaluate::attack::{self, Read};

use crate::flow::answers::known::Knowledge;
use crate::flow::answers::{Problems, QueryOptions};
use crate::flow::clock::Stopwatch;
use crate::flow::run::{Run, Stage};
use crate::report::{AttackReport, AttackedColumn};
use crate::spec::JobSpec;
use crate::spec::error::{JobError, Problem};
use read::{Chosen, Target, compared, compared_before, load, load_outside};
use report::FoundIn;

/// What is attacked with what.
#[derive(Clone, Debug, Default)]
pub struct AttackOptions {
    /// The release: a file, a folder or a glob.
    pub release: String,
    /// The outside table.
    pub with: String,
    /// The table that the release was made from, to be attacked too.
    pub before: Option<String>,
    /// The columns that are compared; all that both tables have if none are named.
    pub on: Vec<String>,
    /// The column of the release that an attacker is after.
    pub sensitive: Option<String>,
    /// Outside rows with fewer candidates are counted.
    pub k: Option<u64>,
    /// The attack succeeds if an outside row has candidates, but fewer than this.
    pub fail_below: Option<u64>,
    /// The recoding that the release was made with.
    pub recoding: Option<PathBuf>,
    /// What else is known of its columns.
    pub job: JobSpec,
    /// Whether a job file says how the release was made.
    pub has_job_file: bool,
    /// What stands in recoded cells, if it is said.
    pub labels: Option<String>,
    /// Columns that must be in the release.
    pub named: Vec<String>,
    /// Threads; all cores if it is not said.
    pub threads: Option<usize>,
}

/// What an attack found.
#[derive(Clone, Debug)]
pub struct Attacked {
    /// How many candidates there are, and what they tell.
    pub report: AttackReport,
    /// What may be amiss.
    pub warnings: Vec<String>,
}

/// Links the rows of an outside table to those of a release.
pub fn attack(run: &Run, options: &AttackOptions) -> Result<Attacked, JobError> {
    let mut watch = Stopwatch::start();
    let mut problems = Problems::default();
    let asked = options.k.or(options.job.privacy.least_k());
    for (flag, n) in [("-k", asked), ("--fail-below", options.fail_below)] {
        if n.is_some_and(|n| n < 2) {
            let problem = Problem::new(format!("{flag} must be at least 2"));
            problems.add(None, problem.help("a row that has candidates has one at least"));
        }
    }
    let knowledge = problems.take(Knowledge::new(&about_labels(options)))?;
    let recoded_at = knowledge.as_ref().and_then(Knowledge::least_k);
    let k = asked.or(recoded_at).unwrap_or(2);
    run.with_engine(options.threads, |engine| {
        run.enter(Stage::Open);
        let entity = knowledge.as_ref().and_then(|known| known.entity().map(str::to_owned));
        let entity = entity.as_deref();
        let is_label = |name: &str| {
            let is_quasi = knowledge.as_ref().and_then(|known| known.is_quasi(name));
            is_quasi != Some(false) && ![entity, options.sensitive.as_deref()].contains(&Some(name))
        };
        let open = |path: &str| Ok(Source::open(engine, path)?.with_sets(is_label));
        let release = open(&options.release);
        let outside = open(&options.with);
        let original = options.before.as_deref().map(|path| Source::open(engine, path));
        let opened = (release.as_ref().ok(), outside.as_ref().ok());
        let chosen = compared(opened, (options, knowledge.as_ref()), &mut problems);
        let chosen_before = match (&original, &chosen) {
            (Some(Ok(original)), Some(chosen)) => {
                Some(compared_before(original, chosen, (options, entity), &mut problems))
            }
            _ => None,
        };
        if let (Some(name), Some(chosen), Ok(_)) = (entity, &chosen, &release)
            && chosen.entity.is_none()
            && options.fail_below.is_some()
        {
            problems.add(None, cannot_count(name));
        }
        let sources = all([Some(release), Some(outside), original], &mut problems)?;
        let (Some([Some(release), Some(outside), original]), Some(knowledge), Some(chosen), true) =
            (sources, knowledge, chosen, problems.is_empty())
        else {
            return Err(problems.into_error().expect("what is not there is a problem"));
        };
        let tables = Opened {
            release: (release, chosen),
            outside,
            original: original.zip(chosen_before),
            knowledge,
        };
        let (mut report, mut warnings) = tables.attack(run, engine, k, options)?;
        if let (Some(name), None) = (entity, tables.release.1.entity) {
            warnings.push(format!(
                "the job counts people by `{name}`, which the release does not hold: candidates of the release are rows, \
                 and several may be one person's"
            ));
        }
        report.warnings.clone_from(&warnings);
        report.elapsed_s = watch.lap();
        if options.fail_below.is_some() && report.candidates.none == report.outside.rows {
            return Err(Problem::new(
                "no outside row has a candidate, so that --fail-below could not fail",
            )
            .help("say what the labels stand for with --hierarchy or --job, or compare other columns with --on")
            .into());
        }
        Ok(Attacked { report, warnings })
    })
}

/// A gate that would count rows for people.
fn cannot_count(entity: &str) -> Problem {
    Problem::new(format!(
        "--fail-below counts people by `{entity}`, which the release does not hold"
    ))
    .help("leave the entity out of the job that attack is given, to count rows")
}

/// The tables of an attack, with the columns that are compared.
struct Opened {
    release: (Source, Chosen),
    outside: Source,
    original: Option<(Source, Chosen)>,
    knowledge: Knowledge,
}

impl Opened {
    /// Reads all tables, then attacks one after the other.
    fn attack(
        &self,
        run: &Run,
        engine: &Engine,
        k: u64,
        options: &AttackOptions,
    ) -> Result<(AttackReport, Vec<String>), JobError> {
        run.enter(Stage::Read);
        let mut problems = Problems::default();
        let outside = load_outside(engine, &self.outside, &self.release.1)?;
        let mut load = |(source, chosen): &(Source, Chosen), is_original: bool| {
            let target = Target { source, chosen, is_original };
            load(engine, target, &outside, &self.knowledge, &mut problems)
        };
        let release = load(&self.release, false)?;
        let original = self.original.as_ref().map(|original| load(original, true)).transpose()?;
        if let Some(error) = problems.into_error() {
            return Err(error);
        }
        run.enter(Stage::Search);
        let n_outside = release.n_outside;
        let warnings = release.columns.iter().filter_map(warning).collect();
        let found_in = |compared: read::Compared| {
            let found = attack::candidates(&compared.tables, || run.go_on().is_ok());
            let found = found.ok_or(JobError::Cancelled)?;
            Ok::<_, JobError>(FoundIn::new(compared, &found, k, options))
        };
        let before = original.map(found_in).transpose()?;
        let report = report::report(found_in(release)?, before, n_outside, (k, options));
        Ok((report, warnings))
    }
}

/// All tables that were named. One that cannot be opened is an error; if there is more to say, a
/// problem among others.
fn all<const N: usize>(
    opened: [Option<Result<Source, EngineError>>; N],
    problems: &mut Problems,
) -> Result<Option<[Option<Source>; N]>, JobError> {
    let n_errors = opened.iter().flatten().filter(|source| source.is_err()).count();
    let mut sources = opened.map(|source| (source, None));
    for (source, found) in &mut sources {
        match source.take() {
            Some(Ok(source)) => *found = Some(source),
            Some(Err(error)) if n_errors > 1 => {
                problems.add(None, Problem::new(error.to_string()));
            }
            Some(Err(error)) => {
                problems.take::<()>(Err(error.into()))?;
            }
            None => {}
        }
    }
    Ok((n_errors == 0).then(|| sources.map(|(_, found)| found)))
}

/// What is said of the labels of the release, as `query` takes it.
fn about_labels(options: &AttackOptions) -> QueryOptions {
    QueryOptions {
        recoding: options.recoding.clone(),
        job: options.job.clone(),
        has_job_file: options.has_job_file,
        labels: options.labels.clone(),
        ..QueryOptions::default()
    }
}

/// Texts that may be nodes of a hierarchy which nobody named.
fn warning(column: &AttackedColumn) -> Option<String> {
    if !column.may_be_nodes() {
        return None;
    }
    let name = &column.column;
    Some(format!(
        "{} of {} outside labels of column `{name}` agree with none of the release, and nothing says what labels \
         stand for; if some are nodes of a hierarchy, pass --hierarchy {name}=FILE",
        column.unmatched_labels, column.outside_labels
    ))
}

/// What labels were taken for, as a word.
fn word(read: Read) -> &'static str {
    match read {
        Read::Line(kind) => {
            Kind::NAMES.iter().find(|(_, of)| *of == kind).map_or("", |(name, _)| name)
        }
        Read::Hierarchy => "hierarchy",
        Read::Order => "order",
        Read::Values => "values",
        Read::Texts => "texts",
        Read::Means => "means",
    }
}
