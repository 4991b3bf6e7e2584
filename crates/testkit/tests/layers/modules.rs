//! The modules of a crate have an order: no cycle between the top-level modules of a crate, nor
//! between the modules inside one of them. The order is read from the paths in the sources, tests
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The path of a module or an item below the root of its crate.
type Names = Vec<String>;

/// The modules of a crate and the items that each names.
#[derive(Default)]
pub(crate) struct Modules {
    /// By module, its source without comments and texts.
    sources: BTreeMap<Names, String>,
    /// By module, what it names of the crate.
    uses: BTreeMap<Names, BTreeSet<Names>>,
    /// By module, the names that it passes on and what they stand for.
    exports: BTreeMap<Names, BTreeMap<String, Names>>,
}

/// By module, the modules that it depends on.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

impl Modules {
    /// Reads the sources of a crate.
    pub(crate) fn of(crate_folder: &Path) -> Modules {
        let mut modules = Modules::default();
        modules.read(&crate_folder.join("src"), &Names::new());
        assert!(!modules.sources.is_empty(), "{} has no sources", crate_folder.display());
        for (module, source) in &modules.sources {
            for (path, is_export) in paths(source) {
                let Some(path) = modules.absolute(module, &path) else { continue };
                if let Some(name) = path.last().filter(|_| is_export) {
                    let of_module = modules.exports.entry(module.clone()).or_default();
                    of_module.insert(name.clone(), path.clone());
                }
                modules.uses.entry(module.clone()).or_default().insert(path);
            }
        }
        modules
    }

    fn read(&mut self, folder: &Path, above: &Names) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("its entries can be read").path();
            let name = path.file_stem().and_then(OsStr::to_str).expect("a name").to_owned();
            let mut module = above.clone();
            if !["lib", "main", "mod"].contains(&name.as_str()) {
                module.push(name.clone());
            }
            if name == "tests" || name == "main" && above.is_empty() {
                continue;
            }
            if path.is_dir() {
                self.read(&path, &module);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(path).expect("a source");
                self.sources.insert(module, without_texts(&source));
            }
        }
    }

    /// What a path in a module stands for, below the root of the crate; none if it leads out of it.
    fn absolute(&self, module: &Names, path: &[String]) -> Option<Names> {
        let n_up = path.iter().take_while(|part| *part == "super").count();
        let first = path.first()?.as_str();
        let child = || [module.as_slice(), &path[..1]].concat();
        Some(match first {
            "crate" => path[1..].to_vec(),
            "self" => [module, &path[1..]].concat(),
            "super" => [&module[..module.len().checked_sub(n_up)?], &path[n_up..]].concat(),
            _ if self.sources.contains_key(&child()) => [module, path].concat(),
            _ => return None,
        })
    }

    /// The module that an item is in, wherever it is passed on.
    fn owner(&self, item: &[String]) -> Names {
        let is_module = |n: &usize| self.sources.contains_key(&item[..*n]);
        let n = (0..=item.len()).rev().find(is_module).expect("the root is a module");
        let (module, rest) = item.split_at(n);
        let export = rest.first().and_then(|name| self.exports.get(module)?.get(name));
        match export.filter(|target| target.as_slice() != item) {
            Some(target) => self.owner(&[target, &rest[1..]].concat()),
            None => module.to_vec(),
        }
    }

    /// Which modules just below `above` depend on which, through whatever is in them. A module's
    /// own file is a module as well where there are others below it.
    pub(crate) fn below(&self, above: &[&str]) -> Graph {
        let node = |module: &Names| {
            let is_below =
                module.len() >= above.len() && module.iter().zip(above).all(|(a, b)| a == b);
            let own = || (!above.is_empty()).then(|| "its own file".to_owned());
            is_below.then(|| module.get(above.len()).cloned().or_else(own)).flatten()
        };
        let mut graph = Graph::new();
        for (module, items) in &self.uses {
            let Some(from) = node(module) else { continue };
            for to in items.iter().filter_map(|item| node(&self.owner(item))) {
                if to != from {
                    graph.entry(from.clone()).or_default().insert(to);
                }
            }
        }
        graph
    }
}

/// The modules of a cycle, each followed by one that it depends on; empty if there is none.
pub(crate) fn cycle(graph: &Graph) -> Vec<&str> {
    fn follow<'a>(
        graph: &'a Graph,
        name: &'a str,
        open: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> bool {
        if let Some(at) = open.iter().position(|known| *known == name) {
            open.drain(..at);
            return true;
        }
        if !done.insert(name) {
            return false;
        }
        open.push(name);
        for next in graph.get(name).into_iter().flatten() {
            if follow(graph, next, open, done) {
                return true;
            }
        }
        open.pop();
        false
    }
    let (mut open, mut done) = (Vec::new(), BTreeSet::new());
    let _ = graph.keys().any(|name| follow(graph, name, &mut open, &mut done));
    open
}

