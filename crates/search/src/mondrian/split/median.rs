//! The median of the widest attribute that has an allowable cut: the original Mondrian.

use incrowd_privacy::Tally;

use super::Look;
use crate::mondrian::cut::{self, Cut};
use crate::partition::PackedCode;

/// The cut of a region, on the widest attribute that has an allowable one (M3).
pub(super) fn choose<C: PackedCode>(
    look: &Look<'_, '_, C>,
    tally: &mut Tally,
) -> Option<(usize, Cut)> {
    look.by_width().into_iter().find_map(|attribute| {
        let extent = look.extents[attribute];
        let cut = cut::best(look.problem, look.region, attribute, extent, tally);
        cut.map(|cut| (attribute, cut))
    })
}
