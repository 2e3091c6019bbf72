//! Where things are, and what the header says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("ctests is in the workspace")
}

pub(crate) fn target() -> PathBuf {
    // A relative one counts from where cargo was called, which a test cannot know.
    match env::var_os("CARGO_TARGET_DIR").map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => folder,
        _ => root().join("target"),
    }
}

/// A file of this package.
pub fn ours(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folder for what tests make, under `target`; it is there already.
pub fn folder(name: &str) -> PathBuf {
    let folder = target().join("ctests").join(name);
    fs::create_dir_all(&folder).expect("target is writable");
    folder
}

/// The text of the header.
pub fn header() -> String {
    fs::read_to_string(root().join("include/gloom.h")).expect("include/gloom.h is there")
}

/// C without its comments.
pub fn without_comments(mut source: &str) -> String {
    let mut text = String::new();
    while let Some(start) = source.find("/*").into_iter().chain(source.find("//")).min() {
        let (before, comment) = source.split_at(start);
        let end =
            if comment.starts_with("/*") { comment.find("*/").map(|at| at + 2) } else { comment.find('\n') };
        text += before;
        text.push(' ');
        source = &comment[end.unwrap_or(comment.len())..];
    }
    text + source
}

/// The functions that the header declares, each with its list of parameters.
pub fn declared_functions() -> BTreeMap<String, String> {
    let header = without_comments(&header());
    let code: String = header
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(|line| line.to_owned() + "\n")
        .collect();
    let mut functions = BTreeMap::new();
    for declaration in code.split(';') {
        if let Some((before, parameters)) = declaration.split_once('(')
            && !before.contains("typedef")
            && let Some(name) =
                before.split(|c: char| !c.is_alphanumeric() && c != '_').rfind(|word| !word.is_empty())
        {
            functions.insert(name.to_owned(), parameters.trim_end_matches(')').to_owned());
        }
    }
    functions
}
