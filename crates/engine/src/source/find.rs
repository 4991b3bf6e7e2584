//! The files of an input: one file, the files of a folder, or what a pattern matches.
//!
//! Only regular files are tables. A pipe or a device would be waited for or read for ever, and a
//! table is read more than once. `**` does not follow links to folders, so that it ends.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::{Elsewhere, EngineError, FileAction, Format};

/// Says, by an error, when to stop.
pub(crate) type GoOn<'a> = &'a dyn Fn() -> Result<(), EngineError>;

/// The files of an input in the order of their names. A path that exists is never taken for a
/// pattern.
pub fn find_files(input: &str, go_on: GoOn) -> Result<Vec<PathBuf>, EngineError> {
    let path = Path::new(input);
    if !path.exists() {
        refuse_address(input)?;
    }
    let found = if path.is_dir() {
        entries(path)?
    } else if std::fs::symlink_metadata(path).is_ok() {
        refuse_special(path)?;
        return Ok(vec![path.to_owned()]);
    } else if input.contains(['*', '?', '[']) {
        matches(input, go_on)?
    } else {
        return Err(no_input(input));
    };
    let mut files = Vec::new();
    for path in found {
        if is_data_file(&path)? {
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    drop_same(&mut files);
    if files.is_empty() { Err(EngineError::NoFiles { path: input.to_owned() }) } else { Ok(files) }
}

/// Drops further names of a file that is there already, by a link or by another way through links
/// to folders: its rows would count twice.
#[cfg(unix)]
fn drop_same(files: &mut Vec<PathBuf>) {
    use std::collections::BTreeSet;
    use std::os::unix::fs::MetadataExt;
    let mut seen = BTreeSet::new();
    files.retain(|path| {
        std::fs::metadata(path).map_or(true, |found| seen.insert((found.dev(), found.ino())))
    });
}

#[cfg(not(unix))]
fn drop_same(files: &mut Vec<PathBuf>) {
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|path| path.canonicalize().map_or(true, |path| seen.insert(path)));
}

/// An error if a name is the address of something else than a file.
pub fn refuse_address(name: &str) -> Result<(), EngineError> {
    let Some((scheme, _)) = name.split_once("://") else { return Ok(()) };
    let is_scheme =
        |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.' | ':');
    if scheme.len() < 2 || !scheme.chars().all(is_scheme) {
        return Ok(());
    }
    let scheme = scheme.to_ascii_lowercase();
    let what = match scheme.as_str() {
        "s3" | "s3a" | "s3n" | "gs" | "gcs" | "az" | "abfs" | "abfss" | "adl" | "wasb"
        | "wasbs" | "r2" | "oss" | "minio" | "hdfs" => Elsewhere::Store,
        "http" | "https" | "ftp" | "ftps" | "sftp" => Elsewhere::Server,
        "file" => Elsewhere::File,
        _ if DATABASES.iter().any(|name| scheme.starts_with(name)) => Elsewhere::Database,
        _ => Elsewhere::Unknown,
    };
    Err(EngineError::NotAPath { scheme, what })
}

/// How the schemes of databases begin: `postgresql+psycopg2` is one, too.
const DATABASES: [&str; 14] = [
    "postgres",
    "mysql",
    "mariadb",
    "mssql",
    "sqlserver",
    "oracle",
    "sqlite",
    "duckdb",
    "snowflake",
    "bigquery",
    "redshift",
    "mongodb",
    "jdbc",
    "odbc",
];

/// The paths in a folder, in no order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let failed =
        |source| EngineError::Io { action: FileAction::Read, path: folder.to_owned(), source };
    let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(shown).map_err(failed)?;
    let path = |entry: std::fs::DirEntry| folder.join(entry.file_name());
    entries.map(|entry| entry.map(path).map_err(failed)).collect()
}

/// Whether a path is a file that its name says to be a table. Folders of such a name are passed
/// over; anything else is refused, since leaving it out would change the table without a word.
fn is_data_file(path: &Path) -> Result<bool, EngineError> {
    if is_hidden(path) || Format::of(path).is_none() || path.is_dir() {
        return Ok(false);
    }
    refuse_special(path).map(|()| true)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_none_or(|name| name.starts_with(['.', '_']))
}

