//! Random cases: tables of every kind of column, and jobs of every kind.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{Case, Column, Format, Hierarchy, Job, Labels, Limit, Model, Role, Set};
use crate::random::Random;
use crate::table::Table;
use crate::value::{Kind, Value};

/// Stands in every text of a table, and in nothing else: where it turns up, a cell has leaked.
pub(crate) const CANARY: &str = "qZx";

/// The name of a column that tells rows apart.
pub(crate) const ROW_ID: &str = "row";

/// The case of this seed.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let n = match random.below(20) {
        0 => random.between(100, 260),
        1..=3 => random.between(1, 6),
        4..=9 => random.between(4, 16),
        _ => random.between(6, 60),
    };
    let family = *random.pick(&FAMILIES);
    let n_quasi = match family {
        Family::SingleDimensional => random.between(1, 3),
        _ => random.between(1, 5).min(random.between(1, 6)).max(1),
    };
    let mut builder = Builder { random, n, table: Table::default(), columns: Vec::new() };
    builder.table.rows = vec![Vec::new(); n];
    builder.quasi(n_quasi, family);
    builder.others();
    builder.finish(family)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Mondrian,
    FullDomain,
    SingleDimensional,
    Several,
}

const FAMILIES: [Family; 6] = [
    Family::Mondrian,
    Family::Mondrian,
    Family::FullDomain,
    Family::FullDomain,
    Family::SingleDimensional,
    Family::Several,
];

struct Builder {
    random: Random,
    n: usize,
    table: Table,
    columns: Vec<Column>,
}

