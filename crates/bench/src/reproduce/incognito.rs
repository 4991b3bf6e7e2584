//! To come.

use super::Paper;

pub(crate) const PAPER: Paper =
    Paper { name: "incognito", source: "", setting: "", experiments: &[] };
