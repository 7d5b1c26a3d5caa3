//! What a session does with what a server sends: in simulated time, against a scripted peer.
//!
//! The first words of an assertion name the requirement that it proves, by its id.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
mod caching;
mod calls;
mod decode;
mod delivery;
mod headers;
mod hostile;
mod http_opening;
mod messages;
mod mrtr;
mod opening;
mod peer;
mod properties;
mod questions;
mod reopening;
mod revisions;
mod rules;
mod sampling;
mod subscriptions;
mod tasks_core;
mod tasks_extension;
mod timing;
mod types;
