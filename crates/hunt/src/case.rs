//! A case: a table, what its columns are, and a job, in the words of the guide.

use crate::table::Table;

/// A table and what is asked of the command.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) table: Table,
    /// In the order of the table's header.
    pub(crate) columns: Vec<Column>,
    pub(crate) job: Job,
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Identifier,
    Quasi,
    Sensitive,
    Insensitive,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) role: Role,
    pub(crate) is_entity: bool,
    pub(crate) is_target: bool,
    pub(crate) order: Option<Vec<String>>,
    pub(crate) hierarchy: Option<Hierarchy>,
}

/// Where a column's hierarchy comes from.
#[derive(Clone, Debug)]
pub(crate) enum Hierarchy {
    /// Rows from leaf to root, written as a file.
    Rows(Vec<Vec<String>>),
    /// Built by the command: the keys of a job file, and the flags of `hierarchy make`.
    Built { toml: String, flags: Vec<String> },
}

/// A quasi-identifier set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) k: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Model {
    Distinct(usize),
    Entropy(f64),
    Recursive(f64, usize),
    TCloseness(f64),
    SquaredError(f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) k: usize,
    /// Empty: all quasi-identifier columns are one set.
    pub(crate) sets: Vec<Set>,
    /// Coalitions, by names of sets.
    pub(crate) collude: Vec<Vec<String>>,
    /// Models by column.
    pub(crate) models: Vec<(String, Model)>,
    pub(crate) suppress: Option<Limit>,
    pub(crate) is_starred: bool,
    pub(crate) counts_missing: bool,
    pub(crate) algorithm: &'static str,
    pub(crate) variant: Option<&'static str>,
    pub(crate) split: Option<&'static str>,
    pub(crate) measure: Option<&'static str>,
    pub(crate) labels: Labels,
    pub(crate) select: Vec<String>,
    pub(crate) queries: Vec<String>,
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Rows(usize),
    Percent(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    Range,
    Region,
    Bounds,
    Mean,
    RangeMean,
}

/// What files look like.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) delimiter: char,
    /// Ending of the input of a further run: `csv`, `parquet` or `arrow`.
    pub(crate) input: &'static str,
    /// Ending of the output of a further run, where `/` stands for a folder of parts.
    pub(crate) output: &'static str,
    pub(crate) part_rows: usize,
    /// Whether the first run takes its job from a file.
    pub(crate) by_file: bool,
}

impl Labels {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Labels::Range => "range",
            Labels::Region => "region",
            Labels::Bounds => "bounds",
            Labels::Mean => "mean",
            Labels::RangeMean => "range+mean",
        }
    }
}

impl Limit {
    fn text(self) -> String {
        match self {
            Limit::Rows(rows) => format!("{rows}rows"),
            Limit::Percent(percent) => format!("{percent}%"),
        }
    }

    /// How many of `n` rows may be left out.
    pub(crate) fn rows(self, n: usize) -> usize {
        match self {
            Limit::Rows(rows) => rows,
            Limit::Percent(percent) => n * percent / 100,
        }
    }
}

impl Model {
    fn flag(&self, column: &str) -> [String; 2] {
        let (flag, value) = match self {
            Model::Distinct(l) => ("--l-diversity", format!("distinct:{l}")),
            Model::Entropy(l) => ("--l-diversity", format!("entropy:{l}")),
            Model::Recursive(c, l) => ("--l-diversity", format!("recursive:{c},{l}")),
            Model::TCloseness(t) => ("--t-closeness", t.to_string()),
            Model::SquaredError(least) => ("--squared-error", least.to_string()),
        };
        [flag.to_owned(), format!("{column}={value}")]
    }

    fn toml(&self, column: &str) -> (&'static str, String) {
        let column = quote(column);
        match self {
            Model::Distinct(l) => {
                ("l-diversity", format!("{{ column = {column}, distinct = {l} }}"))
            }
            Model::Entropy(l) => {
                ("l-diversity", format!("{{ column = {column}, entropy = {l:?} }}"))
            }
            Model::Recursive(c, l) => {
                ("l-diversity", format!("{{ column = {column}, recursive = [{c:?}, {l}] }}"))
            }
            Model::TCloseness(t) => {
                ("t-closeness", format!("{{ column = {column}, value = {t:?} }}"))
            }
            Model::SquaredError(least) => {
                ("squared-error", format!("{{ column = {column}, value = {least:?} }}"))
            }
        }
    }
}

