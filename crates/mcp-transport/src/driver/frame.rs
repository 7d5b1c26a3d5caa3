//! One message on the wire, with what was understood of it: it is read once, for whoever shows it too.

use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use mcp_proto::jsonrpc::Outline;
use mcp_proto::{Incoming, OutgoingKind, RequestId};
use serde::de::IgnoredAny;

/// One line on the wire, or one message over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Which way it went.
    pub direction: Direction,
    /// When it was put in the queue to be written, or had been read.
    pub at: SystemTime,
    /// The whole line without its end; of an over-long line its first 4 KiB.
    pub bytes: Bytes,
    /// What it is.
    pub about: FrameAbout,
    /// Why it is invalid, if it is.
    pub note: Option<String>,
}

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}

/// What a frame is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameAbout {
    /// A request.
    Request {
        /// The sender's name for it.
        id: RequestId,
        /// What it asks for.
        method: Cow<'static, str>,
    },
    /// A notification.
    Notification {
        /// What it tells about.
        method: Cow<'static, str>,
    },
    /// The result of a request.
    Result {
        /// The asker's name for the request.
        id: RequestId,
    },
    /// The error that a request ended with, or that names none.
    Error {
        /// The asker's name for the request.
        id: Option<RequestId>,
    },
    /// Several messages.
    Batch,
    /// None of these.
    Invalid,
}

impl FrameAbout {
    /// What a message is that was read.
    pub fn of(message: &Incoming) -> FrameAbout {
        match message {
            Incoming::Request { id, method, .. } => FrameAbout::Request { id: id.clone(), method: shared(method) },
            Incoming::Notification { method, .. } => FrameAbout::Notification { method: shared(method) },
            Incoming::Response { id, result: Ok(_) } => FrameAbout::Result { id: id.clone() },
            Incoming::Response { id, result: Err(_) } => FrameAbout::Error { id: Some(id.clone()) },
            Incoming::ErrorWithoutId { .. } => FrameAbout::Error { id: None },
            Incoming::Batch(_) => FrameAbout::Batch,
        }
    }

    /// What a message is, by reading it.
    pub fn read(bytes: &Bytes) -> FrameAbout {
        Incoming::decode(bytes).map_or_else(|_| FrameAbout::guess(bytes), |message| FrameAbout::of(&message))
    }

    /// What a message seems to be that is not valid.
    pub(crate) fn guess(bytes: &Bytes) -> FrameAbout {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        if serde_json::from_str::<IgnoredAny>(text).is_err() {
            return FrameAbout::Invalid;
        }
        if text.trim_start().starts_with('[') {
            return FrameAbout::Batch;
        }
        let outline = Outline::of(text).unwrap_or_default();
        let id = outline.id.and_then(|id| serde_json::from_str(id).ok());
        match (outline.method, id) {
            (Some(method), Some(id)) => FrameAbout::Request { id, method: shared(&method) },
            (Some(method), None) => FrameAbout::Notification { method: shared(&method) },
            (None, id) if outline.is_error => FrameAbout::Error { id },
            (None, Some(id)) => FrameAbout::Result { id },
            (None, None) => FrameAbout::Invalid,
        }
    }

    pub(crate) fn of_sent(kind: &OutgoingKind, bytes: &Bytes) -> FrameAbout {
        match kind {
            OutgoingKind::Request { id, method } => FrameAbout::Request { id: id.clone(), method: shared(method) },
            OutgoingKind::Notification { method } => FrameAbout::Notification { method: shared(method) },
            // Whether it is a result or an error is not told.
            OutgoingKind::Response { .. } => FrameAbout::read(bytes),
            OutgoingKind::BatchResponse { .. } => FrameAbout::Batch,
            OutgoingKind::Abort { .. } => FrameAbout::Invalid,
        }
    }
}

/// The methods that come often need no memory of their own.
fn shared(method: &str) -> Cow<'static, str> {
    const OFTEN: [&str; 5] =
        ["tools/call", "notifications/progress", "notifications/message", "resources/read", "ping"];
    match OFTEN.into_iter().find(|often| *often == method) {
        Some(often) => Cow::Borrowed(often),
        None => Cow::Owned(method.to_owned()),
    }
}
