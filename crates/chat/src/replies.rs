//! The answers under way: at most one in each conversation. What the user writes there meanwhile would stand in another branch than
//! the answer, so it is refused or waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::item::Item;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::ConversationError;
use super::error::MAX_ANSWERS;

/// What holds conversations, by conversation.
#[derive(Debug, Default)]
pub(crate) struct Replies {
    held: Mutex<HashMap<String, Holder>>,
    freed: Notify,
}

#[derive(Debug)]
enum Holder {
    /// A model answers.
    Answer(Arc<Running>),
    /// Something is written, which takes a moment.
    Writing,
}

/// An answer under way.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// Ends it.
    pub(super) stop: CancellationToken,
    /// The item as far as it came, and how many pieces of it were told.
    pub(super) live: Mutex<Option<(Item, u64)>>,
}

/// Holds a conversation until it is dropped: nobody else begins an answer or writes in it.
pub(super) struct Held {
    replies: Arc<Replies>,
    conversation: String,
}

/// An answer among those under way, until it is dropped.
pub(super) struct Answering {
    pub(super) running: Arc<Running>,
    _held: Held,
}

impl Replies {
    /// Begins an answer.
    pub(super) async fn begin(replies: &Arc<Self>, conversation: &str) -> Result<Answering, ConversationError> {
        let running = Arc::new(Running::default());
        let held = Self::hold(replies, conversation, || Holder::Answer(Arc::clone(&running))).await?;
        Ok(Answering { running, _held: held })
    }

    /// Holds a conversation to write in it.
    pub(super) async fn write(replies: &Arc<Self>, conversation: &str) -> Result<Held, ConversationError> {
        Self::hold(replies, conversation, || Holder::Writing).await
    }

    /// The same, once no model answers there any more.
    pub(super) async fn write_when_free(replies: &Arc<Self>, conversation: &str) -> Result<Held, ConversationError> {
        loop {
            let freed = replies.freed.notified();
            match Self::write(replies, conversation).await {
                Err(ConversationError::Answering) => freed.await,
                other => return other,
            }
        }
    }

    async fn hold(
        replies: &Arc<Self>,
        conversation: &str,
        holder: impl Fn() -> Holder,
    ) -> Result<Held, ConversationError> {
        loop {
            // Made before it is looked at, so that an end in between is heard.
            let freed = replies.freed.notified();
            if let Some(held) = Self::try_hold(replies, conversation, holder())? {
                return Ok(held);
            }
            freed.await;
        }
    }

    /// None while something is written there.
    fn try_hold(replies: &Arc<Self>, conversation: &str, holder: Holder) -> Result<Option<Held>, ConversationError> {
        let mut held = replies.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get(conversation) {
            Some(Holder::Answer(_)) => return Err(ConversationError::Answering),
            Some(Holder::Writing) => return Ok(None),
            None => {}
        }
        let is_answer = |holder: &Holder| matches!(holder, Holder::Answer(_));
        if is_answer(&holder) && held.values().filter(|other| is_answer(other)).count() >= MAX_ANSWERS {
            return Err(ConversationError::TooMany);
        }
        held.insert(conversation.to_owned(), holder);
        Ok(Some(Held { replies: Arc::clone(replies), conversation: conversation.to_owned() }))
    }

    /// The answer under way in a conversation.
    pub(super) fn of(&self, conversation: &str) -> Option<Arc<Running>> {
        match self.held.lock().unwrap_or_else(PoisonError::into_inner).get(conversation) {
            Some(Holder::Answer(running)) => Some(Arc::clone(running)),
            Some(Holder::Writing) | None => None,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.replies.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.conversation);
        self.replies.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn only_one_answer_at_a_time_is_under_way_in_a_conversation() {
        let replies = Arc::new(Replies::default());
        let first = Replies::begin(&replies, "a").await;
        assert!(first.is_ok(), "the first begins");
        let second = Replies::begin(&replies, "a").await;
        assert!(matches!(second, Err(ConversationError::Answering)), "and a second does not");
        assert!(Replies::begin(&replies, "b").await.is_ok(), "in another conversation one does");
        drop(first);
        assert!(Replies::begin(&replies, "a").await.is_ok(), "and after its end the next");
    }

    #[tokio::test]
    async fn who_writes_is_refused_or_waits_while_a_model_answers_and_an_answer_waits_for_who_writes() {
        let replies = Arc::new(Replies::default());
        let answer = Replies::begin(&replies, "a").await.unwrap();
        let refused = Replies::write(&replies, "a").await;
        assert!(matches!(refused, Err(ConversationError::Answering)), "nothing is written beside an answer");
        let own = Arc::clone(&replies);
        let waiting = tokio::spawn(async move { Replies::write_when_free(&own, "a").await.map(|_| ()) });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "what must not be lost waits for the answer's end");
        drop(answer);
        assert_eq!(waiting.await.unwrap(), Ok(()), "and is written then");
        let writing = Replies::write(&replies, "a").await.unwrap();
        assert!(replies.of("a").is_none(), "who writes is no answer");
        let own = Arc::clone(&replies);
        let next = tokio::spawn(async move { Replies::begin(&own, "a").await.is_ok() });
        tokio::task::yield_now().await;
        assert!(!next.is_finished(), "an answer begins once what is written stands");
        drop(writing);
        assert!(next.await.unwrap(), "and it does then");
    }
}
