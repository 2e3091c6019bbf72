//! The golden figures at every level that this processor has, in every kind, one by one and in batches.
#![cfg(not(loom))]

use gloom::{Filter, Format, KeyHash, Keys, Kind, Level, Options};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

const KINDS: [Kind; 3] = [Kind::Plain, Kind::Atomic, Kind::Sharded];

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

struct Recipe {
    name: String,
    num_blocks: u64,
    k: u32,
    count: u64,
    sha256: String,
    probe_hits: usize,
    first_probe_hits: Vec<u64>,
    members: Vec<Vec<u8>>,
    probes: Vec<Vec<u8>>,
}

fn recipes() -> Vec<Recipe> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("ctests/golden/v1_recipes.json");
    let text = fs::read_to_string(file).expect("the golden files are there");
    let recipes: Value = serde_json::from_str(&text).expect("JSON");
    recipes.as_array().expect("a list").iter().map(Recipe::new).collect()
}

impl Recipe {
    fn new(recipe: &Value) -> Recipe {
        let number = |name: &str| recipe[name].as_u64().unwrap_or_else(|| panic!("{name} in {recipe}"));
        let text =
            |name: &str| recipe[name].as_str().unwrap_or_else(|| panic!("{name} in {recipe}")).to_owned();
        let mut members = if recipe["edge_keys"] == true { edge_keys() } else { Vec::new() };
        members.extend((0..number("member_keys")).map(|i| recipe_key("member", i)));
        Recipe {
            name: text("name"),
            num_blocks: number("num_blocks"),
            k: number("k") as u32,
            count: number("count"),
            sha256: text("sha256"),
            probe_hits: number("probe_hits") as usize,
            first_probe_hits: serde_json::from_value(recipe["first_probe_hits"].clone()).expect("numbers"),
            members,
            probes: (0..number("probes")).map(|i| recipe_key("probe", i)).collect(),
        }
    }

    fn filter(&self, kind: Kind, level: Level) -> Filter {
        Filter::create_at_level(&Options::for_blocks(self.num_blocks, self.k).kind(kind), level).unwrap()
    }

    /// The file, the count and the answers to the probes.
    fn check(&self, filter: &Filter, context: &str) {
        let context = format!("{}, {context}", self.name);
        assert_eq!(filter.count(), self.count, "{context}");
        let file = filter.to_bytes(Format::V1).unwrap();
        let hash: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, self.sha256, "{context}");

        let probes: Vec<&[u8]> = self.probes.iter().map(Vec::as_slice).collect();
        let mut results = vec![7; probes.len()];
        let hits = filter.test_batch(Keys::slices(&probes), Some(&mut results)).unwrap();
        assert_eq!(hits, self.probe_hits, "{context}");
        let single: Vec<u8> = probes.iter().map(|probe| filter.test(probe).into()).collect();
        assert!(results == single, "{context}: single tests answer otherwise");
        let found = (0..).zip(&results).filter(|(_, hit)| **hit == 1).map(|(number, _)| number);
        let first: Vec<u64> = found.take(self.first_probe_hits.len()).collect();
        assert_eq!(first, self.first_probe_hits, "{context}");
    }
}

/// `<word>-<i>:` and (i * 7) mod 1031 bytes of filler.
fn recipe_key(word: &str, i: u64) -> Vec<u8> {
    let mut key = format!("{word}-{i}:").into_bytes();
    key.extend((0..i * 7 % 1031).map(|j| j as u8));
    key
}

/// In the order of `golden/README.md`.
fn edge_keys() -> Vec<Vec<u8>> {
    let texts = ["a", "ab", "abc", "abcd"].map(|text| text.as_bytes().to_vec());
    let mut keys = vec![Vec::new(), vec![0], vec![0xff]];
    keys.extend(texts);
    keys.extend([vec![0; 8], vec![0xff; 9], b"0123456789abcdef".to_vec(), b"0123456789abcdefg".to_vec()]);
    keys.extend([vec![b'x'; 128], vec![b'y'; 129], vec![b'z'; 240], vec![b'w'; 241]]);
    keys.push("hello, 世界".as_bytes().to_vec());
    keys
}

#[test]
fn golden_recipes() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 19);
    for recipe in &recipes {
        let slices: Vec<&[u8]> = recipe.members.iter().map(Vec::as_slice).collect();
        let hashes: Vec<KeyHash> = slices.iter().map(|key| KeyHash::new(key, 0)).collect();
        let data = recipe.members.concat();
        let mut offsets = vec![0];
        offsets.extend(slices.iter().scan(0, |end, key| {
            *end += key.len() as i64;
            Some(*end)
        }));
        let offsets32: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
        let batches = [
            ("slices", Keys::slices(&slices)),
            ("hashes", Keys::hashes(&hashes)),
            ("offsets32", Keys::offsets32(&data, &offsets32).unwrap()),
            ("offsets64", Keys::offsets64(&data, &offsets).unwrap()),
        ];
        for level in levels() {
            for kind in KINDS {
                let filter = recipe.filter(kind, level);
                recipe.members.iter().for_each(|key| filter.add(key));
                recipe.check(&filter, &format!("{level:?}, {kind:?}, one by one"));
                for (way, keys) in batches {
                    let filter = recipe.filter(kind, level);
                    filter.add_batch(keys);
                    recipe.check(&filter, &format!("{level:?}, {kind:?}, {way}"));
                }
            }
        }
    }
}

/// A level that was asked for is the one that is used: otherwise the tests of levels would test one of them.
#[test]
fn the_level_is_the_one_asked_for() {
    for level in Level::ALL {
        let name = match level {
            Level::Avx2 if level.is_available() => "avx2",
            Level::Avx512 if level.is_available() => "avx512",
            Level::Avx512Ifma if level.is_available() => "avx512ifma",
            _ => "portable",
        };
        for k in gloom::MIN_K..=gloom::MAX_K {
            let filter = Filter::create_at_level(&Options::for_blocks(10, k), level).unwrap();
            assert_eq!(filter.simd_level().to_str(), Ok(name), "k {k}");
        }
    }
    assert!(Level::Portable.is_available() && Level::best().is_available());
    let best = Filter::create(&Options::for_blocks(10, 7)).unwrap();
    let named = Filter::create_at_level(&Options::for_blocks(10, 7), Level::best()).unwrap();
    assert_eq!(best.simd_level(), named.simd_level());
}
