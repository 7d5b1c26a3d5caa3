//! Determines the packages whose unit tests a change can affect: those with a changed file, and all packages that
//! depend on them. The change consists of all commits since the branch left `main` and of uncommitted changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::workspace;

/// Name of the package of the desktop app. `cargo xtask check` skips it, since it requires WebKitGTK.
const DESKTOP_APP_PACKAGE: &str = "drawbridge";

/// Package of the workspace, with its dependencies.
#[derive(Debug)]
struct WorkspacePackage {
    /// Folder of the package, relative to the root of the repository, with a trailing slash.
    folder: String,
    /// Names of the packages in the workspace that this package depends on.
    needs: BTreeSet<String>,
}

/// Returns the names of the packages whose unit tests the current change can affect.
///
/// # Errors
/// Returns a [`Problem`] if git or cargo fails.
pub(super) fn packages_to_test() -> Result<BTreeSet<String>, Problem> {
    let metadata =
        cargo().dir(workspace::root_folder()).args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let packages = parse_packages(&metadata).ok_or_else(|| Problem::Machine("cargo metadata can't be read".into()))?;
    Ok(affected_packages(&packages, &changed_files()?))
}

fn changed_files() -> Result<Vec<String>, Problem> {
    let git = |arguments: &[&str]| Program::new("git").dir(workspace::root_folder()).args(arguments).output();
    // A clone of a single branch has no `main`. Then only uncommitted changes count.
    let base = git(&["merge-base", "HEAD", "main"]).unwrap_or_default();
    let base = if base.trim().is_empty() { "HEAD" } else { base.trim() };
    let changed = git(&["diff", "--name-only", base])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(changed.lines().chain(new.lines()).map(str::to_owned).collect())
}

fn parse_packages(metadata: &str) -> Option<BTreeMap<String, WorkspacePackage>> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let root = metadata["workspace_root"].as_str()?;
    let packages = metadata["packages"].as_array()?;
    let names: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    packages
        .iter()
        .map(|package| {
            let folder = Path::new(package["manifest_path"].as_str()?).parent()?.strip_prefix(root).ok()?;
            let needs = package["dependencies"].as_array()?.iter().filter_map(|needed| needed["name"].as_str());
            let needs = needs.filter(|needed| names.contains(needed)).map(str::to_owned).collect();
            let folder = format!("{}/", folder.to_str()?);
            Some((package["name"].as_str()?.to_owned(), WorkspacePackage { folder, needs }))
        })
        .collect()
}

fn affected_packages(packages: &BTreeMap<String, WorkspacePackage>, files: &[String]) -> BTreeSet<String> {
    let is_changed = |package: &WorkspacePackage| files.iter().any(|file| file.starts_with(&package.folder));
    let mut found: BTreeSet<String> =
        packages.iter().filter(|(_, package)| is_changed(package)).map(|(name, _)| name.clone()).collect();
    loop {
        let before = found.len();
        for (name, package) in packages {
            if !package.needs.is_disjoint(&found) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.remove(DESKTOP_APP_PACKAGE);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARGO_METADATA: &str = r#"{"workspace_root": "/work", "packages": [
        {"name": "wire", "manifest_path": "/work/crates/wire/Cargo.toml", "dependencies": [{"name": "serde"}]},
        {"name": "wire-dump", "manifest_path": "/work/crates/wire-dump/Cargo.toml", "dependencies": []},
        {"name": "host", "manifest_path": "/work/crates/host/Cargo.toml", "dependencies": [{"name": "wire"}]},
        {"name": "api", "manifest_path": "/work/crates/api/Cargo.toml", "dependencies": [{"name": "host"}]},
        {"name": "drawbridge", "manifest_path": "/work/src-tauri/Cargo.toml", "dependencies": [{"name": "api"}]}]}"#;

    fn packages_affected_by(files: &[&str]) -> Vec<String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        affected_packages(&parse_packages(CARGO_METADATA).unwrap(), &files).into_iter().collect()
    }

    #[test]
    fn changed_package_affects_all_its_dependents() {
        assert_eq!(
            packages_affected_by(&["crates/wire/src/lib.rs"]),
            ["api", "host", "wire"],
            "all dependents except the shell should be affected, and no packages with a similar name"
        );
        assert_eq!(packages_affected_by(&["crates/api/src/lib.rs"]), ["api"], "dependencies should not be affected");
    }

    #[test]
    fn change_outside_of_the_packages_affects_none() {
        assert_eq!(
            packages_affected_by(&["README.md", "ui/src/app.ts"]),
            Vec::<String>::new(),
            "a change outside of the packages should affect none"
        );
        assert_eq!(
            packages_affected_by(&["src-tauri/src/main.rs"]),
            Vec::<String>::new(),
            "the shell should be omitted"
        );
    }
}
