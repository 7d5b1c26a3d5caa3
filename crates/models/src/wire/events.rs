//! The events of an answer, read line by line within bounds. Caller: `exchange.rs`.
//!
//! Not the reader of `mcp-transport`: that one drops comments, and here each line counts against the time that a provider may go on
//! without saying anything. Ollama's lines of JSON share the same bounds.

use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use serde_json::Value;
use tokio_util::codec::{FramedRead, LinesCodec, LinesCodecError};
use tokio_util::io::StreamReader;

use super::exchange::Framing;
use crate::ModelError;

/// The longest line, in bytes.
const MAX_LINE: usize = 16 << 20;
/// The most bytes of all lines of an answer: sixty-four for each of what it may say.
const MAX_BYTES: usize = 1 << 30;
/// The most lines one after another that say nothing. One that waits and tells so each second takes a day for them.
const MAX_IDLE_LINES: u32 = 100_000;
/// How many times as long as without a line an answer may go on with lines that say nothing, as providers send them to keep a
/// connection open while a model thinks or waits for its turn.
const PATIENCE: u32 = 5;

type Lines = FramedRead<StreamReader<BoxStream<'static, io::Result<Bytes>>, Bytes>, LinesCodec>;

/// The events of an answer.
pub(super) struct Events {
    lines: Lines,
    framing: Framing,
    silence: Duration,
    /// How long was waited for lines since an event said something.
    waited: Duration,
    /// How many lines came since then.
    idle_lines: u32,
    bytes: usize,
    /// The data of the event that is read.
    data: String,
    is_first: bool,
}

impl Events {
    pub(super) fn new(response: reqwest::Response, framing: Framing, silence: Duration) -> Self {
        let bytes = response.bytes_stream().map_err(io::Error::other).boxed();
        let lines = FramedRead::new(StreamReader::new(bytes), LinesCodec::new_with_max_length(MAX_LINE));
        let (waited, idle_lines, bytes) = (Duration::ZERO, 0, 0);
        Self { lines, framing, silence, waited, idle_lines, bytes, data: String::new(), is_first: true }
    }

    /// The last event said something: the time in which the next has to starts anew.
    pub(super) const fn said_something(&mut self) {
        self.waited = Duration::ZERO;
        self.idle_lines = 0;
    }

    /// The next event; none at the end of the bytes.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, ModelError> {
        loop {
            let Some(line) = self.line().await? else {
                // An event that its empty line does not end is not one, as in server-sent events.
                return Ok(None);
            };
            let whole = match self.framing {
                Framing::Lines if line.trim().is_empty() => continue,
                Framing::Lines => Some(line),
                Framing::ServerSent => self.field(&line)?,
            };
            match whole.as_deref().map(str::trim) {
                None => {}
                // Who ends so has said all before.
                Some("[DONE]") => return Ok(Some(Value::Null)),
                Some(text) => return parsed(text).map(Some),
            }
        }
    }

    /// Takes a line of server-sent events in. Gives the data that an empty line ends.
    fn field(&mut self, line: &str) -> Result<Option<String>, ModelError> {
        if line.is_empty() {
            return Ok((!self.data.is_empty()).then(|| std::mem::take(&mut self.data)));
        }
        if let Some(value) = line.strip_prefix("data:") {
            let value = value.strip_prefix(' ').unwrap_or(value);
            if self.data.len() + value.len() > MAX_LINE {
                return Err(ModelError::TooLarge { limit: MAX_LINE });
            }
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(value);
        }
        Ok(None)
    }

    async fn line(&mut self) -> Result<Option<String>, ModelError> {
        let patience = self.silence * PATIENCE;
        let begun = Instant::now();
        // Only what is waited here counts, not what the one who reads takes between two lines.
        let time = self.silence.min(patience.saturating_sub(self.waited));
        let Ok(next) = tokio::time::timeout(time, self.lines.next()).await else {
            return Err(ModelError::Silent { after: if time < self.silence { patience } else { time } });
        };
        self.waited += begun.elapsed();
        let mut line = match next {
            None => return Ok(None),
            Some(Ok(line)) => line,
            Some(Err(LinesCodecError::MaxLineLengthExceeded)) => {
                return Err(ModelError::TooLarge { limit: MAX_LINE });
            }
            Some(Err(LinesCodecError::Io(error))) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(ModelError::Unreadable { cause: "it is not UTF-8".to_owned() });
            }
            Some(Err(LinesCodecError::Io(_))) => return Err(ModelError::Cut),
        };
        self.idle_lines += 1;
        self.bytes += line.len();
        if self.idle_lines > MAX_IDLE_LINES {
            return Err(ModelError::Unreadable { cause: "it goes on without saying anything".to_owned() });
        }
        if self.bytes > MAX_BYTES {
            return Err(ModelError::TooLarge { limit: MAX_BYTES });
        }
        if std::mem::take(&mut self.is_first) && line.starts_with('\u{feff}') {
            line.remove(0);
        }
        Ok(Some(line))
    }
}

fn parsed(text: &str) -> Result<Value, ModelError> {
    // Where it stops being JSON, and never what it says there.
    serde_json::from_str(text)
        .map_err(|error| ModelError::Unreadable { cause: format!("no JSON at column {} of an event", error.column()) })
}
