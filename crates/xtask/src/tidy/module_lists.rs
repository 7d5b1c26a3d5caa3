//! Rule for lists of modules in module headers (``//! - `name`: subject``): each name must be an existing module or
//! item, so that the lists are updated when a module is renamed.

use super::Finding;
use super::comment_paths::code_spans;
use super::source_tree::{SourceFile, SourceTree};

/// Reports names in lists of modules that are neither a module of the file nor defined or re-exported in it.
pub(super) fn find_unknown_listed_modules(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        for (number, line) in file.text.lines().enumerate() {
            let Some(names) = names_in_module_list_entry(line) else { continue };
            for name in names.filter(|name| !is_module_or_item(tree, file, name)) {
                let text = format!("`{name}` is no module or item of this file");
                findings.push(Finding::new(&file.path, number + 1, text));
            }
        }
    }
    findings
}

/// Returns the names in backticks before the colon in an entry of a list of modules, or `None` if the line is no such
/// entry.
fn names_in_module_list_entry(line: &str) -> Option<impl Iterator<Item = &str>> {
    let entry = line.strip_prefix("//! - ")?.trim_start_matches('[');
    let (names, _) = entry.split_once(':').filter(|_| entry.starts_with('`'))?;
    let is_name = |name: &&str| {
        let of_name =
            |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
        !name.is_empty() && name.chars().all(of_name)
    };
    Some(code_spans(names).filter(is_name))
}

fn is_module_or_item(tree: &SourceTree, file: &SourceFile, name: &str) -> bool {
    let folder = file.path.strip_suffix("/mod.rs").or_else(|| file.path.strip_suffix("/lib.rs"));
    let folder = folder.or_else(|| file.path.strip_suffix("/main.rs")).or_else(|| file.path.strip_suffix(".rs"));
    let (module, below) = (format!("{}/{name}.rs", folder.unwrap_or("")), format!("{}/{name}/", folder.unwrap_or("")));
    let is_module = tree.files.iter().any(|other| other.path == module || other.path.starts_with(&below));
    let mut code = file.text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let is_word = |line: &str| {
        line.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').any(|word| word == name)
    };
    is_module || code.any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown_listed_names(header: &str) -> Vec<String> {
        let text = format!("//! A crate.\n//!\n{header}\nmod gate;\npub use gate::pass;\n");
        let files = [
            ("crates/a/src/lib.rs", text.as_str()),
            ("crates/a/src/gate.rs", ""),
            ("crates/a/src/owner/mod.rs", ""),
            ("crates/a/src/owner/late.rs", ""),
        ];
        find_unknown_listed_modules(&SourceTree::from_files(&files)).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn listed_name_without_a_module_is_reported() {
        let found = unknown_listed_names("//! - `late`, `gate`: decisions\n//! - [`gone`]: nothing");
        assert_eq!(found, ["`late` is no module or item of this file", "`gone` is no module or item of this file"]);
    }

    #[test]
    fn modules_items_and_other_lists_are_accepted() {
        assert_eq!(unknown_listed_names("//! - `owner`: state\n//! - [`pass`]: the decision"), [""; 0]);
        assert_eq!(
            unknown_listed_names("//! - `--flag`: an option\n//! - A `late` call: ends\n//! - `Type`: a type"),
            [""; 0]
        );
    }
}
