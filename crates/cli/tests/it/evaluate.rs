//! Models trained on a release: what they see, curves over k, and how differences are tested.

use serde_json::Value;

use crate::harness::{Folder, people};
use crate::pages;

/// People whose label follows from a column, but for one in ten: age, zip, hint, code, id, label.
fn hinted(rows: usize) -> String {
    let mut state = 7u64;
    let mut below = move |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut text = "age,zip,hint,code,id,label\n".to_owned();
    for row in 0..rows {
        let (hint, slip) = (below(4), u64::from(below(10) == 0));
        let label = ["no", "yes"][usize::try_from((hint + slip) % 2).unwrap()];
        let (age, zip) = (18 + below(60), 100 + below(50));
        text += &format!("{age},{zip},h{hint},c{row}x,{label},{label}\n");
    }
    text
}

#[track_caller]
fn evaluated(folder: &Folder, args: &str) -> Value {
    let ended = folder.ok(&format!("evaluate t.csv {args} --json"));
    serde_json::from_str(&ended.stdout).unwrap()
}

fn accuracy(found: &Value, of: &str) -> f64 {
    found["cases"][0]["targets"][0]["models"][0][of]["mean"].as_f64().unwrap()
}

fn columns(found: &Value, is_recoded: bool) -> Vec<&str> {
    let predictors = found["predictors"].as_array().unwrap().iter();
    let of = predictors.filter(|predictor| predictor["is_recoded"] == is_recoded);
    of.map(|predictor| predictor["column"].as_str().unwrap()).collect()
}

/// Whoever receives a release has its columns, recoded or not.
#[test]
fn all_released_columns_are_predictors() {
    let folder = Folder::with(&[("t.csv", &hinted(600))]);
    let base = "-k 10 --quasi age,zip --target label --models decision-tree --folds 5";
    for role in ["insensitive", "sensitive"] {
        let found =
            evaluated(&folder, &format!("{base} --{role} hint --insensitive code --identifier id"));
        assert_eq!(columns(&found, true), ["age", "zip"]);
        assert_eq!(columns(&found, false), ["hint", "code"], "{role}");
        for of in ["released", "original"] {
            assert!(accuracy(&found, of) > 0.85, "{role} {of}: {found}");
        }
    }
    // Neither what is never released, nor whoever the rows belong to, nor another target.
    for rest in [
        "--identifier hint,id,code",
        "--identifier hint,id --insensitive code --entity code",
        "--undeclared drop",
    ] {
        let found = evaluated(&folder, &format!("{base} {rest}"));
        assert_eq!(columns(&found, false), Vec::<&str>::new(), "{rest}");
        assert!(accuracy(&found, "original") < 0.65, "{rest}: {found}");
    }
    let targets = base.replace("--target label", "--target label,hint");
    let found = evaluated(&folder, &format!("{targets} --predict id --insensitive id,code"));
    assert_eq!(columns(&found, false), ["code"], "targets are no predictors of each other");
    let targets = found["cases"][0]["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 3);
}

#[test]
fn what_models_cannot_learn_from_is_said() {
    let folder = Folder::with(&[("t.csv", &hinted(1_200))]);
    let base = "-k 10 --quasi age,zip --target label --insensitive hint,code --identifier id";
    let found = evaluated(&folder, &format!("{base} --test 0.3"));
    assert_eq!(columns(&found, false), ["hint"]);
    assert_eq!(found["left_out"][0]["column"], "code");
    let ended = folder.ok(&format!("evaluate t.csv {base} --test 0.3"));
    assert!(ended.stdout.contains("not used: code: it has 1,200 values"), "{}", ended.stdout);
}

/// The probability of Student's t at least as far from 0, by adding up powers of a cosine.
fn two_sided(t: f64, freedom: i32) -> f64 {
    let area = |from: f64, to: f64| {
        let steps = 20_000;
        let width = (to - from) / f64::from(steps);
        let at = |step: i32| (from + f64::from(step) * width).cos().powi(freedom - 1);
        (0..steps).map(|step| f64::midpoint(at(step), at(step + 1)) * width).sum::<f64>()
    };
    let end = std::f64::consts::FRAC_PI_2;
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    area(angle, end) / area(0.0, end)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Checks a difference against the formula of Nadeau and Bengio.
#[track_caller]
fn check_difference(found: &Value, first: &Value, second: &Value, ratio: f64) {
    let pairs = numbers(first).into_iter().zip(numbers(second));
    let differences: Vec<f64> = pairs.map(|(first, second)| first - second).collect();
    let freedom = i32::try_from(differences.len()).unwrap() - 1;
    let n = f64::from(freedom + 1);
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) * (1.0 / n + ratio)).sqrt();
    let number = |name: &str| found[name].as_f64().unwrap();
    assert!((number("mean") - mean).abs() < 1e-12, "{found}");
    assert!((number("p") - two_sided(mean / error, freedom)).abs() < 1e-4, "{found}");
    // The ends are where the test would just give 5%.
    for end in ["lower", "upper"] {
        let t = (number(end) - mean) / error;
        assert!((two_sided(t, freedom) - 0.05).abs() < 1e-4, "{end}: {found}");
    }
}

