//! Finds the places in tests that name a requirement: `[the-id]` in a comment or an assertion message.

use crate::test_names::{rust_function_name, script_group_title, script_test_title};
use crate::tidy::source_tree::{SourceFile, SourceTree};

/// Place in a test that names a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequirementMention {
    pub(crate) id: String,
    pub(crate) path: String,
    /// Number of the line that names the requirement, counted from 1.
    pub(crate) line: usize,
    /// Name of the test or helper function. Empty if the place is not in a function.
    pub(crate) test: String,
}

/// Returns all places in tests that name a requirement. `is_candidate` rejects texts in brackets that are not ids, such
/// as `[a-z]`.
pub(crate) fn find_mentions(tree: &SourceTree, is_candidate: impl Fn(&str) -> bool) -> Vec<RequirementMention> {
    let mut found = Vec::new();
    for file in &tree.files {
        for (number, line) in test_code_lines(file) {
            for id in mentioned_requirement_ids(line).filter(|id| is_candidate(id)) {
                let test = enclosing_test_name(&file.text, number, file.is_rust());
                found.push(RequirementMention { id: id.to_owned(), path: file.path.clone(), line: number, test });
            }
        }
    }
    found
}

/// Returns the lines of test code with their numbers: all lines of files in test folders, and in other files the lines
/// after `#[cfg(test)] mod`.
fn test_code_lines(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let is_script = file.has_extension(&["ts", "mjs"]);
    let first = match (file.is_test(), file.is_rust()) {
        (true, true) => Some(0),
        (true, false) if is_script => Some(0),
        (false, true) => file.text.find("\n#[cfg(test)]\n").map(|at| file.text[..at].lines().count()),
        _ => None,
    };
    let skipped = first.unwrap_or(usize::MAX);
    file.text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(move |(number, _)| *number > skipped)
}

/// Returns the texts in square brackets in a line that consist of lower-case words and hyphens, as ids do.
fn mentioned_requirement_ids(line: &str) -> impl Iterator<Item = &str> {
    line.split('[').skip(1).filter_map(|rest| {
        let id = rest.split_once(']')?.0;
        let is_word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        (id.contains('-') && id.split('-').all(is_word)).then_some(id)
    })
}

/// Returns the name of the test or helper function that contains the line `number`. A comment directly above a function
/// belongs to it.
fn enclosing_test_name(text: &str, number: usize, is_rust: bool) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let name = |index: usize| {
        if is_rust {
            rust_function_name(lines[index])
        } else {
            script_test_title(&lines[index..]).or_else(|| script_group_title(lines[index]))
        }
    };
    let is_outside = |line: &str| {
        let line = line.trim_start();
        line.starts_with("//") || line.starts_with("#[") || line.is_empty()
    };
    let below = (number - 1..lines.len()).find(|&index| !is_outside(lines[index])).and_then(name);
    let above = || (0..number).rev().find_map(name);
    below.or_else(above).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mention_fields(path: &str, text: &str) -> Vec<(String, usize, String)> {
        let named = find_mentions(&SourceTree::from_files(&[(path, text)]), |id| id.starts_with("ping-"));
        named.into_iter().map(|named| (named.id, named.line, named.test)).collect()
    }

    // The brackets are added here, because this file itself is searched for ids.
    fn bracketed_ids(text: &str) -> String {
        text.replace('<', "[").replace('>', "]")
    }

    #[test]
    fn requirement_id_belongs_to_the_test_around_it_or_below_its_comment() {
        let text = "//! T.\n/// <ping-one>\n#[test]\nfn first() {\n    assert!(true, \"<ping-two> holds\");\n}\n// <ping-three> <ping-four>\n#[tokio::test]\nasync fn second() {}\n";
        let found = mention_fields("crates/a/tests/all.rs", &bracketed_ids(text));
        let short: Vec<_> = found.iter().map(|(id, line, test)| (id.as_str(), *line, test.as_str())).collect();
        let expected = [
            ("ping-one", 2, "first"),
            ("ping-two", 5, "first"),
            ("ping-three", 7, "second"),
            ("ping-four", 7, "second"),
        ];
        assert_eq!(short, expected, "each with its line and its test");
    }

    #[test]
    fn requirement_ids_outside_tests_are_ignored() {
        let text = "//! A.\n// <ping-one>\nfn product() {}\n\n#[cfg(test)]\nmod tests {\n    // <ping-two>\n    fn test() {}\n}\n";
        let found = mention_fields("crates/a/src/lib.rs", &bracketed_ids(text));
        assert_eq!(found, [("ping-two".to_owned(), 7, "test".to_owned())], "product code should not count as a test");
    }

    #[test]
    fn scripts_are_read_and_other_brackets_are_not_ids() {
        let text =
            "test(\"answers\", async () => {\n  // <ping-one>\n  text.match(/<a-z>/); list<i-1>; `<PING-x>`\n});\n";
        let found = mention_fields("tests/page/a.spec.ts", &bracketed_ids(text));
        assert_eq!(
            found,
            [("ping-one".to_owned(), 2, "answers".to_owned())],
            "the id should be found with the title of its test"
        );
    }
}
