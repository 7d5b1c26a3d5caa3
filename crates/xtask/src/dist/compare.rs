//! `cargo xtask dist --compare DIR`: lists the differences between the packages of two builds, including the files
//! inside the packages.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::tree;
use crate::problem::Problem;
use crate::process::Program;
use crate::workspace;

/// Compares the packages that two builds wrote to two folders, prints each file that differs, and returns an error if
/// there is one.
pub(super) fn compare_packages(one: &Path, other: &Path) -> Result<(), Problem> {
    let differing = differing_files(one, other)?;
    for path in &differing {
        println!("differs  {}", path.display());
        for inner in differing_files_in_packages(&one.join(path), &other.join(path))? {
            println!("         in it: {}", inner.display());
        }
    }
    if differing.is_empty() {
        println!("{} and {} are equal", one.display(), other.display());
        return Ok(());
    }
    Err(Problem::ChecksFailed)
}

/// Returns the files that exist in only one of the folders or have different contents, as relative paths.
fn differing_files(one: &Path, other: &Path) -> Result<Vec<PathBuf>, Problem> {
    let names: BTreeSet<PathBuf> =
        tree::list_staged_files(one)?.into_iter().chain(tree::list_staged_files(other)?).collect();
    // An unreadable file counts as missing.
    let same = |name: &PathBuf| match (fs::read(one.join(name)), fs::read(other.join(name))) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    Ok(names.into_iter().filter(|name| !same(name)).collect())
}

/// Returns the paths of the files that differ inside two packages. Empty if one of the packages is missing or has an
/// unknown format.
fn differing_files_in_packages(one: &Path, other: &Path) -> Result<Vec<PathBuf>, Problem> {
    let (Some(one), Some(other)) = (unpack_package(one, "one")?, unpack_package(other, "other")?) else {
        return Ok(Vec::new());
    };
    differing_files(&one, &other)
}

fn unpack_package(package: &Path, to: &str) -> Result<Option<PathBuf>, Problem> {
    let kind = package.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    if !package.is_file() || !matches!(kind, "deb" | "rpm") {
        return Ok(None);
    }
    let folder = workspace::create_folder_in_target("dist-compare")?.join(to);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Problem::file_error(&folder))?;
    }
    fs::create_dir(&folder).map_err(Problem::file_error(&folder))?;
    let package = package.canonicalize().map_err(Problem::file_error(package))?;
    if kind == "deb" {
        Program::new("dpkg-deb").arg("--raw-extract").arg(&package).arg(&folder).run()?;
    } else {
        let unpack = "rpm2cpio \"$0\" | cpio --extract --make-directories --quiet";
        Program::new("sh").args(["-c", unpack]).arg(&package).dir(&folder).run()?;
    }
    Ok(Some(folder))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn changed_and_missing_files_differ() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in [&one, &other] {
            tree::write_file(folder.path(), "same", "1").unwrap();
        }
        assert_eq!(differing_files(one.path(), other.path()).unwrap(), Vec::<PathBuf>::new());
        tree::write_file(one.path(), "a/changed", "1").unwrap();
        tree::write_file(other.path(), "a/changed", "2").unwrap();
        tree::write_file(other.path(), "missing", "").unwrap();
        let expected = [PathBuf::from("a/changed"), PathBuf::from("missing")];
        assert_eq!(differing_files(one.path(), other.path()).unwrap(), expected);
    }
}
