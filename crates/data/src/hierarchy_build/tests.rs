use super::*;
use crate::Hierarchy;

type Rows = Result<Vec<Vec<String>>, BuildError>;

/// Compares rows, which must make a hierarchy, with `leaf;level 1;* leaf;level 1;*`.
#[track_caller]
fn check(rows: Rows, expected: &str) {
    let rows = rows.expect("values that can be built on");
    if !rows.is_empty() {
        Hierarchy::from_rows(&rows).expect("a sound hierarchy");
    }
    assert_eq!(rows.iter().map(|row| row.join(";")).collect::<Vec<_>>().join(" "), expected);
}

#[track_caller]
fn check_error(rows: Rows, expected: &BuildError) {
    assert_eq!(&rows.expect_err("must be refused"), expected);
}

/// Splits at spaces.
fn split(values: &str) -> Vec<&str> {
    values.split_whitespace().collect()
}

#[track_caller]
fn check_intervals(values: &str, width: f64, origin: Option<f64>, expected: &str) {
    check(intervals(&split(values), width, origin, &[]), expected);
}

#[track_caller]
fn check_mask(values: &str, side: MaskSide, expected: &str) {
    check(Ok(mask(&split(values), side, '*')), expected);
}

#[track_caller]
fn check_date(value: &str, part: DatePart, label: &str) {
    check(dates(&[value], &[part]), &format!("{value};{label};*"));
}

#[track_caller]
fn check_fan_out(values: &str, is_text: bool, expected: &str) {
    check(fan_out(&split(values), 2, is_text), expected);
}

#[test]
fn intervals_of_whole_numbers_include_both_ends() {
    check_intervals("17 21 22", 5.0, Some(17.0), "17;[17-21];* 21;[17-21];* 22;[22-26];*");
    // Counted from 0, wherever the least value is: it may belong to a suppressed row.
    check_intervals("17 21", 5.0, None, "17;[15-19];[10-19];[0-19];* 21;[20-24];[20-29];[20-39];*");
    check_intervals("3 04 4.0", 1.0, Some(3.0), "3;[3-3];* 04;[4-4];* 4.0;[4-4];*");
    check_intervals("7", 5.0, None, "7;[5-9];*");
}

#[test]
fn other_intervals_are_half_open() {
    check_intervals("1.5 2.5", 1.0, Some(1.5), "1.5;[1.5-2.5);* 2.5;[2.5-3.5);*");
    check_intervals("1 1.5", 2.0, None, "1;[0-2);* 1.5;[0-2);*");
    check_intervals("1 3", 2.5, None, "1;[0-2.5);* 3;[2.5-5);*");
    check_intervals("3 4", 1.0, Some(0.5), "3;[2.5-3.5);* 4;[3.5-4.5);*");
}

#[test]
fn decimals_are_exact() {
    check_intervals("0.3 .3 3e-1", 0.1, None, "0.3;[0.3-0.4);* .3;[0.3-0.4);* 3e-1;[0.3-0.4);*");
    check_intervals(
        "0.69999999999999999999999999999999999999999999",
        0.1,
        None,
        "0.69999999999999999999999999999999999999999999;[0.6-0.7);*",
    );
    check_intervals("-1e-400 +0e99999", 1.0, Some(0.0), "-1e-400;[-1..0);* +0e99999;[0-1);*");
}

#[test]
fn negative_numbers_are_rounded_down() {
    check_intervals("-7 -5 -1", 5.0, None, "-7;[-10..-6];* -5;[-5..-1];* -1;[-5..-1];*");
    check_intervals("-0.5 0.5", 1.0, None, "-0.5;[-1..0);* 0.5;[0-1);*");
}

#[test]
fn numbers_on_both_sides_of_the_origin_meet_in_the_root() {
    check_intervals("-1 0", 1.0, Some(0.0), "-1;[-1..-1];* 0;[0-0];*");
    check_intervals("-3 1", 2.0, Some(0.0), "-3;[-4..-3];[-4..-1];* 1;[0-1];[0-3];*");
}

