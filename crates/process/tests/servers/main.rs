//! Tests of local servers as real processes: their environment, their sandbox, and their end.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, unreachable_pub)]

mod ends;
mod environment;
#[cfg(target_os = "linux")]
mod finished;
mod groups;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod named_hosts;
#[cfg(target_os = "linux")]
mod orphans;
mod programs;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod sandbox;
mod support;
#[cfg(target_os = "linux")]
mod test_user_home;
