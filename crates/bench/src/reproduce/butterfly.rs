//! To come.

use super::Paper;

pub(crate) const PAPER: Paper =
    Paper { name: "butterfly", source: "", setting: "", experiments: &[] };
