//! The library as its users get it.

use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A build of the library. Each is made once in a test process, and by cargo only if something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `libgloom.a`
    Static,
    /// `libgloom.so`
    Shared,
    /// `libgloom.a` in which the Rust code, too, is watched by AddressSanitizer.
    AddressSanitizer,
}

/// What a static library of Rust needs beside it, as `--print native-static-libs` tells. That prints only when it compiles, and
/// makes another build of the same library; the link fails if this list lacks something.
const NATIVE_LIBRARIES: &[&str] = if cfg!(target_os = "macos") {
    &["-lSystem", "-lc", "-lm"]
} else {
    &["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"]
};

/// What programs that were linked with the shared library look for.
pub const SONAME: &str = "libgloom.so.0";

/// Puts a link with that name beside the library, by way of another name: tests run at the same time.
#[cfg(target_os = "linux")]
fn link_by_soname(folder: &Path) {
    let unfinished = folder.join(format!("{SONAME}.{}", std::process::id()));
    let _ = std::fs::remove_file(&unfinished);
    std::os::unix::fs::symlink("libgloom.so", &unfinished).expect("links can be made");
    std::fs::rename(&unfinished, folder.join(SONAME)).expect("the link can be renamed");
}

impl Library {
    /// The file, built.
    pub fn path(self) -> &'static Path {
        static FILES: [OnceLock<PathBuf>; 3] = [const { OnceLock::new() }; 3];
        FILES[self as usize].get_or_init(|| self.build())
    }

    /// What the linker is given.
    pub(crate) fn link_flags(self) -> Vec<String> {
        let path = self.path();
        let file = path.display().to_string();
        match self {
            Library::Shared => {
                let folder = path.parent().expect("a file is in a folder").display();
                vec![file, format!("-Wl,-rpath,{folder}")]
            }
            Library::Static | Library::AddressSanitizer => {
                std::iter::once(file).chain(NATIVE_LIBRARIES.iter().map(|&flag| flag.to_owned())).collect()
            }
        }
    }

    /// As `make build` does.
    fn build(self) -> PathBuf {
        let crate_type = if self == Library::Shared { "cdylib" } else { "staticlib" };
        let mut target = workspace::target();
        let mut script = Command::new(workspace::root().join("scripts/library"));
        if self == Library::AddressSanitizer {
            // In a folder of its own, so that the builds do not push each other out. RUSTC_BOOTSTRAP lets a stable compiler take -Z.
            target.push("asan");
            script.env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_ENCODED_RUSTFLAGS");
            script.env("RUSTFLAGS", "-Zsanitizer=address -Cdebuginfo=line-tables-only");
        }
        script.arg(crate_type).arg(&target);
        if self == Library::AddressSanitizer {
            script.args(["--target", env!("TARGET")]);
        }
        let output = script.output().expect("the script runs");
        assert!(output.status.success(), "{script:?}\n{}", String::from_utf8_lossy(&output.stderr));
        if self == Library::AddressSanitizer {
            target.push(env!("TARGET"));
        }
        target.push("release");
        #[cfg(target_os = "linux")]
        if self == Library::Shared {
            link_by_soname(&target);
        }
        target.join(match self {
            Library::Shared if cfg!(target_os = "macos") => "libgloom.dylib",
            Library::Shared => "libgloom.so",
            Library::Static | Library::AddressSanitizer => "libgloom.a",
        })
    }
}
