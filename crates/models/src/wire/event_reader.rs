//! Parses the events of a streamed answer line by line, within limits. Caller: `provider_http_client.rs`.
//!
//! The parser of `mcp-transport` is not used here because it drops comments. Here every line counts towards the time
//! that a provider may continue without content. Ollama's JSON lines have the same limits.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::Value;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use super::provider_http_client::EventFraming;
use crate::ModelError;

/// Maximum length of a line of a streamed reply, in bytes.
const MAX_EVENT_LINE_BYTES: usize = 16 << 20;
/// Maximum total size of the lines of a reply in bytes: 64 times the maximum size of its content.
const MAX_EVENT_STREAM_BYTES: usize = 1 << 30;
/// Maximum number of consecutive lines without content. A provider that sends a keep-alive line each second reaches it
/// only after a day.
const MAX_LINES_BETWEEN_EVENTS: u32 = 100_000;
/// Factor by which the idle timeout is longer while lines without content arrive. Providers send them while a model
/// reasons or a request is queued.
const KEEP_ALIVE_IDLE_TIMEOUT_FACTOR: u32 = 5;

type EventLines = FramedRead<StreamReader<BoxStream<'static, io::Result<Bytes>>, Bytes>, LinesCodec>;

/// Reads the events of a streamed reply from an HTTP response, within limits of size and time.
pub(super) struct EventReader {
    lines: EventLines,
    framing: EventFraming,
    idle_timeout: Duration,
    /// Total time spent waiting for lines since the last event that added content to the reply.
    waited: Duration,
    /// Number of lines since the last event that added content to the reply.
    idle_lines: u32,
    bytes: usize,
    /// Data lines of the current event so far, joined with `\n`.
    data: String,
    is_first: bool,
}

impl EventReader {
    pub(super) fn new(response: reqwest::Response, framing: EventFraming, idle_timeout: Duration) -> Self {
        let bytes = response.bytes_stream().map_err(io::Error::other).boxed();
        let lines = FramedRead::new(StreamReader::new(bytes), LinesCodec::new_with_max_length(MAX_EVENT_LINE_BYTES));
        let (waited, idle_lines, bytes) = (Duration::ZERO, 0, 0);
        Self { lines, framing, idle_timeout, waited, idle_lines, bytes, data: String::new(), is_first: true }
    }

    /// Restarts the idle timeout. Called after an event that added content to the reply.
    pub(super) const fn reset_idle_time(&mut self) {
        self.waited = Duration::ZERO;
        self.idle_lines = 0;
    }

    /// Returns the next event as JSON, or `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, ModelError> {
        loop {
            let Some(line) = self.read_line().await? else {
                // An event without the terminating empty line is discarded, as the server-sent events specification
                // requires.
                return Ok(None);
            };
            let whole = match self.framing {
                EventFraming::Lines if line.trim().is_empty() => continue,
                EventFraming::Lines => Some(line),
                EventFraming::ServerSent => self.process_line(&line)?,
            };
            match whole.as_deref().map(str::trim) {
                None => {}
                // The end marker, after which no content follows.
                Some("[DONE]") => return Ok(Some(Value::Null)),
                Some(text) => return parse_event(text).map(Some),
            }
        }
    }

    /// Processes a line of server-sent events. Returns the data of an event if the line is empty and thereby completes
    /// it.
    fn process_line(&mut self, line: &str) -> Result<Option<String>, ModelError> {
        if line.is_empty() {
            return Ok((!self.data.is_empty()).then(|| std::mem::take(&mut self.data)));
        }
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            if self.data.len() + value.len() > MAX_EVENT_LINE_BYTES {
                return Err(ModelError::TooLarge { limit: MAX_EVENT_LINE_BYTES });
            }
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(value);
        }
        Ok(None)
    }

    async fn read_line(&mut self) -> Result<Option<String>, ModelError> {
        let patience = self.idle_timeout * KEEP_ALIVE_IDLE_TIMEOUT_FACTOR;
        let begun = Instant::now();
        // Only the waiting time counts, and not the time that the consumer takes between two lines.
        let time = self.idle_timeout.min(patience.saturating_sub(self.waited));
        let Ok(next) = tokio::time::timeout(time, self.lines.next()).await else {
            return Err(ModelError::Silent { after: if time < self.idle_timeout { patience } else { time } });
        };
        self.waited += begun.elapsed();
        let mut line = match next {
            None => return Ok(None),
            Some(Ok(line)) => line,
            Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                return Err(ModelError::TooLarge { limit: MAX_EVENT_LINE_BYTES });
            }
            Some(Err(LinesCodecError::Io(error))) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(ModelError::Unreadable { cause: "the response is not UTF-8".to_owned() });
            }
            Some(Err(LinesCodecError::Io(_))) => return Err(ModelError::Cut),
        };
        self.idle_lines += 1;
        self.bytes += line.len();
        if self.idle_lines > MAX_LINES_BETWEEN_EVENTS {
            return Err(ModelError::Unreadable { cause: "the response continues without content".to_owned() });
        }
        if self.bytes > MAX_EVENT_STREAM_BYTES {
            return Err(ModelError::TooLarge { limit: MAX_EVENT_STREAM_BYTES });
        }
        if std::mem::take(&mut self.is_first) && line.starts_with('\u{feff}') {
            line.remove(0);
        }
        Ok(Some(line))
    }
}

fn parse_event(text: &str) -> Result<Value, ModelError> {
    // The message contains the position of the error, but no content.
    serde_json::from_str(text).map_err(|error| ModelError::Unreadable {
        cause: format!("invalid JSON at column {} of an event", error.column()),
    })
}
