use super::*;

fn table(functions: &[u8]) -> AgrawalTable {
    AgrawalTable::new(Config { functions: functions.to_vec(), ..Config::default() }).unwrap()
}

/// An applicant with only the attributes that matter to a function; money in whole units.
fn applicant(age: i64, elevel: i64, salary: i64, commission: i64, loan: i64) -> Applicant {
    let money = |units: i64| 100 * units;
    Applicant {
        salary: money(salary),
        commission: money(commission),
        age,
        elevel,
        car: 1,
        zipcode: 3,
        hvalue: money(300_000),
        hyears: 10,
        loan: money(loan),
    }
}

/// Age, elevel, salary, commission, loan.
type Given = (i64, i64, i64, i64, i64);

#[track_caller]
fn check(function: u8, cases: &[(Given, char)]) {
    let function = Function::new(function).unwrap();
    for ((age, elevel, salary, commission, loan), label) in cases {
        let found = function.is_group_a(&applicant(*age, *elevel, *salary, *commission, *loan));
        assert_eq!(if found { 'A' } else { 'B' }, *label, "{age} {elevel} {salary} {loan}");
    }
}

#[test]
fn function_1_is_about_age() {
    check(1, &[((39, 0, 20_000, 0, 0), 'A'), ((40, 0, 20_000, 0, 0), 'B')]);
    check(1, &[((59, 0, 20_000, 0, 0), 'B'), ((60, 0, 20_000, 0, 0), 'A')]);
}

#[test]
fn function_2_is_about_age_and_salary() {
    check(2, &[((39, 0, 50_000, 0, 0), 'A'), ((39, 0, 100_000, 0, 0), 'A')]);
    check(2, &[((39, 0, 49_999, 0, 0), 'B'), ((39, 0, 100_001, 0, 0), 'B')]);
    check(2, &[((40, 0, 75_000, 0, 0), 'A'), ((59, 0, 125_000, 0, 0), 'A')]);
    check(2, &[((40, 0, 74_999, 0, 0), 'B'), ((59, 0, 125_001, 0, 0), 'B')]);
    check(2, &[((60, 0, 25_000, 0, 0), 'A'), ((80, 0, 75_000, 0, 0), 'A')]);
    check(2, &[((60, 0, 24_999, 0, 0), 'B'), ((80, 0, 75_001, 0, 0), 'B')]);
}

#[test]
fn function_3_is_about_age_and_education() {
    let of_levels = |age| {
        let function = Function::new(3).unwrap();
        (0..5).filter(|&e| function.is_group_a(&applicant(age, e, 0, 0, 0))).collect::<Vec<i64>>()
    };
    assert_eq!(of_levels(39), [0, 1]);
    assert_eq!(of_levels(40), [1, 2, 3]);
    assert_eq!(of_levels(60), [2, 3, 4]);
}

#[test]
fn function_4_lets_education_choose_the_salaries() {
    check(4, &[((30, 0, 25_000, 0, 0), 'A'), ((30, 1, 75_001, 0, 0), 'B')]);
    check(4, &[((30, 2, 25_000, 0, 0), 'B'), ((30, 2, 100_000, 0, 0), 'A')]);
    check(4, &[((50, 2, 50_000, 0, 0), 'A'), ((50, 3, 100_001, 0, 0), 'B')]);
    check(4, &[((50, 0, 74_000, 0, 0), 'B'), ((50, 4, 125_000, 0, 0), 'A')]);
    check(4, &[((70, 3, 100_000, 0, 0), 'A'), ((70, 4, 49_000, 0, 0), 'B')]);
    check(4, &[((70, 1, 49_000, 0, 0), 'A'), ((70, 0, 76_000, 0, 0), 'B')]);
}

