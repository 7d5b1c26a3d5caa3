//! Drawbridge's client for measurements: a host with in-memory ports, whose user allows everything. Used by
//! `bench-client` and `bench-steps`.

pub mod calls;
mod memory;
pub mod open;

use std::error::Error;

/// Result of a measurement, or the cause of its failure.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
