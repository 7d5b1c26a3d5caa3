//! Tests of bundles listed by a registry: downloaded, checked against the listed hash, and removed after their
//! installation.

use std::fs;

use installer::{InstallError, InstallSource, Installer};
use ports::server_config::ServerOrigin;
use registry::{CachePolicy, DownloadError};
use sha2::{Digest as _, Sha256};
use testkit::app::TestApp;
use testkit::bundle_file::Bundle;
use testkit::registry::{TestRegistry, bundle_registry_entry};

use crate::{bundle_folders, install_draft, preview_and_install, server_names, test_installer};

const SERVER_NAME: &str = "io.github.alice/demo";
const BUNDLE_PATH: &str = "/demo.mcpb";

pub(crate) fn registry_source() -> InstallSource {
    InstallSource::Registry { name: SERVER_NAME.to_owned(), version: None, target: None }
}

/// Adds a version of a bundle to the registry, which also serves its file. Returns the hash of the file.
pub(crate) fn add_bundle_to_registry(app: &TestApp, registry: &TestRegistry, version: &str, bundle: &Bundle) -> String {
    let path = bundle.write(&app.folder.path().join("listed.mcpb"));
    let bytes = fs::read(path).unwrap();
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    registry.files.lock().unwrap().insert(BUNDLE_PATH.to_owned(), bytes);
    registry
        .entries
        .lock()
        .unwrap()
        .insert(0, bundle_registry_entry(version, &registry.server.url(BUNDLE_PATH), &sha256));
    sha256
}

fn count_downloads(app: &TestApp) -> usize {
    fs::read_dir(app.folder.path().join("data/downloads")).map(Iterator::count).unwrap_or_default()
}

async fn download_error(app: &TestApp, installer: &Installer) -> DownloadError {
    match installer.offer(&registry_source(), CachePolicy::Now).await.unwrap_err() {
        InstallError::Download(error) => {
            assert_eq!(count_downloads(app), 0, "no download must remain");
            error
        }
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn listed_bundle_is_downloaded_once_and_installed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let sha256 = add_bundle_to_registry(&app, &registry, "1.2.3", &Bundle::small());
    let offer = installer.offer(&registry_source(), CachePolicy::Now).await.unwrap();
    assert_eq!(offer.origin.bundle().unwrap().bundle.archive.sha256(), sha256);
    assert!(bundle_folders(&app).is_empty(), "the bundle must not be unpacked yet");
    let request_count = |registry: &TestRegistry| {
        registry.server.received_requests().iter().filter(|request| request.path_without_query() == BUNDLE_PATH).count()
    };
    let draft = install_draft(offer.source, "demo", &[]);
    preview_and_install(&app, &installer, &draft).await.unwrap();
    assert_eq!(request_count(&registry), 1, "the bundle must be downloaded once");
    assert_eq!(count_downloads(&app), 0, "the download must be removed after the installation");
    let origin = app.server("demo").await.installed.unwrap().origin;
    let ServerOrigin::Registry { name, files: Some(files), .. } = origin else { panic!("{origin:?}") };
    assert_eq!((name.as_str(), files.sha256), (SERVER_NAME, sha256));
    assert_eq!(bundle_folders(&app), [files.folder]);
    installer.remove(&app.host, "demo").await.unwrap();
    assert!(bundle_folders(&app).is_empty());
}

#[tokio::test]
async fn bundle_that_differs_from_the_listed_hash_is_not_opened() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    add_bundle_to_registry(&app, &registry, "1.2.3", &Bundle::small());
    registry.files.lock().unwrap().insert(BUNDLE_PATH.to_owned(), b"another".to_vec());
    let error = download_error(&app, &installer).await;
    assert!(matches!(error, DownloadError::WrongHash { .. }), "{error}");
    registry.files.lock().unwrap().clear();
    let error = download_error(&app, &installer).await;
    assert!(matches!(error, DownloadError::Failed { status: 404, .. }), "{error}");
    registry.entries.lock().unwrap()[0]["server"]["packages"][0]["identifier"] = "https://10.0.0.1/demo.mcpb".into();
    let error = download_error(&app, &installer).await;
    assert!(matches!(error, DownloadError::Address { .. }), "{error}");
    assert!(server_names(&app).await.is_empty());
}

#[tokio::test]
async fn file_changed_after_the_download_is_downloaded_again() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let sha256 = add_bundle_to_registry(&app, &registry, "1.2.3", &Bundle::small());
    let offer = installer.offer(&registry_source(), CachePolicy::Now).await.unwrap();
    let path = offer.origin.bundle().unwrap().path.clone();
    let mut other = Bundle::small();
    other.manifest["description"] = "Adds other numbers".into();
    other.write(&path);
    let offer = installer.offer(&registry_source(), CachePolicy::Now).await.unwrap();
    assert_eq!(offer.origin.bundle().unwrap().bundle.archive.sha256(), sha256);
}
