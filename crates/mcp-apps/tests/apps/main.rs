//! Tests of a view with a simulated page and simulated time. Every message that the view sends is validated against the
//! JSON Schema of the extension.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panics")]

mod app_tools;
mod clauses;
mod diagnostics;
mod handshake;
mod limits;
mod page;
mod partial_arguments;
mod properties;
mod requests;
mod sampling;
mod schema;
mod teardown;
mod tool_call;
mod valid_messages;
