//! Test parts that run cargo: format, Clippy, cargo-deny, unit and integration tests, and documentation tests.

use std::sync::{Mutex, PoisonError};

use super::log::TestPartLog;
use super::outcome::PartOutcome;
use crate::problem::Problem;
use crate::process::{self, Program, cargo};
use crate::progress::print_step;
use crate::shared_build::{cargo_package_arguments, cargo_with_clippy, includes_desktop_app};
use crate::{check, node, workspace};

pub(super) fn check_format(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    log.run(check::rustfmt_check_command())?;
    Ok(PartOutcome::Ran)
}

/// Builds all crates with their tests. The build also reports Clippy's lints.
pub(super) fn run_clippy(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    if !process::command_succeeds("clippy-driver", &["--version"]) {
        return Err(Problem::Machine("Clippy is not installed (rustup component add clippy)".into()));
    }
    build_workspace(log)?;
    Ok(PartOutcome::Ran)
}

pub(super) fn run_cargo_deny(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    if !has_cargo_subcommand("deny") {
        return Ok(PartOutcome::Skipped("cargo-deny is not installed (cargo install cargo-deny)".into()));
    }
    log.run(cargo().dir(workspace::root_folder()).args(["deny", "--config", ".deny.toml", "check"]))?;
    Ok(PartOutcome::Ran)
}

/// Runs the unit and integration tests of the crates, some of them with a fake model provider from npm. The suites that
/// run published servers or fuzz targets are separate parts.
pub(super) fn run_unit_tests(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    node::install_packages(&workspace::tests_folder(), &mut |program| log.run(program))?;
    build_workspace(log)?;
    print_step("unit: running the tests");
    let tests = workspace_test_command();
    // Test filters do not change which packages are built. Cargo's own test runner has no such filters.
    let tests = match tests.runner {
        TestRunner::Nextest => {
            tests.call.args(["-E", "not (package(interop) | package(model-servers) | package(fuzz-targets))"])
        }
        TestRunner::Cargo => {
            tests.call.args(["--exclude", "interop", "--exclude", "model-servers", "--exclude", "fuzz-targets"])
        }
    };
    log.run(tests)?;
    print_step("unit: running the examples of the documentation");
    log.run(cargo_with_clippy("test").args(cargo_package_arguments()).args(["--doc", "--no-fail-fast"]))?;
    Ok(PartOutcome::Ran)
}

/// Runs a test suite in `tests/`, without rebuilding the crates for it.
pub(super) fn run_test_suite(log: &mut TestPartLog, name: &str, environment: &[(&str, &str)]) -> Result<(), Problem> {
    let mut call = workspace_test_command().call.args(["--test", name]);
    for (name, value) in environment {
        call = call.env(name, value);
    }
    log.run(call)
}

/// `true` after all crates have been built. Parts that run in parallel wait for the build at this lock instead of at
/// cargo's.
static WORKSPACE_IS_BUILT: Mutex<bool> = Mutex::new(false);

/// Builds the page, and then all crates with their tests, with Clippy's lints. The test suites start these binaries,
/// and a separate build reports compile errors more clearly than a test run.
pub(super) fn build_workspace(log: &mut TestPartLog) -> Result<(), Problem> {
    let mut built = WORKSPACE_IS_BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *built {
        return Ok(());
    }
    if includes_desktop_app() {
        node::install_packages(&workspace::ui_folder(), &mut |program| log.run(program))?;
        node::build_ui(&mut |program| log.run(program))?;
    }
    print_step("building the crates and their tests, with the lints of Clippy");
    log.run(cargo_with_clippy("build").args(cargo_package_arguments()).arg("--all-targets"))?;
    *built = true;
    Ok(())
}

/// Program that runs the tests: nextest if it is installed, or else cargo.
enum TestRunner {
    Nextest,
    Cargo,
}

struct TestCommand {
    runner: TestRunner,
    call: Program,
}

fn workspace_test_command() -> TestCommand {
    let runner = if has_cargo_subcommand("nextest") { TestRunner::Nextest } else { TestRunner::Cargo };
    if matches!(runner, TestRunner::Cargo) {
        print_step("cargo-nextest is not installed; cargo test runs the tests, without a time limit for each");
    }
    test_command(runner, &cargo_package_arguments())
}

fn test_command(runner: TestRunner, packages: &[&str]) -> TestCommand {
    let call = match runner {
        TestRunner::Nextest => cargo_with_clippy("nextest").args(["run", "--profile", "ci"]).args(packages),
        TestRunner::Cargo => cargo_with_clippy("test").arg("--no-fail-fast").args(packages),
    };
    // Without the start-up files of the developer's login shell, which can take longer than a test. The tests of the
    // login shell set their own.
    TestCommand { runner, call: call.env("SHELL", "") }
}

/// Returns `true` if an additional cargo subcommand is installed.
fn has_cargo_subcommand(subcommand: &str) -> bool {
    cargo().args([subcommand, "--version"]).output().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_and_cargo_test_continue_after_a_failure() {
        let nextest =
            test_command(TestRunner::Nextest, &["--workspace", "--exclude", "drawbridge"]).call.displayed_command();
        assert!(
            nextest.contains("nextest run --profile ci"),
            "nextest should use the ci profile, which does not stop early: {nextest}"
        );
        let plain =
            test_command(TestRunner::Cargo, &["--workspace", "--exclude", "drawbridge"]).call.displayed_command();
        assert!(
            plain.contains("test --no-fail-fast --workspace --exclude drawbridge"),
            "cargo test should not stop early: {plain}"
        );
    }
}
