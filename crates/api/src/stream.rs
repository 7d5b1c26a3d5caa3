//! The events of the host as the page gets them: batched, so that a burst costs one message.

use std::sync::Arc;
use std::time::Duration;

use host::NumberedEvent;
use host::view::HostEvent;
use tokio::time::Instant;

use crate::data::ConversationSummary;
use crate::handler::{Api, conversation_list, event};
use crate::{Event, Events};

/// At least this long from one batch to the next: one frame of the page.
const FRAME: Duration = Duration::from_millis(16);
/// What belongs together, such as a message and the question in it, comes within this time.
const TOGETHER: Duration = Duration::from_millis(2);
/// The most events of one batch.
const MAX_BATCH: usize = 256;

/// The events of the host, in batches.
pub struct EventStream {
    api: Api,
    events: host::Events,
    /// An event that was read and is not in a batch yet.
    held: Option<Arc<NumberedEvent>>,
    /// When the batch before was given.
    given: Option<Instant>,
}

impl EventStream {
    pub(crate) fn new(api: Api) -> Self {
        let events = api.host().events();
        Self { api, events, held: None, given: None }
    }

    /// The next batch; none when the host has ended. After a pause it comes at once, in a burst once in a frame. A batch
    /// never spans a gap. Dropped while it waits for events, it loses none.
    pub async fn next(&mut self) -> Option<Events> {
        if self.held.is_none() {
            self.held = Some(self.events.next().await?);
        }
        let together = Instant::now() + TOGETHER;
        tokio::time::sleep_until(self.given.map_or(together, |given| together.max(given + FRAME))).await;
        let first = self.held.take()?;
        let number = first.number;
        let mut batch = vec![first];
        while batch.len() < MAX_BATCH {
            let Some(event) = self.events.try_next() else { break };
            if event.number != number + batch.len() as u64 {
                self.held = Some(event);
                break;
            }
            batch.push(event);
        }
        let conversations = self.conversations(&batch).await;
        let events: Vec<Event> = batch.iter().map(|e| event(&e.event, conversations.clone())).collect();
        self.given = Some(Instant::now());
        Some(Events { first: number, events })
    }

    async fn conversations(&self, batch: &[Arc<NumberedEvent>]) -> Vec<ConversationSummary> {
        if batch.iter().any(|e| matches!(e.event, HostEvent::ConversationsChanged(_))) {
            // A list that can't be read shows as empty; the next command says why.
            return conversation_list(&self.api).await.unwrap_or_default();
        }
        Vec::new()
    }
}
