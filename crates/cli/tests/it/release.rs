//! Releases that work: what they look like and what is said about them.

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, classes, people};

#[test]
fn the_patients_of_the_paper_become_figure_3() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o release.csv {PATIENTS_JOB}"));
    assert_eq!(
        folder.read("release.csv"),
        "age,sex,zipcode,disease\n\
         [25-26],Male,53711,Bronchitis\n[25-26],Male,53711,Flu\n\
         [25-27],Female,53712,AIDS\n[25-27],Female,53712,Hepatitis\n\
         [27-28],Male,[53710-53711],Broken Arm\n[27-28],Male,[53710-53711],Hang Nail\n"
    );
}

#[test]
fn the_patients_with_a_mean_become_figure_8() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o release.csv {PATIENTS_JOB} --labels range+mean"));
    let release = folder.read("release.csv");
    assert!(release.starts_with("age,age_mean,sex,zipcode,zipcode_mean,disease\n"), "{release}");
    assert!(release.contains("[25-26],25.5,Male,53711,53711,Flu\n"), "{release}");
    assert!(release.contains("[25-27],26,Female,53712,53712,AIDS\n"), "{release}");
    assert!(release.contains("[27-28],27.5,Male,[53710-53711],53710.5,Hang Nail\n"), "{release}");
}

#[test]
fn relaxed_zipcodes_become_figure_6() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(
        "anonymize patients.csv -o r.csv -k 3 --relaxed --quasi zipcode --insensitive age,sex,disease",
    );
    let text = folder.read("r.csv");
    let zips = text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap());
    let mut zips: Vec<&str> = zips.collect();
    zips.sort_unstable();
    assert_eq!(zips[..3], ["[53710-53711]"; 3]);
    assert_eq!(zips[3..], ["[53711-53712]"; 3]);
}

#[test]
fn the_report_has_its_keys_and_true_numbers() {
    let folder = Folder::with(&[("people.csv", &people(500, 1))]);
    let ended = folder
        .ok(&format!("anonymize people.csv -o r.csv -k 5 {PEOPLE_JOB} --report r.json --json"));
    let report = folder.json("r.json");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap(), report);
    let release = folder.read("r.csv");
    let found = classes(&release, 4);
    assert_eq!(report["input"]["rows"], 500);
    assert_eq!(report["release"]["rows"], 500);
    assert_eq!(report["release"]["classes"], found.len());
    assert_eq!(report["release"]["smallest_class"], *found.values().min().unwrap());
    assert_eq!(report["release"]["largest_class"], *found.values().max().unwrap());
    let squares: usize = found.values().map(|n| n * n).sum();
    let squares = squares as f64;
    assert_eq!(report["measures"]["discernibility"], squares);
    assert_eq!(report["privacy"][0]["satisfied"], true);
    assert_eq!(report["privacy"][0]["required"]["k"], 5);
    assert_eq!(report["search"]["optimal"], false);
    for key in ["loss", "entropy", "average_class_size"] {
        assert!(report["measures"][key].as_f64().unwrap() > 0.0, "{key}");
    }
    for key in ["read", "search", "recode", "verify", "write"] {
        assert!(report["timings_s"][key].is_f64(), "{key}");
    }
    assert!(
        ended.stderr.contains("warning: k-anonymity alone does not protect diagnosis"),
        "{}",
        ended.stderr
    );
}

#[test]
fn every_model_holds_in_the_release() {
    let folder = Folder::with(&[("people.csv", &people(800, 2))]);
    for (model, at_most) in [
        ("--l-diversity distinct:4", 200),
        ("--l-diversity diagnosis=entropy:3", 200),
        ("--l-diversity recursive:2,3", 200),
        ("--t-closeness 0.25", 200),
        ("--l-diversity entropy:2.5 --t-closeness diagnosis=0.3", 200),
    ] {
        let job = format!("-k 4 {PEOPLE_JOB} {model}");
        folder.ok(&format!("anonymize people.csv -o r.csv --force --quiet {job}"));
        let check = format!(
            "check r.csv -k 4 --quasi age,sex,city,status --sensitive diagnosis {model} --quiet"
        );
        folder.ok(&check);
        let n_classes = classes(&folder.read("r.csv"), 4).len();
        assert!((2..at_most).contains(&n_classes), "{model}: {n_classes}");
    }
}

