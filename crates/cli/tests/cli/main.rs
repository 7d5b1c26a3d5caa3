//! The program as it is run, with the real demo server: what it prints, how it ends, and what it asks.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calls;
mod program;
mod questions;
mod refusals;
mod remote;
mod sign_in;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod terminal;
