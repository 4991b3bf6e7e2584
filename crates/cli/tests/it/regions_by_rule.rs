//! Region labels of hierarchies that a rule made, applied to rows with values that the rule places.

use std::collections::BTreeSet;

use crate::harness::{Folder, rows};

/// Codes, dates and amounts of people, with a number for each row.
fn table(rows: &[(u32, String, String, u32)]) -> String {
    let mut table = "zip,born,income,row\n".to_owned();
    for (zip, born, income, row) in rows {
        table.push_str(&format!("{zip},{born},{income},{row}\n"));
    }
    table
}

fn first_rows() -> Vec<(u32, String, String, u32)> {
    let row = |at: u32| {
        let zip = [53_700, 53_900, 80_100, 80_300][(at % 4) as usize] + at * 7 % 20;
        let born = format!("19{}-0{}-1{}", 60 + at * 11 % 35, 1 + at % 9, at % 9);
        (zip, born, (1000 + at * 373 % 8000).to_string(), at)
    };
    (0..120).map(row).collect()
}

const RULES: [(&str, &str); 3] = [
    ("zip", "{ mask = \"right\" }"),
    ("born", "{ dates = [\"month\", \"year\", \"decade\"] }"),
    ("income", "{ width = 500, levels = [2, 5] }"),
];

/// A row whose value no row had changes no label, and is left out where no label says it.
#[test]
fn new_values_change_no_region() {
    let first = first_rows();
    let mut next = first.clone();
    next.push((99_123, first[0].1.clone(), first[0].2.clone(), 500));
    next.push((53_799, "2031-05-05".to_owned(), first[1].2.clone(), 501));
    next.push((80_100, first[2].1.clone(), "9300".to_owned(), 502));
    next.push((80_399, "1964-12-31".to_owned(), "64000".to_owned(), 503));
    let folder = Folder::with(&[("first.csv", &table(&first)), ("next.csv", &table(&next))]);
    for algorithm in ["mondrian", "koptimize", "hill-climb", "single-dimensional"] {
        for (at, (column, rule)) in RULES.iter().enumerate() {
            let job = format!(
                "[columns]\n{column} = {{ role = \"quasi\", hierarchy = {rule} }}\n\
                 row = {{ role = \"insensitive\" }}\n[privacy]\nk = 5\n"
            );
            std::fs::write(folder.path("job.toml"), job).unwrap();
            let way = format!("--algorithm {algorithm} --undeclared drop");
            folder.ok(&format!(
                "anonymize first.csv -o r.csv --job job.toml --labels region --recoding r.json --force {way}"
            ));
            folder.ok(
                "apply r.json next.csv -o n.csv --unknown suppress --suppress 50% -k 2 --undeclared drop --force",
            );
            let (was, is) = (folder.read("r.csv"), folder.read("n.csv"));
            let of = |release: &str| -> BTreeSet<(String, String)> {
                let cells = rows(release).into_iter().skip(1);
                cells.map(|row| (row[0].to_owned(), row[1].to_owned())).collect()
            };
            let (was, is) = (of(&was), of(&is));
            let labels: BTreeSet<&String> = was.iter().map(|(label, _)| label).collect();
            for row in &was {
                assert!(
                    is.contains(row),
                    "{algorithm} {column}: {row:?} of {was:?} is not in {is:?}"
                );
            }
            for (label, row) in &is {
                assert!(labels.contains(label), "{algorithm} {column}: {label} of {row}");
            }
            // Its own value is new in this column.
            let new = ["99123", "2031-05-05", "9300"][at];
            assert!(!is.iter().any(|(label, _)| label.contains(new)), "{algorithm} {column}");
        }
    }
}

/// Values that only suppressed rows have do not become part of labels.
#[test]
fn values_of_left_out_rows_are_in_no_region() {
    let mut a = "age,dept,zip\n".to_owned();
    for i in 1..=6 {
        let dept = if i % 2 == 0 { "onco" } else { "cardio" };
        a.push_str(&format!("20,{dept},1010{i}\n40,{dept},1011{i}\n60,{dept},1012{i}\n"));
    }
    let b = format!("{a}20,secret,10987\n20,secret,99887\n");
    let job = "[columns]\nage = { role = \"quasi\" }\ndept = { role = \"quasi\" }\n\
               zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n[privacy]\nk = 3\n";
    let folder = Folder::with(&[("a.csv", &a), ("b.csv", &b), ("job.toml", job)]);
    for way in ["", "--algorithm koptimize", "--algorithm union"] {
        folder.ok(&format!(
            "anonymize a.csv --job job.toml -o o.csv --labels region --recoding r.json --force {way}"
        ));
        folder.ok("apply r.json b.csv -o n.csv --unknown suppress --suppress 50% -k 3 --force");
        assert_eq!(folder.read("n.csv"), folder.read("o.csv"), "{way}");
    }
}

#[test]
fn a_value_outside_the_hierarchy_is_left_out_of_regions() {
    let folder = Folder::with(&[
        ("a.csv", "p,t\n2,ax\n1,dx\n4,dx\n4,bx\n4,dx\n5,ax\n,\n"),
        ("b.csv", "p,t\n3,dx\n5,zz\n4,ax\n3,dx\n,\n"),
        ("h.csv", "ax;ab;*\nbx;ab;*\ncx;cd;*\ndx;cd;*\n"),
    ]);
    folder.ok(
        "anonymize a.csv -o o.csv -k 3 --quasi p,t --hierarchy t=h.csv --labels region --recoding r.json",
    );
    folder.ok("apply r.json b.csv -o n.csv --suppress 60% -k 2 --unknown suppress --report n.json");
    assert!(!folder.read("n.csv").contains("zz"));
}

#[test]
fn columns_of_another_type_are_refused() {
    let first = "sex,job,score\nM,a,1\nF,a,2\nM,b,3\nF,b,4\nM,a,5\nF,b,6\n";
    let numbers = "sex,job,score\n0,a,1\n1,a,2\n0,b,3\n1,b,4\n0,a,5\n1,b,6\n";
    let texts = "sex,job,score\nM,a,low\nF,a,low\nM,b,high\nF,b,low\nM,a,high\nF,b,low\n";
    let folder = Folder::with(&[("a.csv", first), ("n.csv", numbers), ("t.csv", texts)]);
    folder.ok(
        "anonymize a.csv -o o.csv -k 2 --quasi sex,job --sensitive score --t-closeness score=0.9 --recoding r.json",
    );
    for limit in ["", "--memory-limit 100MB"] {
        let said = ["column `sex` is integer now, and was text when the recoding was made"];
        folder.fails(&format!("apply r.json n.csv -o x.csv {limit}"), 2, &said);
        let said = ["column `score` is text now, and was integer when the recoding was made"];
        folder.fails(&format!("apply r.json t.csv -o x.csv {limit}"), 2, &said);
    }
}
