//! `hierarchy make | check | show`.

use crate::harness::Folder;

const TABLE: &str = "age,zip,born\n17,53711,2024-01-03\n23,53712,2024-02-11\n42,02174,1999-12-31\n";

#[test]
fn every_way_to_build_one() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    let made = |args: &str| folder.ok(&format!("hierarchy make {args}")).stdout;
    assert_eq!(
        made("t.csv --column age --width 5 --origin 17 --levels 2,2"),
        "17;[17-21];[17-26];[17-36];*\n23;[22-26];[17-26];[17-36];*\n42;[42-46];[37-46];[37-56];*\n"
    );
    assert!(made("t.csv --column zip --mask right").contains("53711;5371*;537**;53***;5****;*\n"));
    assert!(made("t.csv --column born --dates month,year").contains("2024-02-11;2024-02;2024;*\n"));
    assert!(made("t.csv --column age --fan-out 2").contains("17;[17-23];*\n"));
    assert_eq!(
        made("--order low,mid,high --fan-out 2"),
        "low;[low-mid];*\nmid;[low-mid];*\nhigh;high;*\n"
    );
    folder.fails(
        "hierarchy make t.csv --column zip --dates year",
        2,
        &["no hierarchy can be built for `zip`"],
    );
    folder.fails("hierarchy make t.csv --column age", 2, &["required"]);
    folder.fails("hierarchy make t.csv --column agee --width 5", 2, &["did you mean `age`?"]);
}

#[test]
fn check_and_show() {
    let folder = Folder::with(&[("t.csv", TABLE)]);
    folder.ok("hierarchy make t.csv --column age --width 10 -o age.csv");
    folder.fails("hierarchy make t.csv --column age --width 10 -o age.csv", 2, &["exists already"]);
    let ended = folder.ok("hierarchy check age.csv --input t.csv --column age");
    assert!(
        ended.stderr.contains("3 leaves") && ended.stderr.contains("covers all 3 values"),
        "{}",
        ended.stderr
    );
    folder.fails(
        "hierarchy check age.csv --input t.csv --column zip",
        1,
        &["3 of 3 values of `zip`, in 3 rows, are not leaves; the first is in data row 1"],
    );
    assert!(folder.ok("hierarchy show age.csv").stdout.starts_with("*  (3)\n├─ "));
    std::fs::write(folder.path("bad.csv"), "a;x;*\nb;*\n").unwrap();
    folder.fails("hierarchy check bad.csv", 2, &["row 2 has 2 labels where the first row has 3"]);
    std::fs::write(folder.path("bad.csv"), "1;0s;*\n2;0s;*\n20;2;*\n25;2;*\n").unwrap();
    let says = [
        "the label at level 0 of row 2 is also that of the node at level 1 of row 3",
        "rename one of the two",
    ];
    folder.fails("hierarchy check bad.csv", 2, &says);
    folder.fails(
        "anonymize t.csv -o r.csv -k 2 --quasi age --undeclared drop --hierarchy age=bad.csv",
        2,
        &says,
    );
    std::fs::write(folder.path("bad.csv"), "a;x;*\nb;\"x;*\n").unwrap();
    folder.fails("hierarchy check bad.csv", 2, &["a quote in line 2 that is not closed"]);
}

#[test]
fn built_ones_work_in_a_job() {
    let job = "[columns]\nage = { role = \"quasi\", hierarchy = { width = 10.0, origin = 10.0 } }\n\
               zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
               born = { role = \"quasi\", hierarchy = { dates = [\"month\", \"year\", \"decade\"] } }\n\
               [privacy]\nk = 2\n";
    let table = format!("{TABLE}19,53719,2024-01-09\n42,02175,1999-12-31\n25,53712,2024-02-01\n");
    let folder = Folder::with(&[("t.csv", &table), ("job.toml", job)]);
    folder.ok("anonymize t.csv -o r.csv --job job.toml --report r.json");
    let release = folder.read("r.csv");
    assert!(release.contains("0217*,1999-12-31"), "{release}");
    assert!(folder.json("r.json")["measures"]["precision"].as_f64().unwrap() > 0.0);
}
