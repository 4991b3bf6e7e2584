//! Loss, entropy and precision on a table that can be computed by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use incrowd_data::{
    Attribute, Cell, Codes, Dictionary, FrequencySet, Hierarchy, Kind, Recoded, RecodedColumn,
    Shape,
};
use incrowd_quality::{entropy, loss, loss_by_column, precision};

/// Four rows: ages 20, 30, 30, 60 and countries fr, de, jp, jp.
fn set() -> FrequencySet {
    let ages = Dictionary {
        kind: Kind::Integer,
        texts: ["20", "30", "60"].map(String::from).to_vec(),
        positions: vec![20.0, 30.0, 60.0],
        has_missing: false,
    };
    let rows = [["fr", "eu", "*"], ["de", "eu", "*"], ["jp", "as", "*"]]
        .map(|row| row.map(String::from).to_vec());
    let countries = Dictionary::of_texts(["fr", "de", "jp"].map(String::from).to_vec(), false);
    let tree = Shape::Tree(Hierarchy::from_rows(&rows).unwrap());
    FrequencySet {
        attributes: vec![
            Attribute { name: "age".to_owned(), dictionary: ages, shape: Shape::Numeric },
            Attribute { name: "country".to_owned(), dictionary: countries, shape: tree },
        ],
        vectors: vec![
            Codes::pack(3, [0, 1, 1, 2].into_iter()),
            Codes::pack(3, [0, 1, 2, 2].into_iter()),
        ],
        counts: vec![1; 4],
        extras: vec![],
        n_rows: 4,
    }
}

fn recoded(n_suppressed: u64) -> Recoded {
    Recoded {
        sizes: vec![2, 2],
        columns: vec![
            RecodedColumn {
                cells: vec![Cell::Range(0, 1), Cell::Range(1, 2)],
                of_class: vec![0, 1],
            },
            RecodedColumn { cells: vec![Cell::Node(1, 0), Cell::Value(2)], of_class: vec![0, 1] },
        ],
        n_suppressed,
    }
}

#[track_caller]
fn check(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

#[test]
fn loss_by_hand() {
    let set = set();
    let by_column = loss_by_column(&set.attributes, &recoded(0));
    check(by_column[0], f64::midpoint(0.25, 0.75));
    check(by_column[1], f64::midpoint(0.5, 0.0));
    check(loss(&set.attributes, &recoded(0)), 0.375);
    // One row of five is suppressed, with a loss of 1.
    check(loss(&set.attributes, &recoded(1)), (0.375 * 4.0 + 1.0) / 5.0);
}

#[test]
fn precision_by_hand() {
    // Two rows are on level 1 of 2, two on level 0.
    assert_eq!(precision(&set().attributes, &recoded(0)), Some(0.25));
    assert_eq!(precision(&set().attributes[..1], &recoded(0)), None);
}

#[test]
fn entropy_by_hand() {
    // Ages: 20 among 3 rows hides log2 3, each 30 log2(3/2), 60 among 3 rows log2 3.
    // Countries: fr and de among 2 rows hide one bit each, jp nothing.
    let hidden = 3f64.log2() + 1.5f64.log2() + 1.5f64.log2() + 3f64.log2() + 2.0;
    let most = (2.0 + 1.0 + 1.0 + 2.0) + (2.0 + 2.0 + 1.0 + 1.0);
    let value_rows = [vec![1, 2, 1], vec![1, 1, 2]];
    check(entropy(&set().attributes, &value_rows, &recoded(0)), hidden / most);
}
