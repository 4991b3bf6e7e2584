//! Where a release goes: a file, or a folder of numbered parts.
//!
//! A folder comes into being like a file does ([`Staged`]): its parts are written into a
//! folder beside it that only its owner can open, flushed, read back; a manifest is written last, and one
//! rename gives it all its name. A folder that is replaced changes places with the new one in a single
//! step where the system can do that. Where it cannot, the old folder is moved aside first, under a name
//! that begins with `.incrowd-old-` and that no later run removes.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::stage::{Opened, folder_of, prefix, remove_stale, share};
use crate::{Compression, EngineError, Format, Staged};

const MANIFEST: &str = "_manifest.json";
const PART: &str = "part-";

/// Where a release goes, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    path: PathBuf,
    format: Format,
    /// With how many rows a part is complete; none for a single file.
    part_rows: Option<u64>,
}

impl Output {
    /// Rows of a part, unless it is said.
    pub const PART_ROWS: u64 = 10_000_000;

    /// What a name stands for. One that ends in `/` is a folder of parts, Parquet unless it says otherwise,
    /// each of which ends with the first chunk that gives it `part_rows` rows or more.
    pub fn named(name: &str, part_rows: Option<u64>) -> Result<Output, EngineError> {
        let path: PathBuf = Path::new(name).components().collect();
        if !Output::is_folder(name) {
            let format = Format::of_output(&path)?;
            return Ok(Output { path, format, part_rows: None });
        }
        if path.file_name().is_none() {
            return Err(EngineError::NoName { path: name.to_owned() });
        }
        let format = match Format::of(&path) {
            Some(_) => Format::of_output(&path)?,
            None => Format::Parquet,
        };
        let part_rows = Some(part_rows.unwrap_or(Output::PART_ROWS).max(1));
        Ok(Output { path, format, part_rows })
    }

    /// Whether a name stands for a folder of parts.
    #[must_use]
    pub fn is_folder(name: &str) -> bool {
        name.ends_with(std::path::is_separator)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Makes room for it beside its place.
    pub fn stage(&self) -> Result<Staging, EngineError> {
        let place = match self.part_rows {
            None => Place::File(Staged::new(&self.path)?),
            Some(part_rows) => Place::Folder(StagedFolder::new(self, part_rows)?),
        };
        Ok(Staging { format: self.format, place })
    }
}

/// A release that waits to be published.
#[derive(Debug)]
pub struct Staging {
    format: Format,
    place: Place,
}

#[derive(Debug)]
enum Place {
    File(Staged),
    Folder(StagedFolder),
}

#[derive(Debug)]
struct StagedFolder {
    folder: TempDir,
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
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::File(file) => file.path(),
            Place::Folder(folder) => folder.folder.path(),
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
        }
    }

    /// The name of the first file, which says how its cells are divided.
    pub(crate) fn first_name(&self) -> PathBuf {
        match &self.place {
            Place::File(file) => file.target().to_owned(),
            Place::Folder(folder) => folder.name_of(0).into(),
        }
    }

    /// The file of a part for whoever writes it. A single file is its only part.
    pub(crate) fn open(&self, part: usize) -> Result<Opened, EngineError> {
        match &self.place {
            Place::File(file) => file.open(),
            Place::Folder(folder) => folder.open(part),
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
        let n_bytes = n_bytes.map_err(|source| folder.io("writing", source))?.len();
        folder.parts().push(Part { name, n_rows, n_bytes });
        Ok(())
    }

    /// Waits until the bytes are on the disk.
    pub fn flush(&self) -> Result<(), EngineError> {
        match &self.place {
            Place::File(file) => file.flush(),
            Place::Folder(folder) => folder.each_part(File::sync_all),
        }
    }

    /// Gives the release its name. Without `force` what is there is left alone; with it, a folder that holds
    /// anything but a release is. `manifest` says what is written of the parts of a folder.
    pub fn publish(
        self,
        force: bool,
        manifest: impl FnOnce(&[Part]) -> String,
    ) -> Result<(), EngineError> {
        match self.place {
            Place::File(file) => file.publish(force),
            Place::Folder(folder) => {
                let text = manifest(&folder.parts());
                folder.publish(force, &text)
            }
        }
    }
}

impl StagedFolder {
    fn new(output: &Output, part_rows: u64) -> Result<StagedFolder, EngineError> {
        let (target, beside) = (output.path.clone(), folder_of(&output.path));
        remove_stale(beside);
        let prefix = prefix();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        crate::spill::private(&mut builder);
        let folder = builder.tempdir_in(beside).map_err(|source| EngineError::Io {
            action: "creating a folder beside",
            path: target.clone(),
            source,
        })?;
        let ending = ending(output);
        Ok(StagedFolder { folder, target, ending, part_rows, parts: Mutex::default() })
    }

    fn name_of(&self, part: usize) -> String {
        format!("{PART}{part:05}{}", self.ending)
    }

