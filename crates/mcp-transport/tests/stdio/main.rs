//! Sessions with local servers as real processes: hostile ones, dying ones, and what is left of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod answers;
mod ends;
mod floods;
mod groups;
mod lines;
mod memory;
mod opening;
mod support;
