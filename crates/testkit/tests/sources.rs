//! The repository cites only what it contains: definitions are in `docs/`, papers are named by
//! authors and title.

use std::path::{Path, PathBuf};

/// Names of files and folders that a reader of the repository does not have, in two halves so that
/// this file does not contain them.
const ELSEWHERE: [(&str, &str); 3] = [("DESIGN", ".md"), ("STYLE", ".md"), ("papers", "/")];

/// Folders of builds and of version control, by name.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// All files below a folder; links are not followed.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder that can be read") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("a kind");
        let name = entry.file_name();
        if kind.is_dir() && SKIPPED.iter().all(|skipped| name != *skipped) {
            files(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

#[test]
fn no_file_cites_missing_documents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    files(&root, &mut all);
    let needles = ELSEWHERE.map(|(first, second)| format!("{first}{second}"));
    let mut citing = Vec::new();
    for file in &all {
        let bytes = std::fs::read(file).expect("a file that can be read");
        // Files that are not text (archives, binaries) cite nothing.
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            if needles.iter().any(|needle| line.contains(needle.as_str())) {
                citing.push(format!("{}:{number}", file.display()));
            }
        }
    }
    assert!(all.len() > 100, "the whole repository was looked at");
    assert!(citing.is_empty(), "cites what readers do not have: {citing:#?}");
}
