//! The page of commands has every command and every flag, and none that is not there.

use std::collections::{BTreeMap, BTreeSet};

use super::links::slug;
use super::page;
use crate::harness::Folder;

const PAGE: &str = "docs/src/commands.md";

/// What `--help` says, by command; commands of commands too.
fn helps() -> BTreeMap<String, String> {
    let folder = Folder::with(&[]);
    let mut helps = BTreeMap::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let text = folder.ok(&format!("{command} --help")).stdout;
        let listed = text.split("Commands:\n").nth(1).unwrap_or_default();
        let names = listed.lines().take_while(|line| !line.is_empty());
        // A name stands two blanks in; what is said of it goes on further in.
        let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let names = names.filter(is_name).filter_map(|line| line.split_whitespace().next());
        let inner: Vec<String> = (names.filter(|&name| name != "help"))
            .map(|name| format!("{command} {name}").trim().to_owned())
            .collect();
        if inner.is_empty() {
            helps.insert(command, text);
        }
        open.extend(inner);
    }
    helps
}

/// The flags of a help text or of the first cells of tables: `--long`, or `-s` where there is no
/// long form.
fn flags_of_help(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let flag = |line: &str| {
        let names: Vec<&str> =
            line.split([' ', ',']).filter(|word| word.starts_with('-')).collect();
        let long = names.iter().take(2).find(|name| name.starts_with("--"));
        (*long.unwrap_or(&names[0])).to_owned()
    };
    lines.map(flag).filter(|flag| !["--help", "--version"].contains(&flag.as_str())).collect()
}

/// The sections of a page by the name of their heading.
fn sections(text: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if line.starts_with('#') {
            heading = slug(line);
        }
        *sections.entry(heading.clone()).or_insert_with(String::new) += &format!("{line}\n");
    }
    sections
}

/// The flags in the first cells of a section's tables.
fn flags_of_tables(section: &str) -> BTreeSet<String> {
    let cells = section.lines().filter_map(|line| line.strip_prefix("| `-"));
    let flag = |cell: &str| {
        let cell = format!("-{}", cell.split('|').next().unwrap_or_default());
        let mut names = cell.split([' ', ',', '`', '=']).filter(|word| word.starts_with('-'));
        let first = names.next().unwrap_or_default().to_owned();
        names.find(|name| name.starts_with("--")).map_or(first, str::to_owned)
    };
    cells.map(flag).collect()
}

#[test]
fn every_command_and_flag_is_explained() {
    let sections = sections(&page::text(PAGE));
    let mut wrong = Vec::new();
    for (command, help) in helps() {
        let heading = slug(&format!("incrowd {command}"));
        let Some(section) = sections.get(&heading) else {
            wrong.push(format!("no section `incrowd {command}`"));
            continue;
        };
        let shared = section.split("](#").skip(1).filter_map(|rest| rest.split(')').next());
        let tables: Vec<&String> =
            std::iter::once(section).chain(shared.map(|name| &sections[name])).collect();
        let explained: BTreeSet<String> =
            tables.iter().flat_map(|section| flags_of_tables(section)).collect();
        let known = flags_of_help(&help);
        let lacking = known.difference(&explained).map(|flag| format!("{command}: no {flag}"));
        let stale = explained.difference(&known).map(|flag| format!("{command}: has no {flag}"));
        wrong.extend(lacking.chain(stale));
    }
    assert!(wrong.is_empty(), "{PAGE}: {wrong:#?}");
}
