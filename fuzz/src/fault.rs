//! Faults to be found: a harness that cannot fail proves nothing. `scripts/fuzz faults` asks for each of them and
//! wants to see it reported.

use std::sync::OnceLock;

/// Is this the fault that `GLOOM_FUZZ_FAULT` asks for?
pub fn wanted(name: &str) -> bool {
    static FAULT: OnceLock<Option<String>> = OnceLock::new();
    FAULT.get_or_init(|| std::env::var("GLOOM_FUZZ_FAULT").ok()).as_deref() == Some(name)
}
