//! Tables in `MATRIX.md`: working features, and outcomes of faults. Each table is written by one test.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;

use super::checks::{FeatureCheckOutcome, MatrixRowResult};
use super::features::Feature;
use super::servers::{MATRIX_SERVERS, MatrixRow, pinned_sdk_versions};

const MATRIX_FILE_HEADING: &str = "\
# What works with which server

Written by `cargo xtask test interop`, which starts each of these servers and tries all of it: not to be edited. Each server shows
everything that its SDK has. The newest revision of each transport is found by the app itself; the others are named by the user, as
`protocolVersion` in `mcp.json`.

- `yes`: tried, and it works
- `-`: this revision, or this transport, does not have it
- a number: the SDK does not have it, see below
";

const BATCHES_NOTE: &str = "
No line for batches (2025-03-26): none of these SDKs sends one unless its client did, and Drawbridge does not. That it takes them is
tested with servers of our own.
";

/// Heading in `MATRIX.md` between the table of working features and the table of fault outcomes.
const FAULTS_HEADING: &str = "\n## Faults\n";

/// Returns the table of working features as Markdown.
pub(crate) fn render_feature_table(rows: &[(MatrixRow, MatrixRowResult)]) -> String {
    let mut out = MATRIX_FILE_HEADING.to_owned();
    let mut notes: Vec<String> = Vec::new();
    out.push_str("\n| server | built on |\n| --- | --- |\n");
    for (name, version) in pinned_sdk_versions() {
        let _ = writeln!(out, "| {name} | {version} |");
    }
    for server in MATRIX_SERVERS {
        let rows: Vec<_> = rows.iter().filter(|(row, _)| row.server.name == server.name).collect();
        let _ = writeln!(out, "\n## {}\n", server.name);
        let heads: Vec<_> = rows.iter().map(|(row, _)| format!("{} {}", row.transport.name(), row.revision)).collect();
        append_table_heading(&mut out, &heads);
        let how = |(row, checked): &&(MatrixRow, MatrixRowResult)| {
            if row.pinned { "named".to_owned() } else { checked.found.clone() }
        };
        append_table_row(&mut out, "found how", rows.iter().map(how));
        for feature in Feature::ALL {
            let of_feature = |(_, checked): &&(MatrixRow, MatrixRowResult)| {
                checked
                    .cells
                    .iter()
                    .find(|(of, _)| of == feature)
                    .map_or_else(String::new, |(_, c)| cell_text(c, &mut notes))
            };
            append_table_row(&mut out, feature.name(), rows.iter().map(of_feature));
        }
    }
    out.push('\n');
    for (number, note) in (1..).zip(&notes) {
        let _ = writeln!(out, "{number}. {note}");
    }
    out + BATCHES_NOTE
}

/// Appends the first two lines of a Markdown table: the column headings and the separator.
pub(crate) fn append_table_heading<T: AsRef<str>>(out: &mut String, heads: &[T]) {
    append_table_row(out, "", heads.iter().map(|head| head.as_ref().to_owned()));
    append_table_row(out, "---", heads.iter().map(|_| "---".to_owned()));
}

/// Appends a row of a Markdown table: its name and its cells.
pub(crate) fn append_table_row(out: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    let cells: Vec<String> = cells.collect();
    let name = if name.is_empty() { String::new() } else { format!(" {name}") };
    let _ = writeln!(out, "|{name} | {} |", cells.join(" | "));
}

fn cell_text(cell: &FeatureCheckOutcome, notes: &mut Vec<String>) -> String {
    match cell {
        FeatureCheckOutcome::Works => "yes".to_owned(),
        FeatureCheckOutcome::NotInRevision => "-".to_owned(),
        FeatureCheckOutcome::Lacking(why) => {
            let at = notes.iter().position(|note| note == why).unwrap_or_else(|| {
                notes.push((*why).to_owned());
                notes.len() - 1
            });
            (at + 1).to_string()
        }
        FeatureCheckOutcome::Failed(_) => "no".to_owned(),
    }
}

/// Compares the table of working features with `MATRIX.md`, or writes it to that file if an environment variable
/// requests it.
pub(crate) fn compare_feature_table(table: &str) {
    compare_matrix_table(|stored| (table.to_owned(), stored.1), |stored| stored.0 == table);
}

/// Compares the table of fault outcomes with `MATRIX.md`, or writes it to that file if an environment variable requests
/// it.
pub(crate) fn compare_fault_table(table: &str) {
    compare_matrix_table(|stored| (stored.0, table.to_owned()), |stored| stored.1 == table);
}

fn compare_matrix_table(change: impl Fn(MatrixTables) -> MatrixTables, is_same: impl Fn(&MatrixTables) -> bool) {
    let stored = update_tables(change).unwrap_or_else(|error| panic!("MATRIX.md should be accessible: {error}"));
    assert!(is_same(&stored), "MATRIX.md should match the outcomes; run `cargo xtask test interop` to update it");
}

/// Texts of the two tables in `MATRIX.md`: working features, and outcomes of faults.
type MatrixTables = (String, String);

/// Returns the two tables of `MATRIX.md`. If an environment variable requests it, first writes the file with the tables
/// that `change` returns.
fn update_tables(change: impl Fn(MatrixTables) -> MatrixTables) -> std::io::Result<MatrixTables> {
    let writes = std::env::var_os("INTEROP_WRITE_MATRIX").is_some();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("MATRIX.md");
    let mut file = File::options().read(true).write(writes).open(path)?;
    // Another process may write the other table at the same time.
    file.lock()?;
    let mut stored = String::new();
    file.read_to_string(&mut stored)?;
    let (features, faults) = stored.split_once(FAULTS_HEADING).unwrap_or((&stored, ""));
    let parts = (features.to_owned(), faults.to_owned());
    if !writes {
        return Ok(parts);
    }
    let parts = change(parts);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{}{FAULTS_HEADING}{}", parts.0, parts.1).as_bytes())?;
    Ok(parts)
}

/// If the pinned version of an SDK has changed, this test fails until the matrix tests have been run again.
#[test]
fn sdk_versions_in_the_table_are_the_pinned_ones() {
    let stored = include_str!("../MATRIX.md");
    for (name, version) in pinned_sdk_versions() {
        let line = format!("| {name} | {version} |");
        assert!(
            stored.contains(&line),
            "MATRIX.md should contain {version}; run `cargo xtask test interop` to update it"
        );
    }
}
