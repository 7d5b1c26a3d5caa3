//! Two connected ends in memory: a server without a process, for tests.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

/// One end: what the other writes is read here.
#[derive(Debug)]
pub struct MemoryEnd {
    /// Reads what the other end writes.
    pub reader: ReadHalf<DuplexStream>,
    /// Writes to the other end. It is closed when both halves of this end are dropped, or by
    /// shutting it down.
    pub writer: WriteHalf<DuplexStream>,
}

/// Two ends with room for `capacity` bytes in each direction; a writer waits when it is full, as with
/// a pipe.
pub fn pair(capacity: usize) -> (MemoryEnd, MemoryEnd) {
    let (left, right) = duplex(capacity);
    let end = |stream| {
        let (reader, writer) = split(stream);
        MemoryEnd { reader, writer }
    };
    (end(left), end(right))
}
