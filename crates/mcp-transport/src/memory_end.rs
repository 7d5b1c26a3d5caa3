//! Two connected in-memory streams: a server without a process, for tests.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

/// One end of an in-memory connection. Its reader receives the bytes that are written to the other end.
#[derive(Debug)]
pub struct InMemoryStreamEnd {
    /// Reads the bytes that are written to the other end.
    pub reader: ReadHalf<DuplexStream>,
    /// Writes bytes for the reader of the other end. Closed by a shutdown, or by dropping both halves of this end.
    pub writer: WriteHalf<DuplexStream>,
}

/// Creates two connected ends, with a buffer of `capacity` bytes in each direction. A writer waits while the buffer is
/// full, as with a pipe.
pub fn connected_stream_pair(capacity: usize) -> (InMemoryStreamEnd, InMemoryStreamEnd) {
    let (left, right) = duplex(capacity);
    let end = |stream| {
        let (reader, writer) = split(stream);
        InMemoryStreamEnd { reader, writer }
    };
    (end(left), end(right))
}
