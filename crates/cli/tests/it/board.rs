//! The report of a release as a document for a board: what it says first, what it leaves out, how
//! large it is.

use std::collections::BTreeSet;

use crate::harness::{Folder, PEOPLE_JOB as JOB, people};
use crate::pages;

const ABOUT: &str = "[about]\ntitle = \"Extract for the <university>\"\npurpose = \"A study\"\n\
    recipient = \"An institute\"\ndate = 2026-01-31\nprepared-by = \"J. Doe\"\napproved-by = \"The board\"\n";

/// What stands on a page, without styles and without the job file.
fn said(html: &str) -> String {
    let body = html.split_once("<body>").unwrap().1;
    let job = body.find("<pre>").unwrap();
    let end = body[job..].find("</pre>").unwrap();
    body[..job].to_owned() + &body[job + end..]
}

#[test]
fn a_page_says_what_it_is_for() {
    let folder = Folder::with(&[("t.csv", &people(400, 7)), ("j.toml", ABOUT)]);
    let job = format!("anonymize t.csv --job j.toml -o r.csv -k 4 {JOB} --quiet --force");
    folder.ok(&format!("{job} --report i.html"));
    folder.ok(&format!("{job} --report p.html --audience public"));
    let (internal, public) = (folder.read("i.html"), folder.read("p.html"));
    for html in [&internal, &public] {
        for text in [
            "<title>Extract for the &lt;university&gt;</title>",
            "<h1>Extract for the &lt;university&gt;</h1>",
            "<dt>Purpose</dt><dd>A study</dd>",
            "<dt>Recipient</dt><dd>An institute</dd>",
            "<dt>Date</dt><dd>2026-01-31</dd>",
        ] {
            assert!(html.contains(text), "{text}");
        }
    }
    assert!(internal.contains("Sign-off") && internal.contains("<dd>J. Doe</dd>"));
    assert!(
        !public.contains("Sign-off") && !public.contains("Doe") && !public.contains("The board")
    );
    pages::check(&folder.path("i.html"));
    pages::check(&folder.path("p.html"));
    // Limits come before figures.
    let at = |text: &str| internal.find(text).unwrap();
    assert!(at("What this does not promise") < at("dd class=\"value\""));
    assert!(at("Sign-off") < at("Details: privacy"));
    std::fs::write(folder.path("j.toml"), "[about]\nrecipent = \"x\"\n").unwrap();
    folder.fails(&job, 2, &["unknown key `recipent` in [about]", "did you mean `recipient`?"]);
}

#[test]
fn records_before_and_after_are_internal() {
    let table = people(400, 7);
    let mut rows: Vec<&str> = table.lines().skip(1).collect();
    rows.reverse();
    let other = format!("age,sex,city,status,diagnosis,note\n{}\n", rows.join("\n"));
    let folder = Folder::with(&[("a.csv", &table), ("b.csv", &other)]);
    let part = |name: &str, flags: &str| {
        folder.ok(&format!(
            "anonymize {name} -o r.csv -k 4 {JOB} --report r.html --quiet --force {flags}"
        ));
        let html = folder.read("r.html");
        let from = html.find("Some records, before and after")?;
        Some(html[from..from + html[from..].find("</table>").unwrap()].to_owned())
    };
    let shown = part("a.csv", "").unwrap();
    assert_eq!(part("b.csv", "").as_ref(), Some(&shown), "the order of the rows has no say");
    assert_ne!(part("a.csv", "--seed 3").as_ref(), Some(&shown));
    assert_eq!(part("a.csv", "--audience public"), None);
    part("a.csv", "").unwrap();
    let release = folder.read("r.csv");
    let cells = |line: &str| -> Vec<String> {
        line.split("<td>").skip(2).map(|cell| cell.split('<').next().unwrap().to_owned()).collect()
    };
    let lines: Vec<&str> = shown.split("<tr>").filter(|line| line.contains("<td>")).collect();
    assert_eq!(lines.len(), 1 + 8, "a header and four records");
    for pair in lines[1..].chunks(2) {
        let text = |line: &str| cells(line).join(",").replace("(missing)", "");
        assert!(pair[0].contains("before") && pair[1].contains("after"));
        assert!(table.contains(&format!("\n{},", text(pair[0]))), "{}", pair[0]);
        assert!(release.contains(&format!("\n{},", text(pair[1]))), "{}", pair[1]);
    }
}

