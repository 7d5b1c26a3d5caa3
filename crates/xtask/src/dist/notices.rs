//! Licence notices of third-party code: crates from `cargo metadata`, and the npm packages of the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::build::PACKAGED_PROGRAMS;
use crate::problem::Problem;
use crate::process::cargo;
use crate::workspace;

/// Prefixes, in lower case, of the names of files that contain a licence or a notice.
const LICENCE_FILE_NAMES: &[&str] = &["license", "licence", "copying", "notice", "unlicense", "copyright"];
/// npm packages whose code is part of the built page, although its lockfile marks them as development dependencies.
const DEV_DEPENDENCIES_BUNDLED_IN_UI: &[&str] = &["svelte"];

/// Third-party component: a crate or an npm package.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ThirdPartyComponent {
    name: String,
    version: String,
    license: String,
    source: String,
    folder: std::path::PathBuf,
}

/// Returns the notices: a list of all components, followed by each licence text with the components that it applies to.
pub(super) fn collect_notices() -> Result<String, Problem> {
    let metadata = cargo()
        .dir(workspace::root_folder())
        .args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &rust_target_of_this_computer()?])
        .output()?;
    let lock_file = workspace::ui_folder().join("package-lock.json");
    let lock = fs::read_to_string(&lock_file).map_err(Problem::file_error(&lock_file))?;
    let unread = |what: &str| Problem::Machine(format!("{what} is not as expected: no notices can be made"));
    let mut parts = third_party_crates(&serde_json::from_str(&metadata).map_err(|_| unread("cargo metadata"))?);
    parts.extend(ui_npm_packages(
        &serde_json::from_str(&lock).map_err(|_| unread("ui/package-lock.json"))?,
        &workspace::ui_folder(),
    ));
    if parts.is_empty() {
        return Err(unread("the list of dependencies"));
    }
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in &parts {
        for text in licence_texts(&part.folder)? {
            texts.entry(text).or_default().push(format!("{} {}", part.name, part.version));
        }
    }
    Ok(third_party_notices_text(&parts, &texts))
}

fn third_party_notices_text(parts: &BTreeSet<ThirdPartyComponent>, texts: &BTreeMap<String, Vec<String>>) -> String {
    let mut out = String::from(
        "Drawbridge contains the following third-party software. The source of each part, including those under the\n\
         Mozilla Public License 2.0, is at the address named, in the version named, and is used unchanged.\n\n",
    );
    for part in parts {
        out += &format!("{} {}: {} ({})\n", part.name, part.version, part.license, part.source);
    }
    for (text, owners) in texts {
        out += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), owners.join(", "));
    }
    out
}

fn rust_target_of_this_computer() -> Result<String, Problem> {
    let answer = crate::process::Program::new("rustc").arg("-vV").output()?;
    let target = answer.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    target.ok_or_else(|| Problem::Machine(format!("rustc -vV names no host: {answer}")))
}

/// Returns the third-party crates that are linked into the programs.
fn third_party_crates(metadata: &Value) -> BTreeSet<ThirdPartyComponent> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let node = |id: &str| nodes.iter().find(|node| node["id"] == id);
    let packages = list(&metadata["packages"]);
    let ours = packages.iter().filter(|package| PACKAGED_PROGRAMS.iter().any(|name| package["name"] == *name));
    let mut open: Vec<String> = ours.filter_map(|package| package["id"].as_str().map(str::to_owned)).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        let Some(node) = node(&id).filter(|_| reached.insert(id.clone())) else { continue };
        for dependency in list(&node["deps"]) {
            // In the output of `cargo metadata`, normal dependencies have the kind null. Those for tests and build
            // scripts are skipped.
            if list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()) {
                open.extend(dependency["pkg"].as_str().map(str::to_owned));
            }
        }
    }
    let linked = packages.iter().filter(|package| package["id"].as_str().is_some_and(|id| reached.contains(id)));
    // Crates of the workspace have no source.
    linked.filter(|package| package["source"].is_string()).map(crate_component).collect()
}

