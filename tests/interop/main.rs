//! Tests of the complete host with real servers in pinned versions: five reference servers from npm and PyPI, and the
//! demo server, which is built on the official Rust SDK. Further tests install real servers in each supported way.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod asks;
mod calls;
mod each;
mod faults;
#[cfg(unix)]
mod found;
mod installed;
mod matrix;
mod reads;
mod roots;
mod together;
mod user;
#[cfg(unix)]
mod ways;
