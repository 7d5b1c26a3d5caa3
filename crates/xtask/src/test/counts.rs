//! Numbers of tests, parsed from the summaries that test programs print.

use std::ops::AddAssign;

/// Numbers of passed, failed and skipped tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
}

impl AddAssign for TestCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl TestCounts {
    /// Returns the sums of all test summaries in a log, or `None` if it contains none.
    pub(super) fn from_log(text: &str) -> Option<Self> {
        let mut sum = None;
        for line in without_ansi_colours(text).lines() {
            if let Some(counts) = parse_test_counts(line) {
                *sum.get_or_insert_default() += counts;
            }
        }
        sum
    }

    /// Adds the number in an item of a summary, such as "3 failed (12)" or "2 timed out". Returns `None` if the item
    /// can't be parsed.
    fn add_labelled_count(&mut self, item: &str) -> Option<()> {
        let item = item.split('(').next()?.trim().trim_end_matches('.');
        let (number, word) = item.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        match word {
            // A test that passed after a retry counts as passed.
            "passed" | "flaky" => self.passed += number,
            "failed" | "timed out" | "exec failed" | "interrupted" => self.failed += number,
            "skipped" | "ignored" | "todo" | "did not run" => self.skipped += number,
            "measured" | "filtered out" => {}
            _ => return None,
        }
        Some(())
    }
}

fn parse_test_counts(line: &str) -> Option<TestCounts> {
    let line = line.trim();
    let items: Vec<&str> = if line.starts_with("Summary [") {
        // nextest: Summary [ 0.4s] 12 tests run: 10 passed (1 slow), 1 failed, 1 timed out, 3 skipped
        let (_, items) = line.split_once(" run: ")?;
        items.split(", ").collect()
    } else if let Some(result) = line.strip_prefix("test result: ") {
        // cargo test: test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.1s
        let (_, items) = result.split_once(". ")?;
        items.split("; ").filter(|item| !item.starts_with("finished in")).collect()
    } else if let Some(items) = line.strip_prefix("Tests  ") {
        // vitest: Tests  1 failed | 11 passed | 2 skipped (14)
        items.split(" | ").collect()
    } else {
        // Playwright, with one item per line: 12 passed (1.2m). Suites of this repository: 4 passed, 0 failed
        line.split(", ").collect()
    };
    let mut counts = TestCounts::default();
    for item in items {
        counts.add_labelled_count(item)?;
    }
    Some(counts)
}

/// Returns the text without ANSI escape sequences of the form ESC [ ... letter.
pub(super) fn without_ansi_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character == '\u{1b}' {
            rest.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(passed: u32, failed: u32, skipped: u32) -> Option<TestCounts> {
        Some(TestCounts { passed, failed, skipped })
    }

    #[test]
    fn nextest_summary_is_parsed() {
        let line = "     Summary [   0.456s] 12 tests run: 9 passed (1 slow), 1 failed, 2 timed out, 3 skipped";
        assert_eq!(TestCounts::from_log(line), counts(9, 3, 3), "a test that timed out should count as failed");
        let one = "     Summary [   0.006s] 1 test run: 1 passed, 0 skipped";
        assert_eq!(TestCounts::from_log(one), counts(1, 0, 0), "a summary of one test should be parsed");
    }

    #[test]
    fn cargo_test_summaries_are_added() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
                    test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.2s";
        assert_eq!(
            TestCounts::from_log(text),
            counts(4, 2, 1),
            "the counts of two binaries should be added, without filtered tests"
        );
    }

    #[test]
    fn vitest_tests_are_counted_instead_of_files() {
        let text = " Test Files  1 failed | 5 passed (6)\n      Tests  1 failed | 11 passed | 2 skipped (14)\n";
        assert_eq!(TestCounts::from_log(text), counts(11, 1, 2), "only the line of the tests should count");
    }

    #[test]
    fn playwright_summary_is_parsed_with_and_without_colours() {
        let text = "\u{1b}[31m  1 failed\u{1b}[39m\n    page.spec.ts:3:1 › opens\n  2 skipped\n  3 did not run\n  \
                    \u{1b}[32m12 passed\u{1b}[39m\u{1b}[2m (1.2m)\u{1b}[22m\n";
        assert_eq!(
            TestCounts::from_log(text),
            counts(12, 1, 5),
            "one item per line should be parsed, with or without colours"
        );
    }

    #[test]
    fn xtask_summary_is_parsed() {
        assert_eq!(
            TestCounts::from_log("4 passed, 1 failed, 2 skipped"),
            counts(4, 1, 2),
            "the closing line should be parsed"
        );
    }

    #[test]
    fn other_text_is_not_a_summary() {
        for text in ["", "3 files changed", "error: 2 errors", "run: 3 passed away", "passed", "Tests are running"] {
            assert_eq!(TestCounts::from_log(text), None, "{text:?} should not be a summary");
        }
    }
}
