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
        folder.fails(&bad, 2, &["is no engine", "ballista://HOST:PORT"]);
    }
}
