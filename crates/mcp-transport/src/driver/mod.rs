//! Common parts of the session drivers in `stdio` and `http`. A driver connects a transport with the session and its
//! [`SessionOwner`], and runs in one task with it.
//!
//! A driver reads only while its owner accepts events, so a flood is held back at the server and not buffered here. The
//! owner may act at any time. Writing never blocks reading, so a server that does not read its input cannot block the
//! driver either.

mod channel_owner;
mod detected_transport;
pub(crate) mod driver_core;
pub(crate) mod due_timer;
pub(crate) mod event_outbox;
mod frame;
pub(crate) mod message_intake;
pub(crate) mod session_owner;
mod wake_flag;

use mcp_proto::SessionEvent;

pub(crate) use self::channel_owner::ChannelOwner;
pub use self::channel_owner::DriverCommand;
pub use self::detected_transport::DetectedTransport;
pub use self::frame::{Direction, Frame, FrameKind};
pub use self::session_owner::{SessionControl, SessionOwner};
pub use self::wake_flag::WakeFlag;

/// An event that is reported to the owner, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverEvent {
    /// An event of the session.
    Session(SessionEvent),
    /// A message that was sent or received.
    Frame(Frame),
    /// A line on standard error, safe to display. It does not indicate a failure.
    Stderr {
        /// The line, from at most 8 KiB of the server's bytes.
        line: String,
    },
    /// A connection to a remote server was established. Precedes its [`SessionEvent::Ready`].
    Connected {
        /// Transport of the server.
        transport: DetectedTransport,
        /// Steps of the detection, such as "server/discover answered 404, initialize answered".
        how: String,
    },
    /// A note about the connection to a remote server, safe to display: streams opened and lost, a redirect that was
    /// followed, the next retry. For a local server with named hosts: its network access.
    Note {
        /// Text of the note, one line.
        line: String,
    },
    /// Lines on standard error exceeded the rate limit.
    StderrDropped {
        /// Bytes that were not reported as [`DriverEvent::Stderr`]. Most of them are still in the ring buffer.
        bytes: u64,
    },
    /// Invalid lines or other anomalies exceeded the rate limit.
    InvalidDropped {
        /// Number of lines that were not reported as [`DriverEvent::Frame`].
        lines: u64,
        /// Size of these lines, in bytes.
        bytes: u64,
        /// Number of anomalies that were not reported.
        anomalies: u64,
    },
    /// The server's process has ended.
    Exited {
        /// Exit code, if the process exited by itself.
        status: Option<i32>,
        /// Signal that ended the process, if one did.
        signal: Option<i32>,
    },
}
