//! Many files in, many files out.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::faults::signal;
use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, people};

fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The lines of all parts, with the header of the first.
fn put_together(folder: &Folder, name: &str) -> String {
    let mut text = String::new();
    for part in names(&folder.path(name)).iter().filter(|part| part.starts_with("part-")) {
        let lines = folder.read(&format!("{name}/{part}"));
        let (header, rows) = lines.split_once('\n').unwrap();
        if text.is_empty() {
            text = format!("{header}\n");
        }
        text.push_str(rows);
    }
    text
}

#[test]
fn parts_are_the_single_file_cut_into_pieces() {
    let folder = Folder::with(&[("t.csv", &people(220_000, 12))]);
    let job = format!("-k 5 {PEOPLE_JOB} --quiet");
    folder.ok(&format!("anonymize t.csv -o one.csv {job} --recoding r.json"));
    folder.ok(&format!("anonymize t.csv -o many.csv/ --part-rows 70000 {job} --report m.json"));
    assert_eq!(
        names(&folder.path("many.csv")),
        ["_manifest.json", "part-00000.csv", "part-00001.csv"]
    );
    assert!(put_together(&folder, "many.csv") == folder.read("one.csv"));
    let manifest = folder.json("many.csv/_manifest.json");
    let keys: Vec<&String> = manifest.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["incrowd", "format", "rows", "parts"]);
    assert_eq!((&manifest["format"], &manifest["rows"]), (&"csv".into(), &220_000.into()));
    let mut n_rows = 0;
    for part in manifest["parts"].as_array().unwrap() {
        let text = folder.read(&format!("many.csv/{}", part["name"].as_str().unwrap()));
        assert_eq!(part["rows"], text.lines().count() - 1);
        assert_eq!(part["bytes"], text.len());
        n_rows += part["rows"].as_u64().unwrap();
    }
    assert_eq!(n_rows, 220_000);
    assert_eq!(folder.json("m.json")["release"]["rows"], 220_000);

    // The same from a recoding, from a job file, and as Parquet, which a folder is unless it says
    // otherwise.
    folder.ok("apply r.json t.csv -o applied.csv/ --part-rows 70000 --quiet");
    assert!(put_together(&folder, "applied.csv") == folder.read("one.csv"));
    let job_file = "output = \"job/\"\n[release]\npart-rows = 1\n";
    std::fs::write(folder.path("job.toml"), job_file).unwrap();
    folder.ok(&format!("anonymize t.csv --job job.toml {job}"));
    let parts = names(&folder.path("job"));
    assert_eq!(parts[..2], ["_manifest.json", "part-00000.parquet"]);
    assert_eq!(parts.len(), 5);
    folder.ok("check job -k 5 --quasi age,sex,city,status");
    let plain = "-k 2 --quasi sex --insensitive age,city,status,diagnosis,note --quiet";
    for (input, output) in [("job", "a.csv"), ("job/*.parquet", "b.csv"), ("one.csv", "c.csv")] {
        folder.ok(&format!("anonymize {input} -o {output} {plain}"));
    }
    assert!(folder.read("a.csv") == folder.read("b.csv"));
    assert!(folder.read("a.csv") == folder.read("c.csv"));
}

#[test]
fn a_folder_is_replaced_as_a_whole_or_left_alone() {
    let folder = Folder::with(&[("p.csv", PATIENTS)]);
    let job = |output: &str| format!("anonymize p.csv -o {output} {PATIENTS_JOB}");
    folder.ok(&job("r.csv/"));
    let first = folder.read("r.csv/part-00000.csv");
    folder.fails(&job("r.csv/"), 2, &["`r.csv` exists already", "--force"]);
    std::fs::write(folder.path("r.csv/part-00000.csv"), "old").unwrap();
    // What a killed run left, and what a live one in whatever namespace works on: a lock tells.
    for stale in [".incrowd-dead0123456789ab", ".incrowd-alive0123456789a"] {
        std::fs::create_dir(folder.path(stale)).unwrap();
        std::fs::write(folder.path(stale).join("part-00000.csv"), "x").unwrap();
        std::fs::write(folder.path(&format!("{stale}.lock")), "").unwrap();
    }
    let lock = std::fs::File::open(folder.path(".incrowd-alive0123456789a.lock")).unwrap();
    lock.lock().unwrap();
    folder.ok(&format!("{} --force", job("r.csv/")));
    assert_eq!(names(&folder.path("r.csv")), ["_manifest.json", "part-00000.csv"]);
    assert_eq!(folder.read("r.csv/part-00000.csv"), first);
    assert_eq!(
        folder.files(),
        [".incrowd-alive0123456789a", ".incrowd-alive0123456789a.lock", "p.csv", "r.csv"]
    );
    // Only what the manifest lists is ours to replace.
    for foreign in ["thesis.txt", "part-00001.csv"] {
        std::fs::write(folder.path("r.csv").join(foreign), "x").unwrap();
        let says = format!("`r.csv/{foreign}` is not part of a release");
        folder.fails(&format!("{} --force", job("r.csv/")), 2, &[&says]);
        assert_eq!(folder.read(&format!("r.csv/{foreign}")), "x");
        std::fs::remove_file(folder.path("r.csv").join(foreign)).unwrap();
    }
    assert_eq!(folder.read("r.csv/part-00000.csv"), first);
    folder.fails(&job("r.csv"), 2, &["`r.csv` is a folder"]);
    folder.fails(&format!("{} --force", job("p.csv/")), 2, &["`p.csv` is"]);
    folder.fails(&job("nowhere/r/"), 2, &["the folder `nowhere` does not exist"]);
    folder.fails(&job("./"), 2, &["a folder of parts needs a name"]);
    folder.fails(&job("new/ --report new/r.json"), 2, &["`new/r.json` would lie in the folder"]);
    folder.fails(&job("new/ --part-rows 0"), 2, &["at least 1 row"]);
    folder.fails(&job("new.csv --part-rows 9"), 2, &["is one file", "end its name with /"]);
    folder.fails(&job("new/").replace("-k 2", "-k 7"), 1, &[]);
}

