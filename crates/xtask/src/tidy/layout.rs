//! Rules for the layout of the repository: top-level files, module documentation, and the length of files and crates.

use std::collections::BTreeMap;

use super::Finding;
use super::source_tree::{SourceFile, SourceTree};

const TOP_LEVEL_ENTRIES: [&str; 10] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "src-tauri",
    "ui",
    "crates",
    "tests",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
];

/// Maximum length of a file in lines. Longer files should be divided by topic.
const MAX_FILE_LINES: usize = 800;
/// Maximum length of a Rust file in lines. It is smaller than for other files, since Rust modules are easy to divide.
const MAX_RUST_FILE_LINES: usize = 450;

/// Maximum length of a crate in lines, including blank lines and comments, excluding tests.
const MAX_CRATE_LINES: usize = 16_000;

/// Paths of generated files, to which the rules for handwritten text do not apply.
pub(super) const GENERATED_FILES: [&str; 1] = ["ui/src/lib/api/generated.ts"];

pub(super) fn find_unknown_top_level_entries(tree: &SourceTree) -> Vec<Finding> {
    let is_known = |name: &str| name.starts_with('.') || TOP_LEVEL_ENTRIES.contains(&name);
    let unknown = tree.top_level.iter().filter(|name| !is_known(name));
    unknown.map(|name| Finding::new(name, 0, "does not belong at the top; tool settings are dotfiles")).collect()
}

/// Reports Rust files without a `//!` comment at the start. A file that another one includes with `include!` is not a
/// module and has an ordinary comment instead.
pub(super) fn find_modules_without_docs(tree: &SourceTree) -> Vec<Finding> {
    let included = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        tree.rust_files().any(|file| file.text.contains(&format!("include!(\"{name}\")")))
    };
    let is_explained = |file: &&SourceFile| {
        file.text.starts_with("//!")
            || file.text.starts_with("#![doc = include_str!(\"../README.md\")]")
            || (file.text.starts_with("// ") && included(&file.path))
    };
    let without = tree.rust_files().filter(|file| !is_explained(file));
    without.map(|file| Finding::new(&file.path, 1, "begins without `//!` that says what it is for")).collect()
}

pub(super) fn find_long_files(tree: &SourceTree) -> Vec<Finding> {
    let is_source = |file: &SourceFile| {
        file.has_extension(&["rs", "ts", "js", "mjs", "svelte", "css", "html", "sh"])
            && !GENERATED_FILES.contains(&file.path.as_str())
    };
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_source(file)) {
        let length = file.text.lines().count();
        let longest = if file.has_extension(&["rs"]) { MAX_RUST_FILE_LINES } else { MAX_FILE_LINES };
        if length > longest {
            findings.push(Finding::new(&file.path, 0, format!("has {length} lines, more than {longest}; divide it")));
        }
    }
    findings
}

/// Reports crates that are too long. A coherent part of such a crate can become a separate crate.
pub(super) fn find_long_crates(tree: &SourceTree) -> Vec<Finding> {
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for file in tree.rust_files() {
        if let Some((package, _)) = file.path.split_once("/src/") {
            *lengths.entry(package).or_default() += file.lines_without_comments_and_tests().len();
        }
    }
    let long = lengths.into_iter().filter(|(_, length)| *length > MAX_CRATE_LINES);
    let text = |length| {
        format!("has {length} lines without tests, more than {MAX_CRATE_LINES}; move a part into another crate")
    };
    long.map(|(package, length)| Finding::new(&format!("{package}/src/"), 0, text(length))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_top_level_folder_is_reported() {
        let tree =
            SourceTree::from_files(&[("crates/a/src/lib.rs", ""), (".rustfmt.toml", ""), ("scripts/build.sh", "")]);
        let paths: Vec<_> = find_unknown_top_level_entries(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["scripts"], "dotfiles and known entries should be accepted");
    }

    #[test]
    fn module_without_docs_is_reported() {
        let tree = SourceTree::from_files(&[
            ("a.rs", "//! A.\ninclude!(\"table.rs\");\n"),
            ("b.rs", "use c;\n"),
            ("d.rs", "// D.\n"),
            ("table.rs", "// The table.\n"),
            ("e.ts", ""),
        ]);
        let paths: Vec<_> = find_modules_without_docs(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["b.rs", "d.rs"], "only an included file may have an ordinary comment");
    }

    #[test]
    fn long_file_is_reported() {
        let long = "x\n".repeat(MAX_FILE_LINES + 1);
        let tree = SourceTree::from_files(&[
            ("a.svelte", &long),
            ("b.ts", &long[2..]),
            (GENERATED_FILES[0], &long),
            ("c.json", &long),
        ]);
        let paths: Vec<_> = find_long_files(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["a.svelte"], "800 lines should be accepted, and more in data and generated files");
    }

    #[test]
    fn long_crate_is_reported_without_counting_tests() {
        let half = "fn a() {}\n// Note.\n\n\n".repeat(MAX_CRATE_LINES / 8);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{half}}}\n");
        let allowed = [
            ("crates/a/src/b.rs", half.as_str()),
            ("crates/a/src/c/mod.rs", &half),
            ("crates/a/src/c/tests.rs", &half),
            ("crates/a/tests/all.rs", &half),
            ("crates/b/src/lib.rs", &half),
        ];
        let paths = |files: &[(&str, &str)]| -> Vec<String> {
            find_long_crates(&SourceTree::from_files(files)).into_iter().map(|finding| finding.path).collect()
        };
        assert_eq!(paths(&allowed), [""; 0], "{MAX_CRATE_LINES} lines should be accepted in each crate");
        let one_more = [&allowed[..], &[("crates/a/src/lib.rs", "//! A.\n")]].concat();
        assert_eq!(paths(&one_more), ["crates/a/src/"], "one more line should be reported, even if it is a comment");
        let half_with_tests = format!("{}{tests}", &half["fn a() {}\n".len()..]);
        let with_tests = [&allowed[1..], &[("crates/a/src/b.rs", half_with_tests.as_str())]].concat();
        assert_eq!(paths(&with_tests), [""; 0], "a test module at the end of a file should not count");
    }

    #[test]
    fn long_rust_file_is_reported_anywhere() {
        let long = "x\n".repeat(MAX_RUST_FILE_LINES + 1);
        let tree =
            SourceTree::from_files(&[("crates/a/src/b.rs", &long), ("tests/c/d.rs", &long), ("e.rs", &long[2..])]);
        let paths: Vec<_> = find_long_files(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["crates/a/src/b.rs", "tests/c/d.rs"], "450 lines should be accepted, in tests too");
    }
}
