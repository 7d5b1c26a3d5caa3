//! Test parts of the page: static checks and component tests, tests in Chromium, and tests of the real desktop window.

use std::env;
use std::path::{Path, PathBuf};

use super::log::TestPartLog;
use super::outcome::PartOutcome;
use super::rust;
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::screen::VirtualScreen;
use crate::system_packages::HEADLESS_CHROMIUM_PATH;
use crate::{codegen, node, system_packages, workspace};

/// Checks the types, lint and format of the page, runs its component tests, and checks that its generated types are up
/// to date.
pub(super) fn check_ui(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    let folder = workspace::ui_folder();
    node::install_packages(&folder, &mut |program| log.run(program))?;
    rust::build_workspace(log)?;
    log.append_line("$ codegen --check")?;
    codegen::check_generated_types(Program::new(workspace::example_binary_path("typescript")))?;
    print_step("ui: types, lint, format");
    log.run(node::npm(&folder).args(["run", "check"]))?;
    print_step("ui: component tests");
    log.run(node::npm(&folder).arg("test"))?;
    Ok(PartOutcome::Ran)
}

/// Runs the tests of the page in Chromium, with a test program instead of the desktop app as its host.
pub(super) fn test_ui_in_chromium(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    print_step("page: the tests in Chromium");
    run_playwright(log, &["--project", "page", "--workers", "2"])
}

/// Runs the tests of the page that measure frame rates and processor time. No other part may run in parallel.
pub(super) fn measure_ui_frame_times(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    print_step("frames: what is measured of the page, alone");
    run_playwright(log, &["--project", "measured"])
}

fn run_playwright(log: &mut TestPartLog, arguments: &[&str]) -> Result<PartOutcome, Problem> {
    install_packages_and_build_ui(log)?;
    rust::build_workspace(log)?;
    let tests = workspace::tests_folder();
    let browser = chromium_path();
    if browser.is_none() {
        print_step("installing Playwright's Chromium");
        log.run(node::npx(&tests).args(["playwright", "install", "--with-deps", "chromium"]))?;
    }
    let mut call = node::npx(&tests).args(["playwright", "test", "-c", "page/playwright.config.ts"]).args(arguments);
    if let Some(browser) = &browser {
        call = call.env("CHROMIUM", browser);
    }
    log.run(call)?;
    Ok(PartOutcome::Ran)
}

/// Tests the app as it is released, in its desktop window on a virtual display, controlled through WebKit's WebDriver.
pub(super) fn test_desktop_window(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    if !cfg!(target_os = "linux") {
        return Ok(PartOutcome::Skipped("only Linux has a driver for the web view of a running app".into()));
    }
    install_packages_and_build_ui(log)?;
    rust::build_workspace(log)?;
    print_step("desktop: following a user through the real window");
    let screen = VirtualScreen::start()?;
    let script = workspace::tests_folder().join("desktop/run.mjs");
    log.run(screen.program(Path::new("node")).arg(script).dir(workspace::root_folder()))?;
    Ok(PartOutcome::Ran)
}

/// Installs the npm packages of the page and of the tests, and builds the page.
fn install_packages_and_build_ui(log: &mut TestPartLog) -> Result<(), Problem> {
    node::install_packages(&workspace::tests_folder(), &mut |program| log.run(program))?;
    node::install_packages(&workspace::ui_folder(), &mut |program| log.run(program))?;
    node::build_ui(&mut |program| log.run(program))
}

/// Returns the path of the Chromium to use: the one in the environment variable, or Debian's. Returns `None` if there
/// is neither, so that Playwright uses the one that it downloads.
fn chromium_path() -> Option<PathBuf> {
    let debian = PathBuf::from(HEADLESS_CHROMIUM_PATH);
    match env::var_os("CHROMIUM") {
        Some(path) if !path.is_empty() => Some(path.into()),
        _ => (system_packages::has_debian_chromium() && debian.exists()).then_some(debian),
    }
}
