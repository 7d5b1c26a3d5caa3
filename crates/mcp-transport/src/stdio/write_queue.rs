//! Queue of lines to write to the server's standard input, with limits on its size and on the time without progress.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::driver::driver_core::tokio_clock_now;

/// Maximum number of lines that one vectored write contains.
const MAX_LINES_PER_WRITE: usize = 16;

/// Queue of lines for the server's standard input, each with its newline.
#[derive(Debug)]
pub(super) struct WriteQueue {
    lines: VecDeque<Bytes>,
    bytes: usize,
    limit: usize,
    stall: Duration,
    /// Time at which a byte was last written, or at which the first line was added to the empty queue.
    progress_at: Option<Instant>,
}

/// Error for a line that does not fit into the write queue.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WriteQueueFull;

impl WriteQueue {
    pub(super) fn new(limit: usize, stall: Duration) -> WriteQueue {
        WriteQueue { lines: VecDeque::new(), bytes: 0, limit, stall, progress_at: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the total size of the queued lines in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a line that ends with a newline. A line above the size limit is accepted if the queue is empty.
    pub(super) fn push(&mut self, line: Bytes, now: Instant) -> Result<(), WriteQueueFull> {
        if !self.lines.is_empty() && self.bytes + line.len() > self.limit {
            return Err(WriteQueueFull);
        }
        if self.lines.is_empty() {
            self.progress_at = Some(now);
        }
        self.bytes += line.len();
        self.lines.push_back(line);
        Ok(())
    }

    /// Discards all queued lines without writing them.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.bytes = 0;
    }

    /// Returns the time at which the server counts as stalled unless it reads a byte before, or `None` if the queue is
    /// empty.
    pub(super) fn stall_deadline(&self) -> Option<Instant> {
        (!self.is_empty()).then(|| self.progress_at.map(|at| at + self.stall)).flatten()
    }

    /// Writes as many queued bytes as one write accepts. Never completes while the queue is empty. Cancel safe.
    pub(super) async fn write_some<W: AsyncWrite + Unpin>(&mut self, writer: &mut Option<W>) -> io::Result<()> {
        let Some(writer) = writer.as_mut().filter(|_| !self.lines.is_empty()) else {
            return std::future::pending().await;
        };
        let mut slices = [IoSlice::new(&[]); MAX_LINES_PER_WRITE];
        let count = slices.iter_mut().zip(&self.lines).map(|(slice, line)| *slice = IoSlice::new(line)).count();
        let written = writer.write_vectored(&slices[..count]).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes -= written;
        let mut rest = written;
        while let Some(line) = self.lines.front_mut().filter(|_| rest > 0) {
            let part = rest.min(line.len());
            line.advance(part);
            rest -= part;
            if line.is_empty() {
                self.lines.pop_front();
            }
        }
        if !self.lines.is_empty() {
            self.progress_at = Some(tokio_clock_now());
        }
        Ok(())
    }

    /// Writes all queued bytes, including those of a partially written line.
    pub(super) async fn write_all<W: AsyncWrite + Unpin>(&mut self, writer: &mut Option<W>) -> io::Result<()> {
        while !self.is_empty() {
            self.write_some(writer).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn queued_lines_are_written_in_order_within_the_bound() {
        let mut queue = WriteQueue::new(10, Duration::from_secs(30));
        let now = Instant::now();
        assert_eq!(queue.stall_deadline(), None, "an empty queue must not stall");
        queue.push(Bytes::from_static(b"{\"a\":1}\n"), now).unwrap();
        assert_eq!(
            queue.stall_deadline(),
            Some(now + Duration::from_secs(30)),
            "the stall time must start with the first line"
        );
        assert_eq!(
            queue.push(Bytes::from_static(b"abc"), now),
            Err(WriteQueueFull),
            "eleven bytes must not fit into a limit of ten"
        );
        queue.push(Bytes::from_static(b"b\n"), now).unwrap();
        let mut written = Some(Vec::new());
        queue.write_all(&mut written).await.unwrap();
        assert_eq!(written.unwrap(), b"{\"a\":1}\nb\n", "bytes must be written once and in order");
        assert_eq!(queue.bytes(), 0, "the queue must be empty");
    }

    #[tokio::test]
    async fn single_line_beyond_the_queue_bound_is_accepted() {
        let mut queue = WriteQueue::new(10, Duration::from_secs(30));
        let large = Bytes::from(vec![b'x'; 100]);
        assert_eq!(queue.push(large, Instant::now()), Ok(()), "a single large response must be accepted");
    }
}
