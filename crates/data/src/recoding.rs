//! Recodings: what a search found.

use std::collections::BTreeMap;

use crate::{Attribute, Level, Shape};

/// The class of a vector that is not released.
pub const SUPPRESSED: u32 = u32::MAX;

/// Which class each vector of a frequency set is in.
///
/// A global recoding puts all rows of a vector into one class. A local one (relaxed partitioning)
/// may divide them; then `shares` lists every class of such a vector with its number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// By vector; for a divided vector the first of its classes.
    pub class_of: Vec<u32>,
    /// The number of classes, including those without rows.
    pub n_classes: u32,
    /// The shares of the divided vectors, ascending. The rows of a vector's shares add up to its
    /// count.
    pub shares: Vec<VectorShare>,
}

/// The rows of a divided vector that are in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VectorShare {
    /// The vector.
    pub vector: u32,
    /// One of its classes.
    pub class: u32,
    /// Its rows in that class.
    pub n_rows: u32,
}

impl Assignment {
    /// An assignment that divides no vector.
    #[must_use]
    pub fn of_whole_vectors(class_of: Vec<u32>, n_classes: u32) -> Assignment {
        Assignment { class_of, n_classes, shares: Vec::new() }
    }
}

/// Columns that are recoded together, in a recoding that groups rows differently for different
/// columns. The vectors of a group have the same cells on these columns. Every column is in one
/// block; vectors are in the same class if they share the group of every block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The columns.
    pub attributes: Vec<usize>,
    /// By vector, its group.
    pub group_of: Vec<u32>,
    /// The number of groups.
    pub n_groups: u32,
}

/// By class, the nodes of an attribute's hierarchy that have some, but not all, of their children
/// in the class's region. A label of the class must name neither these nodes nor a node above them,
/// since it would cover values of other classes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Divided {
    /// Distinct lists of nodes.
    lists: Vec<Vec<(Level, u32)>>,
    /// By class, its list. Empty if no class has any nodes.
    of_class: Vec<u32>,
}

impl Divided {
    /// The divided nodes of a class.
    #[must_use]
    pub fn of(&self, class: usize) -> &[(Level, u32)] {
        self.of_class.get(class).map_or(&[], |&list| &self.lists[list as usize])
    }

    /// Whether any class has such nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_class.is_empty()
    }
}

impl<'a> FromIterator<&'a [(Level, u32)]> for Divided {
    /// From the nodes of each class.
    fn from_iter<I: IntoIterator<Item = &'a [(Level, u32)]>>(classes: I) -> Divided {
        let mut known: BTreeMap<&[(Level, u32)], u32> = BTreeMap::new();
        let mut divided = Divided::default();
        for nodes in classes {
            let next = u32::try_from(known.len()).expect("no more lists than classes");
            let list = *known.entry(nodes).or_insert_with(|| {
                divided.lists.push(nodes.to_vec());
                next
            });
            divided.of_class.push(list);
        }
        if divided.lists.iter().all(Vec::is_empty) { Divided::default() } else { divided }
    }
}

/// The node of an attribute's hierarchy that was divided last, if any.
type LastNode = Option<(Level, u32)>;

/// Index of a node in its [`PartitionTree`].
pub type NodeId = u32;

/// A multidimensional recoding: a tree of cuts over the domain of the quasi-identifier. Every
/// vector falls into exactly one leaf, even if no row has it, and each leaf is a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionTree {
    /// All nodes; the root is the first, children come after their parent.
    pub nodes: Vec<Node>,
    /// The number of leaves.
    pub n_classes: u32,
}

/// A node of a [`PartitionTree`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A class.
    Leaf {
        /// The class's number.
        class: u32,
    },
    /// A cut perpendicular to one attribute.
    Cut {
        /// The attribute that is cut.
        attribute: usize,
        /// Where the attribute's codes go.
        branches: Branches,
    },
}

/// Where the codes of a cut attribute go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Branches {
    /// Codes up to `at` go to `low`, the others to `high`.
    Binary {
        /// The last code of the lower part.
        at: u32,
        /// Subtree of the codes up to `at`.
        low: NodeId,
        /// Subtree of the others.
        high: NodeId,
    },
    /// The run of codes that ends at each given code goes to the subtree next to it (children of a
    /// hierarchy node; several may share a subtree). The first run is open to the left, the last
    /// one to the right.
    Runs(Vec<(u32, NodeId)>),
}

