//! Reads lines, with a buffer as large as what comes at a time: small for a server that is idle, large for one that
//! sends a lot.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::codec::Decoder;

use crate::lines::{Line, Lines};

/// What is read at once at least, and at most; a pipe holds no more.
const LEAST_BYTES: usize = 1024;
const MOST_BYTES: usize = 64 * 1024;

pub(super) struct LineReader<R> {
    reader: R,
    lines: Lines,
    buffer: BytesMut,
    /// How much is asked for at the next read.
    wanted: usize,
    /// The stream has ended or failed.
    ended: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, lines: Lines) -> LineReader<R> {
        LineReader { reader, lines, buffer: BytesMut::new(), wanted: LEAST_BYTES, ended: false }
    }

    /// A line that has been read already.
    pub(super) fn buffered(&mut self) -> Option<io::Result<Line>> {
        let found = if self.ended {
            self.lines.decode_eof(&mut self.buffer)
        } else if self.buffer.is_empty() {
            return None;
        } else {
            self.lines.decode(&mut self.buffer)
        };
        found.transpose()
    }

    /// The next line; none when there are no more. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Option<io::Result<Line>> {
        loop {
            let found = self.buffered();
            if found.is_some() || self.ended {
                return found;
            }
            self.buffer.reserve(self.wanted);
            let room = self.buffer.capacity() - self.buffer.len();
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) => self.ended = true,
                Ok(length) => self.adapt(length, room),
                Err(error) => {
                    self.ended = true;
                    return Some(Err(error));
                }
            }
        }
    }

    fn adapt(&mut self, length: usize, room: usize) {
        if length == room {
            self.wanted = (self.wanted * 2).min(MOST_BYTES);
        } else if length < self.wanted / 4 {
            self.wanted = (self.wanted / 2).max(LEAST_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn the_buffer_grows_with_what_comes_and_shrinks_again() {
        let many = "0123456789\n".repeat(100_000);
        let mut reader = LineReader::new(many.as_bytes(), Lines::new(1024));
        let mut lines = 0;
        while let Some(line) = reader.next().await {
            assert!(matches!(line.unwrap(), Line::Whole(line) if *line == *b"0123456789"), "line {lines} is whole");
            lines += 1;
        }
        assert_eq!(lines, 100_000, "each line comes once");
        assert_eq!(reader.wanted, MOST_BYTES, "reads were as large as they may be");
        (0..10).for_each(|_| reader.adapt(80, reader.wanted * 2));
        assert_eq!(reader.wanted, LEAST_BYTES, "a server that sends little has a small buffer");
    }

    #[tokio::test]
    async fn what_stands_after_the_last_newline_is_a_line() {
        let mut reader = LineReader::new(&b"one\ntwo"[..], Lines::new(1024));
        assert!(matches!(reader.next().await, Some(Ok(Line::Whole(line))) if *line == *b"one"), "the first");
        assert!(matches!(reader.next().await, Some(Ok(Line::Whole(line))) if *line == *b"two"), "the second");
        assert!(reader.next().await.is_none(), "and no more");
    }
}
