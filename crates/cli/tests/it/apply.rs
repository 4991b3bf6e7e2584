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
    folder.fails(
        "apply none.json patients.csv -o x.csv",
        2,
        &["the recoding `none.json` does not exist"],
    );
    folder.ok(&format!("anonymize patients.csv -o s.csv {PATIENTS_JOB} --recoding s.json"));
    for (k, says) in [("x=5", "there is one k for all sets here"), ("five", "k is a whole number")]
    {
        folder.fails(
            &format!("apply s.json patients.csv -o x.csv -k {k}"),
            2,
            &[says, "write -k 10"],
        );
    }
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

/// Labels of a column in the order of the release.
fn labels_of(release: &str, column: usize) -> Vec<&str> {
    release.lines().skip(1).map(|line| line.split(',').nth(column).unwrap()).collect()
}

#[test]
fn regions_are_those_of_the_recoding() {
    let folder = Folder::with(&[
        ("t.csv", "x\n1\n2\n3\n10\n11\n12\n"),
        ("new.csv", "x\n5\n-3\n4\n9\n"),
        ("above.csv", "x\n70\n10\n11\n"),
    ]);
    for (way, name) in [("", "mondrian"), ("--algorithm koptimize", "koptimize")] {
        folder.ok(&format!(
            "anonymize t.csv -o {name}.csv -k 3 --quasi x --labels region {way} --recoding {name}.json"
        ));
        let release = folder.read(&format!("{name}.csv"));
        assert_eq!(labels_of(&release, 0), ["<10", "<10", "<10", ">=10", ">=10", ">=10"], "{name}");
        folder.ok(&format!("apply {name}.json new.csv -o n-{name}.csv"));
        assert_eq!(labels_of(&folder.read(&format!("n-{name}.csv")), 0), ["<10"; 4], "{name}");
        folder.ok(&format!("apply {name}.json above.csv -o a-{name}.csv"));
        assert_eq!(labels_of(&folder.read(&format!("a-{name}.csv")), 0), [">=10"; 3], "{name}");
        // The public part alone says the same.
        std::fs::remove_file(folder.path(&format!("{name}.private.json"))).unwrap();
        folder.ok(&format!("apply {name}.json above.csv -o p-{name}.csv"));
        assert_eq!(
            folder.read(&format!("p-{name}.csv")),
            folder.read(&format!("a-{name}.csv")),
            "{name}"
        );
    }
}

/// Rows with values of every kind in these columns.
fn mixed(columns: &[&str]) -> String {
    let mut table = columns.join(",") + ",c\n";
    for row in 0..64 {
        for &column in columns {
            let cell = match column {
                "n" => {
                    let sign = if row % 3 == 0 { "-" } else { "" };
                    format!("{sign}{}.{}", row % 7, row % 10)
                }
                "d" => format!("20{:02}-03-{:02}", row % 9, 1 + row % 28),
                "t" => format!("2024-05-{:02}T{:02}:15:00", 1 + row % 30, row % 24),
                "o" => ["5th-6th", "10th", "HS-grad", "PhD"][row % 4].to_owned(),
                "m" if row % 5 == 0 => String::new(),
                "m" => (row % 23).to_string(),
                _ => ["a", "b|c", "*", "[1-2]", "d"][row % 5].to_owned(),
            };
            table.push_str(&cell);
            table.push(',');
        }
        table.push_str(["x\n", "y\n"][row % 2]);
    }
    table
}

#[test]
fn regions_of_every_kind_are_those_of_the_recoding() {
    let order = "[columns]\no = { role = \"quasi\", order = [\"5th-6th\", \"10th\", \"HS-grad\", \"PhD\"] }\n";
    let folder = Folder::with(&[("order.toml", order)]);
    for quasi in ["n", "d", "t", "o", "s", "m", "n,d,o,s", "t,s", "m,n"] {
        for algorithm in ["mondrian", "hill-climb"] {
            let columns: Vec<&str> = quasi.split(',').collect();
            let table = mixed(&columns);
            std::fs::write(folder.path("t.csv"), &table).unwrap();
            let job = if quasi.contains('o') { "--job order.toml" } else { "" };
            folder.ok(&format!(
                "anonymize t.csv -o r.csv -k 4 --quasi {quasi} --insensitive c {job} --algorithm {algorithm} \
                 --labels region --recoding r.json --force"
            ));
            let release = folder.read("r.csv");
            let said = format!("{quasi} {algorithm}: {release}");
            for (limit, to) in [("", "again.csv"), ("--memory-limit 100MB", "limited.csv")] {
                folder.ok(&format!("apply r.json t.csv -o {to} --force {limit}"));
                assert_eq!(release, folder.read(to), "{said}");
            }
            // Half of the rows have labels that all have.
            let half: Vec<&str> = table.lines().take(33).collect();
            std::fs::write(folder.path("half.csv"), half.join("\n") + "\n").unwrap();
            folder.ok("apply r.json half.csv -o half.out.csv --unverified --force");
            let known = classes(&release, columns.len());
            for labels in classes(&folder.read("half.out.csv"), columns.len()).keys() {
                assert!(known.contains_key(labels), "{labels:?} in {said}");
            }
            // Whoever reads the labels finds the rows that they were made of.
            let found = folder.ok(&format!(
                "attack r.csv --with t.csv --on {quasi} --recoding r.json --fail-below 4 --json"
            ));
            assert!(found.stdout.contains("\"none\": 0"), "{said} {}", found.stdout);
        }
    }
}

