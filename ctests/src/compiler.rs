//! The C compiler.

use std::process::Command;

/// The compiler that `cc` finds (or the environment names in CC), without any flags of `cc`'s own.
pub fn compiler() -> Command {
    let compiler = cc::Build::new()
        .target(env!("TARGET"))
        .host(env!("TARGET"))
        .opt_level(1)
        .cargo_metadata(false)
        .no_default_flags(true)
        .try_get_compiler()
        .expect("a C compiler is installed (on Debian or Ubuntu: apt-get install gcc)");
    compiler.to_command()
}
