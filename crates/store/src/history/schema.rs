//! Checks that the tables are those that Drawbridge makes. Through a view or a trigger, a program without the key could have
//! the history seem plain, or copy what is written (`HistoryDatabase` in `mod.rs`).

use std::path::Path;

use host::ports::StoreError;
use rusqlite::Connection;

use super::file::{self, failed};

/// The name that the tables of the index begin with. SQLite makes them, and no text goes into them once there is a key.
const INDEX: &str = "word_";
/// The most parts of a schema that an error names.
const MOST_NAMED: usize = 10;

/// A connection with the latest schema that was checked on it.
pub(super) struct CheckedConnection {
    pub(super) connection: Connection,
    version: i64,
}

impl CheckedConnection {
    /// # Errors
    /// If the tables are not those that Drawbridge makes.
    pub(super) fn new(connection: Connection, path: &Path) -> Result<Self, StoreError> {
        let version = version_of(&connection).map_err(|error| failed(path, "open it", &error))?;
        check(&connection, path)?;
        Ok(Self { connection, version })
    }

    /// Checks the tables again if another connection changed them.
    ///
    /// # Errors
    /// If they are not those that Drawbridge makes.
    pub(super) fn check(&mut self, path: &Path) -> Result<(), StoreError> {
        let version = version_of(&self.connection).map_err(|error| failed(path, "read it", &error))?;
        if version != self.version {
            check(&self.connection, path)?;
            self.version = version;
        }
        Ok(())
    }
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "schema_version", |row| row.get(0))
}

fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let strange = strange_parts(connection).map_err(|error| failed(path, "read it", &error))?;
    if strange.is_empty() {
        return Ok(());
    }
    let cause = format!(
        "another program changed its tables ({}), so nothing is read from it or written to it: keep a copy of it, move it away, \
        and a new one is begun",
        strange.join(", ")
    );
    Err(StoreError { path: path.display().to_string(), cause })
}

/// One table, index, view or trigger.
#[derive(PartialEq, Eq)]
struct Part {
    kind: String,
    name: String,
    /// The statement that makes it, without white space: SQLite sets some of its own when a column is added.
    text: Option<String>,
}

/// The parts that are missing or were changed, and all views and triggers of others. Tables and indexes of others do no harm:
/// a newer version may add some.
fn strange_parts(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let own = Connection::open_in_memory()?;
    file::make_latest(&own)?;
    let wanted = parts_of(&own)?;
    let found = parts_of(connection)?;
    let is_strange = |part: &&Part| {
        let is_own_name = wanted.iter().any(|own| own.name == part.name);
        !wanted.contains(part) && (is_own_name || matches!(part.kind.as_str(), "view" | "trigger"))
    };
    let missing = wanted.iter().filter(|part| !found.contains(part));
    let mut strange: Vec<String> =
        found.iter().filter(is_strange).chain(missing).map(|part| part.name.clone()).collect();
    strange.sort_unstable();
    strange.dedup();
    strange.truncate(MOST_NAMED);
    Ok(strange)
}

fn parts_of(connection: &Connection) -> rusqlite::Result<Vec<Part>> {
    // Indexes without a text belong to a column's constraint.
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL)";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let text: Option<String> = row.get(2)?;
        let text = text.filter(|_| kind != "table" || !name.starts_with(INDEX));
        Ok(Part { kind, name, text: text.map(|text| text.split_whitespace().collect()) })
    })?;
    rows.collect()
}
