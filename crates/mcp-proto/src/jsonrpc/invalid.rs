//! Lines from the server that are not valid messages, with the cause and the affected request.

use std::fmt::Write as _;

use super::line_scan::{self, LineScan};
use super::{MAX_BATCH_MESSAGES, MAX_JSON_DEPTH, MAX_JSON_VALUES, MAX_REQUEST_ID_BYTES, RequestId};

/// A line from the server that is not a valid message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{cause}")]
#[non_exhaustive]
pub struct InvalidMessage {
    /// Rule of JSON-RPC or limit of this crate that the line violates.
    pub cause: InvalidMessageCause,
    /// Identifier of the client's request that the message seems to answer.
    pub id: Option<RequestId>,
    /// Id in the line, if the line seems to be a request from the peer, which is a server or an app.
    pub peer_request: Option<RequestId>,
    /// `true` if the message seems to be a response, even if its request is unknown.
    pub answer: bool,
    /// Beginning of the line: at most 200 characters, with control characters escaped.
    pub excerpt: String,
}

/// Rule of JSON-RPC, or limit of this crate, that a received line violates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMessageCause {
    /// The line has only white space. The session ignores it.
    #[error("an empty line")]
    Blank,
    /// The line begins like JSON but does not parse. Contains the parser's error message.
    #[error("broken JSON: {0}")]
    NotJson(String),
    /// The line is text that is not JSON-RPC, such as a banner or a log entry.
    #[error("not a message: standard output must contain only JSON-RPC, one message per line")]
    UnexpectedBanner,
    /// The line is a `Content-Length:` header, as the Language Server Protocol uses for framing.
    #[error("a Content-Length header as language servers write it: MCP has one message a line and no headers")]
    LspHeader,
    /// The line is the beginning of an HTTP message.
    #[error("an HTTP message: this seems to be a web server, not an MCP server on standard output")]
    HttpText,
    /// The line is not UTF-8. Contains the number of valid bytes at its beginning.
    #[error("invalid UTF-8 after byte {0}")]
    NotUtf8(usize),
    /// A string contains an unescaped control character, such as NUL. Contains its code.
    #[error("a raw control character (0x{0:02x}) inside a string")]
    ControlCharacter(u8),
    /// An escape from `\ud800` to `\udfff` is not part of a surrogate pair.
    #[error("an escape that is half of a character (a lone surrogate)")]
    LoneSurrogate,
    /// The line is JSON, but not an object.
    #[error("JSON that is not an object")]
    NotAnObject,
    /// The line is a JSON object, but not a request, notification or response.
    #[error("an object that is neither a request, a notification nor a response")]
    NotAMessage,
    /// The message has the JSON-RPC field of this name twice.
    #[error("the field \"{0}\" occurs twice")]
    DuplicateKey(String),
    /// The message has these two fields, which exclude each other, such as `result` and `error`.
    #[error("both \"{0}\" and \"{1}\"")]
    Ambiguous(&'static str, &'static str),
    /// Arrays and objects are nested deeper than [`MAX_JSON_DEPTH`].
    #[error("the message nests deeper than {MAX_JSON_DEPTH} levels")]
    TooDeep,
    /// The message has more than [`MAX_JSON_VALUES`] JSON values.
    #[error("the message has more than {MAX_JSON_VALUES} values")]
    TooManyValues,
    /// The `jsonrpc` field is missing or not `"2.0"`.
    #[error("the field \"jsonrpc\" is not \"2.0\"")]
    WrongVersion,
    /// The id is not a whole number or a string of at most [`MAX_REQUEST_ID_BYTES`] bytes.
    #[error("the id is neither a whole number nor a string of at most {MAX_REQUEST_ID_BYTES} bytes")]
    BadId,
    /// The method is not a string.
    #[error("the method is not a string")]
    BadMethod,
    /// The error is not an object with a whole number as its code. Contains the parser's error message.
    #[error("the error object is invalid: {0}")]
    BadError(String),
    /// The line is longer than the limit of the transport.
    #[error("a line of more than {limit} bytes (at least {received} received)")]
    TooLong {
        /// Maximum length of a line in bytes that the transport accepts.
        limit: usize,
        /// Number of bytes received before the line was discarded.
        received: usize,
    },
    /// The line is an array of messages, which the negotiated revision does not allow.
    #[error("a batch, which only protocol 2025-03-26 has")]
    BatchNotAllowed,
    /// The line is an empty array.
    #[error("an empty batch")]
    EmptyBatch,
    /// The batch has more messages than the contained limit.
    #[error("a batch of more than {0} messages")]
    BatchTooLong(usize),
}

impl InvalidMessageCause {
    /// Returns the cause for a batch with more than [`MAX_BATCH_MESSAGES`] messages.
    pub(super) fn batch_too_long() -> InvalidMessageCause {
        InvalidMessageCause::BatchTooLong(MAX_BATCH_MESSAGES)
    }
}

impl InvalidMessage {
    /// Returns the error for a line that is longer than `limit` bytes. `head` is the beginning of the line. `tail` is
    /// its last bytes, or empty if the end was not received. `length` is the number of received bytes.
    ///
    /// Some servers write the id first and others last, so both ends are searched. If the limit is reached and the head
    /// alone gives no [`id`](InvalidMessage::id), the caller may wait shortly for the end of the line.
    pub fn too_long(head: &[u8], tail: &[u8], limit: usize, length: usize) -> InvalidMessage {
        let mut found = LineScan::scan(line_scan::trim_received_line(head));
        if found.id().is_none()
            && let Some(id) = line_scan::find_request_id_at_end(tail)
        {
            found.set_id(id);
        }
        InvalidMessage::new(InvalidMessageCause::TooLong { limit, received: length }, head, &found)
    }

    pub(super) fn new(cause: InvalidMessageCause, frame: &[u8], found: &LineScan) -> InvalidMessage {
        let request = found.is_request();
        // An oversized line that is not a request is most likely a response.
        let too_long = matches!(cause, InvalidMessageCause::TooLong { .. });
        let answer = !request && (too_long || found.is_response(cause == InvalidMessageCause::BadId));
        let id = found.id().cloned();
        InvalidMessage {
            cause,
            id: id.clone().filter(|_| answer),
            peer_request: id.filter(|_| request),
            answer,
            excerpt: frame_excerpt(frame),
        }
    }
}

/// Returns the first 200 characters of a line, with every character escaped that could affect a terminal or the layout.
fn frame_excerpt(frame: &[u8]) -> String {
    let start = frame.get(..1000).unwrap_or(frame);
    escape_and_truncate(&String::from_utf8_lossy(start), 200)
}

/// Returns at most `limit` characters of `text`, with control and invisible characters escaped.
pub(crate) fn escape_and_truncate(text: &str, limit: usize) -> String {
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
