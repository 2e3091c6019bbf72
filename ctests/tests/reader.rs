//! docs/format.md says enough: a reader that was written from it (`reader/read_filter.py`), without any code of the
//! library, gives the library's answers and refuses what the library refuses.

use gloom_ctests::{Library, Outcome, Program, folder, ours, tool};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A Python that has the module xxhash: `scripts/deps` looks for the same ones.
fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let named = std::env::var("PYTHON").ok();
        let has_xxhash = |python: &String| {
            Command::new(python).args(["-c", "import xxhash"]).output().is_ok_and(|output| output.status.success())
        };
        named.into_iter().chain(["python3".into(), "/usr/bin/python3".into()]).find(has_xxhash).expect(
            "no Python 3 with the module xxhash is installed. On Debian or Ubuntu: apt-get install python3-xxhash. \
             Elsewhere: python3 -m pip install xxhash; or let PYTHON name one that has it",
        )
    })
}

fn reader() -> Command {
    let mut command = Command::new(python());
    command.arg(ours("reader/read_filter.py"));
    command
}

fn library() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| Program::new("reader", Library::Static))
}

/// A folder that is empty at first and gone in the end.
struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Files {
        let path = folder("reader").join(format!("{name}-{}", std::process::id()));
        fs::create_dir(&path).expect("target is writable");
        Files(path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the folder is ours");
    }
}

/// Files of all sorts, without those that have keys and answers.
fn written(files: &Files) -> Vec<PathBuf> {
    library().run(&["write", files.0.to_str().expect("UTF-8")]);
    let names = fs::read_dir(&files.0).expect("the folder is there");
    let paths = names.map(|entry| entry.expect("it can be read").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_none()).collect();
    paths.sort();
    assert!(paths.len() > 40, "{} files", paths.len());
    assert!(paths.iter().any(|path| path.ends_with("siphash")), "a file of the other hash");
    paths
}

#[test]
fn gives_the_answers_of_the_library() {
    let files = Files::new("answers");
    for path in written(&files) {
        let keys = File::open(path.with_extension("keys")).expect("the program wrote it");
        let answers = fs::read_to_string(path.with_extension("answers")).expect("the program wrote it");
        let output = reader().arg("--hex").arg(&path).arg("-").stdin(keys).output().expect("Python runs");
        let (printed, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {errors}", path.display());
        let differs = printed.lines().zip(answers.lines()).position(|(a, b)| a != b);
        assert!(printed == answers, "{}: line {differs:?} differs\n{errors}", path.display());
        assert!(answers.lines().count() > 100 && answers.contains("\nmaybe\n"));
    }
}

/// Keys as arguments, for people.
#[test]
fn answers_on_the_command_line() {
    let files = Files::new("arguments");
    let path = written(&files).into_iter().find(|path| path.ends_with("closed")).expect("it is there");
    let outcome = Outcome::of(reader().arg(&path).args(["user:17", "b\u{fc}ro"]));
    let lines: Vec<_> = outcome.output.lines().collect();
    assert!(
        outcome.status.success() && lines.len() == 3 && lines[0].starts_with("format=native "),
        "{outcome}"
    );
    assert!(lines[1..].iter().all(|line| ["maybe", "no"].contains(line)), "{outcome}");
}

/// What both say of files, one word each. The library's word is the status of gloom_load.
fn verdicts(paths: &[PathBuf]) -> (Vec<String>, Vec<String>) {
    let first_words = |outcome: Outcome| -> Vec<String> {
        let word = |line: &str| line.split([' ', ':']).next().unwrap_or_default().to_owned();
        let words: Vec<_> = outcome.output.lines().map(word).collect();
        assert_eq!(words.len(), paths.len(), "{outcome}");
        words
    };
    let read = first_words(Outcome::of(reader().arg("--check").args(paths)));
    (first_words(Outcome::of(library().command().arg("load").args(paths))), read)
}

/// Damaged copies of a file: each byte that is not a block's or padding, some of those, and other lengths.
fn damage(original: &Path, into: &Files, padding: std::ops::Range<usize>) -> Vec<PathBuf> {
    let bytes = fs::read(original).expect("the program wrote it");
    let mut copies = Vec::new();
    let mut write = |name: String, bytes: &[u8]| {
        let path = into.0.join(name);
        fs::write(&path, bytes).expect("target is writable");
        copies.push(path);
    };
    let is_dull = |at: usize| padding.contains(&at) && !at.is_multiple_of(9973);
    for at in (0..bytes.len()).filter(|&at| !is_dull(at)) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at * 5 % 8);
        write(format!("bit-{at}"), &damaged);
    }
    for len in (0..bytes.len()).filter(|&len| !is_dull(len)).step_by(3).chain([bytes.len() - 4]) {
        write(format!("length-{len}"), &bytes[..len]);
    }
    write("one-more".into(), &[&bytes[..], &[0]].concat());
    write("twice".into(), &[&bytes[..], &bytes[..]].concat());
    copies
}

fn refuses_what_the_library_refuses(name: &str, file: &str, padding: std::ops::Range<usize>) {
    let files = Files::new(name);
    let originals = Files::new(&format!("{name}-original"));
    let original = written(&originals).into_iter().find(|path| path.ends_with(file)).expect("it is there");
    assert_eq!(verdicts(std::slice::from_ref(&original)), (vec!["ok".into()], vec!["ok".into()]));
    let copies = damage(&original, &files, padding);
    let (library, reader) = verdicts(&copies);
    for ((path, library), reader) in copies.iter().zip(&library).zip(&reader) {
        assert_eq!(library, reader, "{}", path.display());
        assert!(["corrupt", "unsupported"].contains(&library.as_str()), "{}: {library}", path.display());
    }
    assert!(copies.len() > 100 && library.iter().any(|word| word == "unsupported"), "{} files", copies.len());
}

#[test]
fn refuses_damaged_v1() {
    refuses_what_the_library_refuses("v1", "v1-2-7-1-0", 0..0);
}

#[test]
fn refuses_damaged_native() {
    refuses_what_the_library_refuses("native", "native-2-7-1-1", 192..65536);
}

/// Neither of them waits for somebody to write to a FIFO; or this test does not end.
#[test]
fn refuses_what_is_no_regular_file() {
    let files = Files::new("special");
    let path = |name: &str| files.0.join(name);
    let mut mkfifo = tool("mkfifo", "coreutils");
    Outcome::of(mkfifo.arg(path("fifo"))).must_succeed();
    symlink("fifo", path("link")).expect("target is writable");
    let paths = ["fifo", "link", ".", "missing"].map(path);
    let paths = [&paths[..], &["/dev/zero".into()]].concat();
    let (library, reader) = verdicts(&paths);
    assert_eq!((&library, &reader), (&vec!["io".to_owned(); paths.len()], &library));
    let outcome = Outcome::of(self::reader().arg(path("fifo")).arg("key"));
    assert!(!outcome.status.success() && outcome.output.contains("no regular file"), "{outcome}");
}
