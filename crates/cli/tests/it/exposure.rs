//! What classes do not tell: rows that are unique on columns released as they are, and people with
//! several rows.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Folder;

/// The cells of a CSV text, header first; quotes are understood, line ends in cells are not.
fn cells(text: &str) -> Vec<Vec<String>> {
    let line = |line: &str| {
        let mut cells = vec![String::new()];
        let mut is_quoted = false;
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '"' if is_quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    cells.last_mut().unwrap().push('"');
                }
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                char => cells.last_mut().unwrap().push(char),
            }
        }
        cells
    };
    text.lines().map(line).collect()
}

/// Rows that no other row equals on these columns, by comparing each with all others.
fn unique_on(table: &[Vec<String>], is_wanted: impl Fn(&str) -> bool) -> u64 {
    let at: Vec<usize> = (0..table[0].len()).filter(|&at| is_wanted(&table[0][at])).collect();
    let key = |row: &Vec<String>| at.iter().map(|&at| row[at].clone()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table[1..].iter().map(key).collect();
    let is_unique = |row: &Vec<String>| rows.iter().filter(|other| *other == row).count() == 1;
    rows.iter().filter(|row| is_unique(row)).count() as u64
}

/// The figures of a report: rows, unique alone, unique with the labels.
fn figures(report: &Value) -> [u64; 3] {
    let found = &report["as_they_are"];
    ["rows", "unique", "unique_with_quasi"].map(|key| found[key].as_u64().unwrap())
}

/// The same worked out from the table.
fn expected(text: &str, as_they_are: &[&str]) -> [u64; 3] {
    let table = cells(text);
    let alone = unique_on(&table, |name| as_they_are.contains(&name));
    [table.len() as u64 - 1, alone, unique_on(&table, |_| true)]
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// Rows with missing cells, quotes, commas, and texts that would be equal if cells ran together.
fn table(n_rows: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let texts = ["a", "ab", "b", "", "\"a,b\"", "\"a\"\"b\"", "abb", "7", "7.0", "  a"];
    let row = |_| {
        let (age, sex) = (20 + random.below(30), ["f", "m"][random.below(2)]);
        let [x, y] = [(); 2].map(|()| texts[random.below(texts.len())]);
        let cost = ["", "1", "1.0", "2"][random.below(4)];
        format!("{age},{sex},{x},{y},{cost}\n")
    };
    (0..n_rows).map(row).collect()
}

const HEADER: &str = "age,sex,x,y,cost\n";
const JOB: &str = "-k 3 --quasi age,sex --sensitive x --insensitive y,cost";

fn report(folder: &Folder, name: &str) -> Value {
    folder.json(name)
}

#[test]
fn unique_rows_are_those_that_no_other_row_equals() {
    for seed in 0..6 {
        let rows = table(30 + 10 * usize::try_from(seed).unwrap(), seed);
        let folder = Folder::with(&[("t.csv", &(HEADER.to_owned() + &rows.concat()))]);
        let ways = [
            "",
            "--labels bounds",
            "--labels mean",
            "--algorithm mondrian --relaxed",
            "--threads 1",
            "--force-files 1",
            "--force-files 4 --labels bounds",
            "--memory-limit 64MB",
        ];
        for way in ways {
            folder.ok(&format!("anonymize t.csv -o r.csv {JOB} {way} --report r.json --force"));
            let found = figures(&report(&folder, "r.json"));
            let wanted = expected(&folder.read("r.csv"), &["x", "y", "cost"]);
            assert_eq!(found, wanted, "seed {seed} {way}");
        }
        let checks = ["", "--force-files 1", "--threads 1", "--memory-limit 64MB"];
        for way in checks {
            let asks = "--quasi age,sex --sensitive x --target cost --insensitive y";
            let ended = folder.ok(&format!("check t.csv {asks} {way} --json"));
            let found = figures(&serde_json::from_str(&ended.stdout).unwrap());
            let wanted = expected(&folder.read("t.csv"), &["x", "y", "cost"]);
            assert_eq!(found, wanted, "seed {seed} {way}");
        }
        // What has no role is in a table that is checked.
        let ended = folder.ok("check t.csv --quasi age --insensitive cost --json");
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let wanted = expected(&folder.read("t.csv"), &["sex", "x", "y", "cost"]);
        assert_eq!(figures(&report), wanted, "seed {seed}");
        let told = &report["as_they_are"];
        assert_eq!(told["columns"], serde_json::json!(["sex", "x", "y", "cost"]));
        assert_eq!(told["undeclared"], serde_json::json!(["sex", "x", "y"]));
        // Unless the job drops it.
        let drops = "check t.csv --quasi age --insensitive cost --undeclared drop --json";
        let ended = folder.ok(drops);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        let table = cells(&folder.read("t.csv"));
        let alone = unique_on(&table, |name| name == "cost");
        let with_quasi = unique_on(&table, |name| ["age", "cost"].contains(&name));
        assert_eq!(figures(&report)[1..], [alone, with_quasi], "seed {seed}");
        assert_eq!(report["as_they_are"]["columns"], serde_json::json!(["cost"]));
        assert_eq!(report["as_they_are"].get("undeclared"), None);
    }
}

#[test]
fn starred_rows_count_and_dropped_ones_do_not() {
    let rows = table(40, 9);
    let folder = Folder::with(&[("t.csv", &(HEADER.to_owned() + &rows.concat()))]);
    std::fs::write(folder.path("age.csv"), hierarchy()).unwrap();
    std::fs::write(folder.path("sex.csv"), "f;*\nm;*\n").unwrap();
    let job = "-k 4 --quasi age,sex --sensitive x --insensitive y,cost --algorithm optimal \
               --hierarchy age=age.csv --hierarchy sex=sex.csv --suppress 50%";
    for way in ["", "--force-files 1"] {
        for suppressed in ["star", "drop"] {
            let how = format!("--suppressed {suppressed} {way}");
            folder.ok(&format!("anonymize t.csv -o r.csv {job} {how} --report r.json --force"));
            let report = report(&folder, "r.json");
            assert!(report["release"]["suppressed"].as_u64().unwrap() > 0, "{report}");
            let wanted = expected(&folder.read("r.csv"), &["x", "y", "cost"]);
            assert_eq!(figures(&report), wanted, "{how}");
        }
    }
}

fn hierarchy() -> String {
    let leaf = |age: usize| format!("{age};{}-{};*\n", age / 5 * 5, age / 5 * 5 + 4);
    (20..50).map(leaf).collect()
}

#[test]
fn formats_order_and_sets_do_not_matter() {
    // In Parquet numbers are numbers: `1` and `1.0` would be one there, and two in a text file.
    let spelt = |row: &String| row.replace(",1.0\n", ",3\n");
    let rows: Vec<String> = table(80, 4).iter().map(spelt).collect();
    let mut shuffled = rows.clone();
    shuffled.reverse();
    shuffled.rotate_left(17);
    let files = [("t.csv", rows.concat()), ("s.csv", shuffled.concat())]
        .map(|(name, rows)| (name, HEADER.to_owned() + &rows));
    let folder = Folder::with(&[(files[0].0, &files[0].1), (files[1].0, &files[1].1)]);
    let told = |input: &str, output: &str, job: &str| {
        folder.ok(&format!("anonymize {input} -o {output} {job} --report r.json --force"));
        report(&folder, "r.json")["as_they_are"].clone()
    };
    let first = told("t.csv", "r.csv", JOB);
    assert_eq!(told("s.csv", "s.out.csv", JOB), first);
    assert_eq!(told("t.csv", "r.parquet", JOB), first);
    assert_eq!(told("t.csv", "r.arrow", JOB), first);
    assert_eq!(told("t.csv", "parts/", &format!("{JOB} --part-rows 20")), first);
    let check = "--quasi age,sex --sensitive x --insensitive y,cost --json";
    for (file, way) in
        [("r.csv", ""), ("r.parquet", ""), ("r.parquet", "--force-files 1"), ("r.arrow", "")]
    {
        let ended = folder.ok(&format!("check {file} {check} {way}"));
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report["as_they_are"], first, "{file} {way}");
    }
    // Parquet read as the input: numbers are numbers there.
    let columns = "--quasi age,sex --sensitive x --insensitive y,cost -k 3";
    folder.ok(&format!("anonymize t.csv -o in.parquet {columns} --labels bounds --force"));
    let roles = "--quasi sex --sensitive x --insensitive y,cost --undeclared drop";
    let ended = folder.ok(&format!("check in.parquet {roles} --json"));
    let of_parquet: Value = serde_json::from_str(&ended.stdout).unwrap();
    folder.ok(&format!("anonymize t.csv -o in.csv {columns} --labels bounds --force"));
    let table = cells(&folder.read("in.csv"));
    let alone = unique_on(&table, |name| ["x", "y", "cost"].contains(&name));
    assert_eq!(of_parquet["as_they_are"]["unique"].as_u64(), Some(alone));
    // All labels count, whatever set they belong to.
    let sets = "-k 2 --quasi a=age --quasi b=sex --sensitive x --insensitive y,cost";
    for way in ["--algorithm butterfly", "--algorithm union", "--algorithm union --force-files 1"] {
        let found = told("t.csv", "sets.csv", &format!("{sets} {way}"));
        let wanted = expected(&folder.read("sets.csv"), &["x", "y", "cost"]);
        assert_eq!(figures(&serde_json::json!({ "as_they_are": found })), wanted, "{way}");
    }
}

#[test]
fn a_recoding_that_is_applied_is_measured_too() {
    let (old, new) = (table(60, 1), table(50, 2));
    let folder = Folder::with(&[
        ("old.csv", &(HEADER.to_owned() + &old.concat())),
        ("new.csv", &(HEADER.to_owned() + &new.concat())),
    ]);
    folder.ok(&format!("anonymize old.csv -o r.csv {JOB} --recoding rec.json"));
    for way in ["", "--force-files 1"] {
        let how = format!("--unverified --report r.json --force {way}");
        folder.ok(&format!("apply rec.json new.csv -o n.csv {how}"));
        let wanted = expected(&folder.read("n.csv"), &["x", "y", "cost"]);
        assert_eq!(figures(&report(&folder, "r.json")), wanted, "{way}");
    }
}

/// A table whose first `n_unique` of 100 rows have a cost of their own.
fn costs(n_unique: usize) -> String {
    let row = |row: usize| {
        let cost = if row < n_unique { 1000 + row } else { 7 };
        format!("{},{cost}\n", 20 + row % 5)
    };
    "age,cost\n".to_owned() + &(0..100).map(row).collect::<String>()
}

const WARNS: &str = "of the rows are unique on the columns released as they are (cost)";

#[test]
fn a_large_share_draws_a_warning() {
    // A table, k, and whether it is warned of: from 5% and from k rows on.
    for (n_unique, k, is_warned) in [(0, 2, false), (4, 2, false), (5, 5, true), (9, 10, false)] {
        let folder = Folder::with(&[("t.csv", &costs(n_unique))]);
        let job = format!("-k {k} --quasi age --insensitive cost");
        let page = "--audience public --report p.html --force";
        let made = folder.ok(&format!("anonymize t.csv -o r.csv {job} {page}"));
        let checked = folder.ok(&format!("check t.csv {job} --report c.html --force"));
        let public = folder.read("p.html").split_whitespace().collect::<Vec<_>>().join(" ");
        let internal = folder.read("c.html").split_whitespace().collect::<Vec<_>>().join(" ");
        for text in [&made.stderr, &checked.stderr, &public, &internal] {
            assert_eq!(text.contains(WARNS), is_warned, "{n_unique} rows, k = {k}\n{text}");
        }
        let sentence = format!("f 100 rows, {n_unique}");
        assert!(made.stderr.contains(&sentence), "{}", made.stderr);
        for text in [&checked.stdout, &public, &internal] {
            assert!(text.contains(&sentence), "{text}");
        }
        let quiet = folder.ok(&format!("check t.csv {job} --quiet"));
        assert_eq!(quiet.stderr, "");
        folder.ok(&format!("anonymize t.csv -o r.csv {job} --report r.json --force --quiet"));
        let told = report(&folder, "r.json");
        assert_eq!(told["warnings"].as_array().is_some_and(|all| !all.is_empty()), is_warned);
    }
    // A table whose columns nobody declares is as open.
    let folder = Folder::with(&[("t.csv", &costs(50))]);
    let ended = folder.ok("check t.csv --quasi age --report c.html");
    assert!(ended.stderr.contains(WARNS), "{}", ended.stderr);
    for text in [&ended.stdout, &folder.read("c.html")] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("1 of these columns has no role: cost"), "{text}");
    }
    // Without a column that is released as it is there is nothing to say.
    let folder = Folder::with(&[("t.csv", &costs(50))]);
    let ended = folder.ok("check t.csv --quasi age,cost --json");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report.get("as_they_are"), None);
    // A check that fails warns as well.
    let ended =
        folder.run("check t.csv -k 90 --quasi age --insensitive cost --fail-above marketer=0");
    assert_eq!(ended.code, 1);
    let folder = Folder::with(&[("t.csv", &costs(100))]);
    let ended = folder.run("check t.csv -k 50 --quasi age --insensitive cost");
    assert!(ended.code == 1 && ended.stderr.contains(WARNS), "{}", ended.stderr);
}

