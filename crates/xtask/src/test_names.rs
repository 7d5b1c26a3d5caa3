//! Finds tests in source files by their names or titles.

use crate::tidy::source_tree::SourceTree;

/// Code at the start of a line that begins a test or a step of a test in a script. The title follows.
const SCRIPT_TEST_CALLS: [&str; 3] = ["test(", "it(", "await step("];
/// Code at the start of a line that begins a test with a table of values in a script. The title follows the values.
const REPEATED_SCRIPT_TEST_CALLS: [&str; 3] = ["test.each(", "it.each(", "])("];

/// Returns the number of the line, counted from 1, at which the test `name` begins in the file at `path`, or `None` if
/// there is no such test. In Rust, `name` is a function with a test attribute. In scripts, it is the title of a test.
pub(crate) fn find_test_line(tree: &SourceTree, path: &str, name: &str) -> Option<usize> {
    let file = tree.files.iter().find(|file| file.path == path)?;
    let lines: Vec<&str> = file.text.lines().collect();
    let is_named = |index: usize| {
        if file.is_rust() {
            // Attributes and comments directly before the function.
            let is_before = |line: &&&str| line.trim_start().starts_with("#[") || line.trim_start().starts_with("//");
            let mut before = lines[..index].iter().rev().take_while(is_before);
            rust_function_name(lines[index]) == Some(name) && before.any(|line| is_test_attribute(line))
        } else {
            script_test_title(&lines[index..]) == Some(name)
        }
    };
    (0..lines.len()).find(|&index| is_named(index)).map(|index| index + 1)
}

fn is_test_attribute(line: &str) -> bool {
    let attribute = line.trim_start().strip_prefix("#[").and_then(|rest| rest.split(['(', ']']).next());
    attribute.is_some_and(|path| path == "test" || path.ends_with("::test"))
}

/// Returns the name of the function whose definition begins in this line of Rust code, or `None` if none does.
pub(crate) fn rust_function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let name = line.strip_prefix("fn ")?;
    name.split(['(', '<']).next()
}

/// Returns the title of the test that begins in the first of these lines of a script, or `None` if none does. The title
/// may be in the second line.
pub(crate) fn script_test_title<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let line = lines.first()?.trim_start();
    let after_call = || SCRIPT_TEST_CALLS.iter().find_map(|call| line.strip_prefix(call));
    let after_values =
        || REPEATED_SCRIPT_TEST_CALLS.iter().find(|call| line.starts_with(*call)).and_then(|_| line.split_once(")("));
    let title = after_call().or_else(|| Some(after_values()?.1))?;
    let title = if title.is_empty() { lines.get(1)?.trim_start() } else { title };
    quoted_title(title)
}

/// Returns the title of the group of tests that begins in this line of a script, or `None` if none does.
pub(crate) fn script_group_title(line: &str) -> Option<&str> {
    quoted_title(line.trim_start().strip_prefix("test.describe(")?)
}

/// Returns the string with which this code begins, without its quotes.
fn quoted_title(code: &str) -> Option<&str> {
    let quote = code.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    code[1..].split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST_TEST_SOURCE: &str = "#[test]\nfn plain() {}\n\n#[tokio::test(start_paused = true)]\n// Why.\nasync fn paused() {}\n\n\
        fn uses_nothing() {}\n\n#[cfg(test)]\nfn only_for_tests() {}\n";
    const SCRIPT_TEST_SOURCE: &str = "test.describe(\"group\", () => {\n  test(\"one\", f);\n  it(\n    'two',\n  );\n\
        it.each([1])(\"three %s\", f);\n  ])(\"four %s\", f);\n  it.each(values)(\n    \"five %s\",\n  );\n\
        await step(\"six\", f);\nconst text = \"seven\";\n});\n";

    fn found_line_of_test(path: &str, name: &str) -> Option<usize> {
        let tree = SourceTree::from_files(&[
            ("crates/a/tests/all.rs", RUST_TEST_SOURCE),
            ("tests/page/a.spec.ts", SCRIPT_TEST_SOURCE),
        ]);
        find_test_line(&tree, path, name)
    }

    #[test]
    fn rust_test_has_a_test_attribute() {
        let path = "crates/a/tests/all.rs";
        assert_eq!([found_line_of_test(path, "plain"), found_line_of_test(path, "paused")], [Some(2), Some(6)]);
        for other in ["uses_nothing", "only_for_tests", "missing"] {
            assert_eq!(found_line_of_test(path, other), None, "{other}");
        }
        assert_eq!(found_line_of_test("crates/a/tests/other.rs", "plain"), None, "another file has no such test");
    }

    #[test]
    fn title_of_a_script_test_may_follow_values_or_be_in_the_next_line() {
        let titles = ["one", "two", "three %s", "four %s", "five %s", "six"];
        let lines = titles.map(|title| found_line_of_test("tests/page/a.spec.ts", title));
        assert_eq!(lines, [2, 3, 6, 7, 8, 11].map(Some));
        for other in ["group", "seven"] {
            assert_eq!(found_line_of_test("tests/page/a.spec.ts", other), None, "{other}");
        }
    }
}
