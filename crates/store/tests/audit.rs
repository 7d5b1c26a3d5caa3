//! The audit log: what is written comes back, stays in its chain, and whoever changes anything is found.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "audit/attacks.rs"]
mod attacks;
#[path = "audit/encrypted.rs"]
mod encrypted;
#[path = "audit/log.rs"]
mod log;
#[path = "audit/older.rs"]
mod older;
#[path = "audit/retention.rs"]
mod retention;
#[path = "audit/support.rs"]
mod support;
#[path = "audit/tampering.rs"]
mod tampering;
#[path = "audit/unsealed.rs"]
mod unsealed;
