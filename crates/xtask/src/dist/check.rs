//! `cargo xtask dist --check`: checks the packages with the system's tools, then installs them.

use std::path::{Path, PathBuf};

use super::install;
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::workspace;

/// Tags of lintian to ignore, since they only apply to packages in Debian's archive.
const IGNORED_LINTIAN_TAGS: &str = "initial-upload-closes-no-bugs,bogus-mail-host-in-debian-changelog";

/// Checks the packages with the tools of the distribution, then installs them. Runs all checks before it returns an
/// error for those that failed.
pub(super) fn check_packages(packages: &[PathBuf], tree: &Path) -> Result<(), Problem> {
    let share = tree.join("usr/share");
    let mut checks = vec![
        Program::new("desktop-file-validate").arg(share.join("applications/drawbridge.desktop")),
        Program::new("appstreamcli")
            .args(["validate", "--no-net", "--pedantic"])
            .arg(share.join("metainfo/dev.drawbridge.desktop.metainfo.xml")),
    ];
    let of_kind = |kind: &str| packages.iter().find(|path| path.extension().is_some_and(|ending| ending == kind));
    if let Some(deb) = of_kind("deb") {
        checks.push(
            Program::new("lintian")
                .args(["--allow-root", "--fail-on", "error,warning", "--suppress-tags", IGNORED_LINTIAN_TAGS])
                .arg(deb),
        );
    }
    if let Some(rpm) = of_kind("rpm") {
        let settings = workspace::root_folder().join("src-tauri/linux/rpmlint.toml");
        checks.push(Program::new("rpmlint").arg("--config").arg(settings).arg(rpm));
    }
    let mut failed = false;
    for check in checks {
        print_step(&check.displayed_command());
        match check.run() {
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            Err(problem) => {
                println!("{problem}");
                failed = true;
            }
            Ok(()) => {}
        }
    }
    if let Some(deb) = of_kind("deb") {
        install::test_package_installation(deb, of_kind("rpm").map(PathBuf::as_path))?;
    }
    if failed { Err(Problem::ChecksFailed) } else { Ok(()) }
}
