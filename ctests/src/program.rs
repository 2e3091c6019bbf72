//! A C program: compiled, linked, run.

use crate::{Library, compiler, folder, ours, workspace};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, thread};

/// Every program of `c/` is compiled with these.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-pedantic",
    "-Werror",
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-pthread",
];

/// For `c/out_of_memory.c`, which takes the allocations of the library.
pub const WRAP_ALLOCATIONS: &[&str] =
    &["-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign,--wrap=mmap"];

/// For `c/faults.h`, which takes the library's calls to the system.
pub const WRAP_FILES: &[&str] = &[
    "-Wl,--wrap=open64,--wrap=openat,--wrap=close,--wrap=read,--wrap=write,--wrap=pread64,--wrap=pwrite64",
    "-Wl,--wrap=fsync,--wrap=msync,--wrap=mmap,--wrap=fchmod,--wrap=statx,--wrap=fstatat,--wrap=readlinkat",
    "-Wl,--wrap=renameat,--wrap=renameat2,--wrap=linkat,--wrap=unlinkat,--wrap=fdopendir,--wrap=fremovexattr",
    "-Wl,--wrap=fcntl,--wrap=flock,--wrap=fallocate,--wrap=posix_fallocate,--wrap=fstatvfs,--wrap=lseek,--wrap=getrandom",
];

/// How much of a failed program's output is shown.
const LINES_SHOWN: usize = 60;

/// An executable.
pub struct Program {
    path: PathBuf,
}

/// How a run ended.
pub struct Outcome {
    /// The command, to do it again.
    pub command: String,
    /// Its exit status.
    pub status: ExitStatus,
    /// What it printed, stdout first.
    pub output: String,
}

impl Program {
    /// Compiles `c/<name>.c` and links it with the library.
    pub fn new(name: &str, library: Library) -> Program {
        Program::with_flags(name, library, &[])
    }

    /// The same with more flags.
    pub fn with_flags(name: &str, library: Library, flags: &[&str]) -> Program {
        let mut command = compiler();
        command.args(FLAGS).args(library.c_flags()).args(flags);
        command.arg(ours(&format!("c/{name}.c")));
        Program::link(command, &format!("{name}-{library:?}"), library)
    }

    /// Adds to a compiler's command, which has flags and sources, the header's folder and the library, and runs it.
    pub fn link(mut command: Command, name: &str, library: Library) -> Program {
        // Tests run at the same time and may want the same program: each makes its own and puts it in place whole.
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder("programs").join(name);
        let unfinished = path.with_extension(format!("{}-{number}", std::process::id()));
        command.arg("-I").arg(workspace::root().join("include")).arg("-o").arg(&unfinished);
        command.args(library.link_flags());
        let outcome = finish(&mut command, "");
        assert!(outcome.status.success(), "{outcome}");
        fs::rename(&unfinished, &path).expect("the program can be renamed");
        Program { path }
    }

    /// A command that runs the program.
    pub fn command(&self) -> Command {
        Command::new(&self.path)
    }

    /// A command that runs the program under a tool.
    pub fn under(&self, mut tool: Command) -> Command {
        tool.arg(&self.path);
        tool
    }

    /// Runs the program; its exit status must be 0.
    pub fn run(&self, arguments: &[&str]) {
        self.run_with_input(arguments, "");
    }

    /// The same with text on its standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) {
        finish(self.command().args(arguments), input).must_succeed();
    }
}

impl Outcome {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Outcome {
        finish(command, "")
    }

    /// Fails, with the program's last words, unless the exit status is 0. What could not be tested here is said even though
    /// tests that pass are silent: what is written to the handle itself is not kept back.
    pub fn must_succeed(self) {
        assert!(self.status.success(), "{self}");
        for line in self.output.lines().filter(|line| line.to_lowercase().contains("not tested")) {
            let _ = writeln!(std::io::stderr(), "{}: {line}", self.command);
        }
        println!("{}: {}", self.command, self.output.lines().last().unwrap_or("no output"));
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<_> = self.output.lines().collect();
        writeln!(f, "{}\n{}; its last lines:", self.command, self.status)?;
        lines[lines.len().saturating_sub(LINES_SHOWN)..].iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

fn finish(command: &mut Command, input: &str) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let output = thread::scope(|scope| {
        // In a thread of its own: the program may print before it has read everything. That it stopped reading is told by its status.
        scope.spawn(move || stdin.write_all(input.as_bytes()));
        child.wait_with_output().expect("the program can be waited for")
    });
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Outcome { command: format!("{command:?}"), status: output.status, output: text.into_owned() }
}
