//! The values of people's attributes, with weights. The weights are rough: they make a table that
//! behaves like a census, but describe no real population.

pub(super) const SEX: [&str; 2] = ["Female", "Male"];
pub(super) const FEMALE: u32 = 0;

/// Regions with their weights, and by region the weights of [`RACE`].
pub(super) const REGION: [(&str, u64, [u64; 6]); 9] = [
    ("New England", 45, [760, 65, 50, 95, 20, 10]),
    ("Middle Atlantic", 125, [590, 140, 80, 160, 20, 10]),
    ("East North Central", 142, [740, 120, 35, 80, 20, 5]),
    ("West North Central", 65, [810, 65, 25, 65, 20, 15]),
    ("South Atlantic", 202, [540, 220, 35, 175, 20, 10]),
    ("East South Central", 58, [740, 195, 12, 35, 15, 3]),
    ("West South Central", 125, [480, 140, 40, 305, 20, 15]),
    ("Mountain", 76, [640, 35, 30, 240, 25, 30]),
    ("Pacific", 162, [440, 50, 150, 310, 35, 15]),
];

pub(super) const RACE: [&str; 6] = ["White", "Black", "Asian", "Hispanic", "Mixed", "Other"];

/// Countries of birth, and by race their weights. The first is home.
pub(super) const COUNTRY: [(&str, [u64; 6]); 32] = [
    ("United States", [9500, 8900, 3600, 6200, 9000, 8400]),
    ("Mexico", [12, 1, 1, 1900, 40, 60]),
    ("India", [4, 2, 1400, 1, 40, 250]),
    ("China", [2, 1, 1250, 1, 20, 10]),
    ("Philippines", [6, 2, 900, 4, 80, 120]),
    ("El Salvador", [2, 1, 1, 310, 10, 10]),
    ("Vietnam", [1, 1, 620, 1, 15, 5]),
    ("Cuba", [30, 10, 1, 290, 15, 5]),
    ("Dominican Republic", [2, 45, 1, 260, 40, 10]),
    ("South Korea", [2, 1, 480, 1, 15, 5]),
    ("Guatemala", [2, 1, 1, 230, 10, 40]),
    ("Jamaica", [2, 260, 4, 2, 30, 5]),
    ("Colombia", [8, 4, 1, 190, 10, 5]),
    ("Haiti", [1, 240, 1, 1, 10, 5]),
    ("Honduras", [2, 4, 1, 170, 10, 10]),
    ("Canada", [62, 8, 40, 4, 30, 40]),
    ("Germany", [54, 14, 6, 6, 40, 20]),
    ("United Kingdom", [60, 16, 30, 2, 30, 10]),
    ("Nigeria", [1, 170, 1, 1, 10, 5]),
    ("Ethiopia", [1, 120, 1, 1, 5, 5]),
    ("Poland", [40, 1, 1, 1, 5, 1]),
    ("Russia", [38, 1, 4, 1, 8, 5]),
    ("Italy", [30, 1, 1, 2, 5, 1]),
    ("Ukraine", [32, 1, 1, 1, 5, 1]),
    ("Iran", [36, 1, 30, 1, 10, 60]),
    ("Japan", [4, 1, 260, 1, 60, 10]),
    ("Pakistan", [3, 1, 290, 1, 10, 60]),
    ("Brazil", [30, 14, 2, 40, 40, 10]),
    ("Peru", [3, 1, 4, 120, 10, 30]),
    ("Taiwan", [1, 1, 250, 1, 5, 1]),
    ("Laos", [1, 1, 130, 1, 5, 1]),
    ("Portugal", [14, 4, 1, 4, 5, 1]),
];

/// Levels of education in their order, with weights.
pub(super) const EDUCATION: [(&str, u64); 16] = [
    ("No schooling", 12),
    ("Grades 1-4", 8),
    ("Grades 5-6", 15),
    ("Grades 7-8", 25),
    ("Grade 9", 20),
    ("Grade 10", 25),
    ("Grade 11", 28),
    ("Grade 12", 15),
    ("High school", 280),
    ("Some college", 190),
    ("Vocational degree", 45),
    ("Associate degree", 50),
    ("Bachelor", 190),
    ("Master", 75),
    ("Professional degree", 12),
    ("Doctorate", 10),
];
pub(super) const BACHELOR: usize = 12;

/// Marital states, and by [`MARITAL_BANDS`] their weights.
pub(super) const MARITAL: [(&str, [u64; 6]); 7] = [
    ("Never married", [960, 640, 260, 130, 60, 45]),
    ("Married", [32, 310, 600, 620, 590, 380]),
    ("Married, spouse abroad", [3, 10, 12, 10, 5, 2]),
    ("Separated", [3, 15, 28, 28, 14, 6]),
    ("Divorced", [2, 24, 95, 185, 160, 70]),
    ("Widowed", [0, 1, 5, 27, 171, 497]),
    ("Registered partners", [10, 30, 18, 8, 3, 1]),
];
pub(super) const WIDOWED: usize = 5;
pub(super) const NEVER_MARRIED: u32 = 0;
/// The first ages of the bands of [`MARITAL`] after the first.
pub(super) const MARITAL_BANDS: [i64; 5] = [24, 31, 46, 65, 80];

