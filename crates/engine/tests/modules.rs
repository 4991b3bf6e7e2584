//! The top-level modules of this crate depend on each other in one direction.
//!
//! Who uses whom is read from the source: every path that begins with `crate` or `super`, and what the
//! crate's root exports under which module. Tests may use what they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// By module, the modules it uses and the first path by which it does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// The words and signs of Rust source that paths are made of, without comments, texts and tests.
fn tokens(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut all = Vec::new();
    for line in code.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        let mut word = String::new();
        for char in line.chars().chain([' ']) {
            if char.is_alphanumeric() || char == '_' {
                word.push(char);
                continue;
            }
            if !word.is_empty() {
                all.push(std::mem::take(&mut word));
            }
            match all.last_mut() {
                Some(last) if char == ':' && last == ":" => last.push(':'),
                _ if char.is_whitespace() => {}
                _ => all.push(char.into()),
            }
        }
    }
    all
}

fn tokens_of(file: &Path) -> Vec<String> {
    tokens(&std::fs::read_to_string(file).expect("sources are UTF-8"))
}

/// The paths of a tree such as `crate::{a::B, c}` that begins at a token, and where it ends.
fn paths_at(tokens: &[String], mut at: usize) -> (Vec<Vec<String>>, usize) {
    let mut path: Vec<String> = Vec::new();
    loop {
        path.push(tokens[at].clone());
        at += 1;
        if tokens.get(at).map(String::as_str) != Some("::") {
            return (vec![path], at);
        }
        at += 1;
        if tokens[at] == "{" {
            break;
        }
    }
    let mut all = Vec::new();
    at += 1;
    while tokens[at] != "}" {
        if tokens[at] == "," {
            at += 1;
            continue;
        }
        let (ends, next) = paths_at(tokens, at);
        all.extend(ends.into_iter().map(|end| [path.clone(), end].concat()));
        at = next;
        // A new name says nothing of where the old one is from.
        while !matches!(tokens[at].as_str(), "," | "}") {
            at += 1;
        }
    }
    (all, at + 1)
}

/// The paths that begin with one of these words.
fn paths(tokens: &[String], is_start: impl Fn(usize) -> bool) -> Vec<Vec<String>> {
    let starts = (0..tokens.len()).filter(|&at| is_start(at));
    starts.flat_map(|at| paths_at(tokens, at).0).collect()
}

/// The modules that a file is in, from the crate's root on.
fn modules_of(file: &Path) -> Vec<String> {
    let mut all: Vec<String> = file
        .with_extension("")
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into())
        .collect();
    if all.last().is_some_and(|last| last == "mod") {
        all.pop();
    }
    all
}

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources can be read") {
        let path = entry.expect("its files can be listed").path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            files(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            all.push(path);
        }
    }
}

fn graph(src: &Path) -> Graph {
    let root = tokens_of(&src.join("lib.rs"));
    let after = |word: &'static str| {
        let root = &root;
        move |at: usize| at > 0 && root[at - 1] == word
    };
    let modules: BTreeSet<String> = paths(&root, after("mod")).into_iter().flatten().collect();
    let exports: BTreeMap<String, String> = paths(&root, after("use"))
        .into_iter()
        .map(|path| (path[path.len() - 1].clone(), path[0].clone()))
        .collect();
    let mut all = Vec::new();
    files(src, &mut all);
    let mut graph = Graph::new();
    for file in all.iter().filter(|file| **file != src.join("lib.rs")) {
        let own = modules_of(file.strip_prefix(src).expect("it was found there"));
        let tokens = tokens_of(file);
        let is_start = |at: usize| {
            let is_inner = at > 0 && tokens[at - 1] == "::";
            matches!(tokens[at].as_str(), "crate" | "super")
                && tokens.get(at + 1).is_some_and(|next| next == "::")
                && !is_inner
        };
        for path in paths(&tokens, is_start) {
            let n_up = path.iter().take_while(|part| *part == "super").count();
            let above = if n_up == 0 { &[][..] } else { &own[..own.len() - n_up] };
            let rest = path.iter().skip(n_up.max(1));
            let Some(first) = above.iter().chain(rest).next().cloned() else { continue };
            let module = match exports.get(&first) {
                _ if modules.contains(&first) => first,
                Some(exported) => exported.clone(),
                None => panic!("{}: where is {} from?", file.display(), path.join("::")),
            };
            if module != own[0] {
                let uses = graph.entry(own[0].clone()).or_default();
                uses.entry(module).or_insert_with(|| path.join("::"));
            }
        }
    }
    graph
}

/// What is left of a graph when all that only uses what is already gone is taken away: its cycles.
fn cycles(mut graph: Graph) -> Graph {
    loop {
        let open: BTreeSet<String> = graph.keys().cloned().collect();
        for uses in graph.values_mut() {
            uses.retain(|used, _| open.contains(used));
        }
        let n_before = graph.len();
        graph.retain(|_, uses| !uses.is_empty());
        if graph.len() == n_before {
            return graph;
        }
    }
}

#[test]
fn modules_have_no_cycle() {
    let graph = graph(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(graph["read"].contains_key("source") && graph["write"].contains_key("error"));
    let cycles = cycles(graph);
    assert!(cycles.is_empty(), "modules that use each other: {cycles:#?}");
}

#[test]
fn a_cycle_is_found() {
    let src = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(src.path().join(name), text).unwrap();
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::{Deep, Wide};\n");
    write("a.rs", "use crate::{Wide, c::{x, y as z}};\n// crate::a\n#[cfg(test)]\nmod tests {}");
    write("b.rs", "fn f() -> super::c::X {}\n");
    write("c.rs", "pub(crate) fn x() {}\n");
    assert!(cycles(graph(src.path())).is_empty());
    write("c.rs", "pub(crate) fn x() { crate::a::f() }\n#[cfg(test)]\nmod tests {}");
    let found = cycles(graph(src.path()));
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}
