//! Reads lines with a buffer whose size adapts to the amount of data that the server sends.

use std::io;

use bytes::BytesMut;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::codec::Decoder;

use crate::line_decoder::{DecodedLine, LineDecoder};

/// Minimum number of bytes that one read requests.
const MIN_READ_BYTES: usize = 1024;
/// Maximum number of bytes that one read requests, which is the capacity of a pipe.
const MAX_READ_BYTES: usize = 64 * 1024;
/// Length in bytes above which the buffer of an incomplete line is allocated for the maximum line length. Growing the
/// buffer gradually would copy the line each time, and unused memory is not committed.
const MIN_LONG_LINE_BYTES: usize = 1024 * 1024;

/// Reads lines with a buffer whose size adapts to the amount of data.
pub(super) struct LineReader<R> {
    reader: R,
    lines: LineDecoder,
    /// Maximum length of a line, in bytes.
    longest: usize,
    buffer: BytesMut,
    /// Maximum number of bytes that the next read requests.
    read_size: usize,
    /// Set if the read buffer has grown, so that it should shrink while no data arrives.
    is_buffer_grown: bool,
    /// Set if the read stream has ended or failed.
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader. `longest` is the maximum length of a line, in bytes.
    pub(super) fn new(reader: R, longest: usize) -> LineReader<R> {
        LineReader {
            reader,
            lines: LineDecoder::new(longest),
            longest,
            buffer: BytesMut::new(),
            read_size: MIN_READ_BYTES,
            is_buffer_grown: false,
            ended: false,
        }
    }

    /// Returns the next line from the buffer without reading from the stream, or `None` if the buffer has no complete
    /// line.
    pub(super) fn take_buffered_line(&mut self) -> Option<io::Result<DecodedLine>> {
        let found = if self.ended {
            self.lines.decode_eof(&mut self.buffer)
        } else if self.buffer.is_empty() {
            return None;
        } else {
            self.lines.decode(&mut self.buffer)
        };
        found.transpose()
    }

    /// Returns the next line, or `None` at the end of the stream. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<io::Result<DecodedLine>> {
        loop {
            let found = self.take_buffered_line();
            if found.is_some() || self.ended {
                return found;
            }
            match self.read_into_buffer().await {
                Ok((0, _)) => self.ended = true,
                Ok((length, room)) => self.adapt_read_size(length, room),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }

    /// Reads once from the stream into the buffer. Returns the number of bytes read, and the number of bytes for which
    /// the buffer had room.
    async fn read_into_buffer(&mut self) -> io::Result<(usize, usize)> {
        let is_long = self.buffer.len() >= MIN_LONG_LINE_BYTES;
        let missing = if is_long { self.longest.saturating_sub(self.buffer.len()) } else { 0 };
        self.buffer.reserve(self.read_size.max(missing));
        self.is_buffer_grown |= self.read_size > MIN_READ_BYTES;
        let room = self.buffer.capacity() - self.buffer.len();
        if let Some(read) = self.reader.read_buf(&mut self.buffer).now_or_never() {
            return Ok((read?, room));
        }
        // A large buffer is wasteful while no data arrives.
        if self.buffer.is_empty() && self.is_buffer_grown {
            self.buffer = BytesMut::with_capacity(MIN_READ_BYTES);
            self.is_buffer_grown = false;
        }
        let room = self.buffer.capacity() - self.buffer.len();
        Ok((self.reader.read_buf(&mut self.buffer).await?, room))
    }

    fn adapt_read_size(&mut self, length: usize, room: usize) {
        if length == room {
            self.read_size = (self.read_size * 2).min(MAX_READ_BYTES);
        } else if length < self.read_size / 4 {
            self.read_size = (self.read_size / 2).max(MIN_READ_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn read_buffer_grows_and_shrinks_with_the_input() {
        let many = "0123456789\n".repeat(100_000);
        let mut reader = LineReader::new(many.as_bytes(), 1024);
        let mut lines = 0;
        while let Some(line) = reader.next().await {
            assert!(
                matches!(line.unwrap(), DecodedLine::Whole(line) if *line == *b"0123456789"),
                "line {lines} must be complete"
            );
            lines += 1;
        }
        assert_eq!(lines, 100_000, "each line must be read once");
        assert_eq!(reader.read_size, MAX_READ_BYTES, "reads must have grown to the maximum");
        (0..10).for_each(|_| reader.adapt_read_size(80, reader.read_size * 2));
        assert_eq!(reader.read_size, MIN_READ_BYTES, "the buffer must shrink for small reads");
    }

    #[tokio::test]
    async fn idle_reader_keeps_no_large_buffer() {
        let (mut server, output) = tokio::io::duplex(2 * MAX_READ_BYTES);
        let mut reader = LineReader::new(output, MAX_READ_BYTES);
        let line = format!("{}\n", "x".repeat(MAX_READ_BYTES / 2));
        for _ in 0..3 {
            server.write_all(line.as_bytes()).await.unwrap();
            assert!(matches!(reader.next().await, Some(Ok(DecodedLine::Whole(_)))), "the line must be complete");
        }
        assert!(reader.read_size > MIN_READ_BYTES, "the next read must be larger");
        assert!(reader.next().now_or_never().is_none(), "there must be no further line");
        assert!(reader.buffer.capacity() <= MIN_READ_BYTES, "the idle buffer has {} bytes", reader.buffer.capacity());
        server.write_all(line.as_bytes()).await.unwrap();
        assert!(matches!(reader.next().await, Some(Ok(DecodedLine::Whole(_)))), "the next line must be complete, too");
    }

    #[tokio::test]
    async fn long_line_is_not_copied_repeatedly() {
        let longest = 4 * MIN_LONG_LINE_BYTES;
        let line = format!("{}\n", "x".repeat(3 * MIN_LONG_LINE_BYTES));
        let mut reader = LineReader::new(line.as_bytes(), longest);
        while reader.buffer.len() < MIN_LONG_LINE_BYTES {
            reader.read_into_buffer().await.unwrap();
        }
        reader.read_into_buffer().await.unwrap();
        let (place, room) = (reader.buffer.as_ptr(), reader.buffer.capacity());
        assert!(room >= longest, "the buffer must have room for the longest line");
        let read = reader.next().await;
        assert!(
            matches!(&read, Some(Ok(DecodedLine::Whole(read))) if read.as_ptr() == place),
            "the line must not be moved"
        );
    }

    #[tokio::test]
    async fn last_line_without_a_newline_is_returned() {
        let mut reader = LineReader::new(&b"one\ntwo"[..], 1024);
        assert!(
            matches!(reader.next().await, Some(Ok(DecodedLine::Whole(line))) if *line == *b"one"),
            "the first line must be returned"
        );
        assert!(
            matches!(reader.next().await, Some(Ok(DecodedLine::Whole(line))) if *line == *b"two"),
            "the second line must be returned"
        );
        assert!(reader.next().await.is_none(), "no further line must be returned");
    }
}
