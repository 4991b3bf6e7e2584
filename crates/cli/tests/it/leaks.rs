//! Labels and recoding files tell nothing of suppressed rows; means tell of k people at least.

use crate::harness::{Folder, rows};

/// The release of a table.
#[track_caller]
fn release(table: &str, args: &str) -> String {
    let folder = Folder::with(&[("m.csv", table)]);
    folder.ok(&format!("anonymize m.csv -o o.csv {args}"));
    folder.read("o.csv")
}

const SALARIES: &str = "salary,dept\n3000,2\n3000,2\n3000,3\n3000,3\n987654,1\n";

#[test]
fn the_end_of_an_interval_is_a_released_value() {
    for algorithm in ["koptimize", "hill-climb"] {
        let args = format!(
            "-k 3 --quasi salary,dept --suppress 1rows --algorithm {algorithm} --measure discernibility"
        );
        for labels in ["range", "region", "bounds", "mean", "range+mean"] {
            let text = release(SALARIES, &format!("{args} --labels {labels}"));
            assert_eq!(text.lines().count(), 5, "{algorithm} {labels}");
            assert!(!text.contains("987654"), "{algorithm} {labels}: {text}");
        }
        let text = release(SALARIES, &args);
        assert!(text.contains("3000,[2-3]"), "{text}");
    }
}

#[test]
fn a_set_lists_released_values_and_all_of_them_are_a_star() {
    let table = "town,s\nRome,1\nRome,2\nPisa,3\nPisa,4\nOslo,5\n";
    let args = "-k 4 --quasi town --insensitive s --suppress 1rows --algorithm koptimize --measure discernibility";
    assert_eq!(release(table, args), "town,s\n*,1\n*,2\n*,3\n*,4\n");
}

#[test]
fn built_hierarchies_are_labelled_by_released_values() {
    let table = "age,s\n21,1\n22,2\n23,3\n24,4\n987654,5\n";
    for (built, label) in [
        ("fan-out = 8", "[21-24]"),
        ("mask = \"right\"", "2*"),
        ("width = 5.0, levels = [4, 10, 10, 10, 10]", "[20-24]"),
        ("width = 5.0", "[20-24]"),
        ("fan-out = 4", "[21-24]"),
    ] {
        let folder = Folder::with(&[("t.csv", table)]);
        let job = format!(
            "input = \"t.csv\"\noutput = \"o.csv\"\nrecoding = \"r.json\"\n[columns]\nage = {{ role = \"quasi\", hierarchy = {{ {built} }} }}\n\
             s = {{ role = \"insensitive\" }}\n[privacy]\nk = 4\nsuppress = \"1rows\"\n[search]\nalgorithm = \"optimal\"\nmeasure = \"loss\"\n"
        );
        std::fs::write(folder.path("job.toml"), job).unwrap();
        folder.ok("anonymize --job job.toml");
        let text = folder.read("o.csv");
        assert!(!text.contains("98"), "{built}: {text}");
        assert!(text.contains(&format!("{label},1")) || text.contains("*,1"), "{built}: {text}");
        assert!(!folder.read("r.json").contains("987654"), "{built}");
        folder.ok("apply r.json t.csv -o again.csv");
        assert_eq!(text, folder.read("again.csv"), "{built}");
    }
}

#[test]
fn a_recoding_tells_what_the_release_tells() {
    let table = "town,salary,s\nRome,10,1\nRome,20,2\nPisa,10,3\nPisa,20,4\nOslo,99,5\n";
    let folder = Folder::with(&[
        ("t.csv", table),
        ("h.csv", "Rome;IT;*\nPisa;IT;*\nOslo;NO;*\nUtopia;NO;*\n"),
    ]);
    let args = "-k 2 --quasi town,salary --insensitive s --suppress 1rows --algorithm";
    for (algorithm, rest) in [
        ("koptimize", ""),
        ("hill-climb", "--labels bounds"),
        ("koptimize", "--labels mean"),
        ("koptimize", "--hierarchy town=h.csv"),
    ] {
        folder.ok(&format!(
            "anonymize t.csv -o o.csv {args} {algorithm} {rest} --measure discernibility --recoding r.json --force"
        ));
        let public = folder.read("r.json");
        for hidden in ["Oslo", "99", "Utopia"] {
            assert!(!public.contains(hidden), "{algorithm} {rest}: {public}");
        }
        let before = folder.read("o.csv");
        folder.ok("apply r.json t.csv -o again.csv --force");
        assert_eq!(before, folder.read("again.csv"), "{algorithm} {rest}");
        // Without its private part it does the same for the rows that are released, or says what is
        // missing.
        std::fs::remove_file(folder.path("r.private.json")).unwrap();
        if rest.is_empty() || rest.contains("bounds") {
            folder.ok("apply r.json t.csv -o alone.csv --force");
            let alone = folder.read("alone.csv");
            for row in rows(&before) {
                assert!(alone.contains(&row.join(",")), "{algorithm} {rest}: {alone}");
            }
        } else {
            folder.fails("apply r.json t.csv -o alone.csv --force", 2, &["r.private.json"]);
        }
    }
}