/// An error if a path is no regular file. Nothing is opened.
fn refuse_special(path: &Path) -> Result<(), EngineError> {
    let what = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => return Ok(()),
        Ok(found) => special_kind(&found),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "a link to nothing",
        Err(source) => {
            return Err(EngineError::Io {
                action: FileAction::Read,
                path: path.to_owned(),
                source,
            });
        }
    };
    Err(EngineError::NotAFile { path: path.to_owned(), what })
}

#[cfg(unix)]
fn special_kind(found: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_dir() {
        "a folder"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn special_kind(_found: &std::fs::Metadata) -> &'static str {
    "something else than a file"
}

/// The paths that a pattern matches, part by part.
fn matches(input: &str, go_on: GoOn) -> Result<Vec<PathBuf>, EngineError> {
    let mut found = vec![PathBuf::new()];
    let parts: Vec<Component> = Path::new(input).components().collect();
    for (at, part) in parts.iter().enumerate() {
        go_on()?;
        let text = part.as_os_str().to_str().unwrap_or_default();
        let is_last = at + 1 == parts.len();
        if text == "**" {
            found = with_folders_below(found, go_on)?;
        } else if text.contains(['*', '?', '[']) {
            let pattern = Pattern::new(text).map_err(|_| no_input(input))?;
            found = matching(&found, &pattern, is_last, go_on)?;
        } else {
            let joined = found.iter().map(|path| path.join(part));
            found = joined.filter(|path| std::fs::symlink_metadata(path).is_ok()).collect();
        }
    }
    Ok(found)
}

/// The entries of folders whose names match. Hidden ones match only a pattern that begins with a
/// dot.
fn matching(
    folders: &[PathBuf],
    pattern: &Pattern,
    is_last: bool,
    go_on: GoOn,
) -> Result<Vec<PathBuf>, EngineError> {
    let wants_hidden = pattern.as_str().starts_with('.');
    let mut found = Vec::new();
    for folder in folders {
        go_on()?;
        if !folder.as_os_str().is_empty() && !folder.is_dir() {
            continue;
        }
        for path in entries(folder)? {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let is_seen = wants_hidden || !name.starts_with('.');
            if is_seen && pattern.matches(name) && (is_last || path.is_dir()) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Folders and all folders below them, but for hidden ones and those that only a link leads to.
fn with_folders_below(folders: Vec<PathBuf>, go_on: GoOn) -> Result<Vec<PathBuf>, EngineError> {
    let mut open = folders;
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        go_on()?;
        if !folder.as_os_str().is_empty() && !folder.is_dir() {
            continue;
        }
        for path in entries(&folder)? {
            let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if is_folder && !name.starts_with('.') {
                open.push(path);
            }
        }
        found.push(folder);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn no_input(input: &str) -> EngineError {
    let compressed = ["gz", "zst"].map(|ending| format!("{input}.{ending}"));
    let hint = compressed.into_iter().find(|path| Path::new(path).exists());
    let hint = hint.map_or_else(String::new, |path| format!("; did you mean `{path}`?"));
    EngineError::NoInput { path: input.to_owned(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(place: &Path, pattern: &str) -> Result<Vec<String>, EngineError> {
        let files = find_files(place.join(pattern).to_str().unwrap(), &|| Ok(()))?;
        let name = |path: PathBuf| path.strip_prefix(place).unwrap().to_str().unwrap().to_owned();
        Ok(files.into_iter().map(name).collect())
    }

    #[test]
    fn patterns_match_files_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        for folder in ["a/b", "a/c", ".hidden", "a/x.csv"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["a/1.csv", "a/b/2.csv", "a/c/3.csv", "a/c/4.txt", ".hidden/5.csv", "a/.6.csv"]
        {
            std::fs::write(place.path().join(file), "x").unwrap();
        }
        for (pattern, expected) in [
            ("a", vec!["a/1.csv"]),
            ("a/*.csv", vec!["a/1.csv"]),
            ("**/*.csv", vec!["a/1.csv", "a/b/2.csv", "a/c/3.csv"]),
            ("**/**/c/*", vec!["a/c/3.csv", "a/c/4.txt"]),
            ("*/?/[12].csv", vec!["a/b/2.csv"]),
            ("a/**/c/*.txt", vec!["a/c/4.txt"]),
            (".h*/*.csv", vec![".hidden/5.csv"]),
        ] {
            assert_eq!(found(place.path(), pattern).unwrap(), expected, "{pattern}");
        }
        for pattern in ["**", "b/*.csv", "a/1.csv/*", "a/[", "*.parquet"] {
            assert!(found(place.path(), pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_that_lead_back_and_what_is_no_file() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::create_dir(path("a")).unwrap();
        std::fs::write(path("a/1.csv"), "x").unwrap();
        for name in ["a/back", "a/again", "a/more"] {
            symlink("..", path(name)).unwrap();
        }
        assert_eq!(found(place.path(), "**/*.csv").unwrap(), ["a/1.csv"]);
        // A link that is named, or that a pattern names, is followed.
        assert_eq!(found(place.path(), "a/back/a/*.csv").unwrap(), ["a/back/a/1.csv"]);
        symlink("gone", path("a/2.csv")).unwrap();
        for input in ["a", "a/2.csv", "a/*.csv"] {
            let refused = found(place.path(), input);
            assert!(
                matches!(refused, Err(EngineError::NotAFile { what: "a link to nothing", .. })),
                "{input}: {refused:?}"
            );
        }
        std::fs::remove_file(path("a/2.csv")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, path("a/2.csv"), mode).unwrap();
        symlink("/dev/zero", path("zero.csv")).unwrap();
        for (input, expected) in [
            ("a", "a pipe"),
            ("a/2.csv", "a pipe"),
            ("zero.csv", "a device"),
            ("*.csv", "a device"),
        ] {
            let refused = found(place.path(), input);
            assert!(
                matches!(refused, Err(EngineError::NotAFile { what, .. }) if what == expected),
                "{input}: {refused:?}"
            );
        }
    }

    #[test]
    fn addresses_are_told_from_paths() {
        let place = tempfile::tempdir().unwrap();
        for (address, expected) in [
            ("s3://bucket/key.parquet", "an object store or a distributed file system"),
            ("postgresql+psycopg2://user:secret@host/db", "a database"),
            ("https://example.org/t.csv", "the address of a server"),
            ("file:///tmp/t.csv", "the address of a file"),
            ("jdbc:postgresql://host/db?password=secret", "a database"),
            ("foo://t.csv", "an address"),
        ] {
            let refused = find_files(address, &|| Ok(())).unwrap_err();
            let said = refused.to_string();
            assert!(said.contains(expected) && !said.contains("secret"), "{said}");
        }
        let is_missing = |error| matches!(error, Err(EngineError::NoInput { .. }));
        assert!(is_missing(find_files("x://y/t.csv", &|| Ok(()))));
        std::fs::create_dir(place.path().join("s3:")).unwrap();
        assert!(found(place.path(), "s3://t.csv").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_two_names_is_one_file() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::write(path("b.csv"), "a\n1\n").unwrap();
        std::os::unix::fs::symlink("b.csv", path("latest.csv")).unwrap();
        std::fs::hard_link(path("b.csv"), path("c.csv")).unwrap();
        std::os::unix::fs::symlink(".", path("self")).unwrap();
        let all = |input: &Path| find_files(input.to_str().unwrap(), &|| Ok(())).unwrap();
        assert_eq!(all(place.path()), [path("b.csv")]);
        assert_eq!(all(&path("*/*.csv")), [path("self/b.csv")]);
        std::fs::write(path("d.csv"), "a\n1\n").unwrap();
        assert_eq!(all(place.path()), [path("b.csv"), path("d.csv")]);
    }

    #[test]
    fn a_cancelled_search_ends() {
        let place = tempfile::tempdir().unwrap();
        let pattern = place.path().join("**/*.csv");
        let ended = find_files(pattern.to_str().unwrap(), &|| Err(EngineError::Cancelled));
        assert!(matches!(ended, Err(EngineError::Cancelled)), "{ended:?}");
    }
}
