//! Tests of the API commands on a real host, by name and in JSON as the page sends them.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod autostart;
mod chat;
#[cfg(unix)]
mod computer;
#[cfg(unix)]
mod containment;
mod contract;
mod conversation_scope;
#[cfg(unix)]
mod environment;
mod import;
mod installs;
#[cfg(unix)]
mod launch_files;
mod network;
mod remote;
mod restored_rules;
mod secrets_status;
mod sign_in;
mod sign_in_secret;

use api::{Api, dispatch};
use serde_json::Value;

/// Executes a command that must succeed, and returns its response.
async fn run_command(api: &Api, command: &str, request: Value) -> Value {
    dispatch(api, command, request.clone()).await.unwrap_or_else(|e| panic!("{command} {request}: {e:?}"))
}
