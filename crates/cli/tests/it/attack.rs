//! Outside tables and other releases linked to a release.

use serde_json::Value;

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB, people, rows};
use crate::pages;

const VOTERS: &str = "name,age,sex,zipcode\nAhmed,25,Male,53711\nBrooke,28,Female,55410\n\
    Casey,31,Female,90210\nDave,19,Male,02174\nEvelyn,40,Female,02237\n";

fn example(path: &str) -> String {
    format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn attack(folder: &Folder, args: &str) -> Value {
    serde_json::from_str(&folder.ok(&format!("attack {args} --json")).stdout).unwrap()
}

/// Outside rows with no, one and fewer than k candidates.
fn counts(report: &Value) -> [u64; 3] {
    ["none", "one", "below_k"].map(|key| report["candidates"][key].as_u64().unwrap())
}

/// The voters of the Mondrian report: one of them is known in the plain table, none in the release.
#[test]
fn a_voter_is_found_in_the_patients_but_not_in_their_release() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("voters.csv", VOTERS)]);
    let found = attack(&folder, "patients.csv --with voters.csv --sensitive disease");
    assert_eq!(counts(&found), [4, 1, 1]);
    assert_eq!(found["sensitive"]["certain"], 1);
    let on: Vec<&str> =
        found["on"].as_array().unwrap().iter().map(|on| on["column"].as_str().unwrap()).collect();
    assert_eq!(on, ["age", "sex", "zipcode"]);
    for form in ["range", "region", "bounds", "range+mean", "mean"] {
        for ending in ["csv", "parquet"] {
            let release = format!("{form}.{ending}");
            folder.ok(&format!(
                "anonymize patients.csv -o {release} {PATIENTS_JOB} --labels {form} --recoding {release}.json"
            ));
            let args = format!(
                "{release} --with voters.csv --sensitive disease --recoding {release}.json"
            );
            let found = attack(&folder, &args);
            // Means rule no one out.
            let (none, least) = match form {
                "mean" => (0, 3),
                // Regions without an end rule nobody out.
                "region" => (0, 2),
                _ => (4, 2),
            };
            assert_eq!(counts(&found), [none, 0, 0], "{release}: {found}");
            assert!(found["candidates"]["least"].as_u64().unwrap() >= least.min(2), "{found}");
            assert_eq!(found["sensitive"]["certain"], 0);
            let truth = attack(
                &folder,
                &format!(
                    "{release} --with patients.csv --on age,sex,zipcode --recoding {release}.json --fail-below 2"
                ),
            );
            assert_eq!(counts(&truth), [0, 0, 0], "{release}");
            assert_eq!(truth["failed"], 0);
        }
    }
    // Nothing but the labels themselves is needed.
    let found = attack(&folder, "bounds.csv --with voters.csv -k 3");
    assert_eq!(counts(&found), [4, 0, 1]);
}

#[test]
fn what_a_person_reads() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("voters.csv", VOTERS)]);
    let ended = folder.ok("attack patients.csv --with voters.csv --sensitive disease");
    assert_eq!(
        ended.stdout,
        "5 outside rows against 6 rows of the release, compared on age, sex, zipcode\n\n\
         candidates  outside rows  share\n\
         none                   4  80.0%\n\
         1                      1  20.0%\n\n\
         candidates of a row that has some: at least 1, median 1, mean 1.0, at most 1\n\
         fewer than 2 candidates: 1 outside row; links expected by chance: 1.0\n\
         linked: 1 outside row to 1 row of the release; both tables together say more of 0, and make 1 unique\n\
         disease: known for certain of 1 outside row; commonest value of the candidates: share 1.000 on average, at most 1.000\n"
    );
    let ended = folder.run("attack patients.csv --with voters.csv --fail-below 3 --report r.json");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("not satisfied: 1 outside row has candidates, but fewer than 3"));
    assert_eq!(folder.json("r.json")["failed"], 1);
    folder.fails("attack patients.csv --with voters.csv --report r.json", 2, &["exists already"]);
    for word in ["Ahmed", "53711", "Flu", "Male"] {
        assert!(!folder.read("r.json").contains(word) && !ended.stdout.contains(word));
    }
}

