//! The rule for `api`, the contract with the page: it translates. What is kept, locked or read from the disk belongs to `chat` and
//! `host`.

use super::Finding;
use super::tree::Tree;

const API: &str = "crates/api/src/";

/// Names of what waits for the disk, keeps history, or locks.
const FOREIGN: [&str; 10] = [
    "spawn_blocking",
    "block_in_place",
    "History",
    "NewItem",
    "AuditLog",
    "Secrets",
    "Mutex",
    "RwLock",
    "Semaphore",
    "OpenOptions",
];

/// The one lock: the names of new secrets depend on the settings of all servers, which the page's data is compared with.
const LOCK: (&str, &str) = ("crates/api/src/handler/serving.rs", "setting_up: ");

pub(super) fn only_translates(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.below(API).filter(|file| file.is_rust()) {
        for (line, code) in file.product_lines() {
            if file.path == LOCK.0 && code.contains(LOCK.1) {
                continue;
            }
            let mut names = code.split(|character: char| !character.is_alphanumeric() && character != '_');
            let foreign = names.find(|name| FOREIGN.contains(name)).or_else(|| {
                let is_disk = |words: &&str| code.contains(*words);
                [".history", "std::fs"].into_iter().find(is_disk)
            });
            if let Some(name) = foreign {
                let text = format!("{name} in api, which only translates; a function of chat or host does that");
                findings.push(Finding::new(&file.path, line, text));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_disk_and_locks_are_found_in_api() {
        let text = "//! Says nothing of spawn_blocking.\nuse ports::{History, Ports};\nlet page = self.host.ports().history.items(&range);\n\
                    tokio::task::spawn_blocking(work);\nuse std::sync::{Arc, Mutex};\nlet text = std::fs::read(path);\n\
                    use domain::history::HistorySearch;\nlet saved = SavedFile { path };\nfn a(_: SecretsStatus) {}\n";
        let files =
            [("crates/api/src/handler/x.rs", text), ("crates/api/tests/x.rs", text), ("crates/chat/src/x.rs", text)];
        let findings = only_translates(&Tree::of(&files));
        let lines: Vec<_> = findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        let expected = [2, 3, 4, 5, 6].map(|line| ("crates/api/src/handler/x.rs", line));
        assert_eq!(lines, expected, "uses are found; data of the page, tests and other crates are left alone");
    }

    #[test]
    fn the_lock_for_setting_up_is_the_only_one() {
        let text =
            "pub struct Api {\n    pub(super) setting_up: Arc<Mutex<()>>,\n    conversations: Arc<Mutex<()>>,\n}\n";
        let findings = only_translates(&Tree::of(&[("crates/api/src/handler/serving.rs", text)]));
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3], "another one is found");
    }
}