/// Work classes, and by [`WORK_BANDS`] their weights.
pub(super) const WORK: [(&str, [u64; 5]); 9] = [
    ("Private", [480, 660, 560, 160, 25]),
    ("Self-employed", [15, 75, 110, 60, 12]),
    ("Local government", [20, 65, 75, 20, 2]),
    ("State government", [20, 45, 45, 12, 1]),
    ("Federal government", [8, 28, 32, 8, 1]),
    ("Unemployed", [90, 45, 35, 8, 0]),
    ("Student", [350, 25, 3, 0, 0]),
    ("Homemaker", [17, 57, 60, 32, 9]),
    ("Retired", [0, 0, 80, 700, 950]),
];
/// The first ages of the bands of [`WORK`] after the first.
pub(super) const WORK_BANDS: [i64; 4] = [24, 50, 65, 76];
pub(super) const SELF_EMPLOYED: u32 = 1;
/// Work classes below this have an occupation.
pub(super) const UNEMPLOYED: u32 = 5;
pub(super) const STUDENT: usize = 6;
pub(super) const HOMEMAKER: usize = 7;
pub(super) const RETIRED: u32 = 8;

/// An occupation.
pub(super) struct Occupation {
    pub(super) name: &'static str,
    pub(super) weight: f64,
    /// The level of education for which it is most likely.
    pub(super) education: f64,
    pub(super) women_percent: f64,
    /// A typical yearly income, in thousands.
    pub(super) income: f64,
}

const fn job(
    name: &'static str,
    weight: f64,
    education: f64,
    women_percent: f64,
    income: f64,
) -> Occupation {
    Occupation { name, weight, education, women_percent, income }
}

pub(super) const OCCUPATION: [Occupation; 48] = [
    job("Chief executive", 6.0, 12.5, 28.0, 140.0),
    job("Sales manager", 20.0, 12.0, 42.0, 95.0),
    job("Finance manager", 16.0, 12.5, 54.0, 100.0),
    job("Operations manager", 24.0, 11.5, 32.0, 88.0),
    job("Construction manager", 12.0, 10.0, 9.0, 85.0),
    job("Software developer", 26.0, 12.3, 20.0, 110.0),
    job("Engineer", 20.0, 12.4, 15.0, 98.0),
    job("Accountant", 22.0, 12.2, 60.0, 75.0),
    job("Lawyer", 12.0, 14.0, 39.0, 130.0),
    job("Physician", 11.0, 14.3, 40.0, 190.0),
    job("Pharmacist", 4.0, 14.0, 58.0, 120.0),
    job("Nurse", 40.0, 11.6, 88.0, 76.0),
    job("Primary teacher", 34.0, 12.5, 86.0, 58.0),
    job("Secondary teacher", 18.0, 12.8, 60.0, 61.0),
    job("Professor", 12.0, 14.6, 48.0, 85.0),
    job("Scientist", 9.0, 14.2, 46.0, 90.0),
    job("Social worker", 12.0, 12.3, 81.0, 50.0),
    job("Designer", 12.0, 12.0, 53.0, 58.0),
    job("Medical technician", 18.0, 10.8, 70.0, 50.0),
    job("IT support", 14.0, 11.0, 28.0, 58.0),
    job("Secretary", 34.0, 9.2, 94.0, 40.0),
    job("Bookkeeper", 18.0, 9.5, 87.0, 42.0),
    job("Customer service", 34.0, 8.9, 65.0, 36.0),
    job("Postal worker", 8.0, 8.8, 42.0, 52.0),
    job("Office clerk", 18.0, 9.0, 83.0, 37.0),
    job("Salesperson", 46.0, 8.6, 49.0, 30.0),
    job("Cashier", 40.0, 7.8, 72.0, 22.0),
    job("Estate agent", 11.0, 10.5, 54.0, 62.0),
    job("Insurance agent", 8.0, 10.8, 50.0, 60.0),
    job("Cook", 28.0, 7.2, 40.0, 24.0),
    job("Waiter", 28.0, 8.2, 70.0, 23.0),
    job("Cleaner", 40.0, 6.2, 50.0, 26.0),
    job("Child minder", 18.0, 8.4, 94.0, 22.0),
    job("Care worker", 40.0, 7.8, 87.0, 27.0),
    job("Hairdresser", 12.0, 8.4, 91.0, 27.0),
    job("Police officer", 11.0, 10.2, 15.0, 68.0),
    job("Firefighter", 5.0, 9.8, 4.0, 66.0),
    job("Security guard", 14.0, 8.6, 23.0, 33.0),
    job("Electrician", 14.0, 8.9, 3.0, 58.0),
    job("Carpenter", 18.0, 8.0, 3.0, 44.0),
    job("Mechanic", 24.0, 8.2, 2.0, 46.0),
    job("Construction worker", 28.0, 6.8, 4.0, 37.0),
    job("Driver", 50.0, 7.6, 8.0, 46.0),
    job("Assembler", 24.0, 7.6, 38.0, 35.0),
    job("Machinist", 12.0, 8.4, 6.0, 46.0),
    job("Warehouse worker", 40.0, 7.6, 24.0, 32.0),
    job("Farm worker", 14.0, 5.0, 22.0, 26.0),
    job("Farmer", 12.0, 8.4, 26.0, 48.0),
];
/// The text after all occupations, for people without one.
pub(super) const NO_OCCUPATION: &str = "None";