impl Case {
    pub(crate) fn names(&self, keep: impl Fn(&Column) -> bool) -> Vec<String> {
        let named = self.table.header.iter().zip(&self.columns);
        named.filter(|(_, column)| keep(column)).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn quasi(&self) -> Vec<String> {
        self.names(|column| column.role == Role::Quasi)
    }

    pub(crate) fn entity(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.is_entity)
    }

    /// Every set that must hold, coalitions included: name, columns, k.
    pub(crate) fn required(&self) -> Vec<(String, Vec<String>, usize)> {
        if self.job.sets.is_empty() {
            return vec![("default".to_owned(), self.quasi(), self.job.k)];
        }
        let k = |set: &Set| set.k.unwrap_or(self.job.k);
        let mut required: Vec<_> = self
            .job
            .sets
            .iter()
            .map(|set| (set.name.clone(), set.columns.clone(), k(set)))
            .collect();
        for coalition in &self.job.collude {
            let members: Vec<&Set> =
                self.job.sets.iter().filter(|set| coalition.contains(&set.name)).collect();
            let columns = self
                .quasi()
                .into_iter()
                .filter(|name| members.iter().any(|set| set.columns.contains(name)))
                .collect();
            let greatest = members.iter().map(|&set| k(set)).max().unwrap_or(self.job.k);
            required.push((coalition.join("+"), columns, greatest));
        }
        required
    }

    pub(crate) fn greatest_k(&self) -> usize {
        self.required().iter().map(|(_, _, k)| *k).max().unwrap_or(self.job.k)
    }

    /// Whether the job can be given by flags alone.
    pub(crate) fn fits_flags(&self) -> bool {
        let is_plain = |name: &String| !name.contains(['=', ',']);
        self.table.header.iter().all(is_plain)
            && self.columns.iter().all(|column| {
                column.order.is_none() && !matches!(column.hierarchy, Some(Hierarchy::Built { .. }))
            })
    }

    /// The flags of the job, without input and output.
    pub(crate) fn flags(&self) -> Vec<String> {
        let mut flags = vec!["-k".to_owned(), self.job.k.to_string()];
        let mut push = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
        if self.job.sets.is_empty() {
            push("--quasi", self.quasi().join(","));
        }
        for set in &self.job.sets {
            push("--quasi", format!("{}={}", set.name, set.columns.join(",")));
            if let Some(k) = set.k {
                push("-k", format!("{}={k}", set.name));
            }
        }
        for coalition in &self.job.collude {
            push("--collude", coalition.join(","));
        }
        for (flag, role) in [
            ("--identifier", Role::Identifier),
            ("--sensitive", Role::Sensitive),
            ("--insensitive", Role::Insensitive),
        ] {
            let names = self.names(|column| column.role == role);
            if !names.is_empty() {
                push(flag, names.join(","));
            }
        }
        for (flag, names) in [
            ("--entity", self.names(|column| column.is_entity)),
            ("--target", self.names(|column| column.is_target)),
        ] {
            if !names.is_empty() {
                push(flag, names.join(","));
            }
        }
        for (column, name) in self.table.header.iter().enumerate() {
            if self.columns[column].hierarchy.is_some() {
                push("--hierarchy", format!("{name}=h{column}.csv"));
            }
        }
        flags.extend(self.asked_flags());
        flags
    }

    /// Models, search and labels as flags.
    fn asked_flags(&self) -> Vec<String> {
        let job = &self.job;
        let mut flags: Vec<String> = Vec::new();
        for (column, model) in &job.models {
            flags.extend(model.flag(column));
        }
        let mut push = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
        if let Some(limit) = job.suppress {
            push("--suppress", limit.text());
        }
        if job.is_starred {
            push("--suppressed", "star".to_owned());
        }
        if job.counts_missing {
            push("--missing-sensitive", "value".to_owned());
        }
        push("--algorithm", job.algorithm.to_owned());
        for (flag, value) in
            [("--variant", job.variant), ("--split", job.split), ("--measure", job.measure)]
        {
            if let Some(value) = value {
                push(flag, value.to_owned());
            }
        }
        if let Some(limit) = job.node_limit() {
            push("--node-limit", limit.to_string());
        }
        if job.labels != Labels::Range {
            push("--labels", job.labels.name().to_owned());
        }
        for condition in &job.select {
            push("--select", condition.clone());
        }
        for query in &job.queries {
            push("--query", query.clone());
        }
        if job.seed > 0 {
            push("--seed", job.seed.to_string());
        }
        flags
    }

