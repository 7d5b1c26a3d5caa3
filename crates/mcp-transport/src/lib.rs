//! Carries MCP messages between servers and their sessions.
//!
#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! - [`stdio`]: MCP over the pipes of a local server, which the crate `process` starts and ends
//! - [`http`]: remote servers over Streamable HTTP and HTTP+SSE, including the detection of the transport
//! - [`driver`]: code that the drivers of all transports share. A driver is the task of one session: it reads messages,
//!   passes them to the session, writes the session's messages, and reports all events to its owner in order
//! - [`line_decoder`]: newline framing with a maximum line length
//! - [`memory_end`]: two connected in-memory streams, for tests
//!
//! All input from a server is bounded in size, number and time. A failure ends only that server's own session.

pub mod driver;
pub mod http;
pub mod line_decoder;
pub mod memory_end;
pub mod stdio;
mod token_bucket;

pub use driver::{DriverCommand, DriverEvent, Frame, FrameDirection};
pub use stdio::{DriverHandle, StdioDriverLimits, run, run_over_streams, run_with_limits};