impl PartitionTree {
    /// A tree without a cut.
    #[must_use]
    pub fn one_class() -> PartitionTree {
        PartitionTree { nodes: vec![Node::Leaf { class: 0 }], n_classes: 1 }
    }

    /// The class of a vector of codes.
    #[must_use]
    pub fn class_of(&self, code: impl Fn(usize) -> u32) -> u32 {
        let mut at: NodeId = 0;
        loop {
            match &self.nodes[at as usize] {
                Node::Leaf { class } => return *class,
                Node::Cut { attribute, branches } => at = branches.follow(code(*attribute)),
            }
        }
    }
}

impl Branches {
    /// Adds `first` to the numbers of the subtrees.
    fn renumber(&mut self, first: NodeId) {
        match self {
            Branches::Binary { low, high, .. } => {
                *low += first;
                *high += first;
            }
            Branches::Runs(runs) => runs.iter_mut().for_each(|(_, node)| *node += first),
        }
    }

    /// The subtrees, each once.
    fn subtrees(&self) -> Vec<NodeId> {
        let mut subtrees = match self {
            Branches::Binary { low, high, .. } => vec![*low, *high],
            Branches::Runs(runs) => runs.iter().map(|(_, node)| *node).collect(),
        };
        subtrees.sort_unstable();
        subtrees.dedup();
        subtrees
    }

    /// The parts of some ascending runs that go to a subtree.
    fn within(&self, region: &[(u32, u32)], subtree: NodeId) -> Vec<(u32, u32)> {
        let ends: Vec<(u32, NodeId)> = match self {
            Branches::Binary { at, low, high } => vec![(*at, *low), (u32::MAX, *high)],
            Branches::Runs(runs) => runs.clone(),
        };
        let mut found: Vec<(u32, u32)> = Vec::new();
        for &(lo, hi) in region {
            let mut start = lo;
            for (place, &(end, node)) in ends.iter().enumerate() {
                let end = if place + 1 == ends.len() { hi } else { end.min(hi) };
                if start > end {
                    continue;
                }
                if node == subtree {
                    match found.last_mut() {
                        Some(last) if last.1 + 1 == start => last.1 = end,
                        _ => found.push((start, end)),
                    }
                }
                start = end.saturating_add(1);
            }
        }
        found
    }

    /// The node of a hierarchy whose children the runs are.
    fn divided_node(&self, attribute: &Attribute) -> Option<(Level, u32)> {
        let (Branches::Runs(runs), Shape::Tree(hierarchy)) = (self, &attribute.shape) else {
            return None;
        };
        let (first, last) = runs.first().zip(runs.last())?;
        // The run for missing values ends beyond the last leaf if the table has no missing values.
        let leaf = |end: u32| end.min(hierarchy.n_leaves() - 1);
        let (first, last) = (leaf(first.0), leaf(last.0));
        Some(hierarchy.common(first, last))
    }

    fn follow(&self, code: u32) -> NodeId {
        match self {
            Branches::Binary { at, low, high } => {
                if code <= *at {
                    *low
                } else {
                    *high
                }
            }
            Branches::Runs(runs) => {
                let run = runs.partition_point(|(last, _)| *last < code);
                runs[run.min(runs.len() - 1)].1
            }
        }
    }
}

impl PartitionTree {
    /// Appends the nodes and classes of another tree. No node of this tree leads there yet. Returns
    /// the number of the appended root.
    ///
    /// # Panics
    ///
    /// If there are 2^32 nodes or more.
    pub fn append(&mut self, other: PartitionTree) -> NodeId {
        let first = NodeId::try_from(self.nodes.len()).expect("fewer nodes than 2^32");
        let first_class = self.n_classes;
        self.nodes.extend(other.nodes.into_iter().map(|mut node| {
            match &mut node {
                Node::Leaf { class } => *class += first_class,
                Node::Cut { branches, .. } => branches.renumber(first),
            }
            node
        }));
        assert!(NodeId::try_from(self.nodes.len()).is_ok(), "fewer nodes than 2^32");
        self.n_classes += other.n_classes;
        first
    }

