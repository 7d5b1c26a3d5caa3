//! The client of Drawbridge: a host over ports in memory, whose user allows everything. `bench-client` and
//! `bench-steps` measure it.

pub mod calls;
mod memory;
pub mod open;

use std::error::Error;

/// Result of a measurement, with the cause if it fails.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
