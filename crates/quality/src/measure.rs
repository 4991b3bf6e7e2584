//! The measures by name.

/// What is lost, as the table of measures in `docs/src/report.md` defines it. Lower is better for
/// all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Sum of squared class sizes; a suppressed row costs the number of rows of the table.
    Discernibility,
    /// Rows per class over k. When it is minimised, suppressed rows count as one more class;
    /// otherwise the best release would be an empty one.
    AverageClassSize,
    /// Mean share of its column's range that a cell gives up; 1 for a suppressed row.
    Loss,
    /// Hidden bits, relative to those hidden by releasing nothing.
    Entropy,
    /// Rows outside the majority of their class, and suppressed ones.
    Classification,
    /// Sum of levels.
    Height,
    /// Mean of level over height; 1 for a suppressed row.
    Precision,
}

impl Measure {
    /// Every measure with its name.
    pub const ALL: [(&'static str, Measure); 7] = [
        ("discernibility", Measure::Discernibility),
        ("average-class-size", Measure::AverageClassSize),
        ("loss", Measure::Loss),
        ("entropy", Measure::Entropy),
        ("classification", Measure::Classification),
        ("height", Measure::Height),
        ("precision", Measure::Precision),
    ];
}
