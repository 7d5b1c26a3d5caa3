//! Normalizes the bytes of an event stream into blocks of lines.
//!
//! The output has no byte order mark, no comments, no unknown fields, no invalid UTF-8, only `\n` as line terminator,
//! and no block above the limit. A block is output line by line when it is complete. A line ends as soon as its
//! terminator is read: after `\r` the normalizer does not wait for `\n`. Time is linear in the input.

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use crate::line_decoder::MAX_LINE_EXCERPT_BYTES;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Maximum number of digits of a `retry` field's value. Fields with longer values are ignored.
const MAX_RETRY_DIGITS: usize = 18;

/// An event that was skipped because it exceeds the size limit. Later events are read normally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OversizedSseEvent {
    /// First bytes of the skipped event's data.
    pub(super) head: Bytes,
}

/// Output of the [`SseNormalizer`]: a normalized line, or an event that it skipped.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SseNormalizerOutput {
    /// A line with its `\n`. An empty line ends a block, which is one event.
    Line(Bytes),
    /// An event that exceeds the size limit, of which nothing else is output.
    Oversized(OversizedSseEvent),
}

/// Normalizes the bytes of an event stream into blocks of lines.
#[derive(Debug)]
pub(super) struct SseNormalizer {
    limit: usize,
    input: Bytes,
    /// Normalized bytes of the current block of lines. The current line begins at index `line`.
    block: BytesMut,
    line: usize,
    /// Set until the first line is complete. A byte order mark is removed from that line.
    at_start: bool,
    /// Set if the last byte was `\r`, so that a following `\n` belongs to it.
    after_return: bool,
    has_data: bool,
    /// Set if the block has an `id` or `retry` field, which have an effect even without data.
    has_control: bool,
    /// `Some` while the remaining bytes of an oversized block are skipped, with `true` if the current line is still
    /// empty.
    skipping: Option<bool>,
    ready: Bytes,
}

impl SseNormalizer {
    /// Creates a normalizer. `limit` is the maximum size of a block, in bytes.
    pub(super) fn new(limit: usize) -> SseNormalizer {
        SseNormalizer {
            limit,
            input: Bytes::new(),
            block: BytesMut::new(),
            line: 0,
            at_start: true,
            after_return: false,
            has_data: false,
            has_control: false,
            skipping: None,
            ready: Bytes::new(),
        }
    }

    /// Adds a chunk of the event stream's bytes. Must be called only after [`SseNormalizer::next`] returned `None`.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.input.is_empty(), "the previous input must be consumed");
        self.input = chunk;
    }

    /// Returns the next line of a complete block, or `None` if more input is needed.
    pub(super) fn next(&mut self) -> Option<SseNormalizerOutput> {
        loop {
            if !self.ready.is_empty() {
                let end = memchr(b'\n', &self.ready).map_or(self.ready.len(), |at| at + 1);
                return Some(SseNormalizerOutput::Line(self.ready.split_to(end)));
            }
            if self.input.is_empty() {
                return None;
            }
            if let Some(oversized) = self.take_next_line() {
                return Some(SseNormalizerOutput::Oversized(oversized));
            }
        }
    }

    /// Consumes input up to and including the end of a line, or all input if the line is incomplete. Returns the
    /// current event if this line makes it exceed the limit.
    fn take_next_line(&mut self) -> Option<OversizedSseEvent> {
        if std::mem::take(&mut self.after_return) && self.input.first() == Some(&b'\n') {
            self.input.advance(1);
        }
        let end = memchr2(b'\r', b'\n', &self.input);
        let part = self.input.split_to(end.unwrap_or(self.input.len()));
        if end.is_some() {
            self.after_return = self.input.first() == Some(&b'\r');
            self.input.advance(1);
        }
        if let Some(empty) = &mut self.skipping {
            *empty &= part.is_empty();
            if end.is_some() && std::mem::replace(empty, true) {
                self.skipping = None;
            }
            return None;
        }
        if self.block.len() + part.len() > self.limit {
            return Some(self.start_skipping_event(&part, end.is_some()));
        }
        self.block.extend_from_slice(&part);
        if end.is_some() {
            self.end_line();
        }
        None
    }

    fn start_skipping_event(&mut self, part: &[u8], line_ended: bool) -> OversizedSseEvent {
        let room = MAX_LINE_EXCERPT_BYTES.saturating_sub(self.block.len());
        self.block.extend_from_slice(&part[..part.len().min(room)]);
        self.block.truncate(MAX_LINE_EXCERPT_BYTES);
        let block = std::mem::take(&mut self.block).freeze();
        let head = memchr::memmem::find(&block, b"data:").map_or(0, |at| at + 5);
        let head = block.slice(head..);
        self.clear();
        // The line that exceeds the limit is not empty. The next one may be.
        self.skipping = Some(line_ended);
        OversizedSseEvent { head }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.at_start) && self.block.starts_with(BYTE_ORDER_MARK) {
            self.block.advance(BYTE_ORDER_MARK.len());
        }
        if self.block.len() == self.line {
            return self.end_sse_event();
        }
        let line = &self.block[self.line..];
        let colon = memchr(b':', line);
        let value = colon.map_or(&[][..], |at| &line[at + 1..]);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let keep = match &line[..colon.unwrap_or(line.len())] {
            b"data" => {
                self.has_data = true;
                true
            }
            b"event" => true,
            b"id" if memchr(0, value).is_none() => {
                self.has_control = true;
                true
            }
            b"retry" if is_retry_value(value) => {
                self.has_control = true;
                true
            }
            _ => false,
        };
        if keep {
            if let Some(corrected) = replace_invalid_bytes(line) {
                self.block.truncate(self.line);
                self.block.extend_from_slice(corrected.as_bytes());
            }
            self.block.extend_from_slice(b"\n");
        } else {
            self.block.truncate(self.line);
        }
        self.line = self.block.len();
    }

    fn end_sse_event(&mut self) {
        if self.has_data || self.has_control {
            if !self.has_data {
                // The parser does not report events without data, so an empty data line is added. MCP ignores events
                // with empty data.
                self.block.extend_from_slice(b"data\n");
            }
            self.block.extend_from_slice(b"\n");
            self.ready = self.block.split().freeze();
        }
        self.clear();
    }

    fn clear(&mut self) {
        self.block.clear();
        self.line = 0;
        self.has_data = false;
        self.has_control = false;
    }
}

fn is_retry_value(value: &[u8]) -> bool {
    !value.is_empty() && value.len() <= MAX_RETRY_DIGITS && value.iter().all(u8::is_ascii_digit)
}

/// Returns the line with invalid UTF-8 replaced, or `None` if the line is valid UTF-8.
fn replace_invalid_bytes(line: &[u8]) -> Option<String> {
    std::str::from_utf8(line).is_err().then(|| String::from_utf8_lossy(line).into_owned())
}
