//! Random numbers that are the same on every machine.
//!
//! The bytes of a generated table are part of its contract, so the algorithms are fixed here and
//! use only what is the same on all machines: integers, and the operations on floating-point
//! numbers that IEEE 754 defines to the last bit (`+ - * /` and the square root). The logarithm and
//! exponential of the system's library are not, so they are replaced by [`ln`] and [`exp`].
//!
//! The generator is xoshiro256++ (Blackman, Vigna 2019), its state filled by splitmix64 (Steele,
//! Lea, Flood 2014). Every row has a generator of its own, from the seed, the kind of table and the
//! row's number.

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finishing function of splitmix64, one to one.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The source of a table's generators: a seed, and a number for the purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(u64);

impl Source {
    /// The source of a seed for one purpose.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Source {
        Source(mix(mix(seed.wrapping_add(GAMMA)).wrapping_add(purpose.wrapping_mul(GAMMA))))
    }

    /// The generator of a row.
    #[must_use]
    pub fn of_row(self, row: u64) -> Random {
        // Different rows start splitmix64 at different places, since `mix` is one to one.
        let mut at = mix(self.0.wrapping_add(row));
        Random([(); 4].map(|()| {
            at = at.wrapping_add(GAMMA);
            mix(at)
        }))
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random([u64; 4]);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `n`, which is above 0: the upper half of a product, so the probabilities of
    /// any two numbers differ by less than `n` in 2⁶⁴, relatively.
    pub fn below(&mut self, n: u64) -> u64 {
        u64::try_from((u128::from(self.bits()) * u128::from(n)) >> 64).expect("below n")
    }

    /// An integer from `low` to `high`, both included.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(high.abs_diff(low) + 1)).expect("a difference of integers")
    }

    /// A number from 0 to below 1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A standard normal number (Marsaglia's polar method; its second number is not used).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * ln(s) / s).sqrt();
            }
        }
    }

    /// One of some choices, by their weights.
    pub fn choose(&mut self, among: &Weights) -> u32 {
        let at = self.below(among.total());
        let found = among.0.partition_point(|&end| end <= at);
        u32::try_from(found).expect("few choices")
    }
}

/// Choices with weights: running sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

impl Weights {
    /// Choices 0, 1, ... with these weights, at least one of which is above 0.
    #[must_use]
    pub fn new(weights: impl IntoIterator<Item = u64>) -> Weights {
        let sums = weights.into_iter().scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let weights = Weights(sums.collect());
        assert!(weights.total() > 0, "one choice has a weight");
        weights
    }

    fn total(&self) -> u64 {
        self.0.last().copied().unwrap_or(0)
    }
}

/// The natural logarithm of a positive, normal number, to about 15 digits.
#[must_use]
pub fn ln(x: f64) -> f64 {
    debug_assert!(x.is_normal() && x > 0.0, "asked of positive normal numbers only");
    let bits = x.to_bits();
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    let exponent = i32::try_from((bits >> 52) & 0x7ff).expect("11 bits") - 1023;
    // A mantissa around 1, where the series of 2 artanh(s) converges fast: |s| < 0.18.
    let (mantissa, exponent) = if mantissa > std::f64::consts::SQRT_2 {
        (mantissa / 2.0, exponent + 1)
    } else {
        (mantissa, exponent)
    };
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..11).rev().fold(0.0, |sum, i| sum * square + 1.0 / f64::from(2 * i + 1));
    f64::from(exponent) * std::f64::consts::LN_2 + 2.0 * s * series
}

/// The exponential of a number from -700 to 700, to about 14 digits.
#[must_use]
pub fn exp(x: f64) -> f64 {
    debug_assert!(x.abs() <= 700.0, "asked of moderate numbers only");
    let power = (x / std::f64::consts::LN_2).round();
    let rest = x - power * std::f64::consts::LN_2;
    let series = (1..=14).rev().fold(1.0, |sum, i| 1.0 + sum * rest / f64::from(i));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "13 to 2033")]
    let scale = f64::from_bits(((power + 1023.0) as u64) << 52);
    series * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_never_change() {
        // State 1, 2, 3, 4: the first outputs of the reference implementation of xoshiro256++.
        let mut random = Random([1, 2, 3, 4]);
        let first = [(); 4].map(|()| random.bits());
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
        // Splitmix64 from 0: the first output of its reference implementation.
        assert_eq!(mix(GAMMA), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn rows_purposes_and_seeds_differ() {
        let first = |seed, purpose, row| Source::new(seed, purpose).of_row(row).bits();
        let all = [first(0, 0, 0), first(1, 0, 0), first(0, 1, 0), first(0, 0, 1), first(1, 1, 1)];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one));
        }
    }

    #[test]
    fn logarithm_and_exponential_agree_with_the_library() {
        let mut random = Source::new(3, 0).of_row(0);
        for _ in 0..10_000 {
            let x = random.unit() + 1e-12;
            assert!((ln(x) - x.ln()).abs() <= 1e-14 * x.ln().abs().max(0.1), "ln {x}");
            let y = (random.unit() - 0.5) * 60.0;
            assert!((exp(y) / y.exp() - 1.0).abs() < 1e-14, "exp {y}");
        }
        assert_eq!((ln(1.0), exp(0.0)), (0.0, 1.0));
    }

    #[test]
    fn distributions_are_as_documented() {
        let mut random = Source::new(1, 0).of_row(0);
        let n = 100_000;
        let normals: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let square = normals.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01 && (square - 1.0).abs() < 0.02, "{mean} {square}");
        let beyond_two = normals.iter().filter(|x| x.abs() > 2.0).count();
        assert!((4_300..4_800).contains(&beyond_two), "4.55% of {n}: {beyond_two}");
        let weights = Weights::new([1, 0, 3]);
        let mut counts = [0; 3];
        (0..n).for_each(|_| counts[random.choose(&weights) as usize] += 1);
        assert!(counts[1] == 0 && (24_400..25_600).contains(&counts[0]), "{counts:?}");
        let mut faces = [0; 6];
        (0..n).for_each(|_| faces[usize::try_from(random.integer(1, 6) - 1).unwrap()] += 1);
        assert!(faces.iter().all(|count| (16_200..17_100).contains(count)), "{faces:?}");
    }
}
