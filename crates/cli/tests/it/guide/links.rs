//! Links of the guide lead somewhere, and everything in its folder is led to.

use std::collections::BTreeSet;
use std::path::Path;

use super::page::{self, root};

/// The relative links of a page: where to, and which heading there.
fn links(text: &str) -> Vec<(String, Option<String>)> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = targets.filter(|target| !target.contains("://"));
    relative
        .map(|target| match target.split_once('#') {
            Some((path, heading)) => (path.to_owned(), Some(heading.to_owned())),
            None => (target.to_owned(), None),
        })
        .collect()
}

/// A page without its blocks.
fn prose(text: &str) -> String {
    let mut is_block = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_block ^= is_fence;
        !is_block && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The names of the headings of a page, as mdBook gives them.
fn headings(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.lines().filter(|line| line.starts_with('#')).map(slug).collect()
}

/// The name of a heading.
pub(crate) fn slug(title: &str) -> String {
    let title = title.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter_map(|char| match char {
        _ if char.is_alphanumeric() || char == '-' || char == '_' => Some(char),
        _ if char.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// The pages whose links are tested.
fn linking() -> Vec<String> {
    let mut pages = page::all();
    pages.extend(["docs/src/SUMMARY.md", "examples/README.md"].map(str::to_owned));
    pages
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for name in linking() {
        let text = page::text(&name);
        for (path, heading) in links(&text) {
            let target = root().join(&name).parent().unwrap().join(&path);
            let there = if path.is_empty() { root().join(&name) } else { target };
            let leads = match heading {
                None => there.exists(),
                Some(heading) => std::fs::read_to_string(&there)
                    .is_ok_and(|text| headings(&text).contains(&heading)),
            };
            if !leads {
                broken.push(format!("{name}: {path}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn every_file_of_the_guide_is_led_to() {
    let folder = root().join("docs/src");
    let used: BTreeSet<String> = (linking().iter())
        .filter(|name| name.starts_with("docs/src/"))
        .flat_map(|name| links(&page::text(name)))
        .map(|(path, _)| path)
        .collect();
    let summary: BTreeSet<String> = page::all().into_iter().collect();
    for name in files(&folder) {
        if Path::new(&name).extension().is_some_and(|ending| ending == "md") {
            let is_in = name == "SUMMARY.md" || summary.contains(&format!("docs/src/{name}"));
            assert!(is_in, "{name} is not in SUMMARY.md");
        } else {
            assert!(used.contains(&name), "no page shows {name}");
        }
    }
}

/// The files below a folder, by their paths in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).iter().map(|inner| format!("{name}/{inner}")));
        } else {
            found.push(name);
        }
    }
    found
}

#[test]
fn headings_have_names() {
    assert_eq!(slug("## `mondrian`, strict (the default)"), "mondrian-strict-the-default");
}
