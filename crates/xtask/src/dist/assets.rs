//! Files that a package installs, with their target paths.

use std::fs;
use std::path::{Path, PathBuf};

use super::build;
use super::notices;
use super::release::{PACKAGE_MAINTAINER, PACKAGING_REVISION, Release};
use super::tree::{copy_file, gzip_file, normalise_modes_and_times, write_file};
use crate::problem::Problem;
use crate::process::Program;
use crate::workspace;

const PACKAGE_DOC_FOLDER: &str = "usr/share/doc/drawbridge";
const MANUAL_PAGE_FOLDER: &str = "usr/share/man/man1";
/// Sizes of the app's icon, as folder names in the `hicolor` icon theme, each with its file in `src-tauri/icons`.
const DESKTOP_ICON_FILES: &[(&str, &str)] =
    &[("32x32", "32x32.png"), ("128x128", "128x128.png"), ("256x256", "128x128@2x.png"), ("512x512", "icon.png")];
/// Name of each supported shell, with the path at which it looks for the completion script of `drawbridge-cli`.
const SHELL_COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "usr/share/bash-completion/completions/drawbridge-cli"),
    ("zsh", "usr/share/zsh/vendor-completions/_drawbridge-cli"),
    ("fish", "usr/share/fish/vendor_completions.d/drawbridge-cli.fish"),
];

/// Copies all files of a package from the build output to the staging folder `tree`, including the SBOM files `bills`.
pub(super) fn stage_package_files(
    tree: &Path,
    profile: &str,
    release: &Release,
    bills: &[PathBuf],
) -> Result<(), Problem> {
    if tree.exists() {
        fs::remove_dir_all(tree).map_err(Problem::file_error(tree))?;
    }
    build::check_no_build_paths_embedded(profile)?;
    let built = |name| workspace::binary_path(build::cargo_profile_folder_name(profile), name);
    copy_file(tree, "usr/bin/drawbridge", &built("drawbridge"))?;
    copy_file(tree, "usr/bin/drawbridge-cli", &built("drawbridge-cli"))?;
    copy_file(tree, "usr/lib/drawbridge/demo-server", &built("demo-server"))?;

    let shell = workspace::root_folder().join("src-tauri");
    copy_file(tree, "usr/share/applications/drawbridge.desktop", &shell.join("linux/drawbridge.desktop"))?;
    // Registers the MIME type of bundles. The desktop file associates it with the app.
    copy_file(tree, "usr/share/mime/packages/drawbridge.xml", &shell.join("linux/drawbridge.xml"))?;
    for (size, file) in DESKTOP_ICON_FILES {
        let path = format!("usr/share/icons/hicolor/{size}/apps/drawbridge.png");
        copy_file(tree, &path, &shell.join("icons").join(file))?;
    }
    copy_file(tree, "usr/share/icons/hicolor/scalable/apps/drawbridge.svg", &shell.join("icons/source.svg"))?;

    let date = release.date("+%F")?;
    let filled = |name: &str| -> Result<String, Problem> {
        let file = shell.join("linux").join(name);
        let template = fs::read_to_string(&file).map_err(Problem::file_error(&file))?;
        Ok(template.replace("@VERSION@", &release.version).replace("@DATE@", &date))
    };
    let metainfo = "dev.drawbridge.desktop.metainfo.xml";
    write_file(tree, &format!("usr/share/metainfo/{metainfo}"), filled(metainfo)?)?;
    write_manual_pages(tree, &built("drawbridge-cli"), &filled("drawbridge.1")?)?;
    for (shell, path) in SHELL_COMPLETIONS {
        let script = Program::new(built("drawbridge-cli")).args(["completions", shell]).output()?;
        write_file(tree, path, script)?;
    }

    copy_file(tree, &format!("{PACKAGE_DOC_FOLDER}/copyright"), &shell.join("linux/copyright"))?;
    write_file(tree, &format!("{PACKAGE_DOC_FOLDER}/third-party-notices"), notices::collect_notices()?)?;
    write_file(
        tree,
        &format!("{PACKAGE_DOC_FOLDER}/changelog.Debian"),
        changelog_entry(release, &release.date("+%a, %d %b %Y %T %z")?),
    )?;
    for name in ["third-party-notices", "changelog.Debian"] {
        gzip_file(tree, &format!("{PACKAGE_DOC_FOLDER}/{name}"))?;
    }
    for bill in bills {
        let name = bill.file_name().unwrap_or_default().to_string_lossy();
        copy_file(tree, &format!("{PACKAGE_DOC_FOLDER}/{name}"), bill)?;
        gzip_file(tree, &format!("{PACKAGE_DOC_FOLDER}/{name}"))?;
    }
    normalise_modes_and_times(tree, release.epoch)
}

/// Writes the manual pages of the app, of the command line, and of each of its subcommands.
fn write_manual_pages(tree: &Path, cli: &Path, app: &str) -> Result<(), Problem> {
    write_file(tree, &format!("{MANUAL_PAGE_FOLDER}/drawbridge.1"), app)?;
    Program::new(cli).arg("man").arg(tree.join(MANUAL_PAGE_FOLDER)).run()?;
    for page in super::tree::list_staged_files(&tree.join(MANUAL_PAGE_FOLDER))? {
        gzip_file(tree, &format!("{MANUAL_PAGE_FOLDER}/{}", page.display()))?;
    }
    Ok(())
}

fn changelog_entry(release: &Release, date: &str) -> String {
    format!(
        "drawbridge ({}-{PACKAGING_REVISION}) unstable; urgency=medium\n\n  * Release {}.\n\n -- {PACKAGE_MAINTAINER}  {date}\n",
        release.package_version(),
        release.version
    )
}
