//! Small JSON documents in the data folder, such as rules and grants. Each is in a file that users can read.

mod pending_writes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::StoreError;
use ports::{Document, DocumentMacState, DocumentRefusal, Documents, RefusedDocument};
use serde_json::Value;
use tokio::sync::mpsc;

use pending_writes::VALUE_AFTER_FAILED_FIRST_WRITE;

use crate::document_mac::{
    AUTHENTICATED_DOCUMENTS, DocumentAuthenticator, DocumentText, MacVerdict, OLDER_COPY_REASON,
};
use crate::files::{self, ExistingFileAction};
use crate::folder_lock::FolderLock;

/// Maximum size of a JSON document's file, in bytes.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;
/// Maximum time that reading or writing a document with a MAC waits for the MAC's key from the keychain.
const KEYCHAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Minimum interval between two updates of the keychain for changes that affect only usage counts (`sampling.json`).
/// Each model response changes these counts.
const USAGE_COUNT_KEYCHAIN_UPDATE_INTERVAL: Duration = Duration::from_secs(30);
/// Name of the JSON member with the usage counts in each server's object in `sampling.json`. All other members are user
/// settings.
const USAGE_COUNTS_MEMBER: &str = "spent";

/// The data folder with its JSON documents. Implements [`Documents`].
pub(crate) struct DocumentFolder {
    path: PathBuf,
    lock: FolderLock,
    authenticator: Arc<DocumentAuthenticator>,
    refused: Mutex<BTreeMap<&'static str, RefusedDocument>>,
    /// File names of documents whose removal by another program was reported already, so that it is not reported again.
    reported_missing: Mutex<BTreeSet<&'static str>>,
    /// Time at which the keychain was last updated because of changed usage counts in `sampling.json`.
    last_usage_count_mark: Mutex<Option<Instant>>,
}

/// The content of a document file after its MAC was checked.
enum MacCheckedDocument {
    Nothing,
    Document(Value),
    /// The document can't be used at present, because its MAC can't be checked. Contains the reason.
    Withheld(String),
}

impl MacCheckedDocument {
    /// Returns `Nothing` for [`VALUE_AFTER_FAILED_FIRST_WRITE`], and otherwise the value as the document's content.
    fn from_value(value: Value) -> Self {
        if value == VALUE_AFTER_FAILED_FIRST_WRITE { Self::Nothing } else { Self::Document(value) }
    }
}

impl DocumentFolder {
    pub(crate) fn new(path: PathBuf, lock: FolderLock, authenticator: Arc<DocumentAuthenticator>) -> Self {
        let (folder, held) = (path.clone(), lock.clone());
        authenticator.set_existing_documents_upgrade(move |text| {
            let upgrade = |name: &Document| {
                let path = folder.join(name.file_name());
                let _held = held.acquire().ok()?;
                let text = text(*name, &files::read(&path, MAX_DOCUMENT_BYTES).ok()??)?;
                files::write(&path, text.as_bytes(), ExistingFileAction::Replace).ok().map(|_| *name)
            };
            AUTHENTICATED_DOCUMENTS.iter().filter_map(upgrade).collect()
        });
        let folder = path.clone();
        authenticator.set_mac_finder(move || {
            let has_mac = |name: &Document| {
                let bytes = files::read(&folder.join(name.file_name()), MAX_DOCUMENT_BYTES);
                bytes.ok().flatten().is_some_and(|bytes| DocumentAuthenticator::has_mac(&bytes))
            };
            AUTHENTICATED_DOCUMENTS.iter().any(has_mac) || crate::audit::is_log_sealed(&folder)
        });
        Self {
            path,
            lock,
            authenticator,
            refused: Mutex::default(),
            reported_missing: Mutex::default(),
            last_usage_count_mark: Mutex::default(),
        }
    }

    fn document_path(&self, name: Document) -> PathBuf {
        self.path.join(name.file_name())
    }

