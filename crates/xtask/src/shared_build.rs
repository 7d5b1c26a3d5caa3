//! Settings of the build that the parts of `cargo xtask test` and `cargo xtask bench guard` share. Different settings
//! would build most crates a second time.

use crate::process::{Program, cargo};
use crate::{system_packages, workspace};

/// Cargo arguments that select all crates and embed the page in the desktop app. Other arguments would enable other
/// features of shared dependencies, so that cargo would rebuild most of them.
const PACKAGE_ARGUMENTS_WITH_DESKTOP_APP: [&str; 3] = ["--workspace", "--features", "drawbridge/custom-protocol"];
/// Cargo arguments that select all crates but the desktop app, for systems that can't build it.
const PACKAGE_ARGUMENTS_WITHOUT_DESKTOP_APP: [&str; 3] = ["--workspace", "--exclude", "drawbridge"];

/// Returns `true` if this system can build the desktop app, in which the page is embedded.
pub(crate) fn includes_desktop_app() -> bool {
    system_packages::can_build_desktop_app()
}

/// Returns the cargo arguments that select the crates of the shared build.
pub(crate) fn cargo_package_arguments() -> [&'static str; 3] {
    if includes_desktop_app() { PACKAGE_ARGUMENTS_WITH_DESKTOP_APP } else { PACKAGE_ARGUMENTS_WITHOUT_DESKTOP_APP }
}

/// Returns a cargo command that compiles the crates of the workspace with Clippy's compiler, which also reports lints.
/// Warnings are errors.
///
/// A separate run of Clippy would check all dependencies and crates a second time.
pub(crate) fn cargo_with_clippy(subcommand: &str) -> Program {
    cargo()
        .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
        // The separator with which `cargo clippy` passes arguments to its compiler.
        .env("CLIPPY_ARGS", "-Dwarnings__CLIPPY_HACKERY__")
        .dir(workspace::root_folder())
        .arg(subcommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clippy_warnings_fail_the_build() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("linted.rs");
        std::fs::write(&file, "fn main() { let _ = vec![1].len() == 0; }").unwrap();
        let compile = |arguments: &str| {
            let call = Program::new("clippy-driver").args(["rustc", "--edition", "2024", "--emit", "metadata", "-o"]);
            call.arg(folder.path().join("linted")).arg(&file).env("CLIPPY_ARGS", arguments).without_stderr().run()
        };
        assert!(compile("").is_ok(), "a lint alone should only warn");
        assert!(compile("-Dwarnings__CLIPPY_HACKERY__").is_err(), "a lint should be an error");
    }
}
