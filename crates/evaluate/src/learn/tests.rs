//! Small tables with known answers, for every model.

use super::*;

/// A table of numbers, or of codes in the columns that `nominal` marks.
fn table(nominal: &[bool], rows: &[&[f64]]) -> Features {
    Features { n_rows: rows.len(), values: rows.concat(), is_nominal: nominal.to_vec() }
}

/// `n_rows` rows of `n_columns` numbers in 0..1.
fn random(n_rows: usize, n_columns: usize, seed: u64) -> Features {
    let mut state = seed;
    let number = |()| f64::from(u16::try_from(next_random(&mut state) >> 48).unwrap()) / 65_536.0;
    let values = std::iter::repeat_n((), n_rows * n_columns).map(number).collect();
    Features { n_rows, values, is_nominal: vec![false; n_columns] }
}

fn labels(features: &Features, label: impl Fn(&[f64]) -> u32) -> Vec<u32> {
    (0..features.n_rows).map(|row| label(features.row(row))).collect()
}

/// The accuracy on 500 fresh rows after 500 training rows.
fn accuracy(learner: Learner, n_columns: usize, label: impl Fn(&[f64]) -> u32) -> f64 {
    let (train, test) = (random(500, n_columns, 1), random(500, n_columns, 2));
    let answers = learner.predict(&train, &labels(&train, &label), &test, 7).unwrap();
    score::accuracy(&answers, &labels(&test, &label))
}

#[test]
fn trees_learn_nested_rules_that_planes_do_not() {
    // A square in a corner of another: no single column decides.
    let rule =
        |row: &[f64]| if row[0] < 0.6 { u32::from(row[1] < 0.5) } else { u32::from(row[1] > 0.3) };
    assert!(accuracy(Learner::DecisionTree, 3, rule) > 0.97);
    assert!(accuracy(Learner::RandomForest, 3, rule) > 0.95);
    assert!(accuracy(Learner::LinearSvm, 3, rule) < 0.8);
}

#[test]
fn planes_learn_linear_borders() {
    let rule = |row: &[f64]| u32::from(row[0] + 2.0 * row[1] - row[2] > 1.0);
    assert!(accuracy(Learner::LinearSvm, 3, rule) > 0.97);
    assert!(accuracy(Learner::DecisionTree, 3, rule) > 0.85);
}

#[test]
fn every_learner_separates_three_labels() {
    let rule = |row: &[f64]| if row[0] < 0.3 { 10 } else { 20 + 10 * u32::from(row[0] > 0.7) };
    for (name, learner) in Learner::ALL {
        let found = accuracy(learner, 2, rule);
        assert!(found > 0.95, "{name} {found}");
    }
}

#[test]
fn every_learner_uses_codes_without_order() {
    let code_rule = |row: &[f64]| u32::from([1.0, 4.0, 6.0].contains(&row[0]));
    let codes = |seed| {
        let mut features = random(400, 2, seed);
        for row in features.values.chunks_exact_mut(2) {
            row[0] = (row[0] * 8.0).floor();
        }
        Features { is_nominal: vec![true, false], ..features }
    };
    let (train, test) = (codes(1), codes(2));
    for (name, learner) in Learner::ALL {
        let answers = learner.predict(&train, &labels(&train, code_rule), &test, 7).unwrap();
        let found = score::accuracy(&answers, &labels(&test, code_rule));
        assert!(found > 0.97, "{name} {found}");
    }
    let targets: Vec<f64> = labels(&train, code_rule).into_iter().map(f64::from).collect();
    let truth: Vec<f64> = labels(&test, code_rule).into_iter().map(f64::from).collect();
    for (name, regressor) in Regressor::ALL {
        let answers = regressor.predict(&train, &targets, &test).unwrap();
        let error = score::mean_absolute_error(&answers, &truth);
        assert!(error < 0.05, "{name} {error}");
    }
}

#[test]
fn noise_is_pruned_away() {
    let (train, test) = (random(500, 4, 1), random(200, 4, 2));
    let noisy: Vec<u32> = (0..500).map(|row| u32::from(row % 3 == 0)).collect();
    let answers = Learner::DecisionTree.predict(&train, &noisy, &test, 0).unwrap();
    let n_minority = answers.iter().filter(|&&label| label == 1).count();
    assert!(n_minority <= 30, "{n_minority} of 200");
}

