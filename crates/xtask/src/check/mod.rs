//! `cargo xtask check`: checks that are fast enough to run before every commit.

mod affected;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::{node, tidy, workspace};

pub(crate) fn run() -> Result<(), Problem> {
    let mut failed = false;
    let mut note = |outcome: Result<(), Problem>| match outcome {
        Ok(()) => Ok(()),
        Err(Problem::Interrupted) => Err(Problem::Interrupted),
        Err(problem) => {
            eprintln!("{problem}");
            failed = true;
            Ok(())
        }
    };
    print_step("tidy");
    note(tidy::check_repository())?;
    print_step("format");
    note(rustfmt_check_command().run())?;
    print_step("clippy, without the shell");
    note(clippy_command(&[]).run())?;
    note(run_unit_tests())?;
    if workspace::ui_folder().join("node_modules").exists() {
        print_step("the page: types, lint, format");
        note(node::npm(&workspace::ui_folder()).args(["run", "--silent", "check"]).run())?;
    } else {
        println!("skipped: the checks of the page, because its packages are not installed (npm ci in ui/)");
    }
    if failed { Err(Problem::ChecksFailed) } else { Ok(()) }
}

/// Runs the unit tests that the changes since `main` can affect. Integration tests are not included, since they start
/// servers and take longer.
fn run_unit_tests() -> Result<(), Problem> {
    let packages = affected::packages_to_test()?;
    if packages.is_empty() {
        println!("skipped: unit tests, because no crate was changed");
        return Ok(());
    }
    print_step(&format!("unit tests of {}", packages.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
    let mut call = cargo().dir(workspace::root_folder()).args(["test", "--quiet", "--bins"]);
    // Cargo rejects `--lib` if none of the packages has a library.
    if packages.iter().any(|name| name != env!("CARGO_PKG_NAME")) {
        call = call.arg("--lib");
    }
    for name in &packages {
        call = call.args(["-p", name]);
    }
    call.run()
}

/// Returns the command that checks the format of all code with rustfmt.
pub(crate) fn rustfmt_check_command() -> Program {
    cargo().dir(workspace::root_folder()).args(["fmt", "--all", "--check"])
}

/// Returns the command that runs Clippy on these packages. Warnings are errors.
pub(crate) fn clippy_command(packages: &[&str]) -> Program {
    let call = cargo().dir(workspace::root_folder()).arg("clippy").args(packages);
    call.args(["--all-targets", "--", "-D", "warnings"])
}
