//! Messages to the server, serialized as one line each.

use std::borrow::Cow;

use serde_json::Value;

use super::{JsonObjectWriter, RequestId, RpcError};
use crate::http::HttpPostHeaders;

/// A serialized message from the client to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// Message as one line of JSON, without a line end and without raw newlines.
    pub json: String,
    /// Kind of the message, with its JSON-RPC ids and its method.
    pub about: OutgoingMessageKind,
    /// HTTP headers of the message's POST, or `None` for other transports than Streamable HTTP.
    pub head: Option<Box<HttpPostHeaders>>,
}

/// Kind of a message of the client to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutgoingMessageKind {
    /// A request of the client, which the server must answer.
    Request {
        /// Identifier that the client chose.
        id: RequestId,
        /// Name of the requested method, such as `tools/call`.
        method: Cow<'static, str>,
    },
    /// A response of the client to one request of the server.
    Response {
        /// Identifier of the server's request.
        id: RequestId,
    },
    /// A batch of responses to a batch of requests (2025-03-26).
    BatchResponse {
        /// Identifiers of the server's requests.
        ids: Vec<RequestId>,
    },
    /// A notification of the client, which gets no response.
    Notification {
        /// Name of the notification, such as `notifications/cancelled`.
        method: Cow<'static, str>,
    },
    /// No message: the transport closes the response stream of a request, which is how 2026-07-28 cancels requests over
    /// Streamable HTTP.
    Abort {
        /// Identifier of the client's request that is cancelled.
        id: RequestId,
    },
}

/// Initial capacity in bytes of the buffer of an outgoing message. Fits most messages with the line end that the
/// transport appends.
const INITIAL_MESSAGE_BUFFER_BYTES: usize = 256;

/// Serializes a message as one line of JSON. `fill` writes all members except `jsonrpc`.
fn serialize_message_line(fill: impl FnOnce(&mut JsonObjectWriter<'_>)) -> String {
    let mut text = Vec::with_capacity(INITIAL_MESSAGE_BUFFER_BYTES);
    JsonObjectWriter::write(&mut text, |message| {
        message.put_serialized_members(r#""jsonrpc":"2.0""#);
        fill(message);
    });
    // JSON that was written from strings is UTF-8.
    String::from_utf8(text).unwrap_or_default()
}

impl OutgoingMessage {
    /// Returns a request whose parameters the callback `params` writes.
    pub(crate) fn request(
        id: i64,
        method: &'static str,
        params: impl FnOnce(&mut JsonObjectWriter<'_>),
    ) -> OutgoingMessage {
        let json = serialize_message_line(|message| {
            message.put("id", &id);
            message.put("method", method);
            message.put_object("params", params);
        });
        let id = RequestId::Number(id);
        OutgoingMessage { json, about: OutgoingMessageKind::Request { id, method: method.into() }, head: None }
    }

    pub(crate) fn notification(
        method: &'static str,
        params: impl FnOnce(&mut JsonObjectWriter<'_>),
    ) -> OutgoingMessage {
        let json = serialize_message_line(|message| {
            message.put("method", method);
            message.put_object("params", params);
        });
        OutgoingMessage { json, about: OutgoingMessageKind::Notification { method: method.into() }, head: None }
    }

    pub(crate) fn response(id: RequestId, result: Result<Value, RpcError>) -> OutgoingMessage {
        let json = serialize_message_line(|message| {
            message.put("id", &id);
            match &result {
                Ok(result) => message.put("result", result),
                Err(error) => message.put("error", error),
            }
        });
        OutgoingMessage { json, about: OutgoingMessageKind::Response { id }, head: None }
    }

    /// Returns one batch message with responses that [`OutgoingMessage::response`] built.
    pub(crate) fn batch(responses: Vec<OutgoingMessage>) -> OutgoingMessage {
        let mut ids = Vec::with_capacity(responses.len());
        let mut lines = Vec::with_capacity(responses.len());
        for response in responses {
            if let OutgoingMessageKind::Response { id } = response.about {
                ids.push(id);
                lines.push(response.json);
            }
        }
        OutgoingMessage {
            json: format!("[{}]", lines.join(",")),
            about: OutgoingMessageKind::BatchResponse { ids },
            head: None,
        }
    }

    pub(crate) fn abort_http_request(id: RequestId) -> OutgoingMessage {
        OutgoingMessage { json: String::new(), about: OutgoingMessageKind::Abort { id }, head: None }
    }
}
