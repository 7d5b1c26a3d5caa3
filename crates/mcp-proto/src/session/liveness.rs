//! Health checks by ping (`basic/utilities/ping`) that detect an unresponsive server.

use std::time::{Duration, Instant};

use super::request_table::RequestPurpose;
use super::timers::{checked_deadline, is_due};
use super::{ClientRequest, CloseReason, Session};

/// State of the health check: the time of the next ping, or the deadline of the response to the current ping.
#[derive(Debug, Default)]
pub(super) struct LivenessCheck {
    interval: Option<Duration>,
    next: Option<Instant>,
    waiting: Option<Instant>,
    is_pinging: bool,
}

impl LivenessCheck {
    pub(super) fn start(&mut self, interval: Option<Duration>, now: Instant) {
        self.interval = interval;
        self.next = interval.and_then(|interval| checked_deadline(now, interval));
    }

    /// Restarts the ping interval after a message from the server. If a ping is pending, moves its deadline to `now +
    /// patience`.
    pub(super) fn on_received_message(&mut self, now: Instant, patience: Duration) {
        self.next = self.interval.and_then(|interval| checked_deadline(now, interval));
        if self.is_pinging {
            self.waiting = checked_deadline(now, patience);
        }
    }

    pub(super) fn on_pong(&mut self) {
        self.is_pinging = false;
        self.waiting = None;
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        if self.is_pinging { self.waiting } else { self.next }
    }
}

impl Session {
    pub(super) fn check_liveness(&mut self, now: Instant) {
        if !is_due(self.liveness.next_due(), now) {
            return;
        }
        let patience = self.config.timeouts.ping;
        if self.liveness.is_pinging {
            return self.close_session_with_reason(CloseReason::Unresponsive(patience));
        }
        self.liveness.is_pinging = true;
        self.liveness.waiting = checked_deadline(now, patience);
        let method = ClientRequest::Ping.method(self.revision());
        self.send_request(RequestPurpose::HealthCheck, method, serde_json::json!({}), None);
    }
}
