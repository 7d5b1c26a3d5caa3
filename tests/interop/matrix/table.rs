//! The table, as it is kept in `MATRIX.md`.

use std::fmt::Write as _;
use std::path::Path;

use super::checks::{Cell, Checked};
use super::features::{Feature, columns};
use super::servers::{Row, SERVERS, versions};

const HEAD: &str = "\
# What works with which server

Written by `cargo xtask test interop`, which starts each of these servers and tries all of it: not to be edited. Each server shows
everything that its SDK has. The newest revision of each transport is found by the app itself; the others are named by the user, as
`protocolVersion` in `mcp.json`.

- `yes`: tried, and it works
- `-`: this revision, or this transport, does not have it
- a number: the SDK does not have it, see below
";

/// The whole document.
pub(crate) fn render(rows: &[(Row, Checked)]) -> String {
    let mut out = HEAD.to_owned();
    let mut notes: Vec<String> = Vec::new();
    out.push_str("\n| server | built on |\n| --- | --- |\n");
    for (name, version) in versions() {
        let _ = writeln!(out, "| {name} | {version} |");
    }
    for server in SERVERS {
        let rows: Vec<_> = rows.iter().filter(|(row, _)| row.server.name == server.name).collect();
        let _ = write!(out, "\n## {}\n\n| |", server.name);
        for (row, _) in &rows {
            let _ = write!(out, " {} {} |", row.transport.name(), row.revision);
        }
        out.push_str("\n| --- |");
        out.push_str(&" --- |".repeat(rows.len()));
        out.push_str("\n| found how |");
        for (row, checked) in &rows {
            let how = if row.pinned { "named" } else { checked.found.as_str() };
            let _ = write!(out, " {how} |");
        }
        for at in 0..columns(row_revision(&rows)).len() {
            let _ = write!(out, "\n| {} |", column_name(at));
            for (_, checked) in &rows {
                let _ = write!(out, " {} |", cell(&checked.cells[at].1, &mut notes));
            }
        }
        out.push('\n');
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    for (number, note) in (1..).zip(&notes) {
        let _ = writeln!(out, "{number}. {note}");
    }
    out
}

fn row_revision(rows: &[&(Row, Checked)]) -> mcp_proto::Revision {
    rows.first().map_or(mcp_proto::Revision::NEWEST_LEGACY, |(row, _)| row.revision)
}

fn column_name(at: usize) -> &'static str {
    columns(mcp_proto::Revision::NEWEST_LEGACY)[at].name()
}

fn cell(cell: &Cell, notes: &mut Vec<String>) -> String {
    match cell {
        Cell::Works => "yes".to_owned(),
        Cell::NotInRevision => "-".to_owned(),
        Cell::Lacking(why) => {
            let at = notes.iter().position(|note| note == why).unwrap_or_else(|| {
                notes.push((*why).to_owned());
                notes.len() - 1
            });
            (at + 1).to_string()
        }
        Cell::Failed(_) => "no".to_owned(),
    }
}

/// Compares the document with the one that is kept; writes it instead if the environment says so.
pub(crate) fn keep(table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("MATRIX.md");
    if std::env::var_os("INTEROP_WRITE_MATRIX").is_some() {
        std::fs::write(&path, table).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, table, "MATRIX.md is what was found; `cargo xtask test interop` writes it anew");
}

/// A change of a pinned version is a reason to run the matrix again.
#[test]
fn the_versions_in_the_table_are_those_that_are_pinned() {
    let kept = include_str!("../MATRIX.md");
    for (name, version) in versions() {
        let line = format!("| {name} | {version} |");
        assert!(kept.contains(&line), "MATRIX.md was written with {version}: run `cargo xtask test interop`");
    }
}

#[test]
fn every_feature_has_a_column_of_its_own() {
    let names: std::collections::BTreeSet<&str> =
        columns(mcp_proto::Revision::NEWEST_LEGACY).iter().map(|feature: &Feature| feature.name()).collect();
    assert_eq!(names.len(), columns(mcp_proto::Revision::NEWEST_LEGACY).len(), "no two columns have the same head");
}
