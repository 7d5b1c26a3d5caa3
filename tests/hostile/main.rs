//! Hostile and ordinary servers against the whole host: real processes, real files, the real queue.
//! Linux only: whether a process is left is read from `/proc`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod collector;
mod commands;
mod consent;
mod containment;
mod crash_loops;
mod definitions;
mod floods;
mod folders;
mod forms;
mod http;
mod leaks;
mod lists;
mod log;
mod misbehaviour;
mod own_process;
mod pair;
mod processes;
mod report;
mod rounds;
mod sampling;
mod seen;
mod servers;
mod sign_in;
mod silence;
mod surroundings;
mod urls;
