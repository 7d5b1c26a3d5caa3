//! Reads and writes of documents in progress, and access to entries of documents. Used by `document_writer.rs`, and by
//! `host/src/owner/document_writer.rs`, which defines when a change takes effect.

use std::collections::{BTreeMap, BTreeSet};

use domain::StoreError;
use ports::Document;
use serde_json::{Map, Value};

/// Content of a stored JSON document, such as `grants.json` (`None` if it doesn't exist), or the error of reading it.
pub type DocumentReadResult = Result<Option<Value>, StoreError>;

/// Reads and writes of stored JSON documents, such as `grants.json`, that are in progress.
#[derive(Debug, Default)]
pub struct DocumentIoState {
    /// Number of unfinished writes of each document, by file name.
    pending: BTreeMap<&'static str, usize>,
    /// File names of documents that are being read.
    reading: BTreeSet<&'static str>,
    /// File names of documents that another process changed while a read or write was in progress.
    stale: BTreeSet<&'static str>,
}

impl DocumentIoState {
    /// Returns `true` if writes of this document are unfinished, so that its file is outdated.
    pub fn has_pending_writes(&self, document: Document) -> bool {
        self.pending.contains_key(document.file_name())
    }

    /// Records that a write of the document was submitted.
    pub fn begin_write(&mut self, document: Document) {
        *self.pending.entry(document.file_name()).or_default() += 1;
    }

    /// Records that a write of the document has finished.
    pub fn end_write(&mut self, document: Document) {
        let name = document.file_name();
        if let Some(pending) = self.pending.get_mut(name) {
            *pending -= 1;
            if *pending == 0 {
                self.pending.remove(name);
            }
        }
    }

    /// Begins to read a document that another process changed. Returns `true` if the caller should read the document
    /// immediately, and `false` if operations are in progress. The document is then marked to be read after them.
    pub fn begin_read(&mut self, document: Document) -> bool {
        let name = document.file_name();
        if self.has_pending_writes(document) || self.reading.contains(name) {
            self.stale.insert(name);
            return false;
        }
        self.reading.insert(name)
    }

    /// Records that a read of the document has finished or could not be started.
    pub fn end_read(&mut self, document: Document) {
        self.reading.remove(document.file_name());
    }

    /// Returns `true` if the content that was just read is current, since no write of the document is unfinished.
    /// Otherwise the document is marked to be read again after these writes.
    pub fn is_read_content_current(&mut self, document: Document) -> bool {
        let is_older = self.has_pending_writes(document);
        if is_older {
            self.stale.insert(document.file_name());
        }
        !is_older
    }

    /// Returns `true` if the document changed during earlier operations and should be read again now, and clears that
    /// mark.
    pub fn take_pending_reread(&mut self, document: Document) -> bool {
        !self.has_pending_writes(document) && self.stale.remove(document.file_name())
    }
}

/// Returns the entries of a stored document that has one entry per server. Empty if the content is not an object.
pub fn entries_by_server(stored: Option<Value>) -> Map<String, Value> {
    // Matching avoids `from_value`, which would clone every value.
    match stored {
        Some(Value::Object(entries)) => entries,
        _ => Map::new(),
    }
}

/// Returns the content of a stored document with the entry of one server replaced, or removed if `value` is `None`.
pub fn with_server_entry(stored: Option<Value>, server: &str, value: Option<&Value>) -> Value {
    let mut entries = entries_by_server(stored);
    match value {
        Some(value) => {
            entries.insert(server.to_owned(), value.clone());
        }
        None => {
            entries.shift_remove(server);
        }
    }
    entries.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stale_document_does_not_undo_changes_of_this_process() {
        let mut progress = DocumentIoState::default();
        progress.begin_write(Document::Pins);
        progress.begin_write(Document::Pins);
        assert!(!progress.begin_read(Document::Pins), "a document with pending writes is not read");
        progress.end_write(Document::Pins);
        assert!(!progress.take_pending_reread(Document::Pins), "another write is pending");
        progress.end_write(Document::Pins);
        assert!(progress.take_pending_reread(Document::Pins), "the document is read after the last write");
        assert!(!progress.take_pending_reread(Document::Pins), "once");
        assert!(progress.begin_read(Document::Roots), "other documents are read immediately");
    }

    #[test]
    fn document_change_during_a_read_causes_another_read() {
        let mut progress = DocumentIoState::default();
        assert!(progress.begin_read(Document::Flow));
        assert!(!progress.begin_read(Document::Flow), "a second read doesn't start during the first");
        progress.end_read(Document::Flow);
        assert!(progress.is_read_content_current(Document::Flow), "the content is the newest without pending writes");
        assert!(progress.take_pending_reread(Document::Flow), "a change during the read causes another read");
    }

    #[test]
    fn document_read_before_a_change_of_this_process_is_read_again() {
        let mut progress = DocumentIoState::default();
        assert!(progress.begin_read(Document::Flow));
        progress.begin_write(Document::Flow);
        progress.end_read(Document::Flow);
        assert!(!progress.is_read_content_current(Document::Flow), "the content is older than the pending write");
        progress.end_write(Document::Flow);
        assert!(progress.take_pending_reread(Document::Flow), "the document is read again after the write");
    }

    #[test]
    fn changing_one_entry_keeps_the_others() {
        let stored = json!({ "a": 1, "b": 2 });
        assert_eq!(with_server_entry(Some(stored.clone()), "a", Some(&json!(3))), json!({ "a": 3, "b": 2 }));
        assert_eq!(with_server_entry(Some(stored), "a", None), json!({ "b": 2 }));
        assert_eq!(with_server_entry(Some(json!("no object")), "a", Some(&json!(3))), json!({ "a": 3 }));
    }
}
