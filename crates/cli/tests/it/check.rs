//! Measuring tables that others made.

use crate::harness::Folder;

const TABLE: &str =
    "age,zip,disease\n20-30,1*,flu\n20-30,1*,cold\n20-30,1*,flu\n30-40,2*,hiv\n30-40,2*,hiv\n";

#[test]
fn a_table_is_measured_as_it_stands() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    let ended = folder.ok("check t.csv -k 2 --quasi age,zip --sensitive disease --json");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let privacy = &report["privacy"][0];
    assert_eq!(privacy["k"], 2);
    assert_eq!(privacy["l_distinct"], 1.0);
    assert_eq!(privacy["l_entropy"], 1.0);
    // The class of hiv: 0.6 of the mass has to move.
    assert!((privacy["t"].as_f64().unwrap() - 0.6).abs() < 1e-9);
    assert_eq!(report["release"]["classes"], 2);
    assert_eq!(report["measures"]["discernibility"], 13.0);
    assert_eq!(report["risk"]["prosecutor_max"], 0.5);
    assert_eq!(report["risk"]["prosecutor_average"], 0.4);
    // All of 2 in 5 rows with hiv are in one class: a gain of 3/5 on 2/5.
    let ended = folder.ok("check t.csv --quasi age,zip --sensitive disease");
    let line = "  disease: alpha 1.00, delta 0.92, beta 1.50\n";
    assert!(ended.stdout.contains(line), "{}", ended.stdout);
}

#[test]
fn below_what_is_asked_is_exit_code_1() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    folder.fails(
        "check t.csv -k 3 --quasi age,zip",
        1,
        &["3-anonymity does not hold", "1 classes with 2 rows"],
    );
    folder.fails(
        "check t.csv --quasi age --sensitive disease --l-diversity distinct:2",
        1,
        &["distinct 2-diversity"],
    );
    folder.ok("check t.csv --quasi age");
    folder.fails("check t.csv -k 2 --quasi agee", 2, &["did you mean `age`?"]);
    let ended = folder.run("check t.csv -k 3 --quasi age,zip --json --report r.json");
    assert_eq!(ended.code, 1);
    assert_eq!(folder.json("r.json")["risk"]["records_at_risk"], 2);
}

#[test]
fn risk_is_a_gate() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    let ended = folder.ok("check t.csv --quasi age,zip --fail-above prosecutor=0.5,marketer=0.4");
    assert!(
        ended.stdout.contains("picks the right record 1 in 2 times at worst"),
        "{}",
        ended.stdout
    );
    folder.fails(
        "check t.csv --quasi age,zip --fail-above prosecutor=0.4 --fail-above marketer=0.3",
        1,
        &["the prosecutor risk is 0.5000, above 0.4", "the marketer risk is 0.4000, above 0.3"],
    );
    let ended = folder.run("check t.csv --quasi age,zip --fail-above journalist=0.1 --json");
    assert_eq!(ended.code, 1);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["privacy"][0]["satisfied"], false);
    assert_eq!(report["privacy"][0]["required"]["journalist"], 0.1);
    assert_eq!(report["risk"]["share_above"]["0.2"], 1.0);
    let empty = Folder::with(&[("t.csv", "age,zip\n")]);
    empty.fails("check t.csv --quasi age --fail-above prosecutor=0.5", 1, &["has no rows"]);
    for (limit, says) in [
        ("prosecuter=0.1", "did you mean `prosecutor`?"),
        ("prosecutor", "write --fail-above prosecutor=0.09"),
        ("marketer=2", "must be a number from 0 to 1"),
        ("marketer=nan", "must be a number from 0 to 1"),
    ] {
        folder.fails(&format!("check t.csv --quasi age --fail-above {limit}"), 2, &[says]);
    }
}

#[test]
fn presets_say_where_their_number_comes_from() {
    let rows = |n: usize| format!("age,zip\n{}", "20-30,1*\n".repeat(n));
    let folder = Folder::with(&[("11.csv", &rows(11)), ("12.csv", &rows(12))]);
    folder.fails(
        "check 11.csv --quasi age,zip --preset ema-0.09",
        1,
        &["12-anonymity does not hold", "the prosecutor risk is 0.0909, above 0.09"],
    );
    let ended = folder.ok("check 12.csv --quasi age,zip --preset ema-0.09");
    assert!(ended.stdout.contains("preset ema-0.09: the European"), "{}", ended.stdout);
    folder.ok("check 11.csv --quasi age,zip --preset tre-10");
    folder.ok("check 11.csv --quasi age,zip --preset hipaa-5 -k 11");
    folder.fails("check 12.csv --quasi age,zip --preset ema-0.09 -k 5", 2, &["k = 5 is less"]);
    folder.fails("check 12.csv --quasi age,zip --preset ema", 2, &["ema-0.09, tre-10, hipaa-5"]);
}

