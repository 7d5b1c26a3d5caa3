//! Rules for the page's sources: the platform APIs that they may use, and in which files.

use super::Finding;
use super::source_tree::{SourceFile, SourceTree};

const PLATFORM_FOLDER: &str = "ui/src/lib/platform/";

/// Reports uses of Tauri outside `ui/src/lib/platform`. The page runs in the desktop app and in a browser, and only the
/// code in this folder may depend on which it is.
pub(super) fn find_tauri_outside_platform_folder(tree: &SourceTree) -> Vec<Finding> {
    find_lines_with_words(tree, &["@tauri-apps/"], "only ui/src/lib/platform knows Tauri")
}

/// Reports code of the page that opens windows or tabs, because the user would not be asked for consent.
pub(super) fn find_windows_opened_by_page(tree: &SourceTree) -> Vec<Finding> {
    let ways = ["window.open(", "target=\"_blank\"", "target='_blank'"];
    find_lines_with_words(tree, &ways, "opens a window past the user's consent; ask the host to open the URL")
}

fn find_lines_with_words(tree: &SourceTree, words: &[&str], text: &str) -> Vec<Finding> {
    let is_source = |file: &&SourceFile| file.has_extension(&["ts", "js", "svelte"]) && !file.is_test();
    let mut findings = Vec::new();
    for file in tree.files_in_folder("ui/src/").filter(is_source).filter(|file| !file.path.starts_with(PLATFORM_FOLDER))
    {
        for (number, line) in file.text.lines().enumerate() {
            let is_comment = ["//", "*", "/*"].iter().any(|start| line.trim_start().starts_with(start));
            if !is_comment && words.iter().any(|word| line.contains(word)) {
                findings.push(Finding::new(&file.path, number + 1, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tauri_outside_the_platform_folder_is_reported() {
        let code = "// @tauri-apps/api\nimport { invoke } from \"@tauri-apps/api/core\";\n";
        let files = [("ui/src/lib/platform/tauri.ts", code), ("ui/src/shell/TopBar.svelte", code)];
        let findings = find_tauri_outside_platform_folder(&SourceTree::from_files(&files));
        let places: Vec<_> = findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        assert_eq!(
            places,
            [("ui/src/shell/TopBar.svelte", 2)],
            "the import should be reported, and the comment ignored"
        );
    }

    #[test]
    fn window_open_in_the_ui_is_reported() {
        let files = [("ui/src/a.ts", "window.open(url)"), ("ui/src/b.svelte", "<a target=\"_blank\">x</a>")];
        assert_eq!(
            find_windows_opened_by_page(&SourceTree::from_files(&files)).len(),
            2,
            "both notations should be reported"
        );
    }
}
