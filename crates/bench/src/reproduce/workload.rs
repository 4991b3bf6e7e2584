//! To come.

use super::Paper;

pub(crate) const PAPER: Paper =
    Paper { name: "workload", source: "", setting: "", experiments: &[] };