fn crate_component(package: &Value) -> ThirdPartyComponent {
    let text = |key: &str| package[key].as_str().unwrap_or("unknown").to_owned();
    let (name, version) = (text("name"), text("version"));
    let manifest = text("manifest_path");
    ThirdPartyComponent {
        source: format!("https://crates.io/crates/{name}/{version}"),
        license: text("license"),
        folder: Path::new(&manifest).parent().unwrap_or(Path::new("")).to_path_buf(),
        name,
        version,
    }
}

/// Returns the npm packages of the page without development dependencies, but with [`DEV_DEPENDENCIES_BUNDLED_IN_UI`].
fn ui_npm_packages(lock: &Value, folder: &Path) -> BTreeSet<ThirdPartyComponent> {
    let Some(all) = lock["packages"].as_object() else { return BTreeSet::new() };
    let mut packages: BTreeSet<String> = all
        .iter()
        .filter(|(path, package)| !path.is_empty() && package["dev"] != true)
        .map(|(path, _)| path.clone())
        .collect();
    let mut open: Vec<String> =
        DEV_DEPENDENCIES_BUNDLED_IN_UI.iter().map(|name| format!("node_modules/{name}")).collect();
    while let Some(path) = open.pop() {
        if all.contains_key(&path) && packages.insert(path.clone()) {
            let dependencies = all[&path]["dependencies"].as_object();
            open.extend(dependencies.into_iter().flatten().map(|(name, _)| format!("node_modules/{name}")));
        }
    }
    let part = |path: &String| {
        let package = &all[path];
        let text = |key: &str| package[key].as_str().unwrap_or("unknown").to_owned();
        let name = path.rsplit("node_modules/").next().unwrap_or(path).to_owned();
        ThirdPartyComponent {
            version: text("version"),
            license: text("license"),
            source: text("resolved"),
            folder: folder.join(path),
            name,
        }
    };
    // The lockfile also lists optional packages for other systems, which are not installed.
    packages.iter().map(part).filter(|part| part.folder.exists() || cfg!(test)).collect()
}

/// Returns the contents of the licence and notice files in the top folder of a component, sorted by file name.
fn licence_texts(folder: &Path) -> Result<Vec<String>, Problem> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Problem::file_error(folder))? {
        let path = entry.map_err(Problem::file_error(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && LICENCE_FILE_NAMES.iter().any(|beginning| name.starts_with(beginning)) {
            files.push(path);
        }
    }
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let bytes = fs::read(&file).map_err(Problem::file_error(&file))?;
        texts.push(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned());
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn linked_packages_are_listed_and_build_or_test_ones_are_not() {
        let package = |name: &str, source: Value| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MPL-2.0", "source": source,
                    "manifest_path": format!("/sources/{name}/Cargo.toml") })
        };
        let dependency = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [package("drawbridge", Value::Null), package("host", Value::Null), package("linked", json!("registry")),
                         package("builds", json!("registry")), package("tests", json!("registry"))],
            "resolve": { "nodes": [
                { "id": "drawbridge", "deps": [dependency("host", Value::Null), dependency("builds", json!("build"))] },
                { "id": "host", "deps": [dependency("linked", Value::Null), dependency("tests", json!("dev"))] },
                { "id": "linked", "deps": [] }] }
        });
        let names: Vec<_> = third_party_crates(&metadata).into_iter().map(|part| part.name).collect();
        assert_eq!(names, ["linked"], "only third-party crates that are linked should be listed");
    }

    #[test]
    fn svelte_is_listed_despite_being_a_dev_dependency() {
        let lock = json!({ "packages": {
            "": {}, "node_modules/marked": { "version": "18.2.1", "license": "MIT", "resolved": "https://r/marked" },
            "node_modules/svelte": { "version": "5.0.0", "license": "MIT", "dev": true, "dependencies": { "clsx": "^2" } },
            "node_modules/clsx": { "version": "2.0.0", "license": "MIT", "dev": true },
            "node_modules/vitest": { "version": "4.0.0", "license": "MIT", "dev": true } } });
        let names: Vec<_> = ui_npm_packages(&lock, Path::new("/ui")).into_iter().map(|part| part.name).collect();
        assert_eq!(names, ["clsx", "marked", "svelte"], "development dependencies should be omitted");
    }
}