    /// By attribute, the nodes of its hierarchy that were divided on the way to each class. `start`
    /// has, by attribute, the nodes that were divided before the tree's root.
    #[must_use]
    pub fn divided(
        &self,
        attributes: &[Attribute],
        start: &[Option<(Level, u32)>],
    ) -> Vec<Divided> {
        let is_tree = |at: &usize| matches!(attributes[*at].shape, Shape::Tree(_));
        let trees: Vec<usize> = (0..attributes.len()).filter(is_tree).collect();
        let mut found = vec![Divided::default(); attributes.len()];
        if trees.is_empty() {
            return found;
        }
        // The node that was cut last counts: it is below those cut before.
        let n_classes = self.n_classes as usize;
        let mut last_of: Vec<Vec<LastNode>> = vec![vec![None; n_classes]; trees.len()];
        let first: Vec<LastNode> =
            trees.iter().map(|&at| start.get(at).copied().flatten()).collect();
        let mut open: Vec<(NodeId, Vec<LastNode>)> = vec![(0, first)];
        while let Some((id, last)) = open.pop() {
            match self.nodes.get(id as usize) {
                Some(Node::Leaf { class }) => {
                    for (of_class, last) in last_of.iter_mut().zip(last) {
                        of_class[*class as usize] = last;
                    }
                }
                Some(Node::Cut { attribute, branches }) => {
                    let node = branches.divided_node(&attributes[*attribute]);
                    let mut below = last;
                    if let (Some(_), Ok(at)) = (node, trees.binary_search(attribute)) {
                        below[at] = node;
                    }
                    open.extend(branches.subtrees().into_iter().map(|id| (id, below.clone())));
                }
                None => {}
            }
        }
        for (&at, last) in trees.iter().zip(&last_of) {
            found[at] = last.iter().map(Option::as_slice).collect();
        }
        found
    }

    /// By class, all codes of an attribute with `n_codes` codes that its region covers, as
    /// ascending runs.
    #[must_use]
    pub fn runs(&self, attribute: usize, n_codes: u32) -> Vec<Vec<(u32, u32)>> {
        let mut runs_of = vec![Vec::new(); self.n_classes as usize];
        let mut open = vec![(0, vec![(0, n_codes.max(1) - 1)])];
        while let Some((id, region)) = open.pop() {
            match &self.nodes[id as usize] {
                Node::Leaf { class } => runs_of[*class as usize] = region,
                Node::Cut { attribute: at, branches } => {
                    for subtree in branches.subtrees() {
                        let region = if *at == attribute {
                            branches.within(&region, subtree)
                        } else {
                            region.clone()
                        };
                        open.push((subtree, region));
                    }
                }
            }
        }
        runs_of
    }

    /// By class, the run of codes of each attribute that its region covers. `n_codes` is the number
    /// of codes of each attribute.
    #[must_use]
    pub fn regions(&self, n_codes: &[u32]) -> Vec<Vec<(u32, u32)>> {
        let mut regions = vec![Vec::new(); self.n_classes as usize];
        let whole: Vec<(u32, u32)> = n_codes.iter().map(|&n| (0, n.saturating_sub(1))).collect();
        let mut open: Vec<(NodeId, Vec<(u32, u32)>)> = vec![(0, whole)];
        while let Some((id, region)) = open.pop() {
            let (attribute, branches) = match &self.nodes[id as usize] {
                Node::Leaf { class } => {
                    regions[*class as usize] = region;
                    continue;
                }
                Node::Cut { attribute, branches } => (*attribute, branches),
            };
            let (lo, hi) = region[attribute];
            let runs: Vec<(u32, NodeId)> = match branches {
                Branches::Binary { at, low, high } => vec![(*at, *low), (hi, *high)],
                Branches::Runs(runs) => runs.clone(),
            };
            let mut start = lo;
            let mut parts: Vec<(NodeId, (u32, u32))> = Vec::new();
            for (at, (end, child)) in runs.iter().enumerate() {
                let end = if at + 1 == runs.len() { hi } else { (*end).min(hi) };
                // A run before the region contains none of its codes.
                let run = if end < start { (u32::MAX, 0) } else { (start, end) };
                match parts.iter_mut().find(|(known, _)| known == child) {
                    Some((_, part)) => *part = (part.0.min(run.0), part.1.max(run.1)),
                    None => parts.push((*child, run)),
                }
                start = start.max(end + 1);
            }
            for (child, run) in parts {
                let mut part = region.clone();
                part[attribute] = if run.0 > run.1 { (hi, hi) } else { run };
                open.push((child, part));
            }
        }
        regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dictionary, Hierarchy};

