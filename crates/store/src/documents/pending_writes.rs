//! Writes of documents with a MAC that store the new sequence number in the keychain first. Each document is first
//! written to a pending file next to its final path, so that an older copy is refused and nothing is lost, wherever the
//! process is killed (`DocumentFolder` in `documents.rs`).

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::StoreError;
use ports::Document;
use serde_json::Value;

use super::{DocumentFolder, MAX_DOCUMENT_BYTES, missing_mac_error, parse_document};
use crate::document_mac::{DocumentText, MacVerdict};
use crate::files::{self, ExistingFileAction};

/// Maximum time that writing a document, including a rollback, waits for the keychain. The folder lock is held
/// meanwhile, and other processes wait longer than this for it.
const KEYCHAIN_MARK_TIMEOUT: Duration = Duration::from_secs(2);

/// Content that is written with a MAC in place of a document whose first write has failed. A copy of the failed content
/// is then refused, and the missing file is not reported as removed.
pub(super) const VALUE_AFTER_FAILED_FIRST_WRITE: Value = Value::Null;

impl DocumentFolder {
    /// Completes the write of a process that was killed after it had updated the keychain and before it moved the
    /// pending file to the document's path. Returns the document that is then valid. The caller must hold the folder
    /// lock.
    pub(super) fn finish_writing(&self, name: Document) -> Result<Option<Value>, StoreError> {
        let next = self.pending_file_path(name);
        let Some(bytes) = files::read(&next, MAX_DOCUMENT_BYTES)? else { return Ok(None) };
        let MacVerdict::Good(text) = self.authenticator.verify_document(name, &bytes) else { return Ok(None) };
        let value = parse_document(&next, text)?;
        if let Err(error) = files::replace_with_file(&self.document_path(name), &next, &bytes) {
            // The next start will find the pending file and try again.
            tracing::warn!(%error, "a pending document could not be moved to its path");
        }
        Ok(Some(value))
    }

    /// Returns the path of a document's pending file, to which its new content is written before the keychain is
    /// updated.
    pub(super) fn pending_file_path(&self, name: Document) -> PathBuf {
        self.path.join(format!("{}.next", name.file_name()))
    }

    /// Deletes the pending file of a document, which is outdated after a later version was written. Otherwise
    /// [`Self::finish_writing`] could restore its content, because the keychain may contain its sequence number as the
    /// latest.
    pub(super) fn discard_pending_file(&self, name: Document) {
        let next = self.pending_file_path(name);
        if let Err(error) = std::fs::remove_file(&next)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %next.display(), "an obsolete file could not be removed");
        }
    }

    /// Writes a document after storing its sequence number in the keychain. Returns the text that was written.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the document can't be written. The former content stays valid, also after a restart,
    /// unless the error message says otherwise.
    pub(super) fn write_through_pending_file(
        &self,
        name: Document,
        before: Option<&Value>,
        value: &Value,
        file: DocumentText,
    ) -> Result<DocumentText, StoreError> {
        let deadline = Instant::now() + KEYCHAIN_MARK_TIMEOUT;
        let file = self.write_pending_file_and_number(name, value, file, deadline)?;
        files::replace_with_file(&self.document_path(name), &self.pending_file_path(name), file.text.as_bytes())
            .map_err(|error| self.roll_back_failed_write(name, before, error, deadline))?;
        Ok(file)
    }

    /// Writes a document to its pending file, and stores its sequence number in the keychain. From then on the new
    /// content is valid, even if the process is killed before the pending file is moved.
    ///
    /// If the keychain contains a higher sequence number, of a file that another process wrote and that no longer
    /// exists, the document gets a new MAC with a number above that.
    fn write_pending_file_and_number(
        &self,
        name: Document,
        value: &Value,
        file: DocumentText,
        deadline: Instant,
    ) -> Result<DocumentText, StoreError> {
        self.try_write_pending_file_and_number(name, &file, deadline)?;
        if !file.number.is_some_and(|number| self.authenticator.is_superseded(name, number)) {
            return Ok(file);
        }
        let later = self.text_with_mac(name, value)?;
        self.try_write_pending_file_and_number(name, &later, deadline)?;
        Ok(later)
    }

    fn try_write_pending_file_and_number(
        &self,
        name: Document,
        file: &DocumentText,
        deadline: Instant,
    ) -> Result<(), StoreError> {
        let number = file.number.ok_or_else(|| missing_mac_error(&self.document_path(name), "the key is gone"))?;
        // The pending file is on disk before the keychain is updated, so that nothing is lost in between.
        files::write(&self.pending_file_path(name), file.text.as_bytes(), ExistingFileAction::Replace)?;
        self.authenticator.store_number_before_write(name, number, deadline);
        Ok(())
    }

    /// Makes the former content of a document (`before`) valid again, also after a restart, because the pending file
    /// could not be moved to the document's path. Returns the error to report.
    fn roll_back_failed_write(
        &self,
        name: Document,
        before: Option<&Value>,
        failed: StoreError,
        deadline: Instant,
    ) -> StoreError {
        let former = before.unwrap_or(&VALUE_AFTER_FAILED_FIRST_WRITE);
        match self
            .text_with_mac(name, former)
            .and_then(|file| self.write_pending_file_and_number(name, former, file, deadline))
        {
            Ok(_) => failed,
            Err(error) => StoreError {
                cause: format!(
                    "{}; the change may still apply after a restart, because it could not be undone: {error}",
                    failed.cause
                ),
                ..failed
            },
        }
    }
}
