//! What is published of classes: labels, in an order that they alone decide, beside the other
//! columns.

mod inference;

use hashbrown::HashSet;
use incrowd_data::{
    Attribute, Block, Codes, Collapsed, FrequencySet, Kind, Labels, RecodedColumn, SUPPRESSED,
    Shape, VectorShare, collapse,
};
use incrowd_engine::{KeptColumn, Order, Published};
use incrowd_release::{
    Classes, LabelForm, RankedLabels, group_of_class, labels, ranks_by_cell, ranks_of_classes,
};
use incrowd_search::{Found, Recoding};

use crate::flow::values::DistinctValues;
use crate::plan::{Plan, PlannedColumn};
use crate::spec::Role;
use crate::spec::error::{JobError, Problem};

/// The class of each vector, and the shares of classes in divided vectors.
#[derive(Clone, Copy)]
pub(crate) struct Assigned<'a> {
    pub(crate) class_of: &'a [u32],
    pub(crate) shares: &'a [VectorShare],
    /// The groups of a recoding by blocks of columns; empty for others.
    pub(crate) blocks: &'a [Block],
    /// Whether the ends of a range are values of its class (or group), and not of all classes that
    /// share it.
    pub(crate) is_tight: bool,
    /// Whether they may be, for all that a reader knows: those of a saved recoding are, if its rows
    /// come again.
    pub(crate) may_be_tight: bool,
}

impl<'a> Assigned<'a> {
    /// What a search found.
    pub(crate) fn of(found: &'a Found) -> Assigned<'a> {
        Assigned {
            class_of: &found.assignment.class_of,
            shares: &found.assignment.shares,
            blocks: match &found.recoding {
                Recoding::Blocks(blocks) => blocks,
                _ => &[],
            },
            is_tight: !matches!(found.recoding, Recoding::Intervals(_) | Recoding::FullDomain(_)),
            may_be_tight: false,
        }
    }

    fn block_of(&self, attribute: usize) -> Option<&'a Block> {
        self.blocks.iter().find(|block| block.attributes.contains(&attribute))
    }

    /// By vector, whether its rows are in several classes; empty if none are.
    pub(crate) fn divided(&self) -> Vec<bool> {
        if self.shares.is_empty() {
            return Vec::new();
        }
        let mut divided = vec![false; self.class_of.len()];
        self.shares.iter().for_each(|share| divided[share.vector as usize] = true);
        divided
    }
}

/// Vectors and the classes that they are in.
pub(crate) struct Labelling<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) set: &'a FrequencySet,
    /// The extra column that k counts, if the job declares an entity.
    pub(crate) entity: Option<usize>,
    pub(crate) classes: &'a Classes,
    pub(crate) assigned: Assigned<'a>,
}