/// The picture that convinces: the same attack on the plain table and on its release.
#[test]
fn before_and_after_side_by_side() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("voters.csv", VOTERS)]);
    folder.ok(&format!("anonymize patients.csv -o r.csv {PATIENTS_JOB}"));
    let both = "r.csv --with voters.csv --before patients.csv --sensitive disease";
    let ended = folder.ok(&format!("attack {both}"));
    assert_eq!(
        ended.stdout,
        "5 outside rows against 6 rows of the original table and 6 rows of the release, compared on age, sex, zipcode\n\n\
         candidates  before  share  release  share\n\
         none             4  80.0%        4  80.0%\n\
         1                1  20.0%        0   0.0%\n\
         2                0   0.0%        1  20.0%\n\n\
        \u{20}                                                before  release\n\
         pinned down to one record                             1        0\n\
         fewer than 2 candidates                               1        0\n\
         links expected by chance                            1.0      0.5\n\
         candidates, of rows that have some: least             1        2\n\
        \u{20} median                                              1        2\n\
        \u{20} mean                                              1.0      2.0\n\
        \u{20} greatest                                            1        2\n\
         disease: known for certain                            1        0\n\
        \u{20} commonest value of the candidates: mean share   1.000    0.500\n\
        \u{20} greatest share                                  1.000    0.500\n\n\
         before: 1 of 5 outside people is pinned down to one record, and the disease of 1 is known for certain; \
         in the release: none and none\n"
    );
    // Both halves are what the attacks by themselves find.
    let found = attack(&folder, both);
    let alone =
        |table: &str| attack(&folder, &format!("{table} --with voters.csv --sensitive disease"));
    let (plain, release) = (alone("patients.csv"), alone("r.csv"));
    for key in ["on", "candidates", "linked", "sensitive"] {
        assert_eq!(found["before"][key], plain[key], "{key}");
        assert_eq!(found[key], release[key], "{key}");
    }
    assert_eq!(found["before"]["original"]["rows"], 6);
    assert!(release.get("before").is_none());
    assert_eq!(
        release["conclusion"],
        "in the release: none of 5 outside people is pinned down to one record, and the disease of none is known for certain"
    );
    // The gate is about the release alone.
    folder.ok(&format!("attack {both} --fail-below 2"));
}

/// Means stand in the release only.
#[test]
fn the_original_holds_values_whatever_the_release_holds() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("voters.csv", VOTERS)]);
    for form in ["bounds", "mean", "range+mean"] {
        folder.ok(&format!(
            "anonymize patients.csv -o {form}.csv {PATIENTS_JOB} --labels {form} --recoding {form}.json"
        ));
        let found = attack(
            &folder,
            &format!("{form}.csv --with voters.csv --before patients.csv --recoding {form}.json"),
        );
        assert_eq!(counts(&found["before"]), [4, 1, 1], "{form}");
        assert_eq!(counts(&found)[1], 0, "{form}");
    }
}

#[test]
fn an_attack_as_a_page() {
    let names = |text: &str| {
        text.replacen("age,sex", "<script>alert(1)</script>,\"a\"\"&'</style>\"", 1).replacen(
            "disease",
            "<b>disease</b>",
            1,
        )
    };
    let (patients, voters) = (names(PATIENTS), names(VOTERS));
    let folder = Folder::with(&[("patients.csv", &patients), ("voters.csv", &voters)]);
    let mut command =
        folder.command("anonymize patients.csv -o r.csv -k 2 --sensitive <b>disease</b> --quasi");
    command.arg("<script>alert(1)</script>,a\"&'</style>,zipcode");
    assert!(command.output().unwrap().status.success());
    let args = "attack r.csv --with voters.csv --sensitive <b>disease</b>";
    for (report, more) in [("r.html", ""), ("both.html", "--before patients.csv")] {
        folder.ok(&format!("{args} --report {report} {more}"));
        let html = folder.read(report);
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(html.contains("<p class=\"mark\">"));
        assert_eq!(html.contains("before: 1"), report == "both.html");
        for word in ["Ahmed", "53711", "Flu", "Male"] {
            assert!(!html.contains(word), "{report}: {word}");
        }
        pages::check(&folder.path(report));
    }
    let again = format!("{args} --report r.html");
    folder.fails(&again, 2, &["exists already", "--force"]);
    folder.ok(&format!("{again} --force"));
}