#[test]
fn levels_double_until_one_interval_is_left() {
    check_intervals("0 1 2", 1.0, None, "0;[0-0];[0-1];* 1;[1-1];[0-1];* 2;[2-2];[2-3];*");
}

#[test]
fn levels_merge_as_requested() {
    let rows = intervals(&["-1", "0", "9"], 2.0, Some(0.0), &[2, 3]);
    check(rows, "-1;[-2..-1];[-4..-1];[-12..-1];* 0;[0-1];[0-3];[0-11];* 9;[8-9];[8-11];[0-11];*");
}

#[test]
fn huge_numbers_are_exact_or_refused() {
    let big = "100000000000000000000000000000000001";
    check_intervals(big, 1.0, None, &format!("{big};[{big}-{big}];*"));
    for far in ["1e37", "-1e37", "1e2000000000", &"9".repeat(400)] {
        let error = BuildError::NumberTooLarge { row: 2 };
        check_error(intervals(&["0", far], 1.0, None, &[]), &error);
    }
    let ends = intervals(&["-1e36", "1e36"], 1.0, None, &[]).expect("within the limit");
    Hierarchy::from_rows(&ends).expect("a sound hierarchy");
    let ends = intervals(&["-1e36", "1e36"], 1e36, Some(-1e36), &[]).expect("within the limit");
    Hierarchy::from_rows(&ends).expect("a sound hierarchy");
}

#[test]
fn bad_intervals_are_refused() {
    for text in ["", "x", "-", ".", "1e", "--1", "1,5", "nan", "inf", " 1", "0x1", "1e9999999999"] {
        check_error(intervals(&["1", text], 1.0, None, &[]), &BuildError::NotANumber { row: 2 });
    }
    for width in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        check_error(intervals(&["1"], width, None, &[]), &BuildError::BadWidth);
    }
    for origin in [f64::NAN, f64::NEG_INFINITY, 1e300] {
        check_error(intervals(&["1"], 1.0, Some(origin), &[]), &BuildError::BadOrigin);
    }
    check_error(intervals(&["1"], 1.0, None, &[2, 1]), &BuildError::BadMerge { level: 3 });
    check_error(intervals(&["1"], 1.0, None, &[u32::MAX; 9]), &BuildError::TooWide { level: 5 });
}

#[test]
fn masks_replace_one_character_per_level() {
    check_mask("537 512", MaskSide::Right, "537;53*;5**;* 512;51*;5**;*");
    check_mask("537 512", MaskSide::Left, "537;*37;**7;* 512;*12;**2;*");
    check(Ok(mask(&["ab"], MaskSide::Right, 'x')), "ab;ax;*");
    check_mask("é漢 é字", MaskSide::Right, "é漢;é*;* é字;é*;*");
}

#[test]
fn masks_pad_the_shorter_values() {
    check_mask("5 537", MaskSide::Right, "5;5**;5**;* 537;53*;5**;*");
    check_mask("5 537", MaskSide::Left, "5;**5;**5;* 537;*37;**7;*");
    check(Ok(mask(&["", "53"], MaskSide::Right, '*')), ";*;* 53;5*;*");
    check(Ok(mask(&[""], MaskSide::Right, '*')), ";*");
}

#[test]
fn masks_nest_for_values_that_look_masked() {
    check_mask("53 5* ** *", MaskSide::Right, "53;5*;* 5*;5*;* **;*;* *;*;*");
    check_mask("537 53* 53", MaskSide::Right, "537;53*;5**;* 53*;53*;5**;* 53;53*;5**;*");
}

#[test]
fn masks_of_long_values_are_not_too_deep() {
    for length in [189, 190, 191, 1000] {
        let rows = mask(&[&"a".repeat(length), "b"], MaskSide::Left, '*');
        let height = Hierarchy::from_rows(&rows).expect("a sound hierarchy").height();
        assert!(height.0 <= 190);
    }
}