#[test]
fn a_curve_over_k_with_paired_differences() {
    let folder = Folder::with(&[("t.csv", &hinted(500))]);
    let flags = "--quasi age,zip,hint --target label --undeclared drop --models decision-tree \
                 --folds 5 --repeats 2 --algorithms mondrian,mondrian:infogain";
    let found = evaluated(&folder, &format!("-k 5,40 {flags}"));
    let protocol = &found["protocol"];
    assert_eq!((&protocol["folds"], &protocol["repeats"]), (&5.into(), &2.into()));
    let cases = found["cases"].as_array().unwrap();
    let names: Vec<(&str, u64)> = cases
        .iter()
        .map(|case| (case["algorithm"].as_str().unwrap(), case["k"].as_u64().unwrap()))
        .collect();
    let infogain = "mondrian:infogain";
    assert_eq!(names, [("mondrian", 5), ("mondrian", 40), (infogain, 5), (infogain, 40)]);
    let model = |case: usize| &cases[case]["targets"][0]["models"][0];
    for case in 0..4 {
        let of = model(case);
        assert_eq!(of["original_by_fold"], model(0)["original_by_fold"], "the rows are the same");
        assert_eq!(of["original_by_fold"].as_array().unwrap().len(), 10);
        check_difference(&of["difference"], &of["released_by_fold"], &of["original_by_fold"], 0.25);
    }
    let between = found["between"].as_array().unwrap();
    assert_eq!(between.len(), 2);
    assert_eq!((&between[0]["k"], &between[0]["first"]), (&5.into(), &"mondrian".into()));
    let (first, second) = (&model(0)["released_by_fold"], &model(2)["released_by_fold"]);
    check_difference(&between[0]["difference"], first, second, 0.25);
    let alone = evaluated(&folder, &format!("-k 40 {flags}").replace(",mondrian:infogain", ""));
    assert_eq!(alone["cases"][0], cases[1], "a case does not depend on the others");
}

/// Rows that were held out once are compared one by one.
#[test]
fn one_split_is_tested_by_row() {
    let folder = Folder::with(&[("t.csv", &hinted(900))]);
    let found = evaluated(
        &folder,
        "-k 60 --quasi age,zip,hint --target label --test 0.4 --undeclared drop --models decision-tree",
    );
    assert!(found["protocol"]["test"].as_str().unwrap().contains("McNemar"));
    let model = &found["cases"][0]["targets"][0]["models"][0];
    let number = |name: &str| model["difference"][name].as_f64().unwrap();
    let gap = accuracy(&found, "released") - accuracy(&found, "original");
    assert!((number("mean") - gap).abs() < 1e-12);
    assert!(number("mean") < -0.1 && number("upper") < 0.0 && number("p") < 0.001, "{model}");
}

#[test]
fn reports_and_what_cannot_be_evaluated() {
    let table = people(300, 2).replacen("age,sex", "age,<script>alert(1)</script>", 1);
    let folder = Folder::with(&[("t.csv", &table)]);
    let flags = "--quasi age,city --target status --undeclared drop --folds 3 --quiet \
                 --select 'age >= 40 AND age < 70' --insensitive '<script>alert(1)</script>'";
    let command = format!("evaluate t.csv -k 5,20,250 {flags}");
    let ended = folder.ok(&format!("{command} --report e.html"));
    assert!(ended.stdout.contains("left out: `mondrian`, k = 250: no release"), "{}", ended.stdout);
    pages::check(&folder.path("e.html"));
    let html = folder.read("e.html");
    assert!(html.contains("k = 250 could not be evaluated"));
    assert_eq!(html.matches("<svg").count(), 2, "a curve for each model");
    folder.fails(&format!("{command} --report e.html"), 2, &["exists already"]);
    folder.fails(&format!("{command} --report e.txt"), 2, &["name it .json or .html"]);
    folder.ok(&format!("{command} --report e.json --algorithms mondrian,koptimize,optimal --json"));
    let cases = folder.json("e.json")["cases"].as_array().unwrap().clone();
    assert_eq!(cases.len(), 9);
    assert!(cases[6]["failed"].as_str().unwrap().contains("needs a hierarchy"));
    folder.ok(&format!("{command} --report e.html --force --algorithms mondrian,koptimize"));
    pages::check(&folder.path("e.html"));
    folder.ok(&format!("{command} --report e.html --force --test 0.3")
        .replace("--folds 3", "")
        .replace("5,20,250", "5"));
    pages::check(&folder.path("e.html"));
    let none = format!("{command} --report n.html").replace("5,20,250", "250,280");
    folder.fails(&none, 2, &["do not leave k rows"]);
    let none = format!("{command} --report n.html --algorithms optimal,mondrian-relaxed");
    folder.fails(&none, 2, &["needs a hierarchy", "a local recoding"]);
    assert_eq!(folder.files(), ["e.html", "e.json", "t.csv"]);
}
