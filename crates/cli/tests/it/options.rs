//! Nothing that is asked for is ignored: what an algorithm, a role or a command cannot honour is
//! refused.

use crate::harness::{Folder, people};

const ALGORITHMS: [&str; 13] = [
    "mondrian",
    "mondrian --relaxed",
    "optimal",
    "incognito",
    "samarati",
    "bottom-up",
    "datafly",
    "single-dimensional",
    "hill-climb",
    "koptimize",
    "tds",
    "butterfly",
    "union",
];

const FULL_DOMAIN: &[&str] = &["optimal", "incognito", "samarati", "bottom-up", "datafly"];
const SUPPRESSING: &[&str] =
    &["optimal", "incognito", "samarati", "bottom-up", "datafly", "hill-climb", "koptimize"];

/// Options, what follows them, and the algorithms that honour them.
const OPTIONS: [(&str, &str, &[&str]); 9] = [
    ("--suppress", "5%", SUPPRESSING),
    ("--suppress", "3rows", SUPPRESSING),
    ("--suppress", "0.01", SUPPRESSING),
    ("--suppressed star", "", SUPPRESSING),
    ("--node-limit", "50", &["koptimize"]),
    ("--resume", "kept.json", &["koptimize"]),
    ("--start", "cuts.json", &["koptimize"]),
    ("--levels", "sex=0..1", FULL_DOMAIN),
    ("--weights", "sex=2", FULL_DOMAIN),
];

fn folder() -> Folder {
    let folder = Folder::with(&[
        ("t.csv", &people(60, 5)),
        ("sex.csv", "f;*\nm;*\n"),
        ("status.csv", "single;*\nmarried;*\nwidowed;*\n"),
    ]);
    folder
        .ok(&format!("anonymize t.csv -o c.csv {JOB} --algorithm koptimize --recoding cuts.json"));
    folder
}

const JOB: &str = "-k 3 --quasi sex,status --sensitive diagnosis --insensitive note,age \
                   --target city --hierarchy sex=sex.csv --hierarchy status=status.csv --quiet --force";

#[test]
fn every_algorithm_honours_an_option_or_refuses_it() {
    let folder = folder();
    for algorithm in ALGORITHMS {
        let job = format!("anonymize t.csv -o r.csv {JOB} --algorithm {algorithm}");
        folder.ok(&format!("{job} --suppress 0 --suppressed drop"));
        for (option, value, honoured_by) in OPTIONS {
            let ended = folder.run(&format!("{job} {option} {value}"));
            let name = algorithm.split(' ').next().unwrap();
            let says = format!("`{name}` cannot honour {option}");
            if honoured_by.contains(&name) {
                assert_eq!(ended.code, 0, "{algorithm} {option} {value}: {}", ended.stderr);
            } else {
                assert_eq!(ended.code, 2, "{algorithm} {option} {value}: {}", ended.stderr);
                assert!(ended.stderr.contains(&says), "{}", ended.stderr);
                for name in honoured_by {
                    assert!(ended.stderr.contains(name), "{name}: {}", ended.stderr);
                }
            }
            let _ = std::fs::remove_file(folder.path("kept.json"));
        }
    }
}

/// Keys of a column, by role.
#[test]
fn every_role_honours_a_key_or_refuses_it() {
    let folder = folder();
    let roles = ["identifier", "quasi", "sensitive", "insensitive"];
    let keys = [
        ("hierarchy = \"sex.csv\"", "a hierarchy", &["quasi"][..]),
        ("order = [\"f\", \"m\"]", "an order", &["quasi", "sensitive"]),
        ("type = \"text\"", "a type", &["quasi", "sensitive", "insensitive"]),
    ];
    for role in roles {
        for (key, what, honoured_by) in keys {
            let job = format!(
                "undeclared = \"drop\"\n[columns]\nage = {{ role = \"quasi\" }}\n\
                 sex = {{ role = \"{role}\", {key} }}\n[privacy]\nk = 3\n"
            );
            std::fs::write(folder.path("job.toml"), job).unwrap();
            let ended = folder.run("anonymize t.csv -o r.csv --job job.toml --quiet --force");
            let is_honoured = honoured_by.contains(&role);
            let context = format!("{role} {key}: {}", ended.stderr);
            assert_eq!(ended.code, if is_honoured { 0 } else { 2 }, "{context}");
            let says = format!("column `sex` has {what}, but is not ");
            assert_eq!(ended.stderr.contains(&says), !is_honoured, "{context}");
        }
    }
}

#[test]
fn nothing_is_named_twice() {
    let folder = folder();
    let before = "anonymize t.csv -o r.csv -k 3 --undeclared drop";
    for (flags, says) in [
        ("--quasi age,sex,age", "--quasi names column `age` twice"),
        ("--quasi a=age,sex,age --quasi b=city", "names `age` twice"),
        ("--quasi age --sensitive city,city", "--sensitive names column `city` twice"),
        ("--quasi age --insensitive city,city", "--insensitive names column `city` twice"),
        ("--quasi age --identifier city,city", "--identifier names column `city` twice"),
        ("--quasi age --target city,city", "--target names column `city` twice"),
        (
            "--quasi sex --hierarchy sex=sex.csv --hierarchy sex=status.csv",
            "--hierarchy names column `sex` twice",
        ),
    ] {
        folder.fails(&format!("{before} {flags}"), 2, &[says]);
    }
    folder.fails("hierarchy make --order a,b,a --fan-out 2", 2, &["--order has value 3 twice"]);
    let order = "undeclared = \"drop\"\n[columns]\nage = { role = \"quasi\" }\n\
                 sex = { role = \"sensitive\", order = [\"f\", \"m\", \"f\"] }\n[privacy]\nk = 3\n";
    std::fs::write(folder.path("job.toml"), order).unwrap();
    folder.fails(
        "anonymize t.csv -o r.csv --job job.toml",
        2,
        &["the order of column `sex` has value 3 twice"],
    );
}

/// Beside algorithms that leave rows out the others release every row; alone they refuse the limit.
#[test]
fn a_comparison_leaves_the_limit_to_those_that_honour_it() {
    let folder = folder();
    let job = JOB.replace(" --force", "").replace("-k 3", "-k 4 --suppress 10%");
    folder.ok(&format!("compare t.csv {job} --algorithms mondrian,optimal,koptimize"));
    folder.fails(
        &format!("compare t.csv {job} --algorithms mondrian,mondrian-relaxed"),
        2,
        &["`mondrian` cannot honour --suppress"],
    );
}

#[test]
fn a_form_and_a_variant_that_differ_are_refused() {
    let folder = folder();
    let job = format!("anonymize t.csv -o r.csv {JOB}");
    folder.ok(&format!("{job} --relaxed --variant relaxed"));
    let says = ["the variant `strict` differ", "drop --relaxed or --variant"];
    folder.fails(&format!("{job} --relaxed --variant strict"), 2, &says);
}
