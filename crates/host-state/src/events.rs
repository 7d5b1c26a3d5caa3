//! The stream of events to observers of the host, and the source of unique numbers for runs, tickets and consent
//! requests.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::view::HostEvent;

/// An event with its sequence number. Sequence numbers are consecutive.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedEvent {
    /// Sequence number of the event.
    pub number: u64,
    /// The event itself: a change of the host's state.
    pub event: HostEvent,
}

/// Assigns sequence numbers to events, and sends them to observers.
pub struct EventStream {
    /// Sequence number of the next event, starting at 1.
    pub next_event: u64,
    next_id: u64,
    sender: broadcast::Sender<Arc<NumberedEvent>>,
}

impl EventStream {
    /// Creates a stream that sends its events to the receivers of this channel.
    pub const fn new(sender: broadcast::Sender<Arc<NumberedEvent>>) -> Self {
        Self { next_event: 1, next_id: 0, sender }
    }

    /// Returns `true` if there are observers. A new observer first requests a snapshot, which includes the number of
    /// the next event.
    pub fn is_observed(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Numbers an event and sends it. Does nothing if there are no observers.
    pub fn emit(&mut self, event: HostEvent) {
        if !self.is_observed() {
            return;
        }
        let number = self.next_event;
        self.next_event += 1;
        // Fails only if the last observer has disconnected meanwhile.
        let _ = self.sender.send(Arc::new(NumberedEvent { number, event }));
    }

    /// Returns a new unique number, for a run, ticket, consent request or audit entry.
    pub const fn next_unique_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

impl EventStream {
    /// Emits [`HostEvent::AuthorizationChanged`]: the sign-in state of a server changed.
    pub fn authorization_changed(&mut self, name: &str) {
        self.emit(HostEvent::AuthorizationChanged(name.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_with_observers_are_numbered() {
        let (sender, receiver) = broadcast::channel(4);
        let mut stream = EventStream::new(sender);
        drop(receiver);
        stream.emit(HostEvent::ConversationsChanged(None));
        assert_eq!(stream.next_event, 1, "events without observers are not numbered");
        let mut receiver = stream.sender.subscribe();
        stream.emit(HostEvent::ConversationsChanged(None));
        stream.emit(HostEvent::ConversationsChanged(None));
        let numbers: Vec<u64> = std::iter::from_fn(|| receiver.try_recv().ok()).map(|event| event.number).collect();
        assert_eq!(numbers, [1, 2], "the numbers are consecutive");
    }
}
