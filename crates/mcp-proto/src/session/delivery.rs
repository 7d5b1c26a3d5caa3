//! Handling of delivery failures: decides which requests are sent again, and which calls end.

use std::fmt;
use std::time::{Duration, Instant};

use crate::jsonrpc::{RequestId, RpcError, escape_and_truncate};

use super::error_page::html_page_text;
use super::request_table::RequestPurpose;
use super::timers::{checked_deadline, is_due};
use super::{CallError, CallId, CloseReason, Session};

/// Maximum number of times that the request of one call is sent again after a delivery failure.
const MAX_RESENDS_PER_CALL: u32 = 3;
/// Delay after which a call's undelivered request is sent again for the first time. The delay doubles with each further
/// retransmission.
const INITIAL_RESEND_DELAY: Duration = Duration::from_millis(250);

/// Failure of the transport to deliver a request or to receive its response.
#[derive(Debug, Clone, PartialEq)]
pub enum DeliveryFault {
    /// The server responded with a status other than success.
    Status {
        /// HTTP status code of the response.
        code: u16,
        /// JSON-RPC error in the body of the response, if it had one.
        error: Option<RpcError>,
        /// Beginning of the response's body, truncated and with control characters escaped.
        text: String,
        /// Value of the response's `WWW-Authenticate` header, or `None` if it had none.
        challenge: Option<String>,
    },
    /// The response stream ended and cannot be resumed, or the body was truncated. The server may have processed the
    /// request.
    Lost {
        /// Human-readable cause of the loss.
        cause: String,
    },
    /// The request did not reach the server, because DNS, the connection or TLS failed.
    Unreachable {
        /// Human-readable cause of the failure.
        cause: String,
    },
    /// The server responded with a redirect that was not followed. Some servers process the request before they
    /// redirect.
    Redirected {
        /// Reason for not following the redirect.
        cause: String,
    },
    /// The response is neither JSON nor an event stream, or exceeds a limit.
    Unusable {
        /// Human-readable reason why the response is unusable.
        cause: String,
    },
}

impl fmt::Display for DeliveryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeliveryFault::Status { code, error: Some(error), .. } => {
                write!(f, "HTTP status {code}: {}", escape_and_truncate(&error.to_string(), 300))
            }
            DeliveryFault::Status { code, text, .. } => match html_page_text(text).as_ref().unwrap_or(text) {
                text if text.is_empty() => write!(f, "HTTP status {code}"),
                text => write!(f, "HTTP status {code}: {}", escape_and_truncate(text, 300)),
            },
            DeliveryFault::Lost { cause }
            | DeliveryFault::Unreachable { cause }
            | DeliveryFault::Redirected { cause }
            | DeliveryFault::Unusable { cause } => f.write_str(cause),
        }
    }
}

impl DeliveryFault {
    /// Returns `true` if the server may have acted on the request.
    fn may_server_have_acted(&self) -> bool {
        match self {
            DeliveryFault::Unreachable { .. } => false,
            DeliveryFault::Status { code, .. } => *code >= 500,
            DeliveryFault::Lost { .. } | DeliveryFault::Redirected { .. } | DeliveryFault::Unusable { .. } => true,
        }
    }

    /// Returns `true` if sending the undelivered request again may succeed. `safe` is `true` if repeating the request
    /// has no further effects on the server.
    fn may_succeed_when_resent(&self, safe: bool) -> bool {
        match self {
            DeliveryFault::Unreachable { .. } => true,
            DeliveryFault::Lost { .. } => safe,
            DeliveryFault::Status { code, .. } => safe && matches!(code, 502..=504),
            DeliveryFault::Redirected { .. } | DeliveryFault::Unusable { .. } => false,
        }
    }
}

impl Session {
    pub(super) fn on_request_undelivered(&mut self, id: &RequestId, fault: DeliveryFault, now: Instant) {
        // A late response to the request, possibly on another stream, is ignored.
        let Some(purpose) = self.wire.abandon_by_wire_id(id) else { return };
        match purpose {
            RequestPurpose::Probe => self.on_probe_undelivered(&fault, now),
            RequestPurpose::Initialize => self.on_initialize_undelivered(&fault, now),
            RequestPurpose::Call(call) => self.on_call_undelivered(call, fault, now),
            RequestPurpose::Listen => match fault {
                DeliveryFault::Status { error: Some(error), .. } => self.on_listen_response(Err(error), now),
                fault => self.on_subscription_lost(fault.to_string(), now),
            },
            RequestPurpose::HealthCheck => match fault {
                DeliveryFault::Status { code: 400..=499, .. } | DeliveryFault::Status { error: Some(_), .. } => {
                    // The ping was refused, which shows that the server is reachable.
                    self.liveness.on_pong();
                    self.on_received_message(now);
                }
                fault => self.close_session_with_reason(CloseReason::ConnectionLost(fault.to_string())),
            },
            RequestPurpose::Relist { call, .. } => self.end_call(call, Err(to_undelivered_error(&fault))),
            RequestPurpose::TaskGet(call) | RequestPurpose::TaskResult(call) | RequestPurpose::TaskUpdate(call) => {
                self.on_task_request_undelivered((call, purpose), id, &fault, now);
            }
            RequestPurpose::TaskCancel => {}
            RequestPurpose::Restore => {
                self.report_protocol_anomaly(format!("a subscription could not be renewed: {fault}"), None)
            }
        }
    }

    fn on_call_undelivered(&mut self, id: CallId, fault: DeliveryFault, now: Instant) {
        if let DeliveryFault::Status { error: Some(error), .. } = fault {
            return self.on_call_response(id, Err(error), now);
        }
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.wire = None;
        let safe = call.request.is_safe_to_repeat();
        if call.resends < MAX_RESENDS_PER_CALL && fault.may_succeed_when_resent(safe) {
            call.resends += 1;
            call.send_at = checked_deadline(now, INITIAL_RESEND_DELAY * 2u32.pow(call.resends - 1));
        } else {
            self.end_call(id, Err(to_undelivered_error(&fault)));
            self.refuse_server_requests_of_call(id, now);
        }
    }

    /// Sends again all requests of calls whose retransmission is due.
    pub(super) fn resend_due_requests(&mut self, now: Instant) {
        let due: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| is_due(call.send_at, now)).map(|(id, _)| *id).collect();
        for id in due {
            self.send_call_request(id);
        }
    }
}

pub(super) fn to_undelivered_error(fault: &DeliveryFault) -> CallError {
    CallError::Undelivered { cause: fault.to_string(), sent: fault.may_server_have_acted() }
}