#[test]
fn squared_error_diversity_holds() {
    let mut text = String::from("age,pay\n");
    for row in 0..200 {
        text.push_str(&format!("{},{}\n", 20 + row % 40, 1000 + (row * 37) % 500));
    }
    let folder = Folder::with(&[("t.csv", &text)]);
    folder.ok("anonymize t.csv -o r.csv -k 3 --quasi age --sensitive pay --squared-error 90000");
    let release = folder.read("r.csv");
    let mut of_class = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for line in release.lines().skip(1) {
        let (age, pay) = line.rsplit_once(',').unwrap();
        of_class.entry(age.to_owned()).or_default().push(pay.parse().unwrap());
    }
    assert!(of_class.len() > 1);
    for pays in of_class.values() {
        let mean = pays.iter().sum::<f64>() / pays.len() as f64;
        let error: f64 = pays.iter().map(|pay| (pay - mean).powi(2)).sum();
        assert!(error >= 90_000.0, "{error}");
    }
}

#[test]
fn k_counts_entities() {
    let mut text = String::from("person,age,note\n");
    for row in 0..60 {
        text.push_str(&format!("p{},{},x\n", row / 3, 20 + row / 6));
    }
    let folder = Folder::with(&[("visits.csv", &text)]);
    folder.ok("anonymize visits.csv -o r.csv -k 4 --quasi age --entity person --insensitive note");
    let release = folder.read("r.csv");
    assert_eq!(release.lines().next(), Some("age,note"));
    // Six rows are two people: four people need twelve rows.
    assert!(classes(&release, 1).values().all(|&rows| rows >= 12), "{release}");
}

#[test]
fn missing_values_are_a_category_of_their_own() {
    let table = "age,sex\n20,f\n21,f\n,f\n,f\n,m\n40,m\n41,m\n";
    let folder = Folder::with(&[("t.csv", table)]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi age,sex");
    let release = folder.read("r.csv");
    assert!(release.contains(",f\n,f\n"), "two women without an age are a class: {release}");
    assert!(release.contains("*,m\n*,m\n*,m\n"), "a man without an age shares `*`: {release}");
    folder.fails(
        "anonymize t.csv -o s.csv -k 2 --quasi age,sex --missing error",
        2,
        &["column `age` is missing in 3 rows; the first is data row 3"],
    );
}

#[test]
fn several_sets_hold_each() {
    let folder = Folder::with(&[("people.csv", &people(400, 3))]);
    let sets = "--quasi doctor=age,sex,city --quasi boss=age,status";
    folder.ok(&format!(
        "anonymize people.csv -o r.csv -k 5 {sets} --sensitive diagnosis --insensitive note --report r.json"
    ));
    let report = folder.json("r.json");
    assert_eq!(report["privacy"][0]["quasi"], "doctor");
    assert_eq!(report["privacy"][1]["columns"], serde_json::json!(["age", "status"]));
    folder.ok(&format!("check r.csv -k 5 {sets}"));
}

#[test]
fn hierarchies_give_their_labels() {
    let table = "country\nfr\nfr\nde\nde\njp\njp\ncn\n";
    let tree = "fr;Europe;*\nde;Europe;*\njp;Asia;*\ncn;Asia;*\nau;Oceania;*\n";
    let folder = Folder::with(&[("t.csv", table), ("c.csv", tree)]);
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi country --hierarchy country=c.csv");
    assert_eq!(folder.read("r.csv"), "country\nAsia\nAsia\nAsia\nde\nde\nfr\nfr\n");
}

#[test]
fn bounds_and_regions() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.ok(&format!("anonymize patients.csv -o b.csv {PATIENTS_JOB} --labels bounds"));
    let bounds = folder.read("b.csv");
    assert!(
        bounds.starts_with(
            "age_min,age_max,sex,zipcode_min,zipcode_max,disease\n25,26,Male,53711,53711,"
        ),
        "{bounds}"
    );
    folder.ok(&format!("anonymize patients.csv -o g.csv {PATIENTS_JOB} --labels region"));
    let region = folder.read("g.csv");
    assert!(region.contains("*,Female,*,AIDS"), "{region}");
}

