//! Rules for `api`, the contract with the page. The crate only translates: code that stores data, takes locks or reads
//! the disk belongs to `chat` and `host`.

use super::Finding;
use super::layout::GENERATED_FILES;
use super::source_tree::SourceTree;

const API_FOLDER: &str = "crates/api/src/";

/// Names of items that block on the disk, store history, or have locks.
const ITEMS_FORBIDDEN_IN_API: [&str; 13] = [
    "canonicalize",
    "spawn_blocking",
    "block_in_place",
    "History",
    "NewHistoryItem",
    "AuditLog",
    "Secrets",
    "Mutex",
    "RwLock",
    "Semaphore",
    "OpenOptions",
    "read_link",
    "read_dir",
];

pub(super) fn find_storage_and_locks_in_api(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files_in_folder(API_FOLDER).filter(|file| file.is_rust()) {
        for (line, code) in file.lines_without_comments_and_tests() {
            let mut names = code.split(|character: char| !character.is_alphanumeric() && character != '_');
            let foreign = names.find(|name| ITEMS_FORBIDDEN_IN_API.contains(name)).or_else(|| {
                let has = |words: &&str| code.contains(*words);
                [".history", "std::fs", "tokio::fs", ".lock("].into_iter().find(has)
            });
            if let Some(name) = foreign {
                let text = format!("{name} in api, which only translates; a function of chat or host does that");
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

/// Reports methods that call a method of the same name on `self`. A command may delegate to a method of `Api` with its
/// name, but without such a method it calls itself, which the compiler does not detect because of boxed futures.
pub(super) fn find_api_commands_that_call_themselves(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files_in_folder(API_FOLDER).filter(|file| file.is_rust()) {
        let mut own = String::new();
        for (line, code) in file.lines_without_comments_and_tests() {
            if let Some((before, rest)) = code.split_once("fn ") {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                own = if before.ends_with("async ") { name.to_owned() } else { String::new() };
            }
            if !own.is_empty() && code.contains(&format!("self.{own}(")) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("{own} calls itself; call a function by its path"),
                ));
            }
        }
    }
    findings
}

/// Reports fields of the generated TypeScript types whose names are not in camelCase. A type that is also stored or
/// hashed with other field names requires a separate type for the page.
pub(super) fn find_fields_not_in_camel_case(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files_in_folder(GENERATED_FILES[0]) {
        for (number, line) in file.text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with(['*', '/']);
            let mut members = line.split_whitespace().filter_map(|word| word.strip_suffix(':'));
            // Commands have the names of their functions, which are in snake_case.
            if !is_comment && !line.contains(": { request: ") && members.any(|member| member.contains('_')) {
                findings.push(Finding::new(&file.path, number + 1, "a member of the page's data is not camelCase"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_not_in_camel_case_is_reported() {
        let text = "  set_roots: { request: SetRoots; response: Nothing };\n * in a_comment: x\n\
                    client_id: string, \nclientId: string, } | { \"kind\": \"an_act\", \nafter_all?: boolean, };\n";
        let findings = find_fields_not_in_camel_case(&SourceTree::from_files(&[
            (GENERATED_FILES[0], text),
            ("ui/src/a.ts", "a_b: 1"),
        ]));
        let lines: Vec<usize> = findings.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [3, 5], "commands, values and other files should be accepted");
    }

    #[test]
    fn use_of_history_disk_or_locks_in_api_is_reported() {
        let text = "//! Says nothing of spawn_blocking.\nuse ports::{History, Ports};\nlet page = self.host.ports().history.items(&range);\n\
                    tokio::task::spawn_blocking(work);\nuse std::sync::{Arc, Mutex};\nlet text = std::fs::read(path);\n\
                    let real = path.canonicalize();\n\
                    setting_up: Arc<tokio::sync::Mutex<()>>,\nuse tokio::fs;\n\
                    use domain::history::HistorySearch;\nlet saved = SavedFile { path };\nfn a(_: SecretsStatus) {}\n\
                    let log = activity.lock().unwrap_or_else(PoisonError::into_inner);\n";
        let files =
            [("crates/api/src/handler/x.rs", text), ("crates/api/tests/x.rs", text), ("crates/chat/src/x.rs", text)];
        let findings = find_storage_and_locks_in_api(&SourceTree::from_files(&files));
        let lines: Vec<_> = findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        let expected = [2, 3, 4, 5, 6, 7, 8, 9, 13].map(|line| ("crates/api/src/handler/x.rs", line));
        assert_eq!(lines, expected, "uses should be reported, but not in data of the page, tests and other crates");
    }

    #[test]
    fn api_command_that_calls_itself_is_reported() {
        let text = "async fn audit(&self, r: AuditRange) -> Page {\n    self.audit(r).await\n}\nasync fn pins(&self) {\n    \
                    review::pins(self).await; self.host.audit(1).await\n}\n";
        let findings =
            find_api_commands_that_call_themselves(&SourceTree::from_files(&[("crates/api/src/handler/mod.rs", text)]));
        assert_eq!(
            findings.iter().map(|finding| finding.line).collect::<Vec<_>>(),
            [2],
            "calls of functions by path should be accepted"
        );
    }
}
