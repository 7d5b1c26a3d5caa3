//! Deletes conversations, so that no content remains in the files.
//!
//! A deleted conversation is hidden immediately. Its content is removed in steps, between which other processes can
//! write. The table `gone` records the progress, so that an interrupted deletion continues.
//!
//! SQLite overwrites the deleted rows. Then the search index is rewritten, the journal is emptied (if another process
//! is reading, after the next write), and the file from which the conversation was imported is removed. Older copies of
//! disk blocks and backups are out of reach.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::history_tables;
use super::schema::SchemaCheckedConnection;
use crate::database;

/// Maximum time that emptying the write-ahead journal waits for other processes that read the database. If they read
/// longer, the journal is emptied after a later write.
pub(super) const JOURNAL_EMPTYING_TIMEOUT: Duration = Duration::from_millis(200);
/// Pause between two deletion steps, in which other processes that poll for the lock can write.
pub(super) const DELETION_STEP_PAUSE: Duration = Duration::from_millis(5);
/// Maximum number of items of deleted conversations that are removed in one deletion step.
const DELETED_ITEMS_PER_STEP: usize = 50;
/// Approximate number of search index pages that are rewritten in one deletion step.
const INDEX_PAGES_PER_STEP: i64 = 250;
/// Maximum number of free database pages that are returned to the file system in one deletion step.
const FREE_PAGES_PER_STEP: i64 = 500;

/// Value of the column `gone.left` (remaining work of a deletion): items of the deleted conversation remain.
const DELETION_STATE_REMOVING_ITEMS: i64 = 0;
/// Value of the column `gone.left` (remaining work of a deletion): the items are removed, but the pages of the search
/// index may still contain their words, so the index must be rewritten.
const DELETION_STATE_BEFORE_INDEX_REWRITE: i64 = 1;
/// Value of the column `gone.left` (remaining work of a deletion): the search index is being rewritten.
const DELETION_STATE_REWRITING_INDEX: i64 = 2;
/// Value of the column `gone.left` (remaining work of a deletion): free pages must be returned to the file system, and
/// the write-ahead journal must be emptied.
const DELETION_STATE_EMPTYING_JOURNAL: i64 = 3;

/// Marks a conversation as deleted. Returns `true` if the conversation existed.
pub(super) fn mark_conversation_deleted(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let Some((number, _)) = history_tables::conversation_and_head_row_numbers(connection, id)? else {
        return Ok(false);
    };
    let note = "INSERT INTO gone (conversation, left) VALUES (?1, ?2)";
    connection.prepare_cached(note)?.execute(params![number, DELETION_STATE_REMOVING_ITEMS])?;
    for sql in [
        "DELETE FROM source WHERE conversation = ?1",
        "DELETE FROM reading WHERE conversation = ?1",
        "DELETE FROM reading_seal WHERE conversation = ?1",
        "DELETE FROM conversation WHERE number = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([number])?;
    }
    Ok(true)
}

/// The work that remains after a deletion step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeletionProgress {
    /// [`deletion_step`] must be called again.
    MoreSteps,
    /// Only the write-ahead journal remains to be emptied, because another process is reading the database.
    JournalNotEmptied,
    /// No deletion is pending.
    Complete,
}

/// Performs the next step of the pending deletions. `wait` is the maximum time to wait for other processes that read
/// the database.
pub(super) fn deletion_step(
    connection: &mut SchemaCheckedConnection,
    wait: Duration,
) -> rusqlite::Result<DeletionProgress> {
    let left = connection.write(deletion_step_in_transaction)?;
    if left == DeletionProgress::JournalNotEmptied { empty_write_ahead_journal(connection, wait) } else { Ok(left) }
}

