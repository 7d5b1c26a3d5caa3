//! A lock or a disk that does not answer stops no server (S15).

use std::fs::File;
use std::time::{Duration, Instant};

use host::view::ServerState;
use testkit::deadline::holds_within;

use crate::pair::Pair;

/// Far less than the seconds for which the lock of the documents is waited for.
const AT_ONCE: Duration = Duration::from_millis(1_000);

/// The most that the file may take once it can be written.
const PATIENCE: Duration = Duration::from_secs(20);

/// As a terminal program that was stopped in the middle of a write.
#[tokio::test]
async fn s15_a_held_lock_of_the_documents_does_not_stop_the_loop() {
    let what = "S15, another program holds the lock of the documents";
    let pair = Pair::not_yet_open(testkit::app::scripted(&[])).await;
    let data = pair.app.folder.path().join("data");
    let lock = File::options().write(true).create(true).truncate(false).open(data.join("lock")).unwrap();
    lock.lock().unwrap();
    let running = data.join("running.json");
    let before = std::fs::read_to_string(&running).unwrap_or_default();

    pair.app.host.start_server("bad".into()).await.unwrap().unwrap();
    // Each turn of the loop is asked for something; none may wait for the lock.
    let mut slowest = Duration::ZERO;
    loop {
        let asked = Instant::now();
        let view = pair.app.server("bad").await;
        slowest = slowest.max(asked.elapsed());
        if view.state == ServerState::Ready {
            break;
        }
        assert!(!matches!(view.state, ServerState::Failed(_)), "{what}: the server starts: {:?}", view.state);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(slowest < AT_ONCE, "{what}: the loop answered after {slowest:?}");
    assert_eq!(std::fs::read_to_string(&running).unwrap_or_default(), before, "{what}: nothing could be written");

    drop(lock);
    let is_written = || std::fs::read_to_string(&running).unwrap_or_default() != before;
    assert!(holds_within(PATIENCE, is_written).await, "{what}: what runs is written once the lock is free");
    pair.close(what).await;
}
