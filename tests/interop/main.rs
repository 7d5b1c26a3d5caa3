//! Tests of the complete host with real servers in pinned versions: five reference servers from npm and PyPI, and the
//! demo server, which is built on the official Rust SDK. Further tests install real servers in each supported way.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod calls;
mod concurrent_servers;
mod every_server;
mod faults;
#[cfg(unix)]
mod install_methods;
mod installed;
#[cfg(unix)]
mod login_shell_programs;
mod matrix;
mod reads;
mod roots;
mod server_requests;
mod user;