    /// Cuts attribute 0 after code 1, then its high side into runs of attribute 1.
    fn tree() -> PartitionTree {
        let nodes = vec![
            Node::Cut { attribute: 0, branches: Branches::Binary { at: 1, low: 1, high: 2 } },
            Node::Leaf { class: 0 },
            Node::Cut { attribute: 1, branches: Branches::Runs(vec![(1, 3), (2, 4)]) },
            Node::Leaf { class: 1 },
            Node::Leaf { class: 2 },
        ];
        PartitionTree { nodes, n_classes: 3 }
    }

    #[test]
    fn runs_that_share_a_subtree_or_are_outside() {
        let nodes = vec![
            Node::Cut { attribute: 0, branches: Branches::Runs(vec![(1, 1), (2, 2), (5, 1)]) },
            Node::Cut { attribute: 0, branches: Branches::Runs(vec![(0, 3), (1, 4), (9, 5)]) },
            Node::Leaf { class: 0 },
            Node::Leaf { class: 1 },
            Node::Leaf { class: 2 },
            Node::Leaf { class: 3 },
        ];
        let tree = PartitionTree { nodes, n_classes: 4 };
        let regions = tree.regions(&[6]);
        let runs = tree.runs(0, 6);
        for code in 0..6 {
            let class = tree.class_of(|_| code);
            let (lo, hi) = regions[class as usize][0];
            assert!((lo..=hi).contains(&code), "{code}");
            for (other, runs) in (0..).zip(&runs) {
                let is_in = runs.iter().any(|(lo, hi)| (lo..=hi).contains(&&code));
                assert_eq!(is_in, other == class, "{code} {other}");
            }
        }
    }

    #[test]
    fn the_node_of_a_cut_is_known_without_missing_values() {
        let rows = ["a;x;*", "b;x;*", "c;y;*"];
        let rows = rows.map(|row| row.split(';').map(str::to_owned).collect());
        let hierarchy = Hierarchy::from_rows(&rows).expect("sound");
        let dictionary = Dictionary::of_texts(["a", "b", "c"].map(str::to_owned).to_vec(), false);
        let shape = Shape::Tree(hierarchy);
        let attributes = [Attribute { name: "t".to_owned(), dictionary, shape }];
        let divided = |runs: &[(u32, NodeId)]| {
            let branches = Branches::Runs(runs.to_vec());
            let cut = Node::Cut { attribute: 0, branches };
            let nodes = vec![cut, Node::Leaf { class: 0 }, Node::Leaf { class: 1 }];
            let tree = PartitionTree { nodes, n_classes: 2 };
            tree.divided(&attributes, &[])[0].of(1).to_vec()
        };
        assert_eq!(divided(&[(0, 1), (1, 2)]), [(Level(1), 0)]);
        assert_eq!(divided(&[(1, 1), (2, 2), (u32::MAX, 1)]), [(Level(2), 0)]);
    }

    #[test]
    fn every_vector_has_a_class_and_is_in_its_region() {
        let tree = tree();
        let regions = tree.regions(&[4, 5]);
        for a in 0..4 {
            for b in 0..5 {
                let class = tree.class_of(|attribute| [a, b][attribute]);
                let region = &regions[class as usize];
                assert!((region[0].0..=region[0].1).contains(&a), "{a} {b}");
                assert!((region[1].0..=region[1].1).contains(&b), "{a} {b}");
            }
        }
        assert_eq!(regions[2], [(2, 3), (2, 4)]);
    }
}
