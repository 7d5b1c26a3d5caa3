//! Checks that the schema is that of Drawbridge. Through a view or a trigger, a program without the key could make the
//! history seem unencrypted, or copy content that is written later (`HistoryDatabase` in `mod.rs`).
//!
//! All reads and writes of rows are in a transaction of [`SchemaCheckedConnection`], which checks the schema within it:
//! from the first read of the transaction on, other programs can't change the schema that it uses.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::history_tables;

/// Prefix of the index's internal tables, which SQLite creates. They contain no text once the history is encrypted.
const INDEX_TABLE_PREFIX: &str = "word_";
/// Maximum number of unexpected tables, indexes, views and triggers that an error message lists.
const MAX_LISTED_SCHEMA_PARTS: usize = 10;

/// Error for a schema that another program changed. The history is then neither read nor written.
#[derive(Debug, thiserror::Error)]
#[error(
    "another program changed its tables ({}), so it is neither read nor written: copy it and move it away, \
    and a new one is begun",
    .0.join(", ")
)]
struct UnexpectedTables(Vec<String>);

/// A database connection that checks in each transaction whether another program has changed the schema of the history.
pub(super) struct SchemaCheckedConnection {
    connection: Connection,
    version: Option<i64>,
}

impl SchemaCheckedConnection {
    /// Creates a connection and checks its schema.
    ///
    /// # Errors
    /// Returns an error if the schema is not that of Drawbridge.
    pub(super) fn new(connection: Connection) -> rusqlite::Result<Self> {
        let mut checked = Self { connection, version: None };
        checked.read(|_| Ok::<_, rusqlite::Error>(()))?;
        Ok(checked)
    }

    /// Calls `act` in one read transaction of the history.
    ///
    /// # Errors
    /// Returns the error of `act`, or an error if the schema is not that of Drawbridge.
    pub(super) fn read<T, E: From<rusqlite::Error>>(
        &mut self,
        act: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_transaction(TransactionBehavior::Deferred, act)
    }

    /// Calls `act` in one write transaction of the history, which is rolled back if `act` fails.
    ///
    /// # Errors
    /// Returns the error of `act`, or an error if the schema is not that of Drawbridge.
    pub(super) fn write<T, E: From<rusqlite::Error>>(
        &mut self,
        act: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_transaction(TransactionBehavior::Immediate, act)
    }

    fn run_transaction<T, E: From<rusqlite::Error>>(
        &mut self,
        behavior: TransactionBehavior,
        act: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
        // This read starts the transaction even if `act` reads nothing, so the schema can't change until its end.
        let version = transaction.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
        if self.version != Some(version) {
            check_history_schema(&transaction)?;
            self.version = Some(version);
        }
        let done = act(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Returns the connection without a check of the schema, for operations outside transactions: rewriting the file
    /// and emptying its journal. These operations fire no triggers.
    pub(super) const fn for_maintenance(&self) -> &Connection {
        &self.connection
    }
}

fn check_history_schema(connection: &Connection) -> rusqlite::Result<()> {
    let strange = unexpected_schema_objects(connection)?;
    if strange.is_empty() {
        Ok(())
    } else {
        Err(rusqlite::Error::UserFunctionError(Box::new(UnexpectedTables(strange))))
    }
}

/// A table, index, view or trigger of the history database.
#[derive(PartialEq, Eq)]
struct SchemaObject {
    kind: String,
    name: String,
    /// SQL definition without white space, because SQLite inserts some when a column is added.
    text: Option<String>,
}

/// Returns the names of Drawbridge's tables, indexes, views and triggers that are missing or changed, and of unknown
/// views and triggers. Unknown tables and indexes are harmless, because a newer version may add some.
fn unexpected_schema_objects(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let own = Connection::open_in_memory()?;
    history_tables::create_latest_tables(&own)?;
    let expected = schema_objects(&own)?;
    let found = schema_objects(connection)?;
    let is_strange = |part: &&SchemaObject| {
        let is_own_name = expected.iter().any(|own| own.name == part.name);
        !expected.contains(part) && (is_own_name || matches!(part.kind.as_str(), "view" | "trigger"))
    };
    let missing = expected.iter().filter(|part| !found.contains(part));
    let mut strange: Vec<String> =
        found.iter().filter(is_strange).chain(missing).map(|part| part.name.clone()).collect();
    strange.sort_unstable();
    strange.dedup();
    strange.truncate(MAX_LISTED_SCHEMA_PARTS);
    Ok(strange)
}

fn schema_objects(connection: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    // Indexes without SQL text belong to column constraints.
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL)";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let text: Option<String> = row.get(2)?;
        let text = text.filter(|_| kind != "table" || !name.starts_with(INDEX_TABLE_PREFIX));
        Ok(SchemaObject { kind, name, text: text.map(|text| text.split_whitespace().collect()) })
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use domain::history::{Conversation, ItemPosition, NewHistoryItem};
    use domain::item::ItemState;
    use ports::History as _;
    use ports::secrets::SecretsInMemory;
    use serde_json::json;

    use super::super::{HistoryDatabase, lock};
    use super::*;
    use crate::audit::MacKeyHolder;

    const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
    /// Set once a connection is waiting for another process's transaction.
    static IS_WAITING: AtomicBool = AtomicBool::new(false);

    fn wait(_: i32) -> bool {
        IS_WAITING.store(true, Ordering::SeqCst);
        // sleep: polls for the lock, since no event reports it.
        std::thread::sleep(Duration::from_millis(5));
        true
    }

    fn message_item(id: &str) -> NewHistoryItem {
        let body = json!({"kind": "message", "role": "user", "content": [{"type": "text", "text": "kestrel"}]});
        let (sources, read_contents) = (Vec::new(), Vec::new());
        NewHistoryItem {
            id: id.into(),
            after: ItemPosition::Head,
            at: 1,
            body,
            state: ItemState::Whole,
            sources,
            read_contents,
        }
    }

    #[test]
    fn trigger_added_while_a_write_waits_copies_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let history = HistoryDatabase::new(folder.path(), MacKeyHolder::new(Arc::new(SecretsInMemory::default())));
        history.create(&Conversation { id: "c".into(), ..Conversation::default() }).unwrap();
        history.write("c", &[message_item("before")]).unwrap();
        lock(&history.writer_connection).as_ref().unwrap().connection.busy_handler(Some(wait)).unwrap();
        let other = Connection::open(folder.path().join("history.db")).unwrap();
        let attack = "BEGIN IMMEDIATE; CREATE TABLE copy (text); \
            CREATE TRIGGER copies AFTER INSERT ON said BEGIN INSERT INTO copy VALUES (NEW.text); END;";
        other.execute_batch(attack).unwrap();
        let written = std::thread::scope(|scope| {
            let written = scope.spawn(|| history.write("c", &[message_item("after")]));
            let start = Instant::now();
            while !IS_WAITING.load(Ordering::SeqCst) {
                assert!(start.elapsed() < WAIT_TIMEOUT, "the write must wait for the other process");
                // sleep: polls until the write waits, since no event reports it.
                std::thread::sleep(Duration::from_millis(5));
            }
            other.execute_batch("COMMIT").unwrap();
            written.join().unwrap()
        });
        let count = |table: &str| -> i64 {
            other.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("copy"), count("item")), (0, 1), "nothing must be copied or written");
        let error = written.unwrap_err();
        assert!(error.cause.contains("tables (copies)"), "the error must name the trigger: {error}");
    }
}