    /// Reads a document. If its MAC shows that another program wrote the file, the file is renamed and the document
    /// counts as missing. The folder lock is acquired before renaming, unless `is_lock_held` is set because the caller
    /// holds the lock.
    fn read_checked(&self, name: Document, is_lock_held: bool) -> Result<MacCheckedDocument, StoreError> {
        let path = self.document_path(name);
        let Some(bytes) = files::read(&path, MAX_DOCUMENT_BYTES)? else {
            return self.read_missing_document(name, is_lock_held);
        };
        self.lock_reported_missing().remove(name.file_name());
        if !AUTHENTICATED_DOCUMENTS.contains(&name) {
            return parse_document(&path, &bytes).map(MacCheckedDocument::from_value);
        }
        let cause = match self.authenticator.verify_document(name, &bytes) {
            MacVerdict::Good(text) => return parse_document(&path, text).map(MacCheckedDocument::from_value),
            MacVerdict::Withheld(cause) => {
                self.record_refusal(
                    name,
                    RefusedDocument { cause: cause.clone(), why: DocumentRefusal::Unchecked, moved_to: None },
                );
                return Ok(MacCheckedDocument::Withheld(cause));
            }
            MacVerdict::Forged(_) if !is_lock_held => {
                // The document may have been rewritten since it was read.
                let _held = self.lock.acquire()?;
                return self.read_checked(name, true);
            }
            MacVerdict::Forged(OLDER_COPY_REASON) => match self.finish_writing(name)? {
                Some(value) => return Ok(MacCheckedDocument::from_value(value)),
                None => OLDER_COPY_REASON,
            },
            MacVerdict::Forged(cause) => cause,
        };
        let moved_to = self.set_aside(name)?;
        let refused =
            RefusedDocument { cause: cause.to_owned(), why: DocumentRefusal::Forged, moved_to: Some(moved_to) };
        self.record_refusal(name, refused);
        Ok(MacCheckedDocument::Nothing)
    }

    /// Reads a document whose file does not exist. If a process was killed while it wrote the document for the first
    /// time, completes that write and returns the document. Otherwise the document counts as missing.
    fn read_missing_document(&self, name: Document, is_lock_held: bool) -> Result<MacCheckedDocument, StoreError> {
        if AUTHENTICATED_DOCUMENTS.contains(&name)
            && self.authenticator.was_written(name)
            && self.pending_file_path(name).exists()
        {
            if !is_lock_held {
                let _held = self.lock.acquire()?;
                return self.read_checked(name, true);
            }
            if let Some(value) = self.finish_writing(name)? {
                return Ok(MacCheckedDocument::from_value(value));
            }
        }
        self.report_removed_document(name);
        Ok(MacCheckedDocument::Nothing)
    }

    fn lock_reported_missing(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.reported_missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records, for the host to report, that another program removed a document's file, if Drawbridge wrote that file
    /// before.
    fn report_removed_document(&self, name: Document) {
        if AUTHENTICATED_DOCUMENTS.contains(&name)
            && self.authenticator.was_written(name)
            && self.lock_reported_missing().insert(name.file_name())
        {
            let cause = "it was removed".to_owned();
            self.record_refusal(name, RefusedDocument { cause, why: DocumentRefusal::Removed, moved_to: None });
        }
    }

    fn record_refusal(&self, name: Document, refused: RefusedDocument) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).insert(name.file_name(), refused);
    }

    /// Writes a document, whose present content is `before`. The caller must hold the folder lock. If
    /// `updates_keychain` is set, the new sequence number of a document with a MAC is stored in the keychain before the
    /// file is written, so that an older copy of the file is refused from then on.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the document can't get its MAC or can't be written. The former content stays valid,
    /// unless the error message says otherwise.
    fn write_locked(
        &self,
        name: Document,
        before: Option<&Value>,
        value: &Value,
        updates_keychain: bool,
    ) -> Result<(), StoreError> {
        let path = self.document_path(name);
        if !AUTHENTICATED_DOCUMENTS.contains(&name) {
            return files::write(&path, format!("{value:#}\n").as_bytes(), ExistingFileAction::Replace).map(|_| ());
        }
        let mut file = self.text_with_mac(name, value)?;
        if updates_keychain && file.number.is_some() {
            file = self.write_through_pending_file(name, before, value, file)?;
        } else {
            files::write(&path, file.text.as_bytes(), ExistingFileAction::Replace)?;
            self.discard_pending_file(name);
        }
        if let Some(number) = file.number {
            self.authenticator.record_written_number(name, number);
        }
        Ok(())
    }

    /// Returns the text of the document's file with a MAC. Its sequence number is above that of the document's
    /// pending file, because the keychain may already contain that number. The caller must hold the folder lock.
    fn text_with_mac(&self, name: Document, value: &Value) -> Result<DocumentText, StoreError> {
        // An unreadable pending file is ignored, because it is replaced.
        let beside = files::read(&self.pending_file_path(name), MAX_DOCUMENT_BYTES).ok().flatten();
        let text = self.authenticator.text_with_mac(name, value, beside.as_deref());
        text.map_err(|cause| missing_mac_error(&self.document_path(name), &cause))
    }

    /// Returns `true` if the keychain must be updated for this change of a document with a MAC. If only usage counts
    /// changed, that is necessary only if the last update for such a change is at least
    /// [`USAGE_COUNT_KEYCHAIN_UPDATE_INTERVAL`] ago, or there was none.
    fn requires_keychain_update(&self, name: Document, before: Option<&Value>, after: &Value) -> bool {
        if name != Document::Sampling {
            return true;
        }
        let is_due =
            self.lock_last_usage_count_update().is_none_or(|at| at.elapsed() >= USAGE_COUNT_KEYCHAIN_UPDATE_INTERVAL);
        is_due || before.map(without_usage_counts) != Some(without_usage_counts(after))
    }

    fn lock_last_usage_count_update(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last_usage_count_mark.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the content of `sampling.json` without its usage counts.
fn without_usage_counts(sampling: &Value) -> Value {
    let mut set = sampling.clone();
    for entry in set.as_object_mut().into_iter().flat_map(|servers| servers.values_mut()) {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove(USAGE_COUNTS_MEMBER);
        }
    }
    set
}

