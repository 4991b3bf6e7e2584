//! The command line: which command there is, and running it.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
use incrowd_job::{Connector, JobError, Run};

use crate::args::LogArgs;
use crate::commands::anonymize::AnonymizeArgs;
use crate::commands::apply::ApplyArgs;
use crate::commands::attack::AttackArgs;
use crate::commands::check::CheckArgs;
use crate::commands::compare::CompareArgs;
use crate::commands::evaluate::EvaluateArgs;
use crate::commands::generate::GenerateArgs;
use crate::commands::hierarchy::HierarchyCommand;
use crate::commands::profile::ProfileArgs;
use crate::commands::query::QueryArgs;
use crate::commands::{
    anonymize, apply, attack, check, compare, demo, evaluate, generate, hierarchy, profile, query,
};
use crate::{log, message, signals, terminal};

/// Release tables about people so that every record is hidden in a crowd of at least k that look
/// the same.
#[derive(Debug, Parser)]
#[command(name = "incrowd", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 no release satisfies the job or the check failed, 2 the \
                        request or the input is wrong, 130 interrupted. Files are written only on 0 (a check that fails still writes its report)."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// For tests: put all rows into private files, a few at a time, and let Mondrian divide them
    /// into about this many regions
    #[arg(long, value_name = "REGIONS", global = true, hide = true)]
    pub(crate) force_files: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the columns of a table, their types, likely roles, and what singles people out
    Profile(Box<ProfileArgs>),
    /// Turn a table into a release: search, recode, verify, publish, report
    Anonymize(Box<AnonymizeArgs>),
    /// Measure any table: k, l, t and risk; exit code 1 when below what is asked
    Check(Box<CheckArgs>),
    /// Do the same job by several algorithms and for several k: which to take
    Compare(Box<CompareArgs>),
    /// Train models on the release of some rows, try them on rows that were held out
    Evaluate(Box<EvaluateArgs>),
    /// Apply a saved recoding to new rows, verify, publish
    ///
    /// Labels are of the form that the recoding was made with. Those of the form `region` are the
    /// same for every table; ranges, bounds and means describe the rows at hand.
    Apply(Box<ApplyArgs>),
    /// Answer COUNT, SUM, AVG, MIN and MAX over a release; with the original, how far they are off
    Query(Box<QueryArgs>),
    /// Link an outside table to a release: how many rows could each of its rows be
    Attack(Box<AttackArgs>),
    /// Build, check and show hierarchies
    #[command(subcommand)]
    Hierarchy(HierarchyCommand),
    /// Make a synthetic table: uniform, skewed, agrawal or census
    Generate(Box<GenerateArgs>),
    /// Anonymize the bundled census table into the folder `incrowd-demo`
    Demo {
        /// Where the files go
        #[arg(default_value = "incrowd-demo")]
        folder: PathBuf,
        /// Print the report as JSON instead
        #[arg(long)]
        json: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

impl Command {
    /// What the command is called.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Profile(_) => "profile",
            Command::Anonymize(_) => "anonymize",
            Command::Check(_) => "check",
            Command::Compare(_) => "compare",
            Command::Evaluate(_) => "evaluate",
            Command::Apply(_) => "apply",
            Command::Query(_) => "query",
            Command::Attack(_) => "attack",
            Command::Hierarchy(_) => "hierarchy",
            Command::Generate(_) => "generate",
            Command::Demo { .. } => "demo",
            Command::Completions { .. } => "completions",
            Command::Man => "man",
        }
    }

    /// How the command is logged, if it reads or writes a table, and whether only errors are told.
    pub(crate) fn log(&self) -> Option<(&LogArgs, bool)> {
        Some(match self {
            Command::Profile(args) => (&args.log, false),
            Command::Anonymize(args) => (&args.job.log, args.job.quiet),
            Command::Check(args) => (&args.job.log, args.job.quiet),
            Command::Compare(args) => (&args.job.log, args.job.quiet),
            Command::Evaluate(args) => (&args.job.log, args.job.quiet),
            Command::Apply(args) => (&args.log, args.quiet),
            Command::Query(args) => (&args.log, args.quiet),
            Command::Attack(args) => (&args.log, args.quiet),
            Command::Hierarchy(HierarchyCommand::Make(args)) => (&args.log, false),
            Command::Hierarchy(HierarchyCommand::Check { log, .. }) => (log, false),
            Command::Generate(args) => (&args.log, args.quiet),
            Command::Hierarchy(HierarchyCommand::Show { .. })
            | Command::Demo { .. }
            | Command::Completions { .. }
            | Command::Man => return None,
        })
    }
}

/// Runs a command of the binary `name`; gives the exit code.
pub(crate) fn run(cli: Cli, name: &str, connector: Option<Arc<dyn Connector>>) -> u8 {
    let run = match cli.force_files {
        Some(n) => Run::default().forced_into_files(n),
        None => Run::default(),
    };
    let run = match connector {
        Some(connector) => run.with_connector(connector),
        None => run,
    };
    signals::watch(&run);
    let logged = match cli.command.log() {
        Some((args, is_quiet)) => log::begin(run.clone(), cli.command.name(), args, is_quiet),
        None => Ok(run.clone()),
    };
    let result = match logged {
        Ok(run) => command(&run, cli.command, name),
        Err(problem) => Err(problem.into()),
    };
    // A run that is being taken down may fail in any way.
    let result =
        result.map_err(|error| if run.is_cancelled() { JobError::Cancelled } else { error });
    let code = result.unwrap_or_else(|error| message::error(&error));
    log::end(code, run.progress().1);
    code
}

fn command(run: &Run, command: Command, name: &str) -> Result<u8, JobError> {
    match command {
        Command::Profile(args) => profile::run(run, &args),
        Command::Anonymize(args) => anonymize::run(run, &args),
        Command::Check(args) => check::run(run, &args),
        Command::Compare(args) => compare::run(run, &args),
        Command::Evaluate(args) => evaluate::run(run, &args),
        Command::Apply(args) => apply::run(run, &args),
        Command::Query(args) => query::run(run, &args),
        Command::Attack(args) => attack::run(run, &args),
        Command::Hierarchy(command) => hierarchy::run(run, &command),
        Command::Generate(args) => generate::run(run, &args),
        Command::Demo { folder, json } => demo::run(run, &folder, json),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), name, &mut text);
            terminal::file(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
        Command::Man => {
            let mut text = Vec::new();
            let _ = clap_mangen::Man::new(Cli::command()).render(&mut text);
            terminal::file(&String::from_utf8_lossy(&text)).map(|()| 0)
        }
    }
}
