//! Drawing a person.

use super::lists::{
    BACHELOR, COUNTRY, DIAGNOSIS, EDUCATION, FEMALE, HOMEMAKER, MARITAL, MARITAL_BANDS,
    NEVER_MARRIED, OCCUPATION, RACE, REGION, RETIRED, SELF_EMPLOYED, STUDENT, UNEMPLOYED, WIDOWED,
    WORK, WORK_BANDS,
};
use crate::synthetic::random::{Random, Weights, exp, ln};

const YOUNGEST: i64 = 18;
const OLDEST: i64 = 95;
/// The first ages of the cohorts of education after the first.
const EDUCATION_BANDS: [i64; 4] = [22, 25, 45, 65];
/// 2025-01-01 in days since 1970-01-01, and the first day of each month from there.
const FIRST_DAY: i32 = 20_089;
const MONTHS: [i32; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// Postcodes of a region: areas of 50, with five neighbouring areas of different income.
const AREA: u32 = 50;
const INCOMES: u32 = 5;
const TOWNS: u32 = 40;
const OF_REGION: u32 = AREA * INCOMES * TOWNS;
/// The number of all postcodes.
pub(super) const N_POSTCODES: u32 = OF_REGION * 9;

/// A row, texts by their places in the lists. Charges are in hundredths, the visit in days since
/// 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Person {
    pub(super) age: i64,
    pub(super) sex: u32,
    pub(super) race: u32,
    pub(super) marital: u32,
    pub(super) education: u32,
    pub(super) work: u32,
    pub(super) occupation: u32,
    pub(super) hours: i64,
    pub(super) children: i64,
    pub(super) country: u32,
    pub(super) region: u32,
    pub(super) postcode: u32,
    pub(super) income: i64,
    pub(super) diagnosis: u32,
    pub(super) charges: i64,
    pub(super) visit: i32,
}

/// All distributions, computed once.
#[derive(Clone, Debug)]
pub(super) struct Chances {
    region: Weights,
    race_of_region: Vec<Weights>,
    country_of_race: Vec<Weights>,
    age: Weights,
    /// By cohort and whether born abroad.
    education: Vec<[Weights; 2]>,
    /// By band of age and sex.
    marital: Vec<[Weights; 2]>,
    /// By band of age and whether there is a bachelor's degree.
    work: Vec<[Weights; 2]>,
    /// By education and sex.
    occupation: Vec<[Weights; 2]>,
    /// The logarithm of each occupation's income.
    log_income: Vec<f64>,
    /// By age and sex.
    diagnosis: Vec<[Weights; 2]>,
    log_cost: Vec<f64>,
    month_of_diagnosis: Vec<Weights>,
}

/// The text of a postcode: a digit for the region, four within it.
pub(super) fn postcode(code: u32) -> String {
    format!("{}", 10_000 * (1 + code / OF_REGION) + code % OF_REGION)
}

/// The band of an age, given the first ages of all bands except the first.
fn band(age: i64, starts: &[i64]) -> usize {
    starts.partition_point(|start| *start <= age)
}

/// A small share as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10^11")]
fn whole(weight: f64) -> u64 {
    (weight * 1e6) as u64
}

impl Chances {
    pub(super) fn new() -> Chances {
        let by_sex = |of: &dyn Fn(u32) -> Weights| [of(FEMALE), of(1)];
        let both = |of: &dyn Fn(bool) -> Weights| [of(false), of(true)];
        let share = |percent: f64, sex| if sex == FEMALE { percent } else { 100.0 - percent };
        let bell = |x: f64| exp(-(x * x / 2.0).min(600.0));
        let occupation = |education: u32, sex| {
            let weight = |job: &super::lists::Occupation| {
                let fit = bell((f64::from(education) - job.education) / 1.4) + 0.002;
                whole(job.weight * share(job.women_percent, sex) * fit)
            };
            Weights::new(OCCUPATION.iter().map(weight))
        };
        let diagnosis = |age: u32, sex| {
            let weight = |ill: &super::lists::Diagnosis| {
                let fit = bell((f64::from(age) - ill.age) / ill.spread) * 40.0 / ill.spread;
                whole(ill.weight * share(ill.women_percent, sex) * fit)
            };
            Weights::new(DIAGNOSIS.iter().map(weight))
        };
        let month = |ill: &super::lists::Diagnosis| {
            // From January to December, 6 steps down and up again.
            let steps = [6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5];
            Weights::new(steps.map(|step| 6 + step * (ill.winter - 1)))
        };
        let ages =
            u32::try_from(YOUNGEST).expect("an age")..=u32::try_from(OLDEST).expect("an age");
        Chances {
            region: Weights::new(REGION.iter().map(|(_, weight, _)| *weight)),
            race_of_region: REGION.iter().map(|(.., race)| Weights::new(*race)).collect(),
            country_of_race: (0..RACE.len())
                .map(|race| Weights::new(COUNTRY.iter().map(|(_, of_race)| of_race[race])))
                .collect(),
            age: Weights::new((YOUNGEST..=OLDEST).map(age_weight)),
            education: (0..=EDUCATION_BANDS.len())
                .map(|band| both(&|is_abroad| education_weights(band, is_abroad)))
                .collect(),
            marital: (0..=MARITAL_BANDS.len())
                .map(|band| by_sex(&|sex| marital_weights(band, sex)))
                .collect(),
            work: (0..=WORK_BANDS.len())
                .map(|band| both(&|has_degree| work_weights(band, has_degree)))
                .collect(),
            occupation: (0..)
                .take(EDUCATION.len())
                .map(|e| by_sex(&|sex| occupation(e, sex)))
                .collect(),
            log_income: OCCUPATION.iter().map(|job| ln(1000.0 * job.income)).collect(),
            diagnosis: ages.map(|age| by_sex(&|sex| diagnosis(age, sex))).collect(),
            log_cost: DIAGNOSIS.iter().map(|ill| ln(100.0 * ill.cost)).collect(),
            month_of_diagnosis: DIAGNOSIS.iter().map(month).collect(),
        }
    }

