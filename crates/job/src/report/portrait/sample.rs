//! Records drawn at random, where there are too many to be shown.

use incrowd_evaluate::synthetic::random::Source;

/// Tells what is drawn here from what else a seed is used for.
const PURPOSE: u64 = 0x0070_6f72_7472_6169;

/// By thing, how many of its records are drawn: one of each of `most` stretches of equal length, over all records
/// in the order of the things, so that each record is as likely as every other one. All of them where there are no
/// more things than that.
pub(super) fn drawn(rows: &[u64], most: usize, seed: u64) -> Vec<u64> {
    let whole: u64 = rows.iter().sum();
    let most = most as u64;
    if rows.len() as u64 <= most || whole <= most {
        return rows.to_vec();
    }
    let (mut drawn, mut at, mut end) = (vec![0; rows.len()], 0, rows[0]);
    let edge = |stretch: u64| u128::from(stretch) * u128::from(whole) / u128::from(most);
    for stretch in 0..most {
        let small = |edge: u128| u64::try_from(edge).expect("not above the number of rows");
        let (from, to) = (small(edge(stretch)), small(edge(stretch + 1)));
        let row = from + Source::new(seed, PURPOSE).of_row(stretch).below(to - from);
        while row >= end {
            at += 1;
            end += rows[at];
        }
        drawn[at] += 1;
    }
    drawn
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
        let mut first_half = 0;
        let mut heavy = 0;
        for seed in 0..20 {
            let found = drawn(&rows, 200, seed);
            assert_eq!(found.iter().sum::<u64>(), 200);
            assert!(found.iter().zip(&rows).all(|(drawn, rows)| drawn <= rows));
            first_half += found[..500].iter().sum::<u64>();
            heavy += found.iter().step_by(10).sum::<u64>();
        }
        assert_eq!(first_half, 2000);
        // 1,000 of 1,900 records.
        assert!((2000..2210).contains(&heavy), "{heavy}");
    }

    #[test]
    fn the_seed_decides() {
        let rows = vec![1; 5000];
        assert_eq!(drawn(&rows, 100, 7), drawn(&rows, 100, 7));
        assert_ne!(drawn(&rows, 100, 7), drawn(&rows, 100, 8));
    }
}
