use incrowd_data::{Codes, Hierarchy, Kind};

use super::count::within;
use super::*;
use crate::query::LabelKnowledge;

fn parse(kind: Kind, text: &str) -> Option<f64> {
    match kind {
        Kind::Integer => {
            let is_padded = text.len() > 1 && text.starts_with('0');
            text.parse::<i32>().ok().filter(|_| !is_padded).map(f64::from)
        }
        Kind::Decimal => text.parse().ok().filter(|_| text.len() == 1 || !text.starts_with('0')),
        // Days of one month suffice.
        Kind::Date => text.strip_prefix("2024-01-")?.parse().ok(),
        _ => None,
    }
}

fn labels<'a>(text: &'a str) -> Vec<Option<&'a str>> {
    let label = |text: &'a str| Some(text).filter(|text| !text.is_empty());
    text.split(' ').map(|text| label(text.trim_matches('_'))).collect()
}

/// Labels of the release, labels of the outside table (`_` is a missing cell), and by outside label
/// the compatible ones of the release.
#[track_caller]
fn check(known: &LabelKnowledge, release: &str, outside: &str, expected: &[&str]) {
    let both = read_both(&labels(release), &labels(outside), known, parse).unwrap();
    let names: Vec<&str> = release.split(' ').collect();
    let compatible = |cell: &Cell| -> String {
        let all = names.iter().zip(&both.release);
        let found = all.filter(|(_, released)| {
            assert_eq!(released.is_compatible(cell), cell.is_compatible(released));
            released.is_compatible(cell)
        });
        found.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    };
    let found: Vec<String> = both.outside.iter().map(compatible).collect();
    assert_eq!(found, expected);
}

