//! Bad requests and bad tables: a clear error, the right exit code, nothing written, no value said.

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB};

fn patients() -> Folder {
    Folder::with(&[("patients.csv", PATIENTS)])
}

#[test]
fn an_undeclared_column() {
    patients().fails(
        "anonymize patients.csv -o r.csv -k 2 --quasi age,sex",
        2,
        &["these columns have no role: zipcode, disease", "--undeclared drop"],
    );
    patients().ok("anonymize patients.csv -o r.csv -k 2 --quasi age,sex --undeclared drop");
}

#[test]
fn unknown_columns_all_at_once_with_the_nearest() {
    patients().fails(
        "anonymize patients.csv -o r.csv -k 2 --quasi agee,sex --sensitive diseas --undeclared drop",
        2,
        &["column `agee` is not in the input", "did you mean `age`?", "`diseas`", "did you mean `disease`?"],
    );
}

#[test]
fn an_unknown_flag_and_an_unknown_key() {
    let folder = patients();
    folder.fails("anonymize patients.csv --quassi age", 2, &["--quasi"]);
    std::fs::write(folder.path("job.toml"), "[privacy]\nk = 2\nsupress = 0\n[colums]\n").unwrap();
    folder.fails(
        "anonymize --job job.toml",
        2,
        &["unknown key `supress` in [privacy]", "did you mean `suppress`?", "unknown key `colums`"],
    );
    std::fs::write(folder.path("job.toml"), "[privacy\n").unwrap();
    folder.fails("anonymize --job job.toml", 2, &["job.toml", "line 1"]);
}

#[test]
fn k_and_other_parameters() {
    let folder = patients();
    let with = |rest: &str| {
        format!(
            "anonymize patients.csv -o r.csv --quasi age,sex,zipcode --sensitive disease {rest}"
        )
    };
    folder.fails(&with(""), 2, &["the job has no k"]);
    folder.fails(&with("-k 1"), 2, &["k must be at least 2, found 1"]);
    folder.fails(&with("-k 0"), 2, &["k must be at least 2, found 0"]);
    folder.fails(&with("-k x"), 2, &["invalid value"]);
    folder.fails(&with("-k 2 --suppress 150%"), 2, &["suppression limit"]);
    folder.fails(&with("-k 2 --t-closeness 2"), 2, &["t must be between 0 and 1"]);
    folder.fails(&with("-k 2 --l-diversity 3"), 2, &["--l-diversity is not of the form"]);
    folder.fails(
        &with("-k 2 --l-diversity age=distinct:2"),
        2,
        &["`age`, which is not a sensitive column"],
    );
    folder.fails(&with("-k 2 --squared-error 5"), 2, &["squared-error diversity needs numbers"]);
    folder.fails(&with("-k 2 --labels ranges"), 2, &["did you mean `range`?"]);
    folder.fails(&with("-k 2 --algorithm mondrain"), 2, &["did you mean `mondrian`?"]);
    folder.fails(
        &with("-k 2 --insensitive disease"),
        2,
        &["`disease` is declared sensitive and insensitive"],
    );
    folder.fails(&with("-k 2 --report r.txt"), 2, &["a report is a .json or .html file"]);
}

#[test]
fn threads_and_names_that_cannot_be() {
    let folder = Folder::with(&[("t.csv", "a,a_min\n1,a\n1,b\n2,c\n3,d\n")]);
    for threads in [0, 100_000] {
        folder.fails(
            &format!("profile t.csv --threads {threads}"),
            2,
            &["threads must be 1 to 1024"],
        );
    }
    folder.fails(
        "anonymize t.csv -o r.csv -k 2 --quasi a --insensitive a_min --labels bounds",
        2,
        &["two columns named `a_min`"],
    );
}

#[test]
fn no_quasi_identifier() {
    patients().fails(
        "anonymize patients.csv -o r.csv -k 2 --insensitive age,sex,zipcode,disease",
        2,
        &["no quasi-identifier"],
    );
}

#[test]
fn a_target_that_is_sensitive() {
    patients().fails(
        &format!("anonymize patients.csv -o r.csv {PATIENTS_JOB} --target disease"),
        2,
        &["`disease` is sensitive and a target"],
    );
}

#[test]
fn k_larger_than_the_table_is_infeasible() {
    patients().fails(
        "anonymize patients.csv -o r.csv -k 7 --quasi age,sex,zipcode --sensitive disease",
        1,
        &["7-anonymity does not hold even if all 6 rows are one class"],
    );
}

#[test]
fn too_much_diversity_is_infeasible() {
    patients().fails(
        &format!("anonymize patients.csv -o r.csv {PATIENTS_JOB} --l-diversity distinct:7"),
        1,
        &["distinct 7-diversity does not hold"],
    );
}