/// A source without comments, texts and characters, and without the tests at its end.
fn without_texts(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut bare = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_raw = rest.starts_with("r\"") || rest.starts_with("r#\"");
        let is_word = bare.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        rest = if rest.starts_with("//") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if is_raw && !is_word {
            let (start, end) = if rest.starts_with("r#") { (3, "\"#") } else { (2, "\"") };
            rest[start..].split_once(end).map_or("", |(_, after)| after)
        } else if first == '"' {
            after_text(&rest[1..])
        } else if let Some(after) = after_character(rest) {
            after
        } else {
            bare.push(first);
            &rest[first.len_utf8()..]
        };
    }
    bare
}

/// What comes after a text whose opening quote is passed.
fn after_text(text: &str) -> &str {
    let mut is_escaped = false;
    let end = text.find(|char| {
        let ends = char == '"' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        ends
    });
    end.map_or("", |end| &text[end + 1..])
}

/// What comes after a character in quotes, if one begins here; a lifetime does not.
fn after_character(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('\'')?;
    if let Some(escaped) = inside.strip_prefix('\\') {
        let end = escaped[1..].find('\'')?;
        return Some(&escaped[end + 2..]);
    }
    let first = inside.chars().next()?;
    inside[first.len_utf8()..].strip_prefix('\'')
}

/// The paths that a source names, and whether it passes them on.
fn paths(source: &str) -> Vec<(Names, bool)> {
    let (mut found, mut code) = (Vec::new(), String::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        let exported = line.strip_prefix("pub").and_then(|rest| Some(rest.split_once(" use ")?.1));
        let Some(tree) = line.strip_prefix("use ").or(exported) else {
            code.push_str(line);
            code.push('\n');
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            tree.push_str(lines.next().expect("a statement ends"));
        }
        let tree = tree.split(';').next().unwrap_or_default();
        found.extend(expanded(tree).into_iter().map(|path| (path, exported.is_some())));
    }
    found.extend(inline(&code).into_iter().map(|path| (path, false)));
    found
}

/// The paths of a tree like `a::{b, c::{d, e}}`.
fn expanded(tree: &str) -> Vec<Names> {
    let names = |text: &str| -> Names {
        let parts = text.split("::").map(str::trim);
        parts.filter(|part| !part.is_empty() && *part != "*").map(str::to_owned).collect()
    };
    let Some((before, list)) = tree.split_once('{') else {
        return vec![names(tree.split(" as ").next().unwrap_or_default())];
    };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for char in list.chars() {
        depth += i32::from(char == '{') - i32::from(char == '}');
        match char {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().expect("one is open").push(char),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(part)).map(|rest| [names(before), rest].concat()).collect()
}

/// The paths in code that begin at a module.
fn inline(code: &str) -> Vec<Names> {
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(|before| is_name(before) || before == ':') {
                continue;
            }
            let end =
                code[at..].find(|char| !is_name(char) && char != ':').unwrap_or(code.len() - at);
            let parts = code[at..at + end].split("::").filter(|part| !part.is_empty());
            found.push(parts.map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn paths_are_read_from_sources() {
    let source = "pub use a::{B, c::{self, D}};\nuse crate::x::Y as Z; \n\
                  // use crate::no;\nfn f<'a>(c: char) { \"use crate::no;\"; '\"'; super::g::h(crate::i::J::new()); }\n\
                  #[cfg(test)]\nmod tests { use crate::no; }";
    let found = paths(&without_texts(source));
    let found: Vec<(String, bool)> =
        found.into_iter().map(|(path, is_export)| (path.join("::"), is_export)).collect();
    let expected = [
        ("a::B", true),
        ("a::c::self", true),
        ("a::c::D", true),
        ("crate::x::Y", false),
        ("crate::i::J::new", false),
        ("super::g::h", false),
    ];
    let expected = expected.map(|(path, is_export)| (path.to_owned(), is_export));
    assert_eq!(found, expected);
}

#[test]
fn a_cycle_is_named() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let graph = Graph::from([edge("a", "b"), edge("b", "c"), edge("c", "b")]);
    assert_eq!(cycle(&graph), ["b", "c"]);
    assert!(cycle(&Graph::from([edge("a", "b"), edge("b", "c")])).is_empty());
}
