//! The command from the outside: what it prints, what it writes, how it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apply;
mod attack;
mod bad_input;
mod board;
mod check;
mod compare;
mod determinism;
mod evaluate;
mod exposure;
mod faults;
mod formats;
mod full_domain;
mod generate;
mod guide;
mod harness;
mod hierarchy;
mod hierarchy_labels;
mod hunt;
mod json_lines;
mod kill;
mod leaks;
mod machine;
mod malformed;
mod memory;
mod options;
mod pages;
mod pandas;
mod parts;
mod profile;
mod query;
mod regions_by_rule;
mod release;
mod report;
mod sets;
mod several_sets;
mod single_dimensional;
mod workload;
