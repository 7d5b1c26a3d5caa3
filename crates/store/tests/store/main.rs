//! Tests of the store on a real disk, in temporary folders.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod audit;
mod common;
mod data_folder;
mod documents_with_mac;
mod history;
mod mcp_json_auth;
mod mcp_json_reading;
#[cfg(unix)]
mod mcp_json_sandbox;
mod mcp_json_watching;
mod mcp_json_writing;
