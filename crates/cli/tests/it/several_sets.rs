//! Several quasi-identifier sets: own ks, coalitions, and what attackers would find together.

use serde_json::{Value, json};

use crate::harness::{Folder, PATIENTS, people, rows};

/// Two of each for each attacker; together they tell all four rows apart.
const APART: &str = "a,b,c\n1,x,p\n1,y,q\n2,x,q\n2,y,p\n";

const PEOPLE_SETS: &str = "--quasi insurer=age,city --quasi hr=age,status --quasi bank=sex,city \
                           --sensitive diagnosis --insensitive note";

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The least number of rows that look the same on some columns.
fn least(release: &str, columns: &[usize]) -> usize {
    let mut classes = std::collections::BTreeMap::new();
    for row in rows(release) {
        let key: Vec<String> = columns.iter().map(|&at| row[at].to_owned()).collect();
        *classes.entry(key).or_insert(0) += 1;
    }
    classes.into_values().min().unwrap()
}

#[test]
fn each_set_has_its_own_k() {
    let folder = Folder::with(&[("t.csv", &people(500, 31))]);
    for algorithm in ["butterfly", "union", "mondrian"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv --force -k 3 -k hr=12 {PEOPLE_SETS} --algorithm {algorithm} --report r.json"
        ));
        let (release, report) = (folder.read("r.csv"), folder.json("r.json"));
        for (at, name, k, columns) in
            [(0, "insurer", 3, [0, 2]), (1, "hr", 12, [0, 3]), (2, "bank", 3, [1, 2])]
        {
            let set = &report["privacy"][at];
            assert_eq!(set["quasi"], name);
            assert_eq!(set["required"]["k"], k, "{algorithm} {name}");
            assert_eq!(set["satisfied"], true);
            let found = least(&release, &columns);
            assert_eq!(set["k"], found, "{algorithm} {name}");
            assert!(found >= k);
            let risk = 1.0 / found as f64;
            assert_eq!(set["risk"]["prosecutor_max"], risk);
            assert_eq!(set["risk"]["records_at_risk"], 0);
        }
        assert_eq!(report["search"]["optimal"], false);
    }
}

#[test]
fn a_job_needs_no_k_if_every_set_has_one() {
    let folder = Folder::with(&[("t.csv", &people(300, 32))]);
    let ks = "-k insurer=2 -k hr=3 -k bank=4";
    let ended = folder.ok(&format!("anonymize t.csv -o r.csv {ks} {PEOPLE_SETS} --json"));
    let required: Vec<Value> = json_of(&ended.stdout)["privacy"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["required"]["k"].clone())
        .collect();
    assert_eq!(required, [2, 3, 4]);
    folder.fails(
        &format!("anonymize t.csv -o s.csv -k insurer=2 -k hr=3 {PEOPLE_SETS}"),
        2,
        &["the quasi-identifier set `bank` has no k", "-k bank=10"],
    );
    folder.fails(&format!("anonymize t.csv -o s.csv {PEOPLE_SETS}"), 2, &["the job has no k"]);
}

