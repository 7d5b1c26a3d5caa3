//! Packs the .deb with Debian's tools: dpkg-shlibdeps determines the library dependencies, and dpkg-deb creates the
//! archive.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::PACKAGED_PROGRAMS;
use super::release::{PACKAGE_MAINTAINER, PACKAGE_SUMMARY, PACKAGING_REVISION, Release};
use super::tree::{list_staged_files, normalise_modes_and_times, write_file};
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;

const DEB_PACKAGE_DESCRIPTION: &str = " Drawbridge connects MCP servers, local processes or URLs, each in its own\n isolated \
                           session. Nothing is sent without consent: it shows exactly what\n would be started, sent or \
                           opened, and the user decides.\n .\n drawbridge-cli is the same host for terminals and \
                           scripts.";

/// Packs the files in the staging folder `tree` as a .deb, and returns the path of the package.
pub(super) fn pack_deb(tree: &Path, out: &Path, release: &Release) -> Result<PathBuf, Problem> {
    print_step("packing the .deb");
    let architecture = Program::new("dpkg").arg("--print-architecture").output()?.trim().to_owned();
    let staged = copy_staged_files(tree, "deb")?;
    let control = deb_control_file_text(
        release,
        &architecture,
        &shared_library_dependencies(tree)?,
        installed_size_kilobytes(tree)?,
    );
    write_file(&staged, "DEBIAN/control", control)?;
    write_file(&staged, "DEBIAN/md5sums", md5_sums(tree)?)?;
    normalise_modes_and_times(&staged, release.epoch)?;
    let package = out.join(format!("drawbridge_{}-{PACKAGING_REVISION}_{architecture}.deb", release.version));
    Program::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "-z9", "--build"])
        .arg(&staged)
        .arg(&package)
        // xz divides its stream by the number of threads, so the number is fixed for reproducible packages. Old
        // versions of dpkg-deb support neither threads nor this variable.
        .env("DPKG_DEB_THREADS_MAX", "1")
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .run()?;
    Ok(package)
}

/// Copies the staging folder `tree` to the folder `name` next to it, so that one package format can modify its copy.
pub(super) fn copy_staged_files(tree: &Path, name: &str) -> Result<PathBuf, Problem> {
    let copy = tree.with_file_name(name);
    if copy.exists() {
        fs::remove_dir_all(&copy).map_err(Problem::file_error(&copy))?;
    }
    Program::new("cp").arg("-a").arg(tree).arg(&copy).run()?;
    Ok(copy)
}

/// Returns the value of the control field `Depends`: the packages of the libraries that the programs are linked with,
/// each with the minimum version that provides the used symbols.
fn shared_library_dependencies(tree: &Path) -> Result<String, Problem> {
    let folder = tree.with_file_name("shlibdeps");
    // dpkg-shlibdeps reads the names of the binary packages from this file.
    write_file(&folder, "debian/control", "Source: drawbridge\n\nPackage: drawbridge\nArchitecture: any\n")?;
    let mut call = Program::new("dpkg-shlibdeps").dir(&folder).arg("-O");
    for file in list_staged_files(tree)? {
        if file.file_name().is_some_and(|name| PACKAGED_PROGRAMS.iter().any(|program| name == *program)) {
            call = call.arg("-e").arg(tree.join(file));
        }
    }
    let answer = call.output()?;
    parse_shlibdeps_output(&answer)
        .ok_or_else(|| Problem::Machine(format!("dpkg-shlibdeps named no packages: {answer:?}")))
}

fn parse_shlibdeps_output(answer: &str) -> Option<String> {
    answer.lines().find_map(|line| line.strip_prefix("shlibs:Depends=")).map(str::to_owned)
}

/// Returns the value of the control field `Installed-Size` in KiB, with the size of each file rounded up as Debian's
/// policy specifies.
fn installed_size_kilobytes(tree: &Path) -> Result<u64, Problem> {
    let mut kilobytes = 0;
    for file in list_staged_files(tree)? {
        let path = tree.join(file);
        kilobytes += fs::metadata(&path).map_err(Problem::file_error(&path))?.len().div_ceil(1024);
    }
    Ok(kilobytes)
}

fn md5_sums(tree: &Path) -> Result<String, Problem> {
    Program::new("md5sum").dir(tree).args(list_staged_files(tree)?).output()
}

fn deb_control_file_text(release: &Release, architecture: &str, libraries: &str, kilobytes: u64) -> String {
    format!(
        "Package: drawbridge\nVersion: {}-{PACKAGING_REVISION}\nArchitecture: {architecture}\nMaintainer: {PACKAGE_MAINTAINER}\n\
         Installed-Size: {kilobytes}\nDepends: {libraries}\n\
         Recommends: bubblewrap, gnome-keyring | org.freedesktop.secrets, xdg-utils\n\
         Section: devel\nPriority: optional\nDescription: {PACKAGE_SUMMARY}\n{DEB_PACKAGE_DESCRIPTION}\n",
        release.package_version()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_from_shlibdeps_output() {
        let answer = "shlibs:Recommends=libx\nshlibs:Depends=libc6 (>= 2.36), libgtk-3-0 (>= 3.21.4)\n";
        assert_eq!(
            parse_shlibdeps_output(answer).as_deref(),
            Some("libc6 (>= 2.36), libgtk-3-0 (>= 3.21.4)"),
            "version constraints should be preserved"
        );
        assert_eq!(
            parse_shlibdeps_output("shlibs:Recommends=libx\n"),
            None,
            "output without dependencies should be rejected"
        );
    }

    #[test]
    fn every_line_of_the_control_file_is_a_field_or_a_continuation() {
        let release = Release { version: "1.2.3".into(), epoch: 0 };
        let control = deb_control_file_text(&release, "amd64", "libc6", 5);
        for line in control.lines() {
            assert!(
                line.starts_with(' ') || line.contains(": "),
                "each line should be a field or its continuation: {line:?}"
            );
        }
        assert!(
            control.contains("\nVersion: 1.2.3-1\n") && control.ends_with('\n'),
            "the file should contain the version and end in a line break"
        );
        let candidate = Release { version: "1.2.3-rc.1".into(), epoch: 0 };
        assert!(
            deb_control_file_text(&candidate, "amd64", "libc6", 5).contains("\nVersion: 1.2.3~rc.1-1\n"),
            "a pre-release should sort before its release"
        );
    }
}
