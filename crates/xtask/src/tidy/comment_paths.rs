//! Rule for paths of source files in backticks, in comments and in documents for developers: the files must exist, so
//! that references are updated when a file is moved.

use super::Finding;
use super::layout::GENERATED_FILES;
use super::rust_code;
use super::source_tree::{SourceFile, SourceTree};

const EXTENSIONS_OF_CHECKED_FILES: [&str; 4] = [".rs", ".svelte", ".ts", ".mjs"];
/// Leading folders that a path in a comment may omit: none, the folder of the crates, and the folder of the test
/// suites.
const OMITTABLE_PATH_PREFIXES: [&str; 3] = ["", "crates/", "tests/"];

/// Reports paths in comments and documents that name no existing file. A comment may name a file of its own package by
/// the last components of its path. All other paths must be complete except for one of [`OMITTABLE_PATH_PREFIXES`].
pub(super) fn find_missing_paths_in_comments(tree: &SourceTree) -> Vec<Finding> {
    let packages = package_folders(tree);
    let mut findings = Vec::new();
    for file in &tree.files {
        let Some(lines) = prose_lines(file) else { continue };
        let package = if file.has_extension(&["md"]) { "" } else { containing_package(&packages, &file.path) };
        for (number, line) in lines {
            let missing = mentioned_paths(&line).filter(|path| !mentioned_path_exists(tree, package, path));
            let text =
                |path| format!("`{path}` is no file of this package, nor a path from the top, `crates` or `tests` on");
            findings.extend(missing.map(|path| Finding::new(&file.path, number, text(path))));
        }
    }
    findings
}

/// Returns the lines of a file that may contain paths, with their numbers: comments in code, and all lines in
/// documents. `None` for files that are not checked.
fn prose_lines(file: &SourceFile) -> Option<Vec<(usize, String)>> {
    if GENERATED_FILES.contains(&file.path.as_str()) {
        None
    } else if file.is_rust() {
        Some(comment_lines(&rust_code::without_strings(&file.text)))
    } else if file.has_extension(&["svelte", "ts", "mjs"]) {
        Some(comment_lines(&file.text))
    } else if file.has_extension(&["md"]) && (file.path.starts_with("crates/") || file.path.contains("/decisions/")) {
        Some(file.text.lines().enumerate().map(|(number, line)| (number + 1, line.to_owned())).collect())
    } else {
        None
    }
}

/// Returns the comments in a text by line number. The `//` in a URL such as `https://…` does not start a comment.
fn comment_lines(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut closing = None;
    for (number, line) in text.lines().enumerate() {
        let mut comment = String::new();
        let mut rest = line;
        loop {
            if let Some(end) = closing {
                let (inside, after) =
                    rest.split_once(end).map_or((rest, None), |(inside, after)| (inside, Some(after)));
                comment.push_str(inside);
                let Some(after) = after else { break };
                (closing, rest) = (None, after);
            }
            let block = [("/*", "*/"), ("<!--", "-->")].into_iter();
            let block = block.filter_map(|(open, close)| Some((rest.find(open)?, open, close))).min();
            let line_comment = rest.match_indices("//").map(|(at, _)| at).find(|at| !rest[..*at].ends_with(':'));
            match (block, line_comment) {
                (Some((at, open, close)), before) if before.is_none_or(|before| at < before) => {
                    (closing, rest) = (Some(close), &rest[at + open.len()..]);
                }
                (_, Some(at)) => {
                    comment.push_str(&rest[at..]);
                    break;
                }
                (_, None) => break,
            }
        }
        if !comment.is_empty() {
            found.push((number + 1, comment));
        }
    }
    found
}

/// Returns the texts in backticks in a line that have the form of a path of a source file.
fn mentioned_paths(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |span: &&str| {
        let name = span.rsplit('/').next().unwrap_or(span);
        let stem = EXTENSIONS_OF_CHECKED_FILES.iter().find_map(|extension| name.strip_suffix(extension));
        let of_path = |character: char| character.is_ascii_alphanumeric() || "_-./*".contains(character);
        stem.is_some_and(|stem| !stem.is_empty()) && !span.starts_with('/') && span.chars().all(of_path)
    };
    code_spans(line).filter(is_path)
}

/// Returns the texts between backticks. A backtick without a closing one begins a span that reaches to the end of the
/// text.
pub(super) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn mentioned_path_exists(tree: &SourceTree, package: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_start_matches("../");
    let depth = path.split('/').count();
    tree.files.iter().any(|file| {
        let from_root = |root| file.path.strip_prefix(root).is_some_and(|rest: &str| rest.split('/').count() == depth);
        has_path_suffix(&file.path, path)
            && (file.path.starts_with(package) || OMITTABLE_PATH_PREFIXES.into_iter().any(from_root))
    })
}

