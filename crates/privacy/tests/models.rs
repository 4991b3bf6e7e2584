//! The models on hand-computed classes, and monotonicity on random ones.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use incrowd_privacy::{
    Class, Column, Distance, DistinctDiversity, EntropyDiversity, Histogram, KAnonymity, Model,
    ParameterError, RecursiveDiversity, SquaredErrorDiversity, TCloseness, Valued, disclosure,
};

fn histogram(counts: &[u64]) -> Histogram {
    let mut histogram = Histogram::new(u32::try_from(counts.len()).unwrap());
    for (code, &count) in (0..).zip(counts) {
        histogram.add(code, count);
    }
    histogram
}

fn class(counts: &[u64]) -> Class {
    let n_rows = counts.iter().sum();
    Class { n_rows, n_entities: n_rows, histograms: vec![histogram(counts)] }
}

#[track_caller]
fn check(model: &dyn Model, holds: &[&[u64]], fails: &[&[u64]]) {
    for counts in holds {
        assert!(model.holds(&class(counts)), "{} must hold for {counts:?}", model.describe());
    }
    for counts in fails {
        assert!(!model.holds(&class(counts)), "{} must fail for {counts:?}", model.describe());
    }
}

#[test]
fn k_counts_rows_or_entities() {
    check(&KAnonymity::new(3).unwrap(), &[&[3], &[1, 2]], &[&[2], &[1, 1]]);
    let mut two_people = class(&[5]);
    two_people.n_entities = 2;
    assert!(!KAnonymity::new(3).unwrap().holds(&two_people));
}

#[test]
fn distinct_diversity_counts_values() {
    check(&DistinctDiversity::new(0, 2.0).unwrap(), &[&[1, 9], &[1, 1, 1]], &[&[10, 0]]);
}

#[test]
fn entropy_diversity_is_exact_for_equal_shares() {
    let model = EntropyDiversity::new(0, 3.0).unwrap();
    check(&model, &[&[1, 1, 1], &[7, 7, 7], &[1, 1, 1, 1]], &[&[2, 1, 1], &[1, 1, 0]]);
}

#[test]
fn recursive_diversity_is_strict() {
    // r1 < c (r2 + r3): with c = 2, l = 2.
    let model = RecursiveDiversity::new(0, 2.0, 2).unwrap();
    check(&model, &[&[3, 2], &[3, 1, 1]], &[&[4, 2], &[4, 1, 1], &[5, 0]]);
    // l beyond the number of values leaves nothing on the right.
    check(&RecursiveDiversity::new(0, 100.0, 3).unwrap(), &[], &[&[1, 1, 0]]);
}

#[test]
fn the_least_c_by_l() {
    let cs = RecursiveDiversity::least_cs(&histogram(&[2, 6, 0, 4]), usize::MAX);
    // The counts are 6, 4, 2: 6 over 4 + 2 with l = 2, over 2 with l = 3.
    assert_eq!(cs, [1.0, 3.0]);
    for (l, c) in (2..).zip(cs) {
        let [above, at] = [c + 1e-9, c].map(|c| RecursiveDiversity::new(0, c, l).unwrap());
        check(&above, &[&[2, 6, 0, 4]], &[]);
        check(&at, &[], &[&[2, 6, 0, 4]]);
    }
    assert_eq!(RecursiveDiversity::least_cs(&histogram(&[2, 6, 0, 4]), 1), [1.0]);
    assert!(RecursiveDiversity::least_cs(&histogram(&[0, 6]), usize::MAX).is_empty());
    assert!(RecursiveDiversity::least_cs(&histogram(&[0, 0]), usize::MAX).is_empty());
}

#[test]
fn disclosure_of_a_class() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    let whole = [0.5, 0.25, 0.125, 0.125];
    // The shares 1/4, 1/2 and 1/4 are half, twice and twice those of the table; the last value does
    // not occur.
    let class = histogram(&[1, 2, 1, 0]);
    near(disclosure::alpha(&class), 0.5);
    near(disclosure::delta(&class, &whole), 2.0_f64.ln());
    near(disclosure::beta(&class, &whole), 1.0);
    // Both gains of 1 are below -ln 0.25 and -ln 0.125.
    near(disclosure::enhanced_beta(&class, &whole), 1.0);
    // All rows with a value of 1/8: a gain of 7, above -ln 0.125.
    let one = histogram(&[0, 0, 3, 0]);
    near(disclosure::alpha(&one), 1.0);
    near(disclosure::delta(&one, &whole), 8.0_f64.ln());
    near(disclosure::beta(&one, &whole), 7.0);
    assert!(disclosure::enhanced_beta(&one, &whole).is_infinite());
}

