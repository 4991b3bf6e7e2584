//! The same job in other ways: they must make no difference.

use crate::Fault;
use crate::case::{Case, Labels, Role};
use crate::csv;
use crate::judge::{arguments, sound};
use crate::label::Axis;
use crate::random::Random;
use crate::run::Folder;
use crate::table::Table;
use crate::value::{Kind, Value};

/// Rows in another order, other threads, a job given in another way, a memory limit: the same
/// bytes.
pub(crate) fn repeat(
    folder: &Folder,
    case: &Case,
    random: &mut Random,
    release: Option<&Table>,
) -> Result<(), Fault> {
    let mut shuffled = case.table.clone();
    random.shuffle(&mut shuffled.rows);
    folder.write_table(case, &shuffled, "shuffled.csv")?;
    let by_file = if case.fits_flags() { !case.format.by_file } else { true };
    let mut args = arguments(case, "shuffled.csv", "again.csv", by_file);
    args.extend(["--threads", "2", "--quiet"].map(str::to_owned));
    // A hidden option puts the rows of even a small table into private files.
    match random.below(4) {
        0 => args.extend(["--memory-limit", "400MB"].map(str::to_owned)),
        1 => args.extend(["--force-files", "1"].map(str::to_owned)),
        2 => args.extend(["--force-files", "3"].map(str::to_owned)),
        _ => {}
    }
    let before = folder.files();
    let ended = folder.run(&args)?;
    sound(folder, &ended, &before)?;
    let expected = i32::from(release.is_none());
    if ended.code != Some(expected) {
        return Err(Fault::new(
            "repeat",
            format!("{:?}, not {expected}: {}", ended.code, ended.said()),
        ));
    }
    if release.is_some() && folder.bytes("again.csv") != folder.bytes("release.csv") {
        let (was, is) = (folder.text("release.csv"), folder.text("again.csv"));
        return Err(Fault::new("order", format!("{}\n{was}\nand again\n{is}", ended.said())));
    }
    Ok(())
}

/// Other formats of input and output hold the same values in the same order.
pub(crate) fn formats(
    folder: &Folder,
    case: &Case,
    random: &mut Random,
    release: &Table,
) -> Result<(), Fault> {
    let format = &case.format;
    let mut ways = vec![("csv", format.output)];
    // Where equal rows are divided, the order of what is published of them decides, and that is
    // another one for numbers than for their texts.
    let is_divided = case.job.algorithm == "butterfly"
        || [Some("relaxed"), Some("mondrian-relaxed")].contains(&case.job.variant);
    if format.input != "csv" && !is_divided {
        ways.push((format.input, "csv"));
    }
    for (input, output) in ways {
        let (source, target) = (format!("typed.{input}"), format!("other.{output}"));
        folder.write_table(case, &case.table, &source)?;
        let mut args = arguments(case, &source, &target, case.format.by_file);
        args.extend(["--quiet", "--force", "--threads", "1"].map(str::to_owned));
        if output.ends_with('/') {
            args.extend([
                "--part-rows".to_owned(),
                random.between(1, format.part_rows).to_string(),
            ]);
        }
        let before = folder.files();
        let ended = folder.run(&args)?;
        sound(folder, &ended, &before)?;
        if ended.code != Some(0) {
            return Err(Fault::new("format", format!("{:?}: {}", ended.code, ended.said())));
        }
        let other = folder.read_table(target.trim_end_matches('/'))?;
        // Kept numbers of a typed input are sorted as numbers, those of a text as texts.
        same_values(case, release, &other, output != "csv" && !output.starts_with("tsv"))
            .map_err(|detail| Fault::new("format", format!("{detail}\n{}", ended.said())))?;
        let path = folder.path(&target);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        removed.map_err(Fault::machine)?;
    }
    Ok(())
}