#[test]
fn another_k_is_verified_and_said() {
    let folder = Folder::with(&[("t.csv", &people(3000, 12)), ("new.csv", &people(3000, 13))]);
    folder.ok(&format!("anonymize t.csv -o r.csv -k 30 {PEOPLE_JOB} --recoding r.json"));
    folder.fails("apply r.json new.csv -o n.csv", 1, &["30-anonymity"]);
    let ended = folder.ok("apply r.json new.csv -o n.csv -k 4 --suppress 2% --report n.json");
    assert!(ended.stderr.contains("found with k = 30, verified with 4"), "{}", ended.stderr);
    let report = folder.json("n.json");
    assert_eq!(report["recoding"]["found_with_k"], 30);
    assert_eq!(report["privacy"][0]["required"]["k"], 4);
    assert!(classes(&folder.read("n.csv"), 4).values().all(|&rows| rows >= 4));
    folder.fails("apply r.json new.csv -o o.csv -k 1", 2, &["k must be at least 2"]);
}

#[test]
fn unknown_values_are_refused_or_left_out() {
    let tree = "fr;Europe;*\nde;Europe;*\njp;Asia;*\ncn;Asia;*\n";
    let table = "c,n\nfr,1\nfr,2\nde,1\nde,5\njp,3\ncn,3\n";
    let new = "c,n\nfr,1\nfr,2\nxx,1\nde,5\nyy,3\ncn,3\njp,3\nde,2\n";
    let folder = Folder::with(&[("t.csv", table), ("tree.csv", tree), ("new.csv", new)]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi c --insensitive n --hierarchy c=tree.csv --recoding r.json");
    let unknown = ["column `c`", "2 values in 2 rows", "data row 3", "--unknown suppress"];
    folder.fails("apply r.json new.csv -o n.csv", 2, &unknown);
    folder.fails("apply r.json new.csv -o n.csv --unknown nothing", 2, &["unknown", "suppress"]);
    let too_many = ["2 of the 8 rows have values that the recoding does not know", "--suppress"];
    folder.fails("apply r.json new.csv -o n.csv --unknown suppress", 1, &too_many);
    for limit in ["", "--memory-limit 100MB"] {
        folder.ok(&format!(
            "apply r.json new.csv -o n.csv --unknown suppress --suppress 2rows --report n.json --force {limit}"
        ));
        assert_eq!(folder.json("n.json")["release"]["suppressed"], 2);
        let release = folder.read("n.csv");
        assert_eq!(release.lines().count(), 7);
        assert!(!release.contains("xx") && !release.contains("yy"), "{release}");
    }
}

#[test]
fn rules_extend_to_new_values() {
    let mut table = "zip,born,age,s\n".to_owned();
    let mut new = table.clone();
    for row in 0..60 {
        let (zip, month, age) = (53_700 + row % 30, 1 + row % 6, 20 + row % 40);
        table.push_str(&format!("{zip},2001-{month:02}-11,{age},x\n"));
        new.push_str(&format!(
            "{},2001-{:02}-2{},{},y\n",
            53_710 + row % 30,
            1 + row % 12,
            row % 8,
            25 + row % 50
        ));
    }
    let job = "[columns]\nzip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
               born = { role = \"quasi\", hierarchy = { dates = [\"month\", \"year\"] } }\n\
               age = { role = \"quasi\", hierarchy = { width = 10.0, levels = [2] } }\n\
               s = { role = \"sensitive\" }\n";
    let folder = Folder::with(&[("t.csv", &table), ("new.csv", &new), ("job.toml", job)]);
    for (way, name) in [("--algorithm optimal", "optimal"), ("--algorithm mondrian", "mondrian")] {
        folder.ok(&format!(
            "anonymize t.csv -o {name}.csv -k 2 --job job.toml {way} --recoding {name}.json"
        ));
        for format in ["csv", "parquet"] {
            let to = format!("n-{name}.{format}");
            folder.ok(&format!("apply {name}.json new.csv -o {to} --suppress 1"));
            let limited = format!("l-{name}.{format}");
            folder.ok(&format!(
                "apply {name}.json new.csv -o {limited} --suppress 1 --memory-limit 100MB"
            ));
            assert_eq!(
                std::fs::read(folder.path(&to)).unwrap(),
                std::fs::read(folder.path(&limited)).unwrap(),
                "{name} {format}"
            );
        }
    }
    // A code that is longer than all before has no place.
    std::fs::write(folder.path("long.csv"), "zip,born,age,s\n537001,2001-01-01,20,x\n").unwrap();
    folder.fails(
        "apply optimal.json long.csv -o x.csv",
        2,
        &["column `zip`", "--unknown suppress"],
    );
}

#[test]
fn columns_that_differ_are_named() {
    let folder = Folder::with(&[
        ("t.csv", "age,s,note\n1,x,a\n1,y,b\n2,x,c\n2,y,d\n"),
        ("missing.csv", "age,note\n1,a\n2,b\n"),
        ("more.csv", "age,s,note,extra\n1,x,a,1\n1,y,b,2\n"),
        ("retyped.csv", "age,s,note\none,x,a\none,y,b\n"),
    ]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi age --sensitive s --insensitive note --recoding r.json");
    folder.fails(
        "apply r.json missing.csv -o n.csv",
        2,
        &["column `s` is not in the input", "add the column"],
    );
    folder.fails(
        "apply r.json more.csv -o n.csv",
        2,
        &["does not know these columns: extra", "--undeclared drop"],
    );
    folder.fails(
        "apply r.json retyped.csv -o n.csv",
        2,
        &["column `age`", "data row 1", "convert the column"],
    );
}
