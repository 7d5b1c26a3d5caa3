//! Drawbridge's own client: a host over ports in memory, whose user allows everything. `bench-client` and `bench-steps` measure it.

pub mod calls;
mod memory;
pub mod open;

use std::error::Error;

/// A measurement that fails says where.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
