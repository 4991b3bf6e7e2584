//! What the papers promise, through the facade, on fixed seeds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounded;
mod entities;
mod forced;
mod in_memory;
mod missing;
mod models;
mod pycanon;
mod queries;
mod several_sets;
mod types;

use std::path::{Path, PathBuf};

use incrowd_job::{
    EvaluateOptions, Evaluation, GenerateSpec, JobSpec, Run, TargetReport, evaluate, generate,
};

/// Generates a table.
#[track_caller]
fn table(folder: &Path, spec: GenerateSpec) -> PathBuf {
    let output = folder.join(format!("{}-{}.csv", spec.kind, spec.seed.unwrap_or(0)));
    let spec = GenerateSpec { output: output.display().to_string(), force: true, ..spec };
    generate(&Run::default(), &spec).unwrap();
    output
}

/// A job on a table.
#[track_caller]
fn job(input: &Path, toml: &str) -> JobSpec {
    let spec = JobSpec::from_toml(toml).unwrap();
    JobSpec { input: Some(input.display().to_string()), ..spec }
}

#[track_caller]
fn evaluated(spec: &JobSpec, options: &EvaluateOptions) -> Evaluation {
    evaluate(&Run::default(), spec, options).unwrap()
}

/// Half of the rows are held out, one model is trained.
fn half(model: &str) -> EvaluateOptions {
    let models = vec![model.to_owned()];
    EvaluateOptions { test: Some(0.5), models, ..EvaluateOptions::default() }
}

/// The figure of the first model of a target, trained on the release.
#[track_caller]
fn figure(evaluation: &Evaluation, column: &str) -> f64 {
    target(evaluation, column).models[0].released.mean
}

#[track_caller]
fn target<'a>(evaluation: &'a Evaluation, column: &str) -> &'a TargetReport {
    evaluation.targets.iter().find(|target| target.column == column).unwrap()
}

fn mean(values: &[f64]) -> f64 {
    incrowd_evaluate::learn::score::mean(values)
}

/// The bundled census table.
fn adult() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adult")
}
