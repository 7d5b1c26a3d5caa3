//! Tests of the complete host with hostile and ordinary servers: real processes, real files, the real queue. Linux
//! only, because remaining processes are detected in `/proc`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod allowed_once;
mod blocked_disk;
mod busy_history;
mod call_times;
mod collector;
mod commands;
mod confinement;
mod consent;
mod containment;
mod crash_loops;
mod definitions;
mod floods;
mod flow;
mod folders;
mod forms;
mod gate;
mod hanging_disk;
mod http;
mod launches;
mod leaks;
mod lists;
mod log;
mod misbehaviour;
mod network;
mod outside;
mod own_process;
mod packages;
mod pair;
mod processes;
mod report;
mod review_marks;
mod reviews;
mod rounds;
mod rules;
mod sampling;
mod sealed;
mod servers;
mod sign_in;
mod silence;
mod skills;
mod surroundings;
mod urls;