#[test]
fn the_sample_of_the_design_puts_coalitions_behind_the_last_set() {
    let sets = "[[quasi]]\nname = \"insurer\"\ncolumns = [\"age\", \"city\"]\nk = 2\n\
                [[quasi]]\nname = \"hr\"\ncolumns = [\"status\", \"age\"]\n";
    let collude = "collude = [[\"insurer\", \"hr\"]]\n";
    let rest = "[columns]\ndiagnosis = { role = \"sensitive\" }\n[privacy]\nk = 6\n";
    let folder = Folder::with(&[
        ("t.csv", &people(400, 33)),
        ("behind.toml", &format!("undeclared = \"drop\"\n{rest}{sets}{collude}")),
        ("top.toml", &format!("{collude}undeclared = \"drop\"\n{rest}{sets}")),
        ("flat.toml", &format!("{rest}{sets}collude = [\"insurer\", \"hr\"]\n")),
        ("wrong.toml", &format!("{rest}{sets}colude = [[\"insurer\", \"hr\"]]\n")),
    ]);
    for name in ["behind", "top"] {
        folder.ok(&format!("anonymize t.csv -o {name}.csv --job {name}.toml --report {name}.json"));
        let report = folder.json(&format!("{name}.json"));
        let coalition = &report["privacy"][2];
        assert_eq!(coalition["quasi"], "insurer+hr");
        assert_eq!(coalition["columns"], json!(["age", "city", "status"]));
        assert_eq!(coalition["required"]["k"], 6, "the greatest of its sets'");
        assert_eq!(report["privacy"][0]["required"]["k"], 2);
        assert_eq!(report["job"]["collude"], json!([["insurer", "hr"]]));
        assert_eq!(report["collusion"][0]["required"], true);
        let printed = folder.ok(&format!("anonymize --job {name}.toml --print-job")).stdout;
        let (top, _) = printed.split_once('[').unwrap();
        assert!(top.contains("collude = "), "{printed}");
    }
    assert_eq!(folder.read("behind.csv"), folder.read("top.csv"));
    folder.fails(
        "anonymize t.csv -o r.csv --job wrong.toml",
        2,
        &["unknown key `colude` in [[quasi]]", "did you mean `collude`?"],
    );
    folder.fails(
        "anonymize t.csv -o r.csv --job flat.toml",
        2,
        &["`collude` must be a list of coalitions", "collude = [[\"insurer\", \"hr\"]]"],
    );
    // Flags win over the file.
    let printed =
        folder.ok("anonymize --job top.toml -k 9 -k hr=4 --collude hr,insurer --print-job").stdout;
    for says in ["k = 9", "k = 4", "k = 2", "collude = [[\"hr\", \"insurer\"]]"] {
        assert!(printed.contains(says), "{printed}");
    }
    let again = Folder::with(&[("job.toml", &printed)]);
    assert_eq!(again.ok("anonymize --job job.toml --print-job").stdout, printed);
}

#[test]
fn a_table_is_checked_set_by_set() {
    let folder = Folder::with(&[("t.csv", APART)]);
    let sets = "--quasi one=a --quasi two=b --quasi three=c";
    let ended = folder.ok(&format!("check t.csv -k 2 {sets} --json"));
    let report = json_of(&ended.stdout);
    let together = report["collusion"].as_array().unwrap();
    let who: Vec<&Value> = together.iter().map(|found| &found["quasi"]).collect();
    assert_eq!(
        who,
        [
            &json!(["one", "two"]),
            &json!(["one", "three"]),
            &json!(["two", "three"]),
            &json!(["one", "two", "three"])
        ]
    );
    for found in together {
        assert_eq!(found["k"], 1);
        assert_eq!(found["required"], false);
        assert_eq!(found["risk"]["prosecutor_max"], 1.0);
        assert_eq!(found["risk"]["records_at_risk"], 4);
    }
    assert_eq!(report["risk"]["prosecutor_max"], 0.5, "of the sets, not of what may collude");
    folder.fails(
        &format!("check t.csv -k 2 -k two=3 {sets}"),
        1,
        &["3-anonymity does not hold with respect to {b} of `two`"],
    );
    folder.fails(
        &format!("check t.csv -k 2 {sets} --collude one,two"),
        1,
        &["2-anonymity does not hold with respect to {a, b} of `one+two`: 4 classes with 4 rows"],
    );
    let ended = folder.run(&format!("check t.csv -k 2 {sets} --collude one,two --json"));
    let report = json_of(&ended.stdout);
    assert_eq!(report["privacy"].as_array().unwrap().len(), 4);
    assert_eq!(report["privacy"][3]["satisfied"], false);
    assert_eq!(report["collusion"][0]["required"], true);
    assert_eq!(report["collusion"][1]["required"], false);
    assert_eq!(report["collusion"][3]["required"], false);
    // Without a k it only measures.
    folder.ok(&format!("check t.csv {sets} --collude one,two"));
    folder.ok(&format!("check t.csv -k one=2 {sets}"));
}