#[test]
fn naive_bayes_multiplies_smoothed_shares() {
    // Label 1: code 0 twice, code 1 once. Label 2: code 1 once. With one added to each of the three
    // categories (one is for unseen codes): code 0 gives 3/4·3/6 and 1/4·1/4, code 1 gives 3/4·2/6
    // and 1/4·2/4, an unseen code 3/4·1/6 and 1/4·1/4: label 1 throughout.
    let train = table(&[true], &[&[0.0], &[0.0], &[1.0], &[1.0]]);
    let test = table(&[true], &[&[0.0], &[1.0], &[9.0]]);
    assert_eq!(Learner::NaiveBayes.predict(&train, &[1, 1, 1, 2], &test, 0), Ok(vec![1, 1, 1]));
    assert_eq!(Learner::NaiveBayes.predict(&train, &[1, 1, 2, 2], &test, 0).unwrap()[..2], [1, 2]);
}

#[test]
fn least_squares_survives_collinear_and_constant_columns() {
    let rows: Vec<[f64; 4]> =
        (0..10).map(f64::from).map(|x| [x, 2.0 * x + 1.0, 5.0, (x * 7.0) % 4.0]).collect();
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    let features = table(&[false; 4], &rows);
    let targets: Vec<f64> = rows.iter().map(|row| 3.0 * row[0] - row[3] + 100.0).collect();
    let answers = Regressor::LinearRegression.predict(&features, &targets, &features).unwrap();
    assert!(score::mean_absolute_error(&answers, &targets) < 1e-4, "{answers:?}");
    // Fewer rows than columns.
    let few = table(&[false; 4], &rows[..3]);
    let answers = Regressor::LinearRegression.predict(&few, &targets[..3], &few).unwrap();
    assert!(score::mean_absolute_error(&answers, &targets[..3]) < 1e-3, "{answers:?}");
}

#[test]
fn regression_trees_find_steps() {
    let (train, test) = (random(400, 2, 1), random(400, 2, 2));
    let steps = |features: &Features| -> Vec<f64> {
        labels(features, |row| u32::from(row[0] > 0.4) * 10 + u32::from(row[1] > 0.5))
            .into_iter()
            .map(f64::from)
            .collect()
    };
    let answers = Regressor::RegressionTree.predict(&train, &steps(&train), &test).unwrap();
    assert!(score::mean_absolute_error(&answers, &steps(&test)) < 0.2);
}

#[test]
fn columns_are_ranked_by_information() {
    let mut features = random(300, 3, 1);
    let wanted = labels(&features, |row| u32::from(row[1] > 0.5) + u32::from(row[2] > 0.9));
    for row in features.values.chunks_exact_mut(3) {
        row[0] = 4.0;
    }
    let ranked = rank_columns(&features, &wanted).unwrap();
    assert_eq!(ranked.iter().map(|&(column, _)| column).collect::<Vec<_>>(), [1, 2, 0]);
    assert!(ranked[0].1 > 0.5 && ranked[2].1 <= 0.0, "{ranked:?}");
    let parity = table(&[true], &[&[0.0], &[1.0], &[0.0], &[1.0]]);
    assert_eq!(rank_columns(&parity, &[3, 8, 3, 8]), Ok(vec![(0, 1.0)]));
}

#[test]
fn same_seed_same_answers_on_any_number_of_threads() {
    let (train, test) = (random(300, 4, 1), random(300, 4, 2));
    let wanted = labels(&train, |row| u32::from(row[0] > row[1]) + u32::from(row[2] > 0.6));
    let targets: Vec<f64> = train.column(3).collect();
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| {
            let answers =
                Learner::ALL.map(|(_, learner)| learner.predict(&train, &wanted, &test, 5));
            (
                answers,
                Regressor::ALL.map(|(_, regressor)| regressor.predict(&train, &targets, &test)),
            )
        })
    };
    assert_eq!(run(1), run(8));
}

