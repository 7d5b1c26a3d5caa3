//! Conversations, one readable JSON file each, named by their id.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::PathBuf;

use host::conversation::Conversation;
use host::ports::{Conversations, StoreError};
use serde::Deserialize;

use crate::files::{self, Existing};

/// A conversation may hold pictures; more than this is not read.
const LIMIT: u64 = 256 << 20;

/// The longest id.
const MAX_ID: usize = 64;

/// The folder with the conversations.
#[derive(Debug)]
pub(crate) struct ConversationFolder {
    path: PathBuf,
}

/// What the list shows; the items are passed over.
#[derive(Deserialize)]
struct Summary {
    id: String,
    title: String,
    updated_at: u64,
}

impl ConversationFolder {
    pub(crate) fn new(path: PathBuf) -> Result<Self, StoreError> {
        files::make_folder(&path)?;
        Ok(Self { path })
    }

    /// The file of a conversation. Only letters, digits and dashes: an id can't lead out of the folder.
    fn file(&self, id: &str) -> Result<PathBuf, StoreError> {
        let valid = !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if valid {
            return Ok(self.path.join(format!("{id}.json")));
        }
        let cause =
            format!("{id:?} is not the id of a conversation: 1 to {MAX_ID} letters, digits and dashes were expected");
        Err(StoreError { path: self.path.display().to_string(), cause })
    }
}

impl Conversations for ConversationFolder {
    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(files::failed(&self.path, "read the folder", &error)),
        };
        let mut list = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
            let Ok(path) = self.file(id) else { continue };
            let Ok(file) = File::open(&path) else { continue };
            match serde_json::from_reader::<_, Summary>(BufReader::new(file)) {
                Ok(summary) if summary.id == id => list.push((summary.id, summary.title, summary.updated_at)),
                Ok(_) => tracing::warn!(path = %path.display(), "another conversation's id is in this file"),
                Err(error) => tracing::warn!(path = %path.display(), %error, "this is not a conversation"),
            }
        }
        list.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        Ok(list)
    }

    fn read(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        let path = self.file(id)?;
        let Some(bytes) = files::read(&path, LIMIT)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| StoreError {
            path: path.display().to_string(),
            cause: format!("line {}: it is not a conversation: {error}", error.line()),
        })
    }

    fn write(&self, conversation: &Conversation) -> Result<(), StoreError> {
        let path = self.file(&conversation.id)?;
        let mut bytes = serde_json::to_vec_pretty(conversation).map_err(|error| StoreError {
            path: path.display().to_string(),
            cause: format!("the conversation can't be written as JSON: {error}"),
        })?;
        bytes.push(b'\n');
        files::write(&path, &bytes, Existing::Replace).map(|_| ())
    }

    fn delete(&self, id: &str) -> Result<(), StoreError> {
        let path = self.file(id)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(files::failed(&path, "delete it", &error)),
            _ => Ok(()),
        }
    }
}
