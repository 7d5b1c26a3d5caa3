//! Random edits of a log file by an attacker without the key. Caller: `attacks.rs`.

use proptest::prelude::*;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::super::support::{LogFolder, decision_entry};
use super::{ENTRY_COUNT, append_log_entry, chain_link_at, hex, remove_first_entries};

/// An edit of the log file by an attacker without the key.
#[derive(Debug, Clone)]
pub(super) enum LogEdit {
    Delete(u64, u64),
    Change(u64, usize),
    Swap(u64, u64),
    Append(u64),
    Checkpoint(u64, SealChoice),
    Shorten(u64, SealChoice),
    NoSeal,
    MoveSeal(u64),
    OldSeal,
    NoCheckpoint,
    Version(i64),
    Vacuum,
    Drawbridge,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum SealChoice {
    None,
    Foreign,
    OfTheEnd,
}

pub(super) fn any_log_edit() -> impl Strategy<Value = LogEdit> {
    let number = || 0..=ENTRY_COUNT + 4;
    let seal = || prop_oneof![Just(SealChoice::None), Just(SealChoice::Foreign), Just(SealChoice::OfTheEnd)];
    prop_oneof![
        1 => (number(), number()).prop_map(|(from, to)| LogEdit::Delete(from, to)),
        1 => (number(), 0_usize..4).prop_map(|(number, way)| LogEdit::Change(number, way)),
        1 => (number(), number()).prop_map(|(one, other)| LogEdit::Swap(one, other)),
        3 => number().prop_map(LogEdit::Append),
        2 => (number(), seal()).prop_map(|(number, seal)| LogEdit::Checkpoint(number, seal)),
        4 => (number(), seal()).prop_map(|(number, seal)| LogEdit::Shorten(number, seal)),
        1 => Just(LogEdit::NoSeal),
        1 => number().prop_map(LogEdit::MoveSeal),
        1 => Just(LogEdit::OldSeal),
        1 => Just(LogEdit::NoCheckpoint),
        1 => (-1_i64..3).prop_map(LogEdit::Version),
        1 => Just(LogEdit::Vacuum),
        3 => Just(LogEdit::Drawbridge),
    ]
}

type SavedSeal = (i64, Vec<u8>, String, Vec<u8>);

pub(super) fn saved_seal_of_log(log: &Connection) -> Option<SavedSeal> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    log.query_row("SELECT number, link, key, mac FROM seal", [], read).optional().ok().flatten()
}

/// Applies the edit to the file. Statements that SQLite rejects have no effect.
pub(super) fn apply_log_edit(folder: &LogFolder, edit: &LogEdit, old: &SavedSeal) {
    let mac = |log: &Connection, seal: SealChoice| match seal {
        SealChoice::None => (None, None),
        SealChoice::Foreign => (Some("0123456789abcdef".to_owned()), Some(vec![7; 32])),
        SealChoice::OfTheEnd => saved_seal_of_log(log).map_or((None, None), |(_, _, key, mac)| (Some(key), Some(mac))),
    };
    if let LogEdit::Drawbridge = edit {
        let log = folder.log();
        let _ = log.append(decision_entry("later"));
        let _ = log.verify();
        let _ = log.flush();
        return;
    }
    let log = folder.open_without_triggers();
    let run = |sql: String| drop(log.execute_batch(&sql));
    match edit {
        LogEdit::Delete(from, to) => run(format!("DELETE FROM entry WHERE number BETWEEN {from} AND {to}")),
        LogEdit::Change(number, way) => {
            let change =
                ["subject = subject || 'x'", "decision = 'denied'", "link = zeroblob(32)", "at = at + 1"][*way];
            run(format!("UPDATE entry SET {change} WHERE number = {number}"));
        }
        LogEdit::Swap(one, other) => run(format!(
            "UPDATE entry SET number = 999 WHERE number = {one}; UPDATE entry SET number = {one} WHERE number = {other};
            UPDATE entry SET number = {other} WHERE number = 999"
        )),
        LogEdit::Append(upto) => {
            let hash = chain_link_at(&log, *upto).map(|link| hex(&link)).unwrap_or_default();
            append_log_entry(&log, "log-shortened", &format!("entries up to {upto}"), &hash);
        }
        LogEdit::Checkpoint(number, seal) => {
            let (key, mac) = mac(&log, *seal);
            if let Some(link) = chain_link_at(&log, *number) {
                let values = params![*number as i64, link, key, mac];
                drop(log.execute("INSERT OR REPLACE INTO checkpoint VALUES (?1, ?2, ?3, ?4)", values));
            }
        }
        LogEdit::Shorten(upto, seal) => {
            let (key, mac) = mac(&log, *seal);
            remove_first_entries(&log, *upto, key.as_deref(), mac.as_deref(), true);
        }
        LogEdit::NoSeal => run("DELETE FROM seal".to_owned()),
        LogEdit::MoveSeal(number) => {
            run(format!("UPDATE seal SET number = {number}, link = (SELECT link FROM entry WHERE number = {number})"))
        }
        LogEdit::OldSeal => {
            let values = params![old.0, old.1, old.2, old.3];
            drop(log.execute("UPDATE seal SET number = ?1, link = ?2, key = ?3, mac = ?4", values));
        }
        LogEdit::NoCheckpoint => run("DELETE FROM checkpoint".to_owned()),
        LogEdit::Version(version) => run(format!("PRAGMA user_version = {version}")),
        LogEdit::Vacuum => run("VACUUM".to_owned()),
        LogEdit::Drawbridge => {}
    }
}
