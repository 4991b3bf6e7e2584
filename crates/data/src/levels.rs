//! Nodes of the lattice of full-domain generalizations: one level per attribute.

use crate::Level;

/// One level per attribute, in the order of the attributes. Compared lexicographically, which
/// breaks ties between nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Levels(Box<[u8]>);

impl Levels {
    /// The node with these levels.
    #[must_use]
    pub fn new(levels: impl IntoIterator<Item = Level>) -> Levels {
        Levels(levels.into_iter().map(|Level(level)| level).collect())
    }

    /// The number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The level of an attribute.
    #[must_use]
    #[inline]
    pub fn get(&self, attribute: usize) -> Level {
        Level(self.0[attribute])
    }

    /// The levels in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Level> + '_ {
        self.0.iter().map(|&level| Level(level))
    }

    /// The same node with another level of one attribute.
    #[must_use]
    pub fn with(&self, attribute: usize, level: Level) -> Levels {
        let mut levels = self.clone();
        levels.0[attribute] = level.0;
        levels
    }

    /// The sum of the levels: the node's height in the lattice.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.0.iter().map(|&level| u64::from(level)).sum()
    }

    /// Whether this is the other node or a generalization of it: no level is lower.
    #[must_use]
    pub fn generalizes(&self, other: &Levels) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, its)| mine >= its)
    }

    /// The most general node that both generalize.
    #[must_use]
    pub fn meet(&self, other: &Levels) -> Levels {
        Levels(self.0.iter().zip(&other.0).map(|(&mine, &its)| mine.min(its)).collect())
    }

    /// The least general node that generalizes both.
    #[must_use]
    pub fn join(&self, other: &Levels) -> Levels {
        Levels(self.0.iter().zip(&other.0).map(|(&mine, &its)| mine.max(its)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(levels: [u8; 3]) -> Levels {
        Levels::new(levels.map(Level))
    }

    #[test]
    fn meet_and_join_are_the_bounds_of_the_order() {
        let (a, b) = (node([0, 2, 1]), node([1, 0, 1]));
        assert!(!a.generalizes(&b) && !b.generalizes(&a));
        assert_eq!(a.meet(&b), node([0, 0, 1]));
        assert_eq!(a.join(&b), node([1, 2, 1]));
        assert!(a.join(&b).generalizes(&a) && b.generalizes(&a.meet(&b)));
        assert_eq!(a.height(), 3);
        assert!(a < b, "ties are broken in column order");
    }
}
