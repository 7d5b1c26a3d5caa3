//! Changes of a registry, for warnings about installed servers.

use registry::{Changes, RegistryError, RegistryLimits, Status};
use serde_json::{Value, json};
use testkit::http::HttpServer;

use crate::stored::{Desk, HOUR, Stored, entry};

fn changed(name: &str, status: &str, updated: &str) -> Value {
    entry(name, "1.0.0", json!({ "status": status, "statusMessage": "why", "updatedAt": updated }))
}

/// The times since which changes were asked for.
fn asked_since(server: &HttpServer) -> Vec<String> {
    let since =
        |request: &testkit::http::Request| request.query().into_iter().find(|(name, _)| name == "updated_since");
    server.seen().iter().filter_map(since).map(|(_, time)| time).collect()
}

#[tokio::test]
async fn a_deletion_is_known_after_the_next_reading() {
    let stored = Stored::of(vec![changed("com.example/a", "active", "2026-02-28T12:00:00.000Z")]);
    let server = stored.serve().await;
    let desk = Desk::at(&server);
    assert_eq!(desk.catalog.refresh().await, Ok(Changes { changed: 1, unreadable: 0 }));
    assert_eq!(desk.catalog.status_of("com.example/a", "1.0.0"), None);
    desk.clock.pass(HOUR);
    stored.set(vec![
        changed("com.example/a", "deleted", "2026-03-01T00:30:00.000Z"),
        changed("com.example/b", "deprecated", "2026-03-01T00:20:00.000Z"),
        json!({ "server": { "name": "x" }, "_meta": { "io.modelcontextprotocol.registry/official": { "updatedAt": "2026-03-01T00:20:00Z" } } }),
    ]);
    assert_eq!(desk.catalog.refresh().await, Ok(Changes { changed: 2, unreadable: 1 }));
    let status = desk.again().status_of("com.example/a", "1.0.0").unwrap();
    assert_eq!((status.status, status.message.as_deref()), (Status::Deleted, Some("why")), "also after a restart");
    assert_eq!(desk.catalog.status_of("com.example/b", "1.0.0").unwrap().status, Status::Deprecated);
    assert_eq!(desk.catalog.status_of("com.example/a", "1.0.1"), None, "another version has a status of its own");
    stored.set(vec![changed("com.example/a", "active", "2026-03-01T00:40:00.000Z")]);
    desk.catalog.refresh().await.unwrap();
    assert_eq!(desk.catalog.status_of("com.example/a", "1.0.0"), None, "it was put back");
    let since = ["2026-02-28T00:00:00.000Z", "2026-02-28T12:00:00.000Z", "2026-03-01T00:30:00.000Z"];
    assert_eq!(asked_since(&server), since, "first a day back, then from the newest change that was read");
}

#[tokio::test]
async fn changes_are_read_to_their_last_page() {
    let many =
        |count: usize| (0..count).map(|n| changed(&format!("com.example/n{n}"), "deleted", "2026-02-28T12:00:00.000Z"));
    let stored = Stored::of(many(250).collect());
    let server = stored.serve().await;
    let desk = Desk::at(&server);
    assert_eq!(desk.catalog.refresh().await, Ok(Changes { changed: 250, unreadable: 0 }));
    assert!(desk.catalog.status_of("com.example/n249", "1.0.0").is_some());
    assert_eq!(server.seen().len(), 3);
    let short = Desk::limited(&server, RegistryLimits { pages: 2, ..RegistryLimits::default() });
    let error = short.catalog.refresh().await.unwrap_err();
    assert!(matches!(error, RegistryError::TooManyPages { limit: 2, .. }), "{error}");
    assert!(short.catalog.status_of("com.example/n150", "1.0.0").is_some(), "what was read is kept");
    short.catalog.refresh().await.unwrap_err();
    let since = asked_since(&server);
    assert_eq!(since[3], since[5], "and read again, as the rest is not known");
}

#[tokio::test]
async fn a_time_to_come_hides_no_changes() {
    let stored = Stored::of(vec![changed("com.example/a", "active", "2999-01-01T00:00:00.000Z")]);
    let server = stored.serve().await;
    let desk = Desk::at(&server);
    desk.catalog.refresh().await.unwrap();
    desk.catalog.refresh().await.unwrap();
    assert_eq!(asked_since(&server)[1], "2026-03-01T00:00:00.000Z", "not later than the time of reading");
}
