//! Tests of the session in simulated time, against a scripted server.
//!
//! Assertion messages begin with the id of the requirement that they verify.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod batches;
mod before_ready;
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
mod reopening;
mod revisions;
mod rules;
mod sampling;
mod server_requests;
mod subscriptions;
mod tasks_core;
mod tasks_extension;
mod timing;
mod types;
