//! Where a release goes: a file, a folder of numbered parts, or memory.
//!
//! A folder comes into being like a file does ([`Staged`]): its parts are written into a
//! folder beside it that only its owner can open, flushed, read back; a manifest is written last,
//! and one rename gives it all its name ([`crate::publish()`]).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::held::{HeldFolder, private, remove_stale};
use super::memory::{Slot, StagedBatches};
use super::stage::{Access, Opened, PREFIX, folder_of, share, share_folder};
use crate::format::csv_write::Dialect;
use crate::{Batches, Compression, EngineError, FileAction, Format, Staged};

const MANIFEST: &str = "_manifest.json";
const PART: &str = "part-";
/// What messages call a release that stays in memory.
const IN_MEMORY: &str = "the release in memory";

/// Where a release goes, and as what.
#[derive(Clone, Debug)]
pub struct Output {
    format: Format,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    File(PathBuf),
    Folder {
        path: PathBuf,
        /// Rows after which a part is complete.
        part_rows: u64,
    },
    Memory(Slot),
}

impl Output {
    /// Rows of a part, unless it is said.
    pub const PART_ROWS: u64 = 10_000_000;

    /// What a name stands for. One that ends in `/` is a folder of parts, Parquet unless it says
    /// otherwise, each of which ends with the first chunk that gives it `part_rows` rows or more.
    pub fn named(name: &str, part_rows: Option<u64>) -> Result<Output, EngineError> {
        let path: PathBuf = Path::new(name).components().collect();
        if !Output::is_folder(name) {
            let format = Format::of_output(&path)?;
            return Ok(Output { format, target: Target::File(path) });
        }
        if path.file_name().is_none() {
            return Err(EngineError::NoName { path: name.to_owned() });
        }
        let format = match Format::of(&path) {
            Some(_) => Format::of_output(&path)?,
            None => Format::Parquet,
        };
        let part_rows = part_rows.unwrap_or(Output::PART_ROWS).max(1);
        Ok(Output { format, target: Target::Folder { path, part_rows } })
    }

    /// A release that stays in memory, as an Arrow file would hold it. It is in the slot once it is
    /// published.
    #[must_use]
    pub fn in_memory(slot: &Slot) -> Output {
        Output { format: Format::Arrow, target: Target::Memory(slot.clone()) }
    }

    /// Whether a name stands for a folder of parts.
    #[must_use]
    pub fn is_folder(name: &str) -> bool {
        name.ends_with(std::path::is_separator)
    }

    /// Its path, unless it stays in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.target {
            Target::File(path) | Target::Folder { path, .. } => Some(path),
            Target::Memory(_) => None,
        }
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Makes room for it beside its place.
    pub fn stage(&self) -> Result<Staging, EngineError> {
        let place = match &self.target {
            Target::File(path) => Place::File(Staged::new(path, Access::Shared)?),
            Target::Folder { path, part_rows } => {
                Place::Folder(StagedFolder::new(path, self.format, *part_rows)?)
            }
            Target::Memory(slot) => Place::Memory(StagedBatches::new(slot)),
        };
        Ok(Staging { format: self.format, place })
    }
}

/// What the manifest of a folder of parts reads, given its parts.
pub type Manifest<'a> = &'a dyn Fn(&[Part]) -> String;

/// A release that waits to be published.
#[derive(Debug)]
pub struct Staging {
    format: Format,
    place: Place,
}

/// Where the bytes of a release are.
#[derive(Debug)]
pub(crate) enum Place {
    File(Staged),
    Folder(StagedFolder),
    Memory(StagedBatches),
}

/// A folder of parts that waits to be published.
#[derive(Debug)]
pub(crate) struct StagedFolder {
    folder: HeldFolder,
    target: PathBuf,
    /// How the names of parts end.
    ending: String,
    part_rows: u64,
    parts: Mutex<Vec<Part>>,
}

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name in the folder.
    pub name: String,
    /// Rows.
    pub n_rows: u64,
    /// Bytes.
    pub n_bytes: u64,
}

impl Staging {
    /// Where the bytes are, for whoever reads them back.
    pub(crate) fn path(&self) -> &Path {
        match &self.place {
            Place::File(file) => file.path(),
            Place::Folder(folder) => folder.folder.path(),
            Place::Memory(_) => Path::new(IN_MEMORY),
        }
    }

    /// What was written, where it stays in memory.
    pub(crate) fn written(&self) -> Option<Batches> {
        self.batches()?.written()
    }