/// Returns `true` if the last components of `path` match those of `end`, in which `*` matches any part of a component.
fn has_path_suffix(path: &str, end: &str) -> bool {
    let mut names = path.rsplit('/');
    end.rsplit('/').all(|expected| {
        names.next().is_some_and(|name| match expected.split_once('*') {
            Some((start, end)) => name.len() >= expected.len() - 1 && name.starts_with(start) && name.ends_with(end),
            None => name == expected,
        })
    })
}

/// Returns the folders of all Cargo and npm packages except the root folder, each with a trailing slash.
fn package_folders(tree: &SourceTree) -> Vec<&str> {
    let manifests = tree
        .files
        .iter()
        .filter_map(|file| file.path.strip_suffix("Cargo.toml").or_else(|| file.path.strip_suffix("package.json")));
    manifests.filter(|folder| folder.ends_with('/')).collect()
}

/// Returns the folder of the innermost package that contains a file, or the file's folder if no package does.
fn containing_package<'a>(packages: &[&'a str], path: &'a str) -> &'a str {
    let own = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let around = packages.iter().filter(|folder| path.starts_with(**folder));
    around.max_by_key(|folder| folder.len()).unwrap_or(&own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_lines_and_texts(path: &str, text: &str) -> Vec<(usize, String)> {
        let tree = SourceTree::from_files(&[
            (path, text),
            ("crates/a/Cargo.toml", ""),
            ("crates/a/src/owner/gate.rs", ""),
            ("crates/b/Cargo.toml", ""),
            ("crates/b/src/sent.rs", ""),
            ("tests/page/hostile-text.spec.ts", ""),
            ("ui/package.json", ""),
            ("ui/src/lib/ui/Code.svelte", ""),
        ]);
        let path_in = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
        find_missing_paths_in_comments(&tree)
            .into_iter()
            .map(|finding| (finding.line, path_in(&finding.text)))
            .collect()
    }

    #[test]
    fn comment_naming_a_missing_file_is_reported() {
        let text = "//! Made by `gate.rs`, `owner/gate.rs`, `src/owner/gate.rs`.\n/// Not `answers/gate.rs`, nor `ate.rs`.\nfn f() {} // `gone.rs`\n";
        let expected = [(2, "answers/gate.rs"), (2, "ate.rs"), (3, "gone.rs")];
        assert_eq!(
            finding_lines_and_texts("crates/a/src/x.rs", text),
            expected.map(|(line, path)| (line, path.to_owned())),
            "missing files should be found in Rust comments"
        );
        let text = "<script>\n  // See `Code.svelte`, `gone.ts`.\n  /* `lib/Code.svelte`\n   * `gone.mjs` */ const a = 1;\n</script>\n<!-- `Gone.svelte` -->\n";
        let expected = [(2, "gone.ts"), (3, "lib/Code.svelte"), (4, "gone.mjs"), (6, "Gone.svelte")];
        assert_eq!(
            finding_lines_and_texts("ui/src/X.svelte", text),
            expected.map(|(line, path)| (line, path.to_owned())),
            "missing files should be found in comments of the page"
        );
    }

    #[test]
    fn path_to_another_package_starts_at_a_root_folder() {
        let text =
            "// `sent.rs`\n// `src/sent.rs`\n// `b/src/sent.rs`, `crates/b/src/sent.rs`, `page/hostile-*.spec.ts`\n";
        let expected = [(1, "sent.rs"), (2, "src/sent.rs")];
        assert_eq!(
            finding_lines_and_texts("crates/a/src/x.rs", text),
            expected.map(|(line, path)| (line, path.to_owned())),
            "a file of another package should need a path from a root"
        );
        assert_eq!(
            finding_lines_and_texts("crates/README.md", "`sent.rs` of `b`, but `c.rs`"),
            [(1, "c.rs".to_owned())],
            "documents may omit the folder of the crate"
        );
    }

    #[test]
    fn other_text_is_not_a_file_mention() {
        let text = "let a = \"// `gone.rs`\";\n// `.rs`, `/usr/lib/a.mjs`, `node a.mjs`, `<name>.rs`, gone.rs\n";
        assert_eq!(
            finding_lines_and_texts("crates/a/src/x.rs", text),
            [],
            "strings, extensions, absolute paths and commands should be ignored"
        );
        let text = "const a = \"https://a.test/\" + `gone.ts`;\nimport b from \"./gone.ts\";\n";
        assert_eq!(finding_lines_and_texts("ui/src/x.ts", text), [], "code");
    }
}
