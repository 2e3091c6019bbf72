//! Programs that a test needs.

use std::process::{Command, Stdio};

/// A command that is there, or a failure that says what to install. A test is never skipped for want of a tool.
pub fn tool(name: &str, apt_package: &str) -> Command {
    let there =
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    assert!(there, "`{name}` is not installed. On Debian or Ubuntu: apt-get install {apt_package}");
    Command::new(name)
}
