//! A seal over what each conversation has read and whose words are in it. Another program can write the tables `reading` and
//! `source`; who takes a mark out of them could have a call sent that should ask. Where the seal does not fit, the items say what
//! was read, which only who has the key can write (`read.rs`, `write.rs`). Without a key nothing is sealed.

use domain::history::Reading;
use domain::item::{self, Item};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::{Value, json};

use super::{file, reading};
use crate::content_key::ContentKey;

/// What a seal is over begins with this.
const LABEL: &str = "drawbridge readings 1";

/// What a conversation has read, as its items say.
pub(super) struct Found {
    pub(super) sources: Vec<String>,
    pub(super) readings: Vec<Reading>,
}

/// Returns true if the marks of a conversation are those that a program with this key wrote last.
pub(super) fn holds(connection: &Connection, conversation: i64, key: &ContentKey) -> rusqlite::Result<bool> {
    let sql = "SELECT mac FROM reading_seal WHERE conversation = ?1";
    let mac: Option<Vec<u8>> =
        connection.prepare_cached(sql)?.query_row([conversation], |row| row.get(0)).optional()?;
    match mac {
        Some(mac) => Ok(key.made(&message(connection, conversation)?, &mac)),
        None => Ok(false),
    }
}

/// Seals the marks of a conversation as they are.
pub(super) fn put(connection: &Connection, conversation: i64, key: &ContentKey) -> rusqlite::Result<()> {
    let mac = key.name_of(&message(connection, conversation)?);
    let sql = "INSERT OR REPLACE INTO reading_seal (conversation, mac) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![conversation, mac])?;
    Ok(())
}

/// What a seal is over. The number of items is in it, so that older marks with their seal do not fit.
fn message(connection: &Connection, conversation: i64) -> rusqlite::Result<Vec<u8>> {
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
    Ok(json!([LABEL, id, items, marks]).to_string().into_bytes())
}

/// Reads all items of a conversation. What a tool's definition said of it then is not known any more, so each reading counts as
/// one of an open world.
pub(super) fn found(connection: &Connection, conversation: i64) -> rusqlite::Result<Found> {
    let sql = "SELECT id, at, decrypted('body', body) FROM item WHERE conversation = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([conversation])?;
    let mut found = Found { sources: Vec::new(), readings: Vec::new() };
    while let Some(row) = rows.next()? {
        let read =
            json!({"id": row.get::<_, String>(0)?, "at": file::unsigned(row.get(1)?), "body": file::json(row, 2)?});
        // An item of a newer version says nothing here.
        let Ok(item) = serde_json::from_value::<Item>(read) else { continue };
        for server in item::sources([&item]) {
            if !found.sources.contains(&server) {
                found.sources.push(server);
            }
        }
        for reading in item::readings(&item) {
            let reading = Reading { open_world: true, ..reading };
            if !found.readings.contains(&reading) {
                found.readings.push(reading);
            }
        }
    }
    Ok(found)
}

/// Adds to the marks what the items say.
pub(super) fn mend(connection: &Connection, conversation: i64) -> rusqlite::Result<()> {
    let found = found(connection, conversation)?;
    for server in &found.sources {
        super::write::add_source(connection, conversation, server)?;
    }
    for reading in &found.readings {
        reading::add(connection, conversation, reading)?;
    }
    Ok(())
}
