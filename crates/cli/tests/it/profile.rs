//! Profiles: suggestions, combinations, the page, the job file.

use std::path::Path;

use crate::harness::{Folder, PATIENTS, people};

/// People with names, addresses and remarks, and columns with awkward names.
fn staff() -> String {
    let mut text = String::from(
        "who,contact,born,ZipCode,\"<script>x</script>\",\"a \"\"b\"\" \\ c\",HIV,remark\n",
    );
    for row in 0..60u32 {
        let letter = |n: u32| char::from(b'a' + u8::try_from(n % 26).unwrap());
        let name = format!("A{0}{1}o B{1}{0}e", letter(row), letter(row / 4));
        text.push_str(&format!(
            "{name},secret{row}@example.org,19{:02}-03-04,{},v{},{},{},came on day {row} and was sent home again\n",
            40 + row % 30,
            53_700 + row * 7 % 13,
            row % 4,
            row % 3,
            ["no", "yes"][usize::from(row % 9 == 0)],
        ));
    }
    text
}

fn json(folder: &Folder, args: &str) -> serde_json::Value {
    serde_json::from_str(&folder.ok(&format!("profile {args} --json")).stdout).unwrap()
}

/// The example's folder.
fn example(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

#[test]
fn roles_are_suggested_with_reasons() {
    let folder = Folder::with(&[("t.csv", &staff())]);
    let profile = json(&folder, "t.csv");
    let of = |at: usize| {
        let column = &profile["columns"][at];
        let text = |key: &str| column[key].as_str().unwrap().to_owned();
        (text("suggested_role"), text("reason"))
    };
    for (at, role, because) in [
        (0, "identifier", "value of its own"),
        (1, "identifier", "e-mail"),
        (2, "quasi", "dates"),
        (3, "quasi", "`zip` in its name"),
        (4, "quasi", "few values"),
        (6, "sensitive", "`hiv` in its name"),
        (7, "identifier", "may hold anything"),
    ] {
        let (found, reason) = of(at);
        assert_eq!(found, role, "{at}: {reason}");
        assert!(reason.contains(because), "{at}: {reason}");
    }
    let text = folder.ok("profile t.csv").stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    assert!(!text.contains("secret") && !text.contains("sent home"), "{text}");
}

#[test]
fn combinations_are_counted_and_minimal() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    let profile = json(&folder, "patients.csv");
    assert_eq!(profile["exact"], true);
    assert_eq!(profile["combined"], serde_json::json!(["age", "sex", "zipcode"]));
    let worst = &profile["combinations"][0];
    assert_eq!(worst["columns"], serde_json::json!(["age", "zipcode"]), "all three say no more");
    assert_eq!((&worst["unique_rows"], &worst["classes"]), (&6.into(), &6.into()));
    assert_eq!(worst["below_5"], 6);
    let combinations = profile["combinations"].as_array().unwrap();
    assert!(combinations.iter().all(|found| found["columns"].as_array().unwrap().len() < 3));
    let text = folder.ok("profile patients.csv").stdout;
    assert!(text.contains("no other combination of as many of the columns"), "{text}");
}

#[test]
fn columns_can_be_named() {
    let folder = Folder::with(&[("people.csv", &people(200, 3))]);
    let profile = json(&folder, "people.csv --quasi diagnosis,city,city");
    assert_eq!(profile["combined"], serde_json::json!(["city", "diagnosis"]));
    assert_eq!(profile["columns"][4]["suggested_role"], "quasi");
    assert_eq!(profile["columns"][4]["reason"], "named with --quasi");
    folder.fails(
        "profile people.csv --quasi agee,city,statu --html p.html",
        2,
        &["column `agee` is not in the input", "did you mean `age`?", "did you mean `status`?"],
    );
}

#[test]
fn columns_that_say_the_same_are_combined_once() {
    let mut text = String::from("town,code,sex\n");
    for row in 0..40 {
        let town = row * row % 11;
        text.push_str(&format!("t{town},{},{}\n", 90 - town, ["f", "m"][row % 2]));
    }
    let folder = Folder::with(&[("t.csv", &text)]);
    let profile = json(&folder, "t.csv");
    assert_eq!(profile["combined"], serde_json::json!(["town", "sex"]));
    assert_eq!(profile["columns"][1]["same_as"], "town");
    let text = folder.ok("profile t.csv").stdout;
    assert!(text.contains("tells the same"), "{text}");
}

#[test]
fn a_page_holds_no_value_and_escapes_names() {
    let folder = Folder::with(&[("t.csv", &staff())]);
    folder.ok("profile t.csv --html p.html --quasi 'born,ZipCode,<script>x</script>'");
    crate::pages::check(&folder.path("p.html"));
    let page = folder.read("p.html");
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;x&lt;/script&gt;"), "{page}");
    assert!(page.contains("60 people are the only ones with their combination of"), "{page}");
    assert!(page.contains("<svg") && !page.contains("href") && !page.contains("src="));
    // Every value of the table is longer than three characters or a small number.
    for line in staff().lines().skip(1) {
        for value in line.split(',').filter(|value| value.len() > 4) {
            assert!(!page.contains(value), "{value}");
        }
    }
    folder.fails("profile t.csv --html p.html", 2, &["`p.html` exists already", "--force"]);
    folder.ok("profile t.csv --html p.html --force");
    assert_ne!(folder.read("p.html"), page);
    folder.fails("profile t.csv --html p.txt", 2, &["a page is a .html file"]);
}

