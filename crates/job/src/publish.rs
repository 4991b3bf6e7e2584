//! From classes to published files: write, verify from the written bytes, publish all or nothing.

use std::path::{Path, PathBuf};

use incrowd_data::{Block, Codes, Collapsed, FrequencySet, Labels, SUPPRESSED, Shape, collapse};
use incrowd_engine::{
    Engine, EngineError, Format, Published, Rows, Source, Staged, Table, order_within, stage_bytes,
    write,
};
use incrowd_release::{Classes, LabelForm, group_of_class, labels};
use rayon::prelude::*;

use crate::bounds::Bounds;
use crate::coding::raw_column;
use crate::error::{JobError, Problem};
use crate::measure::{Entities, Measured, Subject, measure};
use crate::plan::{Plan, Role};
use crate::report::Timings;
use crate::run::{Run, Stage, Stopwatch};

/// The class of each row, and of the parts of divided vectors.
pub(crate) struct Assigned<'a> {
    pub(crate) class_of: &'a [u32],
    pub(crate) parts: &'a [(u32, u32, u32)],
    /// The groups of a recoding by blocks of columns; empty for others.
    pub(crate) blocks: &'a [Block],
    /// By row, its vector.
    pub(crate) vector_of: &'a [u32],
}

impl<'a> Assigned<'a> {
    fn block_of(&self, attribute: usize) -> Option<&'a Block> {
        self.blocks.iter().find(|block| block.attributes.contains(&attribute))
    }
}

/// A release that is about to be written.
pub(crate) struct Release<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) table: &'a Table,
    pub(crate) set: &'a FrequencySet,
    pub(crate) classes: &'a Classes,
    pub(crate) assigned: Assigned<'a>,
}

/// A release that was written and measured, and waits to be published.
pub(crate) struct Written {
    pub(crate) staged: Staged,
    pub(crate) measured: Measured,
    pub(crate) starred: Starred,
}

/// Suppressed rows that are released as `*`: a class for the models, but not one of the release.
#[derive(Clone, Copy, Default)]
pub(crate) struct Starred {
    pub(crate) n_rows: u64,
    /// Those outside the majority of the target.
    pub(crate) n_minority: u64,
}

/// A release that was written but not yet read back.
pub(crate) struct Unverified {
    staged: Staged,
    released_as: Vec<Vec<String>>,
    entity: Option<Entities>,
    n_rows: u64,
    starred: Starred,
}

impl Unverified {
    /// Measures what was written, from its bytes.
    pub(crate) fn verify(
        self,
        engine: &Engine,
        run: &Run,
        plan: &Plan,
        bounds: &Bounds,
        timings: &mut Timings,
    ) -> Result<Written, JobError> {
        let mut clock = Stopwatch::start();
        run.enter(Stage::Verify);
        let Unverified { staged, released_as, entity, n_rows, starred } = self;
        let subject = Subject { plan, released_as, entity };
        let handle = staged.handle()?;
        // The disk catches up while the bytes are read back.
        let (measured, flushed) = std::thread::scope(|scope| {
            let flusher = scope.spawn(move || handle.sync_all());
            let measured = Source::open(engine, &staged.path().to_string_lossy())
                .map_err(JobError::from)
                .and_then(|source| measure(engine, &source, &subject, bounds));
            (measured, flusher.join().expect("flushing does not panic"))
        });
        flushed.map_err(|source| staged.not_flushed(source))?;
        let measured = measured?;
        assert_eq!(measured.n_rows, n_rows, "every row that was written is read back");
        timings.verify += clock.lap();
        run.go_on()?;
        Ok(Written { staged, measured, starred })
    }
}

