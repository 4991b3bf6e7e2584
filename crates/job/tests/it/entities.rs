//! People are told apart by the values of the entity column, as any other column's values are.

use std::path::Path;

use incrowd_job::{JobSpec, Outcome, Run, anonymize, check};

/// Random numbers below a bound.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The release of a table and its report; why there is none otherwise.
fn release(
    folder: &Path,
    rows: &[String],
    toml: &str,
    run: &Run,
) -> (Result<String, String>, serde_json::Value) {
    let (input, output) = (folder.join("t.csv"), folder.join("o.csv"));
    std::fs::write(&input, format!("pid,age,city,ill\n{}", rows.concat())).unwrap();
    let mut spec = JobSpec::from_toml(toml).unwrap();
    spec.input = Some(input.display().to_string());
    spec.output = Some(output.display().to_string());
    spec.run.temp_dir = Some(folder.display().to_string());
    match anonymize(run, &spec, true).unwrap() {
        Outcome::Done(done) => {
            let report = serde_json::from_str(&done.report.to_json()).unwrap();
            (Ok(std::fs::read_to_string(output).unwrap()), report)
        }
        Outcome::Failed { reasons, .. } => (Err(reasons.join("; ")), serde_json::Value::Null),
    }
}

const COLUMNS: &str = "[columns]\nage = { role = \"quasi\" }\ncity = { role = \"quasi\" }\n\
    ill = { role = \"sensitive\" }\n";

/// Rows of people with a few rows each, whose numbers are spelt in several ways.
fn people(rng: &mut Rng, n_rows: usize) -> Vec<String> {
    let row = |_| {
        let pid = rng.below(n_rows / 3 + 1);
        let pid = [format!("{pid}"), format!("{pid}.0"), format!("{pid}.00")][rng.below(3)].clone();
        let city = ["a", "b", "c", ""][rng.below(4)];
        let ill = ["flu", "hiv", "cold", ""][rng.below(4)];
        format!("{pid},{},{city},{ill}\n", rng.below(5))
    };
    (0..n_rows).map(row).collect()
}

/// Three spellings of a number are one person, in the search and in what is verified, and in
/// `check`.
#[test]
fn a_number_is_one_person_however_it_is_spelt() {
    let rows = ["7,30,a,x\n", "7.0,31,a,y\n", "7.00,32,a,z\n", "8,50,b,x\n", "9,51,b,y\n"];
    let rows = rows.map(str::to_owned);
    let folder = tempfile::tempdir().unwrap();
    for role in ["identifier", "insensitive", "sensitive"] {
        let toml = |rest: &str| {
            format!(
                "{COLUMNS}pid = {{ role = \"{role}\", entity = true }}\n[privacy]\nk = 2\n{rest}"
            )
        };
        for rest in ["", "[search]\nrelaxed = true\n", "[search]\nalgorithm = \"koptimize\"\n"] {
            let (found, report) = release(folder.path(), &rows, &toml(rest), &Run::default());
            found.unwrap();
            // The rows of 7 are one person, so that all rows are one class, of three people.
            assert_eq!(report["release"]["classes"], 1, "{role} {rest}");
            assert_eq!(report["privacy"][0]["k"], 3, "{role} {rest}");
        }
        let mut spec = JobSpec::from_toml(&toml("")).unwrap();
        spec.input = Some(folder.path().join("t.csv").display().to_string());
        spec.columns.insert("age".to_owned(), incrowd_job::ColumnSpec::default());
        spec.undeclared = Some("drop".to_owned());
        let outcome = check(&Run::default(), &spec, false).unwrap();
        let Outcome::Failed { report: Some(report), .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(report.privacy[0].k, 1, "{role}: the rows of city a are one person");
    }
}

/// Numbers with a leading zero are text, as in every column: no two of them are one person.
#[test]
fn text_is_compared_by_its_characters() {
    let rows = ["007,30,a,x\n", "7,30,a,y\n", "7.0,31,b,x\n", " 7,31,b,y\n"].map(str::to_owned);
    let folder = tempfile::tempdir().unwrap();
    let toml = format!("{COLUMNS}pid = {{ entity = true }}\n[privacy]\nk = 2\n");
    let (found, report) = release(folder.path(), &rows, &toml, &Run::default());
    found.unwrap();
    assert_eq!(report["release"]["classes"], 2);
}

/// Rows of equal vectors are divided by something that the order of the input has no say in,
/// wherever the rows are held.
#[test]
fn relaxed_classes_do_not_depend_on_the_order_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut n_released = 0;
    for seed in 0..40 {
        let mut rng = Rng(seed);
        let n_rows = 8 + rng.below(40);
        let mut rows = people(&mut rng, n_rows);
        let role = ["identifier", "insensitive"][rng.below(2)];
        let models = ["", "l-diversity = [{ distinct = 2 }]\n"][rng.below(2)];
        let toml = format!(
            "{COLUMNS}pid = {{ role = \"{role}\", entity = true }}\n\
             [privacy]\nk = 3\n{models}[search]\nrelaxed = true\n"
        );
        let (expected, _) = release(folder.path(), &rows, &toml, &Run::default());
        n_released += usize::from(expected.is_ok());
        for run in [Run::default(), Run::default().squeezed(100_000_000)] {
            rng.shuffle(&mut rows);
            let (found, _) = release(folder.path(), &rows, &toml, &run);
            assert_eq!(found, expected, "seed {seed}: {toml}");
        }
    }
    assert!(n_released > 20, "{n_released}");
}