#[test]
fn a_page_has_the_warnings_of_its_attack() {
    let folder = Folder::with(&[
        ("r.csv", "job,age\nMedical,30\nMedical,30\nClerk,40\nClerk,40\n"),
        ("o.csv", "job,age\nDentist,30\nClerk,40\n"),
        ("jobs.csv", "Dentist;Medical;*\nClerk;Office;*\n"),
    ]);
    let attack = "attack r.csv --with o.csv --force --report";
    let ended = folder.ok(&format!("{attack} a.html"));
    let warning = "1 of 2 outside labels of column `job` agree with none of the release, and nothing says \
                   what labels stand for";
    assert!(ended.stderr.contains(warning) && ended.stderr.contains("--hierarchy"));
    let html = folder.read("a.html");
    for text in
        ["What may be amiss", "agree with none of the release", "a label that was not understood"]
    {
        assert!(html.contains(text), "no {text}");
    }
    assert!(!html.contains("--hierarchy"), "a page has no flags");
    pages::check_markup(&folder.path("a.html"));
    folder.ok(&format!("{attack} a.json"));
    assert!(folder.json("a.json")["warnings"][0].as_str().unwrap().starts_with(warning));
    // With the hierarchy nobody is missed.
    let ended = folder.ok(&format!("{attack} b.html --hierarchy job=jobs.csv"));
    assert!(!ended.stderr.contains("warning"), "{}", ended.stderr);
    let html = folder.read("b.html");
    assert!(!html.contains("What may be amiss") && !html.contains("was not understood"));
    assert!(html.contains("is not in the table, or was left out of it."));
    folder.ok(&format!("{attack} b.json --hierarchy job=jobs.csv"));
    assert!(folder.json("b.json").get("warnings").is_none());
}

#[test]
fn what_is_wrong_with_the_original_is_said_at_once() {
    let folder = Folder::with(&[
        ("patients.csv", PATIENTS),
        ("voters.csv", VOTERS),
        ("o.csv", "ages,sex,zipcode\n25,Male,53711\n"),
    ]);
    folder.fails(
        "attack patients.csv --with voters.csv --before o.csv --sensitive disease",
        2,
        &[
            "column `age` is not in the original table",
            "did you mean `ages`?",
            "column `disease` is not in the original table",
        ],
    );
    folder.fails(
        "attack patients.csv --with voters.csv --before none.csv",
        2,
        &["`none.csv` does not exist"],
    );
}

/// Tables II and III of the butterfly paper: harmless alone, every row pinned down together.
#[test]
fn two_releases_of_the_accidents_link_row_by_row() {
    let folder = Folder::with(&[]);
    let sorted = |name: &str| {
        let text = folder.read(name);
        let mut rows: Vec<String> = rows(&text).iter().map(|row| row.join(",")).collect();
        rows.sort();
        rows
    };
    for who in ["insurer", "hr"] {
        folder.ok(&format!(
            "anonymize --job {} -o {who}.csv",
            example(&format!("accidents/{who}.toml"))
        ));
    }
    assert_eq!(
        sorted("insurer.csv"),
        [
            "Banker,30,Sedan,31043,No",
            "Dentist,30,Truck,31043,No",
            "Family doctor,30,Sedan,31043,Yes",
            "Mortgage broker,30,Truck,31043,No",
        ]
    );
    assert_eq!(
        sorted("hr.csv"),
        [
            "Finance,30,Black Truck,31043,No",
            "Finance,30,Green Sedan,31043,No",
            "Medical,30,Red Truck,31043,No",
            "Medical,30,White Sedan,31043,Yes",
        ]
    );
    let job = example("accidents/job.toml");
    for (release, other) in [("insurer.csv", "hr.csv"), ("hr.csv", "insurer.csv")] {
        for more in ["", "--sensitive faulty"] {
            let found = attack(&folder, &format!("{release} --with {other} --job {job} {more}"));
            assert_eq!(counts(&found), [0, 4, 4]);
            let linked = serde_json::json!({"rows": 4, "release_rows": 4, "finer": 4, "unique": 4});
            assert_eq!(found["linked"], linked);
        }
    }
    // What each attacker knows by himself finds no one.
    let table = example("accidents/accidents.csv");
    for (who, on) in [("insurer", "age,vehicle,postcode"), ("hr", "occupation,age,postcode")] {
        let found = attack(
            &folder,
            &format!("{who}.csv --with {table} --on {on} --sensitive faulty --job {job}"),
        );
        assert_eq!((counts(&found), found["candidates"]["least"].as_u64()), ([0, 0, 0], Some(2)));
        assert_eq!(found["sensitive"]["certain"], 2);
    }
    // Without hierarchies labels are texts, which is said; no candidates are no links.
    let ended = folder.ok("attack insurer.csv --with hr.csv");
    assert!(
        ended.stderr.contains("2 of 2 outside labels of column `occupation`"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("pass --hierarchy vehicle=FILE"));
    assert!(
        ended
            .stdout
            .ends_with("fewer than 2 candidates: 0 outside rows; links expected by chance: 0.0\n")
    );
}

/// What the job or the recoding calls sensitive is what an attacker is after, not what he compares.
#[test]
fn the_patients_pass_their_own_gate() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    let job = example("patients/job.toml");
    folder.ok(&format!("anonymize --job {job} -o r.csv --recoding rec.json"));
    for about in [format!("--job {job}"), "--recoding rec.json".to_owned()] {
        let gate = format!("r.csv --with patients.csv {about} --fail-below 2");
        let found = attack(&folder, &gate);
        assert_eq!(found["on"].as_array().unwrap().len(), 3, "{about}: {found}");
        assert_eq!(counts(&found), [0, 0, 0], "{about}");
        let named = folder.run(&format!("attack {gate} --on age,sex,zipcode,disease"));
        assert_eq!(named.code, 1, "{about}: {}", named.stderr);
    }
    std::fs::write(folder.path("ill.csv"), "disease\nFlu\n").unwrap();
    let args = "attack r.csv --with ill.csv --recoding rec.json";
    folder.fails(args, 2, &["no column in common but sensitive columns", "--on"]);
}