    fn open(&self, part: usize) -> Result<Opened, EngineError> {
        let name = self.name_of(part);
        let target = self.target.join(&name);
        let file =
            OpenOptions::new().write(true).create_new(true).open(self.folder.path().join(&name));
        match file {
            Ok(file) => Ok(Opened { file, target }),
            Err(source) => Err(EngineError::Io { action: "writing", path: target, source }),
        }
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Vec<Part>> {
        self.parts.lock().expect("no writer panics while it takes note of a part")
    }

    fn each_part(&self, act: impl Fn(&File) -> std::io::Result<()>) -> Result<(), EngineError> {
        self.parts().iter().try_for_each(|part| {
            let file = OpenOptions::new().write(true).open(self.folder.path().join(&part.name));
            file.and_then(|file| act(&file)).map_err(|source| self.io("writing", source))
        })
    }

    fn io(&self, action: &'static str, source: std::io::Error) -> EngineError {
        EngineError::Io { action, path: self.target.clone(), source }
    }

    fn publish(self, force: bool, manifest: &str) -> Result<(), EngineError> {
        let failed = |source| self.io("publishing", source);
        self.each_part(share)?;
        let path = self.folder.path();
        let mut file = File::create(path.join(MANIFEST)).map_err(failed)?;
        file.write_all(manifest.as_bytes()).map_err(failed)?;
        share(&file).and_then(|()| file.sync_all()).map_err(failed)?;
        share_folder(path).map_err(failed)?;
        // The names of the parts reach the disk before that of the folder; not every system can do that.
        let _ = File::open(path).and_then(|folder| folder.sync_all());
        if !self.target.exists() {
            rename_new(path, &self.target)
        } else if !force {
            return Err(EngineError::Exists { path: self.target.clone() });
        } else if !is_folder_of_parts(&self.target) {
            return Err(EngineError::NotOurs { path: self.target.clone() });
        } else {
            exchange(path, &self.target)
        }
        .map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => EngineError::Exists { path: self.target.clone() },
            _ => self.io("publishing", source),
        })?;
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
        // What stands under the staged name now is what was replaced, if anything was.
        let _ = self.folder.close();
        Ok(())
    }
}

/// How the names of the parts end.
fn ending(output: &Output) -> String {
    let compressed = |compression| match compression {
        Compression::None => "",
        Compression::Gzip => ".gz",
        Compression::Zstd => ".zst",
    };
    let dialect = crate::csv_sink::dialect_of(&output.path);
    match output.format {
        Format::Csv(compression) if dialect.delimiter == b'\t' => {
            format!(".tsv{}", compressed(compression))
        }
        Format::Csv(compression) => format!(".csv{}", compressed(compression)),
        Format::JsonLines(compression) => format!(".jsonl{}", compressed(compression)),
        Format::Parquet => ".parquet".to_owned(),
        Format::Arrow => ".arrow".to_owned(),
    }
}

/// Whether a folder holds a release and nothing else: whether it may be replaced.
#[must_use]
pub fn is_folder_of_parts(path: &Path) -> bool {
    let is_ours = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            (name == MANIFEST || name.starts_with(PART)) && !entry.path().is_dir()
        })
    };
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.all(is_ours))
}

#[cfg(unix)]
fn share_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn share_folder(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Renames a folder unless there is something of that name.
fn rename_new(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system knows how.
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
            done => return done.map_err(Into::into),
        }
    }
    std::fs::rename(from, to)
}

/// Lets two folders change places.
fn exchange(new: &Path, old: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
            done => return done.map_err(Into::into),
        }
    }
    move_aside(new, old)
}

/// The same in steps, for systems that cannot do it at once. Whenever it ends, one of the two is there.
fn move_aside(new: &Path, old: &Path) -> std::io::Result<()> {
    let name = old.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let aside = folder_of(old).join(format!(".incrowd-old-{}-{name}", std::process::id()));
    std::fs::rename(old, &aside)?;
    if let Err(error) = std::fs::rename(new, old) {
        std::fs::rename(&aside, old)?;
        return Err(error);
    }
    // A release that cannot be removed does no harm under this name.
    let _ = std::fs::remove_dir_all(&aside);
    Ok(())
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
        ] {
            let output = Output::named(name, None).unwrap();
            assert_eq!((output.format, ending(&output).as_str()), (format, end), "{name}");
            assert_eq!(output.part_rows, Some(Output::PART_ROWS), "{name}");
        }
        assert_eq!(Output::named("r.csv", None).unwrap().part_rows, None);
        for name in ["r.jsonl/", "./", "/", "../"] {
            assert!(Output::named(name, None).is_err(), "{name}");
        }
    }

    fn publish(target: &Path, manifest: &str, force: bool) -> Result<(), EngineError> {
        let output = Output::named(&format!("{}/", target.display()), None).unwrap();
        let staging = output.stage().unwrap();
        staging.open(0).unwrap().file.write_all(b"x").unwrap();
        staging.add(0, 1).unwrap();
        staging.flush().unwrap();
        staging.publish(force, |parts| {
            assert_eq!((parts.len(), parts[0].n_rows, parts[0].n_bytes), (1, 1, 1));
            manifest.to_owned()
        })
    }

    #[test]
    fn a_folder_is_published_as_a_whole_and_replaced_as_a_whole() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("r.csv");
        let manifest = || std::fs::read_to_string(target.join(MANIFEST)).unwrap();
        publish(&target, "one", false).unwrap();
        assert!(matches!(publish(&target, "two", false), Err(EngineError::Exists { .. })));
        assert_eq!(manifest(), "one");
        publish(&target, "two", true).unwrap();
        assert_eq!(manifest(), "two");
        std::fs::write(target.join("thesis.txt"), "x").unwrap();
        assert!(matches!(publish(&target, "three", true), Err(EngineError::NotOurs { .. })));
        assert_eq!(manifest(), "two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&target), 0o755);
            assert_eq!(mode(&target.join("part-00000.csv")), 0o644);
            assert_eq!(mode(&target.join(MANIFEST)), 0o644);
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn folders_change_places_in_steps_where_they_must() {
        let place = tempfile::tempdir().unwrap();
        let [new, old] = ["new", "old"].map(|name| place.path().join(name));
        for folder in [&new, &old] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(MANIFEST), folder.to_str().unwrap()).unwrap();
        }
        move_aside(&new, &old).unwrap();
        assert_eq!(std::fs::read_to_string(old.join(MANIFEST)).unwrap(), new.to_str().unwrap());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
