//! Limits of the driver of one remote server.

use std::time::Duration;

/// Limits of the driver of one remote server.
///
/// The time limit of a call is its own deadline, which also applies to a response that is sent slowly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum size of a received message, in bytes, as a body or as one event of a stream. Default: 16 MiB.
    pub message_bytes: usize,
    /// Time limit for connecting, including TLS. Default: 15 s.
    pub connect: Duration,
    /// Time limit for the server to accept a notification or a response, or to respond when a stream is opened.
    /// Default: 30 s.
    pub accept: Duration,
    /// Time limit for the endpoint event if HTTP+SSE is only assumed. After that, the server is considered not to
    /// support it. Default: 10 s.
    pub endpoint: Duration,
    /// Maximum number of concurrent POSTs. Others wait. The last [`HttpLimits::RESERVED_POSTS`] are not used for requests, so
    /// that a call can be cancelled while others hang. Default: 256.
    pub posts: usize,
    /// Time limit for closing a session, from the last messages to the response to DELETE. Default: 2 s.
    pub close: Duration,
    /// Pause before a lost stream is opened again if the server names none. It doubles with each failure, up to
    /// [`HttpLimits::MAX_PAUSE`], with jitter. Default: 1 s.
    pub pause: Duration,
    /// Maximum number of consecutive failures to reopen a call's stream before its response counts as lost. Default: 8.
    pub resumptions: u32,
}

impl HttpLimits {
    /// Minimum pause before a stream is opened again for the first time, even if the server requests less. Servers that
    /// use polling end a stream early on purpose and send the pause in `retry`.
    pub const MIN_PAUSE: Duration = Duration::from_millis(100);
    /// Minimum pause before each further attempt, until a stream has stayed open for a while. 1 s.
    pub const MIN_RETRY_SPACING: Duration = Duration::from_secs(1);
    /// Maximum pause before a stream is opened again.
    pub const MAX_PAUSE: Duration = Duration::from_secs(60);
    /// Number of [`HttpLimits::posts`] that are not used for requests.
    pub const RESERVED_POSTS: usize = 16;
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
