//! Handshake of a session: the order of attempts to negotiate a revision, and their outcome.
//!
//! Sources: `basic/versioning` of 2026-07-28 (stdio), `basic/lifecycle` of the earlier revisions.

use std::time::Instant;

use crate::jsonrpc::OutgoingMessage;
use crate::revision::Revision;

use super::meta::RequestMeta;
use super::request_table::RequestPurpose;
use super::timers::{checked_deadline, is_due};
use super::transmit::NameAndParamHeaders;
use super::{CloseReason, HandshakeFault, HandshakeMode, ServerFacts, Session, SessionEvent, TransportKind, meta};

/// Phase of a session, from the handshake to its end.
#[derive(Debug)]
pub(super) enum SessionPhase {
    /// `server/discover` was sent and its response is pending.
    Probing { id: i64, until: Option<Instant>, again: bool },
    /// `initialize` was sent and its response is pending.
    Initializing { id: i64, offered: Revision, until: Option<Instant>, again: bool },
    /// The handshake is complete, and calls are possible.
    Ready,
    /// The handshake failed. Contains the cause.
    Failed(String),
    /// The session has ended. Contains the reason.
    Closed(CloseReason),
}

/// Results of the `server/discover` and `initialize` attempts of a handshake so far.
#[derive(Debug, Default)]
pub(super) struct HandshakeAttempts {
    probed: bool,
    /// `true` if the server did not respond to the probe (`server/discover`) in time.
    probe_unanswered: bool,
    /// Error of the probe (`server/discover`), if the probe failed and `initialize` was sent next.
    probe_error: Option<String>,
    /// Error of `initialize`, if `initialize` failed and `server/discover` was sent next.
    refused: Option<(String, HandshakeFault)>,
}

impl Session {
    pub(super) fn start_handshake(&mut self, now: Instant) {
        let sse = self.config.carrier == TransportKind::HttpSse;
        match self.config.handshake {
            HandshakeMode::Pinned(revision) if revision.is_modern() && sse => {
                self.refuse_handshake(format!("it must support {revision}, which HTTP+SSE does not carry"));
            }
            HandshakeMode::Pinned(revision) if revision.is_modern() => self.send_probe(false, now),
            HandshakeMode::Pinned(revision) => self.send_initialize(revision, false, now),
            // HTTP+SSE predates the probe.
            HandshakeMode::Probe if sse || self.is_server_known_to_be_legacy() => {
                self.send_initialize(Revision::NEWEST_LEGACY, false, now)
            }
            HandshakeMode::Probe => self.send_probe(false, now),
            HandshakeMode::Initialize => self.send_initialize(Revision::NEWEST_LEGACY, false, now),
        }
    }

    fn is_server_known_to_be_legacy(&self) -> bool {
        self.config.known.is_some_and(|revision| !revision.is_modern())
    }

    /// Starts a new handshake with `initialize`, as in the previous session.
    pub(super) fn reinitialize(&mut self, now: Instant) {
        self.tried = HandshakeAttempts::default();
        match self.config.handshake {
            HandshakeMode::Pinned(revision) => self.send_initialize(revision, false, now),
            HandshakeMode::Probe | HandshakeMode::Initialize => {
                self.send_initialize(Revision::NEWEST_LEGACY, false, now)
            }
        }
    }

    /// Starts a new handshake with `server/discover`, because the revisions that the server supports may have changed.
    pub(super) fn restart_probe(&mut self, now: Instant) {
        self.tried = HandshakeAttempts::default();
        match self.config.handshake {
            HandshakeMode::Pinned(_) => self.start_handshake(now),
            HandshakeMode::Probe | HandshakeMode::Initialize => self.send_probe(false, now),
        }
    }

    pub(super) fn send_probe(&mut self, again: bool, now: Instant) {
        self.tried.probed = true;
        let id = self.wire.register(RequestPurpose::Probe);
        self.phase = SessionPhase::Probing { id, until: checked_deadline(now, self.config.timeouts.probe), again };
        let common = self.common_meta.serialized_for_revision(&self.config, Revision::NEWEST);
        let probe =
            OutgoingMessage::request(id, "server/discover", |params| RequestMeta::default().write(common, params));
        self.queue_message(probe, "server/discover", NameAndParamHeaders::default());
    }

    pub(super) fn send_initialize(&mut self, offered: Revision, again: bool, now: Instant) {
        let params = meta::initialize_params(&self.config, offered);
        let id = self.wire.register(RequestPurpose::Initialize);
        self.phase = SessionPhase::Initializing {
            id,
            offered,
            until: checked_deadline(now, self.config.timeouts.initialize),
            again,
        };
        let initialize = OutgoingMessage::request(id, "initialize", |members| {
            members.put_all(params.as_object().into_iter().flatten())
        });
        self.queue_message(initialize, "initialize", NameAndParamHeaders::default());
    }

    /// Continues after `server/discover` failed in a way that indicates a server of an earlier revision: sends
    /// `initialize`, or fails the handshake if `initialize` was already refused or the session is pinned to 2026-07-28.
    pub(super) fn fall_back_to_initialize(&mut self, because: &str, now: Instant) {
        match (self.config.handshake, self.tried.refused.take()) {
            (HandshakeMode::Pinned(revision), _) => {
                self.refuse_handshake(format!("it must support {revision}, but {because}"))
            }
            // `initialize` was sent first, because the previous session used it.
            (_, Some((cause, fault))) => self.fail_handshake(format!("{cause}; and {because}"), fault),
            (HandshakeMode::Probe | HandshakeMode::Initialize, None) => {
                self.tried.probe_error = Some(because.to_owned());
                self.send_initialize(Revision::NEWEST_LEGACY, false, now);
            }
        }
    }

