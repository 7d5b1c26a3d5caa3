//! Tests of searches and version lists in a registry that responds correctly.

use registry::{CachePolicy, ListingStatus, RegistryError, RegistryHeader, SearchQuery};
use serde_json::json;
use testkit::http::HttpServer;

use super::test_catalog::{FakeRegistry, TestCatalog, active_entry, registry_entry};

fn search_query(text: &str, cursor: Option<String>) -> SearchQuery {
    SearchQuery { text: text.to_owned(), cursor, limit: Some(2) }
}

#[tokio::test]
async fn search_continues_from_page_to_page() {
    let names = ["com.example/a", "com.example/c", "org.other/a"];
    let bad = registry_entry("com.example/b c", "1", json!({ "isLatest": true }));
    let mut entries: Vec<_> = names.iter().map(|name| active_entry(name, "2.0.0", true)).collect();
    entries.insert(1, bad);
    entries.push(active_entry("com.example/a", "1.0.0", false));
    let server = FakeRegistry::of(entries).serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    let first = test_catalog.catalog.search(&search_query("com.example", None), CachePolicy::Usual).await.unwrap();
    assert_eq!(first.value.entries[0].server.name, "com.example/a");
    assert_eq!(
        first.value.unreadable[0].name.as_deref(),
        Some("\"com.example/b c\""),
        "an invalid entry must be reported with its name"
    );
    assert!(first.offline.is_none());
    let next = first.value.next_cursor;
    assert_eq!(next.as_deref(), Some("at 2"), "the cursor must be returned unchanged");
    let second =
        test_catalog.catalog.search(&search_query("com.example", next), CachePolicy::Usual).await.unwrap().value;
    let found: Vec<&str> = second.entries.iter().map(|entry| entry.server.name.as_str()).collect();
    assert_eq!(
        (found, second.next_cursor),
        (vec!["com.example/c"], None),
        "each server must be listed in its newest version"
    );
    let queries: Vec<_> = server.received_requests().iter().map(|request| request.path.clone()).collect();
    let first = "/v0.1/servers?version=latest&limit=2&search=com.example";
    assert_eq!(queries, [first.to_owned(), format!("{first}&cursor=at+2")]);
}

#[tokio::test]
async fn versions_include_deleted_ones() {
    let deleted = json!({ "status": "deleted", "statusMessage": "malware", "updatedAt": "2026-02-01T00:00:00Z" });
    let deprecated = json!({ "status": "deprecated", "statusMessage": "old", "updatedAt": "2026-02-01T00:00:00Z" });
    let server = FakeRegistry::of(vec![
        active_entry("com.example/a", "2.0.0+b", true),
        registry_entry("com.example/a", "1.1.0", deleted),
        registry_entry("com.example/a", "1.0.0", deprecated),
    ])
    .serve()
    .await;
    let test_catalog = TestCatalog::at_server(&server);
    let all = test_catalog.catalog.versions("com.example/a", CachePolicy::Usual).await.unwrap().value.entries;
    let statuses: Vec<ListingStatus> = all.iter().map(|entry| entry.listing.as_ref().unwrap().status).collect();
    assert_eq!(statuses, [ListingStatus::Active, ListingStatus::Deleted, ListingStatus::Deprecated]);
    let one = test_catalog.catalog.version("com.example/a", "2.0.0+b", CachePolicy::Usual).await.unwrap();
    assert_eq!(one.value.server.version, "2.0.0+b");
    let latest = test_catalog.catalog.version("com.example/a", "latest", CachePolicy::Usual).await.unwrap();
    assert_eq!(latest.value.server.version, "2.0.0+b");
    let paths: Vec<String> =
        server.received_requests().iter().map(|request| request.path_without_query().to_owned()).collect();
    let versions = "/v0.1/servers/com.example%2Fa/versions";
    assert_eq!(paths, [versions.to_owned(), format!("{versions}/2.0.0%2Bb"), format!("{versions}/latest")]);
    assert!(
        server
            .received_requests()
            .iter()
            .all(|request| request.query() == [("include_deleted".to_owned(), "true".to_owned())])
    );
    let status = test_catalog.catalog.status_of("com.example/a", "1.1.0").unwrap();
    assert_eq!((status.status, status.message.as_deref()), (ListingStatus::Deleted, Some("malware")));
    assert_eq!(
        test_catalog.catalog.status_of("com.example/a", "2.0.0+b"),
        None,
        "an active version must have no recorded status"
    );
}

