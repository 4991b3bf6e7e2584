//! Butterfly: one release for several quasi-identifier sets.

use crate::{Outcome, Problem, mondrian};

pub(crate) fn run(problem: &Problem, improves: bool) -> Outcome {
    let _ = improves;
    mondrian::strict(problem)
}
