//! A store in a temporary folder.

pub(crate) mod keychain;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::{Platform, Ports};
use tempfile::TempDir;

/// The opened store, with its temporary folder.
pub(crate) struct TestStore {
    pub(crate) folder: TempDir,
    pub(crate) ports: Ports,
}

impl TestStore {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let ports = open_store(folder.path());
        Self { folder, ports }
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("config").join("mcp.json")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

/// Opens the store of a folder in another instance.
pub(crate) fn open_store(folder: &Path) -> Ports {
    store::open(&folder.join("config").join("mcp.json"), &folder.join("data"), Arc::new(NoPlatform))
        .expect("the store opens")
}

struct NoPlatform;

#[async_trait::async_trait]
impl Platform for NoPlatform {
    async fn open_url(&self, _url: &str) -> Result<(), String> {
        Err(String::from("there is no browser"))
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_save_file(&self, _name: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn announce(&self, _server: &str, _kind: &str, _request: Option<domain::consent_request::ConsentRequestId>) {}
}
