//! Rule for pure crates: they must not access the system or the clock.

use super::Finding;
use super::source_tree::SourceTree;

/// Names of the crates in `crates/` that, like their dependencies, must not access the system or the clock.
pub(super) const PURE_CRATES: [&str; 3] = ["mcp-apps", "mcp-proto", "policy"];
/// Names of crates of plain data that must not use system APIs themselves, although their dependencies do.
const CRATES_OF_PLAIN_DATA: [&str; 1] = ["domain"];

const STD_MODULES_WITH_IO: [&str; 5] = ["process", "fs", "net", "thread", "env"];
const CLOCK_READING_FUNCTIONS: [&str; 2] = ["SystemTime::now", "Instant::now"];

/// Reports uses of files, processes, sockets, threads, environment variables and the clock in pure crates. Functions of
/// such crates take the time as a parameter.
pub(super) fn find_io_use_in_pure_crates(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for crate_name in PURE_CRATES.into_iter().chain(CRATES_OF_PLAIN_DATA) {
        let folder = format!("crates/{crate_name}/src/");
        for file in tree.files_in_folder(&folder).filter(|file| file.is_rust()) {
            for (line, code) in file.lines_without_comments_and_tests() {
                if let Some(name) = find_io_use(&code) {
                    findings.push(Finding::new(&file.path, line, format!("{name} in {crate_name}, which is pure")));
                }
            }
        }
    }
    findings
}

/// Returns the system API that a line of code names, or `None` if it names none.
fn find_io_use(code: &str) -> Option<String> {
    if let Some(clock) = CLOCK_READING_FUNCTIONS.iter().find(|clock| code.contains(**clock)) {
        return Some((*clock).to_owned());
    }
    for (at, start) in code.match_indices("std::") {
        let rest = &code[at + start.len()..];
        // A group such as `std::{fs, io}` names several modules.
        let names = match rest.strip_prefix('{') {
            Some(group) => group.split(',').map(first_identifier).collect(),
            None => vec![first_identifier(rest)],
        };
        if let Some(name) = names.iter().find(|name| STD_MODULES_WITH_IO.contains(name)) {
            return Some(format!("std::{name}"));
        }
    }
    None
}

fn first_identifier(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_access_in_a_pure_crate_is_reported() {
        let text = "//! std::fs is not used.\nuse std::fs::File;\nuse std::{fmt, net};\nuse std::fmt;\n\
                    let now = Instant::now();\nfn at(now: Instant) {}\n";
        let files = [("crates/policy/src/lib.rs", text), ("crates/store/src/lib.rs", text)];
        let findings = find_io_use_in_pure_crates(&SourceTree::from_files(&files));
        let lines: Vec<_> = findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        let expected = [2, 3, 5].map(|line| ("crates/policy/src/lib.rs", line));
        assert_eq!(lines, expected, "uses should be reported, but not types, comments and other crates");
    }

    #[test]
    fn tests_of_pure_crates_may_read_the_clock() {
        let text = "#[cfg(test)]\nmod tests {\n    let now = Instant::now();\n}\n";
        assert!(
            find_io_use_in_pure_crates(&SourceTree::from_files(&[("crates/mcp-proto/src/lib.rs", text)])).is_empty(),
            "a test module may use the system"
        );
    }
}
