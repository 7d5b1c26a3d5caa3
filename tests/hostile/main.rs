//! Hostile and ordinary servers against the whole host: real processes, real files, the real queue.
//! Linux only: whether a process is left is read from `/proc`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod consent;
mod http;
mod misbehaviour;
mod servers;
