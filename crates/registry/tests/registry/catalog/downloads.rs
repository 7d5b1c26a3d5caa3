//! Tests of bundle downloads: a successful one, and each error.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use registry::{BundleDownload, DownloadError, DownloadLimits, RegistryHeader};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use testkit::http::HttpServer;

use super::test_catalog::TestCatalog;

const BUNDLE_CONTENT: &[u8] = b"PK: a bundle";

fn bundle_download(url: String) -> BundleDownload {
    BundleDownload { url, sha256: format!("{:x}", Sha256::digest(BUNDLE_CONTENT)) }
}

fn file_names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// Asserts that the download of a bundle with these limits fails and leaves no files in the folder. Returns the error.
async fn refused_download(
    test_catalog: &TestCatalog,
    bundle: &BundleDownload,
    limits: DownloadLimits,
) -> DownloadError {
    let folder = TempDir::new().unwrap();
    let error = test_catalog.catalog.download(bundle, folder.path(), limits).await.unwrap_err();
    assert_eq!(file_names(folder.path()), [""; 0], "no files must remain: {error}");
    error
}

async fn serve_response(status: u16, headers: String, body: &'static [u8]) -> HttpServer {
    let headers = Arc::new(headers);
    HttpServer::start(move |_, mut answer| {
        let headers = Arc::clone(&headers);
        async move { answer.respond(status, &headers, body).await }
    })
    .await
}

#[tokio::test]
async fn bundle_with_the_listed_hash_is_downloaded() {
    let server = serve_response(200, String::new(), BUNDLE_CONTENT).await;
    let at = server.url("/b.mcpb");
    let redirecting = serve_response(302, format!("location: {at}\r\n"), b"").await;
    let header = RegistryHeader::new("Authorization", &"Bearer s3cret".into()).unwrap();
    let test_catalog =
        TestCatalog::with_address(&redirecting.url(""), Default::default(), Default::default(), Some(header));
    let folder = TempDir::new().unwrap();
    let bundle = bundle_download(redirecting.url("/b.mcpb"));
    for _ in 0..2 {
        let path = test_catalog.catalog.download(&bundle, folder.path(), DownloadLimits::default()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), BUNDLE_CONTENT);
        assert_eq!(file_names(folder.path()), [format!("{}.mcpb", bundle.sha256)]);
    }
    assert_eq!(redirecting.received_requests()[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(
        server.received_requests()[0].header("authorization"),
        None,
        "the header must not be sent to another origin"
    );
}

#[tokio::test]
async fn bundle_without_a_hash_or_with_another_hash_is_rejected() {
    let server = serve_response(200, String::new(), b"PK: another").await;
    let test_catalog = TestCatalog::at_server(&server);
    let bundle = bundle_download(server.url("/b.mcpb"));
    let error = refused_download(&test_catalog, &bundle, DownloadLimits::default()).await;
    let found = format!("{:x}", Sha256::digest(b"PK: another"));
    assert_eq!(error, DownloadError::WrongHash { address: server.url(""), found });
    for sha256 in ["", "abc", &"g".repeat(64)] {
        let bundle = BundleDownload { sha256: sha256.to_owned(), ..bundle.clone() };
        assert_eq!(refused_download(&test_catalog, &bundle, DownloadLimits::default()).await, DownloadError::NoHash);
    }
    assert_eq!(server.received_requests().len(), 1, "no request must be sent without a hash");
}

#[tokio::test]
async fn oversized_bundle_is_rejected() {
    let limits = DownloadLimits { bytes: 100_000, ..DownloadLimits::default() };
    let announced = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-length: 100001\r\n\r\n").await?;
        answer.hang_until_closed().await
    })
    .await;
    let endless = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\n\r\n").await?;
        loop {
            answer.write_raw(&[b'a'; 10_000]).await?;
        }
    })
    .await;
    for server in [announced, endless] {
        let error =
            refused_download(&TestCatalog::at_server(&server), &bundle_download(server.url("/b.mcpb")), limits).await;
        assert_eq!(error, DownloadError::TooLarge { address: server.url(""), limit: 100_000 });
    }
}

