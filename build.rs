//! Names the configuration in which vector kernels are built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(vectors)");
    println!("cargo::rustc-check-cfg=cfg(gloom_portable)");
    // loom, Miri and ThreadSanitizer see no inline assembly; for them every word is read by itself.
    // `--cfg gloom_portable` asks for the same.
    let portable = ["CARGO_CFG_LOOM", "CARGO_CFG_MIRI", "CARGO_CFG_GLOOM_PORTABLE"];
    let is_x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    if is_x86_64 && portable.iter().all(|name| std::env::var_os(name).is_none()) {
        println!("cargo::rustc-cfg=vectors");
    }
}