fn deletion_step_in_transaction(connection: &Connection) -> rusqlite::Result<DeletionProgress> {
    let first = connection
        .prepare_cached("SELECT conversation, left FROM gone ORDER BY left LIMIT 1")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    match first {
        None => return Ok(DeletionProgress::Complete),
        Some((number, DELETION_STATE_REMOVING_ITEMS)) => {
            if remove_conversation_items(connection, number)? {
                let sql = "UPDATE gone SET left = ?2 WHERE conversation = ?1";
                connection.prepare_cached(sql)?.execute(params![number, DELETION_STATE_BEFORE_INDEX_REWRITE])?;
            }
        }
        Some((_, DELETION_STATE_BEFORE_INDEX_REWRITE)) => {
            begin_index_rewrite(connection)?;
            set_deletion_state(connection, DELETION_STATE_BEFORE_INDEX_REWRITE, DELETION_STATE_REWRITING_INDEX)?;
        }
        Some((_, DELETION_STATE_REWRITING_INDEX)) => {
            if continue_index_rewrite(connection)? {
                set_deletion_state(connection, DELETION_STATE_REWRITING_INDEX, DELETION_STATE_EMPTYING_JOURNAL)?;
            }
        }
        Some(_) => {
            if database::release_free_pages(connection, FREE_PAGES_PER_STEP)? {
                return Ok(DeletionProgress::JournalNotEmptied);
            }
        }
    }
    Ok(DeletionProgress::MoreSteps)
}

fn set_deletion_state(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("UPDATE gone SET left = ?2 WHERE left = ?1")?.execute([from, to])?;
    Ok(())
}