fn jobs() -> LabelKnowledge {
    let rows = [
        ["dentist", "medical", "*"],
        ["doctor", "medical", "*"],
        ["banker", "finance", "*"],
        ["broker", "finance", "*"],
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    LabelKnowledge::Tree(Hierarchy::from_rows(&rows).unwrap())
}

#[test]
fn ranges_contain_values_and_overlap() {
    let known = LabelKnowledge::Nothing;
    check(
        &known,
        "[25-28] 30 *",
        "25 28 29 30 [28-30] *",
        &["[25-28] *", "[25-28] *", "*", "30 *", "[25-28] 30 *", "[25-28] 30 *"],
    );
    check(&known, "[1.5-2.5] 3", "2.5 2.6 3.0", &["[1.5-2.5]", "", "3"]);
    check(
        &known,
        "[2024-01-03..2024-01-11]",
        "2024-01-03 2024-01-12",
        &["[2024-01-03..2024-01-11]", ""],
    );
    check(&known, "537** 53800", "53711 53800 53899", &["537**", "53800", ""]);
    check(&LabelKnowledge::Plain(Some(Kind::Integer)), "25 26", "[25-26] 25", &["25 26", "25"]);
}

#[test]
fn nodes_contain_leaves_and_nodes() {
    check(
        &jobs(),
        "dentist medical finance *",
        "dentist banker medical finance * pilot",
        &[
            "dentist medical *",
            "finance *",
            "dentist medical *",
            "finance *",
            "dentist medical finance *",
            "*",
        ],
    );
    check(&jobs(), "{dentist|banker} broker", "finance doctor", &["{dentist|banker} broker", ""]);
}

/// A release prints names that read as something else with a backslash, and a set of leaves
/// without one.
#[test]
fn leaves_that_look_like_labels() {
    let tree = |text: &str| {
        let rows = text.split(' ').map(|row| row.split(';').map(str::to_owned).collect());
        Hierarchy::from_rows(&rows.collect::<Vec<Vec<String>>>()).unwrap()
    };
    let odd = tree("a;x;* b;x;* {a|b};y;* *;y;*");
    check(
        &LabelKnowledge::Tree(odd),
        r"{a|b} \{a|b} \* *",
        "a {a|b} b",
        &["{a|b} *", r"\{a|b} *", "{a|b} *"],
    );
    let same = tree("2;2;* 20;2;* 30;3;*");
    check(&LabelKnowledge::Tree(same.clone()), "2 20 3", "2 20", &["2", "2 20"]);
    check(&LabelKnowledge::Leaves(same), "2 20 30", "2 20", &["2", "20"]);
}

#[test]
fn orders_sets_and_missing_cells() {
    let order = LabelKnowledge::Order(["low", "mid", "high", "top"].map(str::to_owned).to_vec());
    check(&order, "[low-mid] top", "mid [mid-top] none", &["[low-mid]", "[low-mid] top", ""]);
    let known = LabelKnowledge::Nothing;
    check(&known, "{a|b} c", "a {b|c} d", &["{a|b}", "{a|b} c", ""]);
    check(&known, "{a|} b __ *", "a _ b *", &["{a|} *", "{a|} __ *", "b *", "{a|} b __ *"]);
    check(&known, "[1-3] __ *", "2 _", &["[1-3] *", "__ *"]);
    let values = LabelKnowledge::Values(["a", "b"].map(str::to_owned).to_vec());
    check(&values, "{a|b}", "b c", &["{a|b}", ""]);
}

#[test]
fn stars_and_means_are_compatible_with_everything() {
    check(&LabelKnowledge::Nothing, "* __", "a 1 _ *", &["*", "*", "* __", "* __"]);
    let means = LabelKnowledge::Means { is_number: false, may_miss: true };
    // An empty cell may be a mean that was withheld.
    check(&means, "26.5 __ *", "3 _ *", &["26.5 __ *", "26.5 __ *", "26.5 __ *"]);
    check(&means, "{a|b}", "a c", &["{a|b}", ""]);
}

/// Codes with leading zeros beside ranges without; a text among numbers.
#[test]
fn strange_outside_values_match_stars_only() {
    check(
        &LabelKnowledge::Nothing,
        "[53710-53711] 53712 *",
        "53711 02174 ? 053712",
        &["[53710-53711] *", "*", "*", "53712 *"],
    );
    check(
        &LabelKnowledge::Nothing,
        "021** 53711",
        "02174 2175 53711",
        &["021**", "021**", "53711"],
    );
}

#[test]
fn labels_of_the_release_must_be_understood() {
    let read = |known: &LabelKnowledge, release: &str, outside: &str| {
        read_both(&labels(release), &labels(outside), known, parse).unwrap_err().0
    };
    assert_eq!(read(&jobs(), "dentist pilot", "banker"), [1]);
    assert_eq!(read(&LabelKnowledge::Kind(Kind::Integer), "* 1 x", "1"), [2]);
    let means = LabelKnowledge::Means { is_number: true, may_miss: true };
    assert_eq!(read(&means, "26.5 x", "1"), [1]);
}

#[test]
fn cells_meet_in_the_values_both_allow() {
    let both = read_both(
        &labels("medical {dentist|banker} *"),
        &labels("doctor * finance"),
        &jobs(),
        parse,
    )
    .unwrap();
    let [medical, pair, any] = &both.release[..] else { panic!() };
    let [doctor, _, finance] = &both.outside[..] else { panic!() };
    assert_eq!((medical.meet(doctor), any.meet(doctor)), (doctor.clone(), doctor.clone()));
    let banker = read_both(&labels("banker"), &labels("*"), &jobs(), parse).unwrap();
    assert_eq!(pair.meet(finance), banker.release[0]);
    assert!(!medical.meet(finance).is_compatible(medical));
}

/// Two columns of ranges: sets of bits find the same as comparing all pairs, in chunks of any size.
#[test]
fn sets_find_the_same_as_pairs() {
    let mut state = 9u64;
    let mut below = |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(n)).unwrap()
    };
    let mut texts = |n: u32| -> Vec<String> {
        let mut text = |_| match below(6) {
            0 => "*".to_owned(),
            1 => below(30).to_string(),
            _ => format!("[{}-{}]", below(12), 12 + below(20)),
        };
        (0..n).map(&mut text).collect()
    };
    let (n_release, n_outside) = (300usize, 50usize);
    let columns: Vec<(Vec<String>, Vec<String>)> = (0..2).map(|_| (texts(40), texts(20))).collect();
    let mut codes = |n: usize, of: u32| Codes::pack(of, (0..n).map(|_| below(of)));
    let columns: Vec<Column> = columns
        .iter()
        .map(|(release, outside)| {
            let some = |of: &'_ [String]| -> Vec<Option<String>> {
                of.iter().cloned().map(Some).collect()
            };
            let (release, outside) = (some(release), some(outside));
            let release: Vec<Option<&str>> = release.iter().map(Option::as_deref).collect();
            let outside: Vec<Option<&str>> = outside.iter().map(Option::as_deref).collect();
            let both = read_both(&release, &outside, &LabelKnowledge::Nothing, parse).unwrap();
            Column {
                release: both.release,
                outside: both.outside,
                release_labels: codes(n_release, 40),
                outside_labels: codes(n_outside, 20),
            }
        })
        .collect();
    let values = codes(n_release, 4);
    let release: Vec<u32> = codes(n_release, 9).iter().map(|count| count + 1).collect();
    let sensitive = Some(Sensitive { values, n_values: 4, hidden: Some(3) });
    let tables = Tables { columns, release, outside: vec![1; n_outside], sensitive, people: None };
    let found = candidates(&tables, || true).unwrap();
    for most_bytes in [0, 200, 2000] {
        assert_eq!(within(&tables, most_bytes, || true).unwrap(), found);
    }
    for (vector, found) in found.iter().enumerate() {
        let is_candidate = |of: &usize| {
            tables.columns.iter().all(|column| {
                let released = &column.release[column.release_labels.get(*of) as usize];
                let outside = &column.outside[column.outside_labels.get(vector) as usize];
                released.is_compatible(outside)
            })
        };
        let all: Vec<usize> = (0..n_release).filter(is_candidate).collect();
        let n: u64 = all.iter().map(|&of| u64::from(tables.release[of])).sum();
        assert_eq!(found.candidates, n);
        assert_eq!(found.last, all.last().map(|&of| u32::try_from(of).unwrap()));
        let values = &tables.sensitive.as_ref().unwrap().values;
        let with = |value: u32| -> u64 {
            let with = all.iter().filter(|&&of| values.get(of) == value);
            with.map(|&of| u64::from(tables.release[of])).sum()
        };
        let most = (0..3).map(with).max().unwrap();
        assert_eq!(found.posterior.map(|of| of.is_certain), (n > 0).then_some(most == n));
    }
    assert!(candidates(&tables, || false).is_none());
}

#[test]
fn candidates_are_summed_up_by_row() {
    let of = |candidates: u64| Found { candidates, rows: candidates, last: None, posterior: None };
    let found = [0, 1, 4, 12].map(of);
    let summary = summary(&found, &[2, 1, 3, 1], 5);
    assert_eq!((summary.none, summary.one, summary.below_k), (2, 1, 4));
    assert_eq!(summary.spread, Some(Spread { least: 1, median: 4, mean: 5.0, greatest: 12 }));
    assert!((summary.expected_links - (1.0 + 0.75 + 1.0 / 12.0)).abs() < 1e-12);
    let buckets: Vec<(u64, u64)> = summary.buckets.iter().map(|b| (b.from, b.rows)).collect();
    assert_eq!(buckets, [(0, 2), (1, 1), (3, 3), (10, 1)]);
}
