//! Tests of watching `mcp.json`: every way in which editors and users change the file is noticed.

use std::fs;
use std::time::Duration;

use crate::common::TestStore;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Time limit for a notification: more than twice the polling interval of 2 s for a file behind a symbolic link or in a
/// missing folder.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(5);

async fn expect_notification(changed: &mut mpsc::Receiver<()>, what: &str) {
    timeout(NOTIFICATION_TIMEOUT, changed.recv())
        .await
        .unwrap_or_else(|_| panic!("{what} must be reported"))
        .expect("the watch is still open");
    // A change may be reported in two parts, so this waits until no further report arrives.
    while timeout(Duration::from_millis(500), changed.recv()).await.is_ok() {}
}

#[tokio::test]
async fn every_kind_of_change_of_mcp_json_is_detected() {
    let store = TestStore::new();
    let config = store.config();
    let folder = config.parent().unwrap().to_path_buf();
    let (sender, mut changed) = mpsc::channel(1);
    store.ports.servers.watch(sender);

    fs::write(&config, "{}").unwrap();
    expect_notification(&mut changed, "a new file").await;
    fs::write(&config, "{ }").unwrap();
    expect_notification(&mut changed, "a file written in place").await;
    for round in 0..3 {
        let beside = folder.join("mcp.json~");
        fs::write(&beside, format!("{{\"round\": {round}}}")).unwrap();
        fs::rename(&beside, &config).unwrap();
        expect_notification(&mut changed, "a file renamed over the old one").await;
    }
    fs::remove_file(&config).unwrap();
    expect_notification(&mut changed, "a file that is deleted").await;
    fs::remove_dir_all(&folder).unwrap();
    // sleep: the operating system's watcher has to notice that the folder was removed.
    tokio::time::sleep(Duration::from_millis(300)).await;
    fs::create_dir(&folder).unwrap();
    fs::write(&config, "{\"anew\": 1}").unwrap();
    expect_notification(&mut changed, "a folder made again with a file").await;
    fs::write(&config, "{\"anew\": 22}").unwrap();
    expect_notification(&mut changed, "a change in the folder made again").await;
}

#[tokio::test]
async fn watch_ignores_other_files_and_debounces_bursts_of_changes() {
    let store = TestStore::new();
    fs::write(store.config(), "{}").unwrap();
    let (sender, mut changed) = mpsc::channel(100);
    store.ports.servers.watch(sender);
    fs::write(store.config().with_file_name("other.json"), "{}").unwrap();
    assert!(timeout(Duration::from_secs(1), changed.recv()).await.is_err(), "a change of another file is not reported");
    for number in 0..50 {
        fs::write(store.config(), format!("{{\"n\": {number}}}")).unwrap();
    }
    expect_at_most_notifications(&mut changed, 1).await;
}

async fn expect_at_most_notifications(changed: &mut mpsc::Receiver<()>, most: usize) {
    let mut count = 0;
    while timeout(Duration::from_secs(1), changed.recv()).await.is_ok() {
        count += 1;
    }
    assert!((1..=most).contains(&count), "50 writes at once are reported at most {most} times, got {count}");
}

#[tokio::test]
async fn change_of_mcp_json_behind_a_link_is_detected() {
    let store = TestStore::new();
    let real = store.folder.path().join("real.json");
    fs::write(&real, "{}").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&real, store.config()).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(&real, store.config()).unwrap();
    let (sender, mut changed) = mpsc::channel(1);
    store.ports.servers.watch(sender);
    fs::write(&real, "{\"a\": 1}").unwrap();
    expect_notification(&mut changed, "a change of the file behind a link").await;
}
