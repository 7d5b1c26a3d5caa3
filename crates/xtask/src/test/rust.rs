//! The parts that cargo runs: format, clippy, cargo-deny, unit and integration tests.

use super::log::Log;
use super::parts::Done;
use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::step;
use crate::{check, node, workspace};

/// Everything that needs no WebKitGTK; one choice of packages, so that what they are built from is built once.
const WITHOUT_SHELL: [&str; 3] = ["--workspace", "--exclude", "drawbridge"];

pub(super) fn format(log: &mut Log) -> Result<Done, Problem> {
    log.run(check::format_check())?;
    Ok(Done::Ran)
}

pub(super) fn clippy(log: &mut Log) -> Result<Done, Problem> {
    step("clippy: the whole workspace");
    log.run(check::clippy(&["--workspace"]))?;
    Ok(Done::Ran)
}

pub(super) fn deny(log: &mut Log) -> Result<Done, Problem> {
    if !has("deny") {
        return Ok(Done::LeftOut("cargo-deny is not installed (cargo install cargo-deny)".into()));
    }
    log.run(in_workspace("deny").args(["--config", ".deny.toml", "check"]))?;
    Ok(Done::Ran)
}

/// The crates' own tests, some against a fake provider of models from npm. The suites with real servers, random bytes
/// and the real window are parts of their own.
pub(super) fn unit(log: &mut Log) -> Result<Done, Problem> {
    node::install(&workspace::tests(), &mut |program| log.run(program))?;
    build_all(log)?;
    step("unit: running the tests");
    log.run(tests(&WITHOUT_SHELL).args(["--exclude", "interop", "--exclude", "fuzz-targets"]))?;
    Ok(Done::Ran)
}

/// One suite of `tests/`, with the crates as they were built for all the others.
pub(super) fn suite(log: &mut Log, name: &str, environment: &[(&str, &str)]) -> Result<(), Problem> {
    let mut call = tests(&WITHOUT_SHELL).args(["--test", name]);
    for (name, value) in environment {
        call = call.env(name, value);
    }
    log.run(call)
}

/// The shell's own tests, built as the app is.
pub(super) fn shell(log: &mut Log) -> Result<(), Problem> {
    log.run(tests(&["-p", "drawbridge", "--features", "drawbridge/custom-protocol"]))
}

/// Builds all but the shell: the suites start our binaries, and a build names errors better than a test run does.
pub(super) fn build_all(log: &mut Log) -> Result<(), Problem> {
    step("building the crates and their tests");
    log.run(in_workspace("build").args(WITHOUT_SHELL).arg("--all-targets"))
}

fn tests(packages: &[&str]) -> Program {
    let nextest = has("nextest");
    if !nextest {
        step("cargo-nextest is not installed; cargo test runs the tests, without a time limit for each");
    }
    tests_with(nextest, packages)
}

fn tests_with(nextest: bool, packages: &[&str]) -> Program {
    if nextest {
        in_workspace("nextest").args(["run", "--profile", "ci"]).args(packages)
    } else {
        in_workspace("test").arg("--no-fail-fast").args(packages)
    }
}

/// Whether cargo knows a subcommand that is installed on its own.
fn has(subcommand: &str) -> bool {
    in_workspace(subcommand).arg("--version").output().is_ok()
}

fn in_workspace(subcommand: &str) -> Program {
    cargo().dir(workspace::root()).arg(subcommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_go_on_after_a_failure() {
        let nextest = tests_with(true, &WITHOUT_SHELL).shown();
        assert!(nextest.contains("nextest run --profile ci"), "the ci profile does not stop early: {nextest}");
        let plain = tests_with(false, &WITHOUT_SHELL).shown();
        assert!(plain.contains("test --no-fail-fast --workspace --exclude drawbridge"), "nor does cargo: {plain}");
    }
}
