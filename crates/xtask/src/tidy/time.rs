//! Rules about time: what decides by it gets its clock from outside, and no test sleeps to prove that something does not happen.

use super::Finding;
use super::rust_code;
use super::tree::{SourceFile, Tree};

/// Crates whose clock comes from outside: the time of day by `ports::time::Clock`, spans of time by tokio's clock, which tests pause.
const CLOCK_FROM_OUTSIDE: [&str; 8] =
    ["host", "supervision", "offers", "launches", "server-requests", "credentials", "chat", "registry"];
/// Measurements run in real time.
const MEASURED: [&str; 1] = ["tests/bench/"];

const CLOCK_REASON: &str = "// clock: ";
const SLEEP_REASON: &str = "// sleep: ";

/// The system's clock is read only where a comment says why.
pub(super) fn clock_from_outside(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in CLOCK_FROM_OUTSIDE {
        let folder = format!("crates/{name}/src/");
        for file in tree.below(&folder).filter(|file| file.is_rust()) {
            for (line, code) in file.product_lines() {
                if reads_clock(&code) && !has_reason(file, line, CLOCK_REASON) {
                    let text = "reads the system's clock; take ports::time::Clock or tokio's Instant, or say why in \"// clock: \"";
                    findings.push(Finding::new(&file.path, line, text));
                }
            }
        }
    }
    findings
}

fn reads_clock(code: &str) -> bool {
    let is_of_std = code.contains("std::time::") && names(code).any(|name| name == "Instant");
    is_of_std || code.contains("SystemTime::now") || code.contains("time::now") || code.contains("SystemClock")
}

fn names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|character: char| !character.is_alphanumeric() && character != '_')
}

/// A test sleeps only where a comment says what for.
pub(super) fn no_sleeping_tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !MEASURED.iter().any(|place| file.path.starts_with(place))) {
        let product = file.product_lines().len();
        let code = rust_code::without_comments_and_strings(&file.text);
        let sleeps = code.lines().enumerate().skip(product).filter(|(_, line)| sleeps(line));
        for (line, _) in sleeps.filter(|(line, _)| !has_reason(file, line + 1, SLEEP_REASON)) {
            let text = "sleeps in a test; let the time pass by testkit::time or wait for an event, or say why in \"// sleep: \"";
            findings.push(Finding::new(&file.path, line + 1, text));
        }
    }
    findings
}

fn sleeps(code: &str) -> bool {
    code.match_indices("sleep(")
        .any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

/// Returns true if the line, counted from 1, or the comment above it gives a reason.
fn has_reason(file: &SourceFile, line: usize, reason: &str) -> bool {
    let lines: Vec<&str> = file.text.lines().collect();
    let above = lines[..line - 1].iter().rev().take_while(|line| line.trim_start().starts_with("//"));
    lines[line - 1].contains(reason) || above.into_iter().any(|line| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<(&str, usize)> {
        findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect()
    }

    #[test]
    fn a_clock_of_the_system_is_found() {
        let text = "use std::time::{Duration, Instant};\nuse tokio::time::Instant;\nlet at = SystemTime::now();\n\
                    // clock: only shown.\nlet at = ports::time::now();\nuse ports::time::now;\n\
                    #[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n";
        let tree = Tree::of(&[("crates/host/src/a.rs", text), ("crates/store/src/a.rs", text)]);
        let expected = [1, 3, 6].map(|line| ("crates/host/src/a.rs", line));
        assert_eq!(lines(&clock_from_outside(&tree)), expected, "in the crates that get one, without a reason");
    }

    #[test]
    fn a_test_that_sleeps_is_found() {
        let product = "tokio::time::sleep(pause).await;\n";
        let module = format!("{product}#[cfg(test)]\nmod tests {{\n    sleep(pause).await;\n}}\n");
        let test = "tokio::time::sleep(pause).await;\n// sleep: the peer is slow.\nsleep(pause).await;\n\
                    // sleep: a reason of\n// two lines.\nsleep(pause).await;\n\"time.sleep(3)\"; oversleep(1);\n";
        let tree = Tree::of(&[
            ("crates/host/src/a.rs", &module),
            ("crates/host/tests/b.rs", test),
            ("tests/bench/src/c.rs", test),
        ]);
        let expected = [("crates/host/src/a.rs", 4), ("crates/host/tests/b.rs", 1)];
        assert_eq!(lines(&no_sleeping_tests(&tree)), expected, "in test modules and tests, without a reason");
    }
}
