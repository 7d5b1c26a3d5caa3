//! Tests of the cache: its use, the age of results, and its limits.

use registry::{CacheLimits, CachePolicy, ListingStatus, RegistryError, SearchQuery};
use serde_json::json;

use super::test_catalog::{FakeRegistry, HOUR_MILLIS, START_TIME, TestCatalog, active_entry, registry_entry};

fn text_query(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

#[tokio::test]
async fn response_is_fresh_for_an_hour() {
    let server = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    let ask = async |freshness| test_catalog.catalog.search(&text_query(""), freshness).await.unwrap().fetched;
    assert_eq!(ask(CachePolicy::Usual).await, START_TIME);
    test_catalog.clock.advance(HOUR_MILLIS - 1);
    assert_eq!(
        (ask(CachePolicy::Usual).await, server.received_requests().len()),
        (START_TIME, 1),
        "the cached response must be used for an hour"
    );
    assert_eq!(
        (ask(CachePolicy::Now).await, server.received_requests().len()),
        (START_TIME + HOUR_MILLIS - 1, 2),
        "the registry must be requested if the user asks for it"
    );
    test_catalog.clock.advance(HOUR_MILLIS);
    assert_eq!(
        (ask(CachePolicy::Usual).await, server.received_requests().len()),
        (START_TIME + 2 * HOUR_MILLIS - 1, 3),
        "an old response must be requested again"
    );
}

#[tokio::test]
async fn cached_responses_are_shown_with_their_age_while_offline() {
    let server = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.versions("com.example/a", CachePolicy::Usual).await.unwrap();
    test_catalog.catalog.version("com.example/a", "1.0.0", CachePolicy::Usual).await.unwrap();
    drop(server);
    test_catalog.clock.advance(50 * HOUR_MILLIS);
    let restarted = test_catalog.reopened();
    let versions = restarted.versions("com.example/a", CachePolicy::Usual).await.unwrap();
    assert_eq!(
        (versions.value.entries.len(), versions.fetched),
        (1, START_TIME),
        "the response must be cached after a restart"
    );
    assert!(matches!(versions.offline, Some(RegistryError::Unreachable { .. })), "{:?}", versions.offline);
    assert!(restarted.version("com.example/a", "1.0.0", CachePolicy::Now).await.unwrap().offline.is_some());
    let error = restarted.version("com.example/a", "2.0.0", CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::Unreachable { .. }), "a request that is not cached must fail: {error}");
}

#[tokio::test]
async fn all_cached_responses_are_searched_while_offline() {
    let stored = FakeRegistry::of(vec![
        active_entry("com.example/notes", "1.0.0", true),
        active_entry("org.other/mail", "1.0.0", true),
    ]);
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.search(&text_query(""), CachePolicy::Usual).await.unwrap();
    test_catalog.clock.advance(1);
    stored.set(vec![active_entry("com.example/notes", "1.1.0", true)]);
    test_catalog.catalog.search(&text_query("notes"), CachePolicy::Usual).await.unwrap();
    drop(server);
    let offline = async |text: &str| test_catalog.catalog.search(&text_query(text), CachePolicy::Usual).await;
    let found = offline("NOTE").await.unwrap();
    let versions: Vec<&str> = found.value.entries.iter().map(|entry| entry.server.version.as_str()).collect();
    assert_eq!(
        (versions, found.fetched),
        (vec!["1.1.0"], START_TIME),
        "each server must be found once, in the version that was fetched last"
    );
    assert!(found.offline.is_some());
    assert_eq!(
        offline("about org").await.unwrap().value.entries[0].server.name,
        "org.other/mail",
        "the search must include descriptions"
    );
    assert_eq!(offline("nothing").await.unwrap().value.entries.len(), 0);
    let empty = TestCatalog::with_address(
        test_catalog.catalog.address().as_str(),
        test_catalog.limits,
        CacheLimits::default(),
        None,
    );
    assert!(
        empty.catalog.search(&text_query("a"), CachePolicy::Usual).await.is_err(),
        "the search must fail with an empty cache"
    );
}

#[tokio::test]
async fn later_status_is_merged_into_cached_responses() {
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.search(&text_query(""), CachePolicy::Usual).await.unwrap();
    let deleted =
        json!({ "status": "deleted", "statusMessage": "spam", "updatedAt": "2026-02-28T23:00:00Z", "isLatest": true });
    stored.set(vec![registry_entry("com.example/a", "1.0.0", deleted)]);
    test_catalog.catalog.version("com.example/a", "1.0.0", CachePolicy::Usual).await.unwrap();
    let listing = test_catalog
        .catalog
        .search(&text_query(""), CachePolicy::Usual)
        .await
        .unwrap()
        .value
        .entries
        .remove(0)
        .listing
        .unwrap();
    assert_eq!((listing.status, listing.status_message.as_deref()), (ListingStatus::Deleted, Some("spam")));
    drop(server);
    let found = test_catalog.catalog.search(&text_query("example"), CachePolicy::Usual).await.unwrap().value.entries;
    assert_eq!(found.len(), 0, "a deleted server must not be found in the cache");
}

