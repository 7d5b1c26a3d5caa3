//! Tests of the owner behind a [`Host`](crate::Host), with a server that is only a channel, and a log and documents in
//! memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod interleaved_calls;
mod interleaved_requests;
mod memory;
pub(super) mod world;
