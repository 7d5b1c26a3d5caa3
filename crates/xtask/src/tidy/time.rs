//! Rules for time: code that depends on time takes a clock as a parameter, and tests do not sleep to prove that
//! something does not happen.

use super::Finding;
use super::rust_code;
use super::rust_paths::{self, Import};
use super::source_tree::{SourceFile, SourceTree};

/// Crates that take their clock as a parameter: `ports::time::Clock` for the time of day, and tokio's clock, which
/// tests can pause, for durations.
const CRATES_WITH_INJECTED_CLOCK: [&str; 10] = [
    "checkup",
    "host",
    "host-state",
    "supervision",
    "offers",
    "launches",
    "server-requests",
    "credentials",
    "chat",
    "registry",
];
/// Folders whose code may use real time, because it measures time.
const FOLDERS_MEASURING_REAL_TIME: [&str; 1] = ["tests/bench/"];

const CLOCK_REASON_PREFIX: &str = "// clock: ";
const SLEEP_REASON_PREFIX: &str = "// sleep: ";

/// Functions and types that read the system clock.
const CLOCK_READERS: [&str; 4] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "ports::time::SystemClock",
    "ports::time::system_time_millis",
];
/// Function in [`CLOCK_READERS`] that code may import, so that its calls are not preceded by a path, and its name.
const IMPORTABLE_CLOCK_READER: (&str, &str) = ("ports::time::system_time_millis", "system_time_millis");

/// Reports reads of the system clock without a comment that gives the reason. The comment is required at each call,
/// because a comment at the import would permit all later calls in the file.
pub(super) fn find_system_clock_reads(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in CRATES_WITH_INJECTED_CLOCK {
        let folder = format!("crates/{name}/src/");
        for file in tree.files_in_folder(&folder).filter(|file| file.is_rust()) {
            let lines = file.lines_without_comments_and_tests();
            let code: String = lines.iter().flat_map(|(_, code)| [code, "\n"]).collect();
            let imports = rust_paths::parse_imports(&code);
            let mut is_import = false;
            for (line, code) in lines {
                is_import |= starts_use_declaration(&code);
                if is_import {
                    let is_named = rust_paths::tokens(&code).contains(&IMPORTABLE_CLOCK_READER.1);
                    if is_named && imports.iter().any(imports_clock_reader) {
                        let text =
                            "imports a function that reads the clock; call it by its path, and say why at each call";
                        findings.push(Finding::new(&file.path, line, text));
                    }
                    is_import = !code.contains(';');
                } else if reads_clock(&code, &imports) && !has_reason_comment(file, line, CLOCK_REASON_PREFIX) {
                    let text = "reads the system's clock; take ports::time::Clock or tokio's Instant, or say why in \"// clock: \"";
                    findings.push(Finding::new(&file.path, line, text));
                }
            }
        }
    }
    findings
}

fn starts_use_declaration(code: &str) -> bool {
    let tokens = rust_paths::tokens(code);
    let at = tokens.iter().position(|token| *token == "use");
    at.is_some_and(|at| at == 0 || tokens[0] == "pub")
}

fn imports_clock_reader(import: &Import) -> bool {
    import.path.join("::") == IMPORTABLE_CLOCK_READER.0
}

/// Returns `true` if a line of code reads the system clock. `imports` are those of the file, which show what the names
/// in the line refer to.
fn reads_clock(code: &str, imports: &[Import]) -> bool {
    let tokens = rust_paths::tokens(code);
    let mut at = 0;
    while at < tokens.len() {
        let mut path = vec![tokens[at]];
        while tokens.get(at + 1) == Some(&"::") && at + 2 < tokens.len() {
            path.push(tokens[at + 2]);
            at += 2;
        }
        at += 1;
        if is_clock_path(&path, imports) {
            return true;
        }
    }
    code.contains("UNIX_EPOCH.elapsed")
}

fn is_clock_path(path: &[&str], imports: &[Import]) -> bool {
    let written = path.join("::");
    // The import may be invisible here, as with `super::*`.
    if ["SystemTime::now", "SystemClock"].iter().any(|reader| written.ends_with(reader)) {
        return true;
    }
    let full = |import: &Import| {
        let (module, path) = match import.name.as_str() {
            "*" => (&import.path[..import.path.len() - 1], path),
            name => (&import.path[..], path.strip_prefix(&[name])?),
        };
        Some(module.iter().map(String::as_str).chain(path.iter().copied()).collect::<Vec<_>>().join("::"))
    };
    let is_read = |path: String| CLOCK_READERS.contains(&path.as_str());
    is_read(written) || imports.iter().filter_map(full).any(is_read)
}

