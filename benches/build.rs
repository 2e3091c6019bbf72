//! Notes which compiler with which flags builds the benchmarks: the report names them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("cargo sets it");
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs").stdout;
    println!("cargo::rustc-env=GLOOM_BENCH_RUSTC={}", String::from_utf8_lossy(&version).trim());
    // Cargo separates the flags with a character that no flag has.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\x1f', " ");
    println!("cargo::rustc-env=GLOOM_BENCH_RUSTFLAGS={flags}");
}
