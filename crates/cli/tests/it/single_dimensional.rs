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
    folder.fails(&format!("{job} --start s.json"), 2, &["is not a recoding"]);
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

/// Towns in the leaf order of a hierarchy that groups them otherwise, and ages.
fn towns() -> Folder {
    let mut table = String::from("town,age,s\n");
    for (at, town) in ["Rome", "Pisa", "Lyon", "Nice", "Bonn", "Kiel"].iter().enumerate() {
        for more in 0..6 {
            table.push_str(&format!("{town},{},x{at}{more}\n", 17 + (at * 7 + more * 5) % 20));
        }
    }
    let job = "input = \"t.csv\"\n[columns]\ntown = { role = \"quasi\", order-from = \"h/town.csv\" }\n\
               age = { role = \"quasi\", bins = { width = 5, origin = 17 } }\n\
               s = { role = \"insensitive\" }\n[privacy]\nk = 4\n[search]\nalgorithm = \"koptimize\"\n";
    let folder = Folder::with(&[("t.csv", &table), ("job.toml", job)]);
    std::fs::create_dir(folder.path("h")).unwrap();
    let hierarchy = "Rome;IT;*\nPisa;IT;*\nLyon;FR;*\nNice;FR;*\nBonn;DE;*\nKiel;DE;*\n";
    std::fs::write(folder.path("h/town.csv"), hierarchy).unwrap();
    folder
}

/// The least and the greatest number of a label, either of `17` and `[17-21]`.
fn ends(label: &str) -> (u32, u32) {
    let inner = label.trim_matches(['[', ']']);
    let (low, high) = inner.split_once('-').unwrap_or((inner, inner));
    (low.parse().unwrap(), high.parse().unwrap())
}

#[test]
fn bins_stay_whole_and_the_order_of_a_hierarchy_does_not_bind() {
    let folder = towns();
    folder.ok("anonymize --job job.toml -o r.csv --recoding map.json --report r.json");
    let release = folder.read("r.csv");
    assert!(classes(&release, 2).values().all(|rows| *rows >= 4));
    assert!(release.contains("[Nice-Kiel]"), "one of France and two of Germany");
    let original = folder.read("t.csv");
    let before: BTreeMap<&str, Vec<&str>> =
        rows(&original).into_iter().map(|row| (row[2], row)).collect();
    let leaves = ["Rome", "Pisa", "Lyon", "Nice", "Bonn", "Kiel"];
    for row in rows(&release) {
        let (town, age) = (before[row[2]][0], before[row[2]][1].parse::<u32>().unwrap());
        // A label is true of every row that has it, and two ages of a bin are never told apart.
        if row[1] != "*" {
            let (low, high) = ends(row[1]);
            assert!((low..=high).contains(&age), "{row:?}");
            for other in rows(&release) {
                let theirs: u32 = before[other[2]][1].parse().unwrap();
                let is_one_bin = (age - 17) / 5 == (theirs - 17) / 5;
                assert!(!is_one_bin || other[1] == row[1], "{age} {theirs}");
            }
        }
        if let Some((first, last)) = row[0].trim_matches(['[', ']']).split_once('-') {
            let place = |name: &str| leaves.iter().position(|leaf| *leaf == name).unwrap();
            assert!((place(first)..=place(last)).contains(&place(town)), "{row:?}");
        }
    }
    // What is saved needs neither the hierarchy nor the bins.
    std::fs::remove_file(folder.path("h/town.csv")).unwrap();
    folder.ok("apply map.json t.csv -o again.csv");
    assert_eq!(release, folder.read("again.csv"));
    // Loss is that of the values, not of the bins: a cell of one whole bin has lost something.
    let loss = &folder.json("r.json")["measures"]["loss_by_column"]["age"];
    assert!(loss.as_f64().unwrap() > 0.1, "{loss}");
}

#[test]
fn flags_say_the_same_as_the_job_file() {
    let folder = towns();
    folder.ok("anonymize --job job.toml -o job.csv");
    folder.ok(
        "anonymize t.csv -o flags.csv -k 4 --quasi town,age --insensitive s --algorithm koptimize \
         --order-from town=h/town.csv --bins age=5,17",
    );
    assert_eq!(folder.read("job.csv"), folder.read("flags.csv"));
    // Wider bins bind elsewhere.
    folder.ok(
        "anonymize t.csv -o wide.csv -k 4 --quasi town,age --insensitive s --algorithm koptimize \
         --order-from town=h/town.csv --bins age=7,17",
    );
    assert_ne!(folder.read("job.csv"), folder.read("wide.csv"));
}

#[test]
fn bins_and_orders_that_cannot_be_are_refused() {
    let folder = towns();
    let quasi = "anonymize t.csv -o r.csv -k 4 --quasi town,age --insensitive s";
    for (flags, message) in [
        ("--bins age=5", "`mondrian` cannot honour bins"),
        ("--algorithm koptimize --bins town=5", "column `town` has bins, but no numbers"),
        ("--algorithm koptimize --bins age=0", "need a width above 0"),
        ("--algorithm koptimize --bins age=x", "--bins needs COL=WIDTH[,ORIGIN]"),
        ("--algorithm koptimize --order-from town=none.csv", "`none.csv` does not exist"),
        (
            "--algorithm koptimize --order-from town=h/town.csv --hierarchy town=h/town.csv",
            "has an order and a hierarchy",
        ),
    ] {
        folder.fails(&format!("{quasi} {flags}"), 2, &[message]);
        assert!(!folder.path("r.csv").exists());
    }
}