#[test]
fn the_input_is_never_the_output() {
    let folder = Folder::with(&[]);
    std::fs::create_dir_all(folder.path("in/part-a")).unwrap();
    std::fs::write(folder.path("in/part-1.csv"), PATIENTS).unwrap();
    for input in ["in", "in/part-1.csv", "in/*.csv"] {
        folder.fails(
            &format!("anonymize {input} -o in/ --force {PATIENTS_JOB}"),
            2,
            &["`in/` is the input; it is never overwritten"],
        );
    }
    assert_eq!(folder.read("in/part-1.csv"), PATIENTS);
}

#[test]
fn a_killed_job_leaves_the_old_folder_or_the_new_one() {
    let folder = Folder::with(&[("t.csv", &people(150_000, 13)), ("p.csv", PATIENTS)]);
    let args = format!("anonymize t.csv -o r.csv/ --part-rows 1 -k 5 {PEOPLE_JOB} --quiet --force");
    for (step, name) in ["KILL", "INT", "KILL", "INT", "KILL", "KILL"].into_iter().enumerate() {
        folder.ok(&format!("anonymize p.csv -o r.csv/ {PATIENTS_JOB} --quiet --force"));
        let mut child = folder.command(&args).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 + 300 * step as u64));
        signal(child.id(), name);
        child.wait().unwrap();
        let n_rows = folder.json("r.csv/_manifest.json")["rows"].as_u64().unwrap();
        assert!(n_rows == 6 || n_rows == 150_000, "step {step}");
        let n_lines = put_together(&folder, "r.csv").lines().count() as u64;
        assert_eq!(n_lines, n_rows + 1, "step {step}");
    }
    folder.ok(&format!("anonymize p.csv -o r.csv/ {PATIENTS_JOB} --quiet --force"));
    assert_eq!(folder.files(), ["p.csv", "r.csv", "t.csv"], "the next run tidies up");
}

#[test]
fn files_that_differ_are_named_with_their_columns() {
    let folder = Folder::with(&[("p.csv", PATIENTS)]);
    for name in ["in", "in/deep", "empty"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    let plain = "anonymize p.csv -k 2 --quasi sex --quiet";
    let [all, text] = ["age,zipcode,disease", "age,disease"]
        .map(|columns| format!("{plain} --insensitive {columns}"));
    folder.ok(&format!("{all} -o in/a.parquet"));
    folder.ok(&format!("{all} -o in/deep/b.parquet"));
    folder.ok(&format!("anonymize in/**/*.parquet -o r.csv {PATIENTS_JOB}"));
    assert_eq!(folder.read("r.csv").lines().count(), 13);
    folder.ok(&format!("anonymize in/*.parquet -o s.csv {PATIENTS_JOB}"));
    assert_eq!(folder.read("s.csv").lines().count(), 7);

    let differs = |says: &[&str]| {
        let job = format!("anonymize in -o t/ {PATIENTS_JOB}");
        folder.fails(&job, 2, &[&["`in/z.parquet` differs", "in/z.parquet"], says].concat());
        std::fs::remove_file(folder.path("in/z.parquet")).unwrap();
    };
    folder.ok(&format!("{text} --identifier zipcode -o in/z.parquet"));
    differs(&["column `zipcode` is missing"]);
    std::fs::write(folder.path("more.csv"), PATIENTS.replace(",537", ",WI537")).unwrap();
    folder.ok(&format!("{} -o in/z.parquet", all.replace("p.csv", "more.csv")));
    differs(&["column `zipcode` is of type Utf8, not Int64"]);
    std::fs::write(folder.path("more.csv"), PATIENTS.replace(['\n'], ",x\n")).unwrap();
    folder.ok(&format!("{} --insensitive x -o in/z.parquet", all.replace("p.csv", "more.csv")));
    differs(&["column `x` is one too many"]);
    let turned: String = PATIENTS
        .lines()
        .map(|line| line.rsplit(',').collect::<Vec<_>>().join(",") + "\n")
        .collect();
    std::fs::write(folder.path("more.csv"), turned).unwrap();
    folder.ok(&format!("{} -o in/z.parquet", all.replace("p.csv", "more.csv")));
    differs(&["another order, `disease` is where `age` was"]);

    folder.fails("profile empty", 2, &["`empty` holds no file that can be read"]);
    folder.fails("profile empty/*.parquet", 2, &["`empty/*.parquet` holds no file"]);
    // A file without a header has values in its place.
    std::fs::create_dir(folder.path("text")).unwrap();
    std::fs::write(folder.path("text/1.csv"), PATIENTS).unwrap();
    std::fs::write(folder.path("text/2.csv"), "31,Male,53715,Flu\n").unwrap();
    let ended = folder.run("profile text");
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("column `age` is missing"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("53715"), "{}", ended.stderr);
}
