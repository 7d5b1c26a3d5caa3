//! Rules about operations that are only allowed in certain places: starting processes, opening URLs, using credentials.

use super::Finding;
use super::tree::Tree;

/// Files and folders that may start processes, apart from tests. Folders end with a slash.
const MAY_SPAWN: [&str; 6] = [
    "crates/process/src/launch.rs",
    // Runs `ps` to read the start time of a process.
    "crates/process/src/platform/macos.rs",
    // Tries bubblewrap before the app has a runtime.
    "src-tauri/src/page_sandbox/trial.rs",
    "crates/testkit/",
    "crates/xtask/",
    "tests/",
];

/// Folder that may open URLs.
const MAY_OPEN: &str = "src-tauri/src/";

/// Folders that may use keys of model providers and tokens of servers. The host checks their destinations.
const MAY_USE_CREDENTIALS: [&str; 2] = ["crates/host/src/", "crates/credentials/src/"];

const SPAWNS: [&str; 4] = ["Command::new(", "CommandWrap::with_new(", "posix_spawn", "execvp("];
const OPENS: [&str; 4] = [".opener()", "tauri_plugin_opener::open_", "webbrowser::open(", "opener::open("];
const USES_CREDENTIALS: [&str; 3] = ["KeychainProvider::new(", "try_model(", "TokenVaults::"];

pub(super) fn using_credentials(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !MAY_USE_CREDENTIALS.iter().any(|place| file.path.starts_with(place))) {
        for (line, code) in file.product_lines() {
            if USES_CREDENTIALS.iter().any(|call| code.contains(call)) {
                let text = "uses credentials; only the host does, which has checked where they go";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

pub(super) fn spawning(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !MAY_SPAWN.iter().any(|place| file.path.starts_with(place))) {
        for (line, code) in file.product_lines() {
            if SPAWNS.iter().any(|call| code.contains(call)) {
                let text = "starts a process; crates/process/src/launch.rs is the one place for that";
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Only a single call in the shell may open URLs. Other places go through the host.
pub(super) fn opening_urls(tree: &Tree) -> Vec<Finding> {
    let mut calls = Vec::new();
    for file in tree.rust() {
        for (line, code) in file.product_lines() {
            if OPENS.iter().any(|call| code.contains(call)) {
                calls.push((file.path.clone(), line));
            }
        }
    }
    // The first call in the shell is the allowed one.
    if let Some(at) = calls.iter().position(|(path, _)| path.starts_with(MAY_OPEN)) {
        calls.remove(at);
    }
    let text = "opens a URL or file; there is one function for that, in src-tauri";
    calls.into_iter().map(|(path, line)| Finding::new(&path, line, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.path.as_str()).collect()
    }

    #[test]
    fn a_second_place_that_spawns_is_found() {
        let code = "let child = Command::new(\"ls\");\n";
        let tree = Tree::of(&[
            ("crates/host/src/lib.rs", code),
            ("crates/host/tests/all.rs", code),
            ("crates/process/src/launch.rs", code),
            ("crates/store/src/lib.rs", "/// Not like Command::new(\n"),
        ]);
        assert_eq!(places(&spawning(&tree)), ["crates/host/src/lib.rs"], "tests and the one place may");
    }

    #[test]
    fn credentials_are_used_by_the_host_only() {
        let code = "let provider = KeychainProvider::new(settings, secrets)?;\n";
        let tree = Tree::of(&[
            ("crates/api/src/lib.rs", code),
            ("crates/host/src/owner/providers.rs", code),
            ("crates/credentials/tests/all.rs", code),
            ("crates/xtask/src/lib.rs", "const CALLS: [&str; 1] = [\"KeychainProvider::new(\"];\n"),
        ]);
        assert_eq!(places(&using_credentials(&tree)), ["crates/api/src/lib.rs"], "the host and tests may");
    }

    #[test]
    fn a_second_place_that_opens_urls_is_found() {
        let code = "app.opener().open_url(url, None)?;\n";
        let one = Tree::of(&[("src-tauri/src/open_url.rs", code)]);
        assert!(opening_urls(&one).is_empty(), "one place may");
        let two = Tree::of(&[("src-tauri/src/open_url.rs", code), ("src-tauri/src/tray.rs", code)]);
        assert_eq!(places(&opening_urls(&two)), ["src-tauri/src/tray.rs"], "a second one is found");
        let elsewhere = Tree::of(&[("crates/host/src/lib.rs", "webbrowser::open(url)")]);
        assert_eq!(places(&opening_urls(&elsewhere)), ["crates/host/src/lib.rs"], "outside the shell there is none");
    }
}