/// Every released row of Adult has at least k candidates, by what labels mean and not by their
/// text.
#[test]
fn the_census_release_withstands_its_own_table() {
    let folder = Folder::with(&[]);
    let table = example("adult/adult.csv.gz");
    let on = "--on age,workclass,education,marital-status,occupation,race,sex,native-country";
    for job in ["job.toml", "job-hierarchies.toml", "job-full-domain.toml"] {
        let job = example(&format!("adult/{job}"));
        folder.ok(&format!("anonymize --job {job} -o r.csv --report a.json --force"));
        let args = format!("r.csv --with {table} {on} --sensitive salary-class --job {job}");
        let found = attack(&folder, &args);
        let least = found["candidates"]["least"].as_u64().unwrap();
        assert!(least >= 10, "{job}: {found}");
        assert_eq!(found["k"], 10);
        let suppressed = folder.json("a.json")["release"]["suppressed"].as_u64().unwrap();
        assert!(counts(&found)[0] <= suppressed, "{job}: {found}");
    }
}

/// Candidates are what comparing all pairs of rows finds.
#[test]
fn candidates_of_people_in_every_form() {
    let folder = Folder::with(&[("t.csv", &people(600, 3)), ("o.csv", &people(300, 4))]);
    for how in [
        "-k 5",
        "-k 4 --relaxed",
        "-k 5 --suppress 5% --suppressed star --algorithm koptimize --node-limit 500",
    ] {
        folder.ok(&format!("anonymize t.csv -o r.csv {PEOPLE_JOB} {how} --force"));
        let found = attack(&folder, "r.csv --with t.csv --on age,sex,city,status -k 4");
        let least = found["candidates"]["least"].as_u64().unwrap();
        assert!(least >= 4 && counts(&found) == [0, 0, 0], "{how}: {found}");
        let text = folder.read("r.csv");
        let outside = folder.read("o.csv");
        let n_pairs: usize = rows(&outside)
            .iter()
            .map(|row| rows(&text).iter().filter(|of| is_candidate(of, row)).count())
            .sum();
        let found = attack(&folder, "r.csv --with o.csv --on age,sex,city,status");
        let with = 300 - counts(&found)[0];
        let mean = n_pairs as f64 / with as f64;
        assert!((found["candidates"]["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{how}");
    }
}

/// The slow way, over a range and sets.
fn is_candidate(released: &[&str], outside: &[&str]) -> bool {
    let is_in = |label: &str, value: &str| {
        let set = label.strip_prefix('{').and_then(|label| label.strip_suffix('}'));
        label == "*" || label == value || set.is_some_and(|set| set.split('|').any(|m| m == value))
    };
    let age: u32 = outside[0].parse().unwrap();
    let range = released[0].trim_matches(['[', ']']).split_once('-');
    let is_age =
        range.is_some_and(|(lo, hi)| (lo.parse().unwrap()..=hi.parse().unwrap()).contains(&age));
    (is_age || is_in(released[0], outside[0])) && (1..4).all(|at| is_in(released[at], outside[at]))
}

#[test]
fn all_mistakes_at_once() {
    let folder = Folder::with(&[("patients.csv", PATIENTS), ("voters.csv", VOTERS)]);
    folder.fails(
        "attack patients.csv --with voters.csv --on agee,sex,disease --sensitive diseas --fail-below 1",
        2,
        &[
            "column `agee` is not in the release",
            "did you mean `age`?",
            "column `agee` is not in the outside table",
            "column `disease` is not in the outside table",
            "did you mean `disease`?",
            "--fail-below must be at least 2",
        ],
    );
    folder.fails("attack no.csv --with none.csv", 2, &["`no.csv`", "`none.csv`"]);
    folder.fails(
        "attack no.csv --with voters.csv --on ag",
        2,
        &["`no.csv`", "column `ag` is not in"],
    );
    folder.fails("attack patients.csv --with none.csv", 2, &["`none.csv` does not exist"]);
    let twice = "attack patients.csv --with voters.csv --on age,age,sex --sensitive sex";
    folder.fails(twice, 2, &["--on twice", "--on and --sensitive"]);
    let nothing = Folder::with(&[("a.csv", "x\n1\n"), ("b.csv", "y\n1\n"), ("c.csv", "x\na*b\n")]);
    nothing.fails("attack a.csv --with b.csv", 2, &["no column in common"]);
    let empty = Folder::with(&[("a.csv", "x\n1\n"), ("e.csv", "x\n")]);
    assert_eq!(counts(&attack(&empty, "e.csv --with a.csv")), [1, 0, 0]);
    assert_eq!(counts(&attack(&empty, "a.csv --with e.csv")), [0, 0, 0]);
    let wrong = "attack a.csv --with b.csv --report r.txt";
    nothing.fails(wrong, 2, &["a report is a .json or .html file", "name it .html to read it"]);
    nothing.fails("attack c.csv --with a.csv", 2, &["cannot be understood", "in data row 1"]);
}

/// A gate that compared nothing must not be open.
#[test]
fn a_gate_without_candidates_is_an_error() {
    let folder = Folder::with(&[("r.csv", "job\nMedical\nMedical\n"), ("o.csv", "job\nDentist\n")]);
    folder.fails("attack r.csv --with o.csv --fail-below 2", 2, &["could not fail", "--hierarchy"]);
}

/// Rows of one person are one candidate, where the table says whose they are.
#[test]
fn candidates_are_people_where_the_job_names_an_entity() {
    let visits = "pid,age,ill\n7,30,a\n7.0,30,b\n7.00,30,c\n8,40,a\n9,40,b\n";
    let job = "[columns]\nage = { role = \"quasi\" }\nill = { role = \"sensitive\" }\n\
               pid = { role = \"insensitive\", entity = true }\n[privacy]\nk = 2\n";
    let folder = Folder::with(&[("t.csv", visits), ("job.toml", job)]);
    let found = attack(&folder, "t.csv --with t.csv --on age");
    assert_eq!(counts(&found), [0, 0, 0], "{found}");
    let found = attack(&folder, "t.csv --with t.csv --on age --job job.toml --before t.csv");
    assert_eq!(found["candidates"]["one"], 3, "{found}");
    assert_eq!(found["before"]["candidates"]["one"], 3, "{found}");
    let compared = attack(&folder, "t.csv --with t.csv --job job.toml --sensitive ill");
    assert_eq!(compared["on"].as_array().unwrap().len(), 1, "the entity is not compared");
    let ended = folder.run("attack t.csv --with t.csv --on age --job job.toml --fail-below 2");
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let hidden = job.replace("insensitive", "identifier");
    std::fs::write(folder.path("hidden.toml"), hidden).unwrap();
    folder.ok("anonymize t.csv -o r.csv --job hidden.toml");
    let ended = folder.ok("attack r.csv --with t.csv --on age --job hidden.toml");
    assert!(ended.stderr.contains("candidates of the release are rows"), "{}", ended.stderr);
    let gate = "attack r.csv --with t.csv --on age --job hidden.toml --fail-below 2";
    folder.fails(gate, 2, &["`pid`, which the release does not hold"]);
}

/// A mean that was withheld rules nobody out: every released row has k candidates.
#[test]
fn every_released_row_has_its_class_in_every_form() {
    let folder = Folder::with(&[
        ("t.csv", &people(120, 9)),
        ("sex.csv", "f;*\nm;*\n"),
        ("status.csv", "single;alone;*\nwidowed;alone;*\nmarried;married;*\n"),
    ]);
    folder.ok("hierarchy make t.csv --column age --width 10 -o age.csv");
    let roles = "--quasi age,sex,status --sensitive diagnosis --insensitive note,city";
    let trees = "--hierarchy age=age.csv --hierarchy sex=sex.csv --hierarchy status=status.csv";
    let algorithms = [
        "mondrian",
        "mondrian --relaxed",
        "single-dimensional",
        "hill-climb --suppress 10%",
        "hill-climb --suppress 10% --suppressed star",
        "koptimize --node-limit 300 --suppress 10%",
        "butterfly",
        "union",
        "tds --target city",
        "optimal --suppress 10%",
        "optimal --suppress 10% --suppressed star",
        "incognito",
        "samarati --suppress 5%",
        "bottom-up",
        "datafly --suppress 5%",
    ];
    for algorithm in algorithms {
        let name = algorithm.split(' ').next().unwrap();
        let needs_trees = ["optimal", "incognito", "samarati", "bottom-up", "datafly", "tds"];
        let trees = if needs_trees.contains(&name) { trees } else { "" };
        for labels in ["range", "bounds", "mean", "range+mean", "region"] {
            let is_local = algorithm.contains("relaxed") || algorithm == "butterfly";
            if is_local && labels == "region" {
                continue;
            }
            let made = format!("-k 4 {roles} --algorithm {algorithm} --labels {labels} {trees}");
            folder.ok(&format!("anonymize t.csv -o r.csv --force --report r.json {made}"));
            let left_out = folder.json("r.json")["release"]["suppressed"].as_u64().unwrap();
            let on =
                format!("--on age,sex,status --quasi age,sex,status --labels {labels} {trees}");
            let found = attack(&folder, &format!("r.csv --with t.csv {on} -k 4"));
            assert_eq!(found["candidates"]["below_k"], 0, "{made}: {found}");
            let none = found["candidates"]["none"].as_u64().unwrap();
            assert!(none <= left_out, "{made}: {found}");
        }
    }
}

/// `-2` with one mask and `-214` with two are both `-2**`: the label means all that any node of
/// that name holds.
#[test]
fn a_label_of_several_levels_means_the_highest() {
    let folder = Folder::with(&[("t.csv", "q\n-2\n-214\n")]);
    folder.ok("hierarchy make t.csv --column q --mask right -o h.csv");
    folder.ok("anonymize t.csv -o r.csv -k 2 --quasi q --hierarchy q=h.csv --algorithm koptimize");
    assert_eq!(folder.read("r.csv"), "q\n-2**\n-2**\n");
    folder.ok("attack r.csv --with t.csv --hierarchy q=h.csv --fail-below 2 --json");
}

/// A raw table has leaves, not nodes: `2` is the age 2, though the node above it has the same name.
#[test]
fn a_leaf_of_an_outside_table_is_not_the_node_of_its_name() {
    let tree = "2;2;*\n20;2;*\n30;3;*\n35;3;*\n";
    let folder = Folder::with(&[
        ("h.csv", tree),
        ("r.csv", "age\n20\n20\n2\n3\n3\n"),
        ("t.csv", "age\n2\n20\n30\n"),
    ]);
    let found = attack(&folder, "r.csv --with t.csv --hierarchy age=h.csv");
    // The age 2 could be the label 2 alone, the age 20 could be all three rows of the twenties.
    assert_eq!(counts(&found), [0, 1, 1], "{found}");
    // In the original table, too: someone aged 2 is not the two of the age 20.
    let found = attack(&folder, "r.csv --with t.csv --before t.csv --hierarchy age=h.csv");
    assert_eq!(found["before"]["candidates"]["one"], 3, "{found}");
    let asked = folder.ok(
        "query r.csv 'SELECT COUNT(*) WHERE age = 2' --hierarchy age=h.csv --original t.csv --json",
    );
    let report: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(report["queries"][0]["rows"][0]["answers"][0]["true"], 1.0, "{report}");
}
