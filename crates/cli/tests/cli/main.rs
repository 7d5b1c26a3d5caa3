//! Tests of the program with the real demo server: output, exit status, and consent requests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answers;
mod audit;
mod bundles;
mod calls;
mod chat;
#[cfg(target_os = "linux")]
mod containment;
#[cfg(unix)]
mod doctor;
mod documents;
mod guide;
mod import;
mod installs;
mod models;
#[cfg(target_os = "linux")]
mod own_process;
mod program;
mod refusals;
mod registry;
mod remote;
mod review;
mod rules;
mod server_requests;
mod sign_in;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod terminal;
