//! Rules for forbidden words: unfinished work, unbounded channels, and fixed waits in tests.

use super::Finding;
use super::rust_code;
use super::source_tree::{SourceFile, SourceTree};

/// Words that are forbidden in Rust code and comments, since they mark unfinished work or ignored tests.
const WORDS_FORBIDDEN_IN_RUST: [&str; 6] = ["TODO", "FIXME", "XXX", "dbg!(", "#[ignore", "todo!("];
/// Words that are forbidden in the scripts of the page and of the test suites.
const WORDS_FORBIDDEN_IN_SCRIPTS: [&str; 14] = [
    "TODO",
    "FIXME",
    "XXX",
    ".only(",
    ".fixme(",
    ".skipIf(",
    ".runIf(",
    ".todo(",
    "test.skip",
    "it.skip",
    "describe.skip",
    "suite.skip",
    "skip: true",
    "debugger;",
];

/// Reports marks of unfinished work, ignored tests, and tests that are marked to run alone.
pub(super) fn find_unfinished_work(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        if file.is_rust() {
            findings.extend(find_forbidden_words(
                file,
                &rust_code::without_strings(&file.text),
                &WORDS_FORBIDDEN_IN_RUST,
            ));
        } else if is_script_file(file) {
            findings.extend(find_forbidden_words(file, &file.text, &WORDS_FORBIDDEN_IN_SCRIPTS));
        }
    }
    findings
}

/// Reports test scripts that wait for a fixed time, which is unnecessarily long on fast machines and too short on slow
/// ones.
pub(super) fn find_fixed_waits(tree: &SourceTree) -> Vec<Finding> {
    const FIXED_WAIT_FINDING: &str = "a fixed time; wait for an event or a frame, or run the page's clock";
    let mut findings = Vec::new();
    for file in tree.files_in_folder("tests/").filter(|file| is_script_file(file)) {
        let lines = file.text.lines().enumerate().filter(|(_, line)| contains_whole_word(line, "waitForTimeout"));
        findings.extend(lines.map(|(number, _)| Finding::new(&file.path, number + 1, FIXED_WAIT_FINDING)));
    }
    findings
}

/// Reports unbounded channels, whose messages could fill the memory.
pub(super) fn find_channels_without_bound(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        for (line, code) in file.lines_without_comments_and_tests() {
            if code.contains("unbounded_channel") || code.contains("::unbounded(") {
                findings.push(Finding::new(&file.path, line, "a channel without a bound; give it one"));
            }
        }
    }
    findings
}

fn is_script_file(file: &SourceFile) -> bool {
    file.has_extension(&["ts", "js", "mjs", "svelte", "css", "py", "sh"]) && !file.path.contains("/vendor/")
}

fn find_forbidden_words(file: &SourceFile, text: &str, words: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = words.iter().find(|word| contains_whole_word(line, word)) {
            findings.push(Finding::new(&file.path, number + 1, format!("`{word}` must not stay")));
        }
    }
    findings
}

/// Returns `true` if the line contains the word as a whole word.
fn contains_whole_word(line: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let starts_in_word = word.starts_with(is_part);
    let ends_in_word = word.ends_with(is_part);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !(starts_in_word && before.is_some_and(is_part) || ends_in_word && after.is_some_and(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_rust_is_reported() {
        let text = "// TODO later\nlet a = \"TODO\";\n#[ignore]\nfn b() { dbg!(a); }\nlet TODOS = 1;\n";
        let lines: Vec<_> = find_unfinished_work(&SourceTree::from_files(&[("a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1, 3, 4], "comments and code should be checked, but not strings and longer words");
    }

    #[test]
    fn test_marked_as_the_only_one_is_reported() {
        let text = "test.only(\"a\", () => {});\n// TODO\nlist.onlyOnce();\n";
        let lines: Vec<_> = find_unfinished_work(&SourceTree::from_files(&[("a.spec.ts", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1, 2], "only whole words should be reported");
    }

    #[test]
    fn skipped_test_is_reported() {
        let skipped = "test.skip(\"a\", f);\ntest.describe.skip(\"a\", f);\nit.skip.each([1])(\"a\", f);\ntest.fixme(\"a\", f);\n\
                        test(\"a\", { skip: true }, f);\nit.skipIf(slow)(\"a\", f);\nhost.skip(1);\nlist.skipped();\n";
        let lines: Vec<_> = find_unfinished_work(&SourceTree::from_files(&[("a.spec.ts", skipped)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6], "all notations of exclusive and skipped tests should be reported");
    }

    #[test]
    fn fixed_wait_is_reported() {
        let text = "await app.waitForTimeout(250);\nawait app.clock.runFor(250);\nawait app.waitForTimeouts();\n";
        let tree = SourceTree::from_files(&[("tests/page/a.spec.ts", text), ("tests/README.md", text)]);
        let found: Vec<_> = find_fixed_waits(&tree).into_iter().map(|finding| (finding.path, finding.line)).collect();
        assert_eq!(
            found,
            [("tests/page/a.spec.ts".to_owned(), 1)],
            "fixed waits should be reported in scripts, but not the page's clock"
        );
    }

    #[test]
    fn unbounded_channel_is_reported_outside_tests() {
        let text = "let (a, b) = mpsc::unbounded_channel();\n// unbounded_channel\n#[cfg(test)]\nmod tests {\n    let c = unbounded_channel();\n}\n";
        let lines: Vec<_> = find_channels_without_bound(&SourceTree::from_files(&[("a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [1], "only product code should be checked");
    }
}