#[test]
fn a_class_like_the_table_discloses_nothing() {
    let (class, whole) = (histogram(&[2, 1, 1]), [0.5, 0.25, 0.25]);
    let found = [
        disclosure::delta(&class, &whole),
        disclosure::beta(&class, &whole),
        disclosure::enhanced_beta(&class, &whole),
    ]
    .map(f64::to_bits);
    assert_eq!(found, [0.0_f64.to_bits(); 3]);
    // Only delta sees that a value is less than half as frequent.
    let rarer = histogram(&[8, 1, 7]);
    assert!(disclosure::delta(&rarer, &whole) > disclosure::beta(&rarer, &whole));
}

#[test]
fn closeness_by_equal_and_by_ordered_distance() {
    let whole = histogram(&[1, 1, 1]);
    let equal = TCloseness::new(0, 0.5, Distance::Equal, &whole).unwrap();
    let ordered = TCloseness::new(0, 0.5, Distance::Ordered, &whole).unwrap();
    // All mass is on the first value: 2/3 has to move, by rank 1/3 by half the range and 1/3 by all
    // of it.
    assert!((equal.distance(&histogram(&[1, 0, 0])) - 2.0 / 3.0).abs() < 1e-12);
    assert!((ordered.distance(&histogram(&[1, 0, 0])) - 0.5).abs() < 1e-12);
    check(&equal, &[&[1, 1, 0]], &[&[1, 0, 0]]);
    check(&ordered, &[&[1, 0, 0]], &[]);
}

#[test]
fn the_salaries_of_the_t_closeness_paper() {
    // Li et al., section 3.2: {3k..11k} against {3k,4k,5k} is 0.375, against {6k,8k,11k} 0.167.
    let whole = histogram(&[1; 9]);
    let model = TCloseness::new(0, 0.2, Distance::Ordered, &whole).unwrap();
    assert!((model.distance(&histogram(&[1, 1, 1, 0, 0, 0, 0, 0, 0])) - 0.375).abs() < 1e-9);
    let spread = model.distance(&histogram(&[0, 0, 0, 1, 0, 1, 0, 0, 1]));
    assert!((spread - 1.0 / 6.0).abs() < 1e-9, "{spread}");
}

#[test]
fn squared_error_is_about_the_mean_and_ignores_missing() {
    let model = SquaredErrorDiversity::new(0, 2.0, vec![1.0, 2.0, 3.0]).unwrap();
    check(&model, &[&[1, 0, 1, 0], &[1, 1, 1, 5]], &[&[1, 1, 0, 9], &[0, 4, 0, 0]]);
}

