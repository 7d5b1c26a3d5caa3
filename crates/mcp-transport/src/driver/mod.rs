//! What the drivers of sessions have in common, over `stdio` and over `http`: a driver lies between a transport and the session's owner,
//! in the owner's own task.
//!
//! It reads only while its owner takes the events, so a flood waits at the server's own end and not
//! here; the owner may act at any time. Writing never keeps it from reading, so a server that does not
//! read its input cannot block it either.

pub(crate) mod alarm;
mod bell;
mod channels;
pub(crate) mod core;
mod frame;
pub(crate) mod intake;
pub(crate) mod outbox;
pub(crate) mod owner;
mod transport_found;

use mcp_proto::SessionEvent;

pub use self::bell::Bell;
pub(crate) use self::channels::Channels;
pub use self::channels::DriverCommand;
pub use self::frame::{Direction, Frame, FrameAbout};
pub use self::owner::{Control, Owner};
pub use self::transport_found::TransportFound;

/// What the owner learns, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverEvent {
    /// News from the session.
    Session(SessionEvent),
    /// A message that was sent or received.
    Frame(Frame),
    /// A line on standard error, safe to be shown. It proves no failure.
    Stderr {
        /// The line; at most 8 KiB of the server's bytes.
        line: String,
    },
    /// A remote server was found; comes before its [`SessionEvent::Ready`].
    Connected {
        /// What it speaks.
        transport: TransportFound,
        /// How that was found, in words, such as "server/discover answered 404, initialize answered".
        how: String,
    },
    /// News of the connection to a remote server, in words and safe to be shown: streams opened and lost, a
    /// redirect that was followed, what will be tried again and when. Of a local server: what it reached of the network,
    /// if it may reach named hosts.
    Note {
        /// One line.
        line: String,
    },
    /// Standard error came faster than it is shown.
    StderrDropped {
        /// Bytes that were not told as [`DriverEvent::Stderr`]; most are still in the ring.
        bytes: u64,
    },
    /// Invalid lines or other anomalies came faster than they are told.
    InvalidDropped {
        /// Lines that were not told as [`DriverEvent::Frame`].
        lines: u64,
        /// Their bytes.
        bytes: u64,
        /// Anomalies that were not told.
        anomalies: u64,
    },
    /// The server's process has ended.
    Exited {
        /// Its exit code, if it ended by itself.
        status: Option<i32>,
        /// The signal that ended it, if one did.
        signal: Option<i32>,
    },
}