#[test]
fn records_say_how_many_columns_they_leave_out() {
    let names: Vec<String> = (0..12).map(|at| format!("c{at}")).collect();
    let row = |row: usize| {
        let cells: Vec<String> = (0..12).map(|at| (row / 10 % (at + 2)).to_string()).collect();
        cells.join(",") + ",s\n"
    };
    let table = format!("{},s\n{}", names.join(","), (0..200).map(row).collect::<String>());
    let folder = Folder::with(&[("t.csv", &table)]);
    for (n, says) in [
        (
            12,
            "drawn at random with the seed of the job; the first 10 of 12 quasi-identifier columns.",
        ),
        (10, "drawn at random with the seed of the job; the quasi-identifier columns only."),
    ] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv -k 2 --quasi {} --sensitive s --undeclared drop --report r.html --quiet --force",
            names[..n].join(",")
        ));
        assert!(folder.read("r.html").contains(says), "{n}");
    }
}

#[test]
fn boards_are_not_told_of_flags() {
    let row =
        |row: usize| format!("P{:05},{},{},x{}\n", 10_000 + row / 3, 20 + row % 30, row % 7, row);
    let table = format!("patient,age,sex,cost\n{}", (0..600).map(row).collect::<Vec<_>>().concat());
    let folder = Folder::with(&[("t.csv", &table)]);
    let job = "--quasi age,sex --sensitive cost --identifier patient -k 2 --labels range+mean";
    let made = folder.ok(&format!("anonymize t.csv -o r.csv {job} --report r.html"));
    assert!(made.stderr.contains("--l-diversity") && made.stderr.contains("--entity"));
    let html = folder.read("r.html");
    assert!(html.contains("Before you release it") && html.contains("seems to number people"));
    for audience in ["internal", "public"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv {job} --report r.html --audience {audience} --force --quiet"
        ));
        let said = said(&folder.read("r.html"));
        assert!(!said.contains("--") && !said.contains("incrowd anonymize"), "{said}");
    }
}

#[test]
fn loss_is_told_in_the_columns_own_units() {
    let row =
        |row: usize| format!("{},{},d{}\n", 20 + row % 40, 53_000 + (row * 37) % 900, row % 5);
    let table = format!("age,zip,d\n{}", (0..500).map(row).collect::<String>());
    let folder = Folder::with(&[
        ("t.csv", &table),
        ("j.toml", "[columns]\nzip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n"),
    ]);
    for audience in ["internal", "public"] {
        folder.ok(&format!(
            "anonymize t.csv --job j.toml -o r.csv -k 5 --quasi age,zip --sensitive d --report r.html \
             --audience {audience} --quiet --force"
        ));
        let html = folder.read("r.html");
        assert!(html.contains("typically ") && html.contains(" wide"), "{audience}");
        assert!(html.contains(" of 5 digits"), "{audience}");
    }
}

