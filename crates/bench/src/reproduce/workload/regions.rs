//! Recodings of some rows of a table as codes, and rows as points.

use incrowd_data::{Attribute, PartitionTree, Shape};
use incrowd_privacy::{KAnonymity, Model};
use incrowd_search::{Algorithm, Budget, Outcome, Problem, Recoding, Split, Target, Workload};

use super::rows::Rows;
use crate::Failure;

/// A recoding of some rows.
pub(super) struct Regions {
    tree: PartitionTree,
    /// By class and attribute, the least and greatest place that its rows reach.
    bounds: Vec<Vec<(f64, f64)>>,
}

impl Regions {
    /// Recodes some rows with Mondrian.
    pub(super) fn new(rows: &Rows, ours: &[u32], split: Split, k: u64) -> Result<Regions, Failure> {
        let set = rows.frequencies(ours);
        let models: Vec<Box<dyn Model>> = vec![Box::new(KAnonymity::new(k)?)];
        let budget = Budget::unlimited();
        let workload = Workload {
            splits: vec![split],
            targets: vec![Target::Labels(0)],
            ..Workload::default()
        };
        let mut problem = Problem::new(&set, &models, k, &budget);
        problem.workload = Some(&workload);
        let Outcome::Found(found) = Algorithm::Mondrian.run(&problem) else {
            return Err("a group has fewer than k rows".into());
        };
        let Recoding::Partition(tree) = found.recoding else {
            return Err("Mondrian gives a tree of cuts".into());
        };
        let n_codes: Vec<u32> = rows.attributes.iter().map(Attribute::n_codes).collect();
        let mut reached = vec![vec![(u32::MAX, 0); n_codes.len()]; tree.n_classes as usize];
        for &row in ours {
            let class = tree.class_of(|attribute| rows.code(attribute, row)) as usize;
            for (at, (lo, hi)) in reached[class].iter_mut().enumerate() {
                let code = rows.code(at, row);
                (*lo, *hi) = ((*lo).min(code), (*hi).max(code));
            }
        }
        // A class without rows is its whole region.
        let whole = tree.regions(&n_codes);
        let bounds = reached.iter().zip(&whole).map(|(reached, whole)| {
            let region = if reached.iter().any(|(lo, hi)| lo > hi) { whole } else { reached };
            rows.attributes.iter().zip(region).map(|(of, &run)| ends(of, run)).collect()
        });
        Ok(Regions { bounds: bounds.collect(), tree })
    }

    fn of(&self, rows: &Rows, row: u32) -> &[(f64, f64)] {
        let class = self.tree.class_of(|attribute| rows.code(attribute, row));
        &self.bounds[class as usize]
    }

    /// A row as a model sees it: both ends of its region on every attribute.
    pub(super) fn point(&self, rows: &Rows, row: u32) -> impl Iterator<Item = f64> {
        self.of(rows, row).iter().flat_map(|&(lo, hi)| [lo, hi])
    }
}

/// The places of both ends of a run of codes; of the node that holds them, in a hierarchy.
fn ends(attribute: &Attribute, (lo, hi): (u32, u32)) -> (f64, f64) {
    let (lo, hi) = match &attribute.shape {
        Shape::Tree(tree) => {
            let (level, group) = tree.common(lo, hi);
            let node = &tree.groups(level)[group as usize];
            (node.lo, node.hi)
        }
        _ => (lo, hi),
    };
    let place = |code: u32| attribute.dictionary.positions[code as usize];
    (place(lo), place(hi))
}