fn missing_mac_error(path: &Path, cause: &str) -> StoreError {
    StoreError {
        path: path.display().to_string(),
        cause: format!("it can't be sealed, so it was not written: {cause}"),
    }
}

fn parse_document(path: &Path, bytes: &[u8]) -> Result<Value, StoreError> {
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
        if AUTHENTICATED_DOCUMENTS.contains(&name) && !self.authenticator.was_key_requested() {
            self.authenticator.request_key_and_wait(KEYCHAIN_TIMEOUT);
        }
        Ok(match self.read_checked(name, false)? {
            MacCheckedDocument::Document(value) => Some(value),
            MacCheckedDocument::Nothing | MacCheckedDocument::Withheld(_) => None,
        })
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        let path = self.document_path(name);
        let aside = self.path.join(format!("{}.broken", name.file_name()));
        std::fs::rename(&path, &aside).map_err(|error| files::file_error(&path, "move it out of the way", &error))?;
        // The file was renamed here, not removed by another program.
        self.lock_reported_missing().insert(name.file_name());
        Ok(aside)
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        self.update(name, &mut |_| value.clone())
    }

    fn watch(&self, name: Document, changed: mpsc::Sender<()>) {
        if AUTHENTICATED_DOCUMENTS.contains(&name) {
            self.authenticator.notify_when_resolved(changed.clone());
        }
        crate::file_watch::watch_file(self.document_path(name), changed);
    }

    fn update(&self, name: Document, change: &mut dyn FnMut(Option<Value>) -> Value) -> Result<(), StoreError> {
        if AUTHENTICATED_DOCUMENTS.contains(&name) && self.authenticator.mac_state() == DocumentMacState::Waiting {
            self.authenticator.request_key_and_wait(KEYCHAIN_TIMEOUT);
        }
        // Usage counts are written without a user action, so they must not cause a keychain prompt.
        if AUTHENTICATED_DOCUMENTS.contains(&name) && name != Document::Sampling {
            self.authenticator.request_key_for_user();
        }
        let _held = self.lock.acquire()?;
        let before = match self.read_checked(name, true)? {
            MacCheckedDocument::Document(value) => Some(value),
            MacCheckedDocument::Nothing => None,
            // The key may become available soon, and the change would replace the whole content.
            MacCheckedDocument::Withheld(cause) => return Err(missing_mac_error(&self.document_path(name), &cause)),
        };
        let value = change(before.clone());
        let updates_keychain = self.requires_keychain_update(name, before.as_ref(), &value);
        self.write_locked(name, before.as_ref(), &value, updates_keychain)?;
        if updates_keychain && name == Document::Sampling {
            *self.lock_last_usage_count_update() = Some(Instant::now());
        }
        Ok(())
    }

    fn request_mac_key(&self, patience: Duration) {
        self.authenticator.request_key_and_wait(patience);
    }

    fn mac_state(&self) -> DocumentMacState {
        self.authenticator.mac_state()
    }

    fn take_newly_authenticated(&self) -> Option<Vec<String>> {
        self.authenticator.take_newly_authenticated()
    }

    fn take_refusal(&self, name: Document) -> Option<RefusedDocument> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).remove(name.file_name())
    }
}