/// A diagnosis.
pub(super) struct Diagnosis {
    pub(super) name: &'static str,
    pub(super) weight: f64,
    /// The age at which it is most likely, and the spread around it.
    pub(super) age: f64,
    pub(super) spread: f64,
    pub(super) women_percent: f64,
    /// The cost of a visit.
    pub(super) cost: f64,
    /// How much more likely a visit is in January than in July.
    pub(super) winter: u64,
}

const fn ill(
    name: &'static str,
    weight: f64,
    (age, spread): (f64, f64),
    women_percent: f64,
    cost: f64,
    winter: u64,
) -> Diagnosis {
    Diagnosis { name, weight, age, spread, women_percent, cost, winter }
}

pub(super) const DIAGNOSIS: [Diagnosis; 36] = [
    ill("Influenza", 60.0, (35.0, 40.0), 50.0, 180.0, 8),
    ill("Common cold", 80.0, (30.0, 40.0), 52.0, 90.0, 4),
    ill("Bronchitis", 25.0, (45.0, 30.0), 55.0, 240.0, 3),
    ill("Pneumonia", 10.0, (65.0, 25.0), 48.0, 5200.0, 3),
    ill("Asthma", 22.0, (30.0, 30.0), 58.0, 310.0, 2),
    ill("Chronic lung disease", 14.0, (68.0, 12.0), 50.0, 1500.0, 2),
    ill("Hypertension", 90.0, (62.0, 18.0), 50.0, 220.0, 1),
    ill("Type 2 diabetes", 45.0, (60.0, 16.0), 46.0, 480.0, 1),
    ill("Type 1 diabetes", 5.0, (25.0, 20.0), 48.0, 720.0, 1),
    ill("High cholesterol", 50.0, (58.0, 15.0), 49.0, 160.0, 1),
    ill("Heart disease", 18.0, (68.0, 12.0), 38.0, 9800.0, 1),
    ill("Stroke", 7.0, (72.0, 12.0), 52.0, 14_000.0, 1),
    ill("Arrhythmia", 10.0, (68.0, 13.0), 47.0, 3200.0, 1),
    ill("Depression", 38.0, (38.0, 20.0), 66.0, 290.0, 2),
    ill("Anxiety", 34.0, (33.0, 18.0), 65.0, 240.0, 1),
    ill("Schizophrenia", 3.0, (32.0, 12.0), 42.0, 2100.0, 1),
    ill("Dementia", 8.0, (82.0, 7.0), 62.0, 3600.0, 1),
    ill("Migraine", 20.0, (36.0, 14.0), 76.0, 210.0, 1),
    ill("Epilepsy", 4.0, (35.0, 25.0), 48.0, 680.0, 1),
    ill("Back pain", 60.0, (48.0, 18.0), 52.0, 260.0, 1),
    ill("Arthritis", 35.0, (66.0, 14.0), 62.0, 340.0, 1),
    ill("Fracture", 22.0, (40.0, 35.0), 46.0, 2400.0, 2),
    ill("Osteoporosis", 9.0, (72.0, 9.0), 85.0, 310.0, 1),
    ill("Breast cancer", 7.0, (61.0, 13.0), 99.0, 24_000.0, 1),
    ill("Prostate cancer", 6.0, (68.0, 9.0), 0.0, 18_500.0, 1),
    ill("Lung cancer", 5.0, (69.0, 10.0), 47.0, 31_000.0, 1),
    ill("Skin cancer", 6.0, (64.0, 14.0), 44.0, 2900.0, 1),
    ill("Pregnancy", 28.0, (29.0, 5.0), 100.0, 6200.0, 1),
    ill("Gastritis", 20.0, (45.0, 20.0), 54.0, 230.0, 1),
    ill("Hepatitis", 4.0, (42.0, 14.0), 40.0, 1900.0, 1),
    ill("HIV", 3.0, (38.0, 12.0), 22.0, 2600.0, 1),
    ill("Kidney disease", 10.0, (68.0, 14.0), 52.0, 4100.0, 1),
    ill("Thyroid disorder", 18.0, (50.0, 18.0), 84.0, 190.0, 1),
    ill("Eczema", 16.0, (30.0, 22.0), 54.0, 130.0, 1),
    ill("Injury", 35.0, (32.0, 18.0), 40.0, 620.0, 1),
    ill("Cataract", 9.0, (74.0, 8.0), 58.0, 3400.0, 1),
];

pub(super) const SALARY_CLASS: [&str; 2] = ["<=50K", ">50K"];