/// Cells are equal as values of their column; labels as texts.
fn same_values(case: &Case, release: &Table, other: &Table, in_order: bool) -> Result<(), String> {
    if release.header != other.header || release.rows.len() != other.rows.len() {
        return Err(format!("{:?}, then {:?}", release.header, other.header));
    }
    let has_means = matches!(case.job.labels, Labels::Mean | Labels::RangeMean);
    let kinds: Vec<Kind> = release
        .header
        .iter()
        .map(|name| {
            let base = ["_min", "_max", "_mean"].iter().find_map(|end| name.strip_suffix(end));
            let input = case.table.column(name).or_else(|| case.table.column(base?));
            let kind = input.map_or(Kind::Text, |input| Kind::of(case.table.cells(input)));
            // A mean of whole numbers need not be one, and a columnar file says so.
            if kind == Kind::Integer && has_means { Kind::Decimal } else { kind }
        })
        .collect();
    let values = |table: &Table| -> Vec<Vec<Vec<Value>>> {
        let row = |row: &Vec<Option<String>>| {
            row.iter().zip(&kinds).map(|(cell, &kind)| normal(kind, cell.as_deref())).collect()
        };
        let mut rows: Vec<Vec<Vec<Value>>> = table.rows.iter().map(row).collect();
        if !in_order {
            rows.sort();
        }
        rows
    };
    let (was, is) = (values(release), values(other));
    match was.iter().zip(&is).find(|(was, is)| was != is) {
        Some((was, is)) => Err(format!("{was:?}, then {is:?}")),
        None => Ok(()),
    }
}

/// A value, or a label in which numbers and timestamps may be written in another way.
fn normal(kind: Kind, cell: Option<&str>) -> Vec<Value> {
    let Some(text) = cell else { return vec![Value::Missing] };
    if let Some(value) = kind.parse(text) {
        return vec![value];
    }
    if let Ok(number) = text.parse::<f64>() {
        return vec![Value::Text(number.to_string())];
    }
    let inner = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    for between in ["-", ".."] {
        let Some(inner) = inner else { break };
        for (at, _) in inner.match_indices(between) {
            let ends = (kind.parse(&inner[..at]), kind.parse(&inner[at + between.len()..]));
            if let (true, (Some(least), Some(greatest))) = (kind.is_ordered(), ends) {
                return vec![least, greatest];
            }
        }
    }
    vec![Value::Text(text.to_owned())]
}

/// What `check` and `attack` say of the release.
pub(crate) fn readers(folder: &Folder, case: &Case, release: &Table) -> Result<(), Fault> {
    if release.rows.is_empty() {
        return Ok(());
    }
    check(folder, case, release)?;
    attack(folder, case)
}

fn check(folder: &Folder, case: &Case, release: &Table) -> Result<(), Fault> {
    let mut axes = crate::verify::axes(case, &std::collections::BTreeMap::new());
    for axis in &mut axes {
        axis.find(release, case.job.labels);
    }
    let mut args: Vec<String> =
        ["check", "release.csv", "--undeclared", "drop", "--json"].map(str::to_owned).to_vec();
    let all: Vec<String> =
        axes.iter().flat_map(Axis::published).map(|at| release.header[at].clone()).collect();
    args.extend(["-k".to_owned(), "2".to_owned(), "--quasi".to_owned(), all.join(",")]);
    let sensitive = case.names(|column| column.role == Role::Sensitive);
    if !sensitive.is_empty() {
        args.extend(["--sensitive".to_owned(), sensitive.join(",")]);
    }
    if !case.job.sets.is_empty() || all.iter().any(|name| name.contains(['=', ','])) {
        return Ok(());
    }
    let before = folder.files();
    let ended = folder.run(&args)?;
    // `--json` prints figures, no cells.
    sound(folder, &ended, &before)?;
    if ended.code != Some(0) {
        return Err(Fault::new("check", format!("{:?}: {}", ended.code, ended.said())));
    }
    let told: serde_json::Value =
        serde_json::from_str(&ended.stdout).map_err(|why| Fault::new("json", why.to_string()))?;
    let report = folder.json("report.json")?;
    for key in ["classes", "smallest_class", "largest_class"] {
        let (was, is) = (&report["release"][key], &told["release"][key]);
        if was != is && !case.job.is_starred {
            return Err(Fault::new("check", format!("{key}: {was}, then {is}: {}", ended.said())));
        }
    }
    Ok(())
}