/// Refuses an output that cannot or must not be written, before any work is done.
pub(crate) fn check_outputs(
    spec: &crate::spec::JobSpec,
    source: &Source,
    force: bool,
) -> Result<(PathBuf, Format), JobError> {
    let output = spec.output.as_deref().ok_or_else(|| {
        Problem::new("the job has no output").help("say where the release goes: -o release.csv")
    })?;
    let output = PathBuf::from(output);
    let format = Format::of_output(&output)?;
    let mut problems = Vec::new();
    let more = [&spec.report, &spec.recoding];
    let all: Vec<&Path> = std::iter::once(output.as_path())
        .chain(more.into_iter().flatten().map(Path::new))
        .collect();
    for (at, path) in all.iter().enumerate() {
        let name = path.display();
        if source.reads(path) {
            problems.push(Problem::new(format!("`{name}` is the input; it is never overwritten")));
        } else {
            problems.extend(output_problem(path, force));
        }
        if spec.run.resume.as_deref().map(Path::new) == Some(path) {
            problems.push(
                Problem::new(format!("`{name}` is named both as an output and with --resume"))
                    .help("keep the search in a file of its own"),
            );
        }
        if all[..at].contains(path) {
            problems.push(Problem::new(format!("`{name}` is named twice as an output")));
        }
    }
    if let Some(resume) = spec.run.resume.as_deref().map(Path::new) {
        let folder = resume.parent().filter(|folder| !folder.as_os_str().is_empty());
        if source.reads(resume) {
            let name = resume.display();
            problems.push(Problem::new(format!("`{name}` is the input; it is never overwritten")));
        } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            problems.push(
                Problem::new(format!("the folder `{}` does not exist", folder.display()))
                    .help("create it first"),
            );
        }
    }
    if problems.is_empty() { Ok((output, format)) } else { Err(JobError::Request(problems)) }
}