#[test]
fn dates_are_reduced_to_parts() {
    check_date("2024-01-03", DatePart::Day, "2024-01-03");
    check_date("2024-01-03", DatePart::Month, "2024-01");
    check_date("2024-04-03", DatePart::Quarter, "2024-Q2");
    check_date("2024-12-03T10:00:00Z", DatePart::Quarter, "2024-Q4");
    check_date("2024-12-03", DatePart::Year, "2024");
    check_date("2024-12-03", DatePart::Decade, "[2020-2029]");
    check_date("2024-12-03", DatePart::Century, "[2000-2099]");
    check_date("0001-12-03", DatePart::Century, "[0000-0099]");
    check(dates(&["2024-12-03"], &[]), "2024-12-03;*");
    let rows = dates(&["2024-12-03 23:59", "2024-12-03T00:00:01.5+02:00"], &[DatePart::Day]);
    check(rows, "2024-12-03 23:59;2024-12-03;* 2024-12-03T00:00:01.5+02:00;2024-12-03;*");
}

#[test]
fn weeks_belong_to_the_year_of_their_thursday() {
    check_date("0001-01-01", DatePart::Week, "0001-W01");
    check_date("2021-01-03", DatePart::Week, "2020-W53");
    check_date("2023-01-01", DatePart::Week, "2022-W52");
    check_date("2024-02-29", DatePart::Week, "2024-W09");
    check_date("2024-12-30", DatePart::Week, "2025-W01");
    check_date("9999-12-31", DatePart::Week, "9999-W52");
}

#[test]
fn impossible_dates_are_refused() {
    let bad = [
        "",
        "2024",
        "2024-1-03",
        "2024-13-01",
        "2024-00-01",
        "2024-04-31",
        "2024-01-00",
        "2023-02-29",
        "1900-02-29",
        "0000-01-01",
        "+024-01-03",
        "24-001-003",
        "2024/01/03",
        "2024-01-03x",
        "2024-01-03T",
        "2024-01-03T24:00",
        "2024-01-03T1:000",
        "2024-01-0é",
    ];
    for text in bad {
        let error = BuildError::NotADate { row: 2 };
        check_error(dates(&["2024-02-29", text], &[DatePart::Day]), &error);
    }
    check_date("2000-02-29", DatePart::Month, "2000-02");
}

#[test]
fn parts_must_nest() {
    use DatePart::{Day, Month, Week, Year};
    let not_coarser = |part, after| BuildError::PartsNotCoarser { part, after };
    check_error(dates(&[], &[Year, Month]), &not_coarser(Month, Year));
    check_error(dates(&[], &[Day, Day]), &not_coarser(Day, Day));
    check_error(dates(&[], &[Month, Week]), &not_coarser(Week, Month));
    check_error(dates(&[], &[Week, Year]), &BuildError::WeekDoesNotNest { part: Year });
    check(dates(&["2024-01-03"], &[Day, Week]), "2024-01-03;2024-01-03;2024-W01;*");
    assert_eq!(
        not_coarser(Month, Year).to_string(),
        "`month` cannot follow `year`: each part of a date must be coarser than the last"
    );
}

#[test]
fn fan_out_groups_neighbours() {
    check_fan_out("1 5 9", false, "1;[1-5];* 5;[1-5];* 9;9;*");
    check_fan_out("a b c", true, "a;{a|b};* b;{a|b};* c;c;*");
    check_fan_out("a b", true, "a;* b;*");
    check_fan_out("a", true, "a;*");
    // An empty text is a value of its own, unlike a missing cell.
    check(fan_out(&["a", "b", ""], 2, true), "a;{a|b};* b;{a|b};* ;{};*");
    let rows = fan_out(&split("a b c d"), 3, true);
    check(rows, "a;{a|b|c};* b;{a|b|c};* c;{a|b|c};* d;d;*");
    check(fan_out(&["a", "b"], usize::MAX, true), "a;* b;*");
}

