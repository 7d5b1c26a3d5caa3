//! Sends the messages of the session, each in its own POST.

use bytes::Bytes;
use mcp_proto::{CloseReason, DeliveryFault, IncomingMessage, OutgoingMessage, OutgoingMessageKind, RequestId};
use reqwest::Method;
use serde::Deserialize;

use super::{ExchangeKind, StreamableDriver};
use crate::driver::driver_core::tokio_clock_now;
use crate::http::HttpLimits;
use crate::http::endpoint::HttpRequestParts;
use crate::http::headers::{self, SessionHeaders};
use crate::http::{connection_notes, exchange};

/// Maximum number of messages that wait because the maximum number of POSTs is in progress. With more, the session is
/// closed. Since the session itself limits its requests, this mainly bounds the responses to a server that sends
/// endless requests.
const MAX_MESSAGES_WAITING_FOR_POST: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams {
    request_id: RequestId,
}

impl StreamableDriver<'_> {
    /// Posts the messages of the session, up to the maximum number of concurrent POSTs. Further messages wait.
    pub(super) fn post_queued_messages(&mut self) {
        while let Some(outgoing) = self.core.session.poll_transmit() {
            match &outgoing.about {
                OutgoingMessageKind::Abort { id } => {
                    let id = id.clone();
                    self.abandon_request(&id);
                }
                OutgoingMessageKind::Request { method, .. } if self.begins_handshake(method) => {
                    // The session may be reopening with another revision.
                    self.discard_session_state();
                    self.requests.push_back(outgoing);
                }
                // Pings (since 2026-07-28 with `server/discover`) and cancellations must be sent even if slow calls
                // occupy all other POSTs.
                OutgoingMessageKind::Request { method, .. }
                    if !matches!(&**method, "ping" | "server/discover" | "tasks/cancel") =>
                {
                    self.requests.push_back(outgoing);
                }
                _ => self.messages.push_back(outgoing),
            }
        }
        if self.requests.len() + self.messages.len() > MAX_MESSAGES_WAITING_FOR_POST {
            let waiting = self.requests.len() + self.messages.len();
            return self.close_session(CloseReason::NotReading(waiting));
        }
        while self.blocking_exchange.is_none() && self.posts < self.limits.posts {
            let requests = self.limits.posts.saturating_sub(HttpLimits::POSTS_RESERVED_FOR_NON_REQUESTS).max(1);
            let next = self.messages.pop_front();
            let next = next.or_else(|| if self.posts < requests { self.requests.pop_front() } else { None });
            let Some(outgoing) = next else { return };
            self.post(outgoing);
        }
    }

    /// Returns `true` if a request with this method begins a handshake. After the handshake, `server/discover` only
    /// checks that the server responds.
    pub(super) fn begins_handshake(&self, method: &str) -> bool {
        matches!(method, "initialize" | "server/discover") && self.core.session.facts().is_none()
    }

    /// Abandons a request of the client: removes it from the queue, or closes its response stream.
    fn abandon_request(&mut self, request: &RequestId) {
        self.requests
            .retain(|waiting| !matches!(&waiting.about, OutgoingMessageKind::Request { id, .. } if id == request));
        self.finish_exchange_of_request(request);
    }

    fn post(&mut self, outgoing: OutgoingMessage) {
        let OutgoingMessage { json, about, head } = outgoing;
        let body = Bytes::from(json);
        let modern = self.revision().or(head.as_ref().and_then(|head| head.revision));
        let modern = modern.is_some_and(mcp_proto::Revision::is_modern)
            || head.as_ref().is_some_and(|head| head.method.is_some());
        let opens = matches!(&about, OutgoingMessageKind::Request { method, .. } if method == "initialize");
        let revision = match &head {
            Some(head) => head.revision,
            None => self.revision(),
        };
        let session = self.session_id.as_ref().filter(|_| !modern && !opens);
        let in_session = session.is_some();
        let name = match &about {
            OutgoingMessageKind::Request { method, .. }
                if method == "server/discover" && !self.begins_handshake(method) =>
            {
                "ping".into()
            }
            about => connection_notes::outgoing_message_name(about),
        };
        let headers = headers::post_request_headers(head.as_deref(), SessionHeaders { session, revision });
        self.core.emit_sent_frame(body.clone(), &about);
        let headers = match headers {
            Ok(headers) => headers,
            Err(header) => {
                let cause = format!("the header {header} cannot carry its value");
                return self.on_unsendable_message(about, cause);
            }
        };
        let parts = HttpRequestParts { method: Method::POST, url: self.url.clone(), headers, body: Some(body.clone()) };
        let endpoint = self.endpoint.clone();
        match about {
            OutgoingMessageKind::Request { id, .. } => {
                let kind = ExchangeKind::Request { id, modern, answered: None };
                let number = self.start_exchange(kind, name, in_session);
                self.continue_exchange(
                    number,
                    exchange::post_request(number, endpoint, parts, self.limits.message_bytes),
                );
            }
            about => {
                if let OutgoingMessageKind::Notification { method } = &about {
                    self.close_cancelled_stream(method, &body);
                }
                let gates = matches!(
                    &about,
                    OutgoingMessageKind::Notification { method } if method == "notifications/initialized"
                );
                let number = self.start_exchange(ExchangeKind::Message, name, in_session);
                if gates {
                    self.blocking_exchange = Some(number);
                }
                self.continue_exchange(number, exchange::post_message(number, endpoint, parts, self.limits.accept));
            }
        }
    }

    /// Closes the response stream of a request if the posted message cancels that request. The cancellation is posted
    /// as well, because a closed stream alone has no meaning before 2026-07-28.
    fn close_cancelled_stream(&mut self, method: &str, body: &Bytes) {
        if method != "notifications/cancelled" {
            return;
        }
        if let Ok(IncomingMessage::Notification { params: Some(params), .. }) = IncomingMessage::decode(body)
            && let Ok(CancelledParams { request_id }) = params.parse::<CancelledParams>()
        {
            self.abandon_request(&request_id);
        }
    }

    fn on_unsendable_message(&mut self, about: OutgoingMessageKind, cause: String) {
        match about {
            OutgoingMessageKind::Request { id, .. } => {
                self.core.session.handle_undelivered_request(
                    &id,
                    DeliveryFault::Unreachable { cause },
                    tokio_clock_now(),
                );
            }
            _ => self.emit_note(cause),
        }
    }
}
