//! Two connected in-memory streams: a server without a process, for tests.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

/// An end of a connection. Bytes written to the other end are read here.
#[derive(Debug)]
pub struct MemoryEnd {
    /// Reader of the bytes that the other end writes.
    pub reader: ReadHalf<DuplexStream>,
    /// Writer to the other end. Closed when both halves of this end are dropped, or by shutting it down.
    pub writer: WriteHalf<DuplexStream>,
}

/// Creates two connected ends with a buffer of `capacity` bytes in each direction. A writer waits while the buffer is
/// full, as with a pipe.
pub fn pair(capacity: usize) -> (MemoryEnd, MemoryEnd) {
    let (left, right) = duplex(capacity);
    let end = |stream| {
        let (reader, writer) = split(stream);
        MemoryEnd { reader, writer }
    };
    (end(left), end(right))
}