#[test]
fn function_5_lets_the_salary_choose_the_loans() {
    check(5, &[((30, 0, 60_000, 0, 100_000), 'A'), ((30, 0, 60_000, 0, 300_001), 'B')]);
    check(5, &[((30, 0, 40_000, 0, 400_000), 'A'), ((30, 0, 40_000, 0, 199_999), 'B')]);
    check(5, &[((50, 0, 80_000, 0, 200_000), 'A'), ((50, 0, 80_000, 0, 400_001), 'B')]);
    check(5, &[((50, 0, 70_000, 0, 300_000), 'A'), ((50, 0, 70_000, 0, 299_999), 'B')]);
    check(5, &[((70, 0, 30_000, 0, 500_000), 'A'), ((70, 0, 30_000, 0, 299_999), 'B')]);
    check(5, &[((70, 0, 90_000, 0, 100_000), 'A'), ((70, 0, 90_000, 0, 99_999), 'B')]);
}

#[test]
fn function_6_adds_the_commission() {
    check(6, &[((30, 0, 40_000, 10_000, 0), 'A'), ((30, 0, 60_000, 40_001, 0), 'B')]);
    check(6, &[((50, 0, 65_000, 10_000, 0), 'A'), ((50, 0, 60_000, 10_000, 0), 'B')]);
    check(6, &[((70, 0, 60_000, 15_000, 0), 'A'), ((70, 0, 60_000, 20_000, 0), 'B')]);
}

#[test]
fn functions_7_to_10_test_the_income_left() {
    // 0.67 * 100,000 = 67,000; less 20,000 it takes a loan of 235,000 to leave nothing.
    check(7, &[((30, 0, 100_000, 0, 234_999), 'A'), ((30, 0, 100_000, 0, 235_000), 'B')]);
    check(7, &[((30, 0, 60_000, 40_000, 234_999), 'A'), ((30, 4, 20_000, 10_000, 499), 'A')]);
    // 0.67 * 40,000 = 26,800: less 20,000, one level of education can be paid and two cannot.
    check(8, &[((30, 1, 40_000, 0, 500_000), 'A'), ((30, 2, 40_000, 0, 0), 'B')]);
    // 26,800 - 10,000 - 2 * 5000 leaves 6,800: a loan of 34,000.
    check(9, &[((30, 2, 40_000, 0, 33_999), 'A'), ((30, 2, 40_000, 0, 34_000), 'B')]);
    // 0.67 * 30,000 = 20,100: less 10,000, two levels can be paid; with 21 years in a house of
    // 300,000 there are another 6,000.
    check(10, &[((30, 2, 30_000, 0, 0), 'A'), ((30, 3, 30_000, 0, 0), 'B')]);
    let ten = Function::new(10).unwrap();
    let owner = |hyears, elevel| Applicant { hyears, ..applicant(30, elevel, 30_000, 0, 0) };
    assert!(ten.is_group_a(&owner(21, 3)) && !ten.is_group_a(&owner(20, 3)));
    assert!(!ten.is_group_a(&owner(21, 4)) && ten.is_group_a(&owner(22, 4)));
}

#[test]
fn attributes_have_the_distributions_of_figure_6() {
    let rows = table(&[]).rows(0..60_000);
    let column = |name: &str| rows.numbers(name).unwrap();
    for (name, low, high) in [
        ("salary", 20_000.0, 150_000.0),
        ("age", 20.0, 80.0),
        ("elevel", 0.0, 4.0),
        ("car", 1.0, 20.0),
        ("zipcode", 0.0, 9.0),
        ("hyears", 1.0, 30.0),
        ("loan", 0.0, 500_000.0),
    ] {
        let (values, range) = (column(name), high - low);
        let mean = values.iter().sum::<f64>() / 60_000.0;
        assert!(values.iter().all(|v| (low..=high).contains(v)), "{name}");
        assert!((mean - f64::midpoint(low, high)).abs() < 0.01 * range, "{name}");
        // The variance of a uniform distribution is a twelfth of the squared range or a bit more.
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 60_000.0;
        assert!((0.98..1.6).contains(&(variance * 12.0 / range.powi(2))), "{name} {variance}");
    }
    for (salary, commission) in column("salary").iter().zip(column("commission")) {
        let is_right = if *salary >= 75_000.0 {
            commission == 0.0
        } else {
            (10_000.0..=75_000.0).contains(&commission)
        };
        assert!(is_right);
    }
    for (zipcode, value) in column("zipcode").iter().zip(column("hvalue")) {
        assert!((zipcode * 50_000.0..=zipcode * 150_000.0).contains(&value));
    }
}

