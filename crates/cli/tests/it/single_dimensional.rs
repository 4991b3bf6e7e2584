//! Single-dimensional recoding from the command line: intervals of every column.

use std::collections::BTreeMap;

use crate::harness::{Folder, PEOPLE_JOB, classes, people, rows};

#[test]
fn every_value_has_one_label() {
    let folder = Folder::with(&[("people.csv", &people(400, 3))]);
    for (algorithm, suppress) in
        [("single-dimensional", "0"), ("hill-climb", "0"), ("hill-climb", "5%")]
    {
        folder.ok(&format!(
            "anonymize people.csv -o r.csv --force -k 4 {PEOPLE_JOB} --algorithm {algorithm} --suppress {suppress} \
             --report r.json --recoding map.json --measure discernibility"
        ));
        let report = folder.json("r.json");
        assert_eq!(report["recoding"]["kind"], "single-dimensional");
        assert_eq!(report["search"]["algorithm"], algorithm);
        assert_eq!(report["search"]["optimal"], false);
        assert_eq!(report["search"]["cost"], report["measures"]["discernibility"]);
        let release = folder.read("r.csv");
        assert!(classes(&release, 4).values().all(|rows| *rows >= 4));
        // Rows are told apart by their note.
        let original = folder.read("people.csv");
        let before: BTreeMap<&str, Vec<&str>> =
            rows(&original).into_iter().map(|row| (row[5], row)).collect();
        let mut label_of: BTreeMap<(usize, &str), &str> = BTreeMap::new();
        for row in rows(&release) {
            for column in 0..4 {
                let value = before[row[5]][column];
                assert_eq!(*label_of.entry((column, value)).or_insert(row[column]), row[column]);
            }
        }
        folder.ok("apply map.json people.csv -o again.csv --force");
        assert_eq!(release, folder.read("again.csv"), "{algorithm} {suppress}");
    }
    std::fs::write(folder.path("new.csv"), people(900, 4)).unwrap();
    folder.ok("apply map.json new.csv -o new.out.csv --suppress 20%");
    assert!(classes(&folder.read("new.out.csv"), 4).values().all(|rows| *rows >= 4));
}

#[test]
fn starred_rows_are_a_class_too() {
    let folder = Folder::with(&[("people.csv", &people(300, 5))]);
    for suppress in ["1%", "5%", "30%"] {
        folder.ok(&format!(
            "anonymize people.csv -o r.csv --force -k 5 {PEOPLE_JOB} --algorithm hill-climb --suppress {suppress} \
             --suppressed star"
        ));
        let release = folder.read("r.csv");
        assert_eq!(rows(&release).len(), 300);
        assert!(classes(&release, 4).values().all(|rows| *rows >= 5), "{suppress}");
    }
}

#[test]
fn a_hierarchy_is_respected() {
    let folder = Folder::with(&[
        ("t.csv", "town,s\nRome,1\nRome,2\nPisa,3\nLyon,4\nNice,5\nNice,6\n"),
        ("h.csv", "Rome;IT;*\nPisa;IT;*\nLyon;FR;*\nNice;FR;*\n"),
    ]);
    folder.ok(
        "anonymize t.csv -o r.csv -k 2 --quasi town --insensitive s --hierarchy town=h.csv --algorithm hill-climb",
    );
    let towns: Vec<String> =
        rows(&folder.read("r.csv")).iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(towns, ["FR", "FR", "FR", "IT", "IT", "IT"]);
}

#[test]
fn what_it_cannot_do_is_said() {
    let folder = Folder::with(&[("people.csv", &people(50, 3))]);
    let job = format!("anonymize people.csv -o r.csv -k 3 {PEOPLE_JOB} --algorithm hill-climb");
    folder.fails(
        &format!("{job} --measure height"),
        2,
        &["discernibility, classification or loss"],
    );
    folder.fails(&format!("{job} --measure classification"), 2, &["needs a target"]);
    folder.fails(&format!("{job} --relaxed"), 2, &["only mondrian"]);
    folder.fails(&format!("{job} --levels age=1"), 2, &["cannot honour --levels"]);
    folder.fails(&job.replace("-k 3", "-k 60"), 1, &["60-anonymity"]);
}

const OPTIMAL: &str = "--algorithm koptimize --measure discernibility --report r.json --force";

#[test]
fn the_optimum_is_proved_and_no_other_search_is_below() {
    let folder = Folder::with(&[("people.csv", &people(400, 3))]);
    for suppress in ["0", "5%"] {
        let job = format!("anonymize people.csv -o r.csv -k 4 {PEOPLE_JOB} --suppress {suppress}");
        folder.ok(&format!("{job} {OPTIMAL} --recoding best.json"));
        let report = folder.json("r.json");
        let search = &report["search"];
        assert_eq!((&search["algorithm"], &search["optimal"]), (&"koptimize".into(), &true.into()));
        assert_eq!(search["cost"], search["lower_bound"]);
        assert_eq!(search["cost"], report["measures"]["discernibility"]);
        let release = folder.read("r.csv");
        assert!(classes(&release, 4).values().all(|rows| *rows >= 4));
        folder.ok("apply best.json people.csv -o again.csv --force");
        assert_eq!(release, folder.read("again.csv"));
        let other = OPTIMAL.replace("koptimize", "hill-climb");
        folder.ok(&format!("{job} {other} --recoding climbed.json"));
        let climbed = folder.json("r.json")["search"]["cost"].as_f64().unwrap();
        assert!(climbed >= search["cost"].as_f64().unwrap());
        // From another search's cuts, on one thread, from another seed: the same bytes.
        folder.ok(&format!("{job} {OPTIMAL} --start climbed.json --threads 1 --seed 9"));
        assert_eq!(release, folder.read("r.csv"));
    }
}

