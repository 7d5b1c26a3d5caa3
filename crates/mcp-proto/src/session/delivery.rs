//! What the transport could not deliver: which requests may be sent again, and which end.

use std::fmt;
use std::time::Instant;

use crate::jsonrpc::{RequestId, RpcError, escape};

use super::{CallError, Session};

/// How a request, or the stream with its answer, failed in the transport.
#[derive(Debug, Clone, PartialEq)]
pub enum DeliveryFault {
    /// The server answered with a status that is no success.
    Status {
        /// The status.
        code: u16,
        /// The body, if it was a JSON-RPC error.
        error: Option<RpcError>,
        /// The beginning of the body, bounded and with control characters escaped.
        text: String,
        /// The `WWW-Authenticate` header.
        challenge: Option<String>,
    },
    /// The stream with the answer ended and cannot be resumed, or the body broke off. The server may
    /// have done the work.
    Lost {
        /// Why.
        cause: String,
    },
    /// Nothing reached the server: DNS, connecting, TLS, a redirect that was refused.
    Unreachable {
        /// Why.
        cause: String,
    },
    /// The answer is neither JSON nor an event stream, or beyond the bounds.
    Unusable {
        /// Why.
        cause: String,
    },
}

impl fmt::Display for DeliveryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeliveryFault::Status { code, error: Some(error), .. } => {
                write!(f, "HTTP status {code}: {}", escape(&error.to_string(), 300))
            }
            DeliveryFault::Status { code, text, .. } if text.is_empty() => write!(f, "HTTP status {code}"),
            DeliveryFault::Status { code, text, .. } => write!(f, "HTTP status {code}: {}", escape(text, 300)),
            DeliveryFault::Lost { cause }
            | DeliveryFault::Unreachable { cause }
            | DeliveryFault::Unusable { cause } => f.write_str(cause),
        }
    }
}

impl DeliveryFault {
    /// Whether the server may have acted on the request.
    fn may_have_acted(&self) -> bool {
        match self {
            DeliveryFault::Unreachable { .. } => false,
            DeliveryFault::Status { code, .. } => *code >= 500,
            DeliveryFault::Lost { .. } | DeliveryFault::Unusable { .. } => true,
        }
    }
}

impl Session {
    pub(super) fn undelivered(&mut self, id: &RequestId, fault: DeliveryFault, now: Instant) {
        let error = CallError::Undelivered { cause: fault.to_string(), sent: fault.may_have_acted() };
        self.fail_request(id, error, now);
    }

    pub(super) fn session_lost(&mut self, refused: Option<&RequestId>, now: Instant) {
        if let Some(id) = refused {
            let error = CallError::Undelivered { cause: "the server forgot the session".into(), sent: false };
            self.fail_request(id, error, now);
        }
    }
}
