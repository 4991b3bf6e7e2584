//! The report of a release as an HTML page.

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB as JOB, people};
use crate::pages;

#[test]
fn every_part_is_there() {
    let folder = Folder::with(&[("t.csv", &people(400, 7))]);
    folder.ok(&format!(
        "anonymize t.csv -o r.csv -k 4 {JOB} --report r.html --quiet --seed 5 \
         --query 'SELECT COUNT(*) WHERE age < 30'"
    ));
    let html = folder.read("r.html");
    for part in [
        "Report of the release r.csv",
        "4-anonymous with respect to age, sex, city and status",
        "In short",
        "What was released",
        "Some records, before and after",
        "How it was recoded",
        "What became of each quasi-identifier column",
        "Details: privacy before and after",
        "Records by the size of their class",
        "Can a person be singled out?",
        "Can records be linked with another table?",
        "Can something be inferred about a person?",
        "What it is good for",
        "SELECT COUNT(*) WHERE age &lt; 30",
        "How each column is distributed",
        "What goes together",
        "The partition",
        "What this does not promise",
        "SHA-256 of the input t.csv",
        "SHA-256 of the release r.csv",
        "<td>seed</td><td>5</td>",
        "role = &quot;quasi&quot;",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    // Every figure has what it means; how it is worked out is folded.
    let cards = html.matches("<dd class=\"value\">").count();
    assert!(cards > 12, "{cards}");
    assert_eq!(html.matches("<dd class=\"note\">").count(), cards);
    assert!(html.matches("<dd><code>").count() > 12);
    assert_eq!(html.matches("<details>").count(), html.matches("<summary>").count());
    for attacker in ["the prosecutor, who", "picks the right record at most 1 time in 4"] {
        assert_eq!(html.matches(attacker).count(), 1, "{attacker}");
    }
    // Ranges or labels, distributions, sizes, losses, two matrices, the partition.
    assert_eq!(html.matches("<svg").count(), 4 + 4 + 1 + 1 + 2 + 1);
}

#[test]
fn figures_are_those_of_the_json_report() {
    let folder = Folder::with(&[("t.csv", &people(400, 7))]);
    let job = format!("anonymize t.csv -o r.csv -k 4 {JOB} --quiet --force --json");
    let json: serde_json::Value =
        serde_json::from_str(&folder.ok(&format!("{job} --report r.html")).stdout).unwrap();
    let before = folder.run(&format!("check t.csv {JOB} -k 4 --json"));
    let before: serde_json::Value = serde_json::from_str(&before.stdout).unwrap();
    let html = folder.read("r.html");
    let card = |name: &str, value: String| {
        let text = format!("<dt>{name}</dt><dd class=\"value\">{value}");
        assert!(html.contains(&text), "{text}");
    };
    let (after, was) = (&json["privacy"][0], &before["privacy"][0]);
    let k = format!("{} <span>before: {}</span> <span>asked for: 4</span>", after["k"], was["k"]);
    card("k", k);
    let both = |key: &str| {
        let of = |set: &serde_json::Value| set["risk"][key].as_f64().unwrap();
        format!("{:.4} <span>before: {:.4}", of(after), of(was))
    };
    card("Mean risk of a record", both("prosecutor_average"));
    card("Marketer risk", both("marketer"));
    card("Loss", format!("{:.4}", json["measures"]["loss"].as_f64().unwrap()));
    assert!(json["timings_s"]["report"].as_f64().unwrap() > 0.0);
}

#[test]
fn values_cannot_leave_their_place() {
    let evil = "</svg><script>alert(1)</script>";
    let table = people(200, 2)
        .replace("city1,", &format!("{evil}1,"))
        .replace("status", "<b>status&\"'</b>")
        .replacen("d1\n", &format!("{evil}\n"), 1);
    let folder = Folder::with(&[("t.csv", &table)]);
    let mut command = folder.command("anonymize t.csv -o r.csv -k 3 --report r.html --quiet");
    let status = command
        .args(["--quasi", "age,sex,city,<b>status&\"'</b>"])
        .args(["--sensitive", "diagnosis", "--insensitive", "note"])
        .status()
        .unwrap();
    assert!(status.success());
    let html = folder.read("r.html");
    assert!(html.contains("alert(1)"), "labels are shown");
    assert!(!html.contains("<script") && !html.contains("<b>status"));
    pages::check(&folder.path("r.html"));
}

/// The public pages of two tables that must have the same release, at the same place.
#[track_caller]
fn check_twins(folder: &Folder, job: &str) {
    let mut releases = Vec::new();
    for name in ["a", "b"] {
        folder.ok(&format!(
            "anonymize {name}.csv -o r.csv {job} --report {name}.html --audience public --quiet --force"
        ));
        releases.push(folder.read("r.csv"));
    }
    assert_eq!(releases[0], releases[1]);
    assert_eq!(folder.read("a.html"), folder.read("b.html"), "{job}");
}

#[test]
fn the_public_page_depends_on_the_release_alone() {
    let mut n_twins = 0;
    for seed in 0..40 {
        let table = people(300, seed);
        let folder = Folder::with(&[("a.csv", &table)]);
        let job = "--quasi age,sex --sensitive diagnosis --identifier city,status,note";
        folder.ok(&format!("anonymize a.csv -o ra.csv -k 20 {job} --quiet"));
        let release = folder.read("ra.csv");
        // Another value inside a range leaves the release as it is, if the cuts stay where they
        // are.
        let rows: Vec<Vec<String>> =
            table.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        for at in 1..rows.len() {
            let mut other = rows.clone();
            let age: u32 = other[at][0].parse().unwrap();
            other[at][0] = (age + 1).to_string();
            other[at][2] = "somewhere else".to_owned();
            let other: String = other.iter().map(|row| row.join(",") + "\n").collect();
            std::fs::write(folder.path("b.csv"), other).unwrap();
            folder.ok(&format!("anonymize b.csv -o rb.csv -k 20 {job} --quiet --force"));
            if folder.read("rb.csv") != release {
                continue;
            }
            n_twins += 1;
            check_twins(&folder, &format!("-k 20 {job}"));
            check_twins(&folder, &format!("-k 20 {job} --labels region"));
            break;
        }
        if n_twins == 5 {
            return;
        }
    }
    panic!("only {n_twins} pairs of tables with the same release");
}

/// A hierarchy of ages by decades, one of sexes, and one row that no class is large enough for.
fn with_outlier() -> Folder {
    let table = people(300, 1);
    let ages: Vec<String> = (0..120).map(|age| format!("{age};{}0s;*\n", age / 10)).collect();
    let outlier = format!("{table}119,f,city1,single,d1,n300\n");
    Folder::with(&[
        ("a.csv", &table),
        ("b.csv", &outlier),
        ("age.csv", &ages.concat()),
        ("sex.csv", "f;*\nm;*\n"),
    ])
}

const FULL_DOMAIN: &str = "--quasi age,sex --sensitive diagnosis --identifier city,status,note \
    --hierarchy age=age.csv --hierarchy sex=sex.csv --algorithm optimal --levels age=1,sex=1 --suppress 10rows -k 2";

#[test]
fn the_public_page_does_not_tell_of_rows_that_were_left_out() {
    let folder = with_outlier();
    check_twins(&folder, FULL_DOMAIN);
    let html = folder.read("b.html");
    assert!(!html.contains("Records suppressed") && !html.contains("of 301"));
    folder.ok(&format!("anonymize b.csv -o r.csv {FULL_DOMAIN} --report c.html --quiet --force"));
    assert!(
        folder.read("c.html").contains("<dt>Records suppressed</dt><dd class=\"value\">1</dd>")
    );
}

#[test]
fn the_public_page_tells_nothing_of_the_table() {
    let folder = with_outlier();
    folder.ok(&format!(
        "anonymize b.csv -o r.csv {FULL_DOMAIN} --report p.html --audience public --quiet"
    ));
    let html = folder.read("p.html");
    let html = html.split_once("<body>").unwrap().1;
    for secret in [
        "before:",
        "Before",
        "SHA-256 of the input",
        "b.csv",
        "age.csv",
        "<td>seconds",
        "nodes checked",
        "Loss",
    ] {
        assert!(!html.contains(secret), "{secret}");
    }
    assert!(html.contains("SHA-256 of the release r.csv") && html.contains("For the public"));
    // People are counted, but the release does not say who is who: what was asked for is all that
    // is said.
    let job = "--quasi age,sex --sensitive diagnosis --entity note --undeclared drop -k 20 --quiet --force";
    folder.ok(&format!("anonymize a.csv -o r.csv {job} --report p.html --audience public"));
    let html = folder.read("p.html");
    assert!(html.contains("20 different values of note"), "{html}");
    assert!(!html.contains("Mean risk of a record"));
    folder.ok(&format!("anonymize a.csv -o r.csv {job} --report p.html"));
    assert!(folder.read("p.html").contains("Mean risk of a record"));
}

#[test]
fn all_algorithms_and_labels_have_a_page() {
    let folder = with_outlier();
    let quasi = "--quasi age,sex,city --sensitive diagnosis --undeclared drop -k 5 --quiet --force";
    for flags in [
        "--relaxed",
        "--labels bounds",
        "--labels mean",
        "--labels range+mean --picture age,sex",
        "--labels region",
        "--algorithm koptimize",
        "--algorithm single-dimensional",
        "--algorithm union --quasi other=age,status",
        "--algorithm butterfly --quasi other=age,status",
        "--algorithm hill-climb --suppressed star --suppress 5%",
    ] {
        for audience in ["internal", "public"] {
            folder.ok(&format!(
                "anonymize a.csv -o r.csv {quasi} {flags} --report r.html --audience {audience}"
            ));
            pages::check_markup(&folder.path("r.html"));
            let html = folder.read("r.html");
            let is_drawn = html.contains("How the release divides");
            // The only column that lies on a line is age: with others it is drawn for those who may
            // know their order.
            assert_eq!(is_drawn, audience == "internal", "{flags}");
            for no_number in ["NaN", ">inf", "\"inf", ">-inf", ",inf"] {
                assert!(!html.contains(no_number), "{flags}: {no_number}");
            }
        }
    }
    for flags in ["incognito", "samarati", "datafly"] {
        let job = FULL_DOMAIN.replace("optimal --levels age=1,sex=1", flags);
        folder.ok(&format!("anonymize a.csv -o r.csv {job} --report r.html --quiet --force"));
    }
}

#[test]
fn new_rows_have_a_page_too() {
    let folder = with_outlier();
    folder.ok(&format!("anonymize a.csv -o r.csv -k 5 {JOB} --recoding c.json --quiet"));
    for more in ["", " --memory-limit 400MB"] {
        folder.ok(&format!("apply c.json a.csv -o n.csv --report n.html --quiet --force{more}"));
        let html = folder.read("n.html");
        assert!(html.contains("A saved recoding (multidimensional) was applied to new rows."));
        assert!(html.contains("Details: privacy before and after"));
    }
}

#[test]
fn a_checked_table_has_a_page() {
    let folder = Folder::with(&[("p.csv", PATIENTS)]);
    let ended = folder.run(&format!("check p.csv {PATIENTS_JOB} --report c.html"));
    assert_eq!(ended.code, 1);
    let html = folder.read("c.html");
    assert!(html.contains("Report of the table p.csv"));
    assert!(html.contains("2-anonymity does not hold with respect to {age, sex, zipcode}"));
    assert!(html.contains(
        "100.0% of the records are the only ones with their combination of age, sex and zipcode"
    ));
    assert!(!html.contains("What was released"));
    pages::check(&folder.path("c.html"));
    folder.fails(&format!("check p.csv {PATIENTS_JOB} --report c.html"), 2, &["exists already"]);
}

#[test]
fn empty_and_small_tables_have_a_page() {
    let folder = Folder::with(&[
        ("e.csv", "age,sex,zipcode,disease\n"),
        ("same.csv", "age,sex,zipcode,disease\n1,m,2,x\n1,m,2,x\n"),
        ("missing.csv", "age,sex,zipcode,disease\n,,,\n,,,\n5,,,\n6,,,\n"),
    ]);
    folder.run(&format!("check e.csv {PATIENTS_JOB} --report e.html"));
    for name in ["same", "missing"] {
        folder.ok(&format!(
            "anonymize {name}.csv -o r.csv {PATIENTS_JOB} --report {name}.html --quiet --force"
        ));
        let html = folder.read(&format!("{name}.html"));
        assert!(!html.contains("NaN"), "{name}");
        pages::check_markup(&folder.path(&format!("{name}.html")));
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_read() {
    let folder = Folder::with(&[("p.csv", PATIENTS)]);
    let fails = |flags: &str, says: &[&str]| {
        folder.fails(&format!("anonymize p.csv -o r.csv {PATIENTS_JOB} {flags}"), 2, says);
    };
    fails("--report r.txt", &["a report is a .json or .html file"]);
    fails("--report r.html --audience publik", &["did you mean `public`?"]);
    fails("--audience public", &["--audience is for an HTML report"]);
    fails("--report r.json --picture age,zipcode", &["--picture is for an HTML report"]);
    fails("--report r.html --picture age,zipcod", &["did you mean `zipcode`?"]);
    fails("--report r.html --picture age", &["a picture has two different columns"]);
    fails("--report r.html --picture age,age", &["a picture has two different columns"]);
}

/// What a row that is left out could tell: how long its value is, how many values there are,
/// whether it is a number.
#[test]
fn the_public_page_does_not_tell_what_rows_that_were_left_out_hold() {
    let table = |outlier: &str| {
        let row = |at: u32| format!("{},x{},{}\n", 20 + at % 3, at % 2, at % 4);
        let rows: Vec<String> = (0..60).map(row).collect();
        format!("age,city,s\n{}{outlier}\n", rows.concat())
    };
    let masked = "--quasi age,city --sensitive s -k 5 --suppress 1rows --algorithm optimal \
        --levels age=0,city=0";
    for (a, b) in [
        ("20,zz,1", "20,zzzzzzzz,1"),
        ("20,zz,1", "20,zz,word"),
        ("90,x1,1", "90.5,x1,1"),
        ("90,x1,1", "99,x1,1"),
    ] {
        let job = "[columns]\nage = { hierarchy = { fan-out = 2 } }\ncity = { hierarchy = { mask = \"right\" } }\n";
        let folder = Folder::with(&[("a.csv", &table(a)), ("b.csv", &table(b)), ("j.toml", job)]);
        check_twins(&folder, &format!("--job j.toml {masked}"));
    }
    let folder = Folder::with(&[("a.csv", &table("90,x1,1")), ("b.csv", &table("90.5,x1,1"))]);
    let job = "--quasi age,city --sensitive s -k 5 --suppress 1rows --algorithm koptimize";
    check_twins(&folder, job);
}

/// Pairs of tables whose releases are the same: found by someone who tried to learn more from the
/// page.
#[test]
fn the_public_page_tells_no_more_than_labels() {
    let hierarchy = ("h.csv", "p;PQ;*\nq;PQ;*\nr;R;*\n");
    for (a, b, flags) in [
        // Values that `*` stands for.
        ("a,s\nk1,u\nk2,u\nk2,u\nk3,u\n", "a,s\nx,u\ny,u\nz,u\nz,u\n", "--quasi a -k 4"),
        // Columns that nobody named, and where they stood.
        ("a,s\n1,u\n1,u\n", "canary,a,s\nx,1,u\ny,1,u\n", "--quasi a -k 2 --undeclared drop"),
        // What type hidden values have.
        (
            "a,s\n1,u\n2,u\n4,u\n10,u\n20,u\n30,u\n",
            "a,s\n1,u\n2.5,u\n4,u\n10,u\n20,u\n30,u\n",
            "--quasi a -k 3",
        ),
        ("a,s\n1,u\n,u\n", "a,s\nx,u\n,u\n", "--quasi a -k 2"),
        ("a,s\n1,u\n4,u\n", "a,s\n1.5,u\n3.5,u\n", "--quasi a -k 2 --labels mean"),
        (
            "a,s\n2001-01-01,u\n2001-01-02,u\n2001-01-03,u\n",
            "a,s\n2001-01-01,u\n2001-01-02T05:00:00,u\n2001-01-03,u\n",
            "--quasi a -k 3",
        ),
        // Several things that read `*`, or nothing.
        (
            "a,b,s\np,1,u\nr,1,u\np,2,u\nr,2,u\n",
            "a,b,s\np,1,u\nr,1,u\np,2,u\n,2,u\n",
            "--quasi a,b -k 2 --hierarchy a=h.csv",
        ),
        ("a,s\n1,u\n1,u\n,u\n,u\n", "a,s\n1,u\n1,u\n,u\n7,u\n", "--quasi a -k 2 --labels bounds"),
        // How many people there are, where the release does not say who is who.
        (
            "a,b,p,s\n0,0,1,u\n0,0,2,u\n0,1,3,u\n0,1,4,u\n1,0,5,u\n1,0,6,u\n1,1,7,u\n1,1,8,u\n",
            "a,b,p,s\n0,0,1,u\n0,0,2,u\n0,1,3,u\n0,1,4,u\n1,0,1,u\n1,0,2,u\n1,1,5,u\n1,1,6,u\n",
            "--quasi x=a --quasi y=b --entity p --identifier p -k 2 --algorithm butterfly",
        ),
    ] {
        let folder = Folder::with(&[("a.csv", a), ("b.csv", b), hierarchy]);
        let names = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        check_twins(&folder, &format!("{flags} --sensitive s"));
        assert!(!folder.read("b.html").contains("canary"), "{}", names(b));
    }
}

/// How common a value is decides where it stands among those without an order, and what is
/// published does not tell it.
#[test]
fn the_public_page_does_not_tell_how_common_values_are() {
    let table = |common: usize| {
        // Two classes of sets, whose members are more or less common inside.
        let row = |at: usize| {
            let (sex, of) = if at < 80 { ("f", 0) } else { ("m", 40) };
            let value = if at % 80 < 40 { at % 80 } else { common };
            format!("{sex},v{},{}\n", value + of, at % 3)
        };
        let rows: Vec<String> = (0..160).map(row).collect();
        format!("sex,v,s\n{}", rows.concat())
    };
    let folder = Folder::with(&[("a.csv", &table(3)), ("b.csv", &table(17))]);
    check_twins(&folder, "--quasi sex,v --sensitive s -k 80");
}

#[test]
fn texts_of_one_value_look_different_before() {
    let text = |row: usize| ["1", "1.0", "2", "2.0", "1.00"][row % 5];
    let rows: Vec<String> = (0..41).map(|row| format!("{},x{}\n", text(row), row % 3)).collect();
    let table = format!("age,s\n{}1.00000,x1\n", rows.concat());
    let folder = Folder::with(&[("t.csv", &table)]);
    for model in ["", "--l-diversity distinct:2"] {
        let job = format!("--quasi age --sensitive s -k 2 {model}");
        folder.ok(&format!("anonymize t.csv -o r.csv {job} --report r.html --quiet --force"));
        let html = folder.read("r.html");
        assert!(html.contains("<span>before: 1</span> <span>asked for: 2</span>"), "{model}");
    }
}

#[test]
fn sentences_speak_of_what_was_counted() {
    let rows: Vec<String> =
        (0..30).map(|row| format!("p{},{},{}\n", row / 3, row / 3, row % 10)).collect();
    let table = format!("id,age,day\n{}", rows.concat());
    let folder = Folder::with(&[("t.csv", &table)]);
    folder.ok("check t.csv --quasi age --entity id --report c.html");
    let html = folder.read("c.html");
    assert!(html.contains("some crowd that looks the same on them has only one value of id"));
    assert!(!html.contains("looks like no other") && !html.contains("are the only ones"));
    folder.ok("check t.csv --quasi one=age --quasi two=age,day --report d.html");
    let html = folder.read("d.html");
    assert!(
        html.contains("two: yes, some record is the only one with its combination of age and day.")
    );
}

#[test]
fn a_release_without_rows_has_a_page() {
    let rows: Vec<String> = (0..400).map(|row| format!("{},{row}.5\n", row % 7)).collect();
    let folder = Folder::with(&[("t.csv", &format!("age,s\n{}", rows.concat()))]);
    let job = "--quasi age --sensitive s -k 3 --quiet";
    folder.ok(&format!("anonymize t.csv -o r.csv {job} --recoding c.json"));
    let all = folder.read("c.json").replace(' ', "").replace("\"k\":3", "\"k\":3000");
    // Under a name of its own: a recoding that was changed does not go with its private part.
    std::fs::write(folder.path("d.json"), all).unwrap();
    folder.ok("apply d.json t.csv -o n.csv --suppress 1 --report n.html --quiet");
    assert!(folder.read("n.html").contains("There are no records."));
}

#[test]
fn what_cannot_be_gathered_is_not_spoken_of() {
    let folder = Folder::with(&[("t.csv", &people(3000, 3))]);
    let job = format!("anonymize t.csv -k 5 {JOB} --quiet --force -o r.csv --report r.html");
    folder.ok(&format!("{job} --labels mean"));
    let html = folder.read("r.html");
    assert!(
        html.contains("Class means are released of age") && !html.contains("The ranges of age")
    );
    folder.ok(&format!("{job} --memory-limit 400MB --query 'SELECT COUNT(*) WHERE age &lt; 30'")
        .replace("&lt;", "<"));
    let html = folder.read("r.html");
    assert!(html.contains("there is a memory limit"));
    assert_eq!(html.contains("The points are"), html.contains("<circle"));
}

#[test]
fn another_report_than_the_job_names() {
    let job = "report = \"r.html\"\naudience = \"public\"\n";
    let folder = Folder::with(&[("p.csv", PATIENTS), ("j.toml", job)]);
    folder.ok(&format!(
        "anonymize p.csv --job j.toml -o r.csv {PATIENTS_JOB} --report r.json --quiet"
    ));
    assert_eq!(folder.json("r.json")["release"]["rows"], 6);
}
