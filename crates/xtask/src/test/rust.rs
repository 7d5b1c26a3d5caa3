//! Test parts that run cargo: format, Clippy, cargo-deny, unit and integration tests, and documentation tests.

use std::sync::{Mutex, PoisonError};

use super::log::Log;
use super::outcome::PartOutcome;
use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::{check, node, system_packages, workspace};

/// Cargo arguments that select all crates and embed the page in the shell. All parts use the same selection, because
/// cargo selects features of shared dependencies by it, and another selection would rebuild most of them.
const WITH_SHELL: [&str; 3] = ["--workspace", "--features", "drawbridge/custom-protocol"];
/// Cargo arguments that select all crates but the shell, for systems that can't build it.
const WITHOUT_SHELL: [&str; 3] = ["--workspace", "--exclude", "drawbridge"];

fn package_arguments() -> [&'static str; 3] {
    if system_packages::can_build_shell() { WITH_SHELL } else { WITHOUT_SHELL }
}

pub(super) fn check_format(log: &mut Log) -> Result<PartOutcome, Problem> {
    log.run(check::format_check())?;
    Ok(PartOutcome::Ran)
}

pub(super) fn run_clippy(log: &mut Log) -> Result<PartOutcome, Problem> {
    print_step("clippy: the whole workspace");
    log.run(check::clippy(&["--workspace"]))?;
    Ok(PartOutcome::Ran)
}

pub(super) fn run_deny(log: &mut Log) -> Result<PartOutcome, Problem> {
    if !has_subcommand("deny") {
        return Ok(PartOutcome::LeftOut("cargo-deny is not installed (cargo install cargo-deny)".into()));
    }
    log.run(workspace_cargo("deny").args(["--config", ".deny.toml", "check"]))?;
    Ok(PartOutcome::Ran)
}

/// Runs the unit and integration tests of the crates, some of them with a fake model provider from npm. The suites that
/// run published servers or fuzz targets are separate parts.
pub(super) fn run_unit_tests(log: &mut Log) -> Result<PartOutcome, Problem> {
    node::install_packages(&workspace::tests_folder(), &mut |program| log.run(program))?;
    build_all(log)?;
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
    log.run(workspace_cargo("test").args(package_arguments()).args(["--doc", "--no-fail-fast"]))?;
    Ok(PartOutcome::Ran)
}

/// Runs a test suite in `tests/`, without rebuilding the crates for it.
pub(super) fn run_suite(log: &mut Log, name: &str, environment: &[(&str, &str)]) -> Result<(), Problem> {
    let mut call = workspace_test_command().call.args(["--test", name]);
    for (name, value) in environment {
        call = call.env(name, value);
    }
    log.run(call)
}

/// `true` once all crates are built. The lock lets parallel parts wait for the build here instead of at cargo's lock.
static IS_BUILT: Mutex<bool> = Mutex::new(false);

/// Builds the page, and then all crates with their tests. The suites start these binaries, and a separate build reports
/// compile errors more clearly than a test run.
pub(super) fn build_all(log: &mut Log) -> Result<(), Problem> {
    let mut built = IS_BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *built {
        return Ok(());
    }
    let packages = package_arguments();
    if packages == WITH_SHELL {
        node::install_packages(&workspace::ui_folder(), &mut |program| log.run(program))?;
        node::build_page(&mut |program| log.run(program))?;
    }
    print_step("building the crates and their tests");
    log.run(workspace_cargo("build").args(packages).arg("--all-targets"))?;
    *built = true;
    Ok(())
}

/// Program that runs the tests.
enum TestRunner {
    Nextest,
    Cargo,
}

struct TestCommand {
    runner: TestRunner,
    call: Program,
}

fn workspace_test_command() -> TestCommand {
    let runner = if has_subcommand("nextest") { TestRunner::Nextest } else { TestRunner::Cargo };
    if matches!(runner, TestRunner::Cargo) {
        print_step("cargo-nextest is not installed; cargo test runs the tests, without a time limit for each");
    }
    test_command(runner, &package_arguments())
}

fn test_command(runner: TestRunner, packages: &[&str]) -> TestCommand {
    let call = match runner {
        TestRunner::Nextest => workspace_cargo("nextest").args(["run", "--profile", "ci"]).args(packages),
        TestRunner::Cargo => workspace_cargo("test").arg("--no-fail-fast").args(packages),
    };
    TestCommand { runner, call }
}

/// Returns `true` if an additional cargo subcommand is installed.
fn has_subcommand(subcommand: &str) -> bool {
    workspace_cargo(subcommand).arg("--version").output().is_ok()
}

fn workspace_cargo(subcommand: &str) -> Program {
    cargo().dir(workspace::root_folder()).arg(subcommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_continue_after_a_failure() {
        let nextest = test_command(TestRunner::Nextest, &WITHOUT_SHELL).call.displayed_command();
        assert!(
            nextest.contains("nextest run --profile ci"),
            "nextest should use the ci profile, which does not stop early: {nextest}"
        );
        let plain = test_command(TestRunner::Cargo, &WITHOUT_SHELL).call.displayed_command();
        assert!(
            plain.contains("test --no-fail-fast --workspace --exclude drawbridge"),
            "cargo test should not stop early: {plain}"
        );
    }
}