#[test]
fn a_node_limit_ends_every_run_at_the_same_node() {
    let folder = Folder::with(&[("people.csv", &people(1000, 8))]);
    let job = format!("anonymize people.csv -o r.csv -k 3 {PEOPLE_JOB} --suppress 3% {OPTIMAL}");
    for limit in [7, 40, 150] {
        let found = |threads: usize| {
            folder.ok(&format!("{job} --node-limit {limit} --threads {threads}"));
            (folder.read("r.csv"), folder.json("r.json")["search"]["lower_bound"].clone())
        };
        let first = found(1);
        assert!([2, 3, 2].into_iter().all(|threads| found(threads) == first), "{limit} nodes");
    }
}

#[test]
fn a_search_that_ends_early_goes_on_where_it_stood() {
    let folder = Folder::with(&[("people.csv", &people(1000, 8))]);
    let job = format!("anonymize people.csv -o r.csv -k 3 {PEOPLE_JOB} --suppress 3% {OPTIMAL}");
    folder.ok(&job);
    let (release, whole) = (folder.read("r.csv"), folder.json("r.json"));
    let early = folder.run(&format!("{job} --resume s.json --node-limit 32"));
    assert!(early.stderr.contains("the node limit ended the search"), "{}", early.stderr);
    let report = folder.json("r.json");
    let search = &report["search"];
    assert_eq!(search["optimal"], false);
    let optimum = whole["search"]["cost"].as_f64().unwrap();
    assert!(search["lower_bound"].as_f64().unwrap() <= optimum);
    assert!(search["cost"].as_f64().unwrap() >= optimum);
    assert!(classes(&folder.read("r.csv"), 4).values().all(|rows| *rows >= 3));
    let other = job.replace("-k 3", "-k 4");
    folder.fails(&format!("{other} --resume s.json"), 2, &["another table or for another job"]);
    folder.ok(&format!("{job} --resume s.json"));
    assert_eq!(folder.json("r.json")["search"]["optimal"], true);
    assert_eq!(release, folder.read("r.csv"));
    // It is kept to its end: going on once more is done at once.
    folder.ok(&format!("{job} --resume s.json --node-limit 1"));
    assert_eq!(release, folder.read("r.csv"));
    // A change by hand would let it claim anything.
    let changed = folder.read("s.json").replacen("\"nodes\":", "\"nodes\":1", 1);
    std::fs::write(folder.path("s.json"), changed).unwrap();
    folder.fails(&format!("{job} --resume s.json"), 2, &["not a search that can be resumed"]);
    folder.fails(&format!("{job} --node-limit 0"), 2, &["at least 1"]);
    std::fs::write(folder.path("s.json"), "{}").unwrap();
    folder.fails(&format!("{job} --resume s.json"), 2, &["not a search that can be resumed"]);
    folder.fails(&format!("{job} --resume people.csv"), 2, &["never overwritten"]);
    folder.fails(&format!("{job} --resume r.csv"), 2, &["a file of its own"]);
    folder.fails(&format!("{job} --start s.json"), 2, &["no recoding"]);
    let mondrian = job.replace("koptimize", "mondrian");
    folder.fails(
        &format!("{mondrian} --resume x.json"),
        2,
        &["cannot honour --resume", "--algorithm koptimize"],
    );
}

/// Ctrl-C during a search that has something to show releases that.
#[test]
fn an_interrupted_search_is_released() {
    let folder = Folder::with(&[]);
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/adult/adult.csv.gz");
    std::fs::copy(table, folder.path("adult.csv.gz")).unwrap();
    let job = format!(
        "anonymize adult.csv.gz -o r.csv -k 5 --quasi age,sex,race,marital-status,education,occupation \
         --undeclared drop --suppress 5% {OPTIMAL}"
    );
    let mut child = folder.command(&job).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(6));
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-s", "INT", &pid]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let report = folder.json("r.json");
    let search = &report["search"];
    assert_eq!(search["optimal"], false);
    assert!(search["lower_bound"].as_f64().unwrap() <= search["cost"].as_f64().unwrap());
    assert!(classes(&folder.read("r.csv"), 6).values().all(|rows| *rows >= 5));
}

/// Starred rows share the place of a class whose cells are all `*`; only the former are suppressed.
#[test]
fn stars_beside_a_class_of_stars_in_private_files() {
    let mut table = String::from("q0,i1,s1\n");
    let rows = "a,,|b,,16|c,,|a,1,|d,1,-17|a,,|e,,19|f,1,19|f,1,4|g,1,2|h,1,2|i,,|e,,0|f,1,|j,,-1";
    rows.split('|').for_each(|row| table.push_str(&format!("{row}\n")));
    let folder = Folder::with(&[("t.csv", &table)]);
    let job = "-k 2 --quasi q0 --sensitive s1 --insensitive i1 --target i1 --quiet \
        --l-diversity s1=distinct:3 --suppress 8rows --suppressed star --algorithm hill-climb";
    folder.ok(&format!("anonymize t.csv -o memory.csv {job} --report memory.json"));
    folder.ok(&format!("anonymize t.csv -o files.csv {job} --report files.json --force-files 1"));
    assert_eq!(folder.read("memory.csv"), folder.read("files.csv"));
    let measures = |name: &str| folder.json(name)["measures"].clone();
    assert_eq!(measures("memory.json"), measures("files.json"));
}
