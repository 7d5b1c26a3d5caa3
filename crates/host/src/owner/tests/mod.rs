//! Tests of the owner through a [`Host`](crate::Host). The server is a channel, and the audit log and the documents are
//! in memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ended_calls;
mod interleaved_calls;
mod interleaved_requests;
mod memory;
mod read_only_tools;
mod repeated_calls;
mod repetition_ends;
pub(super) mod world;