#[test]
fn a_release_above_a_limit_is_not_published() {
    let rows: Vec<String> = (0..40).map(|age| age.to_string()).collect();
    let folder = Folder::with(&[("t.csv", &format!("age\n{}\n", rows.join("\n")))]);
    folder.ok("anonymize t.csv -o tre.csv --quasi age --preset tre-10");
    folder.ok("check tre.csv -k 10 --quasi age");
    let limited = "anonymize t.csv -o no.csv --quasi age -k 5 --fail-above marketer=0.1";
    folder.fails(limited, 1, &["the marketer risk is"]);
    assert!(!folder.path("no.csv").exists());
}

#[test]
fn entities_and_targets() {
    let table = "who,age,buys\na,1,x\na,1,x\nb,1,y\nc,2,x\nd,2,x\n";
    let folder = Folder::with(&[("t.csv", table)]);
    folder.fails("check t.csv -k 3 --quasi age --entity who", 1, &["3-anonymity"]);
    let ended = folder.ok("check t.csv -k 2 --quasi age --entity who --target buys --json");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["privacy"][0]["k"], 2);
    assert_eq!(report["measures"]["classification"], 1.0);
}

#[test]
fn a_cluster_is_for_another_binary() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    folder.ok("check t.csv -k 2 --quasi age,zip --engine embedded");
    let cluster = "check t.csv -k 2 --quasi age,zip --engine ballista://127.0.0.1:50050";
    folder.fails(cluster, 2, &["this binary has no cluster engine", "`incrowd-cluster`"]);
    for bad in ["spark://h:1", "ballista://h", "ballista://h:0"] {
        let bad = format!("check t.csv -k 2 --quasi age,zip --engine {bad}");
        folder.fails(&bad, 2, &["is not an engine", "ballista://HOST:PORT"]);
    }
}

/// Two million rows: a few wide columns that are nearly a key together, one that is a key, one
/// sensitive.
fn many_rows() -> String {
    let mut state = 1u64;
    let mut below = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = String::from("a,b,c,s,key\n");
    for row in 0..2_000_000u64 {
        let (a, b, c) = (below(900), below(70), below(50));
        let b = if b == 0 { String::new() } else { b.to_string() };
        text.push_str(&format!("{a},{b},c{c},{},k{}\n", below(9) * below(9), row * 7 % 2_000_003));
    }
    text
}

/// A report without what the options and the clock say.
fn told(stdout: &str) -> String {
    let mut report: serde_json::Value = serde_json::from_str(stdout).unwrap();
    report["timings_s"] = serde_json::Value::Null;
    report["job"]["run"] = serde_json::Value::Null;
    report.to_string()
}

#[test]
fn a_memory_limit_changes_nothing_and_leaves_nothing_behind() {
    let folder = Folder::with(&[("t.csv", &many_rows())]);
    std::fs::create_dir(folder.path("tmp")).unwrap();
    let bounded = "--memory-limit 64MB --temp-dir tmp";
    let left = || std::fs::read_dir(folder.path("tmp")).unwrap().count();
    let asks = [
        ("-k 2 --quasi a,b --sensitive s --t-closeness 0.9 --json", 0),
        ("-k 3 --quasi a,b,c --sensitive s --l-diversity entropy:2 --target b --json", 1),
        // Too many values to hold: their hashes tell which are equal.
        ("-k 2 --quasi a,key --sensitive s --json", 1),
    ];
    for (ask, code) in asks {
        let free = folder.run(&format!("check t.csv {ask}"));
        let limited = folder.run(&format!("check t.csv {ask} {bounded}"));
        assert_eq!([free.code, limited.code], [code, code], "{}{}", free.stderr, limited.stderr);
        assert_eq!(told(&free.stdout), told(&limited.stdout), "{ask}");
        assert_eq!(left(), 0, "{ask}");
    }
    let [free, limited] =
        ["", bounded].map(|how| folder.ok(&format!("profile t.csv --json {how}")));
    assert_eq!(free.stdout, limited.stdout);
    assert_eq!(left(), 0, "profile");
    let says = ["raise --memory-limit to about", "`key`"];
    folder.fails(&format!("check t.csv -k 2 --quasi a --sensitive key {bounded}"), 2, &says);
    assert_eq!(left(), 0);
    folder.fails("check t.csv -k 2 --quasi a --memory-limit 1MB", 2, &["at least 64 MB"]);
}
