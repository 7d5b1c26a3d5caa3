//! A seal (a MAC) over the readings and sources of each conversation. Readings are contents that a conversation has
//! read from servers, and sources are the servers. Another program can write the tables `reading` and `source`, and
//! removing a row could make the host send a call without a consent request. If the seal does not match, the readings
//! are determined from the items, which can only be written with the key (`read.rs`, `write.rs`). Without a key there
//! is no seal.

use domain::history::Reading;
use domain::item::{self, ChatItem};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{history_tables, readings};
use crate::content_key::ContentKey;

/// First part of the message that the seal over a conversation's readings authenticates. It distinguishes this message
/// from others that are authenticated with the same key.
const READING_SEAL_LABEL: &str = "drawbridge readings 1";

/// The sources (servers) and readings (contents read from servers) of a conversation according to its items.
pub(super) struct ReadingsFoundInItems {
    pub(super) sources: Vec<String>,
    pub(super) readings: Vec<Reading>,
}

/// Returns `true` if the seal matches the present readings and sources of a conversation, which proves that a process
/// with this key was the last one to write them.
pub(super) fn verify_reading_seal(
    connection: &Connection,
    conversation: i64,
    key: &ContentKey,
) -> rusqlite::Result<bool> {
    let sql = "SELECT mac FROM reading_seal WHERE conversation = ?1";
    let mac: Option<Vec<u8>> =
        connection.prepare_cached(sql)?.query_row([conversation], |row| row.get(0)).optional()?;
    match mac {
        Some(mac) => Ok(key.verify_keyed_hash(&sealed_message(connection, conversation)?, &mac)),
        None => Ok(false),
    }
}

/// Writes a seal (a MAC) over the present readings and sources of a conversation into the database.
pub(super) fn seal_readings(connection: &Connection, conversation: i64, key: &ContentKey) -> rusqlite::Result<()> {
    let mac = key.keyed_hash(&sealed_message(connection, conversation)?);
    let sql = "INSERT OR REPLACE INTO reading_seal (conversation, mac) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![conversation, mac])?;
    Ok(())
}

/// Returns the message that the seal over a conversation's readings authenticates. It includes the number of items, so
/// that older readings with their older seal are not valid after more items were written.
fn sealed_message(connection: &Connection, conversation: i64) -> rusqlite::Result<Vec<u8>> {
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
    let mut readings = connection.prepare_cached(sql)?;
    let mut rows = readings.query([conversation])?;
    while let Some(row) = rows.next()? {
        let [server, kind, name] = [0, 1, 2].map(|at| row.get::<_, String>(at));
        marks.push(json!([server?, kind?, name?, row.get::<_, i64>(3)?]));
    }
    Ok(json!([READING_SEAL_LABEL, id, items, marks]).to_string().into_bytes())
}

/// Determines the readings of a conversation from all of its items. The items do not contain the tools' definitions, so
/// each reading counts as open-world.
pub(super) fn item_readings(connection: &Connection, conversation: i64) -> rusqlite::Result<ReadingsFoundInItems> {
    let sql = "SELECT id, at, decrypted('body', body) FROM item WHERE conversation = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([conversation])?;
    let mut found = ReadingsFoundInItems { sources: Vec::new(), readings: Vec::new() };
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
        for reading in item::content_read_in_item(&item) {
            let reading = Reading { open_world: true, ..reading };
            if !found.readings.contains(&reading) {
                found.readings.push(reading);
            }
        }
    }
    Ok(found)
}

/// Determines the readings and sources of a conversation from its items, and adds them to the tables `reading` and
/// `source`.
pub(super) fn rebuild_readings(connection: &Connection, conversation: i64) -> rusqlite::Result<()> {
    let found = item_readings(connection, conversation)?;
    for server in &found.sources {
        super::write::add_source_server(connection, conversation, server)?;
    }
    for reading in &found.readings {
        readings::add_reading(connection, conversation, reading)?;
    }
    Ok(())
}
