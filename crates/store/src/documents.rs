//! Small documents, each one readable JSON file.

use std::path::PathBuf;

use host::ports::{Document, Documents, StoreError};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::files::{self, Existing};
use crate::lock::Lock;

/// A document is small; more is not read.
const LIMIT: u64 = 16 << 20;

/// The folder with the documents.
#[derive(Debug)]
pub(crate) struct DocumentFolder {
    path: PathBuf,
    lock: Lock,
}

impl DocumentFolder {
    pub(crate) fn new(path: PathBuf, lock: Lock) -> Self {
        Self { path, lock }
    }
}

impl Documents for DocumentFolder {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        let path = self.path.join(name.file_name());
        let Some(bytes) = files::read(&path, LIMIT)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError {
            path: path.display().to_string(),
            cause: format!("line {}: it is not JSON ({error}); mend it, or move it away to start anew", error.line()),
        })
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name.file_name());
        let aside = self.path.join(format!("{}.broken", name.file_name()));
        std::fs::rename(&path, &aside).map_err(|error| files::failed(&path, "move it out of the way", &error))?;
        Ok(aside)
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        let path = self.path.join(name.file_name());
        let mut text = format!("{value:#}");
        text.push('\n');
        files::write(&path, text.as_bytes(), Existing::Replace).map(|_| ())
    }

    fn watch(&self, name: Document, changed: mpsc::Sender<()>) {
        crate::watch::start(name.file_name(), self.path.join(name.file_name()), changed);
    }

    fn update(&self, name: Document, change: &mut dyn FnMut(Option<Value>) -> Value) -> Result<(), StoreError> {
        let _held = self.lock.hold()?;
        let value = change(self.read(name)?);
        self.write(name, &value)
    }
}