#[tokio::test]
async fn slow_download_times_out() {
    let short = Duration::from_millis(200);
    let long = Duration::from_secs(60);
    let silent = HttpServer::start(|_, mut answer| async move { answer.hang_until_closed().await }).await;
    let limits = DownloadLimits { idle_time: short, time: long, ..DownloadLimits::default() };
    let error =
        refused_download(&TestCatalog::at_server(&silent), &bundle_download(silent.url("/b.mcpb")), limits).await;
    assert_eq!(error, DownloadError::TooSlow { address: silent.url(""), limit: short });
    let trickling = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\n\r\n").await?;
        loop {
            answer.write_raw(b"a").await?;
            // sleep: the server is slow.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let limits = DownloadLimits { idle_time: long, time: short, ..DownloadLimits::default() };
    let error =
        refused_download(&TestCatalog::at_server(&trickling), &bundle_download(trickling.url("/b.mcpb")), limits).await;
    assert_eq!(error, DownloadError::TooSlow { address: trickling.url(""), limit: short });
}

#[tokio::test]
async fn truncated_or_missing_bundle_is_an_error() {
    let broken = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-length: 100\r\n\r\nPK").await
    })
    .await;
    let error = refused_download(
        &TestCatalog::at_server(&broken),
        &bundle_download(broken.url("/b.mcpb")),
        DownloadLimits::default(),
    )
    .await;
    assert!(matches!(error, DownloadError::Unreachable { .. }), "{error}");
    for status in [206, 404, 500] {
        let server = serve_response(status, String::new(), BUNDLE_CONTENT).await;
        let error = refused_download(
            &TestCatalog::at_server(&server),
            &bundle_download(server.url("/b.mcpb")),
            DownloadLimits::default(),
        )
        .await;
        assert_eq!(error, DownloadError::Failed { address: server.url(""), status });
    }
    let test_catalog = TestCatalog::at_server(&broken);
    let nowhere = Path::new("/nowhere/at/all");
    let server = serve_response(200, String::new(), BUNDLE_CONTENT).await;
    let error =
        test_catalog.catalog.download(&bundle_download(server.url("/b")), nowhere, DownloadLimits::default()).await;
    assert!(matches!(error, Err(DownloadError::Disk(_))), "{error:?}");
}

#[tokio::test]
async fn only_encrypted_public_addresses_are_downloaded() {
    let target = serve_response(200, String::new(), BUNDLE_CONTENT).await;
    let addresses = [
        "http://example.com/mcp.mcpb",
        "ftp://example.com/mcp.mcpb",
        "file:///etc/passwd",
        "https://ann:pass@example.com/mcp.mcpb",
        "https://10.0.0.1/mcp.mcpb",
        "https://[::1]/mcp.mcpb",
        "https://localhost/mcp.mcpb",
    ];
    for address in addresses {
        let redirecting = serve_response(302, format!("location: {address}\r\n"), b"").await;
        let test_catalog = TestCatalog::at_server(&redirecting);
        for url in [address.to_owned(), redirecting.url("/b.mcpb")] {
            let error = refused_download(&test_catalog, &bundle_download(url.clone()), DownloadLimits::default()).await;
            assert!(matches!(error, DownloadError::Address { .. }), "{url} to {address}: {error}");
        }
    }
    // A registry elsewhere must not lead to a server on this computer.
    let test_catalog =
        TestCatalog::with_address("https://registry.example", Default::default(), Default::default(), None);
    let error =
        refused_download(&test_catalog, &bundle_download(target.url("/b.mcpb")), DownloadLimits::default()).await;
    assert!(matches!(error, DownloadError::Address { .. }), "{error}");
    assert!(target.received_requests().is_empty());
    let circle =
        HttpServer::start(|_, mut answer| async move { answer.respond(302, "location: /b\r\n", b"").await }).await;
    let error = refused_download(
        &TestCatalog::at_server(&circle),
        &bundle_download(circle.url("/a")),
        DownloadLimits::default(),
    )
    .await;
    assert_eq!(error, DownloadError::Redirects { address: circle.url("") });
    assert_eq!(circle.received_requests().len(), 6);
}
