//! JSON-RPC 2.0 messages as MCP uses them (`basic` page of every revision).
//!
//! Only the envelope is parsed here. `params` and `result` stay raw ([`RawJson`]) until a caller parses them, so that a
//! large result is neither copied nor parsed twice.

mod decode;
mod envelope;
mod invalid;
mod json_object_writer;
mod json_scanner;
mod line_scan;
mod message_outline;
mod outgoing;
mod raw;
mod value_spans;

use std::fmt;

use bytes::Bytes;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub(crate) use invalid::escape_and_truncate;
pub use invalid::{InvalidMessage, InvalidMessageCause};
pub(crate) use json_object_writer::{JsonObjectWriter, serialize_members};
pub(crate) use json_scanner::{JsonScanner, QuotedString, unquote};
pub use message_outline::MessageOutline;
pub use outgoing::{OutgoingMessage, OutgoingMessageKind};
pub use raw::RawJson;

/// Maximum nesting of arrays and objects in one JSON-RPC message.
pub const MAX_JSON_DEPTH: usize = 128;
/// Maximum number of JSON values in one JSON-RPC message. Each parsed value takes some 70 bytes of memory.
pub const MAX_JSON_VALUES: usize = 500_000;
/// Maximum number of messages in one JSON-RPC batch.
pub const MAX_BATCH_MESSAGES: usize = 1000;
/// Maximum length of a JSON-RPC request id in bytes.
pub const MAX_REQUEST_ID_BYTES: usize = 4096;

/// Codes of JSON-RPC and MCP errors that the session reads or writes.
pub mod code {
    /// The message is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message is JSON, but not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The receiver does not implement the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters of the request are invalid for its method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed internally.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The user refused a sampling request (`client/sampling`).
    pub const USER_REJECTED: i64 = -1;
    /// The resource does not exist, up to 2025-11-25 (`server/resources`).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must visit URLs before the request can succeed, 2025-11-25 (`client/elicitation`).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// An HTTP header of the request does not match its body, 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a required capability, 2026-07-28.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not support the protocol version of the request, 2026-07-28.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
}

/// Identifier of a request, repeated in its response. `1` and `"1"` are different.
///
/// `null`, fractions (including `1.0`), numbers beyond 64 bits and other JSON types are not valid ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A whole number that fits into a signed 64-bit integer.
    Number(i64),
    /// A string of at most [`MAX_REQUEST_ID_BYTES`] bytes.
    Text(String),
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RequestIdVisitor)
    }
}

/// Serde visitor that accepts strings and integers that fit in 64 bits, and rejects all other types.
struct RequestIdVisitor;

impl Visitor<'_> for RequestIdVisitor {
    type Value = RequestId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id, which is a whole number of 64 bits or a string")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RequestId, E> {
        Ok(RequestId::Number(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<RequestId, E> {
        let known = i64::try_from(number).map(RequestId::Number);
        known.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
        Ok(RequestId::Text(text.to_owned()))
    }
}

impl fmt::Display for RequestId {
    /// Formats the id as JSON, so that `1` and `"1"` differ.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Number(number) => write!(f, "{number}"),
            RequestId::Text(text) => write!(f, "\"{}\"", invalid::escape_and_truncate(text, 80)),
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        RequestId::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        RequestId::Text(text.into())
    }
}

/// A JSON-RPC error, received from or sent to the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{} (code {code})", if .message.is_empty() { "the server gave no reason" } else { .message.as_str() })]
pub struct RpcError {
    /// Error code: one of the constants in the module [`code`], or a code that the sender defined.
    pub code: i64,
    /// Human-readable message. Untrusted text if it is from a server.
    #[serde(default)]
    pub message: String,
    /// Additional data about the error, any JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Returns an error without additional data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }
}

/// A message from the server whose JSON-RPC members are valid. Its `params` or `result` are not parsed yet.
#[derive(Debug, Clone)]
pub enum IncomingMessage {
    /// A request from the server.
    Request {
        /// Identifier that the server chose, to be repeated in the response.
        id: RequestId,
        /// Name of the requested method, such as `sampling/createMessage`. May be unknown to the client.
        method: String,
        /// Value of `params` as raw JSON, or `None` if absent.
        params: Option<RawJson>,
    },
    /// A notification from the server.
    Notification {
        /// Name of the notification, such as `notifications/progress`. May be unknown to the client.
        method: String,
        /// Value of `params` as raw JSON, or `None` if absent.
        params: Option<RawJson>,
    },
    /// A response from the server.
    Response {
        /// Identifier of the client's request that this message responds to. May match no request.
        id: RequestId,
        /// Result as raw JSON, or error of the request.
        result: Result<RawJson, RpcError>,
    },
    /// An error response without an id, from a server that could not read a message (`basic`, error responses without
    /// an id).
    ErrorWithoutId {
        /// Code, message and data that the server sent.
        error: RpcError,
    },
    /// Several messages in one array, 2025-03-26 only, in their order. An invalid message is an `Err` at its position.
    Batch(Vec<Result<IncomingMessage, InvalidMessage>>),
}

impl IncomingMessage {
    /// Decodes one message: one line of stdio, with or without its line end.
    ///
    /// `params` and `result` are slices of `frame`. A byte order mark and surrounding white space are ignored. Does not
    /// panic or recurse, and takes time in proportion to the length.
    ///
    /// # Errors
    /// Returns [`InvalidMessage`] with the cause and, if they can be recognized, the ids of the affected requests.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use mcp_proto::{IncomingMessage, InvalidMessageCause};
    ///
    /// let line = Bytes::from_static(br#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#);
    /// let IncomingMessage::Response { id, result: Ok(result) } = IncomingMessage::decode(&line)? else {
    ///     panic!("the line is a response")
    /// };
    /// assert_eq!((id, result.get()), (7.into(), r#"{"tools":[]}"#));
    ///
    /// // The id of a malformed response is recognized, so that its call can be ended.
    /// let cut = Bytes::from_static(br#"{"jsonrpc":"2.0","id":8,"result":{"tools":["#);
    /// let invalid = IncomingMessage::decode(&cut).expect_err("the line is cut");
    /// assert!(matches!(invalid.cause, InvalidMessageCause::NotJson(_)));
    /// assert_eq!(invalid.id, Some(8.into()));
    ///
    /// let banner = Bytes::from_static(b"Server listening on stdio");
    /// assert_eq!(IncomingMessage::decode(&banner).unwrap_err().cause, InvalidMessageCause::UnexpectedBanner);
    /// # Ok::<(), mcp_proto::InvalidMessage>(())
    /// ```
    pub fn decode(frame: &Bytes) -> Result<IncomingMessage, InvalidMessage> {
        decode::decode(frame)
    }
}
