//! Reads a server's standard error without pause, stores its last lines in a ring buffer, and reports lines at a
//! bounded rate.
//!
//! A server whose standard error is not read blocks as soon as the pipe is full, so it is read at any speed. Only the
//! stored and the reported lines are limited.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foreign::escape_invisible;
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;

use crate::driver::driver_core::tokio_clock_now;
use crate::token_bucket::TokenBucket;

/// Maximum total size of the lines in a ring buffer, in bytes.
const MAX_STDERR_RING_BYTES: usize = 1024 * 1024;
/// Memory that a stored line of standard error takes in addition to its text, in bytes.
const STDERR_LINE_OVERHEAD_BYTES: usize = 48;
/// Maximum length of a stored line of standard error, in bytes. Longer lines are truncated.
const MAX_STDERR_LINE_BYTES: usize = 8 * 1024;
/// Initial size of the read buffer in bytes, which is small because most servers print little.
const MIN_READ_BYTES: usize = 256;
/// Maximum size of the read buffer, in bytes.
const MAX_READ_BYTES: usize = 16 * 1024;

/// Maximum number of lines that are reported for display in a burst. All lines are stored, even if they are not
/// reported.
const REPORTED_STDERR_LINES_BURST: u32 = 200;
/// Number of lines per second that are reported for display after a burst.
const REPORTED_STDERR_LINES_PER_SECOND: u32 = 50;

/// The last lines of a server's standard error. Clones share one buffer.
#[derive(Debug, Clone, Default)]
pub struct StderrRing(Arc<Mutex<StderrLines>>);

#[derive(Debug, Default)]
struct StderrLines {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrRing {
    /// Returns the last `n` lines, oldest first. Control characters are escaped, and invalid UTF-8 is replaced. The
    /// number of missing bytes is appended to a truncated line.
    pub fn last_lines(&self, n: usize) -> Vec<String> {
        let ring = self.lock();
        let skip = ring.lines.len().saturating_sub(n);
        ring.lines.iter().skip(skip).cloned().collect()
    }

    /// Returns the total size of the stored lines in bytes, at most 1 MiB.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn push(&self, line: String) {
        let mut ring = self.lock();
        ring.bytes += line.len() + STDERR_LINE_OVERHEAD_BYTES;
        ring.lines.push_back(line);
        while ring.bytes > MAX_STDERR_RING_BYTES {
            let Some(oldest) = ring.lines.pop_front() else {
                break;
            };
            ring.bytes -= oldest.len() + STDERR_LINE_OVERHEAD_BYTES;
        }
    }

    fn lock(&self) -> MutexGuard<'_, StderrLines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Output of [`drain_stderr`] for display: a line, or a number of dropped bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StderrOutput {
    Line(String),
    /// Number of bytes of standard error that were not reported.
    Dropped(u64),
}

/// Reads a server's standard error until its end, stores its lines in `ring` and sends them to `shown`. Drops lines if
/// the receiver has no room, and waits for the receiver only at the end.
pub(crate) async fn drain_stderr(
    mut stream: impl AsyncRead + Unpin,
    ring: StderrRing,
    shown: mpsc::Sender<StderrOutput>,
) {
    let mut buffer = vec![0; MIN_READ_BYTES];
    let mut cutter = LineTruncator::default();
    let mut show = StderrForwarder {
        ring,
        shown,
        bucket: TokenBucket::new(REPORTED_STDERR_LINES_BURST, REPORTED_STDERR_LINES_PER_SECOND),
        dropped: 0,
    };
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        cutter.push_bytes(&buffer[..length], |line, cut| show.forward_line(line, cut));
        if length == buffer.len() && length < MAX_READ_BYTES {
            buffer.resize(length * 4, 0);
        } else if length < MIN_READ_BYTES && buffer.len() > MIN_READ_BYTES {
            buffer = vec![0; MIN_READ_BYTES];
        }
    }
    cutter.end_line(|line, cut| show.forward_line(line, cut));
    if show.dropped > 0 {
        let _ = show.shown.send(StderrOutput::Dropped(show.dropped)).await;
    }
}

/// Stores lines of standard error in the ring buffer, and sends them to the receiver at a bounded rate.
struct StderrForwarder {
    ring: StderrRing,
    shown: mpsc::Sender<StderrOutput>,
    bucket: TokenBucket,
    dropped: u64,
}

