//! Tests of installations from a local registry and from bundles, with a real host on a temporary folder.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod bundles;
mod downloads;
mod forged;
#[cfg(unix)]
mod kills;
mod processes;
mod registries;
mod registry_choice;
mod upgrades;

use std::collections::BTreeMap;
use std::sync::Arc;

use installer::{InstallDraft, InstallError, InstallSource, Installer, RegistryChoice, open_registry_catalog};
use registry::CachePolicy;
use store::CacheFolder;
use testkit::app::TestApp;
use testkit::registry::TestRegistry;

/// Creates an installer for the data folder of an app, with this registry.
fn test_installer(app: &TestApp, registry: &TestRegistry) -> Installer {
    let (registry, cache_folder) = (RegistryChoice::Named(registry.server.url("")), app.folder.path().join("kept"));
    Installer::new(app.folder.path().join("data"), registry, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    })
}

/// Previews a draft, and installs it with the hash of the preview.
async fn preview_and_install(app: &TestApp, installer: &Installer, draft: &InstallDraft) -> Result<(), InstallError> {
    let shown = installer.preview(&app.host, draft, CachePolicy::Usual).await?.hash;
    installer.install(&app.host, draft, shown.as_str()).await.map(drop)
}

/// Returns the names of the folders in the folder of bundles, including temporary ones.
fn bundle_folders(app: &TestApp) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(app.folder.path().join("data/bundles")) else { return Vec::new() };
    let folders = entries.map(Result::unwrap).filter(|entry| entry.path().is_dir());
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Returns a draft with these values of the user and without a sandbox.
fn install_draft(source: InstallSource, name: &str, values: &[(&str, &str)]) -> InstallDraft {
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), vec![(*value).to_owned()]));
    InstallDraft {
        source,
        name: name.to_owned(),
        values: values.collect::<BTreeMap<_, _>>(),
        sandbox: None,
        upgrades: None,
    }
}

/// Returns the names of the servers in the settings.
async fn server_names(app: &TestApp) -> Vec<String> {
    app.host.snapshot().await.unwrap().servers.into_iter().map(|server| server.name).collect()
}
