//! Code that the session drivers in `stdio` and `http` share. A driver connects a transport with the session and its
//! [`SessionOwner`]. All three run in one task.
//!
//! A driver reads only while its owner accepts events, so that a flood of messages blocks the server instead of filling
//! buffers here. The owner may act at any time. Writing never blocks reading, so a server that does not read its input
//! cannot block the driver either.

mod channel_owner;
pub(crate) mod deadline_timer;
mod detected_transport;
pub(crate) mod driver_core;
pub(crate) mod event_outbox;
mod frame;
pub(crate) mod message_intake;
pub(crate) mod session_owner;
mod wake_flag;

use mcp_proto::SessionEvent;

pub(crate) use self::channel_owner::ChannelSessionOwner;
pub use self::channel_owner::DriverCommand;
pub use self::detected_transport::DetectedTransport;
pub use self::frame::{Frame, FrameDirection, FrameKind};
pub use self::session_owner::{SessionControl, SessionOwner};
pub use self::wake_flag::WakeFlag;

/// An event that the driver reports to the owner of the session, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverEvent {
    /// An event of the [`Session`](mcp_proto::Session), such as the end of a call.
    Session(SessionEvent),
    /// A message that was sent or received.
    Frame(Frame),
    /// A line of the server's standard error, escaped for display. Does not indicate a failure.
    Stderr {
        /// Escaped text of the line. A line of more than 8 KiB is truncated before it is escaped.
        line: String,
    },
    /// The session with a remote server is connected. Reported before its [`SessionEvent::Ready`].
    Connected {
        /// Transport of the connection, which was detected or configured.
        transport: DetectedTransport,
        /// Steps of the transport detection, such as "server/discover answered 404, initialize answered".
        how: String,
    },
    /// A diagnostic message about the connection, escaped for display, such as in the server's activity log. For a
    /// remote server, it reports opened and lost streams, followed redirects, and the next retry. For a local server
    /// with restricted network access, it reports connections that were opened or refused.
    Note {
        /// Text of the diagnostic message, one line.
        line: String,
    },
    /// Lines of standard error were not reported because they exceeded the rate limit.
    StderrDropped {
        /// Number of bytes that were not reported as [`DriverEvent::Stderr`]. The most recent ones can still be read
        /// from the [`StderrRing`](crate::stdio::StderrRing).
        bytes: u64,
    },
    /// Invalid lines or other anomalies were not reported because they exceeded the rate limit.
    InvalidDropped {
        /// Number of invalid lines that were not reported as [`DriverEvent::Frame`].
        lines: u64,
        /// Total size of the unreported invalid lines, in bytes.
        bytes: u64,
        /// Number of anomalies that were not reported as [`SessionEvent::Anomaly`].
        anomalies: u64,
    },
    /// The server's process has ended.
    Exited {
        /// Exit code of the process, or `None` if a signal ended it.
        status: Option<i32>,
        /// Number of the signal that ended the process, or `None` if the process exited by itself.
        signal: Option<i32>,
    },
}
