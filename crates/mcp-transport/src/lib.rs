//! Carries MCP messages between a server and its session.
//!
//! - [`stdio`]: MCP over the pipes of a local server, which the crate `process` starts and ends
//! - [`http`]: remote servers over Streamable HTTP and HTTP+SSE: finding out which, and their drivers
//! - [`driver`]: the parts of both drivers: a driver reads frames, feeds the session, writes what it wants
//!   to send, and tells its owner everything in order
//! - [`lines`]: newline framing with a cap
//! - [`memory`]: two connected ends in memory, for tests
//!
//! Everything that comes from a server is bounded in size, number and time, and a failure ends no
//! more than that server's own session.

pub mod driver;
pub mod http;
pub mod lines;
pub mod memory;
mod rate;
pub mod stdio;

pub use driver::{Direction, DriverCommand, DriverEvent, Frame};
pub use stdio::{DriverHandle, DriverLimits, run, run_streams, run_with};
