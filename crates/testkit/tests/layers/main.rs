//! Who may depend on whom: the table of ARCHITECTURE.md, checked against the manifests, and the
//! order of the modules in a crate, checked against its sources.

mod modules;

use std::collections::BTreeSet;
use std::path::Path;

use modules::{Modules, cycle};

const ALLOWED: [(&str, &[&str]); 14] = [
    ("data", &[]),
    ("chart", &[]),
    ("hunt", &[]),
    ("privacy", &["data"]),
    ("quality", &["data"]),
    ("search", &["data", "privacy", "quality"]),
    ("release", &["data", "privacy", "quality"]),
    ("evaluate", &["data", "quality"]),
    ("engine", &["data"]),
    ("job", &["chart", "data", "privacy", "quality", "search", "release", "evaluate", "engine"]),
    ("cli", &["job"]),
    ("cluster", &["cli", "engine"]),
    ("testkit", &["data", "privacy", "quality"]),
    ("bench", &["chart", "data", "privacy", "quality", "search", "evaluate", "job", "cli"]),
];

/// The workspace crates that a manifest names under `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut is_in = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_in = line.trim() == "[dependencies]";
        }
        // The command's package has no suffix.
        if is_in && line.starts_with("incrowd.") {
            found.insert("cli".to_owned());
        }
        if let Some(rest) = line.strip_prefix("incrowd-").filter(|_| is_in) {
            let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
            found.insert(name);
        }
    }
    found
}

#[test]
fn dependencies_point_up_the_table() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    let mut seen = BTreeSet::new();
    for (name, allowed) in ALLOWED {
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        let found = dependencies(&manifest);
        let allowed: BTreeSet<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        assert!(found.is_subset(&allowed), "{name} may use {allowed:?}, uses {found:?}");
        seen.insert(name.to_owned());
    }
    for entry in std::fs::read_dir(crates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(seen.contains(&name), "crate {name} is not in the table");
    }
}

#[test]
fn only_engine_cluster_bench_and_hunt_know_arrow() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    for (name, _) in ALLOWED {
        let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
        // Tests may look into files of any format.
        let needed = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        let knows =
            needed.lines().any(|line| line.starts_with("datafusion") || line.starts_with("arrow"));
        // The hunt reads releases with nothing but the libraries of their formats.
        assert_eq!(knows, ["engine", "cluster", "bench", "hunt"].contains(&name), "{name}");
    }
}

#[test]
fn only_cluster_knows_ballista_and_nobody_needs_cluster() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, allowed) in ALLOWED {
        let path = root.join("crates").join(name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(path).unwrap();
        let knows = manifest.lines().any(|line| line.starts_with("ballista"));
        assert_eq!(knows, name == "cluster", "{name}");
        assert!(!allowed.contains(&"cluster"), "{name}");
    }
    // Whoever needs one machine builds no cluster.
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(workspace.contains("default-members = [\"crates/cli\"]\n"));
}

/// The crates whose modules have an order, with their rooms where they have some: each depends on
/// those before it only.
const ORDERED: [(&str, &[&str]); 11] = [
    ("data", &[]),
    ("chart", &[]),
    ("privacy", &[]),
    ("quality", &[]),
    ("search", &[]),
    ("release", &[]),
    ("evaluate", &[]),
    ("engine", &[]),
    ("job", &["spec", "report", "plan", "flow", "command"]),
    ("cli", &[]),
    ("cluster", &[]),
];

#[test]
fn modules_have_an_order() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    for (name, rooms) in ORDERED {
        let modules = Modules::of(&crates.join(name));
        let graph = modules.below(&[]);
        let found = cycle(&graph);
        assert!(found.is_empty(), "modules of {name} depend on each other: {found:?}");
        for (at, room) in rooms.iter().enumerate() {
            let found = cycle(&modules.below(&[room])).join(", ");
            assert!(found.is_empty(), "in {name}, modules of {room} depend on each other: {found}");
            let before = BTreeSet::from_iter(&rooms[..at]);
            for used in graph.get(*room).into_iter().flatten() {
                assert!(before.contains(&used.as_str()), "{room} of {name} depends on {used}");
            }
        }
    }
}
