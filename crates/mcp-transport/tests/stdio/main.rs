//! Tests of sessions with local servers as real processes, including hostile ones and ones that end unexpectedly.
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
