//! Test of the commands that windows may invoke, as Tauri resolves them from capabilities and plugins. `acl.txt` lists
//! all of them, so that a new command is noticed in a review.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tauri_utils::acl::ExecutionContext;
use tauri_utils::acl::capability::Capability;
use tauri_utils::acl::manifest::Manifest;
use tauri_utils::acl::resolved::Resolved;
use tauri_utils::platform::Target;

/// Reads a file that the build script of this build generated.
fn read_build_script_output(name: &str) -> String {
    fs::read_to_string(Path::new(env!("OUT_DIR")).join(name)).expect("the build script should write the file")
}

fn resolved_acl() -> (BTreeMap<String, Manifest>, Resolved) {
    let manifests: BTreeMap<String, Manifest> =
        serde_json::from_str(&read_build_script_output("acl-manifests.json")).expect("the file should be JSON");
    let capabilities: BTreeMap<String, Capability> =
        serde_json::from_str(&read_build_script_output("capabilities.json")).expect("the file should be JSON");
    let resolved =
        Resolved::resolve(&manifests, capabilities, Target::current()).expect("the capabilities should be valid");
    (manifests, resolved)
}

/// Returns one line for each plugin manifest and each allowed command.
fn granted_acl_lines() -> BTreeSet<String> {
    let (manifests, resolved) = resolved_acl();
    let mut lines: BTreeSet<String> = manifests.keys().map(|name| format!("known   {name}")).collect();
    for (command, entries) in &resolved.allowed_commands {
        for entry in entries {
            let who = match &entry.context {
                ExecutionContext::Local => "local pages".to_owned(),
                ExecutionContext::Remote { url } => format!("pages of {}", url.as_str()),
            };
            for label in entry.windows.iter().map(|window| format!("window {}", window.as_str())) {
                lines.insert(format!("allowed {command} for {who} in {label}"));
            }
            for label in entry.webviews.iter().map(|webview| format!("web view {}", webview.as_str())) {
                lines.insert(format!("allowed {command} for {who} in {label}"));
            }
        }
    }
    lines
}

#[test]
fn only_permissions_listed_in_acl_txt_are_granted() {
    let mut written: BTreeSet<String> =
        include_str!("../acl.txt").lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    if cfg!(feature = "updater") {
        written.insert("known   updater".to_owned());
    }
    let found = granted_acl_lines();
    let list = |lines: Vec<&String>| lines.into_iter().map(|line| format!("\n  {line}")).collect::<String>();
    let (new, removed) = (list(found.difference(&written).collect()), list(written.difference(&found).collect()));
    assert!(new.is_empty(), "new permissions. If they are intended, add them to src-tauri/tests/acl.txt:{new}");
    assert!(removed.is_empty(), "removed permissions. Remove them from src-tauri/tests/acl.txt:{removed}");
}

#[test]
fn commands_of_the_app_are_restricted_by_the_acl() {
    let (_, resolved) = resolved_acl();
    assert!(
        resolved.has_app_acl,
        "without a list of the app's commands Tauri lets every local page invoke all of them"
    );
    assert!(
        resolved.command_scope.is_empty(),
        "no command should have a scope, because the host authorizes each operation"
    );
    assert!(resolved.global_scope.is_empty(), "no plugin should have a scope");
}

#[test]
fn plugins_with_system_access_are_absent() {
    let (manifests, resolved) = resolved_acl();
    for plugin in ["shell", "fs", "http", "process", "deep-link", "clipboard-manager", "upload", "websocket"] {
        assert!(!manifests.contains_key(plugin), "the plugin {plugin} should not be part of the app");
    }
    let has_updater = manifests.contains_key("updater");
    assert_eq!(has_updater, cfg!(feature = "updater"), "only builds with the feature should contain the updater");
    let of_plugins: Vec<&String> =
        resolved.allowed_commands.keys().filter(|command| command.starts_with("plugin:")).collect();
    assert!(of_plugins.is_empty(), "the page should not invoke commands of plugins or of Tauri itself: {of_plugins:?}");
}
