//! What a release is for, as far as a search can make use of it.

use incrowd_data::Region;

/// How Mondrian chooses among the allowable cuts of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// The median of the attribute on which the region reaches widest.
    Median,
    /// What tells the targets of a model apart best: entropy of labels, squared error of numbers.
    Targets,
    /// What lowers the imprecision of selections most.
    Selection,
    /// What lowers the expected relative error of aggregate queries most.
    Queries,
}

/// What a release is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// How regions are cut: at each, the first of these that has a cut to offer. The median if it
    /// is empty.
    pub splits: Vec<Split>,
    /// What will be predicted.
    pub targets: Vec<Target>,
    /// What will be selected, a rectangle each.
    pub selections: Vec<Region>,
    /// What will be asked.
    pub queries: Vec<WeightedQuery>,
}

/// A column that a model will predict, by its place among the extra columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Its codes are labels.
    Labels(usize),
    /// Its codes stand for numbers, the positions of the extra column; the code behind the last of
    /// them is that of missing cells, which count for nothing.
    Numbers(usize),
}

/// An aggregate of the rows in a region.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedQuery {
    /// Disjoint regions that are asked for together, in the codes of the attributes.
    pub regions: Vec<Region>,
    /// What is added up.
    pub value: QueryValue,
    /// Whether the mean is asked for rather than the sum.
    pub is_mean: bool,
    /// How much the query counts beside the others.
    pub weight: f64,
}

/// What a query adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryValue {
    /// Rows.
    Rows,
    /// The values of an attribute, which are recoded as well.
    Attribute(usize),
    /// The values of an extra column, which are released as they are.
    Extra(usize),
}
