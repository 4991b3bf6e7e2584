//! Anonymizing with a memory limit against the same without one: time, memory and bytes.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::{ParquetReadOptions, SessionContext, cast, col, lit};

use crate::{Failure, now, run};

/// The quasi-identifier of the synthetic census, and the other columns that are released.
const QUASI: &str = "age,sex,race,marital,education,workclass,occupation,postcode";
const OTHERS: &str = "hours,children,income,charges,visit";

/// Generates a table and anonymizes it with and without the limit. With `distinct` one more column
/// with that many values is quasi-identifying.
pub(crate) fn compare(
    folder: &Path,
    rows: u64,
    limit: &str,
    distinct: Option<u64>,
    alone: bool,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    let table = format!("census-{rows}.parquet");
    if !folder.join(&table).exists() {
        run(folder, &["generate", "census", "-o", &table, "--rows", &rows.to_string()])?;
    }
    let (input, quasi) = match distinct {
        None => (table, QUASI.to_owned()),
        Some(n) => {
            let wide = format!("census-{rows}-{n}.parquet");
            if !folder.join(&wide).exists() {
                add_number(&folder.join(&table), &folder.join(&wide), n)?;
            }
            (wide, format!("{QUASI},number"))
        }
    };
    println!("| {rows} rows, {input} | s | us a row | peak MB | read | search | write | verify |");
    println!("|---|---|---|---|---|---|---|---|");
    let limited = measure(folder, &input, &quasi, "limited.parquet", Some(limit))?;
    if alone {
        return Ok(());
    }
    let free = measure(folder, &input, &quasi, "free.parquet", None)?;
    let is_same = same(&folder.join("limited.parquet"), &folder.join("free.parquet"))?;
    println!("\n{:.2} times as long; the same bytes: {is_same}", limited / free);
    if is_same { Ok(()) } else { Err("the releases differ".into()) }
}

/// Anonymizes, prints a row of the table and gives the seconds.
fn measure(
    folder: &Path,
    input: &str,
    quasi: &str,
    output: &str,
    limit: Option<&str>,
) -> Result<f64, Failure> {
    let mut args = vec!["anonymize", input, "-o", output, "-k", "10", "--quasi", quasi];
    args.extend(["--insensitive", OTHERS, "--undeclared", "drop", "--quiet", "--force"]);
    args.extend(["--report", "report.json", "--temp-dir", "."]);
    args.extend(limit.into_iter().flat_map(|limit| ["--memory-limit", limit]));
    let start = now();
    run(folder, &args)?;
    let seconds = start.elapsed().as_secs_f64();
    let report = std::fs::read_to_string(folder.join("report.json"))?;
    let report: serde_json::Value = serde_json::from_str(&report)?;
    let timing = |stage: &str| report["timings_s"][stage].as_f64().unwrap_or(0.0);
    let peak = report["search"]["peak_memory_bytes"].as_f64().unwrap_or(0.0);
    let rows = report["input"]["rows"].as_f64().unwrap_or(1.0);
    println!(
        "| {} | {seconds:.1} | {:.2} | {:.0} | {:.1} | {:.1} | {:.1} | {:.1} |",
        limit.unwrap_or("no limit"),
        seconds / rows * 1e6,
        peak / 1e6,
        timing("read"),
        timing("search"),
        timing("write"),
        timing("verify")
    );
    Ok(seconds)
}

/// Copies a table with a further column of numbers below `n`, made from those of its rows.
fn add_number(from: &Path, to: &Path, n: u64) -> Result<(), Failure> {
    use datafusion::arrow::datatypes::DataType;
    tokio::runtime::Builder::new_multi_thread().build()?.block_on(async {
        let session = SessionContext::new();
        let options = ParquetReadOptions::default();
        let table = session.read_parquet(&*from.to_string_lossy(), options).await?;
        let whole = |expression| cast(expression, DataType::Int64);
        let charges = whole(col("charges") * lit(100.0));
        let mixed = charges * lit(7_919_i64) + whole(col("income")) * lit(104_729_i64);
        let number = mixed % lit(i64::try_from(n).unwrap_or(i64::MAX));
        let options = DataFrameWriteOptions::new().with_single_file_output(true);
        table
            .with_column("number", number)?
            .write_parquet(&to.to_string_lossy(), options, None)
            .await?;
        Ok(())
    })
}

/// Whether two files have the same bytes.
fn same(a: &Path, b: &Path) -> Result<bool, Failure> {
    let open = |path: &Path| File::open(path).map(BufReader::new);
    let (mut a, mut b) = (open(a)?, open(b)?);
    let (mut of_a, mut of_b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let n = a.read(&mut of_a)?;
        if n == 0 {
            return Ok(b.read(&mut of_b)? == 0);
        }
        if b.read_exact(&mut of_b[..n]).is_err() || of_a[..n] != of_b[..n] {
            return Ok(false);
        }
    }
}
