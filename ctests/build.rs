//! Hands on for which target this is: `cc` and the sanitizer build need the triple, and only build scripts are told.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TARGET={}", std::env::var("TARGET").expect("cargo sets TARGET"));
}
