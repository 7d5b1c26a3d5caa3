//! Small documents, each one readable JSON file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host::ports::{Document, DocumentSeal, Documents, RefusedDocument, StoreError};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::files::{self, Existing};
use crate::lock::Lock;
use crate::sealed_document::{DocumentSealer, Judged, SEALED};

/// A document is small; more is not read.
const LIMIT: u64 = 16 << 20;
/// How long a document that is to be sealed waits for the keychain.
const PATIENCE: Duration = Duration::from_secs(2);

/// The folder with the documents.
pub(crate) struct DocumentFolder {
    path: PathBuf,
    lock: Lock,
    sealer: Arc<DocumentSealer>,
    refused: Mutex<BTreeMap<&'static str, RefusedDocument>>,
}

impl DocumentFolder {
    pub(crate) fn new(path: PathBuf, lock: Lock, sealer: Arc<DocumentSealer>) -> Self {
        let (folder, held) = (path.clone(), lock.clone());
        sealer.adopt_with(move |text| {
            let adopt = |name: &Document| {
                let path = folder.join(name.file_name());
                let _held = held.hold().ok()?;
                let text = text(*name, &files::read(&path, LIMIT).ok()??)?;
                files::write(&path, text.as_bytes(), Existing::Replace).ok().map(|_| *name)
            };
            SEALED.iter().filter_map(adopt).collect()
        });
        let folder = path.clone();
        sealer.find_seals_with(move || {
            let is_sealed = |name: &Document| {
                let bytes = files::read(&folder.join(name.file_name()), LIMIT);
                bytes.ok().flatten().is_some_and(|bytes| DocumentSealer::has_seal(&bytes))
            };
            SEALED.iter().any(is_sealed) || crate::audit::is_sealed(&folder)
        });
        Self { path, lock, sealer, refused: Mutex::default() }
    }

    fn place(&self, name: Document) -> PathBuf {
        self.path.join(name.file_name())
    }

    /// Reads a document. One that another program wrote, where it may not, is moved out of the way; the lock is held for that,
    /// unless it is held already.
    fn read_checked(&self, name: Document, is_held: bool) -> Result<Option<Value>, StoreError> {
        let path = self.place(name);
        let Some(bytes) = files::read(&path, LIMIT)? else { return Ok(None) };
        if !SEALED.contains(&name) {
            return parsed(&path, &bytes).map(Some);
        }
        let cause = match self.sealer.judge(name, &bytes) {
            Judged::Good(text) => return parsed(&path, text).map(Some),
            Judged::Withheld(cause) => {
                self.refuse(name, RefusedDocument { cause, forged: false, moved_to: None });
                return Ok(None);
            }
            Judged::Forged(_) if !is_held => {
                // It may have been written meanwhile, after an older one was read.
                let _held = self.lock.hold()?;
                return self.read_checked(name, true);
            }
            Judged::Forged(cause) => cause,
        };
        let moved_to = self.set_aside(name)?;
        self.refuse(name, RefusedDocument { cause: cause.to_owned(), forged: true, moved_to: Some(moved_to) });
        Ok(None)
    }

    fn refuse(&self, name: Document, refused: RefusedDocument) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(name.file_name(), refused);
    }

    /// Writes a document; the lock is held.
    fn write_held(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        let path = self.place(name);
        if !SEALED.contains(&name) {
            return files::write(&path, format!("{value:#}\n").as_bytes(), Existing::Replace).map(|_| ());
        }
        let unsealable = |cause: String| StoreError {
            path: path.display().to_string(),
            cause: format!("it can't be sealed, so it was not written: {cause}"),
        };
        let text = self.sealer.text(name, value).map_err(unsealable)?;
        files::write(&path, text.as_bytes(), Existing::Replace)?;
        self.sealer.wrote(name);
        Ok(())
    }
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Value, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError {
        path: path.display().to_string(),
        cause: format!("line {}: it is not JSON ({error}); mend it, or move it away to start anew", error.line()),
    })
}

impl Documents for DocumentFolder {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        if SEALED.contains(&name) && !self.sealer.was_asked() {
            self.sealer.wait(PATIENCE);
        }
        self.read_checked(name, false)
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        let path = self.place(name);
        let aside = self.path.join(format!("{}.broken", name.file_name()));
        std::fs::rename(&path, &aside).map_err(|error| files::failed(&path, "move it out of the way", &error))?;
        Ok(aside)
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        self.update(name, &mut |_| value.clone())
    }

    fn watch(&self, name: Document, changed: mpsc::Sender<()>) {
        if SEALED.contains(&name) {
            self.sealer.tell(changed.clone());
        }
        crate::watch::start(name.file_name(), self.place(name), changed);
    }

    fn update(&self, name: Document, change: &mut dyn FnMut(Option<Value>) -> Value) -> Result<(), StoreError> {
        if SEALED.contains(&name) && self.sealer.seal() == DocumentSeal::Waiting {
            self.sealer.wait(PATIENCE);
        }
        let _held = self.lock.hold()?;
        let value = change(self.read_checked(name, true)?);
        self.write_held(name, &value)
    }

    fn settle(&self, patience: Duration) {
        self.sealer.wait(patience);
    }

    fn seal(&self) -> DocumentSeal {
        self.sealer.seal()
    }

    fn adopted(&self) -> Option<Vec<String>> {
        self.sealer.adopted()
    }

    fn refused(&self, name: Document) -> Option<RefusedDocument> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(name.file_name())
    }
}
