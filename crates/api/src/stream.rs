//! The events of the host as the page gets them: batched, so that a burst costs one message.

use std::sync::Arc;
use std::time::Duration;

use host::NumberedEvent;
use host::view::HostEvent;

use crate::data::ConversationSummary;
use crate::handler::{Api, event};
use crate::{Event, Events};

/// How long events gather: one frame of the page.
const GATHER: Duration = Duration::from_millis(16);
/// The most events of one batch.
const MAX_BATCH: usize = 256;

/// The events of the host, in batches.
pub struct EventStream {
    api: Api,
    events: host::Events,
    /// An event that was read and does not follow the batch before it.
    held: Option<Arc<NumberedEvent>>,
}

impl EventStream {
    pub(crate) fn new(api: Api) -> Self {
        let events = api.host().events();
        Self { api, events, held: None }
    }

    /// The next batch; none when the host has ended. Its first event comes at once with those that are there already, then
    /// those of one frame are gathered. A batch never spans a gap.
    pub async fn next(&mut self) -> Option<Events> {
        let first = match self.held.take() {
            Some(event) => event,
            None => self.events.next().await?,
        };
        tokio::time::sleep(GATHER).await;
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
        Some(Events { first: number, events })
    }

    async fn conversations(&self, batch: &[Arc<NumberedEvent>]) -> Vec<ConversationSummary> {
        if batch.iter().any(|e| matches!(e.event, HostEvent::ConversationsChanged(_))) {
            // A list that can't be read shows as empty; the next command says why.
            return self.api.conversation_list().await.unwrap_or_default();
        }
        Vec::new()
    }
}