#[test]
fn hierarchies_are_told_in_the_unit_of_their_values() {
    let row = |row: usize| {
        let born = format!("{}-{:02}-{:02}", 1950 + row % 40, 1 + row % 12, 1 + row % 28);
        let (income, zip) = (1000 + (row * 37) % 4000, 53_000 + (row * 37) % 900);
        format!("{born},{income},{zip},{},d{}\n", 18 + row % 40, row % 5)
    };
    let table = format!("born,income,zip,age,d\n{}", (0..400).map(row).collect::<String>());
    let ages = |age: usize| {
        let group =
            if age < 50 { format!("[{}-{}]", age / 5 * 5, age / 5 * 5 + 4) } else { ">=50".into() };
        format!("{age};{group};*\n")
    };
    let job = "[columns]\n\
        born = { role = \"quasi\", hierarchy = { dates = [\"month\", \"year\", \"decade\"] } }\n\
        income = { role = \"quasi\", hierarchy = { width = 500 } }\n\
        zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
        age = { role = \"quasi\", hierarchy = \"age.csv\" }\n";
    let files = [
        ("t.csv", &table[..]),
        ("j.toml", job),
        ("age.csv", &(0..90).map(ages).collect::<String>()),
    ];
    let folder = Folder::with(&files);
    for audience in ["internal", "public"] {
        let kept = |flags: &str| {
            folder.ok(&format!(
                "anonymize t.csv --job j.toml -o r.csv --sensitive d --report r.html --audience {audience} \
                 --quiet --force {flags}"
            ));
            folder.read("r.html")
        };
        let full = "-k 2 --algorithm optimal --suppress 50% --levels";
        let html = kept(&format!("{full} born=3,income=2,zip=4,age=2"));
        for text in ["typically 10 years wide<", "typically 1,000 wide<", "100.0%: 1 of 5 digits<"]
        {
            assert!(html.contains(text), "{audience}: no {text}");
        }
        // A year is no value.
        let html = kept(&format!("{full} born=2,income=4,zip=5,age=2"));
        assert!(html.contains("typically 12 months wide<"), "{audience}");
        let html = kept(&format!("{full} born=4,income=4,zip=5,age=1"));
        assert!(html.contains(": typically 5 wide; "), "{audience}");
        assert!(html.contains(": a range without an end<"), "{audience}");
        // Labels of Mondrian may be sets of nodes.
        let html = kept("-k 5");
        assert!(folder.read("r.csv").contains("|53"), "some postcodes are sets");
        assert!(
            html.contains(" of 5 digits") && html.contains("one of several with "),
            "{audience}"
        );
        assert!(!html.contains(" of 400 values") && !html.contains(" of 90 values"), "{audience}");
    }
}

#[test]
fn a_page_speaks_of_every_attacker_the_worst_first() {
    // Both sets have k = 2, but b has twice the classes.
    let table = "a,b\nx,1\nx,1\ny,2\ny,2\ny,3\ny,3\ny,4\ny,4\n";
    let folder = Folder::with(&[("t.csv", table)]);
    folder.ok("check t.csv -k 2 --quasi one=a --quasi two=b --report c.html");
    let html = folder.read("c.html");
    let at = |text: &str| {
        assert_eq!(html.matches(text).count(), 1, "{text}");
        html.find(text).unwrap()
    };
    let worst = at("two: not by b alone. Someone who knows b of a person in the table picks the \
                    right record at most 1 time in 2.");
    let other = at("one: not by a alone. Someone who knows a of a person in the table picks the \
                    right record at most 1 time in 2, and 1 time in 4 on average.");
    assert!(worst < other);
    let worst = at(
        "two: another table that has b of the same people leaves at least 2 candidates \
                    for each of them. If every record is linked blindly, 50.0% of the links are right.",
    );
    let other = at(
        "one: another table that has a of the same people leaves at least 2 candidates \
                    for each of them. If every record is linked blindly, 25.0% of the links are right.",
    );
    assert!(worst < other);
}

/// By column, the different cells of a release: pairs of bounds are one cell, and a mean beside a
/// range is none.
fn cells_of(release: &str, column: &str) -> usize {
    let mut lines = release.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().unwrap();
    let names = [column.to_owned(), format!("{column}_min"), format!("{column}_max")];
    let at: Vec<usize> =
        names.iter().filter_map(|name| header.iter().position(|known| known == name)).collect();
    let cells: BTreeSet<Vec<&str>> =
        lines.map(|line| at.iter().map(|&at| line[at]).collect()).collect();
    cells.len()
}

#[test]
fn labels_are_counted_as_they_stand_in_the_release() {
    let ages: Vec<String> =
        (0..120).map(|age| format!("{age};{}*;{}*;*\n", age / 5 * 5, age / 10 * 10)).collect();
    let folder = Folder::with(&[("t.csv", &people(600, 3)), ("age.csv", &ages.concat())]);
    for flags in [
        "--hierarchy age=age.csv",
        "--hierarchy age=age.csv --relaxed",
        "--labels bounds",
        "--labels mean",
        "--labels range+mean",
        "--algorithm single-dimensional",
        "--algorithm hill-climb --suppressed star --suppress 5%",
        "--hierarchy age=age.csv --force-files 1",
        "--labels range+mean --force-files 3",
        "--labels bounds --force-files 3",
    ] {
        for audience in ["internal", "public"] {
            let ended = folder.ok(&format!(
                "anonymize t.csv -o r.csv -k 5 {JOB} --json --quiet --force --report r.html {flags} --audience {audience}"
            ));
            let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
            let (release, html) = (folder.read("r.csv"), folder.read("r.html"));
            for (column, n) in report["recoding"]["cells"].as_object().unwrap() {
                let expected = cells_of(&release, column);
                assert_eq!(n.as_u64(), Some(expected as u64), "{column}, {flags}");
                let row = html.split("<h2>How it was recoded").nth(1).unwrap();
                let row = row.split(&format!("<tr><td>{column}</td>")).nth(1).unwrap();
                let cell = row.split("<td class=\"number\">").nth(1).unwrap();
                assert!(cell.starts_with(&format!("{expected}<")), "{column}, {flags}: {cell:.40}");
            }
        }
    }
}

/// The places of the points of a partition picture, and where an axis has its mark of zero.
fn points(html: &str) -> (Vec<f64>, f64) {
    let picture = html.split("aria-label=\"How the release divides").nth(1).unwrap();
    let picture = &picture[..picture.find("</svg>").unwrap()];
    let places = picture.split("<circle cx=\"").skip(1);
    let places = places.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect();
    // Marks stand in the middle below the axis.
    let marks =
        picture.split("<text ").skip(1).filter(|text| text.contains("text-anchor=\"middle\""));
    let zero = marks.filter(|text| text.split('>').nth(1).unwrap().trim().starts_with("0\n"));
    let zero = zero.map(|text| text.split('"').nth(1).unwrap().parse().unwrap()).next();
    (places, zero.expect("the axis has a mark at zero"))
}

#[test]
fn the_scatter_of_the_partition_is_a_fair_sample() {
    let mut state = 5u64;
    let mut number = || {
        let mut sum = 0i64;
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            sum += i64::try_from(state >> 40).unwrap() - (1 << 23);
        }
        sum
    };
    let rows: Vec<String> =
        (0..9000).map(|row| format!("{},{},d{}\n", number(), number(), row % 5)).collect();
    let table = format!("x,y,d\n{}", rows.concat());
    let negative = table.lines().skip(1).filter(|row| row.starts_with('-')).count();
    let folder = Folder::with(&[("t.csv", &table)]);
    folder.ok("anonymize t.csv -o r.csv -k 5 --quasi x,y --sensitive d --report r.html --picture x,y --quiet");
    let html = folder.read("r.html");
    assert!(html.contains("of 9,000 records, drawn at random"));
    let (places, zero) = points(&html);
    let drawn = places.iter().filter(|place| **place < zero).count();
    let (share, expected) = (drawn as f64 / places.len() as f64, negative as f64 / 9000.0);
    assert!((share - expected).abs() < 0.04, "{share} of the points, {expected} of the records");
}