impl Labelling<'_> {
    /// By attribute, the mean of each class, where the labels tell it.
    pub(crate) fn all_means(&self) -> Vec<Option<Vec<Option<f64>>>> {
        let attributes = self.set.attributes.iter().enumerate();
        let means = |(at, attribute)| tells_means(self.plan, attribute).then(|| self.means(at));
        attributes.map(means).collect()
    }

    /// The mean of each class on an attribute.
    fn means(&self, attribute: usize) -> Vec<Option<f64>> {
        let n_classes = self.classes.recoded.sizes.len();
        let Some(block) = self.assigned.block_of(attribute) else {
            let number = |class: u32| self.classes.number_of[class as usize];
            let placed = self.placed().map(|(vector, class, rows)| (vector, number(class), rows));
            return self.means_of(attribute, placed, n_classes);
        };
        // A class of a recoding by blocks may be one row: the mean is that of its group.
        let counts = self.set.counts.iter().enumerate();
        let placed = counts.map(|(vector, &rows)| (vector, block.group_of[vector], rows));
        let of_group = self.means_of(attribute, placed, block.n_groups as usize);
        let mut of_class = vec![None; n_classes];
        let numbers = &self.classes.number_of;
        let groups = group_of_class(self.assigned.class_of, numbers.len(), block);
        for (&group, &number) in groups.iter().zip(numbers) {
            if number != SUPPRESSED {
                of_class[number as usize] = of_group[group as usize];
            }
        }
        of_class
    }

    /// The mean of each group of rows on an attribute, over the rows that have a value: in the
    /// order of the values, so that rounding does not depend on the order of the rows, and never
    /// outside them. `placed` has vectors with their group and rows. A mean over fewer than k rows
    /// (or k entities, where the job declares one) is withheld: it would say too much of them.
    fn means_of(
        &self,
        attribute: usize,
        placed: impl Iterator<Item = (usize, u32, u32)>,
        n_groups: usize,
    ) -> Vec<Option<f64>> {
        let (of, codes) = (&self.set.attributes[attribute], &self.set.vectors[attribute]);
        let positions = &of.dictionary.positions;
        // Missing is the last code, without a position.
        let placed: Vec<(usize, u32, u32)> = placed
            .filter(|(vector, group, rows)| {
                let has_value = (codes.get(*vector) as usize) < positions.len();
                *group != SUPPRESSED && *rows > 0 && has_value
            })
            .collect();
        let n_counted = self.counted(&placed, n_groups);
        let mut cells: Vec<(u32, u32, u32)> =
            placed.iter().map(|&(vector, group, rows)| (group, codes.get(vector), rows)).collect();
        cells.sort_unstable();
        // However the rows are grouped into vectors.
        cells.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if is_same { next.2 } else { 0 };
            is_same
        });
        let fewest = self.plan.least_rows_of(&of.name);
        let mut means = vec![None; n_groups];
        for group in cells.chunk_by(|a, b| a.0 == b.0) {
            let (first, last) = (&group[0], &group[group.len() - 1]);
            if n_counted[first.0 as usize] < fewest {
                continue;
            }
            let at = |cell: &(u32, u32, u32)| positions[cell.1 as usize];
            let (lowest, greatest) = (at(first), at(last));
            let n: f64 = group.iter().map(|cell| f64::from(cell.2)).sum();
            let above: f64 =
                group.iter().map(|cell| (at(cell) - lowest) / n * f64::from(cell.2)).sum();
            means[first.0 as usize] = Some((lowest + above).clamp(lowest, greatest));
        }
        means
    }

    /// By group, what k counts of the rows in it: distinct entities, or rows if none is declared.
    fn counted(&self, placed: &[(usize, u32, u32)], n_groups: usize) -> Vec<u64> {
        let mut counted = vec![0; n_groups];
        if let Some(entity) = self.entity {
            let codes = &self.set.extras[entity].codes;
            let mut entities: Vec<(u32, u32)> =
                placed.iter().map(|&(vector, group, _)| (group, codes.get(vector))).collect();
            entities.sort_unstable();
            entities.dedup();
            for (group, _) in entities {
                counted[group as usize] += 1;
            }
        } else {
            for &(_, group, rows) in placed {
                counted[group as usize] += u64::from(rows);
            }
        }
        counted
    }

    /// Vector, class and rows of everything that is released.
    fn placed(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        let divided = self.assigned.divided();
        let whole = self.assigned.class_of.iter().zip(&self.set.counts).enumerate();
        let whole = whole
            .filter(move |(vector, _)| !divided.get(*vector).copied().unwrap_or(false))
            .map(|(vector, (&class, &rows))| (vector, class, rows));
        let shares = self.assigned.shares.iter();
        let shares = shares.map(|share| (share.vector as usize, share.class, share.n_rows));
        whole.chain(shares).filter(|(_, class, rows)| *class != SUPPRESSED && *rows > 0)
    }
}

/// Whether the labels of an attribute tell means.
pub(crate) fn tells_means(plan: &Plan, attribute: &Attribute) -> bool {
    matches!(plan.labels, LabelForm::Mean | LabelForm::RangeMean)
        && matches!(attribute.shape, Shape::Numeric)
        && !matches!(attribute.dictionary.kind, Kind::Date | Kind::Timestamp)
}

/// The labels of every attribute, whose classes have these means.
pub(crate) fn label_columns(
    plan: &Plan,
    attributes: &[Attribute],
    classes: &Classes,
    means: &[Option<Vec<Option<f64>>>],
) -> Vec<Vec<Labels>> {
    let columns = attributes.iter().zip(&classes.recoded.columns).zip(means);
    let of_column = |((attribute, column), means): ((&Attribute, _), &Option<Vec<_>>)| {
        let mut of_column = labels(attribute, column, plan.labels, means.as_deref());
        if plan.stars_suppressed {
            of_column.iter_mut().for_each(add_star);
        }
        of_column
    };
    columns.map(of_column).collect()
}

/// How many different cells an attribute has in a release: what its labels say, whatever codes they
/// stand for. `star` says whether rows are released whose cells are `*` throughout.
pub(crate) fn n_cells(plan: &Plan, of_attribute: &[Labels], star: bool) -> usize {
    let columns = cell_columns(plan, of_attribute);
    let Some(first) = columns.first() else { return 0 };
    let last = columns.last().unwrap_or(first);
    let n_classes = first.of_class.len() - usize::from(plan.stars_suppressed && !star);
    let numbers: HashSet<(u32, u32)> =
        first.of_class.iter().copied().zip(last.of_class.iter().copied()).take(n_classes).collect();
    let text = |labels: &'_ Labels, at: u32| labels.texts[at as usize].clone();
    let texts: HashSet<_> =
        numbers.into_iter().map(|(a, b)| (text(first, a), text(last, b))).collect();
    texts.len()
}