/// Says that somebody went through the roles of a job.
fn review(folder: &Folder, job: &str) {
    let text = folder.read(job);
    assert!(text.contains("\nreviewed = false\n"), "{text}");
    std::fs::write(folder.path(job), text.replace("reviewed = false", "reviewed = true")).unwrap();
}

/// A patient number that repeats, 2.7 rows each: no class may be one patient's rows.
#[test]
fn a_number_that_repeats_is_the_entity() {
    let mut text = String::from("Patientennummer;Alter;Geschlecht;Diagnose\n");
    for row in 0..39_630u64 {
        let patient = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let patient = patient % 14_678;
        text.push_str(&format!(
            "{};{};{};d{}\n",
            100_000 + patient,
            20 + patient % 70,
            ["m", "w"][usize::try_from(patient / 70 % 2).unwrap()],
            row % 9
        ));
    }
    let folder = Folder::with(&[("t.csv", &text)]);
    let profile = json(&folder, "t.csv --job-file job.toml");
    let column = &profile["columns"][0];
    assert_eq!(
        (&column["suggested_role"], &column["suggested_entity"]),
        (&"identifier".into(), &true.into())
    );
    assert_eq!(profile["columns"][1]["suggested_role"], "quasi");
    assert_eq!(profile["columns"][3]["suggested_role"], "sensitive");
    let job = folder.read("job.toml");
    assert!(job.contains("{ role = \"identifier\", entity = true }"), "{job}");
    let said = [
        "nobody has reviewed",
        "Patientennummer: identifier, entity (its name says",
        "Alter: quasi",
        "reviewed = true",
    ];
    folder.fails("anonymize --job job.toml -o out.csv", 2, &said);
    let shown = folder.ok("anonymize --job job.toml -o out.csv --print-job").stdout;
    assert!(shown.starts_with("reviewed = false\n"), "{shown}");
    review(&folder, "job.toml");
    let ended = folder.ok("anonymize --job job.toml -o out.csv --json");
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(report["privacy"][0]["k"].as_u64().unwrap() >= 5);
    assert!(folder.read("out.csv").starts_with("Alter,Geschlecht,Diagnose\n"));
}

#[test]
fn a_job_file_can_be_used_once_it_is_reviewed() {
    let folder = Folder::with(&[("t.csv", &staff())]);
    folder.ok("profile t.csv --job-file job.toml");
    let job = folder.read("job.toml");
    assert!(job.contains("reviewed by someone who"), "{job}");
    assert!(job.contains("remark") && job.contains("# free text may hold anything"), "{job}");
    assert!(!job.contains("secret") && !job.contains("53700"), "{job}");
    folder.fails("anonymize --job job.toml -o out.csv", 2, &["remark: identifier (free text may"]);
    review(&folder, "job.toml");
    folder.ok("anonymize --job job.toml -o out.csv");
    let header = folder.read("out.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "born,ZipCode,<script>x</script>,\"a \"\"b\"\" \\ c\",HIV");
    folder.fails("profile t.csv --job-file job.toml", 2, &["`job.toml` exists already"]);
    folder.ok("profile t.csv --job-file job.toml --force");
    assert_eq!(folder.read("job.toml"), job);
    folder.fails("profile t.csv --job-file t.csv --force", 2, &["a job is a .toml file"]);
    // In another folder it names the input from there.
    std::fs::create_dir(folder.path("jobs")).unwrap();
    folder.ok("profile t.csv --job-file jobs/job.toml");
    review(&folder, "jobs/job.toml");
    folder.ok("anonymize --job jobs/job.toml -o out2.csv");
    assert_eq!(folder.read("out.csv"), folder.read("out2.csv"));
}

#[test]
fn the_examples_have_usable_job_files() {
    for (name, file) in [("patients", "patients.csv"), ("adult", "adult.csv.gz")] {
        let folder = Folder::with(&[]);
        std::fs::copy(example(name).join(file), folder.path(file)).unwrap();
        folder.ok(&format!("profile {file} --job-file job.toml"));
        review(&folder, "job.toml");
        let ended = folder.ok("anonymize --job job.toml -o out.csv --json");
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(report["privacy"][0]["k"].as_u64().unwrap() >= 5, "{name}");
    }
}

#[test]
fn columns_of_lists_are_never_released() {
    let row = |row: u32| format!("{{\"age\":{},\"tags\":[{row}]}}\n", row % 2);
    let rows: Vec<String> = (0..12).map(row).collect();
    let folder = Folder::with(&[("t.jsonl", &rows.concat())]);
    let profile = json(&folder, "t.jsonl --job-file job.toml");
    assert_eq!(profile["not_looked_at"], serde_json::json!(["tags"]));
    review(&folder, "job.toml");
    folder.ok("anonymize --job job.toml -o out.csv");
    assert!(folder.read("out.csv").starts_with("age\n"));
    folder.fails("profile t.jsonl --quasi tags", 2, &["`tags` holds lists"]);
}
