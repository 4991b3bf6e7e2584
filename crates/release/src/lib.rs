//! From a recoding to a release: its cells, their labels, and the verification of what was written.
//!
//! [`verify()`] groups the released labels anew and cannot see the search that produced them.

mod gather;
mod label;
mod label_order;
mod recode;
mod region;
mod risk;
mod verify;

pub use gather::Gathering;
pub use label::{LabelForm, labels};
pub use label_order::{RankedLabels, order_by_labels, ranks_by_cell, ranks_of_classes};
pub use recode::{
    Classes, drop_unused, group_of_class, hide_whole_sets, recode, recode_blocks, recode_cuts,
    recode_intervals, recode_levels, recode_regions, whole_intervals,
};
pub use region::{CutPlace, Regions};
pub use risk::{Risk, THRESHOLDS};
pub use verify::{
    Asked, Privacy, Rows, Sensitive, SensitiveFound, Verifier, Violations, verify, verify_classes,
};