    /// The staged batches of a release that stays in memory.
    pub(crate) fn batches(&self) -> Option<&StagedBatches> {
        match &self.place {
            Place::Memory(batches) => Some(batches),
            Place::File(_) | Place::Folder(_) => None,
        }
    }

    /// The files under the names that they will have, and where their bytes are now.
    #[must_use]
    pub fn files(&self) -> Vec<(String, PathBuf)> {
        match &self.place {
            Place::File(file) => {
                let name = file.target().file_name().unwrap_or_default();
                vec![(name.to_string_lossy().into_owned(), file.path().to_owned())]
            }
            Place::Folder(folder) => {
                let parts = folder.parts.lock().expect("no writer panics");
                let place =
                    |part: &Part| (part.name.clone(), folder.folder.path().join(&part.name));
                parts.iter().map(place).collect()
            }
            Place::Memory(_) => Vec::new(),
        }
    }

    /// The format of the release.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The name that people know.
    pub(crate) fn target(&self) -> &Path {
        match &self.place {
            Place::File(file) => file.target(),
            Place::Folder(folder) => &folder.target,
            Place::Memory(_) => Path::new(IN_MEMORY),
        }
    }

    /// The name of the first file, which says how its cells are divided.
    pub(crate) fn first_name(&self) -> PathBuf {
        match &self.place {
            Place::File(file) => file.target().to_owned(),
            Place::Folder(folder) => folder.name_of(0).into(),
            Place::Memory(_) => IN_MEMORY.into(),
        }
    }

    /// The file of a part for whoever writes it. A single file is its only part.
    pub(crate) fn open(&self, part: usize) -> Result<Opened, EngineError> {
        match &self.place {
            Place::File(file) => file.open(),
            Place::Folder(folder) => folder.open(part),
            Place::Memory(_) => unreachable!("what stays in memory has no file"),
        }
    }

    /// Whether a part with so many rows is complete.
    pub(crate) fn is_complete(&self, n_rows: u64) -> bool {
        matches!(&self.place, Place::Folder(folder) if n_rows >= folder.part_rows)
    }

    /// Takes note of a part that was written.
    pub(crate) fn add(&self, part: usize, n_rows: u64) -> Result<(), EngineError> {
        let Place::Folder(folder) = &self.place else { return Ok(()) };
        let name = folder.name_of(part);
        let n_bytes = std::fs::metadata(folder.folder.path().join(&name));
        let n_bytes = n_bytes.map_err(|source| folder.io(FileAction::Write, source))?.len();
        folder.parts().push(Part { name, n_rows, n_bytes });
        Ok(())
    }

    /// Waits until the bytes are on the disk.
    pub fn flush(&self) -> Result<(), EngineError> {
        match &self.place {
            Place::File(file) => file.flush(),
            Place::Folder(folder) => folder.each_part(File::sync_all),
            Place::Memory(_) => Ok(()),
        }
    }

    /// The release with all that it needs but its name. `manifest` says what is written of the
    /// parts of a folder.
    pub(crate) fn ready(self, manifest: Manifest) -> Result<Place, EngineError> {
        if let Place::Folder(folder) = &self.place {
            let text = manifest(&folder.parts());
            folder.complete(&text)?;
        }
        Ok(self.place)
    }
}

impl StagedFolder {
    fn new(path: &Path, format: Format, part_rows: u64) -> Result<StagedFolder, EngineError> {
        let (target, beside) = (path.to_owned(), folder_of(path));
        let folder = HeldFolder::create(beside, PREFIX).map_err(|source| EngineError::Io {
            action: FileAction::CreateFolderBeside,
            path: target.clone(),
            source,
        })?;
        remove_stale(beside, PREFIX, folder.lock());
        let ending = ending(path, format);
        Ok(StagedFolder { folder, target, ending, part_rows, parts: Mutex::default() })
    }

    fn name_of(&self, part: usize) -> String {
        format!("{PART}{part:05}{}", self.ending)
    }

