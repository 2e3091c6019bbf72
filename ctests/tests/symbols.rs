//! What is declared is exported, what is exported is declared, and all of it is tested.
#![cfg(target_os = "linux")]

use gloom_ctests::{Library, Outcome, declared_functions, ours, tool, without_comments};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn declared_is_exported_and_nothing_else_is() {
    let mut nm = tool("nm", "binutils");
    nm.args(["-D", "--defined-only"]).arg(Library::Shared.path());
    let outcome = Outcome::of(&mut nm);
    assert!(outcome.status.success(), "{outcome}");
    let exported: BTreeSet<_> =
        outcome.output.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect();
    let declared: BTreeSet<_> = declared_functions().into_keys().collect();
    assert!(declared.len() > 40, "only {} functions found in the header", declared.len());
    let missing: Vec<_> = declared.difference(&exported).collect();
    let extra: Vec<_> = exported.difference(&declared).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "declared but not exported: {missing:?}; exported but not declared: {extra:?}"
    );
    assert!(declared.iter().all(|name| name.starts_with("gloom_")));
}

/// No function comes into the header without a test of its use and, if it takes anything, of its misuse.
#[test]
fn every_function_is_tested() {
    let calls = |program: &str, name: &str| {
        let source = fs::read_to_string(ours(&format!("c/{program}.c"))).expect("the program is there");
        without_comments(&source).contains(&format!("{name}("))
    };
    for (name, parameters) in declared_functions() {
        assert!(calls("api", &name), "api.c does not call {name}");
        assert!(parameters.trim() == "void" || calls("errors", &name), "errors.c does not call {name}");
    }
}
