//! Times on the Adult table.

use super::adult_columns;
use super::times::{Plan, Timings};
use crate::Failure;
use crate::reproduce::lab::Adult;
use crate::reproduce::{Findings, Judged, Lab, Numbers};

const TEXT: &str = "These are the paper's charts for the Adult table in one form: the time of the \
search alone, by the first n columns. A search here runs on the distinct vectors in memory, so a \
pass over the table costs little more than a roll-up of a large frequency set; in the paper it was \
a query to a database. What remains of the paper's charts is that the time follows the number of \
nodes checked.";

/// Seconds after which a search is given up.
const MOST: u64 = 60;

/// Measures the times.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    lab.adult(Adult::All)?;
    let columns = adult_columns();
    let plan = Plan {
        name: "Adult",
        table: "adult.csv",
        columns: &columns,
        sizes: 3..=lab.size(6, 9),
        most: MOST,
    };
    let times = plan.measure(lab)?;
    Ok(Findings {
        tables: vec![times.table()],
        plots: vec![("", times.plot(2)), ("k10", times.plot(10))],
    })
}

/// What the charts say.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    let times = Timings::new(numbers, MOST);
    let text = format!("{TEXT}{}", times.remark());
    Judged { text, shown: Vec::new(), claims: times.claims(), ..Judged::default() }
}