/// Reports tests that sleep without a comment that gives the reason.
pub(super) fn find_sleeping_tests(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in
        tree.rust_files().filter(|file| !FOLDERS_MEASURING_REAL_TIME.iter().any(|place| file.path.starts_with(place)))
    {
        let product = file.lines_without_comments_and_tests().len();
        let code = rust_code::without_comments_and_strings(&file.text);
        let sleeps = code.lines().enumerate().skip(product).filter(|(_, line)| contains_sleep(line));
        for (line, _) in sleeps.filter(|(line, _)| !has_reason_comment(file, line + 1, SLEEP_REASON_PREFIX)) {
            let text = "sleeps in a test; let the time pass by testkit::time or wait for an event, or say why in \"// sleep: \"";
            findings.push(Finding::new(&file.path, line + 1, text));
        }
    }
    findings
}

fn contains_sleep(code: &str) -> bool {
    code.match_indices("sleep(")
        .any(|(at, _)| !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}

/// Returns `true` if the line (counted from 1) or the comment directly above it contains the prefix `reason`.
fn has_reason_comment(file: &SourceFile, line: usize, reason: &str) -> bool {
    let lines: Vec<&str> = file.text.lines().collect();
    let above = lines[..line - 1].iter().rev().take_while(|line| line.trim_start().starts_with("//"));
    lines[line - 1].contains(reason) || above.into_iter().any(|line| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding_lines(findings: &[Finding]) -> Vec<(&str, usize)> {
        findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect()
    }

    #[test]
    fn system_clock_is_reported() {
        let text = "use tokio::time::Instant;\nlet at = SystemTime::now();\n// clock: only shown.\n\
                    let at = ports::time::system_time_millis();\nlet span = Instant::now();\nlet now = clock.now();\n\
                    let at = std::time::Instant::now();\n\
                    let at = ports::time::system_time_millis();\n\
                    #[cfg(test)]\nmod tests {\n    let at = SystemTime::now();\n}\n";
        let tree = SourceTree::from_files(&[("crates/host/src/a.rs", text), ("crates/store/src/a.rs", text)]);
        let expected = [2, 7, 8].map(|line| ("crates/host/src/a.rs", line));
        assert_eq!(
            finding_lines(&find_system_clock_reads(&tree)),
            expected,
            "only reads without a reason in the listed crates should be reported"
        );
    }

    #[test]
    fn exemption_on_an_import_does_not_apply_to_uses() {
        let cases = [
            ("std::time::{Duration, Instant}", "Instant::now()", 3),
            ("std::time::Instant as Moment", "Moment::now()", 3),
            ("std::time::{self, Duration}", "time::Instant::now()", 3),
            ("std::time::*", "Instant::now()", 3),
            ("std::time::SystemTime", "SystemTime::UNIX_EPOCH.elapsed()", 3),
            ("ports::time as clocks", "unset.unwrap_or_else(clocks::system_time_millis)", 3),
            ("ports::time::SystemClock as Real", "Real", 3),
            ("ports::{\ntime::{millis, system_time_millis}}", "later", 3),
        ];
        for (import, reading, line) in cases {
            let text = format!("// clock: stamps.\nuse {import};\nlet at = {reading};\n");
            let tree = SourceTree::from_files(&[("crates/host/src/a.rs", &text)]);
            assert_eq!(
                finding_lines(&find_system_clock_reads(&tree)),
                [("crates/host/src/a.rs", line)],
                "{import}: {reading}"
            );
        }
        let text = "use std::time::{Instant, SystemTime};\nfn at(day: SystemTime, span: Instant) {}\n";
        let tree = SourceTree::from_files(&[("crates/host/src/a.rs", text)]);
        assert_eq!(finding_lines(&find_system_clock_reads(&tree)), [], "imports of types should be accepted");
    }

    #[test]
    fn sleeping_test_is_reported() {
        let product = "tokio::time::sleep(pause).await;\n";
        let module = format!("{product}#[cfg(test)]\nmod tests {{\n    sleep(pause).await;\n}}\n");
        let test = "tokio::time::sleep(pause).await;\n// sleep: the peer is slow.\nsleep(pause).await;\n\
                    // sleep: a reason of\n// two lines.\nsleep(pause).await;\n\"time.sleep(3)\"; oversleep(1);\n";
        let tree = SourceTree::from_files(&[
            ("crates/host/src/a.rs", &module),
            ("crates/host/tests/b.rs", test),
            ("tests/bench/src/c.rs", test),
        ]);
        let expected = [("crates/host/src/a.rs", 4), ("crates/host/tests/b.rs", 1)];
        assert_eq!(
            finding_lines(&find_sleeping_tests(&tree)),
            expected,
            "sleeps without a reason should be reported in test modules and tests"
        );
    }
}