    /// Handles the failure of `initialize`. Sends `server/discover` next if `initialize` was sent only because the
    /// previous session used it, since the server may have been upgraded. Otherwise fails the handshake.
    pub(super) fn on_initialize_failed(&mut self, mut cause: String, fault: HandshakeFault, now: Instant) {
        let pinned = matches!(self.config.handshake, HandshakeMode::Pinned(_));
        let was_guess = self.is_reopening()
            || (self.config.handshake == HandshakeMode::Probe && self.is_server_known_to_be_legacy());
        if !pinned && was_guess && !self.tried.probed && self.config.carrier != TransportKind::HttpSse {
            self.tried.refused = Some((cause, fault));
            return self.send_probe(false, now);
        }
        if let Some(earlier) =
            self.tried.probe_error.take().filter(|_| self.config.carrier == TransportKind::StreamableHttp)
        {
            cause = format!("{cause}; before, {earlier}");
        }
        self.fail_handshake(cause, fault);
    }

    /// Handles a server that refused `initialize` because it supports only 2026-07-28. If `server/discover` timed out
    /// before, sends it again, but only once.
    pub(super) fn probe_after_timeout(&mut self, cause: String, now: Instant) {
        if std::mem::take(&mut self.tried.probe_unanswered) {
            self.tried.refused = Some((cause, HandshakeFault::Refused));
            return self.send_probe(false, now);
        }
        self.on_initialize_failed(cause, HandshakeFault::Refused, now);
    }

    pub(super) fn on_handshake_complete(&mut self, facts: ServerFacts, now: Instant) {
        let modern = facts.revision.is_modern();
        self.phase = SessionPhase::Ready;
        self.facts = Some(Box::new(facts.clone()));
        if !modern {
            self.send_notification("notifications/initialized", None);
        }
        self.last_output = None;
        // A modern server over HTTP has no connection that could fail.
        let stateless = self.config.carrier == TransportKind::StreamableHttp && self.revision().is_modern();
        self.liveness.start(self.config.timeouts.ping_interval.filter(|_| !stateless), now);
        match self.reopening.take() {
            None => {
                self.events.push(SessionEvent::Ready(Box::new(facts)));
                self.restore_subscriptions();
            }
            Some(reopening) => {
                self.events.push(SessionEvent::Reopened(Box::new(facts)));
                self.resume_retained_calls(reopening, now);
            }
        }
        if modern && !self.listen.is_request_open() {
            self.renew_subscription(now);
        }
    }

    pub(super) fn time_out_handshake(&mut self, now: Instant) {
        match self.phase {
            SessionPhase::Probing { id, until, .. } if is_due(until, now) => {
                // Not cancelled, since only pings may be sent before the response to `initialize`.
                self.wire.abandon(id);
                if self.config.carrier == TransportKind::StreamableHttp {
                    self.abort_http_request(id);
                }
                self.tried.probe_unanswered = true;
                let waited = self.config.timeouts.probe;
                self.fall_back_to_initialize(&format!("it gave no answer to `server/discover` within {waited:?}"), now);
            }
            SessionPhase::Initializing { id, until, .. } if is_due(until, now) => {
                self.wire.abandon(id);
                let waited = self.config.timeouts.initialize;
                let cause = format!("no answer to `initialize` within {waited:?}");
                self.fail_handshake(cause, HandshakeFault::NoAnswer);
            }
            _ => {}
        }
    }

    pub(super) fn refuse_handshake(&mut self, cause: String) {
        self.fail_handshake(cause, HandshakeFault::Refused);
    }

    pub(super) fn fail_handshake(&mut self, mut cause: String, fault: HandshakeFault) {
        if let Some(output) = self.last_output.take() {
            cause = format!("{cause}. Its last output was {output}");
        }
        self.phase = SessionPhase::Failed(cause.clone());
        self.events.push(SessionEvent::HandshakeFailed { cause: cause.clone(), fault });
        self.end_all_calls(&CloseReason::HandshakeFailed(cause));
    }

    /// Fails a handshake in progress, because the connection closed before the server responded.
    pub(super) fn fail_handshake_on_close(&mut self, reason: &CloseReason) {
        // Some servers fail on the probe but exit only when they read the next line, which is `initialize`.
        let (method, probing) = match self.phase {
            SessionPhase::Probing { .. } => ("server/discover", true),
            SessionPhase::Initializing { .. } => ("initialize", self.tried.probe_unanswered),
            SessionPhase::Ready | SessionPhase::Failed(_) | SessionPhase::Closed(_) => return,
        };
        if *reason != CloseReason::StoppedByOwner {
            let local = self.config.carrier == TransportKind::Stdio;
            // A server that exceeded a resource limit would do so again.
            let is_over = matches!(reason, CloseReason::LimitReached(_));
            let on_probe = probing && local && !is_over && self.config.handshake == HandshakeMode::Probe;
            let fault = if on_probe { HandshakeFault::ExitedOnProbe } else { HandshakeFault::Exited };
            self.fail_handshake(format!("{reason} before it answered `{method}`"), fault);
        }
    }
}
