//! Messages to the server, ready to be written as one line.

use serde::Serialize;
use serde_json::Value;

use super::{RequestId, RpcError};
use crate::http::HttpHead;

/// One message to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The message as one line of JSON, without a line end and without a raw newline inside.
    pub json: String,
    /// What it is.
    pub about: OutgoingKind,
    /// What its POST needs in headers; only over Streamable HTTP.
    pub head: Option<Box<HttpHead>>,
}

/// What a message to the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutgoingKind {
    /// We ask.
    Request {
        /// Our name for it.
        id: RequestId,
        /// What we ask for.
        method: String,
    },
    /// We answer.
    Response {
        /// The server's name for its request.
        id: RequestId,
    },
    /// We answer a batch with a batch (2025-03-26).
    BatchResponse {
        /// The server's names for its requests.
        ids: Vec<RequestId>,
    },
    /// We tell.
    Notification {
        /// What about.
        method: String,
    },
    /// Nothing is written: the response stream of this request of ours is to be closed, which is how
    /// 2026-07-28 cancels over Streamable HTTP.
    Abort {
        /// Our name for it.
        id: RequestId,
    },
}

#[derive(Serialize)]
struct Wire<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

const EMPTY: Wire<'static> = Wire { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

impl Wire<'_> {
    fn to_line(&self) -> String {
        // Strings, numbers and maps with string keys always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Outgoing {
    pub(crate) fn request(id: RequestId, method: &str, params: Option<&Value>) -> Outgoing {
        let json = Wire { id: Some(&id), method: Some(method), params, ..EMPTY }.to_line();
        Outgoing { json, about: OutgoingKind::Request { id, method: method.into() }, head: None }
    }

    pub(crate) fn notification(method: &str, params: Option<&Value>) -> Outgoing {
        let json = Wire { method: Some(method), params, ..EMPTY }.to_line();
        Outgoing { json, about: OutgoingKind::Notification { method: method.into() }, head: None }
    }

    pub(crate) fn response(id: RequestId, result: Result<Value, RpcError>) -> Outgoing {
        let json = match &result {
            Ok(result) => Wire { id: Some(&id), result: Some(result), ..EMPTY }.to_line(),
            Err(error) => Wire { id: Some(&id), error: Some(error), ..EMPTY }.to_line(),
        };
        Outgoing { json, about: OutgoingKind::Response { id }, head: None }
    }

    /// One array of responses that [`Outgoing::response`] has made.
    pub(crate) fn batch(responses: Vec<Outgoing>) -> Outgoing {
        let mut ids = Vec::with_capacity(responses.len());
        let mut lines = Vec::with_capacity(responses.len());
        for response in responses {
            if let OutgoingKind::Response { id } = response.about {
                ids.push(id);
                lines.push(response.json);
            }
        }
        Outgoing { json: format!("[{}]", lines.join(",")), about: OutgoingKind::BatchResponse { ids }, head: None }
    }

    pub(crate) fn abort(id: RequestId) -> Outgoing {
        Outgoing { json: String::new(), about: OutgoingKind::Abort { id }, head: None }
    }
}