impl Builder {
    fn push(&mut self, name: String, column: Column, cells: Vec<Option<String>>) {
        self.table.header.push(name);
        self.columns.push(column);
        for (row, cell) in self.table.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    fn quasi(&mut self, n: usize, family: Family) {
        for number in 0..n {
            let cells = self.cells();
            let name = match self.random.below(12) {
                0 => format!("größe {number}"),
                1 => format!("a.b-{number}"),
                _ => format!("q{number}"),
            };
            let mut column = plain(Role::Quasi);
            let wants_hierarchy = match family {
                Family::FullDomain => self.random.chance(97),
                _ => self.random.chance(25),
            };
            let mut cells = cells;
            if wants_hierarchy {
                write_once(&mut cells);
                column.hierarchy = Some(self.hierarchy(&cells));
            } else if self.random.chance(20) {
                column.order = self.order(&cells);
            }
            self.push(name, column, cells);
        }
    }

    fn others(&mut self) {
        if self.random.chance(80) {
            let id = |row: usize| Some(format!("{CANARY}r{row}"));
            let cells = (0..self.n).map(id).collect();
            self.push(ROW_ID.to_owned(), plain(Role::Insensitive), cells);
        }
        for number in 0..self.random.below(3) {
            let cells = self.cells();
            self.push(format!("s{number}"), plain(Role::Sensitive), cells);
        }
        for number in 0..self.random.below(3) {
            let cells = self.cells();
            let mut column = plain(Role::Insensitive);
            column.is_target = self.random.chance(40);
            self.push(format!("i{number}"), column, cells);
        }
        if self.random.chance(25) {
            let role = *self.random.pick(&[Role::Identifier, Role::Insensitive]);
            let people = self.random.between(1, self.n.max(2));
            let is_number = self.random.chance(50);
            let has_missing = self.random.chance(5);
            let mut cells = Vec::new();
            for _ in 0..self.n {
                let person = self.random.below(people);
                let text = if is_number {
                    let ending = if self.random.chance(20) { ".0" } else { "" };
                    format!("{person}{ending}")
                } else {
                    format!("{CANARY}p{person}")
                };
                cells.push(Some(text).filter(|_| !(has_missing && self.random.chance(10))));
            }
            self.push("person".to_owned(), Column { is_entity: true, ..plain(role) }, cells);
        } else if self.random.chance(20) {
            let cells = (0..self.n).map(|row| Some(format!("{CANARY}name{row}"))).collect();
            self.push("name".to_owned(), plain(Role::Identifier), cells);
        }
    }

    fn finish(mut self, family: Family) -> Case {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        self.random.shuffle(&mut order);
        let table = Table {
            header: order.iter().map(|&column| self.table.header[column].clone()).collect(),
            rows: self
                .table
                .rows
                .iter()
                .map(|row| order.iter().map(|&column| row[column].clone()).collect())
                .collect(),
        };
        let columns = order.iter().map(|&column| self.columns[column].clone()).collect();
        let job = job(&mut self.random, &table, columns, family);
        let mut case = Case { table, columns: job.1, job: job.0, format: format(&mut self.random) };
        case.format.by_file |= !case.fits_flags();
        if case.table.header.len() == 1 {
            case.format.delimiter = ',';
        }
        case
    }

    /// Cells of a column of some kind.
    fn cells(&mut self) -> Vec<Option<String>> {
        let pool = self.pool();
        let is_skewed = self.random.chance(50);
        let missing = if self.random.chance(30) { self.random.between(5, 45) } else { 0 };
        (0..self.n)
            .map(|_| {
                if self.random.chance(missing) {
                    return None;
                }
                let mut number = self.random.below(pool.len());
                if is_skewed {
                    number = number.min(self.random.below(pool.len()));
                }
                Some(pool[number].clone())
            })
            .collect()
    }

    /// The values of a column.
    fn pool(&mut self) -> Vec<String> {
        let size = match self.random.below(8) {
            0 => 1,
            1 => 2,
            2 => self.n.max(2),
            _ => self.random.between(2, 9),
        };
        let kind = self.random.below(13);
        let mut pool: Vec<String> = (0..size).map(|number| self.one(kind, number)).collect();
        let mut seen = BTreeSet::new();
        pool.retain(|value| seen.insert(value.clone()));
        self.random.shuffle(&mut pool);
        pool
    }

    fn one(&mut self, kind: usize, number: usize) -> String {
        let random = &mut self.random;
        match kind {
            0 | 1 => random.below(40).to_string(),
            2 => format!("-{}", random.between(1, 300)),
            3 => {
                let sign = if random.chance(40) { "-" } else { "" };
                format!("{sign}{}.{}", random.below(20), random.between(1, 99))
            }
            // The same number may be written in several ways.
            4 => format!("{}{}", random.below(9), random.pick(&["", ".0", ".5", ".50"])),
            5 => format!(
                "{}-{:02}-{:02}",
                1960 + random.below(60),
                random.between(1, 12),
                1 + number % 28
            ),
            6 => {
                let seconds = random.pick(&["", ":00", ":59", ":07.25"]);
                let between = random.pick(&["T", "T", " "]);
                let (month, day) = (random.between(1, 12), random.between(1, 28));
                format!("2024-{month:02}-{day:02}{between}{:02}:30{seconds}", random.below(24))
            }
            7 => ["true", "false"][number % 2].to_owned(),
            8 => format!("{:05}", random.below(400)),
            9 | 10 => format!("{CANARY}{}", name(number)),
            _ => hostile(random, number),
        }
    }

    /// The values in some order, with some that no row has.
    fn order(&mut self, cells: &[Option<String>]) -> Option<Vec<String>> {
        let mut values: Vec<String> =
            cells.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let is_text = Kind::of(cells.iter().map(|cell| cell.as_deref())) == Kind::Text;
        if !is_text || values.is_empty() {
            return None;
        }
        if self.random.chance(30) {
            values.push(format!("{CANARY}never"));
        }
        self.random.shuffle(&mut values);
        Some(values)
    }

    fn hierarchy(&mut self, cells: &[Option<String>]) -> Hierarchy {
        let kind = Kind::of(cells.iter().map(|cell| cell.as_deref()));
        let is_written_once = kind != Kind::Decimal && kind != Kind::Timestamp;
        if kind.is_number() && self.random.chance(30) {
            let (width, join) = (self.random.between(2, 9), self.random.between(2, 3));
            return Hierarchy::Built {
                toml: format!("width = {width}.0, levels = [{join}]"),
                flags: ["--width", &width.to_string(), "--levels", &join.to_string()]
                    .map(str::to_owned)
                    .to_vec(),
            };
        }
        if kind == Kind::Date && self.random.chance(60) {
            return Hierarchy::Built {
                toml: "dates = [\"month\", \"quarter\", \"year\"]".to_owned(),
                flags: ["--dates", "month,quarter,year"].map(str::to_owned).to_vec(),
            };
        }
        let is_masked = kind == Kind::Text || kind == Kind::Integer;
        if is_masked && self.random.chance(25) && is_short(cells) {
            let side = *self.random.pick(&["left", "right"]);
            return Hierarchy::Built {
                toml: format!("mask = \"{side}\""),
                flags: ["--mask", side].map(str::to_owned).to_vec(),
            };
        }
        if is_written_once && self.random.chance(8) {
            return Hierarchy::Built {
                toml: "fan-out = 2".to_owned(),
                flags: ["--fan-out", "2"].map(str::to_owned).to_vec(),
            };
        }
        Hierarchy::Rows(self.tree(cells))
    }

    /// A random tree of equal depth over the values.
    fn tree(&mut self, cells: &[Option<String>]) -> Vec<Vec<String>> {
        let mut leaves: Vec<String> =
            cells.iter().flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        // A hierarchy of nothing is no hierarchy; and some leaves no row has.
        if leaves.is_empty() || self.random.chance(20) {
            leaves.push(format!("{CANARY}leaf"));
        }
        self.random.shuffle(&mut leaves);
        let depth = self.random.between(0, 2);
        let root = if self.random.chance(90) { "*" } else { "any" };
        let mut rows: Vec<Vec<String>> = leaves.into_iter().map(|leaf| vec![leaf]).collect();
        let mut parents: Vec<usize> = (0..rows.len()).collect();
        for level in 0..depth {
            let width = (parents.iter().max().map_or(0, |max| max + 1)).div_ceil(2);
            let chosen: Vec<usize> = (0..=parents.iter().copied().max().unwrap_or(0))
                .map(|_| self.random.below(width))
                .collect();
            for (row, parent) in rows.iter_mut().zip(&mut parents) {
                *parent = chosen[*parent];
                row.push(format!("N{level}-{parent}"));
            }
        }
        for row in &mut rows {
            row.push(root.to_owned());
        }
        rows
    }
}

/// Writes equal values in the same way: leaves of a hierarchy are compared as texts.
fn write_once(cells: &mut [Option<String>]) {
    let kind = Kind::of(cells.iter().map(|cell| cell.as_deref()));
    let mut first: BTreeMap<Value, String> = BTreeMap::new();
    for cell in cells.iter_mut().flatten() {
        let value = kind.value(Some(cell));
        *cell = first.entry(value).or_insert_with(|| shortest(kind, cell)).clone();
    }
}

/// A value as a typed column has it: a decimal without zeros at its end, a timestamp with seconds
/// and three digits of their fraction.
fn shortest(kind: Kind, cell: &str) -> String {
    if kind == Kind::Timestamp {
        let text = cell.replacen(' ', "T", 1);
        return match text.split_once('.') {
            Some((whole, fraction)) => format!("{whole}.{fraction:0<3}"),
            None if text.matches(':').count() < 2 => format!("{text}:00"),
            None => text,
        };
    }
    if kind == Kind::Decimal && cell.contains('.') {
        return cell.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    cell.to_owned()
}

fn plain(role: Role) -> Column {
    Column { role, is_entity: false, is_target: false, order: None, hierarchy: None }
}

fn is_short(cells: &[Option<String>]) -> bool {
    cells.iter().flatten().all(|cell| cell.len() <= 8 && !cell.contains('*'))
}

fn name(number: usize) -> String {
    let letter = |number: usize| char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    format!("{}{}", letter(number / 26), letter(number))
}

/// Texts that are hard to write, to read, or to tell from labels.
fn hostile(random: &mut Random, number: usize) -> String {
    let name = format!("{CANARY}{}", name(number));
    match random.below(22) {
        0 => format!("{name},b"),
        1 => format!("{name}\"b"),
        2 => format!("{name}\nb"),
        3 => format!("{{{name}|b}}"),
        4 => format!("{name}|b"),
        5 => format!("[{name}-b]"),
        6 => format!("{name}-b"),
        7 => "*".to_owned(),
        8 => format!("{name}*"),
        9 => format!("0{name}"),
        10 => format!("ü{name}ß 東京"),
        11 => format!("{name}\\"),
        12 => format!("\\|{name}"),
        13 => format!(" {name} "),
        14 => format!("{name};b\tc"),
        15 => format!("{name}..b"),
        16 => format!("{{{name}"),
        17 => format!("{name}}}"),
        18 => format!("'{name}' = 1"),
        19 => format!("[{number}-{}]", number + 3),
        20 => "NULL".to_owned(),
        _ => format!("{name}\u{301}"),
    }
}

const INPUTS: [&str; 4] = ["csv", "csv", "parquet", "arrow"];
const OUTPUTS: [&str; 8] =
    ["csv", "tsv", "parquet", "arrow", "parquet", "csv/", "parquet/", "arrow/"];

fn format(random: &mut Random) -> Format {
    Format {
        delimiter: *random.pick(&[',', ',', ',', ';', '\t', '|']),
        input: random.name(&INPUTS),
        output: random.name(&OUTPUTS),
        part_rows: random.between(1, 20),
        by_file: random.chance(30),
    }
}

fn job(
    random: &mut Random,
    table: &Table,
    columns: Vec<Column>,
    family: Family,
) -> (Job, Vec<Column>) {
    let mut columns = columns;
    let named = |keep: &dyn Fn(&Column) -> bool, columns: &[Column]| -> Vec<String> {
        let both = table.header.iter().zip(columns);
        both.filter(|(_, column)| keep(column)).map(|(name, _)| name.clone()).collect()
    };
    let quasi = named(&|column| column.role == Role::Quasi, &columns);
    let mut job = Job {
        k: random.between(2, 6).min(random.between(2, 6)),
        sets: Vec::new(),
        collude: Vec::new(),
        models: Vec::new(),
        suppress: None,
        is_starred: false,
        counts_missing: false,
        algorithm: "mondrian",
        variant: None,
        split: None,
        measure: None,
        labels: Labels::Range,
        select: Vec::new(),
        queries: Vec::new(),
        seed: if random.chance(20) { random.next() % 1000 } else { 0 },
    };
    search(random, &mut job, family);
    sets(random, &mut job, &quasi, family);
    for (column, name) in table.header.iter().enumerate() {
        if columns[column].role == Role::Sensitive {
            models(random, &mut job, name, Kind::of(table.cells(column)));
        }
    }
    if !job.models.is_empty() && random.chance(15) {
        job.counts_missing = true;
    }
    purpose(random, &mut job, table, &mut columns);
    job.labels = match random.below(10) {
        0 | 1 => Labels::Bounds,
        2 | 3 => Labels::Region,
        4 => Labels::Mean,
        5 | 6 => Labels::RangeMean,
        _ => Labels::Range,
    };
    let is_local = job.algorithm == "butterfly"
        || [Some("relaxed"), Some("mondrian-relaxed")].contains(&job.variant);
    if is_local && job.labels == Labels::Region && random.chance(95) {
        job.labels = Labels::Range;
    }
    (job, columns)
}

fn search(random: &mut Random, job: &mut Job, family: Family) {
    const MEASURES: [&str; 5] =
        ["discernibility", "average-class-size", "entropy", "height", "precision"];
    match family {
        Family::Mondrian => {
            job.variant = *random.pick(&[None, None, Some("strict"), Some("relaxed")]);
        }
        Family::FullDomain => {
            (job.algorithm, job.variant) = *random.pick(&[
                ("optimal", None),
                ("optimal", None),
                ("incognito", Some("basic")),
                ("incognito", Some("super-roots")),
                ("incognito", Some("cube")),
                ("samarati", None),
                ("bottom-up", Some("rollup")),
                ("bottom-up", Some("no-rollup")),
                ("datafly", None),
                ("optimal", Some("all-minimal")),
            ]);
            if random.chance(50) {
                job.measure = Some(*random.pick(&MEASURES));
            }
        }
        Family::SingleDimensional => {
            job.algorithm = *random.pick(&[
                "koptimize",
                "koptimize",
                "hill-climb",
                "single-dimensional",
                "tds",
            ]);
            if random.chance(50) && job.algorithm != "tds" {
                job.measure = Some("discernibility");
            }
        }
        Family::Several => {
            (job.algorithm, job.variant) = *random.pick(&[
                ("butterfly", None),
                ("butterfly", Some("improved")),
                ("butterfly", Some("paper")),
                ("union", None),
                ("union", Some("mondrian-relaxed")),
                ("union", Some("single-dimensional")),
                ("union", Some("hill-climb")),
            ]);
        }
    }
    let can_suppress = family == Family::FullDomain
        || ["koptimize", "hill-climb"].contains(&job.algorithm)
        || job.variant == Some("hill-climb");
    if random.chance(if can_suppress { 65 } else { 2 }) {
        job.suppress = Some(match random.below(3) {
            0 => Limit::Percent(*random.pick(&[5, 10, 30, 100])),
            _ => Limit::Rows(random.between(1, 8)),
        });
        job.is_starred = random.chance(30);
    }
}

/// Two or three sets over the columns, which may overlap.
fn sets(random: &mut Random, job: &mut Job, quasi: &[String], family: Family) {
    let chance = if family == Family::Several { 90 } else { 12 };
    if !random.chance(chance) {
        return;
    }
    let n = random.between(1, 3);
    for number in 0..n {
        let mut columns: Vec<String> =
            quasi.iter().filter(|_| random.chance(60)).cloned().collect();
        if columns.is_empty() {
            columns.push(random.pick(quasi).clone());
        }
        let k = random.chance(25).then(|| random.between(2, 4));
        job.sets.push(Set { name: format!("set{}", number + 1), columns, k });
    }
    for column in quasi {
        if !job.sets.iter().any(|set| set.columns.contains(column)) {
            let last = job.sets.len() - 1;
            job.sets[last].columns.push(column.clone());
        }
    }
    if job.sets.len() > 1 && random.chance(25) {
        let coalition = job.sets.iter().take(2).map(|set| set.name.clone()).collect();
        job.collude.push(coalition);
    }
}

fn models(random: &mut Random, job: &mut Job, column: &str, kind: Kind) {
    if !random.chance(45) {
        return;
    }
    let l = random.between(2, 3);
    let fraction = random.between(1, 9) as f64 / 10.0;
    let model = match random.below(if kind.is_number() { 5 } else { 4 }) {
        0 => Model::Distinct(l),
        1 => Model::Entropy(1.0 + fraction),
        2 => Model::Recursive(1.0 + 2.0 * fraction, l),
        3 => Model::TCloseness(fraction),
        _ => Model::SquaredError(10.0 * fraction),
    };
    job.models.push((column.to_owned(), model));
}

/// Targets, selections and queries, where the search can use them.
fn purpose(random: &mut Random, job: &mut Job, table: &Table, columns: &mut [Column]) {
    let first_number = (0..columns.len()).find(|&column| {
        columns[column].role == Role::Quasi && Kind::of(table.cells(column)) == Kind::Integer
    });
    let free = (0..columns.len())
        .find(|&column| columns[column].role == Role::Insensitive && !columns[column].is_entity);
    if job.algorithm == "tds" {
        if let Some(column) = free {
            columns[column].is_target = true;
        }
        return;
    }
    if job.algorithm != "mondrian" || !random.chance(45) {
        return;
    }
    let has_target = columns.iter().any(|column| column.is_target);
    let number = first_number.map(|column| format!("\"{}\"", table.header[column]));
    match (random.below(4), number) {
        (0, Some(number)) => {
            job.split = Some(*random.pick(&["selection", "selection,median"]));
            job.select.push(format!("{number} >= {}", random.below(30)));
        }
        (1, Some(number)) => {
            job.split = Some("queries");
            let from = random.below(20);
            job.queries.push(format!(
                "SELECT COUNT(*) WHERE {number} BETWEEN {from} AND {}",
                from + random.below(20)
            ));
        }
        _ if has_target => job.split = Some(*random.pick(&["infogain", "lsd"])),
        _ => job.split = Some("median"),
    }
}
