//! `cargo xtask check`: what is fast enough to run before every commit.

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::step;
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
    step("tidy");
    note(tidy::run())?;
    step("format");
    note(format_check().run())?;
    step("clippy, without the shell");
    note(clippy(&[]).run())?;
    if workspace::ui().join("node_modules").exists() {
        step("the page: types, lint, format");
        note(node::npm(&workspace::ui()).args(["run", "--silent", "check"]).run())?;
    } else {
        println!("left out: the page's checks, as its packages are not installed (npm ci in ui/)");
    }
    if failed { Err(Problem::ChecksFailed) } else { Ok(()) }
}

/// Whether everything is formatted.
pub(crate) fn format_check() -> Program {
    cargo().dir(workspace::root()).args(["fmt", "--all", "--check"])
}

/// Clippy over the packages chosen; any warning fails.
pub(crate) fn clippy(packages: &[&str]) -> Program {
    let call = cargo().dir(workspace::root()).arg("clippy").args(packages);
    call.args(["--all-targets", "--", "-D", "warnings"])
}
