//! Real servers, pinned and run as they are, against the whole host: five reference servers from npm and PyPI, and the
//! demo server, which is built on the official Rust SDK; and real servers by each way in which they are installed.
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
