//! Local servers as real processes: hostile ones, dying ones, and what is left of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod answers;
mod ends;
mod environment;
mod floods;
mod groups;
mod lines;
mod memory;
#[cfg(target_os = "linux")]
mod named_hosts;
mod opening;
#[cfg(target_os = "linux")]
mod sandbox;
mod search_path;
mod support;
