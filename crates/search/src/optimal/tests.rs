use super::pairs::Pairs;
use crate::full_domain::tests::every_problem;

/// Pairs of attributes rule out no feasible node of a region.
#[test]
fn pairs_rule_out_no_feasible_node() {
    every_problem(40, |judge, nodes| {
        let pairs = Pairs::new(judge, &judge.counter.scan(judge.lattice.low()));
        let limit = judge.problem.limit;
        for (node, _) in nodes.iter().filter(|(_, verdict)| verdict.is_feasible) {
            for (high, _) in nodes.iter().filter(|(high, _)| high.generalizes(node)) {
                for (low, _) in nodes.iter().filter(|(low, _)| node.generalizes(low)) {
                    let tight = pairs.tighten(low, high, limit);
                    let is_left = tight.is_some_and(|tight| node.generalizes(&tight));
                    assert!(is_left, "{low:?} {node:?} {high:?} {limit}");
                }
            }
        }
    });
}
