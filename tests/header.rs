//! include/gloom.h is what cbindgen makes of src/capi. `make header` writes it.

use std::path::Path;

/// Files of src/capi in the order of the header.
const SECTIONS: [&str; 9] =
    ["types", "library", "create", "keys", "batch", "facts", "whole", "bytes", "files"];

#[test]
fn the_committed_header_is_the_generated_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let sections = SECTIONS.map(|section| root.join(format!("src/capi/{section}.rs")));
    let builder = sections
        .iter()
        .fold(cbindgen::Builder::new().with_config(config), |builder, file| builder.with_src(file));
    let bindings = builder.generate().expect("cbindgen");
    let mut generated = Vec::new();
    bindings.write(&mut generated);
    let generated = String::from_utf8(generated).expect("UTF-8");

    let path = root.join("include/gloom.h");
    if std::env::var_os("GLOOM_UPDATE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("include/gloom.h can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = generated.lines().zip(committed.lines()).position(|(a, b)| a != b);
    assert!(
        generated == committed,
        "include/gloom.h differs from src/capi (first at line {:?}): run `make header` and commit it",
        line.map(|line| line + 1)
    );
}
