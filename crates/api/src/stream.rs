//! Stream of the host's events for the page, in batches that combine events of a short time.

use std::sync::Arc;
use std::time::Duration;

use host::NumberedEvent;
use host::view::HostEvent;
use tokio::time::Instant;

use crate::data::ConversationSummary;
use crate::handler::{Api, conversation_summaries, event_view};
use crate::{Event, Events};

/// Minimum interval between two batches: one frame of the page at 60 Hz.
const MIN_EVENT_BATCH_INTERVAL: Duration = Duration::from_millis(16);
/// Delay between the first event of a batch and the batch's return, so that related events, such as a new message and
/// its consent request, are in the same batch.
const EVENT_BATCH_DELAY: Duration = Duration::from_millis(2);
/// Maximum number of events in one batch.
const MAX_EVENTS_PER_BATCH: usize = 256;

/// Stream of the host's events in batches.
pub struct EventStream {
    api: Api,
    events: host::EventReceiver,
    /// Event that was received but belongs to the next batch, or `None` if there is none.
    pending: Option<Arc<NumberedEvent>>,
    /// Time at which the previous batch of events was returned, or `None` before the first one.
    last_batch_at: Option<Instant>,
}

impl EventStream {
    pub(crate) fn new(api: Api) -> Self {
        let events = api.host().events();
        Self { api, events, pending: None, last_batch_at: None }
    }

    /// Returns the next batch, or `None` if the host has stopped.
    ///
    /// A batch is returned after [`EVENT_BATCH_DELAY`], and not sooner than [`MIN_EVENT_BATCH_INTERVAL`] after the
    /// previous one. The numbers of its events have no gap. Cancel safe: no event is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Events> {
        if self.pending.is_none() {
            self.pending = Some(self.events.next().await?);
        }
        let together = Instant::now() + EVENT_BATCH_DELAY;
        tokio::time::sleep_until(
            self.last_batch_at.map_or(together, |last_batch_at| together.max(last_batch_at + MIN_EVENT_BATCH_INTERVAL)),
        )
        .await;
        let first = self.pending.take()?;
        let number = first.number;
        let mut batch = vec![first];
        while batch.len() < MAX_EVENTS_PER_BATCH {
            let Some(event) = self.events.try_next() else { break };
            if event.number != number + batch.len() as u64 {
                self.pending = Some(event);
                break;
            }
            batch.push(event);
        }
        let conversations = self.list_conversations_if_changed(&batch).await;
        let events: Vec<Event> = batch.iter().map(|e| event_view(&e.event, conversations.clone())).collect();
        self.last_batch_at = Some(Instant::now());
        Some(Events { first: number, events })
    }

    async fn list_conversations_if_changed(&self, batch: &[Arc<NumberedEvent>]) -> Vec<ConversationSummary> {
        if batch.iter().any(|e| matches!(e.event, HostEvent::ConversationsChanged(_))) {
            // If the list can't be read, the page shows an empty list, and its next command returns the error.
            return conversation_summaries(&self.api).await.unwrap_or_default();
        }
        Vec::new()
    }
}
