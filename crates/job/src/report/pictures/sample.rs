//! Records drawn at random, where there are too many to be shown.

use incrowd_evaluate::synthetic::random::Source;

/// Tells what is drawn here from what else a seed is used for.
const PURPOSE: u64 = 0x0070_6f72_7472_6169;

/// By thing, how many of its records are drawn: `most` records at equal distances, over all records
/// in the order of the things, of which the first is drawn at random. So each record is as likely
/// as every other one. All of them where there are no more things than that.
pub(super) fn drawn(rows: &[u64], most: usize, seed: u64) -> Vec<u64> {
    let whole: u64 = rows.iter().sum();
    let most = most as u64;
    if rows.len() as u64 <= most || whole <= most {
        return rows.to_vec();
    }
    let (mut drawn, mut at, mut end) = (vec![0; rows.len()], 0, rows[0]);
    let start = u128::from(Source::new(seed, PURPOSE).of_row(0).below(whole));
    for nth in 0..most {
        let place = (start + u128::from(nth) * u128::from(whole)) / u128::from(most);
        while place >= u128::from(end) {
            at += 1;
            end += rows[at];
        }
        drawn[at] += 1;
    }
    drawn
}

/// Things that are drawn, each as likely as every other one, by what tells them apart: their order
/// has no say.
pub(super) fn drawn_by(keys: impl Iterator<Item = Vec<u32>>, most: usize, seed: u64) -> Vec<usize> {
    let source = Source::new(seed, PURPOSE);
    let number = |key: &[u32]| {
        key.iter().fold(0, |number: u64, part| source.of_row(number ^ u64::from(*part)).bits())
    };
    let mut least: Vec<(u64, Vec<u32>, usize)> = Vec::new();
    for (at, key) in keys.enumerate() {
        let number = number(&key);
        if least.len() == most && least.last().is_some_and(|last| number >= last.0) {
            continue;
        }
        if least.iter().any(|known| known.1 == key) {
            continue;
        }
        least.push((number, key, at));
        least.sort_unstable();
        least.truncate(most);
    }
    least.into_iter().map(|(_, _, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_things_are_all_drawn() {
        assert_eq!(drawn(&[5, 7, 1], 3, 0), [5, 7, 1]);
        assert_eq!(drawn(&[1, 1, 1, 1], 9, 0), [1, 1, 1, 1]);
        assert_eq!(drawn(&[], 9, 0), [0; 0]);
    }

    #[test]
    fn every_record_is_as_likely_as_every_other_one() {
        let rows: Vec<u64> = (0..1000).map(|at| 1 + u64::from(at % 10 == 0) * 9).collect();
        let (mut first_half, mut heavy) = (0, 0);
        for seed in 0..20 {
            let found = drawn(&rows, 200, seed);
            assert_eq!(found.iter().sum::<u64>(), 200);
            assert!(found.iter().zip(&rows).all(|(drawn, rows)| drawn <= rows));
            first_half += found[..500].iter().sum::<u64>();
            heavy += found.iter().step_by(10).sum::<u64>();
        }
        assert_eq!(first_half, 2000);
        // 1,000 of 1,900 records.
        assert!((2000..2400).contains(&heavy), "{heavy}");
        let mut of_row = [0u32; 7];
        for seed in 0..7000 {
            let found = drawn(&[1; 7], 3, seed);
            of_row.iter_mut().zip(found).for_each(|(all, drawn)| *all += u32::from(drawn == 1));
        }
        assert!(of_row.iter().all(|n| (2850..3150).contains(n)), "{of_row:?}");
    }

    #[test]
    fn the_order_has_no_say() {
        let keys: Vec<Vec<u32>> = (0..500).map(|at| vec![at % 250, at % 10]).collect();
        let of = |keys: &[Vec<u32>], seed| -> Vec<Vec<u32>> {
            let found = drawn_by(keys.iter().cloned(), 4, seed);
            found.into_iter().map(|at| keys[at].clone()).collect()
        };
        let mut other = keys.clone();
        other.reverse();
        let found = of(&keys, 1);
        assert_eq!(found, of(&other, 1));
        assert_ne!(found, of(&keys, 2));
        let distinct: std::collections::BTreeSet<&Vec<u32>> = found.iter().collect();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn the_seed_decides() {
        let rows = vec![1; 5000];
        assert_eq!(drawn(&rows, 100, 7), drawn(&rows, 100, 7));
        assert_ne!(drawn(&rows, 100, 7), drawn(&rows, 100, 8));
    }
}
