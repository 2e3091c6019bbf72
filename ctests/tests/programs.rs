//! The C programs, each linked with the library as its users link it.

use gloom_ctests::{Library, Program, WRAP_ALLOCATIONS};
use std::time::{SystemTime, UNIX_EPOCH};

/// A seed of this run, which a failure shows in the command to repeat.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
    (now.as_nanos() as u64).to_string()
}

#[test]
fn api_with_the_static_library() {
    Program::new("api", Library::Static).run(&[]);
}

#[test]
fn api_with_the_shared_library() {
    Program::new("api", Library::Shared).run(&[]);
}

#[test]
fn errors() {
    Program::new("errors", Library::Static).run(&[]);
}

#[test]
fn small_stack() {
    Program::new("small_stack", Library::Static).run(&[]);
}

/// A program that was compiled with the first release's header, and runs with today's library.
#[test]
fn older_structs() {
    Program::new("older_structs", Library::Shared).run(&[]);
}

/// `--wrap` is an option of the linkers on Linux.
#[cfg(target_os = "linux")]
#[test]
fn out_of_memory() {
    Program::with_flags("out_of_memory", Library::Static, WRAP_ALLOCATIONS).run(&[]);
}

#[test]
fn degenerate() {
    Program::new("degenerate", Library::Static).run(&[]);
}

#[test]
fn v1_corrupt() {
    Program::new("v1_corrupt", Library::Static).run(&[]);
}

#[test]
fn files() {
    Program::new("files", Library::Static).run(&[]);
}

/// Other users of the same folder; needs root, which a container or a machine of its own for tests has.
#[cfg(target_os = "linux")]
#[test]
fn neighbours() {
    Program::new("neighbours", Library::Static).run(&[]);
}

/// More than 4 GiB.
#[test]
fn large() {
    Program::new("large", Library::Static).run(&[]);
}

#[test]
fn streams() {
    Program::new("streams", Library::Static).run(&[]);
}

/// Every bit of a native file.
#[test]
fn native_corrupt() {
    Program::new("native_corrupt", Library::Static).run(&["1"]);
}

#[test]
fn maps() {
    Program::new("maps", Library::Static).run(&["2000"]);
}

#[test]
fn combine() {
    Program::new("combine", Library::Static).run(&["100000"]);
}

#[test]
fn threads() {
    Program::new("threads", Library::Static).run(&["100000"]);
}

/// Needs the package libxxhash-dev.
#[test]
fn xxh3_of_the_reference_implementation() {
    Program::new("xxh3", Library::Static).run(&[]);
}

/// Also that no key is read beyond its ends: the program puts them beside pages that nobody may touch.
#[test]
fn batch() {
    Program::new("batch", Library::Static).run(&[]);
}

#[test]
fn batch_errors() {
    Program::new("batch_errors", Library::Static).run(&[]);
}

#[test]
fn batch_threads() {
    Program::new("batch_threads", Library::Static).run(&["50000"]);
}

/// `make soak` goes on for minutes.
#[test]
fn soak() {
    let program = Program::new("soak", Library::Static);
    for seed in ["1", &now()] {
        program.run(&[seed, "60"]);
    }
}

#[test]
fn version_of_header_and_libraries() {
    Program::new("version", Library::Static).run(&[]);
    Program::new("version", Library::Shared).run(&[]);
}

/// Some seeds that stay and one of this run, which a failure shows in the command to repeat.
#[test]
fn stress() {
    let program = Program::new("stress", Library::Static);
    for seed in ["1", "2", "3", &now()] {
        program.run(&[seed, "200000"]);
    }
}
