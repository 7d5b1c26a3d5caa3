//! Reads entries with filters and full-text search, newest first.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::StoreError;
use ports::{AuditEntry, AuditQuery};
use rusqlite::Row;
use rusqlite::types::Value;

use super::audit_tables::{self, u64_to_sql_integer};
use crate::content_key::{self, ContentKey, ContentKeySlot};

/// Time limit for reading the entries that match a query of the audit log.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(10);
/// Number of instructions of SQLite's virtual machine between two checks of the search's time limit.
const SQLITE_STEPS_PER_TIMEOUT_CHECK: i32 = 100_000;
/// Maximum number of words in a search of the audit log. Further words are ignored.
const MAX_SEARCH_WORDS: usize = 16;

/// Minimum number of hexadecimal digits that a search word must have to be compared with the hashes of payloads.
const MIN_HASH_DIGITS: usize = 8;

/// SQL expression for the text of a log entry in which a search looks for its words.
const SEARCHED_TEXT_SQL: &str = "lower(server || ' ' || kind || ' ' || subject || ' ' || decision || ' ' || decided_by || ' ' || rule || ' ' || \
    coalesce(readable('audit content', content), ''))";

/// Returns the log entries that match the query, newest first.
pub(super) fn read_entries(
    path: &Path,
    query: &AuditQuery,
    key: Option<Arc<ContentKey>>,
) -> Result<Vec<AuditEntry>, StoreError> {
    let Some(connection) = audit_tables::open_for_reading(path)? else { return Ok(Vec::new()) };
    let slot = ContentKeySlot::default();
    slot.set(key.clone());
    content_key::add_encryption_functions(&connection, &slot)
        .map_err(|error| audit_tables::database_error(path, "read it", &error))?;
    let (sql, values) = build_query_statement(query);
    let start = Instant::now();
    let fail = |error| {
        if start.elapsed() > SEARCH_TIMEOUT {
            let cause = "the search took too long; look in a shorter time, or at one server".to_owned();
            return StoreError { path: path.display().to_string(), cause };
        }
        audit_tables::database_error(path, "read it", &error)
    };
    connection
        .progress_handler(SQLITE_STEPS_PER_TIMEOUT_CHECK, Some(move || start.elapsed() > SEARCH_TIMEOUT))
        .map_err(fail)?;
    let mut statement = connection.prepare(&sql).map_err(fail)?;
    let read = |row: &Row<'_>| audit_tables::read_entry(row, key.as_deref()).map(|read| read.entry);
    let rows = statement.query_map(rusqlite::params_from_iter(values), read).map_err(fail)?;
    rows.collect::<Result<_, _>>().map_err(fail)
}

/// Returns `true` if a search word may be the beginning of a payload's hash, as consent requests show it. Shorter
/// words, such as `add`, occur in many hashes.
fn is_hash_prefix(word: &str) -> bool {
    word.len() >= MIN_HASH_DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the SQL statement of a query and its parameters. Search words are passed only as parameters, never in the
/// SQL text.
fn build_query_statement(query: &AuditQuery) -> (String, Vec<Value>) {
    let mut values: Vec<Value> = Vec::new();
    let mut wheres = vec!["number > (SELECT coalesce(max(number), 0) FROM checkpoint)".to_owned()];
    let mut fits = |condition: &str, value: Value| {
        values.push(value);
        wheres.push(condition.replace('?', &format!("?{}", values.len())));
    };
    if let Some(before) = query.before {
        fits("number < ?", u64_to_sql_integer(before).into());
    }
    for (condition, value) in
        [("server = ?", &query.server), ("kind = ?", &query.kind), ("decision = ?", &query.decision)]
    {
        if let Some(value) = value {
            fits(condition, value.clone().into());
        }
    }
    if let Some(since) = query.since {
        fits("at >= ?", u64_to_sql_integer(since).into());
    }
    if let Some(until) = query.until {
        fits("at < ?", u64_to_sql_integer(until).into());
    }
    for word in query.words.iter().take(MAX_SEARCH_WORDS) {
        // Lower case as in SQLite's `lower`.
        let word = word.to_ascii_lowercase();
        let hash = if is_hash_prefix(&word) { " OR substr(hash, 1, length(?)) = ?" } else { "" };
        fits(&format!("(instr({SEARCHED_TEXT_SQL}, ?) > 0{hash})"), word.into());
    }
    values.push(u64_to_sql_integer(query.limit as u64).into());
    let limit = values.len();
    let wheres = wheres.join(" AND ");
    (
        format!("SELECT {} FROM entry WHERE {wheres} ORDER BY number DESC LIMIT ?{limit}", audit_tables::ENTRY_COLUMNS),
        values,
    )
}
