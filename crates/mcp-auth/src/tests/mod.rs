//! Tests of complete sign-ins against a scripted authorization server and a scripted MCP server.

mod anonymous_access;
mod bounds;
mod discovery;
mod grant_errors;
mod grants;
mod registration;
mod renewal;
mod secrets;
mod sign_in;
mod sign_out;
mod step_up;
mod support;
mod two_programs;
mod vault;