#[test]
fn small_tables() {
    let folder = Folder::with(&[
        ("empty.csv", "age,sex\n"),
        ("one.csv", "age,sex\n3,f\n"),
        ("equal.csv", "age,sex\n3,f\n3,f\n3,f\n"),
        ("missing.csv", "age,sex\n,f\n,m\n,f\n"),
    ]);
    folder.fails(
        "anonymize empty.csv -o r.csv -k 2 --quasi age,sex",
        1,
        &["the table has no rows"],
    );
    folder.fails("anonymize one.csv -o r.csv -k 2 --quasi age,sex", 1, &["2-anonymity"]);
    folder.ok("anonymize equal.csv -o equal-r.csv -k 2 --quasi age,sex");
    assert_eq!(folder.read("equal-r.csv"), "age,sex\n3,f\n3,f\n3,f\n");
    folder.ok("anonymize missing.csv -o missing-r.csv -k 2 --quasi age,sex");
    assert_eq!(folder.read("missing-r.csv"), "age,sex\n,*\n,*\n,*\n");
}

#[test]
fn tables_that_break_the_rules_of_csv() {
    let files: [(&str, &[u8], &str); 8] = [
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields where the header has 2"),
        ("short.csv", b"a,b\n1\n", "line 2 has 1 field"),
        ("bytes.csv", b"a,b\n1,\xff\n", "line 2"),
        ("twice.csv", b"a,a\n1,2\n", "a"),
        ("noname.csv", b"a,\n1,2\n", "column 2"),
        ("nothing.csv", b"", "header"),
        ("open.csv", b"a,b\n1,\"2\n", "line 2"),
        ("blank.csv", b"a,b\n1,2\n\n3,4\n", "line 3"),
    ];
    for (name, bytes, says) in files {
        let folder = Folder::with(&[]);
        std::fs::write(folder.path(name), bytes).unwrap();
        folder.fails(&format!("anonymize {name} -o r.csv -k 2 --quasi a,b"), 2, &[name, says]);
    }
}

#[test]
fn inputs_that_are_not_there_or_not_tables() {
    let folder =
        Folder::with(&[("t.parquet", "not parquet"), ("t.xlsx", "x"), ("t.csv.gz", "not gzip")]);
    folder.fails("profile nothing.csv", 2, &["`nothing.csv` does not exist"]);
    folder.fails("profile t.csv", 2, &["did you mean `t.csv.gz`?"]);
    folder.fails("profile t.parquet", 2, &["cannot be read as Parquet"]);
    folder.fails("profile t.xlsx", 2, &["no known format"]);
    folder.fails("profile t.csv.gz", 2, &["t.csv.gz"]);
}

#[test]
fn outputs_that_cannot_be() {
    let folder = patients();
    let to = |output: &str| format!("anonymize patients.csv -o {output} {PATIENTS_JOB}");
    folder.fails(&to("nowhere/r.csv"), 2, &["the folder `nowhere` does not exist"]);
    folder.fails(&to("r.xyz"), 2, &["no known format"]);
    folder.fails(&format!("{} --force", to("patients.csv")), 2, &["is the input"]);
    folder.fails(
        &format!("{} --report r.json --recoding r.json", to("r.csv")),
        2,
        &["named twice"],
    );
    assert_eq!(folder.read("patients.csv"), PATIENTS);
}

#[test]
fn hierarchies_that_do_not_fit() {
    let folder = Folder::with(&[
        ("t.csv", "c\nfr\nde\nxx\nxx\n"),
        ("short.csv", "fr;*\nde;*\n"),
        ("unequal.csv", "fr;eu;*\nde;*\n"),
        ("parents.csv", "fr;x;eu;*\nde;x;as;*\nxx;y;as;*\n"),
        ("roots.csv", "fr;a\nde;b\nxx;a\n"),
    ]);
    let with = |file: &str| format!("anonymize t.csv -o r.csv -k 2 --quasi c --hierarchy c={file}");
    folder.fails(
        &with("short.csv"),
        2,
        &["column `c`: 1 values in 2 rows are not in its hierarchy", "data row 3"],
    );
    folder.fails(&with("unequal.csv"), 2, &["row 2 has 2 labels where the first row has 3"]);
    folder.fails(&with("parents.csv"), 2, &["another parent"]);
    folder.fails(&with("roots.csv"), 2, &["one root"]);
    folder.fails(&with("none.csv"), 2, &["the hierarchy `none.csv` does not exist"]);
}

#[test]
fn values_outside_a_declared_order_or_type() {
    let job = "[columns]\nc = { role = \"quasi\", order = [\"low\"] }\nn = { role = \"quasi\", type = \"integer\" }\n[privacy]\nk = 2\n";
    let folder = Folder::with(&[
        ("t.csv", "c,n\nlow,1\nlow,x\n"),
        ("u.csv", "c,n\nlow,1\nhigh,2\n"),
        ("job.toml", job),
    ]);
    folder.fails(
        "anonymize t.csv -o r.csv --job job.toml",
        2,
        &["`n` is declared integer, but 1 rows do not fit", "data row 2"],
    );
    folder.fails(
        "anonymize u.csv -o r.csv --job job.toml",
        2,
        &["`c`: 1 values in 1 rows are not in its declared order"],
    );
}

