//! Times on a large table of orders.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use super::Column;
use super::times::{Plan, Timings};
use crate::Failure;
use crate::census::Random;
use crate::reproduce::{Findings, Judged, Lab, Numbers};

const TEXT: &str = "The table of orders is drawn from a seed. It has the columns of the paper's, \
with as many values and levels: zip code (31,953 values, 5 levels above them), order date (320, \
3), gender (2, 1), style (1,509, 1), price (346, 4), quantity (1, 1), cost (1,412, 4), shipment \
(2, 1). Some zip codes and styles have far more orders than others, orders are denser towards the \
end of the year, a style has a price that seldom changes, and cost follows price. Reading, \
recoding and writing the table are in `command_seconds`, not in the chart.";

/// Rows of the paper's table.
const ROWS: u64 = 4_591_581;

/// Rows of the quick run.
const QUICK_ROWS: u64 = 50_000;
/// Seconds after which a search is given up: quick, full.
const MOST: (u64, u64) = (5, 25);

/// What the charts say.
pub(super) fn judge(numbers: &Numbers) -> Judged {
    let times = Timings::new(numbers, numbers.size(MOST.0, MOST.1));
    let rows = numbers.size(QUICK_ROWS, ROWS);
    let text = format!("{rows} rows. {TEXT}{}", times.remark());
    Judged { text, shown: Vec::new(), claims: times.claims(), ..Judged::default() }
}

/// Measures the times.
pub(super) fn run(lab: &Lab) -> Result<Findings, Failure> {
    let rows = lab.size(QUICK_ROWS, ROWS);
    write(&lab.path("orders.csv"), rows, lab.seed)?;
    let columns = columns();
    let plan = Plan {
        name: "orders",
        table: "orders.csv",
        columns: &columns,
        sizes: 1..=lab.size(4, 8),
        most: lab.size(MOST.0, MOST.1),
    };
    let times = plan.measure(lab)?;
    Ok(Findings {
        tables: vec![times.table()],
        plots: vec![("", times.plot(2)), ("k10", times.plot(10))],
    })
}

/// The columns in the paper's order. Neighbours are joined by as many as make the paper's height.
fn columns() -> Vec<Column> {
    let columns = [
        ("zipcode", "{ mask = \"right\" }"),
        ("order-date", "{ fan-out = 7 }"),
        ("gender", "{ fan-out = 2 }"),
        ("style", "{ fan-out = 2000 }"),
        ("price", "{ fan-out = 5 }"),
        ("quantity", "[[\"1\", \"*\"]]"),
        ("cost", "{ fan-out = 7 }"),
        ("shipment", "{ fan-out = 2 }"),
    ];
    columns.map(|(name, hierarchy)| (name, hierarchy.to_owned())).to_vec()
}

/// Writes a table of orders.
fn write(path: &Path, rows: u64, seed: u64) -> std::io::Result<()> {
    let mut random = Random::new(seed);
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    writeln!(file, "zipcode,order-date,gender,style,price,quantity,cost,shipment")?;
    for _ in 0..rows {
        let zipcode = 501 + popular(&mut random, 31_953) * 3;
        // The later of two draws: the year ends with gifts.
        let day = random.below(320).max(random.below(320));
        let gender = if random.below(10) < 7 { "F" } else { "M" };
        let style = popular(&mut random, 1509);
        // A style has its price, but for sales.
        let listed = style * 7919 % 346;
        let price = if random.below(8) == 0 { random.below(346) } else { listed };
        let cost = price * 4 + random.below(32);
        let shipment = if random.below(10) == 0 { "express" } else { "standard" };
        writeln!(file, "{zipcode:05},{day},{gender},{style},{}.50,1,{cost},{shipment}", 9 + price)?;
    }
    file.flush()
}

/// One of `n` values, half of the time one of the popular few.
fn popular(random: &mut Random, n: u64) -> u64 {
    if random.below(2) == 0 {
        return random.below(n);
    }
    let most = random.below(n) + 1;
    random.skewed(most)
}
