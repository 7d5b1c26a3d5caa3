//! Tests of a registry's changes, for warnings about installed servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use registry::{CachePolicy, ChangesSummary, ListingStatus, RegistryLimits, SearchQuery};
use serde_json::{Value, json};
use testkit::http::HttpServer;

use super::test_catalog::{FakeRegistry, HOUR_MILLIS, TestCatalog, registry_entry};

fn changed_entry(name: &str, status: &str, updated: &str) -> Value {
    registry_entry(name, "1.0.0", json!({ "status": status, "statusMessage": "why", "updatedAt": updated }))
}

/// Returns entries of deleted servers with the names `n0`, `n1` and so on.
fn deleted_entries(count: usize) -> impl Iterator<Item = Value> {
    (0..count).map(|n| changed_entry(&format!("com.example/n{n}"), "deleted", "2026-02-28T12:00:00.000Z"))
}

/// Returns the `updated_since` values of the requests that the registry received.
fn requested_start_times(server: &HttpServer) -> Vec<String> {
    let since =
        |request: &testkit::http::HttpRequest| request.query().into_iter().find(|(name, _)| name == "updated_since");
    server.received_requests().iter().filter_map(since).map(|(_, time)| time).collect()
}

#[tokio::test]
async fn deletion_is_known_after_the_next_refresh() {
    let stored = FakeRegistry::of(vec![changed_entry("com.example/a", "active", "2026-02-28T12:00:00.000Z")]);
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    assert_eq!(test_catalog.catalog.refresh().await, Ok(ChangesSummary { changed: 1, unreadable: 0, complete: true }));
    assert_eq!(test_catalog.catalog.status_of("com.example/a", "1.0.0"), None);
    test_catalog.clock.advance(HOUR_MILLIS);
    stored.set(vec![
        changed_entry("com.example/a", "deleted", "2026-03-01T00:30:00.000Z"),
        changed_entry("com.example/b", "deprecated", "2026-03-01T00:20:00.000Z"),
        json!({ "server": { "name": "x" }, "_meta": { "io.modelcontextprotocol.registry/official": { "updatedAt": "2026-03-01T00:20:00Z" } } }),
    ]);
    assert_eq!(test_catalog.catalog.refresh().await, Ok(ChangesSummary { changed: 2, unreadable: 1, complete: true }));
    let status = test_catalog.reopened().status_of("com.example/a", "1.0.0").unwrap();
    assert_eq!(
        (status.status, status.message.as_deref()),
        (ListingStatus::Deleted, Some("why")),
        "the status must be known after a restart"
    );
    assert_eq!(test_catalog.catalog.status_of("com.example/b", "1.0.0").unwrap().status, ListingStatus::Deprecated);
    assert_eq!(
        test_catalog.catalog.status_of("com.example/a", "1.0.1"),
        None,
        "the status must apply to one version only"
    );
    stored.set(vec![changed_entry("com.example/a", "active", "2026-03-01T00:40:00.000Z")]);
    test_catalog.catalog.refresh().await.unwrap();
    assert_eq!(
        test_catalog.catalog.status_of("com.example/a", "1.0.0"),
        None,
        "the status must be removed after the version became active again"
    );
    let since = ["2026-02-28T00:00:00.000Z", "2026-02-28T12:00:00.000Z", "2026-03-01T00:30:00.000Z"];
    assert_eq!(
        requested_start_times(&server),
        since,
        "the first refresh must read one day, and later ones the changes since the newest one"
    );
}

#[tokio::test]
async fn changes_are_read_to_their_last_page() {
    let stored = FakeRegistry::of(deleted_entries(250).collect());
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    assert_eq!(
        test_catalog.catalog.refresh().await,
        Ok(ChangesSummary { changed: 250, unreadable: 0, complete: true })
    );
    assert!(test_catalog.catalog.status_of("com.example/n249", "1.0.0").is_some());
    assert_eq!(server.received_requests().len(), 3);
}

#[tokio::test]
async fn remaining_pages_are_read_by_the_next_refreshes() {
    let stored = FakeRegistry::of(deleted_entries(250).collect());
    let server = stored.serve().await;
    let test_catalog = TestCatalog::with_limits(&server, RegistryLimits { pages: 2, ..RegistryLimits::default() });
    assert_eq!(
        test_catalog.catalog.refresh().await,
        Ok(ChangesSummary { changed: 200, unreadable: 0, complete: false })
    );
    assert!(
        test_catalog.catalog.status_of("com.example/n150", "1.0.0").is_some(),
        "the statuses in the first pages must be stored"
    );
    let found = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await;
    assert!(found.is_ok_and(|found| found.offline.is_none()), "a search must not depend on the changes");
    test_catalog.clock.advance(2 * HOUR_MILLIS);
    let restarted = test_catalog.reopened();
    assert_eq!(restarted.refresh().await, Ok(ChangesSummary { changed: 50, unreadable: 0, complete: true }));
    assert!(restarted.status_of("com.example/n249", "1.0.0").is_some());
    let began = "2026-02-28T00:00:00.000Z";
    assert_eq!(requested_start_times(&server), [began; 3], "all refreshes must continue the same list");
    stored.set(vec![changed_entry("com.example/n0", "active", "2026-03-01T01:00:00.000Z")]);
    restarted.refresh().await.unwrap();
    assert_eq!(
        restarted.status_of("com.example/n0", "1.0.0"),
        None,
        "a version that changed during the reading must have its latest status"
    );
    assert_eq!(requested_start_times(&server)[3], began, "the next list must overlap with the previous one");
}

#[tokio::test]
async fn rejected_cursor_restarts_the_list() {
    let stored = FakeRegistry::of(deleted_entries(250).collect());
    let forgets = Arc::new(AtomicBool::new(false));
    let (answering, forgetting) = (stored.clone(), Arc::clone(&forgets));
    let server = HttpServer::start(move |request, mut answer| {
        let stored = answering.clone();
        let is_forgotten = forgetting.load(Ordering::Relaxed) && request.path.contains("cursor=at+100");
        async move {
            if is_forgotten { answer.respond(400, "", b"{}").await } else { stored.answer(&request, answer).await }
        }
    })
    .await;
    let test_catalog = TestCatalog::with_limits(&server, RegistryLimits { pages: 1, ..RegistryLimits::default() });
    test_catalog.catalog.refresh().await.unwrap();
    forgets.store(true, Ordering::Relaxed);
    assert_eq!(
        test_catalog.catalog.refresh().await,
        Ok(ChangesSummary { changed: 100, unreadable: 0, complete: false })
    );
    forgets.store(false, Ordering::Relaxed);
    for expected in [(100, false), (50, true)] {
        let changes = test_catalog.catalog.refresh().await.unwrap();
        assert_eq!((changes.changed, changes.complete), expected);
    }
}

#[tokio::test]
async fn future_timestamp_does_not_hide_changes() {
    let stored = FakeRegistry::of(vec![changed_entry("com.example/a", "active", "2999-01-01T00:00:00.000Z")]);
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.refresh().await.unwrap();
    test_catalog.catalog.refresh().await.unwrap();
    assert_eq!(
        requested_start_times(&server)[1],
        "2026-03-01T00:00:00.000Z",
        "the start of the next list must not be later than the last reading"
    );
}