impl Release<'_> {
    /// Writes the release into a staged file.
    pub(crate) fn write(
        &self,
        engine: &Engine,
        run: &Run,
        output: &Path,
        format: Format,
        timings: &mut Timings,
    ) -> Result<Unverified, JobError> {
        let mut clock = Stopwatch::start();
        let mut label_columns = self.label_columns();
        let place_of = order_by_labels(&mut label_columns);
        let published = self.published(&label_columns);
        refuse_equal_names(&published, &self.table.kept)?;
        let rows = self.rows(engine, &published, &place_of)?;
        timings.recode += clock.lap();
        run.enter(Stage::Write);
        let staged = Staged::new(output)?;
        write(engine, &published, &self.table.kept, &rows, &staged, format)?;
        timings.write += clock.lap();
        Ok(Unverified {
            staged,
            released_as: self.released_as(&label_columns),
            entity: self.entity_in(&rows),
            n_rows: rows.order.len() as u64,
            starred: self.starred(),
        })
    }

    fn starred(&self) -> Starred {
        if !self.plan.stars_suppressed {
            return Starred::default();
        }
        let n_rows = self.classes.recoded.n_suppressed;
        let target = self.plan.target().map(|at| self.plan.columns[at].name.as_str());
        let raw = target.and_then(|name| self.table.column(name));
        let n_minority = raw.map_or(0, |raw| {
            let mut rows_of = vec![0u64; raw.values.n_codes() as usize];
            for (row, &vector) in self.assigned.vector_of.iter().enumerate() {
                if self.assigned.class_of[vector as usize] == SUPPRESSED {
                    rows_of[raw.codes.get(row) as usize] += 1;
                }
            }
            n_rows - rows_of.into_iter().max().unwrap_or(0)
        });
        Starred { n_rows, n_minority }
    }

    fn label_columns(&self) -> Vec<Vec<Labels>> {
        let plan = self.plan;
        let mut columns = Vec::new();
        for (at, attribute) in self.set.attributes.iter().enumerate() {
            let wants_means = matches!(plan.labels, LabelForm::Mean | LabelForm::RangeMean);
            let is_number = matches!(attribute.shape, Shape::Numeric)
                && !matches!(
                    attribute.dictionary.kind,
                    incrowd_data::Kind::Date | incrowd_data::Kind::Timestamp
                );
            let means = (wants_means && is_number).then(|| self.means(at));
            let column = &self.classes.recoded.columns[at];
            let mut of_column = labels(attribute, column, plan.labels, means.as_deref());
            if plan.stars_suppressed {
                of_column.iter_mut().for_each(add_star);
            }
            columns.push(of_column);
        }
        columns
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

    /// The mean of each group of rows on an attribute, over the rows that have a value: in the order of the
    /// values, so that rounding does not depend on the order of the rows, and never outside them. `placed`
    /// has vectors with their group and rows. Where values are missing and fewer rows than k have one, there
    /// is no mean: it would say too much of them.
    fn means_of(
        &self,
        attribute: usize,
        placed: impl Iterator<Item = (usize, u32, u32)>,
        n_groups: usize,
    ) -> Vec<Option<f64>> {
        let (of, codes) = (&self.set.attributes[attribute], &self.set.vectors[attribute]);
        let positions = &of.dictionary.positions;
        let mut cells: Vec<(u32, u32, u32)> = placed
            .filter(|(_, group, _)| *group != SUPPRESSED)
            .map(|(vector, group, rows)| (group, codes.get(vector), rows))
            .collect();
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
            // Missing is the last code, without a position.
            let has_value = |cell: &&(u32, u32, u32)| (cell.1 as usize) < positions.len();
            let valued = &group[..group.iter().take_while(has_value).count()];
            let n_valued: u64 = valued.iter().map(|cell| u64::from(cell.2)).sum();
            let (Some(first), Some(last)) = (valued.first(), valued.last()) else { continue };
            if valued.len() < group.len() && n_valued < fewest {
                continue;
            }
            let at = |cell: &(u32, u32, u32)| positions[cell.1 as usize];
            let (lowest, greatest) = (at(first), at(last));
            let n: f64 = valued.iter().map(|cell| f64::from(cell.2)).sum();
            let above: f64 =
                valued.iter().map(|cell| (at(cell) - lowest) / n * f64::from(cell.2)).sum();
            means[first.0 as usize] = Some((lowest + above).clamp(lowest, greatest));
        }
        means
    }

    /// Vector, class and rows of everything that is released.
    fn placed(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        let divided = self.divided();
        let whole = self.assigned.class_of.iter().zip(&self.set.counts).enumerate();
        let whole = whole
            .filter(move |(vector, _)| !divided.get(*vector).copied().unwrap_or(false))
            .map(|(vector, (&class, &rows))| (vector, class, rows));
        let parts =
            self.assigned.parts.iter().map(|&(vector, class, rows)| (vector as usize, class, rows));
        whole.chain(parts).filter(|(_, class, rows)| *class != SUPPRESSED && *rows > 0)
    }

    /// By vector, whether its rows are in several classes; empty if none are.
    fn divided(&self) -> Vec<bool> {
        if self.assigned.parts.is_empty() {
            return Vec::new();
        }
        let mut divided = vec![false; self.assigned.class_of.len()];
        self.assigned.parts.iter().for_each(|(vector, ..)| divided[*vector as usize] = true);
        divided
    }

    fn published<'b>(&'b self, label_columns: &'b [Vec<Labels>]) -> Vec<Published<'b>> {
        let mut published = Vec::new();
        let mut quasi = label_columns.iter();
        for (at, column) in self.plan.columns.iter().enumerate() {
            match column.role {
                Some(Role::Quasi) => {
                    let labels = quasi.next().expect("one entry a quasi-identifier column");
                    published.extend(labels.iter().map(Published::Labels));
                }
                Some(Role::Sensitive | Role::Insensitive) => {
                    published.push(if let Some(kept) = self.table.kept.position(&column.name) {
                        Published::Kept(kept)
                    } else {
                        let raw = raw_column(self.plan, self.table, at);
                        let ranked = raw.rank(incrowd_engine::Order::Natural(column.kind));
                        let kind = ranked.map_or(incrowd_data::Kind::Text, |r| r.dictionary.kind);
                        Published::Coded { column: raw, kind }
                    });
                }
                Some(Role::Identifier) | None => {}
            }
        }
        published
    }

    fn released_as(&self, label_columns: &[Vec<Labels>]) -> Vec<Vec<String>> {
        let mut quasi = label_columns.iter();
        let names = |column: &crate::plan::PlannedColumn| match column.role {
            Some(Role::Quasi) => {
                let labels = quasi.next().expect("one entry a quasi-identifier column");
                labels.iter().map(|labels| labels.name.clone()).collect()
            }
            Some(Role::Sensitive | Role::Insensitive) => vec![column.name.clone()],
            Some(Role::Identifier) | None => Vec::new(),
        };
        self.plan.columns.iter().map(names).collect()
    }

    /// The rows of each class in turn, by the places of the classes. Starred rows are one more class.
    fn rows(
        &self,
        engine: &Engine,
        published: &[Published],
        place_of: &[u32],
    ) -> Result<Rows, EngineError> {
        let n_places = place_of.iter().max().map_or(0, |&last| last as usize + 1);
        let star = self.plan.stars_suppressed.then(|| place_of.last().copied()).flatten();
        let number = |class: u32| match self.classes.number_of.get(class as usize) {
            Some(&number) if number != SUPPRESSED => Some(place_of[number as usize]),
            _ => star,
        };
        let of_vector: Vec<Option<u32>> =
            self.assigned.class_of.iter().map(|&c| number(c)).collect();
        let mut of_row: Vec<Option<u32>> =
            self.assigned.vector_of.iter().map(|&vector| of_vector[vector as usize]).collect();
        for (row, class) in self.rows_of_parts(engine, published)? {
            of_row[row as usize] = number(class);
        }
        let mut ends = vec![0u32; n_places + 1];
        of_row.iter().flatten().for_each(|&class| ends[class as usize + 1] += 1);
        for class in 1..ends.len() {
            ends[class] += ends[class - 1];
        }
        let mut order = vec![0; *ends.last().expect("never empty") as usize];
        let mut next = ends.clone();
        for (row, class) in (0u32..).zip(&of_row) {
            if let Some(class) = class {
                order[next[*class as usize] as usize] = row;
                next[*class as usize] += 1;
            }
        }
        Ok(Rows { order, class_ends: ends.split_off(1) })
    }

    /// Which row of a divided vector goes to which of its classes: by what is published of the rows,
    /// so that the order of the input has no say.
    fn rows_of_parts(
        &self,
        engine: &Engine,
        published: &[Published],
    ) -> Result<Vec<(u32, u32)>, EngineError> {
        let divided = self.divided();
        if divided.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows: Vec<(u32, u32)> = (0u32..)
            .zip(self.assigned.vector_of)
            .filter(|(_, vector)| divided[**vector as usize])
            .map(|(row, &vector)| (vector, row))
            .collect();
        rows.sort_unstable();
        let ends = rows.chunk_by(|a, b| a.0 == b.0).scan(0u32, |end, of_vector| {
            *end += u32::try_from(of_vector.len()).expect("rows are counted in 32 bits");
            Some(*end)
        });
        let groups =
            Rows { class_ends: ends.collect(), order: rows.iter().map(|(_, row)| *row).collect() };
        let rest: Vec<Published> =
            published.iter().filter(|c| !matches!(c, Published::Labels(_))).copied().collect();
        let ordered = order_within(engine, &rest, &self.table.kept, &groups)?;
        let classes = self
            .assigned
            .parts
            .iter()
            .flat_map(|&(_, class, rows)| std::iter::repeat_n(class, rows as usize));
        Ok(ordered.into_iter().zip(classes).collect())
    }

    /// The entity of each released row, where the release does not say it.
    fn entity_in(&self, rows: &Rows) -> Option<Entities> {
        let raw = raw_column(self.plan, self.table, self.plan.entity()?);
        let codes = rows.order.iter().map(|&row| raw.codes.get(row as usize));
        let n_codes = raw.values.n_codes();
        Some(Entities::Memory(Codes::pack(n_codes, codes), n_codes))
    }
}

