//! Tests of two processes that install and remove the same bundle in one data folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use host::{Host, HostOptions};
use installer::{InstallDraft, InstallSource, Installer, RegistryChoice, open_registry_catalog};
use registry::CachePolicy;
use store::CacheFolder;
use testkit::app::TestPlatform;
use testkit::bundle_file::Bundle;

/// Environment variable with the data folder for the second process, which is another run of this test program.
const SHARED_FOLDER_VARIABLE: &str = "DRAWBRIDGE_TEST_FOLDER";
const INSTALL_ROUNDS: usize = 12;

/// Repeatedly installs a bundle, verifies its files and removes it. The server remains after the last round.
async fn install_and_remove_repeatedly(folder: &Path, name: &str) {
    let (config, data) = (folder.join("mcp.json"), folder.join("data"));
    let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
    let ports = store::open_with(&config, &data, Arc::new(TestPlatform::default()), secrets).unwrap();
    let host = Host::start(ports, HostOptions::default()).await;
    let cache_folder = folder.join(format!("kept-{name}"));
    let installer = Installer::new(data, RegistryChoice::Official, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    });
    let source = InstallSource::Bundle { path: folder.join("demo.mcpb"), sha256: None };
    let draft =
        InstallDraft { source, name: name.to_owned(), values: Default::default(), sandbox: None, upgrades: None };
    for round in 0..INSTALL_ROUNDS {
        let shown = installer.preview(&host, &draft, CachePolicy::Usual).await.unwrap().hash;
        installer.install(&host, &draft, shown.as_str()).await.unwrap();
        let server = host.snapshot().await.unwrap().servers.into_iter().find(|server| server.name == name);
        let origin = server.unwrap().installed.unwrap().origin;
        let files = origin.files().unwrap();
        let root = installer.bundles_folder().await.unwrap();
        bundles::verify_folder(&root.join(&files.folder), &files.tree)
            .unwrap_or_else(|change| panic!("{name} in round {round}: {change}"));
        if round + 1 < INSTALL_ROUNDS {
            installer.remove(&host, name).await.unwrap();
        }
    }
    host.close().await;
}

#[tokio::test]
async fn child_process_that_installs_and_removes() {
    if let Some(folder) = std::env::var_os(SHARED_FOLDER_VARIABLE) {
        install_and_remove_repeatedly(&PathBuf::from(folder), "other").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::disallowed_methods, reason = "starts this test once more, not a server")]
async fn two_processes_do_not_remove_each_others_bundle() {
    let folder = tempfile::tempdir().unwrap();
    Bundle::small().write(&folder.path().join("demo.mcpb"));
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child_process_that_installs_and_removes"])
        .env(SHARED_FOLDER_VARIABLE, folder.path())
        .spawn()
        .unwrap();
    install_and_remove_repeatedly(folder.path(), "own").await;
    let ended = tokio::task::spawn_blocking(move || other.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "{ended}");
    let settings = std::fs::read_to_string(folder.path().join("mcp.json")).unwrap();
    assert!(settings.contains("\"own\"") && settings.contains("\"other\""), "{settings}");
}
