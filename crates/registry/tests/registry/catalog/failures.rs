//! Tests with registries that are slow, return errors, or send broken responses.

use std::time::Duration;

use registry::{CachePolicy, RegistryError, RegistryHeader, RegistryLimits, SearchQuery};
use testkit::http::HttpServer;

use super::test_catalog::{FakeRegistry, TestCatalog, active_entry};

const JSON_HEADER: &str = "content-type: application/json\r\n";

/// Returns the error of a search in a registry that always sends this response.
async fn search_error(status: u16, headers: &'static str, body: &'static [u8]) -> RegistryError {
    let server =
        HttpServer::start(move |_, mut answer| async move { answer.respond(status, headers, body).await }).await;
    TestCatalog::at_server(&server).catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err()
}

#[tokio::test]
async fn slow_registry_times_out() {
    let time = Duration::from_millis(200);
    let limits = RegistryLimits { time, ..RegistryLimits::default() };
    let silent = HttpServer::start(|_, mut answer| async move { answer.hang_until_closed().await }).await;
    let trickling = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\n\r\n").await?;
        loop {
            answer.write_raw(b" ").await?;
            // sleep: the registry is slow.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    for server in [silent, trickling] {
        let test_catalog = TestCatalog::with_limits(&server, limits);
        let error = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
        assert!(matches!(error, RegistryError::TooSlow { limit, .. } if limit == time), "{error}");
        assert!(error.to_string().contains("did not respond within 0.2 s; try again later"), "{error}");
    }
}

#[tokio::test]
async fn each_failure_reports_its_cause_and_advice() {
    let cases: [(u16, &str, &[u8], &str); 12] = [
        (200, JSON_HEADER, b"{\"servers\":[{\"server\":", "can't be used"),
        (200, JSON_HEADER, b"{\"servers\":\"none\"}", "can't be used"),
        (200, JSON_HEADER, b"[]", "can't be used"),
        (200, JSON_HEADER, b"", "can't be used"),
        (200, JSON_HEADER, b"{\"servers\":[]}\xff", "can't be used"),
        (200, "content-type: text/html\r\n", b"{}", "answers with a web page"),
        (200, JSON_HEADER, b"\n<!doctype html>", "answers with a web page"),
        (401, JSON_HEADER, b"{}", "refuses access (status 401); check the header"),
        (500, JSON_HEADER, b"{\"error\":\"\x1b[31m\"}", "failed (status 500); try again later"),
        (429, "retry-after: 30\r\n", b"", "try again later, in 30 s"),
        (429, "retry-after: soon\r\n", b"", "(status 429); try again later"),
        (204, "", b"", "failed (status 204)"),
    ];
    for (status, headers, body, expected) in cases {
        let error = search_error(status, headers, body).await.to_string();
        assert!(error.contains(expected), "{status} {body:?}: {error}");
        assert!(error.contains("127.0.0.1") && !error.contains('\x1b'), "{error}");
    }
}

#[tokio::test]
async fn truncated_response_is_an_error() {
    let server = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-length: 100\r\n\r\n{\"servers\":[]}").await
    })
    .await;
    let error =
        TestCatalog::at_server(&server).catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn redirect_within_the_registry_is_followed() {
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let server = HttpServer::start(move |request, mut answer| {
        let stored = stored.clone();
        async move {
            match request.path.strip_prefix("/old") {
                Some(path) => answer.respond(308, &format!("location: {path}\r\n"), b"").await,
                None => stored.answer(&request, answer).await,
            }
        }
    })
    .await;
    let test_catalog = TestCatalog::with_address(&server.url("/old"), Default::default(), Default::default(), None);
    let found = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap();
    assert_eq!(found.value.entries.len(), 1);
}

#[tokio::test]
async fn redirect_to_another_origin_receives_nothing() {
    let other = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let location = format!("location: {}\r\n", other.url("/v0.1/servers"));
    let server = HttpServer::start(move |_, mut answer| {
        let location = location.clone();
        async move { answer.respond(302, &location, b"").await }
    })
    .await;
    let header = RegistryHeader::new("Authorization", &"Bearer s3cret".into()).unwrap();
    let test_catalog = TestCatalog::with_address(&server.url(""), Default::default(), Default::default(), Some(header));
    let error = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
    assert!(error.to_string().contains(&format!("redirects to http://{}", other.address)), "{error}");
    assert!(other.received_requests().is_empty(), "no request must be sent to the other origin");
}

#[tokio::test]
async fn redirects_are_bounded() {
    for location in ["location: /v0.1/servers\r\n", "location: file:///etc/passwd\r\n", ""] {
        let server =
            HttpServer::start(move |_, mut answer| async move { answer.respond(302, location, b"").await }).await;
        let error = TestCatalog::at_server(&server)
            .catalog
            .search(&SearchQuery::default(), CachePolicy::Usual)
            .await
            .unwrap_err();
        assert!(matches!(error, RegistryError::Redirect { .. }), "{location}: {error}");
        assert!(
            server.received_requests().len() <= 4,
            "the number of requests must be limited: {}",
            server.received_requests().len()
        );
    }
}

#[tokio::test]
async fn cached_response_replaces_that_of_a_broken_registry() {
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let is_broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let broken = is_broken.clone();
    let server = HttpServer::start(move |request, mut answer| {
        let (stored, broken) = (stored.clone(), broken.load(std::sync::atomic::Ordering::Relaxed));
        async move {
            if broken { answer.respond(200, JSON_HEADER, b"{").await } else { stored.answer(&request, answer).await }
        }
    })
    .await;
    let test_catalog = TestCatalog::at_server(&server);
    test_catalog.catalog.versions("com.example/a", CachePolicy::Usual).await.unwrap();
    is_broken.store(true, std::sync::atomic::Ordering::Relaxed);
    let cached = test_catalog.catalog.versions("com.example/a", CachePolicy::Now).await.unwrap();
    assert_eq!(cached.value.entries.len(), 1);
    assert!(matches!(cached.offline, Some(RegistryError::Unusable { .. })), "{:?}", cached.offline);
}
