//! Files outlive whatever happens to the processes, the system and the disk.
#![cfg(target_os = "linux")]

use gloom_ctests::{Library, Outcome, Program, WRAP_FILES, compiler, folder, ours};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

fn crash(arguments: &[&str]) {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| Program::with_flags("crash", Library::Static, WRAP_FILES)).run(arguments);
}

/// One of this run, which a failure shows in the command to repeat.
fn seed() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
    (now.as_nanos() as u64).to_string()
}

#[test]
fn killed_at_every_point() {
    crash(&["kill"]);
}

#[test]
fn killed_at_random_in_a_loop_of_saves() {
    crash(&["random", &seed(), "200"]);
}

#[test]
fn every_call_fails() {
    crash(&["fail"]);
}

#[test]
fn every_call_is_interrupted_or_does_only_a_part() {
    crash(&["interrupt"]);
}

#[test]
fn readers_meet_writers_at_every_point() {
    crash(&["readers-meet-writers"]);
}

#[test]
fn writers_meet_at_every_point() {
    crash(&["writers-meet"]);
}

#[test]
fn writers_come_and_go() {
    crash(&["storm", &seed(), "200"]);
}

#[test]
fn a_file_system_without_locks() {
    crash(&["no-locks"]);
}

#[test]
fn a_file_system_that_only_renames() {
    crash(&["no-exclusive-rename"]);
}

#[test]
fn a_file_system_that_does_not_sync_folders() {
    crash(&["no-folder-sync"]);
}

#[test]
fn a_disk_without_space() {
    crash(&["full-disk"]);
}

#[test]
fn a_boot_that_cannot_be_told() {
    crash(&["no-boot"]);
}

#[test]
fn a_child_shares_the_map_of_its_parent() {
    crash(&["fork"]);
}

#[test]
fn a_fork_in_the_middle_of_a_call() {
    crash(&["fork-meanwhile"]);
}

#[test]
fn processes_with_the_same_number() {
    crash(&["namespaces"]);
}

#[test]
fn a_disk_that_has_failed() {
    crash(&["failed-sync"]);
}

#[test]
fn a_disk_that_has_failed_for_one_of_two_threads() {
    crash(&["two-syncs"]);
}

#[test]
fn a_disk_that_fails_while_another_opens() {
    crash(&["slow-open"]);
}

#[test]
fn a_mark_that_was_not_written() {
    crash(&["forgotten-mark", "disk"]);
}

#[test]
fn the_power_fails_at_every_point() {
    Program::with_flags("power", Library::Static, WRAP_FILES).run(&[&seed()]);
}

#[test]
fn full_disks() {
    Program::new("full", Library::Static).run(&[]);
}

/// The figures are for people; that it still compiles and runs is tested.
#[test]
fn the_measurement_works() {
    let mut command = compiler();
    command
        .args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1"])
        .arg(ours("../benches/files.c"));
    let place = folder("bench");
    let outcome = Outcome::of(
        Program::link(command, "bench-files", Library::Static).command().arg(&place).args(["2", "4"]),
    );
    assert!(outcome.status.success() && outcome.output.contains("gloom_fold"), "{outcome}");
    assert_eq!(place.read_dir().expect("it is there").count(), 0, "it has left something");
}
