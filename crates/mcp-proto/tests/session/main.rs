//! What a session does with what a server sends: in simulated time, against a scripted peer.
//!
//! The first words of an assertion name the requirement that it proves, by its id.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
mod calls;
mod decode;
mod hostile;
mod mrtr;
mod opening;
mod peer;
mod properties;
mod questions;
mod revisions;
mod subscriptions;
mod timing;
mod types;
