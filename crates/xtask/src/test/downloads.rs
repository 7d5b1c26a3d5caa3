//! Downloads and installs what the test parts require. Used by `mod.rs` before the first part.
//!
//! Each source is limited by its server or by unpacking on a single core, so they are read in parallel. A part that
//! runs alone installs the same packages, in sequence.

use std::thread;

use super::log::TestPartLog;
use super::parts::{self, TestPart};
use crate::problem::Problem;
use crate::process::cargo;
use crate::{node, system_packages, workspace};

/// Installs the system packages and npm packages that these parts require, downloads the crates, and builds the page.
pub(super) fn install_test_dependencies(parts: &[TestPart], yes: bool) -> Result<(), Problem> {
    let needs = parts::system_packages(parts, system_packages::has_debian_chromium());
    // The confirmation reads the terminal, so nothing runs meanwhile.
    let missing = system_packages::confirm_installation_of_missing_packages(&needs, yes)?;
    let needs_node = parts.iter().any(TestPart::needs_node);
    if needs_node {
        node::check_node_version()?;
    }
    thread::scope(|scope| {
        let page = scope.spawn(move || if needs_node { install_node_packages() } else { Ok(()) });
        let crates = scope.spawn(move || if needs_node { download_crates() } else { Ok(()) });
        let system = missing.map_or(Ok(()), |missing| missing.install());
        for download in [page, crates] {
            download.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        system
    })
}

fn install_node_packages() -> Result<(), Problem> {
    let mut log = TestPartLog::create("npm")?;
    let ui = workspace::ui_folder();
    node::install_packages(&ui, &mut |program| log.run(program))?;
    node::build_ui(&mut |program| log.run(program))?;
    node::install_packages(&workspace::tests_folder(), &mut |program| log.run(program))
}

fn download_crates() -> Result<(), Problem> {
    TestPartLog::create("crates")?.run(cargo().dir(workspace::root_folder()).args(["fetch", "--locked"]))
}