/// The columns of an attribute's labels that are its cells: a mean beside a range is none.
fn cell_columns<'a, T>(plan: &Plan, of_attribute: &'a [T]) -> &'a [T] {
    let n = if plan.labels == LabelForm::RangeMean { 1 } else { of_attribute.len() };
    &of_attribute[..n.min(of_attribute.len())]
}

/// What is published of many classes, which are put into their order by it but whose labels are
/// made some at a time.
pub(crate) struct Ordering<'a> {
    plan: &'a Plan,
    pub(crate) attributes: &'a [Attribute],
    classes: &'a Classes,
    means: &'a [Option<Vec<Option<f64>>>],
    /// By attribute, the columns of its labels without a label.
    pub(crate) columns: Vec<Vec<Labels>>,
    /// By place, a class that has it; the number behind the last class is that of starred rows.
    class_at: Vec<u32>,
    /// By class, its place; the last one is that of starred rows.
    pub(crate) place_of: Vec<u32>,
    /// By attribute, its different cells in the release.
    pub(crate) n_cells: Vec<usize>,
}

impl<'a> Ordering<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        attributes: &'a [Attribute],
        classes: &'a Classes,
        means: &'a [Option<Vec<Option<f64>>>],
    ) -> Ordering<'a> {
        let (mut columns, mut ranked, mut n_cells_of) = (Vec::new(), Vec::new(), Vec::new());
        let star = classes.recoded.n_suppressed > 0;
        // One attribute after another: the labels of all classes may be much.
        for (at, attribute) in attributes.iter().enumerate() {
            let column = &classes.recoded.columns[at];
            if means[at].is_none() {
                let found = ranks_by_cell(attribute, column, plan.labels, plan.stars_suppressed);
                let n_classes =
                    classes.recoded.sizes.len() + usize::from(plan.stars_suppressed && star);
                let of_cells = cell_columns(plan, &found);
                let ends = of_cells.first().zip(of_cells.last());
                let of_class =
                    |class: usize| ends.map(|(a, b)| (a.ranks.get(class), b.ranks.get(class)));
                n_cells_of.push((0..n_classes).map(of_class).collect::<HashSet<_>>().len());
                let mut of_column = Vec::new();
                for RankedLabels { labels, ranks, n_ranks } in found {
                    of_column.push(labels);
                    ranked.push((ranks, n_ranks));
                }
                columns.push(of_column);
                continue;
            }
            let mut of_column = labels(attribute, column, plan.labels, means[at].as_deref());
            if plan.stars_suppressed {
                of_column.iter_mut().for_each(add_star);
            }
            n_cells_of.push(n_cells(plan, &of_column, star));
            ranked.extend(of_column.iter().map(ranks_of_classes));
            let without =
                |labels: Labels| Labels { texts: Vec::new(), of_class: Vec::new(), ..labels };
            columns.push(of_column.into_iter().map(without).collect());
        }
        let n_classes = classes.recoded.sizes.len() + usize::from(plan.stars_suppressed);
        let ranked: Vec<(&Codes, u32)> = ranked.iter().map(|(codes, n)| (codes, *n)).collect();
        let Collapsed { representatives, vector_of, .. } = collapse(&ranked, n_classes);
        let (class_at, place_of) = (representatives, vector_of);
        let n_cells = n_cells_of;
        Ordering { plan, attributes, classes, means, columns, class_at, place_of, n_cells }
    }

    /// The labels of the classes at some places, numbered from the first one.
    pub(crate) fn labels_at(&self, places: std::ops::Range<usize>) -> Vec<Vec<Labels>> {
        let class_at = &self.class_at[places];
        let n_classes = u32::try_from(self.classes.recoded.sizes.len()).expect("32 bits");
        let is_star = |class: &&u32| **class == n_classes;
        let of_attribute = |at: usize| {
            let column = &self.classes.recoded.columns[at];
            let mut known: Vec<u32> = class_at
                .iter()
                .filter(|class| !is_star(class))
                .map(|&class| column.of_class[class as usize])
                .collect();
            let of_class = known.clone();
            known.sort_unstable();
            known.dedup();
            let place = |id: &u32| known.binary_search(id).expect("it was collected");
            let small = |place: usize| u32::try_from(place).expect("fewer cells than classes");
            let column = RecodedColumn {
                cells: known.iter().map(|&id| column.cells[id as usize].clone()).collect(),
                of_class: of_class.iter().map(|id| small(place(id))).collect(),
            };
            let means: Option<Vec<Option<f64>>> = self.means[at].as_ref().map(|means| {
                let classes = class_at.iter().filter(|class| !is_star(class));
                classes.map(|&class| means[class as usize]).collect()
            });
            let of_column =
                labels(&self.attributes[at], &column, self.plan.labels, means.as_deref());
            let whole = &self.columns[at];
            of_column
                .into_iter()
                .zip(whole)
                .map(|(labels, whole)| {
                    self.with_star(Labels { kind: whole.kind, ..labels }, class_at)
                })
                .collect()
        };
        (0..self.attributes.len()).map(of_attribute).collect()
    }

    /// Starred rows, where they are, have a label of their own.
    fn with_star(&self, mut labels: Labels, class_at: &[u32]) -> Labels {
        let n_classes = u32::try_from(self.classes.recoded.sizes.len()).expect("32 bits");
        if let Some(at) = class_at.iter().position(|&class| class == n_classes) {
            let star = u32::try_from(labels.texts.len()).expect("fewer labels than rows");
            labels.texts.push(Some("*".to_owned()));
            labels.of_class.insert(at, star);
        }
        labels
    }
}

