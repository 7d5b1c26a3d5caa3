//! Parts of `cargo xtask test`: names, order, and requirements.

use std::cell::RefCell;

use clap::ValueEnum;

use super::log::TestPartLog;
use super::outcome::PartOutcome;
use super::{page_and_window, real_servers, rust};
use crate::bench::guard;
use crate::problem::Problem;
use crate::progress::print_step;
use crate::system_packages::{
    CHROMIUM_PACKAGE, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, INTEROP_PACKAGES, KEYCHAIN_PACKAGES,
    PAGE_TEST_PACKAGES, RequiredPackage, SANDBOX_PACKAGES, VALGRIND_PACKAGES, VIRTUAL_DISPLAY_PACKAGES,
    WINDOW_TEST_PACKAGES,
};
use crate::{conformance, tidy};

/// Part of `cargo xtask test`, in the order of the help text. `stages.rs` defines the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum TestPart {
    /// Rules for text and structure of the repository
    Tidy,
    /// Format of the code, checked by rustfmt
    Fmt,
    /// Build of the whole workspace, with the lints of Clippy
    Clippy,
    /// Licences, advisories and sources of dependencies, if cargo-deny is installed
    Deny,
    /// Unit and integration tests of the crates
    Unit,
    /// Instruction counts of single steps, on machines that valgrind supports
    Guard,
    /// Fuzzing of all parsers of untrusted input
    Fuzz,
    /// The page: types, lint, format, component tests, generated types
    Ui,
    /// MCP servers from npm and PyPI
    Interop,
    /// Model servers from PyPI, only if requested by name
    Models,
    /// The official conformance suite against Drawbridge's client
    Conformance,
    /// The page in Chromium
    Page,
    /// The desktop window in WebKitGTK
    Desktop,
    /// Frame rates of the page in Chromium
    Frames,
}

impl TestPart {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tidy => "tidy",
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Deny => "deny",
            Self::Unit => "unit",
            Self::Guard => "guard",
            Self::Fuzz => "fuzz",
            Self::Ui => "ui",
            Self::Interop => "interop",
            Self::Models => "models",
            Self::Conformance => "conformance",
            Self::Page => "page",
            Self::Desktop => "desktop",
            Self::Frames => "frames",
        }
    }

    /// Returns `true` if the part requires Node.js. Parts that build all crates require it, since the page is embedded
    /// in the desktop app.
    pub(super) fn needs_node(&self) -> bool {
        !matches!(self, Self::Tidy | Self::Fmt | Self::Deny)
    }

    pub(super) fn run(self, log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
        match self {
            Self::Tidy => check_tidy(log),
            Self::Fmt => rust::check_format(log),
            Self::Clippy => rust::run_clippy(log),
            Self::Deny => rust::run_cargo_deny(log),
            Self::Unit => rust::run_unit_tests(log),
            Self::Guard => check_instruction_counts(log),
            Self::Fuzz => run_fuzzing(log),
            Self::Ui => page_and_window::check_ui(log),
            Self::Interop => real_servers::run_interop_suite(log),
            Self::Models => real_servers::test_model_providers(log),
            Self::Conformance => run_official_conformance_suite(log),
            Self::Page => page_and_window::test_ui_in_chromium(log),
            Self::Desktop => page_and_window::test_desktop_window(log),
            Self::Frames => page_and_window::measure_ui_frame_times(log),
        }
    }

    fn system_packages(self) -> Vec<&'static [RequiredPackage]> {
        match self {
            Self::Tidy | Self::Fmt | Self::Deny => vec![],
            Self::Clippy => vec![COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES],
            Self::Unit => vec![COMPILER_PACKAGES, KEYCHAIN_PACKAGES, SANDBOX_PACKAGES],
            Self::Guard => vec![COMPILER_PACKAGES, VALGRIND_PACKAGES, SANDBOX_PACKAGES],
            Self::Fuzz | Self::Ui | Self::Conformance => vec![COMPILER_PACKAGES],
            Self::Interop => vec![COMPILER_PACKAGES, INTEROP_PACKAGES, SANDBOX_PACKAGES],
            Self::Models => vec![COMPILER_PACKAGES, INTEROP_PACKAGES],
            Self::Page | Self::Frames => vec![COMPILER_PACKAGES, PAGE_TEST_PACKAGES],
            Self::Desktop => vec![
                COMPILER_PACKAGES,
                DESKTOP_APP_BUILD_PACKAGES,
                VIRTUAL_DISPLAY_PACKAGES,
                KEYCHAIN_PACKAGES,
                WINDOW_TEST_PACKAGES,
                PAGE_TEST_PACKAGES,
            ],
        }
    }
}

