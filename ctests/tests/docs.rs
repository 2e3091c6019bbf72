//! README.md, CHANGELOG.md, SECURITY.md and docs/ hold what they promise: their C programs compile, run and print what
//! the page says they print; their compiler lines work; the functions and constants that they name exist.
//!
//! What a page has to keep to:
//! - Every fence names its language. (rustdoc takes one that does not for Rust.)
//! - A `c` or `cpp` block is a whole program. Its first line is a comment that begins with the name of its file.
//! - A `text` block right after one is what the program prints. It runs in an empty folder, and leaves it empty.
//! - A `sh` block whose first line calls `cc` is run beside the page's programs, with `include` and `target` at hand.
//! - A `go` block is a whole program, too; scripts/test-go runs it and compares what it prints.
//! - A page with a `rust` block is included in src/lib.rs, which makes the block a doctest.

use gloom_ctests::{
    Library, Outcome, Program, SONAME, compiler, declared_functions, folder, header, ours, tool,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LANGUAGES: &[&str] = &["c", "cpp", "go", "rust", "sh", "text"];
const FLAGS: &[&str] = &["-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-pthread"];

struct Page {
    /// From the root of the repository.
    path: String,
    text: String,
    blocks: Vec<Block>,
}

/// What stands between two fences.
struct Block {
    line: usize,
    language: String,
    text: String,
}

fn root() -> PathBuf {
    ours("..")
}

fn pages() -> Vec<Page> {
    let mut paths = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned(), "SECURITY.md".to_owned()];
    for entry in fs::read_dir(root().join("docs")).expect("docs is there") {
        let name = entry.expect("docs can be read").file_name().into_string().expect("names are UTF-8");
        if name.ends_with(".md") {
            paths.push(format!("docs/{name}"));
        }
    }
    paths.sort();
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the page can be read");
    paths.into_iter().map(|path| Page::new(read(&path), path)).collect()
}

impl Page {
    fn new(text: String, path: String) -> Page {
        let mut blocks: Vec<Block> = Vec::new();
        let mut inside = false;
        for (number, line) in text.lines().enumerate() {
            match line.strip_prefix("```") {
                Some(language) if !inside => {
                    assert!(LANGUAGES.contains(&language), "{path}:{}: a fence of {language:?}", number + 1);
                    blocks.push(Block {
                        line: number + 1,
                        language: language.to_owned(),
                        text: String::new(),
                    });
                    inside = true;
                }
                Some(rest) => {
                    assert_eq!(rest, "", "{path}:{}", number + 1);
                    inside = false;
                }
                None if inside => {
                    let block = blocks.last_mut().expect("a block has begun");
                    block.text += line;
                    block.text.push('\n');
                }
                None => {}
            }
        }
        assert!(!inside, "{path}: the last fence is not closed");
        Page { path, text, blocks }
    }

    /// The page's name as a part of a file name.
    fn name(&self) -> String {
        self.path.trim_end_matches(".md").replace('/', "-")
    }

    /// Everything but the blocks.
    fn prose(&self) -> String {
        self.text.split("```").step_by(2).collect()
    }
}

impl Block {
    fn is_program(&self) -> bool {
        self.language == "c" || self.language == "cpp"
    }

    /// The file name at the beginning of a program.
    fn file(&self) -> &str {
        let comment = self.text.strip_prefix("/* ").or_else(|| self.text.strip_prefix("// "));
        let name = comment.and_then(|text| text.split([':', ' ', '\n']).next()).unwrap_or("");
        assert!(
            name.ends_with(&format!(".{}", self.language)),
            "the program at line {} begins with {name:?}, not with its name",
            self.line
        );
        name
    }
}

#[test]
fn programs_run_and_print_what_the_pages_say() {
    let mut programs = 0;
    let mut outputs = 0;
    for page in pages() {
        for (at, block) in page.blocks.iter().enumerate().filter(|(_, block)| block.is_program()) {
            let name = format!("{}-{}", page.name(), block.file());
            let source = folder("docs").join(&name);
            fs::write(&source, &block.text).expect("target is writable");
            let mut command = if block.language == "c" { compiler() } else { tool("c++", "g++") };
            if block.language == "cpp" {
                command.arg("-std=c++17").arg("-I").arg(root().join("bindings/cpp/include"));
            } else {
                command.arg("-std=c11");
            }
            command.args(FLAGS).arg(&source);
            let program = Program::link(command, &name.replace('.', "-"), Library::Static);
            // Those that write files write them here, and leave none.
            let place = folder("docs").join(format!("{name}-{}", std::process::id()));
            fs::create_dir(&place).expect("target is writable");
            let outcome = Outcome::of(program.command().current_dir(&place));
            assert!(outcome.status.success(), "{}:{}: {outcome}", page.path, block.line);
            fs::remove_dir(&place).expect("the program has left nothing");
            programs += 1;
            if let Some(expected) = page.blocks.get(at + 1).filter(|next| next.language == "text") {
                assert!(
                    outcome.output == expected.text,
                    "{}:{}: the program prints\n{}",
                    page.path,
                    expected.line,
                    outcome.output
                );
                outputs += 1;
            }
        }
    }
    assert!(programs >= 5 && outputs >= 4, "{programs} programs and {outputs} outputs found");
}

