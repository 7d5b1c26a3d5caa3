//! Tests of the scripted servers and the faulty proxy.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod authorization;
mod spoiled;
