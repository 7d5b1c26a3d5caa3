//! Newline framing: splits a byte stream into lines of bounded length.
//!
//! An oversized line is reported as soon as it exceeds the limit, because it may never end. Its further bytes are
//! skipped without being stored. It is reported once more at its end, because the ID of a message is often last. Then
//! decoding continues with the next line.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;
use tokio_util::codec::Decoder;

/// Default maximum length of a line, in bytes.
pub const DEFAULT_MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Number of bytes that are retained from the beginning and from the end of a line that exceeds the limit.
pub const MAX_LINE_EXCERPT_BYTES: usize = 4 * 1024;

/// Capacity in bytes above which a read buffer is replaced by a smaller one, if its content is smaller than
/// [`MAX_NEARLY_EMPTY_BUFFER_BYTES`].
const MAX_IDLE_BUFFER_BYTES: usize = 256 * 1024;
/// Number of buffered bytes below which a read buffer that a large line has grown is replaced by a smaller one.
const MAX_NEARLY_EMPTY_BUFFER_BYTES: usize = 64 * 1024;

/// A complete line, or a report about a line that exceeds the length limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodedLine {
    /// A complete line without its terminator. Not empty, and possibly not UTF-8.
    Whole(Bytes),
    /// The line that is being received exceeds the length limit. The decoder skips its remaining bytes.
    Oversized {
        /// First [`MAX_LINE_EXCERPT_BYTES`] bytes of the line, or fewer if the decoder's length limit is smaller.
        head: Bytes,
    },
    /// The end of the line that the last [`DecodedLine::Oversized`] reported.
    OversizedEnd {
        /// Length of the whole line, in bytes.
        length: u64,
        /// First [`MAX_LINE_EXCERPT_BYTES`] bytes of the line.
        head: Bytes,
        /// Last [`MAX_LINE_EXCERPT_BYTES`] bytes of the line.
        tail: Bytes,
    },
}

/// Splits bytes into lines at `\n`. Removes a `\r` before the `\n`, and skips empty lines.
///
/// # Examples
///
/// A line beyond the limit is reported twice, and does not affect the next one:
///
/// ```
/// use bytes::{Bytes, BytesMut};
/// use mcp_transport::line_decoder::{DecodedLine, LineDecoder};
/// use tokio_util::codec::Decoder as _;
///
/// let mut decoder = LineDecoder::new(8);
/// let mut buffer = BytesMut::from("{\"a\":1}\r\nmuch too long\n{}\n");
/// assert_eq!(decoder.decode(&mut buffer)?, Some(DecodedLine::Whole(Bytes::from("{\"a\":1}"))));
/// assert_eq!(decoder.decode(&mut buffer)?, Some(DecodedLine::Oversized { head: Bytes::from("much too") }));
/// let ended = decoder.decode(&mut buffer)?;
/// assert!(matches!(ended, Some(DecodedLine::OversizedEnd { length: 13, .. })), "{ended:?}");
/// assert_eq!(decoder.decode(&mut buffer)?, Some(DecodedLine::Whole(Bytes::from("{}"))));
/// assert_eq!(decoder.decode(&mut buffer)?, None, "more bytes are needed");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    /// Number of bytes at the beginning of the buffer that were already searched for a newline and contain none.
    scanned: usize,
    skipped: Option<OverlongLine>,
}

#[derive(Debug)]
struct OverlongLine {
    length: u64,
    head: Bytes,
    tail: Vec<u8>,
}

impl LineDecoder {
    /// Creates a decoder for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> LineDecoder {
        LineDecoder { limit, scanned: 0, skipped: None }
    }

    /// Returns the maximum length of a line, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    fn skip_line(&mut self, buffer: &mut BytesMut) -> Option<DecodedLine> {
        let skipped = self.skipped.as_mut()?;
        let Some(end) = memchr(b'\n', buffer) else {
            skipped.skip_bytes_of_line(buffer);
            buffer.clear();
            return None;
        };
        skipped.skip_bytes_of_line(&buffer[..end]);
        buffer.advance(end + 1);
        shrink_read_buffer(buffer);
        self.skipped.take().map(OverlongLine::into_ended_line)
    }

    fn take_whole_line(&mut self, buffer: &mut BytesMut, length: usize) -> Option<DecodedLine> {
        self.scanned = 0;
        let mut line = buffer.split_to(length);
        if line.last() == Some(&b'\r') {
            line.truncate(length - 1);
        }
        (!line.is_empty()).then(|| DecodedLine::Whole(line.freeze()))
    }
}

impl Decoder for LineDecoder {
    type Item = DecodedLine;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DecodedLine>, io::Error> {
        loop {
            if self.skipped.is_some() {
                return Ok(self.skip_line(buffer));
            }
            let newline = memchr(b'\n', &buffer[self.scanned..]).map(|at| self.scanned + at);
            let length = newline.unwrap_or(buffer.len());
            if length > self.limit {
                let head = Bytes::copy_from_slice(&buffer[..self.limit.min(MAX_LINE_EXCERPT_BYTES)]);
                let mut skipped = OverlongLine { length: 0, head: head.clone(), tail: Vec::new() };
                skipped.skip_bytes_of_line(&buffer[..length]);
                buffer.advance(length);
                shrink_read_buffer(buffer);
                self.scanned = 0;
                self.skipped = Some(skipped);
                return Ok(Some(DecodedLine::Oversized { head }));
            }
            if newline.is_none() {
                self.scanned = buffer.len();
                return Ok(None);
            }
            let line = self.take_whole_line(buffer, length);
            buffer.advance(1);
            shrink_read_buffer(buffer);
            if line.is_some() {
                return Ok(line);
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<DecodedLine>, io::Error> {
        if let Some(line) = self.decode(buffer)? {
            return Ok(Some(line));
        }
        if let Some(skipped) = self.skipped.take() {
            return Ok(Some(skipped.into_ended_line()));
        }
        let length = buffer.len();
        Ok(self.take_whole_line(buffer, length))
    }
}

impl OverlongLine {
    fn skip_bytes_of_line(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let keep = &bytes[bytes.len().saturating_sub(MAX_LINE_EXCERPT_BYTES)..];
        let overflow = (self.tail.len() + keep.len()).saturating_sub(MAX_LINE_EXCERPT_BYTES);
        self.tail.drain(..overflow);
        self.tail.extend_from_slice(keep);
    }

    fn into_ended_line(mut self) -> DecodedLine {
        if self.tail.last() == Some(&b'\r') {
            self.tail.pop();
        }
        DecodedLine::OversizedEnd { length: self.length, head: self.head, tail: Bytes::from(self.tail) }
    }
}

/// Replaces a nearly empty buffer that a large line has grown by a smaller one, to release its memory.
fn shrink_read_buffer(buffer: &mut BytesMut) {
    if buffer.capacity() > MAX_IDLE_BUFFER_BYTES && buffer.len() < MAX_NEARLY_EMPTY_BUFFER_BYTES {
        *buffer = BytesMut::from(&buffer[..]);
    }
}
