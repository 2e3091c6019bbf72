//! Random and hostile calls watched by valgrind; by AddressSanitizer in C and in Rust, with what finds undefined behaviour
//! in either; and threads by ThreadSanitizer in C and in Rust.
#![cfg(target_os = "linux")]

use gloom_ctests::{Library, Outcome, Program, WRAP_ALLOCATIONS, WRAP_FILES, ours, tool};
use std::process::Command;

const VALGRIND_FOUND: i32 = 99;

fn valgrind() -> Command {
    let mut valgrind = tool("valgrind", "valgrind");
    valgrind.args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible"]);
    valgrind.arg(format!("--error-exitcode={VALGRIND_FOUND}"));
    valgrind
}

fn run_with_address_sanitizer(program: &str, arguments: &[&str]) {
    Program::new(program, Library::AddressSanitizer).run(arguments);
}

#[test]
fn valgrind_stress() {
    let program = Program::new("stress", Library::Static);
    Outcome::of(program.under(valgrind()).args(["11", "60000"])).must_succeed();
}

#[test]
fn address_sanitizer_stress() {
    run_with_address_sanitizer("stress", &["21", "500000"]);
}

#[test]
fn address_sanitizer_errors() {
    run_with_address_sanitizer("errors", &[]);
}

/// Also that nothing leaks where an allocation in the middle fails.
#[test]
fn address_sanitizer_out_of_memory() {
    Program::with_flags("out_of_memory", Library::AddressSanitizer, WRAP_ALLOCATIONS).run(&[]);
}

/// Likewise where a system call fails, does a part only, or there is no room for files.
#[test]
fn address_sanitizer_failing_files() {
    let crash = Program::with_flags("crash", Library::AddressSanitizer, WRAP_FILES);
    for what in ["fail", "interrupt", "failed-sync", "no-locks", "fork-meanwhile", "full-disk", "no-boot"] {
        crash.run(&[what]);
    }
    run_with_address_sanitizer("full", &[]);
}

#[test]
fn address_sanitizer_v1_corrupt() {
    run_with_address_sanitizer("v1_corrupt", &[]);
}

#[test]
fn address_sanitizer_neighbours() {
    run_with_address_sanitizer("neighbours", &[]);
}

#[test]
fn address_sanitizer_files() {
    run_with_address_sanitizer("files", &[]);
}

#[test]
fn address_sanitizer_streams() {
    run_with_address_sanitizer("streams", &[]);
}

#[test]
fn address_sanitizer_native_corrupt() {
    run_with_address_sanitizer("native_corrupt", &["97"]);
}

#[test]
fn address_sanitizer_maps() {
    run_with_address_sanitizer("maps", &["50"]);
}

#[test]
fn address_sanitizer_combine() {
    run_with_address_sanitizer("combine", &["20000"]);
}

#[test]
fn address_sanitizer_threads() {
    run_with_address_sanitizer("threads", &["50000"]);
}

#[test]
fn address_sanitizer_batch() {
    run_with_address_sanitizer("batch", &[]);
}

#[test]
fn address_sanitizer_batch_errors() {
    run_with_address_sanitizer("batch_errors", &[]);
}

#[test]
fn address_sanitizer_batch_threads() {
    run_with_address_sanitizer("batch_threads", &["20000"]);
}

#[test]
fn address_sanitizer_degenerate() {
    run_with_address_sanitizer("degenerate", &[]);
}

#[test]
fn address_sanitizer_api() {
    run_with_address_sanitizer("api", &[]);
}

#[test]
fn address_sanitizer_soak() {
    run_with_address_sanitizer("soak", &["31", "20"]);
}

/// The tests of the C++ wrapper. (`make test-cpp` runs them with more compilers, and the plain library.)
#[test]
fn address_sanitizer_cpp() {
    let cpp = ours("../bindings/cpp");
    let mut command = tool("g++", "g++");
    command.args(["-std=c++20", "-O1", "-g1", "-fno-omit-frame-pointer", "-pthread"]);
    command.args(Library::AddressSanitizer.c_flags());
    command.arg(format!("-DGLOOM_GOLDEN=\"{}\"", ours("golden").display()));
    command.arg("-I").arg(cpp.join("include"));
    command.args(["main", "two_modes", "two_units"].map(|unit| cpp.join(format!("tests/{unit}.cpp"))));
    command.arg("-lgtest");
    let program = Program::link(command, "cpp-AddressSanitizer", Library::AddressSanitizer);
    Outcome::of(program.command().arg("--gtest_brief=1")).must_succeed();
}

