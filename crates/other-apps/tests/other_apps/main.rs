//! Tests of importing from other apps, pasted text and install links, and of exporting.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod corpus;
mod every_path;
mod exports;
mod homes;
mod links;
mod pasted;
mod projects;
mod properties;
mod table;
mod taken_values;
mod workspace;
