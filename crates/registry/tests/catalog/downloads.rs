//! Tests of bundle downloads: a successful one, and each error.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use registry::{BundleDownload, DownloadError, DownloadLimits, RegistryHeader};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use testkit::http::HttpServer;

use crate::stored::TestCatalog;

const CONTENT: &[u8] = b"PK: a bundle";

fn download(url: String) -> BundleDownload {
    BundleDownload { url, sha256: format!("{:x}", Sha256::digest(CONTENT)) }
}

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// Asserts that the download of a bundle with these limits fails and leaves no files in the folder. Returns the error.
async fn refused(desk: &TestCatalog, bundle: &BundleDownload, limits: DownloadLimits) -> DownloadError {
    let folder = TempDir::new().unwrap();
    let error = desk.catalog.download(bundle, folder.path(), limits).await.unwrap_err();
    assert_eq!(names(folder.path()), [""; 0], "no files must remain: {error}");
    error
}

async fn whole(status: u16, headers: String, body: &'static [u8]) -> HttpServer {
    let headers = Arc::new(headers);
    HttpServer::start(move |_, mut answer| {
        let headers = Arc::clone(&headers);
        async move { answer.respond(status, &headers, body).await }
    })
    .await
}

#[tokio::test]
async fn bundle_with_the_listed_hash_is_downloaded() {
    let server = whole(200, String::new(), CONTENT).await;
    let at = server.url("/b.mcpb");
    let redirecting = whole(302, format!("location: {at}\r\n"), b"").await;
    let header = RegistryHeader::new("Authorization", &"Bearer s3cret".into()).unwrap();
    let desk = TestCatalog::with(&redirecting.url(""), Default::default(), Default::default(), Some(header));
    let folder = TempDir::new().unwrap();
    let bundle = download(redirecting.url("/b.mcpb"));
    for _ in 0..2 {
        let path = desk.catalog.download(&bundle, folder.path(), DownloadLimits::default()).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), CONTENT);
        assert_eq!(names(folder.path()), [format!("{}.mcpb", bundle.sha256)]);
    }
    assert_eq!(redirecting.seen()[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(server.seen()[0].header("authorization"), None, "the header must not be sent to another origin");
}

#[tokio::test]
async fn bundle_without_a_hash_or_with_another_hash_is_rejected() {
    let server = whole(200, String::new(), b"PK: another").await;
    let desk = TestCatalog::at(&server);
    let bundle = download(server.url("/b.mcpb"));
    let error = refused(&desk, &bundle, DownloadLimits::default()).await;
    let found = format!("{:x}", Sha256::digest(b"PK: another"));
    assert_eq!(error, DownloadError::WrongHash { address: server.url(""), found });
    for sha256 in ["", "abc", &"g".repeat(64)] {
        let bundle = BundleDownload { sha256: sha256.to_owned(), ..bundle.clone() };
        assert_eq!(refused(&desk, &bundle, DownloadLimits::default()).await, DownloadError::NoHash);
    }
    assert_eq!(server.seen().len(), 1, "no request must be sent without a hash");
}

#[tokio::test]
async fn oversized_bundle_is_rejected() {
    let limits = DownloadLimits { bytes: 100_000, ..DownloadLimits::default() };
    let said = HttpServer::start(|_, mut answer| async move {
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
    for server in [said, endless] {
        let error = refused(&TestCatalog::at(&server), &download(server.url("/b.mcpb")), limits).await;
        assert_eq!(error, DownloadError::TooLarge { address: server.url(""), limit: 100_000 });
    }
}

#[tokio::test]
async fn slow_download_times_out() {
    let short = Duration::from_millis(200);
    let long = Duration::from_secs(60);
    let silent = HttpServer::start(|_, mut answer| async move { answer.hang_until_closed().await }).await;
    let limits = DownloadLimits { silence: short, time: long, ..DownloadLimits::default() };
    let error = refused(&TestCatalog::at(&silent), &download(silent.url("/b.mcpb")), limits).await;
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
    let limits = DownloadLimits { silence: long, time: short, ..DownloadLimits::default() };
    let error = refused(&TestCatalog::at(&trickling), &download(trickling.url("/b.mcpb")), limits).await;
    assert_eq!(error, DownloadError::TooSlow { address: trickling.url(""), limit: short });
}

#[tokio::test]
async fn truncated_or_missing_bundle_is_an_error() {
    let broken = HttpServer::start(|_, mut answer| async move {
        answer.write_raw(b"HTTP/1.1 200 -\r\ncontent-length: 100\r\n\r\nPK").await
    })
    .await;
    let error = refused(&TestCatalog::at(&broken), &download(broken.url("/b.mcpb")), DownloadLimits::default()).await;
    assert!(matches!(error, DownloadError::Unreachable { .. }), "{error}");
    for status in [206, 404, 500] {
        let server = whole(status, String::new(), CONTENT).await;
        let error =
            refused(&TestCatalog::at(&server), &download(server.url("/b.mcpb")), DownloadLimits::default()).await;
        assert_eq!(error, DownloadError::Failed { address: server.url(""), status });
    }
    let desk = TestCatalog::at(&broken);
    let nowhere = Path::new("/nowhere/at/all");
    let server = whole(200, String::new(), CONTENT).await;
    let error = desk.catalog.download(&download(server.url("/b")), nowhere, DownloadLimits::default()).await;
    assert!(matches!(error, Err(DownloadError::Disk(_))), "{error:?}");
}

#[tokio::test]
async fn only_encrypted_public_addresses_are_downloaded() {
    let target = whole(200, String::new(), CONTENT).await;
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
        let redirecting = whole(302, format!("location: {address}\r\n"), b"").await;
        let desk = TestCatalog::at(&redirecting);
        for url in [address.to_owned(), redirecting.url("/b.mcpb")] {
            let error = refused(&desk, &download(url.clone()), DownloadLimits::default()).await;
            assert!(matches!(error, DownloadError::Address { .. }), "{url} to {address}: {error}");
        }
    }
    // A registry elsewhere must not lead to a server on this computer.
    let desk = TestCatalog::with("https://registry.example", Default::default(), Default::default(), None);
    let error = refused(&desk, &download(target.url("/b.mcpb")), DownloadLimits::default()).await;
    assert!(matches!(error, DownloadError::Address { .. }), "{error}");
    assert!(target.seen().is_empty());
    let circle =
        HttpServer::start(|_, mut answer| async move { answer.respond(302, "location: /b\r\n", b"").await }).await;
    let error = refused(&TestCatalog::at(&circle), &download(circle.url("/a")), DownloadLimits::default()).await;
    assert_eq!(error, DownloadError::Redirects { address: circle.url("") });
    assert_eq!(circle.seen().len(), 6);
}
