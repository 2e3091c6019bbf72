//! Where and with what something was measured.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;

/// Of the processor, its kind: nothing that tells which one it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    pub processor: String,
    pub caches: String,
    pub huge_pages: String,
    pub compiler: String,
    pub flags: String,
    /// The instruction set that gloom chose.
    pub simd_level: String,
}

impl Machine {
    /// This one, now. `cores` are those that this process may use.
    pub fn this(cores: usize, simd_level: &str) -> Machine {
        Machine {
            date: date(),
            processor: processor(cores),
            caches: caches(),
            huge_pages: huge_pages(),
            compiler: env!("GLOOM_BENCH_RUSTC").to_owned(),
            flags: match env!("GLOOM_BENCH_RUSTFLAGS") {
                "" => "the release profile (fat LTO, one codegen unit), no RUSTFLAGS".to_owned(),
                flags => format!("the release profile (fat LTO, one codegen unit), RUSTFLAGS {flags}"),
            },
            simd_level: simd_level.to_owned(),
        }
    }
}

fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or("unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn processor(cores: usize) -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        line.split_once(": ").map(|(_, value)| value.trim())
    };
    // Virtual machines often give no more of the name than the maker: family and model tell the rest.
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name} (family {family}, model {model}), {cores} cores")
        }
        (Some(name), ..) => format!("{name}, {cores} cores"),
        _ => format!("{}, {cores} cores", std::env::consts::ARCH),
    }
}

/// The caches of the first processor, such as "L1 32K, L2 1024K, L3 32768K".
fn caches() -> String {
    let mut caches = Vec::new();
    for index in 0.. {
        let read = |name: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
            fs::read_to_string(path).map(|text| text.trim().to_owned())
        };
        let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else { break };
        if kind != "Instruction" {
            caches.push(format!("L{level} {size}"));
        }
    }
    if caches.is_empty() { "unknown".to_owned() } else { caches.join(", ") }
}

/// The system's choice, such as "madvise".
fn huge_pages() -> String {
    let choices = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = choices.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or("unknown".to_owned(), |(chosen, _)| chosen.to_owned())
}
