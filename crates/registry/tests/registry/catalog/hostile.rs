//! Tests with hostile registries, whose responses attack the client or the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use registry::{CachePolicy, RegistryError, RegistryLimits, SearchQuery};
use serde_json::{Value, json};
use testkit::http::HttpServer;

use super::test_catalog::{TestCatalog, active_entry};

async fn serve_body(body: Vec<u8>) -> HttpServer {
    let body = Arc::new(body);
    HttpServer::start(move |_, mut answer| {
        let body = Arc::clone(&body);
        async move { answer.respond(200, "content-type: application/json\r\n", &body).await }
    })
    .await
}

fn page_body(entry: &Value) -> Vec<u8> {
    json!({ "servers": [entry], "metadata": {} }).to_string().into_bytes()
}

#[tokio::test]
async fn endless_body_is_not_read_completely() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let server = HttpServer::start(move |_, mut answer| {
        let counted = Arc::clone(&counted);
        async move {
            answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-type: application/json\r\n\r\n{\"servers\":[").await?;
            loop {
                answer.write_raw(&[b' '; 64 * 1024]).await?;
                counted.fetch_add(64 * 1024, Ordering::Relaxed);
            }
        }
    })
    .await;
    let test_catalog = TestCatalog::at_server(&server);
    let error = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::TooLarge { .. }), "{error}");
    let buffers = 16 << 20;
    assert!(
        sent.load(Ordering::Relaxed) < RegistryLimits::default().bytes + buffers,
        "reading must stop at the limit, but {sent:?} bytes were sent"
    );
    assert_eq!(test_catalog.count_files(), 0, "the response must not be cached");
}

#[tokio::test]
async fn description_of_ten_megabytes_is_rejected() {
    let mut entry = active_entry("com.example/a", "1.0.0", true);
    entry["server"]["description"] = json!("a".repeat(10 << 20));
    let server = serve_body(page_body(&entry)).await;
    let error =
        TestCatalog::at_server(&server).catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::TooLarge { .. }), "{error}");
    // The description is within the size limit of a page, but not of an entry.
    entry["server"]["description"] = json!("a".repeat(1 << 20));
    let server = serve_body(page_body(&entry)).await;
    let found = TestCatalog::at_server(&server)
        .catalog
        .search(&SearchQuery::default(), CachePolicy::Usual)
        .await
        .unwrap()
        .value;
    assert_eq!(
        (found.entries.len(), found.unreadable[0].cause.to_string()),
        (0, "it is larger than 262144 bytes".to_owned())
    );
}

