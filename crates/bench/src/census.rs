//! A synthetic census table: correlated columns with realistic numbers of values, seeded.

use std::io::{BufWriter, Write};
use std::path::Path;

/// The quasi-identifier columns.
pub(crate) const QUASI: &str = "age,sex,race,marital,education,occupation,country,postcode";

/// A full-domain job over the table, both in the same folder.
pub(crate) const FULL_DOMAIN_JOB: &str = r#"
input = "census.csv"
output = "release.csv"
undeclared = "drop"

[columns]
age        = { role = "quasi", hierarchy = { width = 5, levels = [2, 2, 2] } }
sex        = { role = "quasi", hierarchy = { fan-out = 2 } }
race       = { role = "quasi", hierarchy = { fan-out = 6 } }
marital    = { role = "quasi", hierarchy = { fan-out = 3 } }
education  = { role = "quasi", hierarchy = { fan-out = 4 } }
occupation = { role = "quasi", hierarchy = { fan-out = 7 } }
country    = { role = "quasi", hierarchy = { fan-out = 8 } }
postcode   = { role = "quasi", type = "text", hierarchy = { mask = "right" } }
diagnosis  = { role = "sensitive" }

[privacy]
k = 5

[search]
algorithm = "optimal"
"#;

const HEADER: &str =
    "age,sex,race,marital,education,occupation,country,postcode,diagnosis,hours,amount,visit,note";

/// splitmix64: small, seeded, the same everywhere.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Begins at a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64).try_into().unwrap_or(0)
    }

    /// Small numbers are likelier: the least of two draws.
    pub(crate) fn skewed(&mut self, n: u64) -> u64 {
        self.below(n).min(self.below(n))
    }
}

/// Writes `rows` rows.
pub(crate) fn write(path: &Path, rows: u64, seed: u64) -> std::io::Result<()> {
    let mut random = Random::new(seed);
    let mut file = BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
    writeln!(file, "{HEADER}")?;
    for _ in 0..rows {
        let age = 17 + random.skewed(74);
        let sex = ["Female", "Male"][usize::from(random.below(2) == 1)];
        let race = random.skewed(6);
        let marital = if age < 24 { random.below(2) } else { random.skewed(7) };
        let education = (random.below(10) + random.below(7)).min(15);
        let occupation = (education * 3 + random.skewed(12)).min(47);
        let country = if random.below(10) < 8 { 0 } else { random.skewed(40) };
        let postcode = 10_000 + country * 1000 + random.skewed(1000) * 7 % 1000;
        let diagnosis = random.skewed(20 + age / 10);
        let hours = 20 + random.below(41);
        let amount = random.skewed(1_000_000);
        let (month, day) = (1 + random.below(12), 1 + random.below(28));
        let note = random.below(5000);
        writeln!(
            file,
            "{age},{sex},Race-{race},Marital-{marital},Level-{education},Occupation-{occupation},\
             Country-{country},{postcode},D{diagnosis},{hours},{}.{:02},2025-{month:02}-{day:02},note {note}",
            amount / 100,
            amount % 100
        )?;
    }
    file.flush()
}
