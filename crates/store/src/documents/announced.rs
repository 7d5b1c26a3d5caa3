//! Sealed documents that the keychain knows of before they are in their place: each is written beside it first, so that neither an
//! older copy holds nor anything is lost, wherever the program is killed (`DocumentFolder` in `documents.rs`).

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use domain::StoreError;
use ports::Document;
use serde_json::Value;

use super::{DocumentFolder, LIMIT, parsed, unsealable};
use crate::files::{self, Existing};
use crate::sealed_document::{FileText, Judged};

/// How long the writing of a document waits for the keychain to know of it, with all that is taken back. The documents' lock is held
/// meanwhile, and other programs wait longer for that.
const MARK_PATIENCE: Duration = Duration::from_secs(2);

/// The content that is sealed where the first writing of a document failed: a copy of what was written does not hold then, and
/// nobody is told that somebody removed the file.
pub(super) const NEVER_WRITTEN: Value = Value::Null;

impl DocumentFolder {
    /// A document that the keychain knows of and that was not written any more, as the program was killed in between. The lock is held.
    pub(super) fn finish_writing(&self, name: Document) -> Result<Option<Value>, StoreError> {
        let next = self.next_place(name);
        let Some(bytes) = files::read(&next, LIMIT)? else { return Ok(None) };
        let Judged::Good(text) = self.sealer.judge(name, &bytes) else { return Ok(None) };
        let value = parsed(&next, text)?;
        if let Err(error) = files::replace_with(&self.place(name), &next, &bytes) {
            // The next start finds it beside its place again.
            tracing::warn!(%error, "a document stays beside its place");
        }
        Ok(Some(value))
    }

    /// Where a document lies until the keychain knows of it.
    pub(super) fn next_place(&self, name: Document) -> PathBuf {
        self.path.join(format!("{}.next", name.file_name()))
    }

    /// Removes what lies beside a document's place after a later one is in the place: the keychain may know of it as the latest.
    pub(super) fn discard_next(&self, name: Document) {
        let next = self.next_place(name);
        if let Err(error) = std::fs::remove_file(&next)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, path = %next.display(), "a file stays that is of no use any more");
        }
    }

    /// Writes a document that the keychain knows of before it is in its place. Returns the file as it was written.
    ///
    /// # Errors
    /// If it can't be written. The former content holds then, also after a restart, unless the error says otherwise.
    pub(super) fn write_announced(
        &self,
        name: Document,
        before: Option<&Value>,
        value: &Value,
        file: FileText,
    ) -> Result<FileText, StoreError> {
        let deadline = Instant::now() + MARK_PATIENCE;
        let file = self.announce(name, value, file, deadline)?;
        files::replace_with(&self.place(name), &self.next_place(name), file.text.as_bytes())
            .map_err(|error| self.take_back(name, before, error, deadline))?;
        Ok(file)
    }

    /// Writes a document beside its place and has the keychain know of it: from then on it holds, also if the program is killed
    /// before it is moved to its place.
    ///
    /// The keychain may know of a later file that another program wrote and that is gone. The document then gets a higher number.
    fn announce(
        &self,
        name: Document,
        value: &Value,
        file: FileText,
        deadline: Instant,
    ) -> Result<FileText, StoreError> {
        self.announce_once(name, &file, deadline)?;
        if !file.number.is_some_and(|number| self.sealer.is_superseded(name, number)) {
            return Ok(file);
        }
        let later = self.sealed(name, value)?;
        self.announce_once(name, &later, deadline)?;
        Ok(later)
    }

    fn announce_once(&self, name: Document, file: &FileText, deadline: Instant) -> Result<(), StoreError> {
        let number = file.number.ok_or_else(|| unsealable(&self.place(name), "the key is gone"))?;
        // The disk has it before the keychain, so that nothing is lost in between.
        files::write(&self.next_place(name), file.text.as_bytes(), Existing::Replace)?;
        self.sealer.announce(name, number, deadline);
        Ok(())
    }

    /// Has the former content hold after a restart in place of what was announced and could not be moved to its place.
    fn take_back(&self, name: Document, before: Option<&Value>, failed: StoreError, deadline: Instant) -> StoreError {
        let former = before.unwrap_or(&NEVER_WRITTEN);
        match self.sealed(name, former).and_then(|file| self.announce(name, former, file, deadline)) {
            Ok(_) => failed,
            Err(error) => StoreError {
                cause: format!(
                    "{}; the change may hold after a restart all the same, as it could not be taken back: {error}",
                    failed.cause
                ),
                ..failed
            },
        }
    }
}