/// People with `rows_each` rows, under a name for the column that numbers them.
fn visits(name: &str, n_people: usize, rows_each: usize) -> String {
    let row = |row: usize| {
        let person = row / rows_each;
        format!("P{:05},{},{}\n", 10_000 + person * 7, 20 + person % 4, row % 3)
    };
    format!("{name},age,cost\n") + &(0..n_people * rows_each).map(row).collect::<String>()
}

#[track_caller]
fn check_repeats(table: &str, roles: &str, wanted: Option<(&str, f64)>) {
    let folder = Folder::with(&[("t.csv", table)]);
    let says = "seems to number people";
    for way in ["", "--threads 1", "--force-files 1"] {
        let quasi = if roles.contains("--quasi") { "" } else { "--quasi age" };
        let job = format!("-k 2 {quasi} --insensitive cost {roles} {way}");
        let made = folder.ok(&format!("anonymize t.csv -o r.csv {job} --report r.json --force"));
        let checked = folder.ok(&format!("check t.csv {job} --report c.html --json --force"));
        let page = folder.read("c.html");
        for text in [&made.stderr, &checked.stderr, &page] {
            assert_eq!(text.contains(says), wanted.is_some(), "{roles} {way}\n{text}");
        }
        let reports = [folder.json("r.json"), serde_json::from_str(&checked.stdout).unwrap()];
        for report in reports {
            match wanted {
                None => assert_eq!(report.get("repeats"), None, "{roles} {way}"),
                Some((column, rows)) => {
                    assert_eq!(report["repeats"]["column"], column, "{roles} {way}");
                    assert_eq!(report["repeats"]["rows_per_value"], rows, "{roles} {way}");
                }
            }
        }
        assert!(!made.stderr.contains("P10007"), "a cell in a message");
    }
}