/// Every row of the input has k candidates at least, or was suppressed.
fn attack(folder: &Folder, case: &Case) -> Result<(), Fault> {
    let k = case.required().iter().map(|(_, _, k)| *k).min().unwrap_or(case.job.k);
    for (_, columns, _) in case.required() {
        let mut args: Vec<String> =
            ["attack", "release.csv", "--with", "input.csv", "--recoding", "recoding.json"]
                .map(str::to_owned)
                .to_vec();
        let fail_below = ["--fail-below".to_owned(), k.to_string()];
        args.extend(["--json", "--on"].map(str::to_owned));
        args.push(columns.join(","));
        if case.entity().is_none() {
            args.extend(fail_below);
        }
        let before = folder.files();
        let ended = folder.run(&args)?;
        sound(folder, &ended, &before)?;
        if ended.code != Some(0) {
            return Err(Fault::new("attack", format!("{:?}: {}", ended.code, ended.said())));
        }
        let told: serde_json::Value = serde_json::from_str(&ended.stdout)
            .map_err(|why| Fault::new("json", why.to_string()))?;
        let none = told["candidates"]["none"].as_u64().unwrap_or(u64::MAX);
        let report = folder.json("report.json")?;
        let suppressed = report["release"]["suppressed"].as_u64().unwrap_or_default();
        if none > suppressed {
            let detail = format!("{none} without candidates, {suppressed} suppressed");
            return Err(Fault::new("attack", format!("{detail}: {}", ended.said())));
        }
    }
    Ok(())
}

/// The recoding, applied to the same table, gives the same release.
pub(crate) fn apply(folder: &Folder, case: &Case, release: &Table) -> Result<(), Fault> {
    let mut args: Vec<String> =
        ["apply", "recoding.json", "input.csv", "-o", "applied.csv", "--quiet"]
            .map(str::to_owned)
            .to_vec();
    if case.job.is_starred {
        args.extend(["--suppressed", "star"].map(str::to_owned));
    }
    let is_region = case.job.labels == Labels::Region;
    if is_region {
        // Values that only suppressed rows have are unknown to it.
        args.extend(["--unknown", "suppress"].map(str::to_owned));
    }
    let before = folder.files();
    let ended = folder.run(&args)?;
    sound(folder, &ended, &before)?;
    let job = &case.job;
    // A butterfly of one set, or of sets that hold one another, is Mondrian and can be applied.
    let may_be_local = job.algorithm == "butterfly" && job.sets.len() > 1;
    let is_local = [Some("relaxed"), Some("mondrian-relaxed")].contains(&job.variant);
    if ended.code == Some(2) && (may_be_local || is_local) {
        return Ok(());
    }
    if is_local {
        return Err(Fault::new("apply", ended.said()));
    }
    // Cut points do not depend on suppressed rows, which may find another class.
    let all_released = release.rows.len() == case.table.rows.len() && !case.job.is_starred;
    if is_region && !all_released && ended.code == Some(1) {
        return Ok(());
    }
    if ended.code != Some(0) {
        return Err(Fault::new("apply", format!("{:?}: {}", ended.code, ended.said())));
    }
    let is_same = folder.bytes("applied.csv") == folder.bytes("release.csv");
    if is_same || is_region && !all_released {
        return Ok(());
    }
    let (was, is) = (folder.text("release.csv"), folder.text("applied.csv"));
    let applied = csv::read(&is, ',').map_err(|why| Fault::new("apply", why))?;
    if leaves_out_means_of_pairs(case, release, &applied) {
        return Ok(());
    }
    Err(Fault::new("apply", format!("{}\n{was}\napplied\n{is}", ended.said())))
}

/// Whether two releases differ only by means that the second leaves out, in classes of two rows.
/// Where the ends of a range are known to be values, these rows are known without their mean. A
/// recoding applied to other rows does not say that they are.
fn leaves_out_means_of_pairs(case: &Case, was: &Table, is: &Table) -> bool {
    let quasi = case.quasi();
    let is_mean: Vec<bool> = was.header.iter().map(|name| name.ends_with("_mean")).collect();
    let labels: Vec<usize> =
        (0..was.header.len()).filter(|&at| quasi.contains(&was.header[at])).collect();
    let are_paired = |row: usize| {
        let is_alike = |other: &usize| {
            labels.iter().all(|&column| was.cell(row, column) == was.cell(*other, column))
        };
        (0..was.rows.len()).filter(is_alike).count() == 2
    };
    let is_left_out = |row: usize| {
        let mut cells = was.rows[row].iter().zip(&is.rows[row]).zip(&is_mean);
        cells.all(|((was, is), is_mean)| was == is || *is_mean && is.is_none())
    };
    was.header == is.header
        && was.rows.len() == is.rows.len()
        && (0..was.rows.len())
            .all(|row| was.rows[row] == is.rows[row] || is_left_out(row) && are_paired(row))
}
