//! Messages that cannot be read: why, and which request they were about.

use std::fmt::Write as _;

use super::survey::{self, Survey};
use super::{MAX_BATCH, MAX_DEPTH, MAX_ID, MAX_VALUES, RequestId};

/// A line from the server that is no valid message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{cause}")]
#[non_exhaustive]
pub struct InvalidMessage {
    /// Why it cannot be read.
    pub cause: InvalidCause,
    /// Our request that it seems to answer.
    pub id: Option<RequestId>,
    /// The server's request that it seems to be.
    pub server_request: Option<RequestId>,
    /// Whether it seems to be an answer, even if it is unknown to which request.
    pub answer: bool,
    /// Its beginning: at most 200 characters, controls escaped.
    pub excerpt: String,
}

/// Why a message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCause {
    /// Nothing but white space. Harmless.
    #[error("an empty line")]
    Blank,
    /// It begins like JSON and goes wrong.
    #[error("broken JSON: {0}")]
    NotJson(String),
    /// Text that was never meant to be a message, such as a banner or a log line.
    #[error("text that is no message: standard output may carry nothing but JSON-RPC, one message a line")]
    UnexpectedBanner,
    /// `Content-Length:` framing, as language servers use it.
    #[error("a Content-Length header as language servers write it: MCP has one message a line and no headers")]
    LspHeader,
    /// An HTTP message.
    #[error("an HTTP message: this seems to be a web server, not an MCP server on standard output")]
    HttpText,
    /// Bytes that are no text.
    #[error("invalid UTF-8 after byte {0}")]
    NotUtf8(usize),
    /// A raw control character, such as NUL, inside a string.
    #[error("a raw control character (0x{0:02x}) inside a string")]
    ControlCharacter(u8),
    /// `\ud800` to `\udfff` without its other half.
    #[error("an escape that is half of a character (a lone surrogate)")]
    LoneSurrogate,
    /// JSON, but no object.
    #[error("JSON that is no object")]
    NotAnObject,
    /// An object that is neither request, notification nor response.
    #[error("an object that is neither a request, a notification nor a response")]
    NotAMessage,
    /// A field of the envelope stands there twice.
    #[error("the field \"{0}\" stands there twice")]
    DuplicateKey(String),
    /// Both a result and an error, or a method with one of them.
    #[error("both \"{0}\" and \"{1}\"")]
    Ambiguous(&'static str, &'static str),
    /// It nests too deeply.
    #[error("it nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// It holds too many values.
    #[error("it holds more than {MAX_VALUES} values")]
    TooManyValues,
    /// The `jsonrpc` field is missing or not `"2.0"`.
    #[error("the field \"jsonrpc\" is not \"2.0\"")]
    WrongVersion,
    /// The id is neither a whole number nor a string.
    #[error("the id is neither a whole number nor a string of at most {MAX_ID} bytes")]
    BadId,
    /// The method is no string.
    #[error("the method is no string")]
    BadMethod,
    /// The error is no object with a whole number as code.
    #[error("the error has no valid shape: {0}")]
    BadError(String),
    /// The line is longer than allowed.
    #[error("a line of more than {limit} bytes (at least {seen} came)")]
    TooLong {
        /// How many bytes are allowed.
        limit: usize,
        /// How many had come when it was given up.
        seen: usize,
    },
    /// An array of messages in a revision without batches.
    #[error("a batch, which only protocol 2025-03-26 has")]
    BatchNotAllowed,
    /// An array without messages.
    #[error("an empty batch")]
    EmptyBatch,
    /// An array with too many messages.
    #[error("a batch of more than {0} messages")]
    BatchTooLong(usize),
}

impl InvalidCause {
    /// The cause when a batch has more messages than this crate reads.
    pub(super) fn batch_too_long() -> InvalidCause {
        InvalidCause::BatchTooLong(MAX_BATCH)
    }
}

impl InvalidMessage {
    /// A line that is longer than `limit`. `head` is its beginning; `tail` its last bytes, or nothing
    /// when the end has not come. `seen` counts the bytes that came.
    ///
    /// Some servers write the id first, others last, so both ends are looked at. When the limit is
    /// reached and the head alone gives no [`id`](InvalidMessage::id), it is worth waiting shortly for
    /// the end of the line.
    pub fn too_long(head: &[u8], tail: &[u8], limit: usize, seen: usize) -> InvalidMessage {
        let mut found = Survey::of(survey::trim(head));
        if found.id().is_none()
            && let Some(id) = survey::id_at_end(tail)
        {
            found.set_id(id);
        }
        InvalidMessage::new(InvalidCause::TooLong { limit, seen }, head, &found)
    }

    pub(super) fn new(cause: InvalidCause, frame: &[u8], found: &Survey) -> InvalidMessage {
        let request = found.is_request();
        // A line that is too long is what the server does instead of answering.
        let too_long = matches!(cause, InvalidCause::TooLong { .. });
        let answer = !request && (too_long || found.is_answer(cause == InvalidCause::BadId));
        let id = found.id().cloned();
        InvalidMessage {
            cause,
            id: id.clone().filter(|_| answer),
            server_request: id.filter(|_| request),
            answer,
            excerpt: excerpt(frame),
        }
    }
}

/// The first 200 characters, with everything escaped that could act on a terminal or on layout.
fn excerpt(frame: &[u8]) -> String {
    let start = frame.get(..1000).unwrap_or(frame);
    escape(&String::from_utf8_lossy(start), 200)
}

/// At most `limit` characters of `text`, with controls and invisible characters as escapes.
pub(crate) fn escape(text: &str, limit: usize) -> String {
    let mut escaped = String::new();
    let mut length = 0;
    for character in text.chars() {
        let before = escaped.len();
        match character {
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => {
                let _infallible = write!(escaped, "{}", character.escape_unicode());
            }
            _ if character.is_control() => {
                let _infallible = write!(escaped, "{}", character.escape_default());
            }
            _ => escaped.push(character),
        }
        length += escaped[before..].chars().count();
        if length > limit {
            escaped.truncate(before);
            break;
        }
    }
    escaped
}
