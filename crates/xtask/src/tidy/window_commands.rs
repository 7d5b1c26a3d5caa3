//! Rule for commands of the windows: the Tauri capability of the main window must list each command, and that of the
//! windows of conversations nothing else, so that a difference is found before the shell is built.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Finding;
use super::source_tree::SourceTree;

const API_COMMANDS_FILE: &str = "crates/api/src/command_list.rs";
const DESKTOP_APP_COMMANDS_FILE: &str = "src-tauri/src/own_commands.rs";
const MAIN_CAPABILITY_FILE: &str = "src-tauri/capabilities/main.json";
const CONVERSATION_CAPABILITY_FILE: &str = "src-tauri/capabilities/conversation.json";

/// Reports differences between the commands that the Tauri capabilities of the windows allow and the commands that the
/// API and the desktop app define.
pub(super) fn find_capability_differences(tree: &SourceTree) -> Vec<Finding> {
    let text = |path: &str| tree.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let (Some(table), Some(own), Some(capability)) =
        (text(API_COMMANDS_FILE), text(DESKTOP_APP_COMMANDS_FILE), text(MAIN_CAPABILITY_FILE))
    else {
        return Vec::new();
    };
    let of_table =
        table.lines().filter(|line| line.contains(": ") && line.contains("=>")).filter_map(|line| line.split_once(':'));
    let of_shell = own.split('"').skip(1).step_by(2);
    let commands = of_table.map(|(name, _)| name.trim()).chain(of_shell);
    let expected: BTreeSet<String> = commands.map(|name| format!("allow-{}", name.replace('_', "-"))).collect();
    let allowed = parse_capability_permissions(capability);
    let of_conversations = text(CONVERSATION_CAPABILITY_FILE).map(parse_capability_permissions).unwrap_or_default();
    let missing = expected.difference(&allowed).map(|name| format!("`{name}` is missing: the window can't call it"));
    let mut findings: Vec<Finding> = missing.map(|text| Finding::new(MAIN_CAPABILITY_FILE, 0, text)).collect();
    for (file, names) in [(MAIN_CAPABILITY_FILE, &allowed), (CONVERSATION_CAPABILITY_FILE, &of_conversations)] {
        let unknown = names.difference(&expected).map(|name| format!("`{name}` is no command"));
        findings.extend(unknown.map(|text| Finding::new(file, 0, text)));
    }
    findings
}

/// Returns the permissions that a capability grants.
fn parse_capability_permissions(capability: &str) -> BTreeSet<String> {
    serde_json::from_str::<Value>(capability)
        .ok()
        .and_then(|mut capability| serde_json::from_value(capability["permissions"].take()).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_missing_from_the_capability_or_unknown_is_reported() {
        let tree = |main: &str, conversation: &str| {
            SourceTree::from_files(&[
                (API_COMMANDS_FILE, "($callback:ident) => {\n    /// All.\n    sign_in: ServerName => Nothing,\n"),
                (DESKTOP_APP_COMMANDS_FILE, "const DESKTOP_SHELL_COMMANDS: &[&str] = &[\"painted\"];"),
                (MAIN_CAPABILITY_FILE, main),
                (CONVERSATION_CAPABILITY_FILE, conversation),
            ])
        };
        let whole = r#"{"permissions": ["allow-sign-in", "allow-painted"]}"#;
        let part = r#"{"permissions": ["allow-painted"]}"#;
        assert_eq!(
            find_capability_differences(&tree(whole, part)),
            [],
            "a complete capability should have no findings"
        );
        let outside = r#"{"permissions": ["allow-painted", "fs:default"]}"#;
        let wrong = find_capability_differences(&tree(outside, outside));
        let texts: Vec<&str> = wrong.iter().map(|finding| finding.text.as_str()).collect();
        let unknown = "`fs:default` is no command";
        assert_eq!(texts, ["`allow-sign-in` is missing: the window can't call it", unknown, unknown]);
    }
}