/// Linux, because the pages name its libraries.
#[cfg(target_os = "linux")]
#[test]
fn compiler_lines_work() {
    let mut scripts = 0;
    for page in pages() {
        let shell = page.blocks.iter().filter(|block| block.language == "sh");
        for block in shell.filter(|block| block.text.starts_with("cc ")) {
            let place = scratch(&page, block.line);
            let mut command = Command::new("sh");
            command.args(["-e", "-c", &block.text]).current_dir(&place);
            let outcome = Outcome::of(&mut command);
            assert!(outcome.status.success(), "{}:{}: {outcome}", page.path, block.line);
            fs::remove_dir_all(&place).expect("the folder is ours");
            scripts += 1;
        }
    }
    assert!(scripts >= 3, "{scripts} scripts found");
}

/// A folder like a checkout after `make build`, with the programs of a page in it.
#[cfg(target_os = "linux")]
fn scratch(page: &Page, line: usize) -> PathBuf {
    use std::os::unix::fs::symlink;
    let place = folder("docs").join(format!("{}-{line}-{}", page.name(), std::process::id()));
    let release = place.join("target/release");
    fs::create_dir_all(&release).expect("target is writable");
    symlink(root().join("include"), place.join("include")).expect("links can be made");
    for library in [Library::Static, Library::Shared] {
        let file = library.path();
        symlink(file, release.join(file.file_name().expect("a file has a name"))).expect("links can be made");
    }
    symlink("libgloom.so", release.join(SONAME)).expect("links can be made");
    for block in page.blocks.iter().filter(|block| block.language == "c") {
        fs::write(place.join(block.file()), &block.text).expect("target is writable");
    }
    place
}

/// All words with gloom's prefixes; `gloom_add_...` and the like stand for many and are left out.
fn names(text: &str) -> BTreeSet<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !word(c))
        .filter(|name| name.starts_with("gloom_") || name.starts_with("GLOOM_"))
        .filter(|name| !name.ends_with('_'))
        .collect()
}

#[test]
fn names_exist() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let code = header()
        + &read("bindings/cpp/include/gloom/gloom.hpp")
        + &read("CMakeLists.txt")
        + &read("Cargo.toml") // configurations
        + &read("build.rs")
        + &read("packaging/gloom.map");
    let known = names(&code);
    let mut found = 0;
    for page in pages() {
        for name in names(&page.text) {
            assert!(known.contains(name), "{}: {name} is not in the headers", page.path);
            found += 1;
        }
    }
    assert!(found > 60, "{found} names found");
}

#[test]
fn every_status_is_explained() {
    let page = fs::read_to_string(root().join("docs/c-api.md")).expect("the page can be read");
    let header = header();
    let statuses: Vec<_> = names(&header).into_iter().filter(|name| name.starts_with("GLOOM_ERR_")).collect();
    assert!(statuses.len() >= 14, "only {statuses:?} found");
    for status in statuses {
        assert!(page.contains(&format!("`{status}`")), "docs/c-api.md does not explain {status}");
    }
}

/// The partition table is code twice: in the library and, for whoever writes another one, on a page.
#[test]
fn the_partition_table_is_the_code_s() {
    let page = fs::read_to_string(root().join("docs/layout.md")).expect("the page can be read");
    let code = fs::read_to_string(root().join("src/layout.rs")).expect("the source can be read");
    for k in 3..=17 {
        let begin = format!("| {k} | ");
        let row = page.lines().find_map(|line| line.strip_prefix(&begin)).expect("each k has a row");
        let sizes: Vec<&str> = row.trim_end_matches('|').split_whitespace().collect();
        assert_eq!(sizes.len(), k);
        let expected = format!("    row(&[{}]),", sizes.join(", "));
        assert!(code.lines().any(|line| line == expected), "src/layout.rs has no {expected}");
    }
}

#[test]
fn the_readme_lists_every_function_once() {
    let readme = Page::new(fs::read_to_string(root().join("README.md")).expect("there"), "README.md".into());
    let rows: Vec<&str> = readme.text.lines().filter(|line| line.starts_with("| `gloom_")).collect();
    let cells: Vec<&str> = rows.iter().map(|row| row.split('|').nth(1).expect("a row has cells")).collect();
    for name in declared_functions().keys() {
        let times = cells.iter().filter(|cell| cell.contains(&format!("`{name}`"))).count();
        assert_eq!(times, 1, "README.md has {times} rows for {name}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for page in pages() {
        let base = root().join(&page.path);
        let base = base.parent().expect("a page is in a folder");
        let prose = page.prose();
        for after in prose.split("](").skip(1) {
            let target = after.split(')').next().expect("split gives a piece");
            if target.starts_with("https://") {
                continue;
            }
            let (file, section) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { root().join(&page.path) } else { base.join(file) };
            assert!(file.exists(), "{}: no {target}", page.path);
            assert!(section.is_empty() || has_section(&file, section), "{}: no {target}", page.path);
            links += 1;
        }
    }
    assert!(links > 10, "{links} links found");
}

/// Is there a heading of which sites that show Markdown make this anchor?
fn has_section(file: &Path, section: &str) -> bool {
    let anchor = |heading: &str| -> String {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let text = fs::read_to_string(file).expect("the page can be read");
    text.lines()
        .filter_map(|line| line.strip_prefix('#'))
        .any(|line| anchor(line.trim_start_matches('#')) == section)
}

#[test]
fn rust_examples_are_doctests() {
    let library = fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs is there");
    let mut examples = 0;
    for page in pages().iter().filter(|page| page.blocks.iter().any(|block| block.language == "rust")) {
        let include = format!("include_str!(\"../{}\")", page.path);
        assert!(
            library.contains(&include),
            "src/lib.rs does not have {include}, so the Rust in it is not run"
        );
        examples += 1;
    }
    assert!(examples >= 1, "no page has an example in Rust");
}
