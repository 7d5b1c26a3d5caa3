//! Events that wait for the host, with a bound on what a talkative server can put there.

use std::collections::VecDeque;

use super::{ServerRequestId, SessionEvent};

/// The queue. Answers and questions are never dropped: their number is bounded by the calls and
/// questions that may be open. News is merged where that loses nothing, and dropped and counted
/// beyond the bound.
#[derive(Debug)]
pub(super) struct EventQueue {
    waiting: VecDeque<SessionEvent>,
    limit: usize,
    news: usize,
    dropped_logs: u64,
    dropped_others: u64,
}

fn is_news(event: &SessionEvent) -> bool {
    matches!(
        event,
        SessionEvent::Log(_)
            | SessionEvent::Anomaly { .. }
            | SessionEvent::ListChanged(_)
            | SessionEvent::ResourceUpdated { .. }
            | SessionEvent::ElicitationComplete { .. }
    )
}

impl EventQueue {
    pub(super) fn new(limit: usize) -> EventQueue {
        EventQueue { waiting: VecDeque::new(), limit, news: 0, dropped_logs: 0, dropped_others: 0 }
    }

    pub(super) fn push(&mut self, event: SessionEvent) {
        match &event {
            SessionEvent::Progress { call, .. } => {
                let same = |other: &&mut SessionEvent| matches!(other, SessionEvent::Progress { call: older, .. } if older == call);
                if let Some(older) = self.waiting.iter_mut().find(same) {
                    *older = event;
                    return;
                }
            }
            SessionEvent::ListChanged(_) | SessionEvent::ResourceUpdated { .. } if self.waiting.contains(&event) => {
                return;
            }
            _ => {}
        }
        if is_news(&event) {
            if self.news >= self.limit {
                let log = matches!(event, SessionEvent::Log(_));
                *(if log { &mut self.dropped_logs } else { &mut self.dropped_others }) += 1;
                return;
            }
            self.news += 1;
        }
        self.waiting.push_back(event);
    }

    /// Takes back a question that the host has not seen yet.
    pub(super) fn unask(&mut self, question: ServerRequestId) -> bool {
        let asked = |event: &SessionEvent| matches!(event, SessionEvent::Asked { request, .. } if *request == question);
        let at = self.waiting.iter().position(asked);
        at.and_then(|at| self.waiting.remove(at)).is_some()
    }

    pub(super) fn pop(&mut self) -> Option<SessionEvent> {
        // What was dropped is told before the end is, because nothing comes after that.
        let drained = matches!(self.waiting.front(), None | Some(SessionEvent::Closed(_)));
        if drained && let Some(told) = self.dropped() {
            return Some(told);
        }
        let event = self.waiting.pop_front()?;
        self.news -= usize::from(is_news(&event));
        Some(event)
    }

    fn dropped(&mut self) -> Option<SessionEvent> {
        let (logs, others) = (std::mem::take(&mut self.dropped_logs), std::mem::take(&mut self.dropped_others));
        let cause = match (logs, others) {
            (0, 0) => return None,
            (logs, 0) => format!("{logs} log messages were dropped: they came faster than they could be taken"),
            (0, others) => format!("{others} notices were dropped: they came faster than they could be taken"),
            (logs, others) => format!(
                "{logs} log messages and {others} notices were dropped: they came faster than they could be taken"
            ),
        };
        Some(SessionEvent::Anomaly { cause, id: None })
    }
}
