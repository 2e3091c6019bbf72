//! The library as its users get it, and as tools want it.

use crate::{Outcome, workspace};
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
    /// `libgloom.a` in which the Rust code, too, is watched by AddressSanitizer, with the compiler's own checks of
    /// overflows, debug assertions and undefined behaviour.
    AddressSanitizer,
    /// `libgloom.a` in which the Rust code, too, is watched by ThreadSanitizer.
    ThreadSanitizer,
    /// As [`Library::AddressSanitizer`], and a test can let it panic: see `src/panics.rs`.
    Panics,
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

/// How a build differs from that of the users, and what the C code that is linked with it needs.
struct Tool {
    /// A folder of its own in `target`, so that the builds do not push each other out.
    folder: &'static str,
    rust_flags: &'static str,
    /// Assertions and overflow checks, which the release profile has not.
    checks: bool,
    c_flags: &'static [&'static str],
}

const ADDRESS_AND_UNDEFINED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Puts a link with that name beside the library, by way of another name: tests run at the same time.
#[cfg(target_os = "linux")]
fn link_by_soname(folder: &Path) {
    let unfinished = folder.join(format!("{SONAME}.{}", std::process::id()));
    let _ = std::fs::remove_file(&unfinished);
    std::os::unix::fs::symlink("libgloom.so", &unfinished).expect("links can be made");
    std::fs::rename(&unfinished, folder.join(SONAME)).expect("the link can be renamed");
}

/// Compiles the library with these flags, in a folder of its own, and keeps nothing of it.
pub fn compile_library(folder: &str, rust_flags: &str) -> Outcome {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(workspace::root());
    cargo.args(["check", "--release", "--lib", "--package", "gloom", "--target-dir"]);
    cargo.arg(workspace::target().join(folder));
    Outcome::of(cargo.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", rust_flags))
}

/// It comes with the Rust compiler.
fn thread_sanitizer_runtime() -> PathBuf {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    let outcome = Outcome::of(rustc.args(["--print", "sysroot"]).current_dir(workspace::root()));
    let folder = Path::new(outcome.output.trim()).join("lib/rustlib").join(env!("TARGET")).join("lib");
    let files = std::fs::read_dir(&folder).expect("the compiler has its libraries");
    let mut paths = files.map(|file| file.expect("it can be read").path());
    paths.find(|path| path.to_string_lossy().ends_with("_rt.tsan.a")).expect("it has its sanitizers, too")
}

impl Library {
    /// The file, built.
    pub fn path(self) -> &'static Path {
        static FILES: [OnceLock<PathBuf>; 5] = [const { OnceLock::new() }; 5];
        FILES[self as usize].get_or_init(|| self.build())
    }

    fn tool(self) -> Option<Tool> {
        match self {
            Library::Static | Library::Shared => None,
            Library::AddressSanitizer => Some(Tool {
                folder: "asan",
                rust_flags: "-Zsanitizer=address -Cdebuginfo=line-tables-only",
                checks: true,
                c_flags: ADDRESS_AND_UNDEFINED,
            }),
            // It does not see into inline assembly. The standard library is not watched, which is what the other flag allows.
            Library::ThreadSanitizer => Some(Tool {
                folder: "tsan",
                rust_flags: "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg gloom_portable \
                             -Cdebuginfo=line-tables-only",
                checks: false,
                // C compilers come with a runtime that is older than Rust's. `-no-pie`: the program must not be where the
                // runtime wants to be.
                c_flags: &["-fsanitize=thread", "-nodefaultlibs", "-no-pie"],
            }),
            Library::Panics => Some(Tool {
                folder: "panics",
                rust_flags: "-Zsanitizer=address -Cdebuginfo=line-tables-only --cfg gloom_panic_tests",
                checks: true,
                c_flags: ADDRESS_AND_UNDEFINED,
            }),
        }
    }

    /// What the C compiler is given, also when it links.
    pub fn c_flags(self) -> &'static [&'static str] {
        self.tool().map_or(&[], |tool| tool.c_flags)
    }

    /// What the linker is given.
    pub(crate) fn link_flags(self) -> Vec<String> {
        let path = self.path();
        let file = path.display().to_string();
        if self == Library::Shared {
            let folder = path.parent().expect("a file is in a folder").display();
            return vec![file, format!("-Wl,-rpath,{folder}")];
        }
        let mut flags = vec![file];
        if self == Library::ThreadSanitizer {
            let runtime = thread_sanitizer_runtime().display().to_string();
            flags.extend([
                "-Wl,--whole-archive".into(),
                runtime,
                "-Wl,--no-whole-archive".into(),
                "-lgcc".into(),
            ]);
        }
        flags.extend(NATIVE_LIBRARIES.iter().map(|&flag| flag.to_owned()));
        flags
    }

    /// As `make build` does.
    fn build(self) -> PathBuf {
        let crate_type = if self == Library::Shared { "cdylib" } else { "staticlib" };
        let mut target = workspace::target();
        let mut script = Command::new(workspace::root().join("scripts/library"));
        let tool = self.tool();
        if let Some(tool) = &tool {
            target.push(tool.folder);
            // RUSTC_BOOTSTRAP lets a stable compiler take -Z.
            script.env("RUSTC_BOOTSTRAP", "1").env_remove("CARGO_ENCODED_RUSTFLAGS");
            script.env("RUSTFLAGS", tool.rust_flags);
            for check in ["DEBUG_ASSERTIONS", "OVERFLOW_CHECKS"] {
                script.env(format!("CARGO_PROFILE_RELEASE_{check}"), tool.checks.to_string());
            }
        }
        script.arg(crate_type).arg(&target);
        if tool.is_some() {
            script.args(["--target", env!("TARGET")]);
        }
        let output = script.output().expect("the script runs");
        assert!(output.status.success(), "{script:?}\n{}", String::from_utf8_lossy(&output.stderr));
        if tool.is_some() {
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
            _ => "libgloom.a",
        })
    }
}