    /// Draws a person.
    pub(super) fn person(&self, random: &mut Random) -> Person {
        let region = random.choose(&self.region);
        let race = random.choose(&self.race_of_region[region as usize]);
        let country = random.choose(&self.country_of_race[race as usize]);
        let age = YOUNGEST + i64::from(random.choose(&self.age));
        // 49% women at 18, 66% at 95.
        let sex = u32::from(random.integer(0, 999) >= 490 + (age - 50).max(0) * 170 / 45);
        let cohort = &self.education[band(age, &EDUCATION_BANDS)];
        let education = random.choose(&cohort[usize::from(country > 0)]);
        let marital = random.choose(&self.marital[band(age, &MARITAL_BANDS)][sex as usize]);
        let children = children(random, age, marital);
        let has_degree = education as usize >= BACHELOR;
        let work = random.choose(&self.work[band(age, &WORK_BANDS)][usize::from(has_degree)]);
        let occupation = if work < UNEMPLOYED {
            random.choose(&self.occupation[education as usize][sex as usize])
        } else {
            u32::try_from(OCCUPATION.len()).expect("few occupations")
        };
        let hours = if work < UNEMPLOYED { hours(random, age, sex, work) } else { 0 };
        let mut person = Person {
            age,
            sex,
            race,
            marital,
            education,
            work,
            occupation,
            hours,
            children,
            country,
            region,
            postcode: 0,
            income: 0,
            diagnosis: 0,
            charges: 0,
            visit: 0,
        };
        person.income = self.income(random, &person);
        person.postcode = town(random, region, person.income);
        let of_age = usize::try_from(age - YOUNGEST).expect("18 and above");
        person.diagnosis = random.choose(&self.diagnosis[of_age][sex as usize]);
        person.charges = self.charges(random, &person);
        let month = random.choose(&self.month_of_diagnosis[person.diagnosis as usize]) as usize;
        let day = random.integer(0, i64::from(MONTHS[month + 1] - MONTHS[month] - 1));
        person.visit = FIRST_DAY + MONTHS[month] + i32::try_from(day).expect("a day of a month");
        person
    }

    /// Whole units a year.
    fn income(&self, random: &mut Random, of: &Person) -> i64 {
        let z = random.normal().clamp(-4.0, 4.0);
        let schooling = f64::from(of.education) - 8.0;
        let log = if of.work < UNEMPLOYED {
            let job = &OCCUPATION[of.occupation as usize];
            let years = (of.age - YOUNGEST) as f64 / 45.0;
            let career = 0.95 * years - 0.7 * years * years - 0.2;
            let fit = 0.03 * (f64::from(of.education) - job.education).clamp(-4.0, 4.0);
            let gap = if of.sex == FEMALE { -0.12 } else { 0.0 };
            let spread = if of.work == SELF_EMPLOYED { 0.75 } else { 0.36 };
            let time = ln(of.hours.max(4) as f64 / 40.0);
            self.log_income[of.occupation as usize] + career + fit + gap + time + spread * z
        } else if of.work == RETIRED {
            ln(23_000.0) + 0.06 * schooling + 0.45 * z
        } else {
            ln(7_000.0) + 0.03 * schooling + 0.7 * z
        };
        to_integer(exp(log))
    }

