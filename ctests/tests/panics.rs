//! A bug in gloom stays in gloom.
#![cfg(target_os = "linux")]

use gloom_ctests::{Library, Outcome, Program, compile_library, declared_functions};
use std::collections::BTreeSet;
use std::fs;

/// In a library that a test can let panic, in every function of the header: a new one cannot be forgotten.
#[test]
fn a_panic_anywhere_is_a_status() {
    let program = Program::new("panics", Library::Panics);
    let outcome = Outcome::of(program.command().env("RUST_BACKTRACE", "0"));
    let line = |line: &str| {
        let (name, panics) = line.split_once(' ')?;
        panics.parse::<u32>().ok().filter(|_| name.starts_with("gloom_"))?;
        Some(name.to_owned())
    };
    let tried: BTreeSet<String> = outcome.output.lines().filter_map(line).collect();
    let declared: BTreeSet<String> = declared_functions().into_keys().collect();
    assert_eq!(declared.difference(&tried).next(), None, "it has not been tried");
    outcome.must_succeed();
}

/// No library but that one has anything of this.
#[test]
fn released_libraries_do_not_panic_on_demand() {
    let has = |library: Library, text: &str| {
        let bytes = fs::read(library.path()).expect("it has been built");
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    for text in ["gloom_panic_tests_arm", "the panic that a test asked for"] {
        assert!(has(Library::Panics, text), "{text}");
        assert!(!has(Library::Static, text) && !has(Library::Shared, text), "{text}");
    }
}

/// With panic = "abort" a panic ends the process, so that has to be asked for.
#[test]
fn a_build_that_aborts_is_refused() {
    let refused = compile_library("panic-abort", "-Cpanic=abort");
    assert!(!refused.status.success(), "{refused}");
    assert!(refused.output.contains("gloom is compiled with panic = \"abort\""), "{refused}");
    compile_library("panic-abort", "-Cpanic=abort --cfg gloom_panic_abort").must_succeed();
}
