//! Bounds of one remote server's driver.

use std::time::Duration;

/// Bounds of one remote server's driver.
///
/// How long a call may wait is not among them: its own deadline decides, also for an answer that trickles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// Largest message that is accepted, in bytes, as a body or as one event of a stream. 16 MiB.
    pub message_bytes: usize,
    /// How long connecting may take, TLS included. 15 s.
    pub connect: Duration,
    /// How long the server may take to accept a notification or a response, or to answer when a stream is
    /// opened. 30 s.
    pub accept: Duration,
    /// How long the endpoint event of HTTP+SSE may take where that transport is only a guess; after that the
    /// server does not speak it. 10 s.
    pub endpoint: Duration,
    /// POSTs at the same time; more wait. The last [`HttpLimits::RESERVED`] of them are kept for what is no
    /// request, so that a call can be cancelled while others hang. 256.
    pub posts: usize,
    /// How long the end of a session may take, from the last messages to the answer to DELETE. 2 s.
    pub close: Duration,
    /// Pause before a lost stream is opened again when the server names none; it doubles with each failure, up
    /// to [`HttpLimits::LONGEST_PAUSE`], and is jittered. 1 s.
    pub pause: Duration,
    /// How often in a row opening a call's stream again may fail before its answer counts as lost. 8.
    pub resumptions: u32,
}

impl HttpLimits {
    /// The shortest pause before a stream is opened again for the first time, whatever the server wants. Servers that are
    /// polled end a stream early on purpose and say in `retry` when the client may come back.
    pub const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
    /// The shortest pause before each further attempt, until a stream has stayed open for a while. 1 s.
    pub const SPACING: Duration = Duration::from_secs(1);
    /// The longest such pause.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(60);
    /// Of [`HttpLimits::posts`], those that are kept for what is no request.
    pub const RESERVED: usize = 16;
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits {
            message_bytes: 16 * 1024 * 1024,
            connect: Duration::from_secs(15),
            accept: Duration::from_secs(30),
            endpoint: Duration::from_secs(10),
            posts: 256,
            close: Duration::from_secs(2),
            pause: Duration::from_secs(1),
            resumptions: 8,
        }
    }
}
