//! Installing from a registry on loopback and from bundles, on a real host over a temporary folder.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod bundles;
mod registries;

use std::collections::BTreeMap;
use std::sync::Arc;

use installer::{InstallDraft, InstallSource, Installer, open_catalog};
use store::CacheFolder;
use testkit::app::App;
use testkit::registry::TestRegistry;

/// An installer over the folder of an app, on this registry.
fn installer(app: &App, registry: &TestRegistry) -> Installer {
    let (address, kept) = (registry.server.url(""), app.folder.path().join("kept"));
    Installer::new(app.folder.path().join("data"), move || {
        open_catalog(Some(&address), Arc::new(CacheFolder::open(&kept)?))
    })
}

/// A draft with these values and without a sandbox.
fn draft(source: InstallSource, name: &str, values: &[(&str, &str)]) -> InstallDraft {
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), vec![(*value).to_owned()]));
    InstallDraft { source, name: name.to_owned(), values: values.collect::<BTreeMap<_, _>>(), sandbox: None }
}

/// The names of the servers that are set up.
async fn servers(app: &App) -> Vec<String> {
    app.host.snapshot().await.unwrap().servers.into_iter().map(|server| server.name).collect()
}
