//! The header in every standard of C and C++ that it promises, with all warnings as errors, by two compilers.

use gloom_ctests::{Library, Outcome, Program, header, ours, tool, without_comments};
use std::process::Command;

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-pedantic", "-Werror"];

// c2x and c++2b are C23 and C++23: compilers of before 2023 have these names only, and newer ones still take them.
const C: &[&str] = &["c99", "c11", "c17", "c2x"];
const CPP: &[&str] = &["c++11", "c++14", "c++17", "c++20", "c++2b"];

fn compile(name: &str, package: &str, language: &str, standard: &str) -> Command {
    let mut command = tool(name, package);
    command.args(WARNINGS).arg(format!("-std={standard}")).args(["-x", language]);
    if language == "c" {
        command.arg("-Wstrict-prototypes");
    }
    command
}

/// Alone, then twice in each of two units of one program, which runs.
fn check(name: &str, package: &str, language: &str, standards: &[&str]) {
    let include = ours("../include");
    for standard in standards {
        let mut alone = compile(name, package, language, standard);
        alone.arg("-I").arg(&include).arg("-fsyntax-only").arg(ours("c/header/alone.c"));
        Outcome::of(&mut alone).must_succeed();

        let mut twice = compile(name, package, language, standard);
        twice.args(["twice_main", "twice_other"].map(|unit| ours(&format!("c/header/{unit}.c"))));
        twice.args(["-x", "none"]); // what follows is the library
        Program::link(twice, &format!("header-{name}-{standard}"), Library::Static).run(&[]);
    }
}

#[test]
fn c_by_gcc() {
    check("gcc", "gcc", "c", C);
}

#[test]
fn c_by_clang() {
    check("clang", "clang", "c", C);
}

#[test]
fn cpp_by_gcc() {
    check("g++", "g++", "c++", CPP);
}

#[test]
fn cpp_by_clang() {
    check("clang++", "clang", "c++", CPP);
}

/// Whoever includes the header gets no name but gloom's own.
#[test]
fn no_name_without_the_prefix() {
    let header = without_comments(&header());
    let mut macros = 0;
    for name in header.lines().filter_map(|line| line.trim().strip_prefix("#define ")) {
        assert!(name.starts_with("GLOOM_"), "the header defines {name}");
        macros += 1;
    }
    assert!(macros > 20, "only {macros} macros found");
    for name in ["typedef struct ", "typedef enum ", "struct ", "enum "] {
        for (at, _) in header.match_indices(name) {
            let rest = header[at + name.len()..].trim_start();
            assert!(
                rest.starts_with("gloom_") || rest.starts_with('{'),
                "the header has {name}{}",
                rest.lines().next().unwrap_or("")
            );
        }
    }
}