// ThreadSanitizer maps memory where some systems put programs, if they put them anywhere.

fn with_thread_sanitizer(program: &str, arguments: &[&str]) -> Outcome {
    let mut in_place = tool("setarch", "util-linux");
    in_place.arg("-R");
    let program = Program::new(program, Library::ThreadSanitizer);
    Outcome::of(program.under(in_place).args(arguments))
}

#[test]
fn thread_sanitizer_soak() {
    with_thread_sanitizer("soak", &["41", "20"]).must_succeed();
}

#[test]
fn thread_sanitizer_threads() {
    with_thread_sanitizer("threads", &["2000"]).must_succeed();
}

#[test]
fn thread_sanitizer_combine() {
    with_thread_sanitizer("combine", &["20000"]).must_succeed();
}

#[test]
fn thread_sanitizer_streams() {
    with_thread_sanitizer("streams", &[]).must_succeed();
}

/// Files that threads of one process map, save and load at the same time.
#[test]
fn thread_sanitizer_maps() {
    with_thread_sanitizer("maps", &["50"]).must_succeed();
}

#[test]
fn thread_sanitizer_batch_threads() {
    with_thread_sanitizer("batch_threads", &["2000"]).must_succeed();
}

#[test]
fn thread_sanitizer_sees_into_the_library() {
    for race in ["buffer", "blocks"] {
        let outcome = with_thread_sanitizer("race", &[race]);
        assert!(!outcome.status.success(), "{outcome}");
        assert!(outcome.output.contains("data race") && outcome.output.contains(".rs:"), "{outcome}");
    }
}

#[test]
fn undefined_behaviour_is_seen() {
    let program = Program::new("undefined", Library::AddressSanitizer);
    for (place, message) in
        [("c", "signed integer overflow"), ("rust", "unsafe precondition(s) violated: slice::from_raw_parts")]
    {
        let outcome = Outcome::of(program.command().arg(place));
        assert!(!outcome.status.success() && outcome.output.contains(message), "{outcome}");
        assert!(!outcome.output.contains("after"), "{outcome}");
    }
}

// A tool that sees nothing finds nothing. A key that is shorter than its length says is read past its end by the hash, in Rust.

#[test]
fn valgrind_sees_into_the_library() {
    let program = Program::new("overread", Library::Static);
    let outcome = Outcome::of(&mut program.under(valgrind()));
    assert_eq!(outcome.status.code(), Some(VALGRIND_FOUND), "{outcome}");
    assert!(outcome.output.contains("Invalid read"), "{outcome}");
}

#[test]
fn address_sanitizer_sees_into_the_library() {
    address_sanitizer_must_see(&[]);
}

/// Keys of a batch are read by vector loads: each way of hashing them has some of its own.
#[test]
fn address_sanitizer_sees_into_batches() {
    for len in ["1", "3", "8", "16", "32", "64", "65", "300"] {
        address_sanitizer_must_see(&["pointers", len]);
    }
    for source in ["fixed", "offsets32", "offsets64"] {
        address_sanitizer_must_see(&[source, "8"]);
        address_sanitizer_must_see(&[source, "20"]);
    }
    address_sanitizer_must_see(&["hashes", "8"]);
}

fn address_sanitizer_must_see(arguments: &[&str]) {
    let program = Program::new("overread", Library::AddressSanitizer);
    let outcome = Outcome::of(program.command().args(arguments));
    assert!(!outcome.status.success(), "{outcome}");
    assert!(outcome.output.contains("heap-buffer-overflow"), "{outcome}");
    // Where it happened: the innermost frame that is not the tool's own is Rust.
    let frame = outcome
        .output
        .lines()
        .find(|line| line.trim_start().starts_with('#') && !line.contains(" in __asan_memcpy "))
        .unwrap_or_else(|| panic!("{outcome}"));
    assert!(frame.contains(".rs:"), "not in Rust: {frame}\n{outcome}");
}
