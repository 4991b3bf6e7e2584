//! How a job runs, and what its release looks like.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::Problem;

/// What the release looks like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ReleaseSpec {
    /// `range`, `region`, `bounds`, `mean` or `range+mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// What becomes of suppressed rows: `drop` or `star`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressed: Option<String>,
    /// With how many rows a part is complete, where the output is a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_rows: Option<u64>,
}

/// How to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RunSpec {
    /// Who reads and counts: `embedded`, which it is if it is not said, or `ballista://HOST:PORT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Threads; all cores if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// When a search ends with the best that it has: `"60s"`, `"5m"`, `"1h"`, `"500ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<String>,
    /// What the process may hold: `"4GB"`, `"500MB"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<String>,
    /// Where private files go; the system's folder for temporary files if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temp_dir: Option<String>,
    /// After how many nodes a search ends with the best that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_limit: Option<u64>,
    /// The file that a search goes on from if it is there, and in which it is kept when it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

impl RunSpec {
    /// The time limit.
    pub(crate) fn time(&self) -> Result<Option<Duration>, Problem> {
        let Some(text) = &self.time_limit else { return Ok(None) };
        let units = [("ms", 0.001), ("s", 1.0), ("min", 60.0), ("m", 60.0), ("h", 3600.0)];
        let seconds = with_unit(text, &units).filter(|seconds| *seconds > 0.0);
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let wrong =
            || Problem::new(format!("`{text}` is not a time limit")).help("write 60s, 5m or 1h");
        time.map(Some).ok_or_else(wrong)
    }

    /// The memory limit in bytes.
    pub(crate) fn memory(&self) -> Result<Option<u64>, Problem> {
        let Some(text) = &self.memory_limit else { return Ok(None) };
        let units = [("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12)];
        let binary = [("kib", 10), ("mib", 20), ("gib", 30), ("tib", 40)];
        let binary = binary.map(|(name, bits)| (name, f64::from(2u32).powi(bits)));
        let bytes = with_unit(&text.to_lowercase(), &[&binary[..], &units[..]].concat());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let bytes = bytes.filter(|bytes| (1.0..1e18).contains(bytes)).map(|bytes| bytes as u64);
        let wrong =
            || Problem::new(format!("`{text}` is not a memory limit")).help("write 4GB or 500MB");
        bytes.map(Some).ok_or_else(wrong)
    }
}

/// A number with one of some units.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, scale)| {
        let number: f64 = text.trim().strip_suffix(unit)?.trim().parse().ok()?;
        number.is_finite().then_some(number * scale)
    })
}