/// A value planted in every column never shows where it should not.
#[test]
fn no_message_report_or_left_over_file_tells_a_value() {
    let canary = "cAnArY7";
    let mut table = String::from("a,b,c,d\n");
    for row in 0..40 {
        table.push_str(&format!(
            "{canary}{row},{canary}b{},{canary}c{},{canary}d{row}\n",
            row % 3,
            row % 5
        ));
    }
    let ragged = format!("{table}{canary},x\n");
    let folder = Folder::with(&[
        ("t.csv", &table),
        ("ragged.csv", &ragged),
        ("tree.csv", "x;*\ny;*\n"),
        (
            "job.toml",
            "[columns]\na = { role = \"quasi\", type = \"integer\" }\nb = { role = \"quasi\", order = [\"x\"] }\n[privacy]\nk = 2\n",
        ),
        (
            "dates.toml",
            "[columns]\na = { role = \"quasi\", hierarchy = { dates = [\"year\"] } }\n[privacy]\nk = 2\n",
        ),
    ]);
    let job = "--quasi a,b --sensitive c --insensitive d";
    for args in [
        format!("anonymize t.csv -o r.csv -k 41 {job}"),
        format!("anonymize t.csv -o r.csv -k 2 {job} --l-diversity distinct:9"),
        format!("anonymize t.csv -o r.csv -k 2 {job} --squared-error 3"),
        format!("anonymize t.csv -o r.csv -k 2 {job} --hierarchy a=tree.csv"),
        "anonymize t.csv -o r.csv --job job.toml --undeclared drop".to_owned(),
        "anonymize t.csv -o r.csv --job dates.toml --undeclared drop".to_owned(),
        format!("anonymize ragged.csv -o r.csv -k 2 {job}"),
        format!("check t.csv -k 3 {job}"),
        "hierarchy check tree.csv --input t.csv --column a".to_owned(),
        "hierarchy make t.csv --column a --width 5".to_owned(),
    ] {
        let ended = folder.run(&args);
        assert!(ended.code == 1 || ended.code == 2, "incrowd {args}: {}", ended.stderr);
        assert!(!ended.stderr.contains(canary), "incrowd {args} said {}", ended.stderr);
        assert!(!ended.stdout.contains(canary), "incrowd {args} printed {}", ended.stdout);
    }
    folder.ok(&format!("anonymize t.csv -o r.csv -k 2 {job} --report r.json"));
    assert!(!folder.read("r.json").contains(canary));
    assert_eq!(folder.files().iter().filter(|name| name.starts_with('.')).count(), 0);
}

/// A row of nobody would count as one more person.
#[test]
fn a_row_of_nobody_is_not_a_person() {
    let folder =
        Folder::with(&[("t.csv", "q,pid\na,1\na,2\na,\n"), ("known.csv", "q,pid\na,1\na,2\n")]);
    let job = "-k 2 --quasi q --identifier pid --entity pid";
    let says = ["column `pid` is missing in 1 row", "data row 3", "leave these rows out"];
    for options in ["", "--memory-limit 64MB", "--force-files 2"] {
        folder.fails(&format!("anonymize t.csv -o r.csv {job} {options}"), 2, &says);
        folder.fails(
            &format!("check t.csv {job} {options}").replace("--force-files 2", ""),
            2,
            &says,
        );
    }
    folder.ok(&format!("anonymize known.csv -o r.csv {job} --recoding r.json"));
    folder.fails("apply r.json t.csv -o s.csv", 2, &says);
    assert_eq!(folder.files(), ["known.csv", "r.csv", "r.json", "r.private.json", "t.csv"]);
}

/// Rows without a number give themselves away by nothing: no cell of the first one is printed.
#[test]
fn a_first_row_of_words_is_not_printed() {
    for (text, cells) in [
        ("Anna Smith,HIV,Berlin\nBob Miller,flu,Paris\n", ["Anna", "HIV", "Berlin"]),
        ("K12345,Anna,B-12\nK12346,Bob,B-13\n", ["K12345", "Anna", "B-12"]),
    ] {
        let folder = Folder::with(&[("n.csv", text)]);
        for args in [
            "anonymize n.csv -o o.csv -k 2 --quasi age",
            "anonymize n.csv -o o.csv -k 2",
            "check n.csv -k 2 --quasi age",
            "profile n.csv",
        ] {
            let ended = folder.run(args);
            assert_eq!(ended.code, 2, "{args}: {}", ended.stderr);
            for cell in cells {
                let said = format!("{}{}", ended.stdout, ended.stderr);
                assert!(!said.contains(cell), "{args}: {said}");
            }
        }
    }
}
