//! The frozen figures of `golden/`, for each kind of filter, through the C ABI.

use gloom_ctests::{Library, Program, folder, ours};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;

const KINDS: [i32; 3] = [1, 2, 3];

fn golden(file: &str) -> String {
    fs::read_to_string(ours("golden").join(file)).expect("the golden files are there")
}

/// A recipe as a line for the program: plain numbers in a fixed order, then the first probes that hit.
fn line(recipe: &Value) -> String {
    let number = |name: &str| recipe[name].as_u64().unwrap_or_else(|| panic!("{name} in {recipe}"));
    let hits = recipe["first_probe_hits"].as_array().expect("a list");
    let hits: String = hits.iter().map(|hit| format!(" {hit}")).collect();
    format!(
        "{} {} {} {} {} {} {} {}{hits}\n",
        recipe["name"].as_str().expect("a name"),
        number("num_blocks"),
        number("k"),
        u8::from(recipe["edge_keys"].as_bool().expect("true or false")),
        number("member_keys"),
        number("count"),
        number("probes"),
        number("probe_hits"),
    )
}

#[test]
fn v1_recipes() {
    let recipes: Value = serde_json::from_str(&golden("v1_recipes.json")).expect("JSON");
    let recipes = recipes.as_array().expect("a list");
    assert_eq!(recipes.len(), 19);
    let files = folder("v1");
    fs::remove_dir_all(&files).expect("target is writable"); // no file of an earlier run may pass for one of this
    let files = folder("v1");
    let input: String = recipes.iter().map(line).collect();
    Program::new("golden", Library::Static)
        .run_with_input(&["recipes", files.to_str().expect("UTF-8")], &input);

    for recipe in recipes {
        let name = recipe["name"].as_str().expect("a name");
        for kind in KINDS {
            let file = fs::read(files.join(format!("{name}.{kind}"))).expect("the program wrote it");
            let hash: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(recipe["sha256"], hash, "the v1 file of {name}, kind {kind}");
        }
    }
}

#[test]
fn hash_vectors() {
    Program::new("golden", Library::Static).run_with_input(&["hashes"], &golden("hash_vectors.tsv"));
}

#[test]
fn siphash_vectors() {
    Program::new("golden", Library::Static).run_with_input(&["siphash"], &golden("siphash_vectors.tsv"));
}

#[test]
fn seeded_vectors() {
    Program::new("golden", Library::Static).run_with_input(&["seeds"], &golden("seeded_vectors.tsv"));
}