    /// Hundredths.
    fn charges(&self, random: &mut Random, of: &Person) -> i64 {
        let z = random.normal().clamp(-4.0, 4.0);
        let older = 0.006 * (of.age - 50) as f64;
        to_integer(exp(self.log_cost[of.diagnosis as usize] + older + 0.4 * z))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "amounts below 10^12")]
fn to_integer(amount: f64) -> i64 {
    amount.round() as i64
}

/// Constant until the middle fifties, then decreasing.
fn age_weight(age: i64) -> u64 {
    let weight = match age {
        ..=29 => 1300 + 10 * (age - YOUNGEST),
        30..=55 => 1420 - 4 * (age - 30),
        56..=74 => 1310 - 40 * (age - 56),
        _ => (560 - 27 * (age - 75)).max(20),
    };
    u64::try_from(weight).expect("every age has people")
}

/// In percent of the usual weights: by cohort, for those born abroad.
fn education_weights(cohort: usize, is_abroad: bool) -> Weights {
    let factor = |level: usize| {
        let [school, college, associate, bachelor, master, beyond] = [
            [100, 220, 20, 0, 0, 0],
            [110, 110, 110, 110, 15, 0],
            [60, 90, 145, 145, 145, 145],
            [100, 100, 100, 100, 100, 100],
            [210, 105, 65, 65, 65, 65],
        ][cohort];
        let of_cohort = match level {
            ..8 => school,
            8..11 => college,
            11 => associate,
            BACHELOR => bachelor,
            13 => master,
            _ => beyond,
        };
        let of_birth = match level {
            ..=3 if is_abroad => 400,
            13.. if is_abroad => 140,
            _ => 100,
        };
        of_cohort * of_birth
    };
    Weights::new(EDUCATION.iter().enumerate().map(|(level, (_, weight))| weight * factor(level)))
}

/// Women outlive their husbands.
fn marital_weights(band: usize, sex: u32) -> Weights {
    let factor = |state| if (state == WIDOWED) == (sex == FEMALE) { 100 } else { 62 };
    Weights::new(MARITAL.iter().enumerate().map(|(at, (_, of_band))| of_band[band] * factor(at)))
}

/// Degrees favour work for the state and reduce unemployment.
fn work_weights(band: usize, has_degree: bool) -> Weights {
    let factor = |work: usize| match work {
        2..=4 if has_degree => 170,
        5 | HOMEMAKER if has_degree => 50,
        STUDENT if has_degree => 60,
        _ => 100,
    };
    Weights::new(WORK.iter().enumerate().map(|(at, (_, of_band))| of_band[band] * factor(at)))
}

fn children(random: &mut Random, age: i64, marital: u32) -> i64 {
    let chances = if marital == NEVER_MARRIED { 1 } else { 3 };
    let years = (age - YOUNGEST).min(24);
    // A chance for each of up to 3, or one, and sometimes many.
    let few = (0..chances).filter(|_| random.integer(0, 35) < years).count();
    let more =
        if marital != NEVER_MARRIED && random.below(25) == 0 { random.integer(0, 4) } else { 0 };
    i64::try_from(few).expect("few") + if age < 24 { 0 } else { more }
}

/// Forty for many, otherwise around that; part-time work is more common among the young, the old
/// and women.
fn hours(random: &mut Random, age: i64, sex: u32, work: u32) -> i64 {
    let is_young_or_old = !(22..65).contains(&age);
    let part_time =
        80 + if sex == FEMALE { 120 } else { 0 } + if is_young_or_old { 350 } else { 0 };
    if random.integer(0, 999) < part_time {
        return random.integer(5, 34);
    }
    if work != SELF_EMPLOYED && random.below(100) < 55 {
        return 40;
    }
    let spread = if work == SELF_EMPLOYED { 11.0 } else { 6.0 };
    to_integer(44.0 + spread * random.normal()).clamp(20, 90)
}

/// A postcode: low numbers are large towns, and each has areas for different incomes.
fn town(random: &mut Random, region: u32, income: i64) -> u32 {
    let small = |n: u32, random: &mut Random| {
        let least = random.below(n.into()).min(random.below(n.into()));
        u32::try_from(least).expect("below a 32-bit number")
    };
    let bands = [20_000, 40_000, 65_000, 110_000];
    let of_income = u32::try_from(bands.partition_point(|&end| end <= income)).expect("at most 4");
    let lives_apart = random.below(100) < 40;
    let area = if lives_apart { small(INCOMES, random) } else { of_income };
    let town = small(TOWNS, random);
    region * OF_REGION + (town * INCOMES + area) * AREA + small(AREA, random)
}