/// Orders classes by what is published of them, and of nothing else: classes with the same labels are
/// one. Gives the place of each class, and puts the labels into the order of the places.
fn order_by_labels(label_columns: &mut [Vec<Labels>]) -> Vec<u32> {
    let columns: Vec<&Labels> = label_columns.iter().flatten().collect();
    let ranked: Vec<(Codes, u32)> = columns
        .par_iter()
        .map(|labels| {
            let ranks = label_ranks(&labels.texts);
            let n_ranks = ranks.iter().max().map_or(0, |last| last + 1);
            let ranks = labels.of_class.iter().map(|&label| ranks[label as usize]);
            (Codes::pack(n_ranks, ranks), n_ranks)
        })
        .collect();
    let n_classes = columns.first().map_or(0, |labels| labels.of_class.len());
    let ranked: Vec<(&Codes, u32)> = ranked.iter().map(|(codes, n)| (codes, *n)).collect();
    let Collapsed { representatives, vector_of, .. } = collapse(&ranked, n_classes);
    for labels in label_columns.iter_mut().flatten() {
        labels.of_class =
            representatives.iter().map(|&class| labels.of_class[class as usize]).collect();
    }
    vector_of
}

/// The place of each label among its column's: numbers and ranges by their first number, other texts
/// behind them by their characters, then nothing, then `*`. Equal labels have equal places.
fn label_ranks(texts: &[Option<String>]) -> Vec<u32> {
    let number = |text: &str| {
        let text = text.strip_prefix('[').unwrap_or(text);
        let end = text.char_indices().skip(1).find(|(_, c)| !(c.is_ascii_digit() || *c == '.'));
        text[..end.map_or(text.len(), |(at, _)| at)].parse::<f64>().ok()
    };
    let key = |text: &Option<String>| match text.as_deref() {
        None => (2, 0.0),
        Some("*") => (3, 0.0),
        Some(text) => number(text).map_or((1, 0.0), |number| (0, number)),
    };
    let compare = |a: &Option<String>, b: &Option<String>| {
        let (key_a, key_b) = (key(a), key(b));
        key_a.0.cmp(&key_b.0).then(key_a.1.total_cmp(&key_b.1)).then_with(|| a.cmp(b))
    };
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|&a, &b| compare(&texts[a], &texts[b]));
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (at, &label) in order.iter().enumerate() {
        rank += u32::from(at > 0 && texts[order[at - 1]] != texts[label]);
        ranks[label] = rank;
    }
    ranks
}