    fn open(&self, part: usize) -> Result<Opened, EngineError> {
        let name = self.name_of(part);
        let target = self.target.join(&name);
        let file = private().write(true).create_new(true).open(self.folder.path().join(&name));
        match file {
            Ok(file) => Ok(Opened { file, target }),
            Err(source) => Err(EngineError::Io { action: FileAction::Write, path: target, source }),
        }
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Vec<Part>> {
        self.parts.lock().expect("no writer panics while it takes note of a part")
    }

    fn each_part(&self, act: impl Fn(&File) -> std::io::Result<()>) -> Result<(), EngineError> {
        self.parts().iter().try_for_each(|part| {
            let file = OpenOptions::new().write(true).open(self.folder.path().join(&part.name));
            file.and_then(|file| act(&file)).map_err(|source| self.io(FileAction::Write, source))
        })
    }

    fn io(&self, action: FileAction, source: std::io::Error) -> EngineError {
        EngineError::Io { action, path: self.target.clone(), source }
    }

    /// Where the folder is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The name that people know.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Writes the manifest and lets others read what they may.
    fn complete(&self, manifest: &str) -> Result<(), EngineError> {
        let failed = |source| self.io(FileAction::Publish, source);
        self.each_part(share)?;
        let path = self.folder.path();
        let file = private().write(true).create_new(true).open(path.join(MANIFEST));
        let mut file = file.map_err(failed)?;
        file.write_all(manifest.as_bytes()).map_err(failed)?;
        share(&file).and_then(|()| file.sync_all()).map_err(failed)?;
        share_folder(path).map_err(failed)?;
        // The names of the parts reach the disk before that of the folder; not every system can do
        // that.
        let _ = File::open(path).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// An error if its place is taken by anything but a release.
    pub(crate) fn refuse_foreign(&self) -> Result<(), EngineError> {
        match foreign_in(&self.target) {
            Some(file) => Err(EngineError::NotOurs { path: self.target.clone(), file }),
            None => Ok(()),
        }
    }
}

/// How the names of the parts end.
fn ending(path: &Path, format: Format) -> String {
    let compressed = |compression| match compression {
        Compression::None => "",
        Compression::Gzip => ".gz",
        Compression::Zstd => ".zst",
    };
    let dialect = Dialect::of(path);
    match format {
        Format::Csv(compression) if dialect.delimiter == b'\t' => {
            format!(".tsv{}", compressed(compression))
        }
        Format::Csv(compression) => format!(".csv{}", compressed(compression)),
        Format::JsonLines(compression) => format!(".jsonl{}", compressed(compression)),
        Format::Parquet => ".parquet".to_owned(),
        Format::Arrow => ".arrow".to_owned(),
    }
}

/// What keeps a path from being replaced by a folder of parts: a file in it, or itself, that is no
/// part of a release of ours. A folder is ours if its manifest lists all its other files; an empty
/// one is nobody's.
#[must_use]
pub fn foreign_in(path: &Path) -> Option<PathBuf> {
    // A link to a folder is not the folder.
    let is_folder = match std::fs::symlink_metadata(path) {
        Ok(found) => found.is_dir(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(_) => false,
    };
    let Some(entries) = is_folder.then(|| std::fs::read_dir(path).ok()).flatten() else {
        return Some(path.to_owned());
    };
    let listed = listed_in(&path.join(MANIFEST));
    let is_ours = |entry: &std::fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|found| found.is_file());
        let (name, listed) = (entry.file_name(), listed.as_deref());
        is_file && listed.is_some_and(|all| name == MANIFEST || all.iter().any(|own| name == **own))
    };
    let mut foreign = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) if is_ours(&entry) => {}
            Ok(entry) => foreign.push(entry.path()),
            Err(_) => foreign.push(path.to_owned()),
        }
    }
    foreign.into_iter().min()
}

