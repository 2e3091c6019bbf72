//! A folder of this process for the files that a target makes.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// In `GLOOM_FUZZ_DIR` (where `scripts/fuzz` names one in memory), else where temporary files are.
pub fn folder() -> &'static Path {
    FOLDER.get_or_init(|| {
        let parent = std::env::var_os("GLOOM_FUZZ_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = parent.join(format!("gloom-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for files can be made");
        // SAFETY: a function that lives as long as the process.
        unsafe { libc::atexit(remove) };
        folder
    })
}

extern "C" fn remove() {
    if let Some(folder) = FOLDER.get() {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// The path of a file, for Rust and for C.
pub fn file(name: &str) -> (PathBuf, CString) {
    let path = folder().join(name);
    let for_c = CString::new(path.to_str().expect("UTF-8")).expect("no zero");
    (path, for_c)
}
