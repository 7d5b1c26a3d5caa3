//! A MAC over the read contents and sources of each conversation. Read contents are what a conversation has read from
//! servers, and sources are the servers. Another program can write the tables `reading` and `source`, and removing a
//! row could make the host send a call without a consent request. If the MAC does not match, the read contents are
//! determined from the items, which can only be written with the key (`read.rs`, `write.rs`). Without a key there is no
//! MAC.

use domain::history::ReadContent;
use domain::item::{self, ChatItem};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{history_tables, read_contents};
use crate::content_key::ContentKey;

/// First part of the message that the MAC over a conversation's read contents authenticates. It distinguishes this
/// message from others that are authenticated with the same key.
const READ_CONTENTS_MAC_LABEL: &str = "drawbridge readings 1";

/// The servers (sources) whose content a conversation has read, and these contents, according to its items.
pub(super) struct ContentsReadInItems {
    pub(super) sources: Vec<String>,
    pub(super) read_contents: Vec<ReadContent>,
}

/// Returns `true` if the stored MAC matches the present read contents and sources of a conversation, which proves that
/// a process with this key was the last one to write them.
pub(super) fn verify_read_contents_mac(
    connection: &Connection,
    conversation: i64,
    key: &ContentKey,
) -> rusqlite::Result<bool> {
    let sql = "SELECT mac FROM reading_seal WHERE conversation = ?1";
    let mac: Option<Vec<u8>> =
        connection.prepare_cached(sql)?.query_row([conversation], |row| row.get(0)).optional()?;
    match mac {
        Some(mac) => Ok(key.verify_keyed_hash(&mac_input(connection, conversation)?, &mac)),
        None => Ok(false),
    }
}

/// Writes a MAC over the present read contents and sources of a conversation into the database.
pub(super) fn write_read_contents_mac(
    connection: &Connection,
    conversation: i64,
    key: &ContentKey,
) -> rusqlite::Result<()> {
    let mac = key.keyed_hash(&mac_input(connection, conversation)?);
    let sql = "INSERT OR REPLACE INTO reading_seal (conversation, mac) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![conversation, mac])?;
    Ok(())
}

/// Returns the message that the MAC over a conversation's read contents authenticates. It includes the number of items,
/// so that older read contents with their older MAC are not valid after more items were written.
fn mac_input(connection: &Connection, conversation: i64) -> rusqlite::Result<Vec<u8>> {
    let sql = "SELECT id, (SELECT count(*) FROM item WHERE conversation = ?1) FROM conversation WHERE number = ?1";
    let (id, items): (String, i64) =
        connection.prepare_cached(sql)?.query_row([conversation], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut marks: Vec<Value> = Vec::new();
    let mut sources =
        connection.prepare_cached("SELECT server, place FROM source WHERE conversation = ?1 ORDER BY server")?;
    let mut rows = sources.query([conversation])?;
    while let Some(row) = rows.next()? {
        marks.push(json!([row.get::<_, String>(0)?, row.get::<_, i64>(1)?]));
    }
    let sql = "SELECT server, kind, name, open FROM reading WHERE conversation = ?1 ORDER BY server, kind, name";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([conversation])?;
    while let Some(row) = rows.next()? {
        let [server, kind, name] = [0, 1, 2].map(|at| row.get::<_, String>(at));
        marks.push(json!([server?, kind?, name?, row.get::<_, i64>(3)?]));
    }
    Ok(json!([READ_CONTENTS_MAC_LABEL, id, items, marks]).to_string().into_bytes())
}

/// Determines the read contents of a conversation from all of its items. The items do not contain the tools'
/// definitions, so each content counts as open-world.
pub(super) fn contents_read_in_items(
    connection: &Connection,
    conversation: i64,
) -> rusqlite::Result<ContentsReadInItems> {
    let sql = "SELECT id, at, decrypted('body', body) FROM item WHERE conversation = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([conversation])?;
    let mut found = ContentsReadInItems { sources: Vec::new(), read_contents: Vec::new() };
    while let Some(row) = rows.next()? {
        let at = history_tables::sql_integer_to_u64(row.get(1)?);
        let read =
            json!({"id": row.get::<_, String>(0)?, "at": at, "body": history_tables::parse_json_column(row, 2)?});
        // The format of a newer version can't be parsed, so its item is ignored.
        let Ok(item) = serde_json::from_value::<ChatItem>(read) else { continue };
        for server in item::content_source_servers([&item]) {
            if !found.sources.contains(&server) {
                found.sources.push(server);
            }
        }
        for content in item::content_read_in_item(&item) {
            let content = ReadContent { open_world: true, ..content };
            if !found.read_contents.contains(&content) {
                found.read_contents.push(content);
            }
        }
    }
    Ok(found)
}

/// Determines the read contents and sources of a conversation from its items, and adds them to the tables `reading` and
/// `source`.
pub(super) fn rebuild_read_contents(connection: &Connection, conversation: i64) -> rusqlite::Result<()> {
    let found = contents_read_in_items(connection, conversation)?;
    for server in &found.sources {
        super::write::add_source_server(connection, conversation, server)?;
    }
    for content in &found.read_contents {
        read_contents::add_read_content(connection, conversation, content)?;
    }
    Ok(())
}