/// Removes at most [`DELETED_ITEMS_PER_STEP`] items of a deleted conversation. Returns `true` if none of its items
/// remain.
fn remove_conversation_items(connection: &Connection, conversation: i64) -> rusqlite::Result<bool> {
    let items: Vec<i64> = connection
        .prepare_cached("SELECT number FROM item WHERE conversation = ?1 LIMIT ?2")?
        .query_map(params![conversation, i64::try_from(DELETED_ITEMS_PER_STEP).unwrap_or(i64::MAX)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for item in &items {
        history_tables::set_indexed_text(connection, *item, "")?;
        history_tables::release_item_blobs(connection, *item)?;
        connection.prepare_cached("DELETE FROM item WHERE number = ?1")?.execute([item])?;
    }
    Ok(items.len() < DELETED_ITEMS_PER_STEP)
}

/// Starts to rewrite the search index. FTS5 does not rewrite an index that consists of one segment, so another segment
/// is added first, with a word of item 0, which does not exist.
fn begin_index_rewrite(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("INSERT INTO word (rowid, text) VALUES (0, 'x')")?;
    // A negative number starts a merge of all segments, which later calls continue.
    merge_search_index(connection, -INDEX_PAGES_PER_STEP)
}

/// Continues to rewrite the search index. Returns `true` if the rewrite is complete.
fn continue_index_rewrite(connection: &Connection) -> rusqlite::Result<bool> {
    let before = connection.total_changes();
    merge_search_index(connection, INDEX_PAGES_PER_STEP)?;
    // According to the documentation of FTS5, fewer than two changes mean that nothing was merged.
    let is_done = connection.total_changes() - before < 2;
    if is_done {
        connection.execute_batch("INSERT INTO word (word, rowid, text) VALUES ('delete', 0, 'x')")?;
    }
    Ok(is_done)
}

fn merge_search_index(connection: &Connection, pages: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO word (word, rank) VALUES ('merge', ?1)";
    connection.prepare_cached(sql)?.execute([pages]).map(|_| ())
}

/// Empties the write-ahead journal, which completes the deletion of conversations.
fn empty_write_ahead_journal(
    connection: &mut SchemaCheckedConnection,
    wait: Duration,
) -> rusqlite::Result<DeletionProgress> {
    let deleted: Vec<i64> = connection.read(|connection| {
        let mut statement = connection.prepare_cached("SELECT conversation FROM gone WHERE left = ?1")?;
        statement.query_map([DELETION_STATE_EMPTYING_JOURNAL], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
    })?;
    if !database::empty_write_ahead_journal(connection.for_maintenance(), wait)? {
        return Ok(DeletionProgress::JournalNotEmptied);
    }
    connection.write(|connection| {
        for conversation in deleted {
            connection.prepare_cached("DELETE FROM gone WHERE conversation = ?1")?.execute([conversation])?;
        }
        Ok(DeletionProgress::Complete)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;
    use std::sync::Arc;

    use domain::history::{Conversation, ItemPosition, NewHistoryItem};
    use domain::item::ItemState;
    use ports::History as _;
    use ports::secrets::SecretsInMemory;
    use serde_json::json;

    use super::super::HistoryDatabase;
    use super::*;
    use crate::audit::MacKeyHolder;
    use crate::content_key::ContentKeySlot;

    fn mac_key_holder_without_keychain() -> Arc<MacKeyHolder> {
        MacKeyHolder::new(Arc::new(SecretsInMemory::default()))
    }

    /// Creates a history with two conversations, each with a number of items and a number of words in each item.
    fn history_with_conversations(
        folder: &Path,
        remaining: (usize, usize),
        deleted: (usize, usize),
    ) -> HistoryDatabase {
        let history = HistoryDatabase::new(folder, mac_key_holder_without_keychain());
        for (id, canary, (items, words)) in [("kept", "stays", remaining), ("gone", "kestrel", deleted)] {
            history.create(&Conversation { id: id.into(), ..Conversation::default() }).unwrap();
            let item = |n: usize| {
                let text: String =
                    (0..words).map(|word| format!("{canary}{:x} ", (n * words + word) * 7_919)).collect();
                let body = json!({"kind": "message", "content": [{"type": "text", "text": text}]});
                let (id, after, state) = (n.to_string(), ItemPosition::Head, ItemState::Whole);
                NewHistoryItem { id, after, at: 1, body, state, sources: Vec::new(), read_contents: Vec::new() }
            };
            let items: Vec<NewHistoryItem> = (0..items).map(item).collect();
            history.write(id, &items).unwrap();
        }
        history
    }

    fn has_deleted_text(folder: &Path) -> bool {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut contents = files.map(|file| std::fs::read(file).unwrap());
        contents.any(|bytes| bytes.windows(7).any(|window| window == b"kestrel"))
    }

    #[test]
    fn other_writes_proceed_between_deletion_steps() {
        let folder = tempfile::tempdir().unwrap();
        drop(history_with_conversations(folder.path(), (400, 300), (120, 3)));
        let path = folder.path().join("history.db");
        let mut connection = history_tables::open(&path, &ContentKeySlot::default()).unwrap();
        let other = database::connect(&path).unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        assert!(
            connection.write(|connection| mark_conversation_deleted(connection, "gone")).unwrap(),
            "the conversation must exist"
        );
        let (mut steps, mut of_index) = (0, 0);
        loop {
            let left: i64 = other.query_row("SELECT left FROM gone", [], |row| row.get(0)).unwrap();
            of_index += usize::from(left == DELETION_STATE_REWRITING_INDEX);
            if deletion_step(&mut connection, JOURNAL_EMPTYING_TIMEOUT).unwrap() != DeletionProgress::MoreSteps {
                break;
            }
            steps += 1;
            other.execute("UPDATE conversation SET updated_at = ?1", [steps]).unwrap();
        }
        assert!(steps > 4 && of_index > 1, "the deletion must take many steps, also in the index: {steps}, {of_index}");
        let left: i64 = other.query_row("SELECT count(*) FROM gone", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "no deletion must remain");
    }

    #[test]
    fn interrupted_deletion_is_continued() {
        for done in 0.. {
            let folder = tempfile::tempdir().unwrap();
            drop(history_with_conversations(folder.path(), (10, 50), (60, 3)));
            let mut connection =
                history_tables::open(&folder.path().join("history.db"), &ContentKeySlot::default()).unwrap();
            connection.write(|connection| mark_conversation_deleted(connection, "gone")).unwrap();
            let mut left = DeletionProgress::MoreSteps;
            for _ in 0..done {
                left = deletion_step(&mut connection, JOURNAL_EMPTYING_TIMEOUT).unwrap();
            }
            drop(connection);
            let history = HistoryDatabase::new(folder.path(), mac_key_holder_without_keychain());
            // The new conversation must not get a number with remaining items.
            history.create(&Conversation { id: "new".into(), ..Conversation::default() }).unwrap();
            let new = history.all_items("new", None, 10).unwrap().unwrap();
            assert!(new.items.is_empty(), "a new conversation must be empty after {done} steps: {new:?}");
            assert!(!has_deleted_text(folder.path()), "nothing must remain after {done} steps");
            if left == DeletionProgress::Complete {
                return;
            }
        }
    }
}
