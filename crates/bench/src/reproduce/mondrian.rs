//! To come.

use super::Paper;

pub(crate) const PAPER: Paper =
    Paper { name: "mondrian", source: "", setting: "", experiments: &[] };
