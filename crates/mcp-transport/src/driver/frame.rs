//! A sent or received message with its classification, so that code that displays messages need not parse them again.

use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use mcp_proto::jsonrpc::MessageOutline;
use mcp_proto::{IncomingMessage, OutgoingMessageKind, RequestId};
use serde::de::IgnoredAny;

/// A sent or received message: a line of the stdio transport, or a message over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Direction in which the message was sent.
    pub direction: FrameDirection,
    /// Time at which the message was queued for writing, or at which it was received.
    pub at: SystemTime,
    /// Text of the message without a line terminator. Contains only the first 4 KiB of a message above the size limit.
    pub bytes: Bytes,
    /// Kind of the message, with its ID and method.
    pub about: FrameKind,
    /// Reason why the message is invalid, or `None` if it is valid.
    pub note: Option<String>,
}

/// Direction of a message between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameDirection {
    /// The client sends the message to the server.
    Sent,
    /// The server sends the message to the client.
    Received,
}

/// Kind of a message, with its ID and its method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameKind {
    /// A JSON-RPC request, to which the receiver responds.
    Request {
        /// Request ID, chosen by the sender of the request.
        id: RequestId,
        /// JSON-RPC method, such as `tools/call`.
        method: Cow<'static, str>,
    },
    /// A JSON-RPC notification: a request object without an ID.
    Notification {
        /// JSON-RPC method, such as `notifications/progress`.
        method: Cow<'static, str>,
    },
    /// A successful response to a request.
    Result {
        /// ID of the request that this message answers.
        id: RequestId,
    },
    /// A JSON-RPC error response.
    Error {
        /// ID of the answered request, or `None` if the error contains none.
        id: Option<RequestId>,
    },
    /// A JSON-RPC batch of several messages.
    Batch,
    /// A message that is not valid JSON-RPC.
    Invalid,
}

impl FrameKind {
    /// Returns the kind of a received message that was already parsed.
    pub fn from_received(message: &IncomingMessage) -> FrameKind {
        match message {
            IncomingMessage::Request { id, method, .. } => {
                FrameKind::Request { id: id.clone(), method: interned_method_name(method) }
            }
            IncomingMessage::Notification { method, .. } => {
                FrameKind::Notification { method: interned_method_name(method) }
            }
            IncomingMessage::Response { id, result: Ok(_) } => FrameKind::Result { id: id.clone() },
            IncomingMessage::Response { id, result: Err(_) } => FrameKind::Error { id: Some(id.clone()) },
            IncomingMessage::ErrorWithoutId { .. } => FrameKind::Error { id: None },
            IncomingMessage::Batch(_) => FrameKind::Batch,
        }
    }

    /// Parses and classifies a message.
    ///
    /// # Examples
    ///
    /// Classifies the lines of a recorded session:
    ///
    /// ```
    /// use bytes::Bytes;
    /// use mcp_transport::driver::FrameKind;
    ///
    /// let request = Bytes::from_static(br#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}"#);
    /// assert_eq!(FrameKind::classify(&request), FrameKind::Request { id: 3.into(), method: "tools/call".into() });
    /// let error = Bytes::from_static(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no such tool"}}"#);
    /// assert_eq!(FrameKind::classify(&error), FrameKind::Error { id: Some(3.into()) });
    /// // The version is missing, but the line is recognized as a notification.
    /// let unversioned = Bytes::from_static(br#"{"method":"notifications/message"}"#);
    /// let notification = FrameKind::Notification { method: "notifications/message".into() };
    /// assert_eq!(FrameKind::classify(&unversioned), notification);
    /// assert_eq!(FrameKind::classify(&Bytes::from_static(b"starting up...")), FrameKind::Invalid);
    /// ```
    pub fn classify(bytes: &Bytes) -> FrameKind {
        IncomingMessage::decode(bytes)
            .map_or_else(|_| FrameKind::classify_invalid(bytes), |message| FrameKind::from_received(&message))
    }

    /// Classifies an invalid message by those of its JSON members that can still be read.
    pub(crate) fn classify_invalid(bytes: &Bytes) -> FrameKind {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return FrameKind::Invalid;
        }
        if text.trim_start().starts_with('[') {
            return FrameKind::Batch;
        }
        let outline = MessageOutline::parse(text).unwrap_or_default();
        let id = outline.id.and_then(|id| serde_json::from_str(id).ok());
        match (outline.method, id) {
            (Some(method), Some(id)) => FrameKind::Request { id, method: interned_method_name(&method) },
            (Some(method), None) => FrameKind::Notification { method: interned_method_name(&method) },
            (None, id) if outline.is_error => FrameKind::Error { id },
            (None, Some(id)) => FrameKind::Result { id },
            (None, None) => FrameKind::Invalid,
        }
    }

    pub(crate) fn from_sent(kind: &OutgoingMessageKind, bytes: &Bytes) -> FrameKind {
        match kind {
            OutgoingMessageKind::Request { id, method } => {
                FrameKind::Request { id: id.clone(), method: interned_method_name(method) }
            }
            OutgoingMessageKind::Notification { method } => {
                FrameKind::Notification { method: interned_method_name(method) }
            }
            // The session does not report if the response is a result or an error.
            OutgoingMessageKind::Response { .. } => FrameKind::classify(bytes),
            OutgoingMessageKind::BatchResponse { .. } => FrameKind::Batch,
            OutgoingMessageKind::Abort { .. } => FrameKind::Invalid,
        }
    }
}

/// Returns the method's name as a `Cow`, without an allocation if the method is a frequent one.
fn interned_method_name(method: &str) -> Cow<'static, str> {
    const FREQUENT_METHODS: [&str; 5] =
        ["tools/call", "notifications/progress", "notifications/message", "resources/read", "ping"];
    match FREQUENT_METHODS.into_iter().find(|often| *often == method) {
        Some(often) => Cow::Borrowed(often),
        None => Cow::Owned(method.to_owned()),
    }
}
