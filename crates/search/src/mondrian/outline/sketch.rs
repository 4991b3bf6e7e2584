//! The cuts made so far, and the regions that points are in.

use incrowd_data::{Attribute, Codes, Level, Node, NodeId, PartitionTree};

use super::Chunk;
use crate::mondrian::cut::Cut;

/// A tree of cuts whose leaves are regions.
#[derive(Debug)]
pub(super) struct Sketch {
    nodes: Vec<Place>,
}

#[derive(Debug)]
enum Place {
    /// A region, by its number.
    Region(usize),
    /// A cut, and a node for each of its parts.
    Cut { attribute: usize, cut: Cut, parts: Vec<usize> },
}

/// Points of a chunk on their way to regions.
#[derive(Clone, Copy)]
struct Sifting<'a> {
    chunk: &'a Chunk<'a>,
    /// By node, whether it leads to a wanted region.
    leads: &'a [bool],
}

impl Sketch {
    /// All points in region 0.
    pub(super) fn new() -> Sketch {
        Sketch { nodes: vec![Place::Region(0)] }
    }

    /// Cuts the region of a node; its parts are numbered from `first` on. Returns their nodes.
    pub(super) fn cut(
        &mut self,
        node: usize,
        attribute: usize,
        cut: Cut,
        first: usize,
    ) -> Vec<usize> {
        let start = self.nodes.len();
        let parts: Vec<usize> = (start..start + cut.n_parts()).collect();
        self.nodes.extend((first..).take(parts.len()).map(Place::Region));
        self.nodes[node] = Place::Cut { attribute, cut, parts: parts.clone() };
        parts
    }

    /// The regions in depth-first order.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            match &self.nodes[node] {
                Place::Region(region) => found.push(*region),
                Place::Cut { parts, .. } => open.extend(parts.iter().rev()),
            }
        }
        found
    }

    /// By region in depth-first order, and by attribute: the node of the attribute's hierarchy that
    /// was divided last.
    pub(super) fn divided(&self, attributes: &[Attribute]) -> Vec<Vec<Option<(Level, u32)>>> {
        let mut found = Vec::new();
        let mut open = vec![(0, vec![None; attributes.len()])];
        while let Some((node, mut divided)) = open.pop() {
            match &self.nodes[node] {
                Place::Region(_) => found.push(divided),
                Place::Cut { attribute, cut, parts } => {
                    if let Some(node) = cut.divided_node(&attributes[*attribute]) {
                        divided[*attribute] = Some(node);
                    }
                    open.extend(parts.iter().rev().map(|&part| (part, divided.clone())));
                }
            }
        }
        found
    }

    /// By node, whether it leads to a wanted region.
    pub(super) fn leading_to(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut leads = vec![false; self.nodes.len()];
        // Parts come after their node.
        for (node, place) in self.nodes.iter().enumerate().rev() {
            leads[node] = match place {
                Place::Region(region) => is_wanted(*region),
                Place::Cut { parts, .. } => parts.iter().any(|&part| leads[part]),
            };
        }
        leads
    }

    /// Calls a function with every wanted region that has points of the chunk, and with these
    /// points.
    pub(super) fn sift(&self, chunk: &Chunk, leads: &[bool], call: &mut dyn FnMut(usize, &[u32])) {
        let mut points: Vec<u32> = (0..).take(chunk.len).collect();
        let mut scratch = vec![0; chunk.len];
        self.sift_node(0, Sifting { chunk, leads }, &mut points, &mut scratch, call);
    }

    fn sift_node(
        &self,
        node: usize,
        sifting: Sifting,
        points: &mut [u32],
        scratch: &mut [u32],
        call: &mut dyn FnMut(usize, &[u32]),
    ) {
        if points.is_empty() || !sifting.leads[node] {
            return;
        }
        let (attribute, cut, parts) = match &self.nodes[node] {
            Place::Region(region) => return call(*region, points),
            Place::Cut { attribute, cut, parts } => (*attribute, cut, parts),
        };
        let sizes = divide(cut, &sifting.chunk.vectors[attribute], points, scratch);
        let (mut divided, mut room) = (scratch, points);
        for (&part, size) in parts.iter().zip(sizes) {
            let (of_part, rest) = divided.split_at_mut(size);
            let (of_room, more) = room.split_at_mut(size);
            self.sift_node(part, sifting, of_part, of_room, call);
            (divided, room) = (rest, more);
        }
    }

    /// The whole tree, given the trees of the regions in depth-first order.
    pub(super) fn graft(
        &self,
        mut part: impl FnMut(usize) -> Option<PartitionTree>,
    ) -> PartitionTree {
        let mut tree = PartitionTree { nodes: Vec::new(), n_classes: 0 };
        self.graft_node(0, &mut tree, &mut part);
        tree
    }

    fn graft_node(
        &self,
        node: usize,
        tree: &mut PartitionTree,
        part: &mut dyn FnMut(usize) -> Option<PartitionTree>,
    ) -> NodeId {
        let id = NodeId::try_from(tree.nodes.len()).expect("fewer nodes than 2^32");
        match &self.nodes[node] {
            Place::Region(region) => {
                tree.append(part(*region).unwrap_or_else(PartitionTree::one_class));
            }
            Place::Cut { attribute, cut, parts } => {
                tree.nodes.push(Node::Leaf { class: 0 });
                let parts: Vec<NodeId> =
                    parts.iter().map(|&at| self.graft_node(at, tree, part)).collect();
                tree.nodes[id as usize] = cut.node(*attribute, &parts);
            }
        }
        id
    }
}

/// Orders points by the parts of a cut; returns the number of points of each part.
fn divide(cut: &Cut, codes: &Codes, points: &[u32], to: &mut [u32]) -> Vec<usize> {
    match codes {
        Codes::U8(codes) => divide_codes(cut, codes, points, to),
        Codes::U16(codes) => divide_codes(cut, codes, points, to),
        Codes::U32(codes) => divide_codes(cut, codes, points, to),
    }
}

fn divide_codes<C: Copy + Into<u32>>(
    cut: &Cut,
    codes: &[C],
    points: &[u32],
    to: &mut [u32],
) -> Vec<usize> {
    let (ends, part_of) = match cut {
        Cut::At(at) => {
            // Fills the low part from the front and the high part from the back, without branches.
            let (mut low, mut high) = (0, points.len());
            for &point in points {
                let is_low = codes[point as usize].into() <= *at;
                to[low] = point;
                to[high - 1] = point;
                low += usize::from(is_low);
                high -= usize::from(!is_low);
            }
            return vec![low, points.len() - low];
        }
        Cut::Children { ends, part_of } => (ends, part_of),
    };
    let part = |point: u32| {
        let code: u32 = codes[point as usize].into();
        // As in the tree, the last run is open to the right.
        part_of[ends.partition_point(|&end| end < code).min(ends.len() - 1)]
    };
    let mut sizes = vec![0; cut.n_parts()];
    for &point in points {
        sizes[part(point)] += 1;
    }
    let mut next = crate::partition::starts(&sizes);
    for &point in points {
        let at = &mut next[part(point)];
        to[*at] = point;
        *at += 1;
    }
    sizes
}