#[test]
fn labels_are_functions_of_the_rows() {
    let table = table(&[2, 4, 6, 7]);
    let rows = table.rows(0..20_000);
    for function in table.functions() {
        let labels = rows.texts(&table.label_name(function)).unwrap();
        for (row, label) in (0..).zip(&labels) {
            assert_eq!(*label == "A", function.is_group_a(&table.applicant(row)));
        }
        // Shares of group A: 38.5% of the salaries for function 2, and so on.
        let a = labels.iter().filter(|label| **label == "A").count();
        assert!((6_000..12_000).contains(&a), "function {}: {a}", function.number());
    }
    let names: Vec<&str> = rows.columns.iter().map(|column| column.name.as_str()).collect();
    let expected = [
        "salary",
        "commission",
        "age",
        "elevel",
        "car",
        "zipcode",
        "hvalue",
        "hyears",
        "loan",
        "group_2",
        "group_4",
        "group_6",
        "group_7",
    ];
    assert_eq!(names, expected);
    assert!(self::table(&[7]).rows(0..1).texts("group").is_some());
}

#[test]
fn rows_depend_on_seed_and_number_only() {
    let table = table(&[2]);
    let all = table.rows(0..500);
    let parts = [table.rows(0..123), table.rows(123..500)];
    for column in &all.columns {
        let numbers = parts.each_ref().map(|part| part.numbers(&column.name).unwrap()).concat();
        assert_eq!(all.numbers(&column.name), Some(numbers));
    }
    let attributes = |table: &AgrawalTable| table.rows(0..500).columns[..9].to_vec();
    let varied = Config { functions: vec![4], vary_constants: true, seed: 0 };
    assert_eq!(attributes(&table), attributes(&AgrawalTable::new(varied).unwrap()));
    let other = Config { seed: 1, ..Config::default() };
    assert_ne!(attributes(&table), attributes(&AgrawalTable::new(other).unwrap()));
}

#[test]
fn constants_vary_with_the_seed() {
    let functions = |numbers: &[u8], seed| {
        let config = Config { functions: numbers.to_vec(), vary_constants: true, seed };
        AgrawalTable::new(config).unwrap().functions().to_vec()
    };
    let all: Vec<u8> = (1..=10).collect();
    let (first, second) = (functions(&all, 1), functions(&all, 2));
    for (one, two) in first.iter().zip(&second) {
        let varies = (2..=6).contains(&one.number());
        assert_eq!(one != two, varies, "function {}", one.number());
        assert_eq!(Some(one) != Function::new(one.number()).as_ref(), varies);
    }
    assert_eq!(functions(&[4], 1)[0], first[3], "whatever else is asked for");
    let constants = first[1].to_string();
    assert!(constants.contains("<= salary <="), "{constants}");
    let paper = Function::new(2).unwrap().to_string();
    assert!(paper.starts_with("age < 40 and 50000 <= salary <= 100000, or 40 <= age < 60 and "));
}

#[test]
fn all_problems_are_reported() {
    let config = Config { functions: vec![0, 2, 11, 2], ..Config::default() };
    let found = AgrawalTable::new(config).unwrap_err();
    let expected = [
        ParameterError::Function { found: 0 },
        ParameterError::Function { found: 11 },
        ParameterError::FunctionTwice { found: 2 },
    ];
    assert_eq!(found, expected);
}