#[test]
fn a_multidimensional_recoding_is_whole_without_its_private_part() {
    let table = crate::harness::people(600, 8);
    let folder = Folder::with(&[("t.csv", &table)]);
    for labels in ["range", "region", "bounds", "range+mean"] {
        let job = crate::harness::PEOPLE_JOB;
        folder.ok(&format!(
            "anonymize t.csv -o o.csv -k 5 {job} --labels {labels} --recoding r.json --force"
        ));
        let file = folder.json("r.json");
        assert!(file.get("private").is_none(), "{labels}: {:?}", file.get("private"));
        folder.ok("apply r.json t.csv -o one.csv --force");
        std::fs::remove_file(folder.path("r.private.json")).unwrap();
        folder.ok("apply r.json t.csv -o two.csv --force");
        assert!(folder.read("one.csv") == folder.read("two.csv"), "{labels}");
    }
}

#[cfg(unix)]
#[test]
fn the_private_part_is_private_and_belongs_to_its_recoding() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[("t.csv", SALARIES)]);
    let args =
        "-k 2 --quasi salary,dept --suppress 1rows --algorithm koptimize --measure discernibility";
    folder.ok(&format!("anonymize t.csv -o o.csv {args} --recoding r.json"));
    let mode = folder.path("r.private.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    folder.fails(
        &format!("anonymize t.csv -o p.csv {args} --recoding r.json"),
        2,
        &["`r.json` exists already", "`r.private.json` exists already"],
    );
    folder.fails(
        &format!("anonymize t.csv -o p.csv {args} --recoding s.json --report s.private.json"),
        2,
        &["named twice"],
    );
    folder.ok(&format!("anonymize t.csv -o p.csv -k 3 {} --recoding s.json", &args[5..]));
    std::fs::copy(folder.path("s.private.json"), folder.path("r.private.json")).unwrap();
    folder.fails("apply r.json t.csv -o q.csv", 2, &["does not belong to"]);
}

#[test]
fn a_mean_is_one_of_k_people() {
    // The class has four rows, but only one person has an income in it.
    let table = "pid,age,income\na,30,5000\na,30,7000\nb,30,\nc,30,\nd,50,100\ne,50,190\nf,50,300\ng,50,210\n";
    let text = release(table, "-k 3 --entity pid --quasi age,income --labels range+mean");
    assert!(!text.contains("6000"), "{text}");
    let without = release(
        &table.replace("pid,", "x,"),
        "-k 3 --quasi age,income --insensitive x --labels range+mean",
    );
    assert!(!without.contains("6000"), "two rows are fewer than three: {without}");
    assert!(text.contains("200"), "a mean of four people is told: {text}");
}

#[test]
fn damaged_recodings_are_refused() {
    let folder = Folder::with(&[("t.csv", &crate::harness::people(300, 21))]);
    let job = crate::harness::PEOPLE_JOB;
    folder.ok(&format!("anonymize t.csv -o o.csv -k 20 {job} --recoding r.json"));
    folder.ok(&format!(
        "anonymize t.csv -o s.csv -k 20 {job} --recoding s.json --algorithm hill-climb --measure discernibility"
    ));
    let (tree, cuts) = (folder.read("r.json"), folder.read("s.json"));
    let refused = |text: String| {
        std::fs::write(folder.path("d.json"), text).unwrap();
        folder.fails("apply d.json t.csv -o d.csv", 2, &["d.json"]);
    };
    let last = tree.rfind("\"class\":").unwrap();
    for class in ["4294967295", "2147483648", "4294967296", "-1", "0", "1000000"] {
        let end = last + tree[last..].find(',').unwrap();
        refused(format!("{}\"class\":{class}{}", &tree[..last], &tree[end..]));
    }
    for (from, to) in [
        ("\"low\":1", "\"low\":0"),
        ("\"low\":1", "\"low\":4294967295"),
        ("\"low\":1,", "\"low\":2,"),
        ("\"kind\": \"multidimensional\"", "\"kind\": \"full-domain\""),
        ("\"kind\": \"multidimensional\"", "\"kind\": \"single-dimensional\""),
        ("\"kind\": \"multidimensional\"", "\"kind\": \"other\""),
        ("\"labels\": \"range\"", "\"labels\": \"rang\""),
        ("\"column\":\"age\"", "\"column\":\"diagnosis\""),
        ("\"column\":\"age\"", "\"column\":\"none\""),
        ("\"role\":\"quasi\"", "\"role\":\"insensitive\""),
    ] {
        assert!(tree.contains(from), "{from}");
        refused(tree.replacen(from, to, 1));
    }
    refused(cuts.replacen("\"cuts\": {\"age\":[", "\"cuts\": {\"age\":[\"99\",\"1\",", 1));
    refused(cuts.replacen("\"cuts\": {\"age\"", "\"cuts\": {\"note\"", 1));
}

#[test]
fn a_recoding_is_applied_to_rows_that_lie_above_its_first_cut() {
    let folder =
        Folder::with(&[("t.csv", "a\n1\n1\n2\n2\n3\n3\n"), ("new.csv", "a\n3\n3\n4\n4\n")]);
    folder.ok(
        "anonymize t.csv -o o.csv -k 2 --quasi a --algorithm single-dimensional --recoding r.json",
    );
    folder.ok("apply r.json new.csv -o n.csv");
    assert_eq!(folder.read("n.csv"), "a\n[3-4]\n[3-4]\n[3-4]\n[3-4]\n");
}