#[tokio::test]
async fn cache_is_bounded() {
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let server = stored.serve().await;
    let limits = CacheLimits { bytes: 1 << 20, responses: 3 };
    let test_catalog = TestCatalog::with_address(&server.url(""), Default::default(), limits, None);
    for name in ["a", "e", "x", "m"] {
        test_catalog.catalog.search(&text_query(name), CachePolicy::Usual).await.unwrap();
        test_catalog.clock.advance(1);
    }
    assert_eq!(test_catalog.count_files(), 3 + 1, "there must be three responses and the index");
    let requests = server.received_requests().len();
    test_catalog.catalog.search(&text_query("m"), CachePolicy::Usual).await.unwrap();
    assert_eq!(server.received_requests().len(), requests, "the newest responses must remain");
    test_catalog.catalog.search(&text_query("a"), CachePolicy::Usual).await.unwrap();
    assert_eq!(server.received_requests().len(), requests + 1, "the oldest response must be removed");
    let small = TestCatalog::with_address(
        &server.url(""),
        Default::default(),
        CacheLimits { bytes: 500, responses: 100 },
        None,
    );
    for name in ["a", "e", "x"] {
        small.catalog.search(&text_query(name), CachePolicy::Usual).await.unwrap();
        small.clock.advance(1);
    }
    assert_eq!(small.count_files(), 1 + 1, "only one response must fit into the limit");
    stored.set((0..9).map(|n| active_entry(&format!("com.example/x{n}"), "1.0.0", true)).collect());
    small.catalog.search(&text_query("com"), CachePolicy::Usual).await.unwrap();
    assert_eq!(small.count_files(), 1 + 1, "a response larger than the limit must not displace others");
}

#[tokio::test]
async fn damaged_cache_is_fetched_again() {
    let server = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.search(&text_query(""), CachePolicy::Usual).await.unwrap();
    let answer = |name: &str| name.len() > 60;
    for file in std::fs::read_dir(test_catalog.folder.path()).unwrap().flatten() {
        if answer(file.file_name().to_str().unwrap()) {
            std::fs::write(file.path(), "{\"servers\":[").unwrap();
        }
    }
    test_catalog.catalog.search(&text_query(""), CachePolicy::Usual).await.unwrap();
    assert_eq!(server.received_requests().len(), 2, "a damaged response must be fetched again");
    std::fs::write(test_catalog.folder.path().join("index.json"), "{").unwrap();
    std::fs::write(test_catalog.folder.path().join("notes.txt"), "not of the cache").unwrap();
    let restarted = test_catalog.reopened();
    assert_eq!(
        test_catalog.count_files(),
        2,
        "responses without an index must be removed, and other files must remain"
    );
    restarted.search(&text_query(""), CachePolicy::Usual).await.unwrap();
    assert_eq!(server.received_requests().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_keep_each_others_responses() {
    const BODY_BYTES: usize = 20;
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let server = stored.serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    let programs = ["app", "cli"].map(|program| {
        let catalog = test_catalog.reopened();
        tokio::spawn(async move {
            for n in 0..BODY_BYTES {
                catalog.search(&text_query(&format!("{program}-{n}")), CachePolicy::Usual).await.unwrap();
            }
        })
    });
    for program in programs {
        program.await.unwrap();
    }
    let requests = server.received_requests().len();
    assert_eq!(
        (requests, test_catalog.count_files()),
        (2 * BODY_BYTES, 2 * BODY_BYTES + 1),
        "all responses and the index must be stored"
    );
    let restarted = test_catalog.reopened();
    for program in ["app", "cli"] {
        for n in 0..BODY_BYTES {
            restarted.search(&text_query(&format!("{program}-{n}")), CachePolicy::Usual).await.unwrap();
            test_catalog.catalog.search(&text_query(&format!("{program}-{n}")), CachePolicy::Usual).await.unwrap();
        }
    }
    assert_eq!(
        server.received_requests().len(),
        requests,
        "all responses must be available to a process that was open meanwhile"
    );
    assert_eq!(test_catalog.count_files(), 2 * BODY_BYTES + 1);
}