/// A cut above which no released row has a value may still have missing cells above it.
#[test]
fn regions_keep_rows_with_missing_cells_beyond_the_last_grade() {
    let table = "a,b\np,5\nq,5\n,5\n,5\n";
    let job = "[columns]\na = { role = \"quasi\", order = [\"p\",\"q\",\"r\"] }\nb = { role = \"quasi\" }\n";
    let folder = Folder::with(&[("t.csv", table), ("job.toml", job)]);
    for more in ["", "--memory-limit 64MB", "--force-files 2"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv -k 2 --labels region --job job.toml --recoding r.json --force {more}"
        ));
        assert_eq!(folder.read("r.csv"), "a,b\n,*\n,*\n*,*\n*,*\n", "{more}");
        folder.ok("apply r.json t.csv -o again.csv --force");
        assert_eq!(folder.read("again.csv"), folder.read("r.csv"), "{more}");
    }
}

#[test]
fn a_job_file_does_what_flags_do() {
    let job = "input = \"patients.csv\"\noutput = \"job.csv\"\n[columns]\nage = { role = \"quasi\" }\n\
               sex = { role = \"quasi\" }\nzipcode = { role = \"quasi\" }\ndisease = { role = \"sensitive\" }\n\
               [privacy]\nk = 3\n[search]\nalgorithm = \"mondrian\"\nmeasure = \"loss\"\n";
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("job.toml", job)]);
    folder.ok("anonymize --job job.toml -k 2");
    folder.ok(&format!("anonymize patients.csv -o flags.csv {PATIENTS_JOB}"));
    assert_eq!(folder.read("job.csv"), folder.read("flags.csv"), "the flag -k 2 wins over k = 3");
    let printed = folder.ok("anonymize --job job.toml -k 2 --print-job").stdout;
    assert!(printed.contains("k = 2") && printed.contains("role = \"quasi\""), "{printed}");
}

#[test]
fn an_output_is_replaced_only_by_force() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("r.csv", "mine")]);
    let args = format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}");
    folder.fails(&args, 2, &["`r.csv` exists already", "--force"]);
    assert_eq!(folder.read("r.csv"), "mine");
    folder.ok(&format!("{args} --force"));
    assert!(folder.read("r.csv").starts_with("age,"));
}

#[test]
fn standard_output_is_clean() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    let ended = folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    assert_eq!(ended.stdout, "");
    assert!(
        ended.stderr.contains("2-anonymous with respect to {age, sex, zipcode}"),
        "{}",
        ended.stderr
    );
    let quiet = folder.ok(&format!("anonymize patients.csv -o q.csv {PATIENTS_JOB} --quiet"));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn profile_and_demo_and_completions() {
    let folder = Folder::with(&[("people.csv", &people(300, 4))]);
    let profile = folder.ok("profile people.csv").stdout;
    assert!(profile.contains("300 rows, 6 columns"), "{profile}");
    assert!(profile.contains("almost every row has a value of its own"), "{profile}");
    let json: serde_json::Value =
        serde_json::from_str(&folder.ok("profile people.csv --json").stdout).unwrap();
    assert_eq!(json["columns"][0]["type"], "integer");
    assert_eq!(json["columns"][5]["suggested_role"], "identifier");
    assert!(folder.ok("completions bash").stdout.contains("incrowd"));
    assert!(folder.ok("man").stdout.contains(".TH incrowd"));
    let demo = folder.ok("demo d").stdout;
    assert!(demo.contains("release.csv") && demo.contains("before"), "{demo}");
    let quasi = "age,workclass,education,marital-status,occupation,race,sex,native-country";
    folder.ok(&format!("check d/release.csv -k 10 --quasi {quasi}"));
}