#[tokio::test]
async fn excessive_and_deeply_nested_entries_are_rejected() {
    let entry = r#"{"server":{"name":"a/b","version":"1"}}"#;
    let many = format!("{{\"servers\":[{}]}}", vec![entry; 100_000].join(","));
    let deep = format!("{{\"servers\":[{}{}]}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    for (body, expected) in [(many, "elements"), (deep, "deeper than 32 levels")] {
        let server = serve_body(body.into_bytes()).await;
        let error = TestCatalog::at_server(&server)
            .catalog
            .search(&SearchQuery::default(), CachePolicy::Usual)
            .await
            .unwrap_err();
        assert!(matches!(error, RegistryError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn bidirectional_and_hidden_characters_are_escaped() {
    let mut entry = active_entry("com.example/a", "1.0.0", true);
    entry["server"]["title"] = json!("Notes \u{202e}lanigiro\u{202c}\u{1b}[2J\u{e0041}");
    entry["_meta"]["io.modelcontextprotocol.registry/official"]["statusMessage"] = json!("a\u{2066}b");
    let server = serve_body(page_body(&entry)).await;
    let found = TestCatalog::at_server(&server)
        .catalog
        .search(&SearchQuery::default(), CachePolicy::Usual)
        .await
        .unwrap()
        .value;
    let entry = &found.entries[0];
    assert_eq!(entry.server.title.as_deref(), Some("Notes \\u{202e}lanigiro\\u{202c}\\x1b[2J\\u{e0041}"));
    assert_eq!(entry.listing.as_ref().unwrap().status_message.as_deref(), Some("a\\u{2066}b"));
}

#[tokio::test]
async fn endless_pages_are_bounded() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = HttpServer::start(move |_, mut answer| {
        let next = counted.fetch_add(1, Ordering::Relaxed);
        async move { answer.json(&json!({ "servers": [], "metadata": { "nextCursor": next } })).await }
    })
    .await;
    let test_catalog = TestCatalog::with_limits(&server, RegistryLimits { pages: 7, ..RegistryLimits::default() });
    for refreshes in 1..=2 {
        assert!(!test_catalog.catalog.refresh().await.unwrap().complete);
        assert_eq!(count.load(Ordering::Relaxed), 7 * refreshes);
    }
    assert!(
        server.received_requests().pop().unwrap().path.ends_with("&cursor=12"),
        "the next refresh must continue at the cursor"
    );
}

#[tokio::test]
async fn slow_pages_end_a_refresh() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = HttpServer::start(move |_, mut answer| {
        let next = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            // sleep: the registry is slow.
            tokio::time::sleep(Duration::from_millis(50)).await;
            answer.json(&json!({ "servers": [], "metadata": { "nextCursor": next } })).await
        }
    })
    .await;
    let test_catalog = TestCatalog::with_limits(
        &server,
        RegistryLimits { time: Duration::from_millis(200), ..RegistryLimits::default() },
    );
    assert!(!test_catalog.catalog.refresh().await.unwrap().complete);
    let pages = count.load(Ordering::Relaxed);
    assert!((1..=41).contains(&pages), "the refresh must end within ten timeouts, after {pages} pages");
}

#[tokio::test]
async fn endless_headers_are_an_error() {
    let server = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\n").await?;
        loop {
            answer.write_raw(b"x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n").await?;
        }
    })
    .await;
    let error =
        TestCatalog::at_server(&server).catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn repeated_page_is_an_error() {
    let server =
        serve_body(json!({ "servers": [], "metadata": { "nextCursor": "again" } }).to_string().into_bytes()).await;
    let test_catalog = TestCatalog::at_server(&server);
    let error = test_catalog.catalog.refresh().await.unwrap_err();
    assert!(matches!(error, RegistryError::RepeatedPage { .. }), "{error}");
    assert_eq!(server.received_requests().len(), 2);
    let first =
        test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap().value.next_cursor;
    let error = test_catalog
        .catalog
        .search(&SearchQuery { cursor: first, ..SearchQuery::default() }, CachePolicy::Usual)
        .await
        .unwrap_err();
    assert!(matches!(error, RegistryError::RepeatedPage { .. }), "{error}");
}

#[tokio::test]
async fn cursor_is_sent_as_an_escaped_value() {
    let cursor = "x&version=1#\r\nhost: evil";
    let server =
        serve_body(json!({ "servers": [], "metadata": { "nextCursor": cursor } }).to_string().into_bytes()).await;
    let test_catalog = TestCatalog::at_server(&server);
    let first =
        test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap().value.next_cursor;
    let _same =
        test_catalog.catalog.search(&SearchQuery { cursor: first, ..SearchQuery::default() }, CachePolicy::Usual).await;
    let sent = server.received_requests().pop().unwrap();
    assert!(sent.query().contains(&("cursor".to_owned(), cursor.to_owned())), "{}", sent.head);
    assert_eq!(sent.query().len(), 3, "{}", sent.path);
}

#[tokio::test]
async fn response_about_another_server_is_not_cached() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |_, mut answer| {
        let name = if count.fetch_add(1, Ordering::Relaxed) == 0 { "com.example/other" } else { "com.example/a" };
        async move { answer.json(&active_entry(name, "1.0.0", true)).await }
    })
    .await;
    let test_catalog = TestCatalog::at_server(&server);
    let ask = || test_catalog.catalog.version("com.example/a", "1.0.0", CachePolicy::Usual);
    let error = ask().await.unwrap_err();
    assert!(error.to_string().contains("it is about \"com.example/other\""), "{error}");
    assert_eq!(ask().await.unwrap().value.server.name, "com.example/a", "the request must be sent again immediately");
}
