//! To come.

use super::Paper;

pub(crate) const PAPER: Paper =
    Paper { name: "koptimize", source: "", setting: "", experiments: &[] };
