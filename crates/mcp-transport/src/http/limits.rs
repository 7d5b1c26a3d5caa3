//! Size limits, timeouts and retry delays for the driver of one remote server.

use std::time::Duration;

/// Size limits, timeouts and retry delays for the driver of one remote server.
///
/// The duration of a call is not limited here: the deadline of the call also applies to a response that arrives slowly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// Maximum size in bytes of a received message, which is a response body or one event of a stream. Default: 16 MiB.
    pub message_bytes: usize,
    /// Timeout of connecting to the server, including the TLS handshake. Default: 15 s.
    pub connect: Duration,
    /// Maximum time until the server responds to a POST with a notification or response, or to the GET that opens a
    /// stream. Default: 30 s.
    pub accept: Duration,
    /// Maximum time to wait for the `endpoint` event of HTTP+SSE, while the transport detection does not know if the
    /// server supports this transport. Default: 10 s.
    pub endpoint: Duration,
    /// Maximum number of concurrent POSTs. Further messages wait. Requests leave
    /// [`HttpLimits::POSTS_RESERVED_FOR_NON_REQUESTS`] of them unused, so that a call can be cancelled even if all
    /// requests hang. Default: 256.
    pub posts: usize,
    /// Timeout of closing a session, from posting the last messages to the response to DELETE. Default: 2 s.
    pub close: Duration,
    /// Initial delay before a lost stream is reopened, unless the server sends a `retry` value. The delay doubles with
    /// each failure up to [`HttpLimits::MAX_STREAM_REOPEN_DELAY`], with jitter. Default: 1 s.
    pub pause: Duration,
    /// Maximum number of consecutive failed attempts to reopen the response stream of a call, after which the response
    /// counts as lost. Default: 8.
    pub resumptions: u32,
}

impl HttpLimits {
    /// Minimum delay before a stream is reopened for the first time, even if the server sends a smaller `retry` value.
    /// Servers that use polling end a stream early on purpose, with the delay in `retry`.
    pub const MIN_STREAM_REOPEN_DELAY: Duration = Duration::from_millis(100);
    /// Minimum delay before each further attempt to reopen a stream, until a stream has stayed open for 10 s.
    pub const MIN_REPEATED_STREAM_REOPEN_DELAY: Duration = Duration::from_secs(1);
    /// Maximum delay before a stream is reopened, also if the server sends a larger `retry` value.
    pub const MAX_STREAM_REOPEN_DELAY: Duration = Duration::from_secs(60);
    /// Number of concurrent POSTs, out of [`HttpLimits::posts`], that are reserved for notifications, responses and
    /// pings.
    pub const POSTS_RESERVED_FOR_NON_REQUESTS: usize = 16;
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
