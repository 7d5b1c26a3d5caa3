//! Carries MCP messages between a server and its session.
//!
//! - [`stdio`]: local servers as child processes: finding the program, starting it, its
//!   standard error
//! - [`http`]: remote servers over Streamable HTTP and HTTP+SSE: finding out which, and their drivers
//! - [`driver`]: the one task per server that reads frames, feeds the session, writes what it wants
//!   to send, and tells its owner everything in order
//! - [`lines`]: newline framing with a cap
//! - [`sandbox`]: what a local server may reach, and what holds it
//! - [`shutdown`]: ending a server politely, then surely
//! - [`orphans`]: ending what a killed app has left behind
//! - [`memory`]: two connected ends in memory, for tests
//!
//! Everything that comes from a server is bounded in size, number and time, and a failure ends no
//! more than that server's own session.

pub mod driver;
pub mod http;
pub mod lines;
pub mod memory;
pub mod orphans;
mod platform;
mod rate;
pub mod sandbox;
pub mod shutdown;
pub mod stdio;
mod visible;

pub use driver::{
    Direction, DriverCommand, DriverEvent, DriverHandle, DriverLimits, Frame, run, run_streams, run_with,
};
pub use orphans::{RunningRecord, StartTime, SweepOutcome, Swept, sweep};
pub use stdio::{
    CommandNotFound, Exit, PathSource, SearchPath, ServerCommand, ServerProcess, SpawnError, Spawned, StderrRing, spawn,
};
pub use visible::visible;
