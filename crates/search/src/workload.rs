//! The purpose of a release, as far as a search can use it.

use incrowd_data::Region;

/// How Mondrian chooses among the allowable cuts of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// At the median of the attribute on which the region is widest.
    Median,
    /// Where the cut best separates the targets of a model: by entropy for labels, by squared error
    /// for numbers.
    Targets,
    /// Where the cut lowers the imprecision of selections most.
    Selection,
    /// Where the cut lowers the expected relative error of aggregate queries most.
    Queries,
}

/// The purpose of a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// How regions are cut: by the first of these criteria that offers a cut. At the median if
    /// empty.
    pub splits: Vec<Split>,
    /// What will be predicted.
    pub targets: Vec<Target>,
    /// What will be selected, as rectangles.
    pub selections: Vec<Region>,
    /// Queries that will be asked.
    pub queries: Vec<WeightedQuery>,
}

/// A column that a model will predict, by its index among the extra columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Its codes are labels.
    Labels(usize),
    /// Its codes represent numbers, the positions of the extra column; the code after the last
    /// position is for missing cells, which do not count.
    Numbers(usize),
}

/// An aggregate of the rows in a region.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedQuery {
    /// Disjoint regions whose union is queried, in the codes of the attributes.
    pub regions: Vec<Region>,
    /// What the query adds up.
    pub value: QueryValue,
    /// Whether the query returns the mean rather than the sum.
    pub is_mean: bool,
    /// The weight of the query relative to the others.
    pub weight: f64,
}

/// What a query adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryValue {
    /// The number of rows.
    Rows,
    /// The values of an attribute, which are recoded as well.
    Attribute(usize),
    /// The values of an extra column, which are released as they are.
    Extra(usize),
}
