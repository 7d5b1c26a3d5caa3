//! Rule for the parts of the owner's state: each must be readable without the other modules of the owner.

use super::Finding;
use super::module_cycles::{code_without_comments_and_tests, module_path};
use super::rust_paths::parse_crate_paths;
use super::source_tree::SourceTree;

/// Source folder of the crate `host`.
const HOST_SOURCE_FOLDER: &str = "crates/host/src/";
/// Folder with the modules that define the parts of the owner's state in `host`.
const OWNER_STATE_FOLDER: &str = "crates/host/src/owner/state/";

/// Items from other modules of `crates/host/src/owner` that the modules in [`OWNER_STATE_FOLDER`] may use, each with
/// the reason.
const OWNER_ITEMS_ALLOWED_IN_STATE_PARTS: [(&str, &str); 5] = [
    ("owner::WeakOwner", "a reference to the owner for tasks that run outside of its turns"),
    ("owner::DeferredTurn", "the turn that the documents' thread hands back"),
    ("owner::gate::AuthorizedPayload", "what leaves, which the gate alone makes; a part only hands it on"),
    ("owner::gate::SendPermit", "the permission to leave, which the gate alone makes; a part only hands it on"),
    ("owner::sign_in::ServerSignIn", "the handle of what signs a server's requests, which the server's record holds"),
];

pub(super) fn find_dependencies_of_state_parts(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for file in tree.files_in_folder(OWNER_STATE_FOLDER).filter(|file| file.is_rust() && !file.is_test()) {
        let Some(own) = module_path(file, HOST_SOURCE_FOLDER) else { continue };
        for path in parse_crate_paths(&code_without_comments_and_tests(file), &own) {
            let is_of_the_owner = path.len() > 1 && path[0] == "owner" && path[1] != "state";
            let path = path.join("::");
            if !is_of_the_owner {
                continue;
            }
            if OWNER_ITEMS_ALLOWED_IN_STATE_PARTS.iter().any(|(name, _)| *name == path) {
                used.push(path);
            } else {
                let text =
                    format!("a part of the owner's state uses {path}; move that into the part, or the code out of it");
                findings.push(Finding::new(&file.path, 0, text));
            }
        }
    }
    let is_needed =
        |name: &str| used.iter().any(|path| path == name) || tree.files_in_folder(OWNER_STATE_FOLDER).next().is_none();
    for (name, _) in OWNER_ITEMS_ALLOWED_IN_STATE_PARTS.iter().filter(|(name, _)| !is_needed(name)) {
        findings.push(Finding::new(
            OWNER_STATE_FOLDER,
            0,
            format!("no part uses {name}; take it out of owner_parts.rs"),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE_PART_WITH_ALLOWED_ITEMS: &str = "use crate::owner::{DeferredTurn, WeakOwner, gate::{AuthorizedPayload, SendPermit}};\nuse super::super::sign_in::ServerSignIn;\n";

    fn finding_texts(of: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            of.iter().map(|(name, text)| (format!("{OWNER_STATE_FOLDER}{name}.rs"), *text)).collect();
        let tree = SourceTree::from_files(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>());
        find_dependencies_of_state_parts(&tree).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn state_part_that_uses_another_owner_module_is_reported() {
        let found = finding_texts(&[
            ("allowed", STATE_PART_WITH_ALLOWED_ITEMS),
            ("calls", "use crate::owner::consent_requests::One;\n"),
            ("calls/record", "fn f() { super::super::super::audit::g() }\n"),
            ("consent", "use super::super::Two;\n"),
        ]);
        let names: Vec<&str> =
            found.iter().filter_map(|text| text.split_whitespace().nth(7)?.strip_suffix(';')).collect();
        assert_eq!(
            names,
            ["owner::consent_requests::One", "owner::audit::g", "owner::Two"],
            "all notations of a path should be reported"
        );
    }

    #[test]
    fn state_parts_may_use_each_other_and_the_rest_of_the_host() {
        let text =
            "use super::calls::A;\nuse crate::owner::state::B;\nuse crate::view::C;\npub(in crate::owner) struct D;\n";
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::owner::audit::E;\n}\n";
        assert_eq!(
            finding_texts(&[("allowed", STATE_PART_WITH_ALLOWED_ITEMS), ("calls", text), ("folders", tests)]),
            [""; 0]
        );
    }

    #[test]
    fn unused_exception_of_state_part_is_reported() {
        let text = STATE_PART_WITH_ALLOWED_ITEMS.replace("use super::super::sign_in::ServerSignIn;\n", "");
        assert_eq!(
            finding_texts(&[("allowed", &text)]),
            ["no part uses owner::sign_in::ServerSignIn; take it out of owner_parts.rs"]
        );
    }
}
