//! Tests of two instances that run concurrently, and of an instance that ends in the middle of a reply.

use std::sync::Barrier;

use domain::item::ItemState;

use super::{branch, message_text, new_conversation, reply_item, user_message};
use crate::common::{TestStore, open_store};

#[test]
fn streaming_reply_of_an_ended_process_is_interrupted() {
    let store = TestStore::new();
    let other = open_store(store.folder.path());
    store.ports.history.create(&new_conversation("c")).unwrap();
    other
        .history
        .write("c", &[user_message("1", "why?"), reply_item("2", "Because of the", ItemState::Streaming)])
        .unwrap();
    let third = open_store(store.folder.path());
    assert_eq!(
        branch(third.history.as_ref(), "c")[1].state,
        ItemState::Streaming,
        "the reply is streaming while its instance runs"
    );
    drop(other);
    let items = branch(store.ports.history.as_ref(), "c");
    assert_eq!(
        (items[1].state, message_text(&items[1].body)),
        (ItemState::Cut, "Because of the"),
        "the received part is stored and marked as cut"
    );
    let found = store.ports.history.search(&super::searching::search_query("because")).unwrap();
    assert_eq!(found.len(), 1, "the cut reply is found");
}

#[test]
fn two_processes_write_concurrently() {
    let store = TestStore::new();
    let folder = store.folder.path();
    store.ports.history.create(&new_conversation("c")).unwrap();
    let start = Barrier::new(3);
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let start = &start;
            scope.spawn(move || {
                let ports = open_store(folder);
                start.wait();
                for n in 0..40 {
                    ports.history.write("c", &[user_message(&format!("{writer}-{n}"), "word")]).unwrap();
                }
            });
        }
    });
    let items = branch(store.ports.history.as_ref(), "c");
    assert_eq!(items.len(), 120, "the branch has all items of both instances");
    let found = store.ports.history.search(&super::searching::search_query("word")).unwrap();
    assert_eq!(found.len(), 120, "every item is found");
}

/// Environment variable with the folder in which a child process writes until the test kills it.
#[cfg(unix)]
const WRITE_FOLDER_VARIABLE: &str = "HISTORY_TO_WRITE";

#[cfg(unix)]
fn write_until_killed(folder: &std::path::Path) -> ! {
    let ports = open_store(folder);
    let mut text = String::new();
    let mut n = 0;
    loop {
        text.push_str(&format!("{n} "));
        ports.history.write("c", &[reply_item("2", &text, ItemState::Streaming)]).unwrap();
        n += 1;
    }
}

#[cfg(unix)]
#[test]
#[allow(clippy::disallowed_methods, reason = "starts this test, not a server")]
fn partial_reply_survives_kill_9() {
    // The child process is this test as well, started with the variable.
    if let Some(folder) = std::env::var_os(WRITE_FOLDER_VARIABLE) {
        write_until_killed(folder.as_ref());
    }
    let store = TestStore::new();
    store.ports.history.create(&new_conversation("c")).unwrap();
    store.ports.history.write("c", &[user_message("1", "count")]).unwrap();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["history::programs::partial_reply_survives_kill_9", "--exact"])
        .env(WRITE_FOLDER_VARIABLE, store.folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let written = || {
        let items = branch(store.ports.history.as_ref(), "c");
        items.get(1).map_or(0, |item| message_text(&item.body).len())
    };
    let start = std::time::Instant::now();
    while written() < 500 {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "the child process writes");
        // sleep: polls, since no event reports the change.
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ports = open_store(store.folder.path());
    let items = branch(ports.history.as_ref(), "c");
    assert_eq!(items[1].state, ItemState::Cut, "the interrupted reply is marked as cut");
    let counted: Vec<usize> = message_text(&items[1].body).split_whitespace().map(|n| n.parse().unwrap()).collect();
    assert!(counted.len() > 100, "the received part is stored");
    assert!(counted.iter().enumerate().all(|(at, n)| at == *n), "the stored part equals the written one");
    let held = std::fs::read_dir(store.data().join("held")).unwrap().flatten();
    let locks = held.filter(|entry| entry.file_name().to_string_lossy().starts_with("history-")).count();
    assert_eq!(locks, 0, "no lock file of the killed process is left");
}