/// Refuses a release in which a column made for labels has the name of another one.
fn refuse_equal_names(
    published: &[Published],
    kept: &incrowd_engine::Kept,
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
    labels.kind = incrowd_data::Kind::Text;
    labels.texts.push(Some("*".to_owned()));
    labels.of_class.push(u32::try_from(labels.texts.len() - 1).expect("fewer labels than rows"));
}

/// Why a file cannot be written, as far as can be seen before.
pub(crate) fn output_problem(path: &Path, force: bool) -> Option<Problem> {
    let name = path.display();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() {
        Some(Problem::new(format!("`{name}` is a folder")).help("name a file in it"))
    } else if path.exists() && !force {
        let problem = Problem::new(format!("`{name}` exists already"));
        Some(problem.help("choose another name, or replace it with --force"))
    } else {
        let folder = folder.filter(|folder| !folder.is_dir())?;
        let problem = Problem::new(format!("the folder `{}` does not exist", folder.display()));
        Some(problem.help("create it first"))
    }
}

/// Publishes the files of a job: the small ones first, the release last.
pub(crate) fn publish(
    release: Staged,
    more: &[(&Option<String>, &dyn Fn() -> String)],
    force: bool,
) -> Result<(), JobError> {
    let mut staged = Vec::new();
    for (path, text) in more {
        if let Some(path) = path {
            staged.push(stage_bytes(Path::new(path), text().as_bytes())?);
        }
    }
    staged.push(release);
    for file in staged {
        file.publish(force)?;
    }
    Ok(())
}

/// Writes a small file at once or not at all.
pub fn write_text(path: &Path, text: &str, force: bool) -> Result<(), JobError> {
    write_bytes(path, text.as_bytes(), force)
}

/// Writes a small file at once or not at all.
pub fn write_bytes(path: &Path, bytes: &[u8], force: bool) -> Result<(), JobError> {
    Ok(stage_bytes(path, bytes)?.publish(force)?)
}
