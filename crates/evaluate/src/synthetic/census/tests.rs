use super::*;

const N: u64 = 40_000;

fn rows() -> PlainTable {
    CensusTable::new(&Config::default()).rows(0..N)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / f64::from(u32::try_from(values.len()).unwrap())
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mean_x, y: &[f64], mean_y| {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>()
    };
    let spread = product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b);
    product(a, mean_a, b, mean_b) / spread.sqrt()
}

/// The mean of a column over the rows whose text is this.
fn mean_where(rows: &PlainTable, column: &str, of: &str, text: &str) -> f64 {
    let values = rows.numbers(column).unwrap();
    let texts = rows.texts(of).unwrap();
    let chosen: Vec<f64> =
        values.iter().zip(texts).filter(|(_, t)| *t == text).map(|(v, _)| *v).collect();
    assert!(!chosen.is_empty(), "nobody has {of} {text}");
    mean(&chosen)
}

/// The number of rows with this text.
fn count(rows: &PlainTable, column: &str, text: &str) -> usize {
    rows.texts(column).unwrap().iter().filter(|t| **t == text).count()
}

#[test]
fn columns_are_correlated() {
    let rows = rows();
    let column = |name: &str| rows.numbers(name).unwrap();
    assert!(correlation(&column("education"), &column("income")) > 0.3);
    assert!(correlation(&column("hours"), &column("income")) > 0.3);
    assert!(correlation(&column("age"), &column("children")) > 0.3);
    assert!(mean_where(&rows, "age", "marital", "Widowed") > 70.0);
    assert!(mean_where(&rows, "age", "marital", "Never married") < 40.0);
    assert!(mean_where(&rows, "age", "workclass", "Retired") > 65.0);
    assert!(mean_where(&rows, "age", "diagnosis", "Dementia") > 72.0);
    assert!(mean_where(&rows, "income", "occupation", "Physician") > 120_000.0);
    assert!(mean_where(&rows, "income", "occupation", "Cashier") < 35_000.0);
    assert!(mean_where(&rows, "charges", "diagnosis", "Lung cancer") > 20_000.0);
    let women = |occupation| 1.0 - mean_where(&rows, "sex", "occupation", occupation);
    assert!(women("Secretary") > 0.85 && women("Mechanic") < 0.1);
    let pairs = rows.texts("sex").unwrap().into_iter().zip(rows.texts("diagnosis").unwrap());
    let never = [("Male", "Pregnancy"), ("Female", "Prostate cancer")];
    assert!(!pairs.into_iter().any(|pair| never.contains(&pair)));
}

#[test]
fn frequencies_are_skewed() {
    let rows = rows();
    let share = |column: &str, text: &str| {
        f64::from(u32::try_from(count(&rows, column, text)).unwrap()) / 40_000.0
    };
    assert!((0.8..0.9).contains(&share("country", "United States")));
    assert!((0.005..0.1).contains(&share("country", "Mexico")) && share("country", "Laos") < 0.005);
    assert!((0.5..0.7).contains(&share("race", "White")) && share("race", "Other") < 0.03);
    assert!((0.47..0.56).contains(&share("sex", "Female")));
    assert!(
        (0.25..0.45).contains(&share("salary_class", ">50K")),
        "{}",
        share("salary_class", ">50K")
    );
    assert!(share("diagnosis", "Hypertension") > 0.04 && share("diagnosis", "HIV") < 0.01);
}

#[test]
fn values_are_in_range_and_every_text_occurs() {
    let rows = rows();
    for (name, low, high) in [
        ("age", 18.0, 95.0),
        ("hours", 0.0, 90.0),
        ("children", 0.0, 7.0),
        ("income", 100.0, 5e6),
        ("charges", 10.0, 1e6),
        ("visit", 20_089.0, 20_089.0 + 364.0),
    ] {
        let values = rows.numbers(name).unwrap();
        let found = values
            .iter()
            .copied()
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        assert!(low <= found.0 && found.1 <= high, "{name}: {found:?}");
    }
    for column in &rows.columns {
        let PlainValues::Texts { codes, dictionary } = &column.values else { continue };
        if column.name == "postcode" {
            continue;
        }
        for code in 0..u32::try_from(dictionary.len()).unwrap() {
            assert!(codes.contains(&code), "{} {}", column.name, dictionary[code as usize]);
        }
    }
}

#[test]
fn postcodes_are_of_regions() {
    let rows = rows();
    let regions = rows.texts("region").unwrap();
    for (postcode, region) in rows.texts("postcode").unwrap().iter().zip(regions) {
        assert_eq!(postcode.len(), 5);
        let digit: usize = postcode[..1].parse().unwrap();
        assert_eq!(REGION[digit - 1].0, region);
    }
    assert_eq!(postcode(N_POSTCODES - 1), "99999");
}

#[test]
fn joined_batches_are_the_table() {
    let table = CensusTable::new(&Config { seed: 9 });
    let all = table.rows(0..300);
    let parts = [table.rows(0..1), table.rows(1..299), table.rows(299..300)];
    for column in &all.columns {
        let numbers = parts.each_ref().map(|part| part.numbers(&column.name).unwrap()).concat();
        assert_eq!(all.numbers(&column.name), Some(numbers));
    }
    assert_ne!(all, CensusTable::new(&Config { seed: 8 }).rows(0..300));
}
