//! What the session wants to send: each message is a POST of its own.

use bytes::Bytes;
use mcp_proto::{CloseReason, DeliveryFault, Incoming, Outgoing, OutgoingKind, RequestId};
use reqwest::Method;
use serde::Deserialize;

use super::{Kind, Streamable};
use crate::driver::core::now;
use crate::http::HttpLimits;
use crate::http::endpoint::Parts;
use crate::http::headers::{self, Belongs};
use crate::http::{exchange, news};

/// How many messages may wait for a free place before the session is closed. Requests are bounded by the
/// session; this is for answers to a server that asks without end.
const WAITING: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: RequestId,
}

impl Streamable<'_> {
    /// Sends what can be sent now.
    pub(super) fn pump_messages(&mut self) {
        while let Some(outgoing) = self.core.session.poll_transmit() {
            match &outgoing.about {
                OutgoingKind::Abort { id } => {
                    let id = id.clone();
                    self.give_up(&id);
                }
                OutgoingKind::Request { method, .. } if self.opens(method) => {
                    // Perhaps anew: the server may speak another era now.
                    self.leave_session();
                    self.requests.push_back(outgoing);
                }
                // Full of slow calls, the server must still be pinged (since 2026-07-28 by asking again what it
                // can do) and told to stop.
                OutgoingKind::Request { method, .. }
                    if !matches!(&**method, "ping" | "server/discover" | "tasks/cancel") =>
                {
                    self.requests.push_back(outgoing);
                }
                _ => self.messages.push_back(outgoing),
            }
        }
        if self.requests.len() + self.messages.len() > WAITING {
            let waiting = self.requests.len() + self.messages.len();
            return self.close(CloseReason::NotReading(waiting));
        }
        while self.gate.is_none() && self.posts < self.limits.posts {
            let requests = self.limits.posts.saturating_sub(HttpLimits::RESERVED).max(1);
            let next = self.messages.pop_front();
            let next = next.or_else(|| if self.posts < requests { self.requests.pop_front() } else { None });
            let Some(outgoing) = next else { return };
            self.post(outgoing);
        }
    }

    /// Whether a request opens the session. In one that is open, `server/discover` only asks whether the server lives.
    pub(super) fn opens(&self, method: &str) -> bool {
        matches!(method, "initialize" | "server/discover") && self.core.session.facts().is_none()
    }

    /// A request of ours is given up: it is not sent any more, or its stream is closed.
    fn give_up(&mut self, request: &RequestId) {
        self.requests.retain(|waiting| !matches!(&waiting.about, OutgoingKind::Request { id, .. } if id == request));
        self.finish_request(request);
    }

    fn post(&mut self, outgoing: Outgoing) {
        let Outgoing { json, about, head } = outgoing;
        let body = Bytes::from(json);
        let modern = self.revision().or(head.as_ref().and_then(|head| head.revision));
        let modern = modern.is_some_and(mcp_proto::Revision::is_modern)
            || head.as_ref().is_some_and(|head| head.method.is_some());
        let opens = matches!(&about, OutgoingKind::Request { method, .. } if method == "initialize");
        let revision = match &head {
            Some(head) => head.revision,
            None => self.revision(),
        };
        let session = self.session_id.as_ref().filter(|_| !modern && !opens);
        let in_session = session.is_some();
        let name = match &about {
            OutgoingKind::Request { method, .. } if method == "server/discover" && !self.opens(method) => "ping".into(),
            about => news::name(about),
        };
        let headers = headers::post(head.as_deref(), Belongs { session, revision });
        self.core.show_sent(body.clone(), &about);
        let headers = match headers {
            Ok(headers) => headers,
            Err(header) => {
                let cause = format!("the header {header} cannot carry its value");
                return self.unsendable(about, cause);
            }
        };
        let parts = Parts { method: Method::POST, url: self.url.clone(), headers, body: Some(body.clone()) };
        let endpoint = self.endpoint.clone();
        match about {
            OutgoingKind::Request { id, .. } => {
                let kind = Kind::Request { id, modern, answered: None };
                let number = self.start(kind, name, in_session);
                self.go_on(number, exchange::request(number, endpoint, parts, self.limits.message_bytes));
            }
            about => {
                if let OutgoingKind::Notification { method } = &about {
                    self.before_notification(method, &body);
                }
                let gates =
                    matches!(&about, OutgoingKind::Notification { method } if method == "notifications/initialized");
                let number = self.start(Kind::Message, name, in_session);
                if gates {
                    self.gate = Some(number);
                }
                self.go_on(number, exchange::message(number, endpoint, parts, self.limits.accept));
            }
        }
    }

    /// A request that the server is told to stop needs its stream no longer. The server learns of it from the
    /// notification: a closed stream alone means nothing before 2026-07-28.
    fn before_notification(&mut self, method: &str, body: &Bytes) {
        if method != "notifications/cancelled" {
            return;
        }
        if let Ok(Incoming::Notification { params: Some(params), .. }) = Incoming::decode(body)
            && let Ok(Cancelled { request_id }) = params.parse::<Cancelled>()
        {
            self.give_up(&request_id);
        }
    }

    fn unsendable(&mut self, about: OutgoingKind, cause: String) {
        match about {
            OutgoingKind::Request { id, .. } => {
                self.core.session.handle_undelivered(&id, DeliveryFault::Unreachable { cause }, now());
            }
            _ => self.note(cause),
        }
    }
}