#[test]
fn a_set_with_all_columns_asks_for_the_coalition_too() {
    let folder = Folder::with(&[("t.csv", "a,b\n1,x\n1,x\n2,y\n2,y\n")]);
    let ended = folder.ok("check t.csv -k 2 --quasi all=a,b --quasi some=a --json");
    let report = json_of(&ended.stdout);
    assert_eq!(report["collusion"][0]["required"], true);
    assert_eq!(report["collusion"][0]["k"], 2);
    // One set is nobody to collude with.
    for one in ["--quasi a,b", "--quasi all=a,b"] {
        let report = json_of(&folder.ok(&format!("check t.csv -k 2 {one} --json")).stdout);
        assert!(report.get("collusion").is_none(), "{report}");
        assert_eq!(report["privacy"][0]["risk"]["prosecutor_max"], 0.5);
    }
}

#[test]
fn people_are_told_of_every_set_and_of_who_may_collude() {
    let folder = Folder::with(&[("t.csv", APART)]);
    let said = folder.ok("check t.csv -k 2 --quasi one=a --quasi two=b --quasi three=c").stdout;
    for line in [
        "one: the table is 2-anonymous with respect to {a}, 2 asked for; risk of a record: at most 0.5000, \
         0.5000 on average; 0 records at risk\n",
        "one and two, if they put their knowledge together, would find classes as small as 1 (nothing in \
         the job covers it; --collude one,two would); risk of a record: at most 1.0000, 1.0000 on average; 4 records at risk\n",
        "one, two and three, if they put their knowledge together, would find classes as small as 1",
        "4 rows in 4 classes of 1 to 1 over all columns together; 0 suppressed\n",
    ] {
        assert!(said.contains(line), "{said}\nlacks {line}");
    }
    let folder = Folder::with(&[("t.csv", &people(300, 34))]);
    let ended =
        folder.ok(&format!("anonymize t.csv -o r.csv -k 4 {PEOPLE_SETS} --collude insurer,hr"));
    let says = [
        "insurer+hr: the table is now",
        "insurer and hr, if they put",
        "a set or coalition of the job covers it",
    ];
    for text in says {
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
    }
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_single_set_algorithm_hints_at_butterfly() {
    let folder = Folder::with(&[("t.csv", &people(300, 35))]);
    let hint = "--algorithm butterfly may lose less";
    for (rest, is_hinted) in [
        ("", true),
        ("--algorithm mondrian", true),
        ("--algorithm union", false),
        ("--algorithm butterfly", false),
        ("--collude insurer,hr,bank", false),
    ] {
        let ended =
            folder.ok(&format!("anonymize t.csv -o r.csv --force -k 4 {PEOPLE_SETS} {rest}"));
        assert_eq!(ended.stderr.contains(hint), is_hinted, "{rest}: {}", ended.stderr);
    }
}

#[test]
fn the_union_is_what_its_variant_makes_of_it() {
    let cities: Vec<String> = (0..12).map(|city| format!("city{city};c{};*\n", city % 3)).collect();
    let folder = Folder::with(&[
        ("t.csv", &people(400, 36)),
        ("city.csv", &cities.concat()),
        ("sex.csv", "f;*\nm;*\n"),
    ]);
    let sets = "-k 4 --quasi one=sex --quasi two=city,sex --sensitive diagnosis --insensitive note,age,status \
                --hierarchy city=city.csv --hierarchy sex=sex.csv --quiet --force";
    for (variant, alone) in [
        ("", "--algorithm mondrian"),
        ("--variant mondrian", "--algorithm mondrian"),
        ("--relaxed", "--algorithm mondrian --relaxed"),
        ("--variant mondrian-relaxed", "--algorithm mondrian --relaxed"),
        ("--variant optimal", "--algorithm optimal"),
        ("--variant incognito", "--algorithm incognito"),
        ("--variant incognito,cube", "--algorithm incognito --variant cube"),
        ("--variant samarati", "--algorithm samarati"),
        ("--variant bottom-up", "--algorithm bottom-up"),
        ("--variant datafly", "--algorithm datafly"),
        ("--variant single-dimensional", "--algorithm single-dimensional"),
        ("--variant hill-climb", "--algorithm hill-climb"),
        ("--variant koptimize", "--algorithm koptimize"),
        ("--variant tds --target status", "--algorithm tds --target status"),
        (
            "--split infogain --target status",
            "--algorithm mondrian --split infogain --target status",
        ),
    ] {
        folder.ok(&format!(
            "anonymize t.csv -o union.csv {sets} --algorithm union {variant} --report u.json"
        ));
        folder.ok(&format!("anonymize t.csv -o alone.csv {sets} {alone}"));
        assert_eq!(folder.read("union.csv"), folder.read("alone.csv"), "{variant}");
        let report = folder.json("u.json");
        assert_eq!(report["search"]["algorithm"], "union");
        let asked = variant.strip_prefix("--variant ").map(|rest| rest.split(' ').next().unwrap());
        let named = match variant {
            "--relaxed" => "mondrian-relaxed",
            _ => asked.unwrap_or("mondrian"),
        };
        assert_eq!(report["search"]["variant"], named);
        assert_eq!(report["search"]["optimal"], false, "nothing is proved for several sets");
    }
    let one = "-k 4 --quasi city,sex --sensitive diagnosis --insensitive note,age,status \
               --hierarchy city=city.csv --hierarchy sex=sex.csv --quiet --force";
    folder.ok(&format!(
        "anonymize t.csv -o one.csv {one} --algorithm union --variant optimal --report u.json"
    ));
    assert_eq!(folder.json("u.json")["search"]["optimal"], true, "one set is its own union");
    let fails = |rest: &str, says: &[&str]| {
        folder.fails(&format!("anonymize t.csv -o x.csv {sets} --algorithm union {rest}"), 2, says);
    };
    fails("--variant optimial", &["did you mean `optimal`?"]);
    fails("--variant butterfly", &["`butterfly` is not a valid `variant`"]);
    fails("--variant datafly,cube", &["`datafly` has no variants"]);
    fails("--variant optimal --relaxed", &["only mondrian has a relaxed form"]);
    fails("--node-limit 3", &["cannot honour --node-limit", "--algorithm koptimize"]);
}

#[test]
fn butterfly_refuses_what_a_local_recoding_cannot_do() {
    let folder = Folder::with(&[("t.csv", &people(300, 37))]);
    let with = |rest: &str| {
        format!("anonymize t.csv -o r.csv --force -k 4 {PEOPLE_SETS} --algorithm butterfly {rest}")
    };
    folder.fails(&with("--relaxed"), 2, &["only mondrian has a relaxed form"]);
    folder.fails(&with("--labels region"), 2, &["`region` labels need a recoding with regions"]);
    folder.fails(
        &with("--split infogain --target status"),
        2,
        &["`split` is for the algorithm mondrian"],
    );
    folder.fails(&with("--variant best"), 2, &["`best` is not a valid `variant`"]);
    for variant in ["improved", "paper"] {
        folder.ok(&with(&format!("--variant {variant} --report r.json --suppress 0")));
        assert_eq!(folder.json("r.json")["search"]["algorithm"], "butterfly");
        assert_eq!(folder.json("r.json")["search"]["variant"], variant);
    }
}

#[test]
fn new_rows_are_measured_set_by_set() {
    let folder = Folder::with(&[("t.csv", &people(600, 38))]);
    folder.ok(&format!(
        "anonymize t.csv -o r.csv -k 3 -k hr=8 {PEOPLE_SETS} --collude insurer,bank --recoding c.json --report r.json"
    ));
    folder.ok("apply c.json t.csv -o again.csv --report again.json");
    assert_eq!(folder.read("r.csv"), folder.read("again.csv"));
    let (made, applied) = (folder.json("r.json"), folder.json("again.json"));
    for key in ["privacy", "collusion", "risk"] {
        assert_eq!(made[key], applied[key], "{key}");
    }
    assert_eq!(applied["privacy"][3]["quasi"], "insurer+bank");
    assert_eq!(applied["privacy"][1]["required"]["k"], 8);
    // A recoding of an older version has no sets: all columns are one.
    let mut old = folder.json("c.json");
    old.as_object_mut().unwrap().retain(|key, _| key != "quasi" && key != "collude");
    std::fs::write(folder.path("old.json"), old.to_string()).unwrap();
    folder.ok("apply old.json t.csv -o old.csv --report old-report.json");
    assert_eq!(folder.json("old-report.json")["privacy"][0]["quasi"], "default");
}

#[test]
fn sets_of_flags_without_names() {
    let folder = Folder::with(&[
        ("t.csv", APART),
        ("job.toml", "[[quasi]]\nname = \"x\"\ncolumns = [\"c\"]\n"),
    ]);
    let ended = folder.ok("check t.csv -k 2 -k set2=2 --quasi a --quasi b --json");
    let report = json_of(&ended.stdout);
    assert_eq!(report["collusion"][0]["quasi"], json!(["set1", "set2"]));
    // A set of the flags without a name takes the place of all sets of the file.
    let ended = folder.ok("check t.csv -k 2 --job job.toml --quasi a --json");
    let report = json_of(&ended.stdout);
    assert_eq!(
        report["privacy"],
        json_of(&folder.ok("check t.csv -k 2 --quasi a --json").stdout)["privacy"]
    );
    folder.fails(
        "check t.csv -k 2 --quasi set2=a --quasi b",
        2,
        &["two quasi-identifier sets are named `set2`", "a name of its own"],
    );
}

#[test]
fn everything_that_is_wrong_with_sets_at_once() {
    let folder = Folder::with(&[("t.csv", PATIENTS)]);
    let flags = "--quasi one=agee,sex --quasi two=zipcode,disease --quasi two=age --quasi three= --quasi =sex \
                 --sensitive disease --collude one,tow --collude one --collude two,two --collude three,nobody";
    folder.fails(
        &format!("anonymize t.csv -o r.csv -k 2 -k one=1 {flags}"),
        2,
        &[
            "column `agee` is not in the input\n  help: did you mean `age`?",
            "column `disease` is sensitive and in a quasi-identifier set",
            "two quasi-identifier sets are named `two`",
            "quasi-identifier set `three` has no columns",
            "quasi-identifier set 5 has no name",
            "quasi-identifier set `one`: k must be at least 2, found 1\n  help: ask for -k one=2 or more",
            "a coalition names `tow`, which is not a quasi-identifier set\n  help: did you mean `two`?",
            "a coalition is of two sets or more, found `one`",
            "the coalition of `two`, `two` names `two` twice",
            "a coalition names `nobody`, which is not a quasi-identifier set\n  help: the sets are",
        ],
    );
    let said = folder.run(&format!("anonymize t.csv -o r.csv -k 2 {flags}")).stderr;
    assert_eq!(said.matches("`agee`").count(), 1, "{said}");
    assert!(!said.contains("no quasi-identifier\n"), "{said}");
}

#[test]
fn the_same_from_a_job_file() {
    let job = "input = \"t.csv\"\noutput = \"r.csv\"\ncollude = [[\"one\", \"won\"], [], [\"one\", \"two\", \"one\"]]\n\
               [columns]\ndisease = { role = \"sensitive\" }\nsex = { role = \"insensitive\" }\nzipcode = { role = \"identifier\" }\n\
               [privacy]\nk = 1\n\
               [[quasi]]\nname = \"one\"\ncolumns = [\"age\", \"sex\", \"disease\", \"zipcode\"]\n\
               [[quasi]]\nname = \"one\"\nk = 0\n\
               [[quasi]]\ncolumns = [\"age\"]\ncollude = [[\"two\", \"one\"]]\n";
    let folder = Folder::with(&[("t.csv", PATIENTS), ("job.toml", job)]);
    for command in ["anonymize", "check"] {
        folder.fails(
            &format!("{command} --job job.toml"),
            2,
            &[
                "column `disease` is sensitive and in",
                "column `sex` is insensitive and in",
                "column `zipcode` is identifier and in",
                "two quasi-identifier sets are named `one`",
                "quasi-identifier set `one` has no columns",
                "quasi-identifier set 3 has no name",
                "k must be at least 2, found 1",
                "quasi-identifier set `one`: k must be at least 2, found 0",
                "a coalition names `won`",
                "a coalition is of two sets or more, found none",
                "names `one` twice",
                "a coalition names `two`",
            ],
        );
    }
}

#[test]
fn ks_of_sets_that_are_not_there() {
    let folder = Folder::with(&[("t.csv", APART)]);
    let sets = "--quasi doctor=a --quasi boss=b --collude doctor,boss";
    folder.fails(
        &format!("check t.csv -k doctr=3 -k nobody=2 -k doctor+boss=2 -k 2 -k 3 -k boss=2 -k boss=3 {sets}"),
        2,
        &[
            "-k names `doctr`, which is not a quasi-identifier set\n  help: did you mean `doctor`?",
            "-k names `nobody`, which is not a quasi-identifier set\n  help: the sets are doctor, boss",
            "-k names `doctor+boss`, which is not a quasi-identifier set\n  help: the k of a coalition",
            "-k is given more than once\n",
            "-k is given more than once for the set `boss`",
        ],
    );
    folder.fails("check t.csv --quasi a,b -k one=2", 2, &["say -k 2, or name the sets"]);
    folder.fails(&format!("check t.csv -k boss=x {sets}"), 2, &["invalid value", "[SET=]N"]);
    folder.fails(
        "check t.csv --quasi a,b --collude one,two",
        2,
        &["a coalition names `one`", "name the sets first"],
    );
}

#[test]
fn the_name_of_a_coalition_is_nobody_elses() {
    let folder = Folder::with(&[("t.csv", APART)]);
    folder.fails(
        "check t.csv -k 2 --quasi x=a --quasi y=b --quasi x+y=c --collude x,y",
        2,
        &["the coalition of `x`, `y` would have the name of a set, `x+y`", "no name has a `+`"],
    );
    folder.fails(
        "check t.csv -k 2 --quasi x=a --quasi y+z=b --quasi x+y=c --quasi z=a --collude x,y+z --collude x+y,z",
        2,
        &["the name of another coalition, `x+y+z`"],
    );
    // The same coalition twice is one.
    let ended =
        folder.run("check t.csv -k 2 --quasi x=a --quasi y=b --collude x,y --collude y,x --json");
    assert_eq!(json_of(&ended.stdout)["privacy"].as_array().unwrap().len(), 3);
}

/// Tables I to III of the paper: one release in which every person has a double for each reader,
/// and none for both together unless that is asked for.
#[test]
fn the_accidents_of_the_paper() {
    let example =
        |path: &str| format!("{}/../../examples/accidents/{path}", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::with(&[]);
    let (job, collude) = (example("job.toml"), example("job-collude.toml"));
    let ended = folder.ok(&format!("anonymize --job {job} -o r.csv --json"));
    let expected = "occupation,age,vehicle,postcode,faulty\n\
                    Finance,30,Sedan,31043,No\nFinance,30,Truck,31043,No\n\
                    Medical,30,Sedan,31043,Yes\nMedical,30,Truck,31043,No\n";
    assert_eq!(folder.read("r.csv"), expected);
    let report = json_of(&ended.stdout);
    assert_eq!(report["collusion"][0]["k"], 1);
    assert_eq!(report["collusion"][0]["required"], false);
    let table = example("accidents.csv");
    for (on, candidates) in [
        ("occupation,age,postcode", 2),
        ("age,vehicle,postcode", 2),
        ("occupation,age,vehicle,postcode", 1),
    ] {
        let attack =
            folder.ok(&format!("attack r.csv --with {table} --on {on} --job {job} --json"));
        assert_eq!(json_of(&attack.stdout)["candidates"]["least"], candidates, "{on}");
    }
    let ended = folder.ok(&format!("anonymize --job {collude} -o c.csv --json"));
    assert_eq!(json_of(&ended.stdout)["collusion"][0]["k"], 2);
    assert!(least(&folder.read("c.csv"), &[0, 1, 2, 3]) == 2);
}

/// What separate releases give away, seen by `check`: each leaves the other reader's column as it
/// was.
#[test]
fn figure_1_and_table_4_are_recognised() {
    let figure = "a,b,c\n1,x,p\n1,x,q\n2,x,p\n2,x,q\n";
    let table = "a,b,c\n1,1,1\n1,1,2\n1,2,1\n1,2,2\n2,1,1\n2,1,2\n2,2,1\n2,2,2\n";
    let folder = Folder::with(&[("figure.csv", figure), ("table.csv", table)]);
    let ended = folder.ok("check figure.csv -k 2 --quasi s1=a,b --quasi s2=b,c --json");
    assert_eq!(json_of(&ended.stdout)["collusion"][0]["k"], 1);
    assert_eq!(folder.run("check figure.csv -k 2 --quasi s=a,b,c").code, 1);
    for proper in ["a", "b", "c", "a,b", "a,c", "b,c"] {
        folder.ok(&format!("check table.csv -k 2 --quasi s={proper}"));
    }
    assert_eq!(folder.run("check table.csv -k 2 --quasi s=a,b,c").code, 1);
    let together = "check table.csv -k 2 --quasi s1=a,b --quasi s2=b,c --quasi s3=a,c";
    folder.ok(together);
    assert_eq!(folder.run(&format!("{together} --collude s1,s3")).code, 1);
}

/// What a file says to be sensitive does not become quasi by a flag, and a set keeps the k of the
/// file.
#[test]
fn flags_do_not_weaken_what_the_file_asks_for() {
    let job = "input = 't.csv'\noutput = 'r.csv'\n[columns]\ndiagnosis = { role = 'sensitive' }\n\
               note = { role = 'insensitive' }\n[privacy]\nk = 2\n\
               [[quasi]]\nname = 'hr'\ncolumns = ['age', 'status']\nk = 9\n\
               [[quasi]]\nname = 'bank'\ncolumns = ['sex', 'city']\n";
    let folder = Folder::with(&[("t.csv", &people(300, 33)), ("job.toml", job)]);
    folder.fails(
        "anonymize --job job.toml --quasi hr=age,diagnosis --quasi bank=sex,city",
        2,
        &["column `diagnosis` is sensitive and in a quasi-identifier set"],
    );
    let sets = "--quasi hr=age,status --quasi bank=sex,city,age";
    let ended = folder.ok(&format!("anonymize --job job.toml {sets} --json"));
    assert_eq!(json_of(&ended.stdout)["privacy"][0]["required"]["k"], 9);
}

/// A coalition is covered by a set only if that asks for a k as great.
#[test]
fn a_set_with_a_smaller_k_covers_no_coalition() {
    let folder = Folder::with(&[("t.csv", "a,b\n1,1\n1,1\n1,2\n1,2\n")]);
    let ended = folder.ok("check t.csv -k 2 -k narrow=4 --quasi wide=a,b --quasi narrow=a --json");
    let collusion = &json_of(&ended.stdout)["collusion"][0];
    assert_eq!((&collusion["k"], &collusion["required"]), (&json!(2), &json!(false)));
    assert_eq!(collusion["risk"]["records_at_risk"], 4);
}

/// Risk speaks of people, where k does.
#[test]
fn a_class_of_one_person_is_at_risk() {
    let folder = Folder::with(&[("t.csv", "a,e\n5,p\n5,p\n5,p\n6,q\n6,r\n")]);
    let ended = folder.run("check t.csv -k 2 --quasi a --entity e --json");
    assert_eq!(ended.code, 1);
    let report = json_of(&ended.stdout);
    assert_eq!(report["risk"]["prosecutor_max"], 1.0);
    assert_eq!(report["risk"]["records_at_risk"], 3);
    folder.fails(
        "anonymize t.csv -o r.csv -k 2 --quasi a,e --entity e",
        2,
        &["quasi and the entity"],
    );
}

/// A mean over fewer than k values would give them away.
#[test]
fn no_mean_of_fewer_than_k_values() {
    let table = "a,b,s\n31,x,u\n,x,v\n55,y,u\n57,y,v\n";
    let folder = Folder::with(&[("t.csv", table)]);
    for algorithm in ["mondrian", "butterfly"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv --force -k 2 --quasi p=a,b --quasi q=b --sensitive s --labels range+mean \
             --algorithm {algorithm}"
        ));
        let release = folder.read("r.csv");
        assert!(!release.contains("31"), "{release}");
        assert!(release.contains("[55-57],56,y"), "{release}");
    }
}

/// The time is up at once: the release is no worse than the union's.
#[test]
fn a_time_limit_costs_no_more_than_the_union() {
    let folder = Folder::with(&[("t.csv", &people(3000, 34))]);
    let loss = |flags: &str| {
        let job = format!("anonymize t.csv -o r.csv --force -k 3 {PEOPLE_SETS} --json {flags}");
        json_of(&folder.ok(&job).stdout)["measures"]["loss"].as_f64().unwrap()
    };
    let union = loss("--algorithm union");
    for variant in ["paper", "improved"] {
        let found = loss(&format!("--algorithm butterfly --variant {variant} --time-limit 1ms"));
        assert!(found <= union + 1e-12, "{variant} {found} {union}");
    }
}
