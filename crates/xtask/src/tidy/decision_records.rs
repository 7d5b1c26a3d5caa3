//! Rule for the section "Guarded by" of decision records: the files that it names must exist, and the functions and
//! titles must be tests, so that a record is updated when a test is renamed or moved.

use super::Finding;
use super::comment_paths::code_spans;
use super::source_tree::SourceTree;
use crate::test_names::find_test_line;

/// Reports the entries of sections "Guarded by" that name a file that does not exist, or a function or title that is no
/// test in the file named before it.
pub(super) fn find_missing_guards_of_decisions(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for record in tree.files.iter().filter(|file| file.path.contains("/decisions/") && file.has_extension(&["md"])) {
        for (number, entry) in guarded_by_entries(&record.text) {
            let missing = missing_guards_of_decision(tree, &entry).into_iter();
            findings.extend(missing.map(|text| Finding::new(&record.path, number, text)));
        }
    }
    findings
}

/// Returns the list entries of the section "Guarded by", each as one line with the number of its first line.
fn guarded_by_entries(record: &str) -> Vec<(usize, String)> {
    let mut entries: Vec<(usize, String)> = Vec::new();
    let mut in_section = false;
    for (number, line) in record.lines().enumerate() {
        if line.starts_with("## ") {
            in_section = line == "## Guarded by";
        } else if in_section && let Some(entry) = line.strip_prefix("- ") {
            entries.push((number + 1, entry.to_owned()));
        } else if in_section && let (Some(rest), Some((_, entry))) = (line.strip_prefix("  "), entries.last_mut()) {
            entry.push(' ');
            entry.push_str(rest.trim());
        }
    }
    entries
}

/// Describes each file and test that an entry of the form `` `path`: `test`, "title of a test" `` names and that does
/// not exist.
fn missing_guards_of_decision(tree: &SourceTree, entry: &str) -> Vec<String> {
    let Some(path) = code_spans(entry).next().filter(|_| entry.starts_with('`')) else { return Vec::new() };
    if !tree.files.iter().any(|file| file.path == path) {
        return vec![format!("`{path}` is no file of the repository")];
    }
    let is_missing = |name: &&str| find_test_line(tree, path, name).is_none();
    let tests = code_spans(entry).skip(1).filter(is_missing);
    let tests = tests.map(|name| format!("`{name}` is no test in `{path}`"));
    let outside_code: String = entry.split('`').step_by(2).collect();
    let titles = outside_code.split('"').skip(1).step_by(2).filter(is_missing);
    tests.chain(titles.map(|title| format!("\"{title}\" is no test in `{path}`"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_for_guards(guards: &str) -> Vec<(usize, String)> {
        let record =
            format!("# 0001. Keep it\n\n`gone_test`\n\n## Guarded by\n\n{guards}\n\n## After\n\n- `gone.rs`\n");
        let tree = SourceTree::from_files(&[
            ("crates/a/decisions/0001-keep-it.md", record.as_str()),
            ("crates/a/src/b.rs", "#[test]\nfn one_holds() {}\n\n#[test]\nfn two_holds_again() {}\n\nfn helper() {}\n"),
            ("ui/src/c.test.ts", "it(\"is kept in one place\", () => {});\n"),
        ]);
        let findings = find_missing_guards_of_decisions(&tree).into_iter();
        findings.map(|finding| (finding.line, finding.text)).collect()
    }

    #[test]
    fn missing_guard_files_and_tests_are_reported_at_their_entry() {
        let guards = "- `crates/a/src/gone.rs`: `one_holds`\n- `crates/a/src/b.rs`: `one_holds`,\n  `two_holds`, `helper`\n\
            - `ui/src/c.test.ts`: \"is kept in\n  two places\", \"one place\"";
        let expected = [
            (7, "`crates/a/src/gone.rs` is no file of the repository"),
            (8, "`two_holds` is no test in `crates/a/src/b.rs`"),
            (8, "`helper` is no test in `crates/a/src/b.rs`"),
            (10, "\"is kept in two places\" is no test in `ui/src/c.test.ts`"),
            (10, "\"one place\" is no test in `ui/src/c.test.ts`"),
        ];
        assert_eq!(findings_for_guards(guards), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn existing_guard_tests_and_remarks_are_accepted() {
        let guards = "- `crates/a/src/b.rs`: `one_holds`,\n  `two_holds_again`\n- `ui/src/c.test.ts`: \"is kept in\n  one place\"\n- That it lasts: no test";
        assert_eq!(findings_for_guards(guards), []);
        assert_eq!(findings_for_guards("No test"), []);
    }
}
