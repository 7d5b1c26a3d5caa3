//! Messages to the server, ready to be written as one line.

use std::borrow::Cow;

use serde_json::Value;

use super::{Members, RequestId, RpcError};
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
        method: Cow<'static, str>,
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
        method: Cow<'static, str>,
    },
    /// Nothing is written: the response stream of this request of ours is to be closed, which is how
    /// 2026-07-28 cancels over Streamable HTTP.
    Abort {
        /// Our name for it.
        id: RequestId,
    },
}

/// What most messages fit into, and the line end that the transport may put behind.
const USUAL: usize = 256;

/// Writes one message.
fn line(fill: impl FnOnce(&mut Members<'_>)) -> String {
    let mut text = Vec::with_capacity(USUAL);
    Members::write(&mut text, |message| {
        message.put_written(r#""jsonrpc":"2.0""#);
        fill(message);
    });
    // JSON that was written from strings is text.
    String::from_utf8(text).unwrap_or_default()
}

impl Outgoing {
    /// A request, with what `params` writes.
    pub(crate) fn request(id: i64, method: &'static str, params: impl FnOnce(&mut Members<'_>)) -> Outgoing {
        let json = line(|message| {
            message.put("id", &id);
            message.put("method", method);
            message.put_object("params", params);
        });
        let id = RequestId::Number(id);
        Outgoing { json, about: OutgoingKind::Request { id, method: method.into() }, head: None }
    }

    pub(crate) fn notification(method: &'static str, params: impl FnOnce(&mut Members<'_>)) -> Outgoing {
        let json = line(|message| {
            message.put("method", method);
            message.put_object("params", params);
        });
        Outgoing { json, about: OutgoingKind::Notification { method: method.into() }, head: None }
    }

    pub(crate) fn response(id: RequestId, result: Result<Value, RpcError>) -> Outgoing {
        let json = line(|message| {
            message.put("id", &id);
            match &result {
                Ok(result) => message.put("result", result),
                Err(error) => message.put("error", error),
            }
        });
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