/// The columns of a release.
pub(crate) fn published<'a>(
    plan: &'a Plan,
    attributes: &'a [Attribute],
    label_columns: &'a [Vec<Labels>],
    known: &'a dyn DistinctValues,
    kept: &[KeptColumn],
) -> Vec<Published<'a>> {
    let mut published = Vec::new();
    let (mut quasi, mut attributes) = (label_columns.iter(), attributes.iter());
    for column in &plan.columns {
        match column.role {
            Some(Role::Quasi) => {
                let labels = quasi.next().expect("one entry a quasi-identifier column");
                let attribute = attributes.next().expect("one a quasi-identifier column");
                published.extend(labels.iter().map(|labels| Published::Labels {
                    labels,
                    dictionary: &attribute.dictionary,
                    column: &column.source,
                }));
            }
            Some(Role::Sensitive | Role::Insensitive) => {
                let position = kept.iter().position(|kept| kept.name == column.name);
                published.push(position.map_or_else(
                    || {
                        let values = known.values(&column.name).expect("it was read with codes");
                        let ranked = values.rank(Order::Natural(column.kind));
                        let kind = ranked.map_or(Kind::Text, |ranked| ranked.dictionary.kind);
                        Published::Coded { values, kind }
                    },
                    Published::Kept,
                ));
            }
            Some(Role::Identifier) | None => {}
        }
    }
    published
}

/// By column of the plan, what the values of a sensitive column are in the table: a release in text
/// does not say it, and the models depend on it.
pub(crate) fn kinds_of(plan: &Plan, known: &dyn DistinctValues) -> Vec<Option<Kind>> {
    let kind = |column: &PlannedColumn| {
        let is_sensitive = column.role == Some(Role::Sensitive);
        let values = is_sensitive.then(|| known.values(&column.name)).flatten()?;
        let is_listed = column.spec.order.is_some() || column.spec.hierarchy.is_some();
        // What a text file holds, its values say: those of suppressed rows must not.
        let said = values.kind.filter(|&kind| values.natural_kind() == kind);
        column.kind.or(said).filter(|_| !is_listed)
    };
    plan.columns.iter().map(kind).collect()
}

/// By column of the plan, the columns of the release that stand for it.
pub(crate) fn released_as(plan: &Plan, label_columns: &[Vec<Labels>]) -> Vec<Vec<String>> {
    let mut quasi = label_columns.iter();
    let names = |column: &PlannedColumn| match column.role {
        Some(Role::Quasi) => {
            let labels = quasi.next().expect("one entry a quasi-identifier column");
            labels.iter().map(|labels| labels.name.clone()).collect()
        }
        Some(Role::Sensitive | Role::Insensitive) => vec![column.name.clone()],
        Some(Role::Identifier) | None => Vec::new(),
    };
    plan.columns.iter().map(names).collect()
}

/// Refuses a release in which a column made for labels has the name of another one.
pub(crate) fn refuse_equal_names(
    published: &[Published],
    kept: &[KeptColumn],
) -> Result<(), JobError> {
    let names: Vec<&str> = published.iter().map(|column| column.name(kept)).collect();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Problem::new(format!("the release would have two columns named `{name}`"))
                .help("rename the column, or choose other labels")
                .into());
        }
    }
    Ok(())
}

/// One more class, of suppressed rows.
fn add_star(labels: &mut Labels) {
    labels.kind = Kind::Text;
    labels.texts.push(Some("*".to_owned()));
    labels.of_class.push(u32::try_from(labels.texts.len() - 1).expect("fewer labels than rows"));
}
