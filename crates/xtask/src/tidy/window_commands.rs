//! Rule for commands of the window: its Tauri capability must list each command, so that a missing one is found before
//! the shell is built.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use super::tree::Tree;

const API_COMMANDS_FILE: &str = "crates/api/src/command_list.rs";
const DESKTOP_APP_COMMANDS_FILE: &str = "src-tauri/src/own_commands.rs";
const CAPABILITY_FILE: &str = "src-tauri/capabilities/main.json";

/// Reports differences between the window's capability and the commands of the API table and of the desktop app.
pub(super) fn find_capability_differences(tree: &Tree) -> Vec<Finding> {
    let text = |path: &str| tree.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (Some(table), Some(own), Some(capability)) =
        (text(API_COMMANDS_FILE), text(DESKTOP_APP_COMMANDS_FILE), text(CAPABILITY_FILE))
    else {
        return Vec::new();
    };
    let of_table =
        table.lines().filter(|line| line.contains(": ") && line.contains("=>")).filter_map(|line| line.split_once(':'));
    let of_shell = own.split('"').skip(1).step_by(2);
    let commands = of_table.map(|(name, _)| name.trim()).chain(of_shell);
    let expected: BTreeSet<String> = commands.map(|name| format!("allow-{}", name.replace('_', "-"))).collect();
    let allowed: BTreeSet<String> = serde_json::from_str::<Value>(capability)
        .ok()
        .and_then(|mut capability| serde_json::from_value(capability["permissions"].take()).ok())
        .unwrap_or_default();
    let missing = expected.difference(&allowed).map(|name| format!("`{name}` is missing: the window can't call it"));
    let unknown = allowed.difference(&expected).map(|name| format!("`{name}` is no command"));
    missing.chain(unknown).map(|text| Finding::new(CAPABILITY_FILE, 0, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_missing_from_the_capability_or_unknown_is_reported() {
        let tree = |capability: &str| {
            Tree::from_files(&[
                (API_COMMANDS_FILE, "($callback:ident) => {\n    /// All.\n    sign_in: ServerName => Nothing,\n"),
                (DESKTOP_APP_COMMANDS_FILE, "const OWN_COMMANDS: &[&str] = &[\"painted\"];"),
                (CAPABILITY_FILE, capability),
            ])
        };
        let whole = r#"{"permissions": ["allow-sign-in", "allow-painted"]}"#;
        assert_eq!(find_capability_differences(&tree(whole)), [], "a complete capability should have no findings");
        let wrong = find_capability_differences(&tree(r#"{"permissions": ["allow-painted", "fs:default"]}"#));
        let texts: Vec<&str> = wrong.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts, ["`allow-sign-in` is missing: the window can't call it", "`fs:default` is no command"]);
    }
}
