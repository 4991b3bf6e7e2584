//! A saved recoding on other rows.

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, classes, people};

#[test]
fn the_same_rows_give_the_same_release() {
    let folder = Folder::with(&[("t.csv", &people(1000, 12))]);
    for (name, rest) in
        [("range", ""), ("models", "--l-diversity distinct:3"), ("bounds", "--labels bounds")]
    {
        folder.ok(&format!(
            "anonymize t.csv -o {name}.csv -k 5 {PEOPLE_JOB} {rest} --recoding {name}.json"
        ));
        folder.ok(&format!("apply {name}.json t.csv -o {name}-again.csv"));
        assert_eq!(
            folder.read(&format!("{name}.csv")),
            folder.read(&format!("{name}-again.csv")),
            "{name}"
        );
    }
}

#[test]
fn new_rows_are_covered_and_verified() {
    let folder = Folder::with(&[("t.csv", &people(2000, 13)), ("new.csv", &people(2000, 14))]);
    folder.ok(&format!("anonymize t.csv -o r.csv -k 20 {PEOPLE_JOB} --recoding r.json"));
    folder.fails(
        "apply r.json new.csv -o n.csv",
        1,
        &["20-anonymity", "--suppress", "--unverified"],
    );
    folder.ok("apply r.json new.csv -o n.csv --suppress 100%");
    let release = folder.read("n.csv");
    assert!(classes(&release, 4).values().all(|&rows| rows >= 20));
    let ended = folder.ok("apply r.json new.csv -o u.csv --unverified --report u.json");
    assert!(ended.stderr.contains("warning"), "{}", ended.stderr);
    let report = folder.json("u.json");
    assert_eq!(report["privacy"][0]["satisfied"], false);
    assert_eq!(report["release"]["rows"], 2000);
}

#[test]
fn starred_rows_stand_in_the_release_without_their_values() {
    let folder = Folder::with(&[("t.csv", &people(2000, 15)), ("new.csv", &people(1500, 16))]);
    folder.ok(&format!("anonymize t.csv -o r.csv -k 20 {PEOPLE_JOB} --recoding r.json"));
    folder.ok("apply r.json new.csv -o n.csv --suppress 1 --suppressed star --report n.json");
    let suppressed = folder.json("n.json")["release"]["suppressed"].as_u64().unwrap();
    assert!(suppressed > 0);
    let release = folder.read("n.csv");
    assert_eq!(release.lines().count(), 1501);
    assert_eq!(
        release.lines().filter(|line| line.starts_with("*,*,*,*,")).count() as u64,
        suppressed
    );
}

#[test]
fn values_that_were_never_seen_find_a_class() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB} --recoding r.json"));
    std::fs::write(
        folder.path("new.csv"),
        "age,sex,zipcode,disease\n99,Male,53711,Flu\n40,Male,53000,Cold\n\
         1,Female,99999,Flu\n2,Female,53712,Flu\n2,Other,53711,X\n3,Other,53711,X\n",
    )
    .unwrap();
    folder.ok("apply r.json new.csv -o n.csv");
    let release = folder.read("n.csv");
    // The class of older men reached from 27 to 28 and now reaches to 99.
    assert!(release.contains("[27-99],Male,[53000-53711],Cold"), "{release}");
    // A value that the recoding does not know goes where the last known one goes.
    assert!(release.contains("[1-27],{Female|Other},[53711-99999],Flu"), "{release}");
    assert!(release.contains("[1-27],{Female|Other},[53711-99999],X"), "{release}");
    assert_eq!(release.lines().count(), 7);
}

#[test]
fn hierarchies_travel_with_the_recoding() {
    let tree = "fr;Europe;*\nde;Europe;*\njp;Asia;*\ncn;Asia;*\n";
    let table = "c,n\nfr,1\nfr,2\nde,1\nde,5\njp,3\ncn,3\n,1\n,1\n";
    let folder =
        Folder::with(&[("t.csv", table), ("tree.csv", tree), ("new.csv", "c,n\ncn,3\njp,9\n")]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi c,n --hierarchy c=tree.csv --recoding r.json");
    std::fs::remove_file(folder.path("tree.csv")).unwrap();
    folder.ok("apply r.json t.csv -o again.csv");
    assert_eq!(folder.read("again.csv"), folder.read("r.csv"));
    folder.ok("apply r.json new.csv -o n.csv --unverified");
    std::fs::write(folder.path("bad.csv"), "c,n\nxx,1\n").unwrap();
    folder.fails("apply r.json bad.csv -o b.csv", 2, &["not in its hierarchy"]);
}

#[test]
fn what_cannot_be_applied_is_refused() {
    let folder = Folder::with(&[
        ("patients.csv", PATIENTS),
        ("no.json", "{}"),
        ("few.csv", "age,sex\n1,Male\n"),
    ]);
    folder.ok(&format!(
        "anonymize patients.csv -o r.csv {PATIENTS_JOB} --relaxed --recoding local.json"
    ));
    folder.fails("apply local.json patients.csv -o x.csv", 2, &["local recoding", "--relaxed"]);
    folder.fails("apply no.json patients.csv -o x.csv", 2, &["is not a recoding"]);
    folder.fails("apply none.json patients.csv -o x.csv", 2, &["cannot be read"]);
    folder.ok(&format!("anonymize patients.csv -o s.csv {PATIENTS_JOB} --recoding s.json"));
    folder.fails("apply s.json few.csv -o x.csv", 2, &["column `zipcode` is not in the input"]);
    let damaged = folder.read("s.json").replace("\"low\":1", "\"low\":0");
    std::fs::write(folder.path("d.json"), damaged).unwrap();
    folder.fails("apply d.json patients.csv -o x.csv", 2, &["damaged"]);
}

#[test]
fn starred_rows_that_are_too_few_are_not_released() {
    let folder = Folder::with(&[
        ("t.csv", "a,s\n1,x\n1,y\n2,x\n2,y\n"),
        ("new.csv", "a,s\n1,x\n1,y\n2,z\n"),
    ]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi a --sensitive s --recoding r.json");
    folder.fails(
        "apply r.json new.csv -o n.csv --suppress 1rows --suppressed star",
        1,
        &["--suppressed drop"],
    );
    folder.ok("apply r.json new.csv -o n.csv --suppress 1rows --suppressed drop");
    assert_eq!(folder.read("n.csv"), "a,s\n1,x\n1,y\n");
}