#[test]
fn pages_are_bounded_and_leave_out_pictures_that_say_nothing() {
    let row = |row: usize| {
        format!("a{},b{},{},d{}\n", (row * 7919) % 2003, (row * 104_729) % 1999, row % 3, row % 5)
    };
    let table = format!("a,b,c,d\n{}", (0..8000).map(row).collect::<String>());
    let folder = Folder::with(&[("t.csv", &table)]);
    for flags in ["", "--picture a,b", "--audience public"] {
        folder.ok(&format!(
            "anonymize t.csv -o r.csv -k 5 --quasi a,b --insensitive c --sensitive d --report r.html --quiet --force {flags}"
        ));
        let html = folder.read("r.html");
        assert!(html.len() < 200_000, "{} bytes, {flags}", html.len());
        assert!(!html.contains("other labels") && !html.contains("other values"), "{flags}");
        assert!(html.contains("a is not drawn: it has"), "{flags}");
        assert_eq!(html.contains("too scattered"), flags.contains("picture"), "{flags}");
        pages::check_markup(&folder.path("r.html"));
    }
}

/// Multisets of so many numbers from 0 to `most` with a sum, two at most being counted.
fn multisets(n: u64, most: u64, sum: u64) -> u64 {
    if sum > n * most {
        return 0;
    }
    if n == 0 || most == 0 || sum == 0 {
        return 1;
    }
    let with = if sum >= most { multisets(n - 1, most, sum - most) } else { 0 };
    if with > 1 { with } else { with + multisets(n, most - 1, sum) }
}