impl StderrForwarder {
    fn forward_line(&mut self, line: &[u8], cut: u64) {
        let mut text = escape_invisible(&String::from_utf8_lossy(line)).into_owned();
        if cut > 0 {
            text.push_str(&format!(" [… {cut} bytes cut]"));
        }
        self.dropped += cut;
        self.ring.push(text.clone());
        let passes = self.bucket.take(tokio_clock_now()) && self.report_dropped_lines();
        if !passes || self.shown.try_send(StderrOutput::Line(text)).is_err() {
            self.dropped += line.len() as u64 + 1;
        }
    }

    /// Reports the number of dropped bytes, if there are any, and resets it. Returns `false` if the receiver has no
    /// room.
    fn report_dropped_lines(&mut self) -> bool {
        if self.dropped > 0 && self.shown.try_send(StderrOutput::Dropped(self.dropped)).is_ok() {
            self.dropped = 0;
        }
        self.dropped == 0
    }
}

/// Splits bytes into lines, and truncates lines above [`MAX_STDERR_LINE_BYTES`].
#[derive(Default)]
struct LineTruncator {
    line: Vec<u8>,
    cut: u64,
}

impl LineTruncator {
    fn push_bytes(&mut self, mut bytes: &[u8], mut on_line: impl FnMut(&[u8], u64)) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.append_to_line(&bytes[..end]);
            self.end_line(&mut on_line);
            bytes = &bytes[end + 1..];
        }
        self.append_to_line(bytes);
    }

    fn append_to_line(&mut self, bytes: &[u8]) {
        let room = MAX_STDERR_LINE_BYTES.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..room]);
        self.cut += (bytes.len() - room) as u64;
    }

    fn end_line(&mut self, mut on_line: impl FnMut(&[u8], u64)) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        if !line.is_empty() {
            on_line(line, self.cut);
        }
        self.line.clear();
        self.cut = 0;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    async fn drain_stderr_input(input: &[u8], room: usize) -> (StderrRing, Vec<StderrOutput>) {
        let ring = StderrRing::default();
        let (sender, mut receiver) = mpsc::channel(room);
        let task = tokio::spawn(drain_stderr(std::io::Cursor::new(input.to_vec()), ring.clone(), sender));
        // The receiver is idle until all input was read.
        testkit::deadline::yield_until_idle().await;
        let mut shown = Vec::new();
        while let Some(output) = receiver.recv().await {
            shown.push(output);
        }
        task.await.unwrap();
        (ring, shown)
    }

    #[tokio::test]
    async fn stderr_bytes_are_split_into_escaped_lines() {
        let (ring, shown) = drain_stderr_input(b"one\r\n\n\xff\x1b[2Jtwo\nlast", 16).await;
        let expected = ["one", "\u{fffd}\\x1b[2Jtwo", "last"];
        assert_eq!(
            ring.last_lines(9),
            expected,
            "invalid UTF-8 and escapes must be visible, and the unfinished last line stored"
        );
        assert_eq!(shown, expected.map(|line| StderrOutput::Line(line.to_owned())), "each line must be emitted once");
        assert_eq!(ring.last_lines(1), ["last"], "the newest line must be returned");
    }

    #[tokio::test]
    async fn endless_stderr_line_is_truncated() {
        let input = vec![b'x'; 5 * 1024 * 1024];
        let (ring, shown) = drain_stderr_input(&input, 4).await;
        assert!(ring.bytes() <= MAX_STDERR_RING_BYTES, "X40: the ring must stay within 1 MiB, holds {}", ring.bytes());
        let line = &ring.last_lines(1)[0];
        assert!(
            line.ends_with(&format!("[… {} bytes cut]", input.len() - MAX_STDERR_LINE_BYTES)),
            "the line must end with the number of missing bytes: {}",
            &line[line.len() - 60..]
        );
        let missing = StderrOutput::Dropped((input.len() - MAX_STDERR_LINE_BYTES) as u64);
        assert!(shown.contains(&missing), "lines that were not reported must be counted: {} outputs", shown.len());
    }

    #[tokio::test]
    async fn many_stderr_lines_stay_within_the_ring_and_are_counted() {
        let input: Vec<u8> = (0..200_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        let (ring, shown) = drain_stderr_input(&input, 8).await;
        assert!(ring.bytes() <= MAX_STDERR_RING_BYTES, "X40: the ring must stay within 1 MiB");
        assert_eq!(ring.last_lines(1), ["line 199999"], "the newest line must be stored");
        let mut bytes = 0;
        for output in &shown {
            bytes += match output {
                StderrOutput::Line(line) => line.len() as u64 + 1,
                StderrOutput::Dropped(dropped) => *dropped,
            };
        }
        assert_eq!(bytes, input.len() as u64, "every byte must be either reported or counted as dropped");
    }
}