/// Returns the requested parts in the order of execution, without duplicates. If none is requested, returns all except
/// [`TestPart::Models`], which downloads 170 MB.
pub(super) fn ordered_parts(requested: &[TestPart]) -> Vec<TestPart> {
    if requested.is_empty() {
        return TestPart::value_variants().iter().copied().filter(|part| *part != TestPart::Models).collect();
    }
    let mut parts = requested.to_vec();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// Returns the system packages that these parts require, without duplicates.
pub(super) fn system_packages(parts: &[TestPart], debian_chromium: bool) -> Vec<RequiredPackage> {
    let mut needs: Vec<RequiredPackage> = Vec::new();
    for need in parts.iter().flat_map(|part| part.system_packages()).flatten() {
        if needs.iter().all(|known| known.debian != need.debian) {
            needs.push(*need);
        }
    }
    if debian_chromium && (parts.contains(&TestPart::Page) || parts.contains(&TestPart::Frames)) {
        needs.push(CHROMIUM_PACKAGE);
    }
    needs
}

fn run_official_conformance_suite(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    rust::build_workspace(log)?;
    // The two callbacks write to the same log, but never at the same time.
    let log = RefCell::new(log);
    let mut say = |line: &str| log.borrow_mut().append_line(line);
    conformance::run_scenarios(
        &conformance::ConformanceOptions::default(),
        &mut |program| log.borrow_mut().run(program),
        &mut say,
    )?;
    Ok(PartOutcome::Ran)
}

/// Replays the fuzz corpora on stable Rust, even if libFuzzer is installed, since the inputs are the same in each run.
fn run_fuzzing(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    rust::build_workspace(log)?;
    print_step("fuzz: replaying the corpora, and mutations of them");
    rust::run_test_suite(log, "replay", &[])?;
    Ok(PartOutcome::Ran)
}

fn check_instruction_counts(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    if !cfg!(target_os = "linux") {
        return Ok(PartOutcome::Skipped("callgrind runs on Linux only".into()));
    }
    rust::build_workspace(log)?;
    let mut written = Ok(());
    let verdict = guard::check_instruction_count_growth(&mut |line| {
        if let Err(problem) = log.append_line(line) {
            written = Err(problem);
        }
    })?;
    written?;
    match verdict {
        guard::CountComparison::Unchanged => Ok(PartOutcome::Ran),
        guard::CountComparison::NotComparable(reason) => Ok(PartOutcome::Skipped(reason)),
    }
}

fn check_tidy(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    let findings = tidy::all_findings()?;
    for finding in &findings {
        log.append_line(&finding.to_string())?;
    }
    match findings.first() {
        None => Ok(PartOutcome::Ran),
        Some(first) => Err(Problem::Machine(format!("{} findings, the first: {first}", findings.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_parts_run_once_in_fixed_order() {
        let requested = [TestPart::Desktop, TestPart::Tidy, TestPart::Unit, TestPart::Tidy];
        assert_eq!(
            ordered_parts(&requested),
            [TestPart::Tidy, TestPart::Unit, TestPart::Desktop],
            "the order should not depend on the arguments"
        );
        assert_eq!(ordered_parts(&[]).len(), 13, "without arguments all parts except the model servers should run");
    }

    #[test]
    fn tidy_and_fmt_need_no_system_packages() {
        assert!(
            system_packages(&[TestPart::Tidy, TestPart::Fmt], true).is_empty(),
            "the quick parts should require no packages"
        );
    }

    #[test]
    fn packages_are_listed_once_and_chromium_only_on_debian() {
        let everything = ordered_parts(&[]);
        let mut names: Vec<_> = system_packages(&everything, true).iter().map(|need| need.debian).collect();
        assert!(names.contains(&"chromium-headless-shell"), "Debian's Chromium should be installed");
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "no package should be listed twice");
        let ubuntu = system_packages(&everything, false);
        assert!(
            ubuntu.iter().all(|need| need.debian != "chromium-headless-shell"),
            "Ubuntu's Chromium should not be installed"
        );
    }
}