#[test]
fn rows_that_repeat_per_person_draw_a_warning() {
    let id = "--identifier patient_id";
    check_repeats(&visits("patient_id", 40, 3), id, Some(("patient_id", 3.0)));
    // By its values, whatever it is called.
    check_repeats(&visits("xyz", 400, 2), "--identifier xyz", Some(("xyz", 2.0)));
    // Dropped, or released as it is.
    let patients = visits("patient_id", 40, 3);
    check_repeats(&patients, "--undeclared drop", Some(("patient_id", 3.0)));
    check_repeats(&patients, "--insensitive patient_id", Some(("patient_id", 3.0)));
    check_repeats(&patients, "--sensitive patient_id", Some(("patient_id", 3.0)));
    // Recoded: the values of the table tell, not the labels of the release.
    check_repeats(&patients, "--quasi age,patient_id", Some(("patient_id", 3.0)));
    // By its values, whatever its role.
    let unsaid = visits("xyz", 400, 2);
    for roles in ["--insensitive xyz", "--sensitive xyz", "--quasi age,xyz"] {
        check_repeats(&unsaid, roles, Some(("xyz", 2.0)));
    }
    // An entity is declared, or nobody has a second row.
    check_repeats(&patients, "--entity patient_id", None);
    check_repeats(&visits("patient_id", 120, 1), id, None);
    // A column that is not called a number and has few values.
    check_repeats(&visits("ward", 6, 20), "--identifier ward", None);
}