    /// The job as a file, without input and output.
    pub(crate) fn toml(&self) -> String {
        let mut text = String::new();
        if !self.job.collude.is_empty() {
            let lists: Vec<String> = self.job.collude.iter().map(|names| list(names)).collect();
            text.push_str(&format!("collude = [{}]\n", lists.join(", ")));
        }
        text.push_str("[columns]\n");
        for (number, (name, column)) in self.table.header.iter().zip(&self.columns).enumerate() {
            text.push_str(&format!("{} = {{ {} }}\n", quote(name), column.toml(number)));
        }
        for set in &self.job.sets {
            let columns = list(&set.columns);
            text.push_str(&format!(
                "[[quasi]]\nname = {}\ncolumns = {columns}\n",
                quote(&set.name)
            ));
            if let Some(k) = set.k {
                text.push_str(&format!("k = {k}\n"));
            }
        }
        text.push_str(&self.asked_toml());
        text
    }

    fn asked_toml(&self) -> String {
        let job = &self.job;
        let mut text = format!("[privacy]\nk = {}\n", job.k);
        for key in ["l-diversity", "t-closeness", "squared-error"] {
            let models = job.models.iter().map(|(column, model)| model.toml(column));
            let entries: Vec<String> =
                models.filter(|(of, _)| *of == key).map(|(_, entry)| entry).collect();
            if !entries.is_empty() {
                text.push_str(&format!("{key} = [{}]\n", entries.join(", ")));
            }
        }
        if let Some(limit) = job.suppress {
            text.push_str(&format!("suppress = {}\n", quote(&limit.text())));
        }
        if job.counts_missing {
            text.push_str("missing-sensitive = \"value\"\n");
        }
        text.push_str(&format!("[search]\nalgorithm = {}\n", quote(job.algorithm)));
        for (key, value) in
            [("variant", job.variant), ("split", job.split), ("measure", job.measure)]
        {
            if let Some(value) = value {
                text.push_str(&format!("{key} = {}\n", quote(value)));
            }
        }
        if job.seed > 0 {
            text.push_str(&format!("seed = {}\n", job.seed));
        }
        if !job.select.is_empty() || !job.queries.is_empty() {
            let (select, queries) = (list(&job.select), list(&job.queries));
            text.push_str(&format!("[workload]\nselect = {select}\nqueries = {queries}\n"));
        }
        text.push_str(&format!("[release]\nlabels = {}\n", quote(job.labels.name())));
        if job.is_starred {
            text.push_str("suppressed = \"star\"\n");
        }
        if let Some(limit) = job.node_limit() {
            text.push_str(&format!("[run]\nnode-limit = {limit}\n"));
        }
        text
    }
}

impl Job {
    /// Nodes after which a search ends that may otherwise take hours: the proof is hard with models
    /// that look at more than counts.
    pub(crate) fn node_limit(&self) -> Option<u64> {
        (self.algorithm == "koptimize" && !self.models.is_empty()).then_some(100_000)
    }
}

impl Column {
    fn toml(&self, number: usize) -> String {
        let role = match self.role {
            Role::Identifier => "identifier",
            Role::Quasi => "quasi",
            Role::Sensitive => "sensitive",
            Role::Insensitive => "insensitive",
        };
        let mut text = format!("role = \"{role}\"");
        if self.is_entity {
            text.push_str(", entity = true");
        }
        if self.is_target {
            text.push_str(", target = true");
        }
        if let Some(order) = &self.order {
            text.push_str(&format!(", order = {}", list(order)));
        }
        match &self.hierarchy {
            Some(Hierarchy::Rows(_)) => text.push_str(&format!(", hierarchy = \"h{number}.csv\"")),
            Some(Hierarchy::Built { toml, .. }) => {
                text.push_str(&format!(", hierarchy = {{ {toml} }}"));
            }
            None => {}
        }
        text
    }
}

fn list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| quote(item)).collect();
    format!("[{}]", quoted.join(", "))
}

/// A TOML string.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            char if char.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
