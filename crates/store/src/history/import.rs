//! Imports the conversations of older versions, which are one JSON file each. An imported file is renamed, so that it
//! is not imported again, and is retained until its conversation is deleted.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use domain::StoreError;
use domain::history::{ItemPosition, NewHistoryItem};
use domain::item::{self, ItemState};
use serde::Deserialize;
use serde_json::Value;

use super::schema::SchemaCheckedConnection;
use super::write::{self, WriteRefusal};
use super::{is_valid_conversation_id, write::insert_conversation};
use crate::content_key::ContentKey;
use crate::files;

/// Maximum size of an older version's conversation file, in bytes. Larger files are not imported.
const MAX_OLD_CONVERSATION_BYTES: u64 = 256 << 20;
/// File name extension that replaces `json` after a conversation was imported.
const IMPORTED_SUFFIX: &str = "json.imported";

/// A conversation in the format of older versions. In the first versions, items have no parents: each item follows the
/// previous item.
#[derive(Deserialize)]
struct OlderConversation {
    id: String,
    title: String,
    updated_at: u64,
    #[serde(default)]
    settings: Option<Value>,
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct OlderItem {
    id: String,
    #[serde(default)]
    parent: Option<String>,
    at: u64,
    body: Value,
}

/// Imports all conversations of older versions in this folder. A file that can't be imported is logged and left
/// unchanged.
pub(super) fn import_old_conversations(
    connection: &mut SchemaCheckedConnection,
    folder: &Path,
    key: Option<&ContentKey>,
) -> Result<(), StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(files::file_error(folder, "read the folder", &error)),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(id) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) else { continue };
        if !is_valid_conversation_id(id) {
            continue;
        }
        match import_old_conversation(connection, &path, id, key) {
            Ok(()) => {
                // Next to an encrypted history, no unencrypted copy may remain.
                let done = match key {
                    Some(_) => fs::remove_file(&path),
                    None => fs::rename(&path, path.with_extension(IMPORTED_SUFFIX)),
                };
                if let Err(error) = done {
                    tracing::warn!(%error, path = %path.display(), "an imported conversation could not be renamed or removed");
                }
            }
            Err(error) => tracing::warn!(%error, path = %path.display(), "an old conversation was not imported"),
        }
    }
    Ok(())
}

fn import_old_conversation(
    connection: &mut SchemaCheckedConnection,
    path: &Path,
    id: &str,
    key: Option<&ContentKey>,
) -> Result<(), StoreError> {
    let failed = |cause: String| StoreError { path: path.display().to_string(), cause };
    let Some(bytes) = files::read(path, MAX_OLD_CONVERSATION_BYTES)? else { return Ok(()) };
    let older: OlderConversation = serde_json::from_slice(&bytes)
        .map_err(|error| failed(format!("line {}: it is not a conversation: {error}", error.line())))?;
    if older.id != id {
        return Err(failed(format!("it has the id of another conversation, {:?}", older.id)));
    }
    let mut items: Vec<NewHistoryItem> = Vec::with_capacity(older.items.len());
    for value in older.items {
        let known: Option<item::ChatItem> = serde_json::from_value(value.clone()).ok();
        let sources = known.as_ref().map(|item| item::content_source_servers([item]));
        let mut read_contents = known.as_ref().map(item::content_read_in_item).unwrap_or_default();
        for content in &mut read_contents {
            // Older versions did not store the actual value, so the stricter one is used.
            content.open_world = true;
        }
        let read: OlderItem =
            serde_json::from_value(value).map_err(|error| failed(format!("an item can't be read: {error}")))?;
        let after = match read.parent {
            Some(parent) => ItemPosition::Item(parent),
            None if items.is_empty() => ItemPosition::Start,
            None => ItemPosition::Head,
        };
        let (sources, state) = (sources.unwrap_or_default(), ItemState::Whole);
        items.push(NewHistoryItem { id: read.id, after, at: read.at, body: read.body, state, sources, read_contents });
    }
    let conversation = domain::history::Conversation {
        id: older.id,
        title: older.title,
        created_at: items.first().map_or(older.updated_at, |item| item.at),
        updated_at: older.updated_at,
        settings: older.settings.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        ..Default::default()
    };
    let bodies = write::encode_bodies(&items);
    let taken_over = bodies.and_then(|bodies| {
        connection.write(|connection| {
            // An earlier import may have been interrupted before or after its last item.
            let is_begun = insert_conversation(connection, &conversation)?
                || super::read::read_conversation(connection, id, key).is_ok_and(|c| c.is_some_and(|c| c.items == 0));
            if is_begun {
                write::write_items(connection, id, (&items, &bodies), None, key)?;
            }
            Ok::<_, WriteRefusal>(())
        })
    });
    taken_over.map_err(|error| failed(format!("it could not be imported: {error}")))
}

/// Deletes the file from which a conversation was imported.
pub(super) fn remove_old_conversation_file(folder: &Path, id: &str) -> Result<(), StoreError> {
    for path in [folder.join(format!("{id}.{IMPORTED_SUFFIX}")), folder.join(format!("{id}.json"))] {
        remove_file_if_exists(&path)?;
    }
    Ok(())
}

/// Deletes the files from which conversations were imported.
pub(super) fn remove_old_conversation_files(folder: &Path) -> Result<(), StoreError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.to_string_lossy().ends_with(&format!(".{IMPORTED_SUFFIX}")) {
            remove_file_if_exists(&path)?;
        }
    }
    Ok(())
}

fn remove_file_if_exists(path: &PathBuf) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(files::file_error(path, "delete it", &error)),
        _ => Ok(()),
    }
}
