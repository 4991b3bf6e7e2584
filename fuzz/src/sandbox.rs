//! Where targets put their files, and the engine that reads them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use incrowd_engine::Engine;

/// The folder of this process: below `INCROWD_FUZZ_FOLDER`, or below the system's folder for
/// temporary files.
pub fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let above = std::env::var_os("INCROWD_FUZZ_FOLDER");
        let above = above.map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = above.join(format!("incrowd-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        folder
    })
}

/// The path of a file in the folder.
#[must_use]
pub fn path(name: &str) -> String {
    folder().join(name).to_str().expect("a plain path").to_owned()
}

/// Writes a file in the folder; its path.
#[expect(clippy::must_use_candidate, reason = "the path is also known by the name")]
pub fn write(name: &str, bytes: &[u8]) -> String {
    let path = path(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    path
}

/// Removes a file or folder in the folder if it is there.
pub fn remove(name: &str) {
    let path = folder().join(name);
    if path.is_dir() {
        let _ = std::fs::remove_dir_all(path);
    } else {
        let _ = std::fs::remove_file(path);
    }
}

/// An engine with one thread, started once.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(1, Arc::default(), Arc::default()))
}
