//! Rules about the dependencies of crates.

use super::Finding;
use super::pure_crates::PURE_CRATES;
use super::source_tree::SourceTree;
use crate::problem::Problem;
use crate::process::cargo;
use crate::workspace;

/// Packages with an async runtime, network access or windows, on which the crates in [`PURE_CRATES`] must not depend.
const PACKAGES_WITH_IO: [&str; 8] = ["tokio", "mio", "async-io", "smol", "hyper", "reqwest", "tauri", "wry"];

/// Reports dependencies of the crates in [`PURE_CRATES`] on [`PACKAGES_WITH_IO`], including transitive ones on all
/// platforms.
pub(super) fn find_impure_dependencies() -> Result<Vec<Finding>, Problem> {
    let mut findings = Vec::new();
    for crate_name in PURE_CRATES {
        let arguments = ["tree", "-p", crate_name, "-e", "normal", "--prefix", "none", "--target", "all"];
        let (tree, outcome) = cargo().dir(workspace::root_folder()).args(arguments).output_and_result()?;
        outcome?;
        findings.extend(impure_dependencies(crate_name, &tree));
    }
    Ok(findings)
}

fn impure_dependencies(crate_name: &str, tree: &str) -> Vec<Finding> {
    let mut names: Vec<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    names.sort_unstable();
    names.dedup();
    let path = format!("crates/{crate_name}/Cargo.toml");
    let found = names.into_iter().filter(|name| PACKAGES_WITH_IO.contains(name));
    found.map(|name| Finding::new(&path, 0, format!("depends on {name}, but {crate_name} is pure"))).collect()
}

pub(super) fn find_tauri_outside_desktop_app(tree: &SourceTree) -> Vec<Finding> {
    find_dependency_outside(tree, "src-tauri/", |name| name == "tauri" || name.starts_with("tauri-"))
}

/// Reports crates other than `host` that depend on `host-state`. Only the task in `host` that owns the state may change
/// it.
pub(super) fn find_host_state_outside_host(tree: &SourceTree) -> Vec<Finding> {
    find_dependency_outside(tree, "crates/host/", |name| name == "host-state")
}

/// Reports crates that depend on `ts-rs`, which exports TypeScript. `api` always may, and the other crates of the app
/// may if the dependency is optional. The crates of the wire protocol and its transports may not, since the page has
/// types of its own for them.
pub(super) fn find_unconditional_ts_rs(tree: &SourceTree) -> Vec<Finding> {
    let is_of_the_app = |path: &str| {
        path.starts_with("crates/mcp-apps/") || !path.starts_with("crates/mcp-") && !path.starts_with("crates/foreign/")
    };
    let findings = find_dependency_outside(tree, "crates/api/", |name| name == "ts-rs").into_iter();
    let findings = findings.filter(|finding| {
        let manifest = tree.files.iter().find(|file| file.path == finding.path);
        let line = manifest.and_then(|file| file.text.lines().nth(finding.line - 1)).unwrap_or_default();
        !(is_of_the_app(&finding.path) && line.contains("optional = true"))
    });
    findings.collect()
}

fn find_dependency_outside(tree: &SourceTree, folder: &str, is_meant: fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The manifest of the workspace only defines versions.
    let members = tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml") && !file.path.starts_with(folder));
    for file in members {
        for (line, name) in parse_manifest_dependencies(&file.text) {
            if is_meant(&name) {
                findings.push(Finding::new(&file.path, line, format!("only {folder} may depend on {name}")));
            }
        }
    }
    findings
}

/// Returns the names of the packages in `[dependencies]` and similar sections of a manifest, with their line numbers.
fn parse_manifest_dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut section = "";
    let mut names = Vec::new();
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            // A section `[dependencies.name]` declares a single dependency.
            if let Some((_, name)) = section.split_once("dependencies.") {
                names.push((number + 1, name.to_owned()));
            }
        } else if section.ends_with("dependencies") {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            if !name.is_empty() && !name.starts_with('#') {
                names.push((number + 1, name.to_owned()));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_dependency_of_a_pure_crate_is_reported() {
        let tree =
            "policy v0.1.0 (/home/ann/drawbridge/crates/policy)\nserde v1.0.0\ntokio-util v0.7.0\ntokio v1.0.0 (*)\n";
        let findings = impure_dependencies("policy", tree);
        assert_eq!(findings.len(), 1, "only tokio should be reported, not packages with a similar name: {findings:?}");
        assert!(findings[0].text.contains("depends on tokio"), "the package should be named: {findings:?}");
    }

    #[test]
    fn tauri_outside_the_desktop_app_is_reported() {
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\ntauri = \"2\"\n"),
            ("src-tauri/Cargo.toml", "[dependencies]\ntauri.workspace = true\n"),
            ("crates/host/Cargo.toml", "[dependencies]\nserde = \"1\"\ntauri-plugin-opener.workspace = true\n"),
            ("crates/api/Cargo.toml", "[package]\ntauri = 1\n[dev-dependencies.tauri]\nversion = \"2\"\n"),
        ];
        let findings = find_tauri_outside_desktop_app(&SourceTree::from_files(&files));
        let places: Vec<_> = findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        assert_eq!(
            places,
            [("crates/host/Cargo.toml", 3), ("crates/api/Cargo.toml", 3)],
            "both notations of a dependency should be reported"
        );
    }

    #[test]
    fn host_state_dependency_outside_the_host_crate_is_reported() {
        let uses = "[dependencies]\nhost-state.workspace = true\n";
        let tree = SourceTree::from_files(&[
            ("Cargo.toml", "[workspace.dependencies]\nhost-state = { path = \"crates/host-state\" }\n"),
            ("crates/api/Cargo.toml", uses),
            ("crates/host/Cargo.toml", uses),
            ("crates/host-state/Cargo.toml", "[package]\nname = \"host-state\"\n"),
            ("tests/hostile/Cargo.toml", "[dev-dependencies]\nhost-state.workspace = true\n"),
        ]);
        let found: Vec<_> = find_host_state_outside_host(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(
            found,
            ["crates/api/Cargo.toml", "tests/hostile/Cargo.toml"],
            "tests of other crates should be reported too"
        );
    }

    #[test]
    fn ts_rs_without_a_feature_is_reported() {
        let (always, optional) = (
            "[dependencies]\nts-rs = { workspace = true }\n",
            "[dependencies]\nts-rs = { workspace = true, optional = true }\n",
        );
        let tree = SourceTree::from_files(&[
            ("crates/api/Cargo.toml", always),
            ("crates/domain/Cargo.toml", optional),
            ("crates/host/Cargo.toml", always),
            ("crates/mcp-proto/Cargo.toml", optional),
        ]);
        let found: Vec<_> = find_unconditional_ts_rs(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(
            found,
            ["crates/host/Cargo.toml", "crates/mcp-proto/Cargo.toml"],
            "types of the wire protocol should not export TypeScript"
        );
    }
}