#[test]
fn more_people_than_are_counted_are_told_by_a_sample() {
    let table = visits("patient_id", 90_000, 2);
    let once = visits("patient_id", 90_000, 1);
    let folder = Folder::with(&[("t.csv", &table), ("once.csv", &once)]);
    for way in ["", "--threads 1", "--memory-limit 64MB"] {
        let ended = folder.ok(&format!("check t.csv --quasi age {way} --json"));
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report["repeats"]["rows_per_value"], 2.0, "{way}");
        let ended = folder.ok(&format!("check once.csv --quasi age {way} --json"));
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report.get("repeats"), None, "{way}");
    }
}

/// The public page says the same of tables that differ in what is not released.
#[test]
fn the_public_page_does_not_tell_of_people_in_columns_that_are_not_released() {
    let mut pages = BTreeMap::new();
    for (name, rows_each) in [("often", 4), ("once", 1)] {
        let row = |row: usize| format!("{},{},{}\n", row / rows_each, 20 + row % 4, row % 3);
        let rows: String = (0..40).map(row).collect();
        let folder = Folder::with(&[("t.csv", &format!("patient_id,age,cost\n{rows}"))]);
        let job = "-k 2 --quasi age --insensitive cost --identifier patient_id";
        let how = "--audience public --report p.html";
        let ended = folder.ok(&format!("anonymize t.csv -o r.csv {job} {how}"));
        assert_eq!(ended.stderr.contains("seems to number people"), rows_each > 1);
        let page = folder.read("p.html");
        assert!(page.contains("k counts records"), "{page}");
        pages.insert(name, (folder.read("r.csv"), page));
    }
    assert_eq!(pages["often"], pages["once"]);
}