#[test]
fn bad_fan_outs_are_refused() {
    check_error(fan_out(&["a"], 1, true), &BuildError::BadFanOut);
    let same = BuildError::SameLabel { level: 1 };
    check_error(fan_out(&["a", "b", "{a|b}"], 2, true), &same);
    check_error(fan_out(&["a", "b", "c", "{a|b}"], 2, true), &same);
    let odd = "a|b;{a\\|b|c};* c;{a\\|b|c};* a;{a|b\\|c};* b|c;{a|b\\|c};*";
    check(fan_out(&["a|b", "c", "a", "b|c"], 2, true), odd);
    let many: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let error = BuildError::LabelsTooLong { n_values: 40_000 };
    check_error(fan_out(&many, 2, true), &error);
    assert!(fan_out(&many, 2, false).is_ok());
}

#[test]
fn no_values_give_no_rows() {
    check(intervals(&[], 1.0, None, &[]), "");
    check(Ok(mask(&[], MaskSide::Left, '*')), "");
    check(dates(&[], &[DatePart::Year]), "");
    check(fan_out(&[], 2, true), "");
}

#[test]
fn a_repeated_value_has_one_row() {
    check_intervals("1 1 1", 2.0, None, "1;[0-1];*");
    check_mask("ab ab", MaskSide::Right, "ab;a*;*");
    check(dates(&["2024-01-03"; 3], &[DatePart::Year]), "2024-01-03;2024;*");
    check_fan_out("a b a c", true, "a;{a|b};* b;{a|b};* c;c;*");
}

/// A small generator of numbers (xorshift), so that a failure can be repeated.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn text(&mut self, alphabet: &[char]) -> String {
        let length = self.below(7);
        let len = alphabet.len() as u64;
        (0..length).map(|_| alphabet[usize::try_from(self.below(len)).expect("small")]).collect()
    }

    fn number(&mut self) -> String {
        let sign = ["", "-"][usize::from(self.below(2) == 0)];
        let digits = 10u64.pow(u32::try_from(self.below(9)).expect("small"));
        let fraction =
            ["", ".5", ".25", "e3", "e-2"][usize::try_from(self.below(5)).expect("small")];
        format!("{sign}{}{fraction}", self.below(digits))
    }

    fn date(&mut self) -> String {
        let (year, month, day) = (1 + self.below(9999), 1 + self.below(12), 1 + self.below(28));
        let time = ["", "T10:00:00"][usize::from(self.below(2) == 0)];
        format!("{year:04}-{month:02}-{day:02}{time}")
    }

    fn many(&mut self, mut value: impl FnMut(&mut Seeded) -> String) -> Vec<String> {
        (0..=self.below(40)).map(|_| value(self)).collect()
    }
}

fn assert_sound(values: &[&str], rows: &[Vec<String>]) {
    let distinct: BTreeSet<&str> = values.iter().copied().collect();
    assert_eq!(rows.len(), distinct.len(), "{values:?}");
    assert!(rows.iter().all(|row| row.last().is_some_and(|root| root == ROOT)), "{values:?}");
    if let Err(error) = Hierarchy::from_rows(rows) {
        panic!("{error}: {values:?}");
    }
}

fn refs(values: &[String]) -> Vec<&str> {
    values.iter().map(String::as_str).collect()
}

