//! Bounded queue of events for the session's caller.

use std::collections::VecDeque;

use super::{ServerRequestId, SessionEvent};

/// Bounded queue of events for the session's caller. Results and requests from the server are never dropped, since the
/// limits on open calls and requests bound their number. Other events are merged if no information is lost, and beyond
/// the limit they are dropped and counted.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// Queued events, each with its size in bytes.
    waiting: VecDeque<(SessionEvent, usize)>,
    limit: usize,
    limit_bytes: usize,
    informational: usize,
    informational_bytes: usize,
    dropped_logs: u64,
    dropped_others: u64,
}

fn is_informational_event(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::Log { .. }
            | SessionEvent::Anomaly { .. }
            | SessionEvent::ListChanged(_)
            | SessionEvent::ResourceUpdated { .. }
            | SessionEvent::ElicitationComplete { .. }
            | SessionEvent::SubscriptionsLost { .. }
            | SessionEvent::ItemsDropped { .. }
    )
}

impl EventQueue {
    pub(super) fn new(limit: usize, limit_bytes: usize) -> EventQueue {
        EventQueue {
            waiting: VecDeque::new(),
            limit,
            limit_bytes,
            informational: 0,
            informational_bytes: 0,
            dropped_logs: 0,
            dropped_others: 0,
        }
    }

    pub(super) fn push(&mut self, event: SessionEvent) {
        self.push_with_size(event, 0);
    }

    /// Queues an event. `bytes` is the length of the received message from which it results, and counts against the
    /// limit of the queue.
    pub(super) fn push_with_size(&mut self, event: SessionEvent, bytes: usize) {
        match &event {
            SessionEvent::Progress { call, .. } => {
                let same = |(other, _): &&mut (SessionEvent, usize)| matches!(other, SessionEvent::Progress { call: older, .. } if older == call);
                if let Some((older, _)) = self.waiting.iter_mut().find(same) {
                    *older = event;
                    return;
                }
            }
            SessionEvent::TaskChanged { call, .. } => {
                let same = |(other, _): &&mut (SessionEvent, usize)| matches!(other, SessionEvent::TaskChanged { call: older, .. } if older == call);
                if let Some((older, _)) = self.waiting.iter_mut().find(same) {
                    *older = event;
                    return;
                }
            }
            SessionEvent::ListChanged(_) | SessionEvent::ResourceUpdated { .. }
                if self.waiting.iter().any(|(other, _)| *other == event) =>
            {
                return;
            }
            _ => {}
        }
        if is_informational_event(&event) {
            let too_large = self.informational > 0 && self.informational_bytes.saturating_add(bytes) > self.limit_bytes;
            if self.informational >= self.limit || too_large {
                let log = matches!(event, SessionEvent::Log { .. });
                *(if log { &mut self.dropped_logs } else { &mut self.dropped_others }) += 1;
                return;
            }
            self.informational += 1;
            self.informational_bytes += bytes;
        }
        self.waiting.push_back((event, bytes));
    }

    pub(super) fn has_only_progress_queued(&self) -> bool {
        self.waiting.iter().all(|(event, _)| matches!(event, SessionEvent::Progress { .. }))
    }

    /// Removes the queued event that reports a request of the server. Returns `false` if the session's caller has
    /// already taken the event.
    pub(super) fn remove_server_request_event(&mut self, server_request: ServerRequestId) -> bool {
        let is_request = |(event, _): &(SessionEvent, usize)| matches!(event, SessionEvent::RequestReceived { request, .. } if *request == server_request);
        let at = self.waiting.iter().position(is_request);
        at.and_then(|at| self.waiting.remove(at)).is_some()
    }

    pub(super) fn pop(&mut self) -> Option<SessionEvent> {
        // Dropped notices are reported before the final event, as no event follows that.
        let drained = matches!(self.waiting.front(), None | Some((SessionEvent::Closed(_), _)));
        if drained && let Some(dropped) = self.take_dropped_events_notice() {
            return Some(dropped);
        }
        let (event, bytes) = self.waiting.pop_front()?;
        if is_informational_event(&event) {
            self.informational -= 1;
            self.informational_bytes -= bytes;
        }
        Some(event)
    }

    fn take_dropped_events_notice(&mut self) -> Option<SessionEvent> {
        let (logs, others) = (std::mem::take(&mut self.dropped_logs), std::mem::take(&mut self.dropped_others));
        let cause = match (logs, others) {
            (0, 0) => return None,
            (logs, 0) => format!("{logs} log messages were dropped: they arrived faster than they were processed"),
            (0, others) => format!("{others} notices were dropped: they arrived faster than they were processed"),
            (logs, others) => format!(
                "{logs} log messages and {others} notices were dropped: they arrived faster than they could be processed"
            ),
        };
        Some(SessionEvent::Anomaly { cause, id: None })
    }
}