#[test]
fn no_mean_tells_the_values_of_its_class() {
    let row = |row: usize| format!("{},{},d{}\n", (row * 7919 + row * row) % 997, row % 2, row % 5);
    let table = format!("age,sex,d\n{}", (0..900).map(row).collect::<String>());
    let folder = Folder::with(&[("t.csv", &table), ("p.csv", &people(900, 11))]);
    for flags in ["-k 3", "-k 4", "-k 3 --relaxed", "-k 3 --force-files 3"] {
        let ended = folder.ok(&format!(
            "anonymize t.csv -o r.csv --quasi age,sex --insensitive d --labels range+mean --json --force {flags}"
        ));
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let release = folder.read("r.csv");
        let mut classes = std::collections::BTreeMap::new();
        for line in release.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            *classes.entry((cells[0], cells[1], cells[2])).or_insert(0u64) += 1;
        }
        let (mut exact, mut withheld, mut told) = (0, 0, 0);
        for ((range, mean, _), n) in classes {
            let Some((lo, hi)) = range.trim_matches(['[', ']']).split_once('-') else {
                exact += n;
                assert_ne!(mean, "", "the mean of one value is that value");
                continue;
            };
            let (lo, hi): (u64, u64) = (lo.parse().unwrap(), hi.parse().unwrap());
            if mean.is_empty() {
                withheld += n;
                continue;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ages")]
            let sum = (mean.parse::<f64>().unwrap() * n as f64).round() as u64;
            assert!(
                multisets(n - 2, hi - lo, sum - lo - hi - (n - 2) * lo) > 1,
                "{range} {mean} {n}"
            );
            told += n;
        }
        assert!((withheld > 0 || flags.contains('4')) && told > 0, "{flags}");
        let found = &report["inference"]["age"];
        assert_eq!(found["exact_rows"], exact, "{flags}");
        assert_eq!(found["withheld_rows"], withheld, "{flags}");
        assert_eq!(found["determined_rows"], 0, "{flags}");
        assert_eq!(found["step"], 1.0);
        let warns = ended.stderr.contains("the mean of age is left out of");
        assert_eq!(warns, withheld > 0, "{}", ended.stderr);
    }
    // Two rows: the range tells both, and no mean is to blame.
    let ended = folder.ok(
        "anonymize p.csv -o r.csv -k 2 --quasi age,sex,city --insensitive status,diagnosis,note --json --force",
    );
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(report["inference"]["age"]["determined_rows"].as_u64().unwrap() > 0);
    assert!(ended.stderr.contains("follows from the range"), "{}", ended.stderr);
}
