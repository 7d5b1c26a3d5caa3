//! Hostile and ordinary servers against the whole host: real processes, real files, the real queue.
//! Linux only: whether a process is left is read from `/proc`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod consent;
mod crash_loops;
mod floods;
mod http;
mod lists;
mod misbehaviour;
mod own_process;
mod pair;
mod servers;
mod sign_in;
mod silence;
