//! The figures of `check` against those of pycanon on the same tables, and the risk against a plain
//! count.
//!
//! `tests/pycanon/make.py` makes the tables and what is expected of them. Where both offer a figure
//! it is the same, but:
//!
//! - pycanon cuts the l of entropy l-diversity off to a whole number;
//! - pycanon's c of recursive (c,l)-diversity compares the rarest value with the commonest ones;
//!   ours is the paper's, which compares the commonest with the rarest ones, and is the number
//!   above which every c will do;
//! - pycanon has a beta of enhanced beta-likeness also where the definition holds for no beta; we
//!   have none there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use incrowd_job::{JobSpec, Outcome, Run, check};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pycanon")
}

/// What is expected of the tables, case by case.
fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    expected["cases"].as_array().unwrap().clone()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// The report on a table, asked for nothing.
#[track_caller]
fn report(run: &Run, table: &str, quasi: &[&str], sensitive: &[&str]) -> Value {
    let roles = |names: &[&str], role: &str| -> String {
        let lines = names.iter().map(|name| format!("{name} = {{ role = \"{role}\" }}\n"));
        lines.collect::<Vec<String>>().concat()
    };
    let columns = roles(quasi, "quasi") + &roles(sensitive, "sensitive");
    let mut spec =
        JobSpec::from_toml(&format!("undeclared = \"drop\"\n[columns]\n{columns}")).unwrap();
    // pycanon was given missing sensitive cells as a value of their own.
    spec.privacy.missing_sensitive = Some("value".to_owned());
    spec.input = Some(folder().join(table).display().to_string());
    let Outcome::Done(done) = check(run, &spec, false).unwrap() else {
        panic!("nothing is asked for")
    };
    serde_json::from_str(&done.report.to_json()).unwrap()
}

#[track_caller]
fn of_case(case: &Value) -> Value {
    let (quasi, sensitive) = (names(&case["quasi"]), names(&case["sensitive"]));
    report(&Run::default(), case["table"].as_str().unwrap(), &quasi, &sensitive)
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[track_caller]
fn near(found: &Value, expected: &Value, what: &str) {
    let (found, expected) = (number(found), number(expected));
    let room = 1e-9 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= room, "{what}: {found}, not {expected}");
}

/// Compares the figures of a sensitive column, or the worst of several.
#[track_caller]
fn compare(found: &Value, pycanon: &Value, what: &str) {
    for key in ["l_distinct", "t", "alpha", "delta", "beta"] {
        near(&found[key], &pycanon[key], &format!("{key} of {what}"));
    }
    // Rounding decides which whole number it is cut off to.
    let l = number(&found["l_entropy"]);
    let cut_off = [l - 1e-9, l + 1e-9].map(f64::floor);
    assert!(cut_off.contains(&number(&pycanon["l_entropy"])), "entropy l of {what}: {l}");
}

/// The worst figures of several columns.
fn worst(columns: &[&Value]) -> Value {
    let figures = |key: &str| columns.iter().map(|column| number(&column[key])).collect::<Vec<_>>();
    let least = |key: &str| figures(key).into_iter().fold(f64::INFINITY, f64::min);
    let greatest = |key: &str| figures(key).into_iter().fold(0.0, f64::max);
    json!({
        "l_distinct": least("l_distinct"),
        "l_entropy": least("l_entropy"),
        "t": greatest("t"),
        "alpha": greatest("alpha"),
        "delta": greatest("delta"),
        "beta": greatest("beta"),
    })
}

#[test]
fn every_column_is_as_pycanon_says() {
    for case in cases() {
        let report = of_case(&case);
        let privacy = &report["privacy"][0];
        assert_eq!(privacy["k"], case["pycanon"]["k"], "k of {}", case["table"]);
        for (column, expected) in case["columns"].as_object().unwrap() {
            let what = format!("{column} of {} by {}", case["table"], case["quasi"]);
            let found = &privacy["sensitive"][column];
            compare(found, &expected["pycanon"], &what);
            near(&found["l_entropy"], &expected["plain"]["l_entropy"], &what);
        }
    }
}

#[test]
fn several_columns_are_as_bad_as_the_worst() {
    for case in cases() {
        let report = of_case(&case);
        let privacy = &report["privacy"][0];
        let columns: Vec<&Value> = privacy["sensitive"].as_object().unwrap().values().collect();
        let what = format!("{} by {}", case["table"], case["quasi"]);
        let worst = worst(&columns);
        compare(&worst, &case["pycanon"], &what);
        for key in ["l_distinct", "l_entropy", "t"] {
            assert_eq!(privacy[key], worst[key], "{key} of {what}");
        }
    }
}

/// pycanon's `gen = False`: an attacker knows all sensitive columns but one.
#[test]
fn other_sensitive_columns_can_be_known() {
    let mut n_cases = 0;
    for case in cases().iter().filter(|case| !case["pycanon_apart"].is_null()) {
        let sensitive = names(&case["sensitive"]);
        let found: Vec<Value> = (0..sensitive.len())
            .map(|at| {
                let (mut known, mut others) = (names(&case["quasi"]), sensitive.clone());
                let column = others.remove(at);
                known.extend(others);
                let table = case["table"].as_str().unwrap();
                let report = report(&Run::default(), table, &known, &[column]);
                report["privacy"][0]["sensitive"][column].clone()
            })
            .collect();
        let found: Vec<&Value> = found.iter().collect();
        let what = format!("{} by {} and the others", case["table"], case["quasi"]);
        compare(&worst(&found), &case["pycanon_apart"], &what);
        n_cases += 1;
    }
    assert!(n_cases > 3, "{n_cases} cases have several sensitive columns");
}

