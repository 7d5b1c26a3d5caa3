//! JSON-RPC 2.0 messages as MCP uses them (`basic` page of every revision).
//!
//! The envelope is read here; `params` and `result` stay as they came ([`RawJson`]) until someone
//! needs them, so that a large result is neither copied nor parsed twice.

mod decode;
mod envelope;
mod invalid;
mod members;
mod outgoing;
mod outline;
mod raw;
mod scan;
mod spans;
mod survey;

use std::fmt;

use bytes::Bytes;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

pub(crate) use invalid::escape;
pub use invalid::{InvalidCause, InvalidMessage};
pub(crate) use members::{Members, written};
pub use outgoing::{Outgoing, OutgoingKind};
pub use outline::Outline;
pub use raw::RawJson;
pub(crate) use scan::{Quoted, Scan, unquote};

/// How deeply arrays and objects may nest in one message.
pub const MAX_DEPTH: usize = 128;
/// How many JSON values one message may hold. Each costs some 70 bytes once parsed.
pub const MAX_VALUES: usize = 500_000;
/// How many messages one batch may hold.
pub const MAX_BATCH: usize = 1000;
/// How many bytes an id may have.
pub const MAX_ID: usize = 4096;

/// Codes of JSON-RPC and MCP errors that the session reads or writes.
pub mod code {
    /// Not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON, but no valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something failed inside.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The user refused a sampling request (`client/sampling`).
    pub const USER_REJECTED: i64 = -1;
    /// No such resource, up to 2025-11-25 (`server/resources`).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// URLs have to be visited first, 2025-11-25 (`client/elicitation`).
    pub const URL_REQUIRED: i64 = -32042;
    /// Header and body differ, 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// A client capability is missing, 2026-07-28.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The protocol version is not supported, 2026-07-28.
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// Name of a request; the answer carries the same. `1` and `"1"` are different ids.
///
/// Null, fractions (also `1.0`), numbers beyond 64 bits and other shapes are no ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum RequestId {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Id)
    }
}

/// Reads an id.
struct Id;

impl Visitor<'_> for Id {
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
    /// As it stands in JSON, so that `1` and `"1"` look different.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestId::Number(number) => write!(f, "{number}"),
            RequestId::Text(text) => write!(f, "\"{}\"", invalid::escape(text, 80)),
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

/// An error that the other side sent, or that is sent to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{} (code {code})", if .message.is_empty() { "the server gave no reason" } else { .message.as_str() })]
pub struct RpcError {
    /// One of [`code`], or the other side's own.
    pub code: i64,
    /// For people. From a server it is untrusted text.
    #[serde(default)]
    pub message: String,
    /// Details, of any shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without details.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }
}

/// A message from the server whose envelope is valid.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// The server asks.
    Request {
        /// The server's name for it, to be put on the answer.
        id: RequestId,
        /// What it asks for.
        method: String,
        /// Not yet parsed.
        params: Option<RawJson>,
    },
    /// The server tells.
    Notification {
        /// What it tells about.
        method: String,
        /// Not yet parsed.
        params: Option<RawJson>,
    },
    /// The server answers.
    Response {
        /// The id of our request.
        id: RequestId,
        /// Its answer; a result is not yet parsed.
        result: Result<RawJson, RpcError>,
    },
    /// The server could not read one of our messages and cannot say which (`basic`, error responses
    /// without an id).
    ErrorWithoutId {
        /// What it says.
        error: RpcError,
    },
    /// Several messages in one array, 2025-03-26 only. Invalid ones stand at their place.
    Batch(Vec<Result<Incoming, InvalidMessage>>),
}

impl Incoming {
    /// Reads one message: one line of stdio, without or with its line end.
    ///
    /// `params` and `result` are slices of `frame`. A byte order mark and white space around it are tolerated. Never panics, never recurses, and
    /// takes time in proportion to the length.
    ///
    /// # Errors
    /// [`InvalidMessage`] with the cause and, where it can be told, the request that this was about.
    pub fn decode(frame: &Bytes) -> Result<Incoming, InvalidMessage> {
        decode::decode(frame)
    }
}