/// The names of parts that a manifest lists, if it is one of ours.
fn listed_in(manifest: &Path) -> Option<Vec<String>> {
    // A manifest takes about 80 bytes a part.
    const MOST: u64 = 1 << 30;
    let found = std::fs::symlink_metadata(manifest).ok()?;
    if !found.is_file() || found.len() > MOST {
        return None;
    }
    let text = std::fs::read_to_string(manifest).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    manifest.get("incrowd")?.as_str()?;
    let name = |part: &serde_json::Value| part.get("name")?.as_str().map(str::to_owned);
    let names: Vec<String> =
        manifest.get("parts")?.as_array()?.iter().map(name).collect::<Option<_>>()?;
    names.iter().all(|name| name.starts_with(PART)).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_written() {
        let parquet = (Format::Parquet, ".parquet");
        for (name, (format, end)) in [
            ("out/", parquet),
            ("a/release.parquet/", parquet),
            ("release.v2/", parquet),
            ("r.csv.gz/", (Format::Csv(Compression::Gzip), ".csv.gz")),
            ("r.tsv/", (Format::Csv(Compression::None), ".tsv")),
            ("r.arrow/", (Format::Arrow, ".arrow")),
            ("r.jsonl/", (Format::JsonLines(Compression::None), ".jsonl")),
        ] {
            let output = Output::named(name, None).unwrap();
            let ending = ending(output.path().unwrap(), output.format);
            assert_eq!((output.format, ending.as_str()), (format, end), "{name}");
            let all = Output::PART_ROWS;
            assert!(matches!(output.target, Target::Folder { part_rows, .. } if part_rows == all));
        }
        assert!(matches!(Output::named("r.csv", None).unwrap().target, Target::File(_)));
        for name in ["./", "/", "../"] {
            assert!(Output::named(name, None).is_err(), "{name}");
        }
    }

    fn publish(target: &Path, version: &str, force: bool) -> Result<(), EngineError> {
        let output = Output::named(&format!("{}/", target.display()), None).unwrap();
        let staging = output.stage().unwrap();
        staging.open(0).unwrap().file.write_all(b"x").unwrap();
        staging.add(0, 1).unwrap();
        staging.flush().unwrap();
        let manifest = |parts: &[Part]| {
            assert_eq!((parts.len(), parts[0].n_rows, parts[0].n_bytes), (1, 1, 1));
            let part = format!(r#"{{"name": "{}"}}"#, parts[0].name);
            format!(r#"{{"incrowd": "{version}", "parts": [{part}]}}"#)
        };
        crate::publish(Vec::new(), Some((staging, &manifest)), force, || Ok(()))
    }

    #[test]
    fn a_folder_is_published_as_a_whole_and_replaced_as_a_whole() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("r.csv");
        let is_by = |version: &str| {
            std::fs::read_to_string(target.join(MANIFEST)).unwrap().contains(version)
        };
        publish(&target, "one", false).unwrap();
        assert!(matches!(publish(&target, "two", false), Err(EngineError::Exists { .. })));
        assert!(is_by("one"));
        publish(&target, "two", true).unwrap();
        assert!(is_by("two"));
        // Neither another file nor a part of somebody else's is ours to remove.
        for name in ["thesis.txt", "part-00001.csv", "part-00000.csv.bak"] {
            std::fs::write(target.join(name), "x").unwrap();
            let refused = publish(&target, "three", true);
            assert!(
                matches!(&refused, Err(EngineError::NotOurs { file, .. }) if file.ends_with(name)),
                "{refused:?}"
            );
            assert!(is_by("two"));
            std::fs::remove_file(target.join(name)).unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            let [file, folder] = ["file", "folder"].map(|name| place.path().join(name));
            std::fs::write(&file, "").unwrap();
            std::fs::create_dir(&folder).unwrap();
            assert_eq!(mode(&target), mode(&folder));
            assert_eq!(mode(&target.join("part-00000.csv")), mode(&file));
            assert_eq!(mode(&target.join(MANIFEST)), mode(&file));
            std::fs::remove_file(file).unwrap();
            std::fs::remove_dir(folder).unwrap();
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn a_folder_is_ours_if_its_manifest_lists_its_files() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("r");
        assert_eq!(foreign_in(&target), None, "nothing is there");
        std::fs::create_dir(&target).unwrap();
        assert_eq!(foreign_in(&target), None, "an empty folder");
        let part = target.join("part-00000.csv");
        std::fs::write(&part, "x").unwrap();
        assert_eq!(foreign_in(&target), Some(part.clone()), "no manifest");
        let manifest = target.join(MANIFEST);
        for text in ["", "{}", "[]", r#"{"incrowd": "1", "parts": [{"name": "../x"}]}"#] {
            std::fs::write(&manifest, text).unwrap();
            assert_eq!(foreign_in(&target), Some(manifest.clone()), "{text}");
        }
        let text = r#"{"incrowd": "1", "parts": [{"name": "part-00000.csv"}]}"#;
        std::fs::write(&manifest, text).unwrap();
        assert_eq!(foreign_in(&target), None);
        std::fs::remove_file(&part).unwrap();
        std::fs::create_dir(&part).unwrap();
        assert_eq!(foreign_in(&target), Some(part), "a folder in place of a part");
        assert_eq!(foreign_in(&manifest), Some(manifest), "a file");
    }
}