#[test]
fn recursive_diversity_is_the_papers() {
    for case in cases() {
        let report = of_case(&case);
        for (column, expected) in case["columns"].as_object().unwrap() {
            let what = format!("{column} of {} by {}", case["table"], case["quasi"]);
            let found = &report["privacy"][0]["sensitive"][column]["l_recursive"];
            let (plain, pycanon) =
                (&expected["plain"]["l_recursive"], &expected["pycanon"]["l_recursive"]);
            assert_eq!(found.is_null(), plain.is_null(), "{what}");
            assert_eq!(found.is_null(), pycanon.is_null(), "{what}");
            if found.is_null() {
                continue;
            }
            near(&found[0], &plain[0], &what);
            assert_eq!(found[1], plain[1], "{what}");
            assert_eq!(found[1], pycanon[1], "{what}");
            if case["table"] == "even.csv" {
                // All counts are equal, so their order is no matter: the least whole c is 2.
                assert_eq!(json!(number(&found[0]).floor() + 1.0), json!(number(&pycanon[0])));
            }
        }
    }
}

#[test]
fn enhanced_likeness_is_there_where_it_holds() {
    let mut holds = [0, 0];
    for case in cases() {
        let report = of_case(&case);
        for (column, expected) in case["columns"].as_object().unwrap() {
            let what = format!("{column} of {} by {}", case["table"], case["quasi"]);
            let found = &report["privacy"][0]["sensitive"][column];
            let (plain, pycanon) = (&expected["plain"], &expected["pycanon"]["beta_enhanced"]);
            let enhanced = &found["beta_enhanced"];
            assert_eq!(enhanced.is_null(), plain["beta_enhanced"].is_null(), "{what}");
            holds[usize::from(enhanced.is_null())] += 1;
            if enhanced.is_null() {
                // What pycanon says then: the basic beta, or the logarithm of the rarest value's
                // share.
                let least = number(&found["beta"]).min(number(&plain["rarest"]));
                near(&json!(least), pycanon, &what);
            } else {
                near(enhanced, pycanon, &what);
                near(enhanced, &plain["beta_enhanced"], &what);
            }
        }
    }
    assert!(holds.iter().all(|&columns| columns > 3), "{holds:?}");
}

/// The risk, record by record.
fn plain_risk(table: &str, quasi: &[&str]) -> Value {
    let text = std::fs::read_to_string(folder().join(table)).unwrap();
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = rows.next().unwrap();
    let places: Vec<usize> =
        quasi.iter().map(|name| header.iter().position(|n| n == name).unwrap()).collect();
    let keys: Vec<Vec<&str>> = rows.map(|row| places.iter().map(|&at| row[at]).collect()).collect();
    let mut sizes: BTreeMap<&[&str], u32> = BTreeMap::new();
    for key in &keys {
        *sizes.entry(key).or_default() += 1;
    }
    let of_records: Vec<u32> = keys.iter().map(|key| sizes[key.as_slice()]).collect();
    let n_records = f64::from(u32::try_from(keys.len()).unwrap());
    let share = |is_counted: &dyn Fn(f64) -> bool| {
        let counted = of_records.iter().filter(|&&size| is_counted(1.0 / f64::from(size)));
        f64::from(u32::try_from(counted.count()).unwrap()) / n_records
    };
    json!({
        "prosecutor_max": of_records.iter().map(|&size| 1.0 / f64::from(size)).fold(0.0, f64::max),
        "prosecutor_average":
            of_records.iter().map(|&size| 1.0 / f64::from(size)).sum::<f64>() / n_records,
        "marketer": f64::from(u32::try_from(sizes.len()).unwrap()) / n_records,
        "records_at_risk": of_records.iter().filter(|&&size| size < 5).count(),
        "share_above": {
            "0.05": share(&|risk| risk > 0.05),
            "0.09": share(&|risk| risk > 0.09),
            "0.2": share(&|risk| risk > 0.2),
        },
    })
}

#[test]
fn risk_is_that_of_a_plain_count() {
    for case in cases() {
        let report = of_case(&case);
        let what = format!("{} by {}", case["table"], case["quasi"]);
        let plain = plain_risk(case["table"].as_str().unwrap(), &names(&case["quasi"]));
        for expected in [&plain, &case["risk"]] {
            for found in [&report["risk"], &report["privacy"][0]["risk"]] {
                for key in ["prosecutor_max", "prosecutor_average", "marketer"] {
                    near(&found[key], &expected[key], &format!("{key} of {what}"));
                }
                assert_eq!(found["records_at_risk"], expected["records_at_risk"], "{what}");
                for (most, share) in expected["share_above"].as_object().unwrap() {
                    near(&found["share_above"][most], share, &format!("above {most} of {what}"));
                }
            }
        }
        let release = &report["release"];
        assert_eq!(release["rows"], case["rows"], "{what}");
        let sizes = ["classes", "smallest_class", "largest_class"].map(|key| release[key].clone());
        assert_eq!(json!(sizes), case["sizes"], "{what}");
    }
}

#[test]
fn rows_in_private_files_have_the_same_figures() {
    for case in cases() {
        let (quasi, sensitive) = (names(&case["quasi"]), names(&case["sensitive"]));
        let table = case["table"].as_str().unwrap();
        let in_files = report(&Run::default().squeezed(1 << 10), table, &quasi, &sensitive);
        assert_eq!(in_files["privacy"], of_case(&case)["privacy"], "{table}");
    }
}