#[tokio::test]
async fn missing_server_or_version_is_reported() {
    let server = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let test_catalog = TestCatalog::at_server(&server);
    let error = test_catalog.catalog.versions("com.example/A", CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(error, RegistryError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("does not have a server \"com.example/A\""), "{error}");
    let error = test_catalog.catalog.version("com.example/a", "9", CachePolicy::Usual).await.unwrap_err();
    assert!(error.to_string().contains("version \"9\" of a server \"com.example/a\""), "{error}");
    let requests = server.received_requests().len();
    for (name, version) in [("a", "1"), ("com.example/a/../b", "1"), ("com.example/a", ".."), ("com.example/a", "")] {
        let error = test_catalog.catalog.version(name, version, CachePolicy::Usual).await.unwrap_err();
        assert!(matches!(error, RegistryError::InvalidInput(_)), "{name} {version}: {error}");
    }
    assert_eq!(server.received_requests().len(), requests, "no request must be sent for an invalid name or version");
}

#[tokio::test]
async fn response_about_another_server_is_rejected() {
    let other = active_entry("com.example/other", "1.0.0", true);
    let server = HttpServer::start(move |request, mut answer| {
        let list = json!({ "servers": [other], "metadata": {} });
        let body = if request.path_without_query().ends_with("/versions") { list } else { other.clone() };
        async move { answer.json(&body).await }
    })
    .await;
    let test_catalog = TestCatalog::at_server(&server);
    let error = test_catalog.catalog.version("com.example/a", "1.0.0", CachePolicy::Usual).await.unwrap_err();
    assert!(error.to_string().contains("it is about \"com.example/other\""), "{error}");
    assert_eq!(
        test_catalog.catalog.versions("com.example/a", CachePolicy::Usual).await.unwrap().value.entries.len(),
        0
    );
}

#[tokio::test]
async fn header_is_sent_with_each_request() {
    let server = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]).serve().await;
    let header = RegistryHeader::new("Authorization", &"Bearer s3cret".into()).unwrap();
    let test_catalog =
        TestCatalog::with_address(&server.url("/v0.1"), Default::default(), Default::default(), Some(header));
    test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap();
    let requests = server.received_requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(requests[0].path, "/v0.1/servers?version=latest&limit=30");
    assert!(!format!("{:?}", test_catalog.catalog).contains("s3cret"));
}

#[tokio::test]
async fn header_value_is_neither_cached_nor_shown() {
    let header = || RegistryHeader::new("Authorization", &"Bearer s3cret-token".into()).unwrap();
    let stored = FakeRegistry::of(vec![active_entry("com.example/a", "1.0.0", true)]);
    let server = stored.serve().await;
    let test_catalog =
        TestCatalog::with_address(&server.url(""), Default::default(), Default::default(), Some(header()));
    test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap();
    test_catalog.catalog.refresh().await.unwrap();
    let mut repeating = active_entry("com.example/a", "1.0.0", true);
    repeating["server"]["description"] = json!("you are s3cret-token");
    let bad_name = registry_entry("Bearer s3cret-token", "1", json!({}));
    for (path, body) in [
        ("versions", json!({ "servers": [repeating.clone()], "metadata": {} })),
        ("1.0.0", repeating),
        ("servers", json!({ "servers": [bad_name], "metadata": {} })),
    ] {
        let server = HttpServer::start(move |_, mut answer| {
            let body = body.clone();
            async move { answer.json(&body).await }
        })
        .await;
        let test_catalog =
            TestCatalog::with_address(&server.url(""), Default::default(), Default::default(), Some(header()));
        let error = match path {
            "versions" => test_catalog.catalog.versions("com.example/a", CachePolicy::Usual).await.unwrap_err(),
            "servers" => test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err(),
            version => test_catalog.catalog.version("com.example/a", version, CachePolicy::Usual).await.unwrap_err(),
        };
        assert!(matches!(error, RegistryError::RepeatsHeader { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        assert_eq!(test_catalog.count_files(), 0, "the response must not be cached");
    }
    let files = std::fs::read_dir(test_catalog.folder.path()).unwrap();
    let cached: Vec<_> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(cached.len() > 2 && cached.iter().all(|bytes| !String::from_utf8_lossy(bytes).contains("s3cret")));
}

#[tokio::test]
async fn error_does_not_contain_the_header_value() {
    let header = RegistryHeader::new("Authorization", &"Bearer s3cret-token".into()).unwrap();
    for (status, headers) in [
        (401, "www-authenticate: Bearer error=\"s3cret-token\"\r\n"),
        (500, "retry-after: s3cret-token\r\n"),
        (302, "location: /s3cret-token\r\n"),
        (302, "location: https://other.example/?s3cret-token\r\n"),
    ] {
        let server =
            HttpServer::start(
                move |_, mut answer| async move { answer.respond(status, headers, b"s3cret-token").await },
            )
            .await;
        let test_catalog =
            TestCatalog::with_address(&server.url(""), Default::default(), Default::default(), Some(header.clone()));
        let error = test_catalog.catalog.search(&SearchQuery::default(), CachePolicy::Usual).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
}