#[test]
fn random_texts_make_hierarchies() {
    let mut seeded = Seeded(7);
    for _ in 0..60 {
        let texts = seeded.many(|seeded| seeded.text(&['a', 'b', '*', 'é', '|', '{', '}', '-']));
        let texts = refs(&texts);
        let character = if seeded.below(2) == 0 { '*' } else { 'a' };
        assert_sound(&texts, &mask(&texts, MaskSide::Left, character));
        assert_sound(&texts, &mask(&texts, MaskSide::Right, character));
        for (is_text, by) in [(true, 2), (false, 2), (true, 5), (false, 3)] {
            match fan_out(&texts, by, is_text) {
                Ok(rows) => assert_sound(&texts, &rows),
                Err(error) => assert!(matches!(error, BuildError::SameLabel { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn random_numbers_make_hierarchies() {
    let mut seeded = Seeded(11);
    for _ in 0..60 {
        let numbers = seeded.many(Seeded::number);
        let numbers = refs(&numbers);
        for width in [1.0, 5.0, 0.1, 2.5, 1e7] {
            for origin in [None, Some(0.0), Some(-3.3), Some(1e6)] {
                for levels in [&[][..], &[2], &[3, 2, 10]] {
                    let rows = intervals(&numbers, width, origin, levels).expect("small numbers");
                    assert_sound(&numbers, &rows);
                }
            }
        }
    }
}

#[test]
fn random_dates_make_hierarchies() {
    use DatePart::{Century, Day, Decade, Month, Quarter, Week, Year};
    let mut seeded = Seeded(13);
    for _ in 0..60 {
        let dates_given = seeded.many(Seeded::date);
        let values = refs(&dates_given);
        for parts in [&[Day, Week][..], &[Day, Month, Quarter, Year, Decade, Century], &[]] {
            assert_sound(&values, &dates(&values, parts).expect("dates"));
        }
    }
}

/// The rows of a hierarchy whose labels were rebuilt from the leaves marked with `!`.
#[track_caller]
fn check_relabelled(
    rows: Result<Vec<Vec<String>>, BuildError>,
    marked: &str,
    relabel: impl Fn(&Hierarchy, &[bool]) -> Hierarchy,
    expected: &str,
) {
    let hierarchy = Hierarchy::from_rows(&rows.expect("rows")).expect("a sound hierarchy");
    let marked: Vec<&str> = split(marked);
    let is_marked: Vec<bool> = hierarchy.leaves().map(|leaf| marked.contains(&leaf)).collect();
    let relabelled = relabel(&hierarchy, &is_marked);
    let rows = relabelled.rows().zip(&is_marked).filter(|(_, is_marked)| **is_marked);
    let rows: Vec<String> = rows.map(|(row, _)| row.join(";")).collect();
    assert_eq!(rows.join(" "), expected);
    let all = vec![true; is_marked.len()];
    assert_eq!(relabel(&hierarchy, &all), hierarchy, "with all leaves nothing changes");
}

#[test]
fn labels_reveal_marked_leaves_only() {
    let numbers = || fan_out(&split("1 2 3 4 9 99"), 2, false);
    let expected = "2;2;[2-3];* 3;3;[2-3];* 9;9;9;*";
    check_relabelled(numbers(), "2 3 9", relabel_fan_out, expected);
    let texts = || fan_out(&split("a b c d"), 3, true);
    check_relabelled(texts(), "a c", relabel_fan_out, "a;{a|c};* c;{a|c};*");
    let masked = |side| move |of: &Hierarchy, marked: &[bool]| relabel_mask(of, marked, side, '*');
    let postcodes = |side| Ok(mask(&split("537 512 5371199"), side, '*'));
    check_relabelled(
        postcodes(MaskSide::Right),
        "537 512",
        masked(MaskSide::Right),
        "537;537;537;537;537;53*;5**;* 512;512;512;512;512;51*;5**;*",
    );
    check_relabelled(
        postcodes(MaskSide::Left),
        "537 512",
        masked(MaskSide::Left),
        "537;537;537;537;537;*37;**7;* 512;512;512;512;512;*12;**2;*",
    );
    let relabel = |of: &Hierarchy, marked: &[bool]| relabel_intervals(of, marked, 10.0, None, &[]);
    let ages = || intervals(&split("17 21 45 987654.5"), 10.0, None, &[]);
    let hierarchy = Hierarchy::from_rows(&ages().expect("rows")).expect("sound");
    let beyond = ";*".repeat(usize::from(hierarchy.height().0) - 4);
    let expected = format!(
        "17;[10-19];[0-19];[0-39]{beyond};* 21;[20-29];[20-39];[0-39]{beyond};* 45;[40-49];[40-59];[40-79]{beyond};*"
    );
    check_relabelled(ages(), "17 21 45", relabel, &expected);
}