/// The last code is for missing cells.
#[test]
fn missing_cells_do_not_count() {
    let column = Column { at: 0, missing: Some(3) };
    let whole = histogram(&[1, 1, 2, 9]);
    let distinct = DistinctDiversity::new(column, 2.0).unwrap();
    check(&distinct, &[&[1, 1, 0, 0], &[1, 1, 0, 9]], &[&[2, 0, 0, 9], &[0, 0, 0, 9]]);
    let entropy = EntropyDiversity::new(column, 2.0).unwrap();
    check(&entropy, &[&[1, 1, 0, 9]], &[&[2, 1, 0, 3], &[5, 0, 0, 5], &[0, 0, 0, 9]]);
    check(&EntropyDiversity::new(column, 1.0).unwrap(), &[&[1, 0, 0, 0]], &[&[0, 0, 0, 9]]);
    let recursive = RecursiveDiversity::new(column, 2.0, 2).unwrap();
    check(&recursive, &[&[3, 2, 0, 0]], &[&[3, 0, 0, 9], &[0, 0, 0, 9]]);
    for distance in [Distance::Equal, Distance::Ordered] {
        let close = TCloseness::new(column, 0.99, distance, &whole).unwrap();
        check(&close, &[&[1, 1, 2, 0], &[1, 1, 2, 50]], &[&[0, 0, 0, 9]]);
        let values = TCloseness::new(0, 0.99, distance, &histogram(&[1, 1, 2])).unwrap();
        let (with, without) = (histogram(&[3, 1, 0, 7]), histogram(&[3, 1, 0]));
        let found = close.distance(with.valued(Some(3)));
        assert!((found - values.distance(&without)).abs() < 1e-12, "{found}");
    }
    let (with, without) = (histogram(&[3, 1, 0, 7]), histogram(&[3, 1, 0]));
    let shares = [0.25, 0.25, 0.5];
    let figures = |class: Valued| {
        [
            disclosure::delta(class, &shares),
            disclosure::beta(class, &shares),
            disclosure::enhanced_beta(class, &shares),
        ]
        .map(f64::to_bits)
    };
    assert_eq!(figures(with.valued(Some(3))), figures((&without).into()));
    assert_eq!(disclosure::alpha(with.valued(Some(3))).to_bits(), 0.75_f64.to_bits());
}

#[test]
fn parameters_are_checked() {
    assert_eq!(KAnonymity::new(1), Err(ParameterError::KTooSmall { k: 1 }));
    assert!(EntropyDiversity::new(0, f64::NAN).is_err());
    assert!(DistinctDiversity::new(0, 0.5).is_err());
    assert!(RecursiveDiversity::new(0, 0.0, 2).is_err());
    assert!(TCloseness::new(0, 1.5, Distance::Equal, &histogram(&[1])).is_err());
    assert!(SquaredErrorDiversity::new(0, -1.0, vec![]).is_err());
}

/// All models are monotone: merging two classes that satisfy one gives a class that satisfies it.
#[test]
fn monotone_means_monotone() {
    let mut state = 7u64;
    let mut next = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (missing, whole) = (Column { at: 0, missing: Some(3) }, histogram(&[4, 3, 2, 1]));
    let models: Vec<Box<dyn Model>> = vec![
        Box::new(KAnonymity::new(5).unwrap()),
        Box::new(DistinctDiversity::new(0, 3.0).unwrap()),
        Box::new(EntropyDiversity::new(0, 2.5).unwrap()),
        Box::new(RecursiveDiversity::new(0, 1.5, 2).unwrap()),
        Box::new(TCloseness::new(0, 0.3, Distance::Equal, &histogram(&[4, 3, 2, 1])).unwrap()),
        Box::new(TCloseness::new(0, 0.2, Distance::Ordered, &histogram(&[4, 3, 2, 1])).unwrap()),
        Box::new(SquaredErrorDiversity::new(0, 4.0, vec![1.0, 2.0, 5.0, 9.0]).unwrap()),
        // The last code is for missing cells.
        Box::new(DistinctDiversity::new(missing, 2.0).unwrap()),
        Box::new(EntropyDiversity::new(missing, 1.8).unwrap()),
        Box::new(RecursiveDiversity::new(missing, 1.5, 2).unwrap()),
        Box::new(TCloseness::new(missing, 0.3, Distance::Equal, &whole).unwrap()),
        Box::new(TCloseness::new(missing, 0.2, Distance::Ordered, &whole).unwrap()),
        Box::new(TCloseness::new(missing, 1.0, Distance::Equal, &whole).unwrap()),
    ];
    let mut merged_pairs = vec![0; models.len()];
    for _ in 0..20_000 {
        let a: Vec<u64> = (0..4).map(|_| next(6)).collect();
        let b: Vec<u64> = (0..4).map(|_| next(6)).collect();
        let both: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        for (model, merged) in models.iter().zip(&mut merged_pairs) {
            assert!(model.is_monotone());
            if model.holds(&class(&a)) && model.holds(&class(&b)) {
                assert!(model.holds(&class(&both)), "{} on {a:?} + {b:?}", model.describe());
                *merged += 1;
            }
        }
    }
    assert!(merged_pairs.iter().all(|&pairs| pairs > 100), "{merged_pairs:?}");
}