#[test]
fn degenerate_tables_have_sensible_answers() {
    let one = table(&[false, true], &[&[1.0, 2.0]]);
    let constant = table(&[false, true], &[&[1.0, 2.0][..]; 5]);
    let test = table(&[false, true], &[&[1.0, 2.0], &[-7.0, 9.0]]);
    let none = table(&[false, true], &[]);
    let bare = |n_rows| Features { n_rows, values: Vec::new(), is_nominal: Vec::new() };
    for (name, learner) in Learner::ALL {
        let predict = |train: &Features, labels: &[u32], test: &Features| {
            learner.predict(train, labels, test, 3).unwrap()
        };
        assert_eq!(predict(&one, &[4], &test), [4, 4], "{name}: one row");
        assert_eq!(predict(&constant, &[4; 5], &test), [4, 4], "{name}: one label");
        assert_eq!(predict(&constant, &[4, 6, 6, 4, 6], &test)[0], 6, "{name}: constant columns");
        assert_eq!(predict(&bare(3), &[9, 1, 9], &bare(2)), [9, 9], "{name}: no columns");
        assert_eq!(predict(&constant, &[4, 6, 6, 4, 7], &none), [], "{name}: nothing to answer");
    }
    for (name, regressor) in Regressor::ALL {
        let predict = |train: &Features, targets: &[f64], test: &Features| {
            regressor.predict(train, targets, test).unwrap()
        };
        assert_eq!(predict(&one, &[4.0], &test), [4.0, 4.0], "{name}: one row");
        assert_eq!(predict(&constant, &[1.0, 2.0, 3.0, 4.0, 5.0], &test), [3.0, 3.0], "{name}");
        assert_eq!(predict(&bare(2), &[1.0, 2.0], &bare(1)), [1.5], "{name}: no columns");
        assert_eq!(predict(&one, &[4.0], &none), [], "{name}: nothing to answer");
    }
}

#[test]
fn huge_numbers_and_many_codes_do_no_harm() {
    let rows: Vec<[f64; 2]> =
        (0..200).map(|row| [f64::from(row), if row % 2 == 0 { 1e100 } else { -1e100 }]).collect();
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    let features = table(&[true, false], &rows);
    let wanted = labels(&features, |row| u32::from(row[1] > 0.0));
    for (name, learner) in Learner::ALL {
        let answers = learner.predict(&features, &wanted, &features, 3).unwrap();
        assert!(score::accuracy(&answers, &wanted) > 0.9, "{name}");
    }
    let targets: Vec<f64> = features.column(1).collect();
    for (name, regressor) in Regressor::ALL {
        let answers = regressor.predict(&features, &targets, &features).unwrap();
        assert!(answers.iter().all(|answer| answer.is_finite()), "{name}");
    }
}

#[test]
fn bad_tables_are_refused() {
    let good = table(&[false], &[&[1.0], &[2.0]]);
    let infinite = table(&[false], &[&[1.0], &[f64::NAN]]);
    let nominal = table(&[true], &[&[1.0]]);
    let short = Features { n_rows: 3, ..good.clone() };
    let run = |train: &Features, labels: &[u32], test: &Features| {
        Learner::NaiveBayes.predict(train, labels, test, 0).unwrap_err()
    };
    assert_eq!(run(&infinite, &[1, 2], &good), LearnError::Cell { row: 1, column: 0 });
    assert_eq!(run(&good, &[1, 2], &infinite), LearnError::Cell { row: 1, column: 0 });
    assert_eq!(run(&good, &[1, 2], &nominal), LearnError::ColumnsDiffer);
    assert_eq!(run(&good, &[1], &good), LearnError::Targets { n_rows: 2, n_targets: 1 });
    assert_eq!(
        run(&short, &[1], &good),
        LearnError::Shape { n_rows: 3, n_columns: 1, n_values: 2 }
    );
    assert_eq!(run(&table(&[false], &[]), &[], &good), LearnError::NoRows);
    let found = Regressor::RegressionTree.predict(&good, &[1.0, f64::INFINITY], &good);
    assert_eq!(found, Err(LearnError::Target { row: 1 }));
}
