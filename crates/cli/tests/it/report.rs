//! The report of a release as an HTML page.

use crate::harness::{Folder, PATIENTS, PATIENTS_JOB, PEOPLE_JOB as JOB, people};
use crate::pages;

/// The page of a release, without what the clock says.
fn page(folder: &Folder, name: &str) -> String {
    let is_clock = |line: &&str| line.contains("<td>seconds</td>");
    let text = folder.read(name);
    text.lines().filter(|line| !is_clock(line)).collect::<Vec<&str>>().join("\n")
}

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
        "What was released, and how",
        "What became of each quasi-identifier column",
        "Privacy before and after",
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
    // Every figure has what it means and how it is worked out.
    let cards = html.matches("<dd class=\"value\">").count();
    assert!(cards > 12, "{cards}");
    assert!(html.matches("<dd class=\"note\">").count() >= 2 * cards);
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
fn in_private_files_it_is_the_same_but_for_what_needs_rows() {
    let folder = Folder::with(&[("t.csv", &people(3000, 3))]);
    let job = format!("anonymize t.csv -k 5 {JOB} --quiet --force -o r.csv");
    folder.ok(&format!("{job} --report a.html"));
    folder.ok(&format!("{job} --report b.html --memory-limit 64MB"));
    let parts = |html: &str| {
        let privacy = html.find("<h2>Privacy before and after").unwrap();
        let end = html.find("<h2>What it is good for").unwrap();
        html[privacy..end].to_owned()
    };
    assert_eq!(parts(&page(&folder, "a.html")), parts(&page(&folder, "b.html")));
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
        // Another value inside a range leaves the release as it is, if the cuts stay where they are.
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
    // People are counted, but the release does not say who is who: what was asked for is all that is said.
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
        "--suppressed star --suppress 5%",
    ] {
        for audience in ["internal", "public"] {
            folder.ok(&format!(
                "anonymize a.csv -o r.csv {quasi} {flags} --report r.html --audience {audience}"
            ));
            pages::check_markup(&folder.path("r.html"));
            let html = folder.read("r.html");
            let is_drawn = html.contains("How the release divides");
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
    for more in ["", " --memory-limit 64MB"] {
        folder.ok(&format!("apply c.json a.csv -o n.csv --report n.html --quiet --force{more}"));
        let html = folder.read("n.html");
        assert!(html.contains("A saved recoding (multidimensional) was applied to new rows."));
        assert!(html.contains("Privacy before and after"));
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
