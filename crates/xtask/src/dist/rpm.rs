//! Packs the .rpm with rpmbuild, from a spec file over the same staged files. rpmbuild determines the library
//! dependencies.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::deb::copy_staged_files;
use super::release::{PACKAGE_MAINTAINER, PACKAGING_REVISION, Release};
use super::tree::{list_staged_files, normalise_modes_and_times, write_file};
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;

/// Host name that the package states as its build machine, fixed so that all builds of a commit are identical.
const RPM_BUILD_HOST: &str = "localhost";

/// Folders that this package owns together with other packages, so that rpm removes them with the last package that
/// owns them. All other folders of installed files are owned by packages of Fedora.
const FOLDERS_SHARED_WITH_OTHER_PACKAGES: &[&str] =
    &["usr/share/fish", "usr/share/fish/vendor_completions.d", "usr/share/zsh", "usr/share/zsh/site-functions"];

/// Packs the files in the staging folder `tree` as an .rpm, and returns the path of the package.
pub(super) fn pack_rpm(tree: &Path, out: &Path, release: &Release) -> Result<PathBuf, Problem> {
    print_step("packing the .rpm");
    let staged = copy_staged_files(tree, "rpm-tree")?;
    adapt_staged_files_to_fedora(&staged)?;
    normalise_modes_and_times(&staged, release.epoch)?;
    let top = tree.with_file_name("rpm");
    if top.exists() {
        fs::remove_dir_all(&top).map_err(Problem::file_error(&top))?;
    }
    write_file(&top, "drawbridge.spec", rpm_spec_file_text(release, &staged, &list_staged_files(&staged)?))?;
    let define = |name: &str, value: &str| ["--define".to_owned(), format!("{name} {value}")];
    Program::new("rpmbuild")
        .args(["-bb", "--quiet"])
        .args(define("_topdir", &top.display().to_string()))
        .args(define("_buildhost", RPM_BUILD_HOST))
        .args(define("use_source_date_epoch_as_buildtime", "1"))
        .args(define("clamp_mtime_to_source_date_epoch", "1"))
        .args(define("_build_id_links", "none"))
        .args(define("debug_package", "%{nil}"))
        // Disables post-processing, because the programs are already stripped and the manual pages compressed.
        .args(define("__os_install_post", "%{nil}"))
        .args(define("_binary_payload", "w9.xzdio"))
        .arg(top.join("drawbridge.spec"))
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .run()?;
    let built = list_staged_files(&top.join("RPMS"))?;
    let built = built.first().ok_or_else(|| Problem::Machine("rpmbuild left no package".into()))?;
    // GitHub replaces tildes in the names of release files, so that they would differ from those in SHA256SUMS.
    let name = built.file_name().unwrap_or_default().to_string_lossy().replace('~', "-");
    let package = out.join(name);
    fs::copy(top.join("RPMS").join(built), &package).map_err(Problem::file_error(&package))?;
    Ok(package)
}

/// Moves the files in the staging folder to the paths that Fedora uses, and removes files that only Debian uses.
fn adapt_staged_files_to_fedora(tree: &Path) -> Result<(), Problem> {
    let changelog = tree.join("usr/share/doc/drawbridge/changelog.Debian.gz");
    fs::remove_file(&changelog).map_err(Problem::file_error(&changelog))?;
    let (from, to) = (tree.join("usr/share/zsh/vendor-completions"), tree.join("usr/share/zsh/site-functions"));
    fs::rename(&from, to).map_err(Problem::file_error(&from))
}

fn rpm_spec_file_text(release: &Release, tree: &Path, files: &[PathBuf]) -> String {
    let mut spec = format!(
        "Name: drawbridge\nVersion: {}\nRelease: {PACKAGING_REVISION}\nSummary: Desktop app that hosts MCP servers and asks first\nGroup: Development/Tools\nLicense: Apache-2.0\n\
         Packager: {PACKAGE_MAINTAINER}\nRecommends: bubblewrap\nRecommends: gnome-keyring\nRecommends: xdg-utils\n\n\
         %description\nDrawbridge connects MCP servers, local processes or URLs, each in its own\nisolated session. \
         Nothing is sent without consent: it shows exactly what would\nbe started, sent or opened, and the user decides.\n\n\
         %install\nmkdir -p %{{buildroot}}\ncp -a '{}/.' %{{buildroot}}/\n\n%files\n%defattr(-,root,root,-)\n\
         %dir /usr/lib/drawbridge\n%dir /usr/share/doc/drawbridge\n{}",
        release.package_version(),
        tree.display(),
        FOLDERS_SHARED_WITH_OTHER_PACKAGES.iter().map(|folder| format!("%dir /{folder}\n")).collect::<String>()
    );
    for file in files {
        let path = file.display().to_string();
        let kind = if path.starts_with("usr/share/doc") || path.starts_with("usr/share/man") { "%doc " } else { "" };
        // Writing to a String can't fail.
        let _ = writeln!(spec, "{kind}\"/{path}\"");
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pre_release_sorts_before_its_release_and_all_files_are_listed() {
        let release = Release { version: "1.2.3-rc.1".into(), epoch: 0 };
        let files = ["usr/bin/drawbridge", "usr/share/man/man1/drawbridge.1.gz"].map(PathBuf::from);
        let spec = rpm_spec_file_text(&release, Path::new("/tree"), &files);
        assert!(spec.contains("\nVersion: 1.2.3~rc.1\n"), "the version should contain no hyphen: {spec}");
        assert!(spec.contains("\n\"/usr/bin/drawbridge\"\n"), "programs should be listed: {spec}");
        assert!(
            spec.contains("\n%doc \"/usr/share/man/man1/drawbridge.1.gz\"\n"),
            "manual pages should be marked as documentation: {spec}"
        );
    }
}
