//! Exclusive access to conversations, and the replies in progress: at most one per conversation. An item written during
//! a reply would end up in a different branch, so the write fails or waits for the end of the reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::item::ChatItem;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::ConversationError;
use super::error::MAX_CONCURRENT_REPLIES;

/// Records in which conversations a model is replying or items are being written, by conversation id.
#[derive(Debug, Default)]
pub(crate) struct ConversationLocks {
    held: Mutex<HashMap<String, ConversationLockHolder>>,
    freed: Notify,
}

#[derive(Debug)]
enum ConversationLockHolder {
    /// A model is replying in the conversation.
    Answer(Arc<RunningReply>),
    /// A task is writing items of the conversation, which takes only a short time.
    Writing,
}

/// State of a model's reply in progress: the token that stops it, and the part received so far.
#[derive(Debug, Default)]
pub(super) struct RunningReply {
    /// Token that stops the reply.
    pub(super) stop: CancellationToken,
    /// The reply as received from the model so far, and the number of its deltas that were sent to the page.
    pub(super) partial: Mutex<Option<(ChatItem, u64)>>,
}

/// Exclusive access to a conversation until dropped: no other task can start a reply or write items in it.
pub(super) struct ConversationLockGuard {
    replies: Arc<ConversationLocks>,
    conversation: String,
}

/// Exclusive access to a conversation for a reply in progress. Dropping the guard ends the access.
pub(super) struct RunningReplyGuard {
    pub(super) running: Arc<RunningReply>,
    _held: ConversationLockGuard,
}

impl ConversationLocks {
    /// Acquires exclusive access to a conversation for a new reply. Waits while another task writes items in it.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Answering`] if a model is already replying in the conversation, and
    /// [`ConversationError::TooMany`] if the maximum number of concurrent replies is reached.
    pub(super) async fn begin_reply(
        replies: &Arc<Self>,
        conversation: &str,
    ) -> Result<RunningReplyGuard, ConversationError> {
        let running = Arc::new(RunningReply::default());
        let held =
            Self::lock_conversation(replies, conversation, || ConversationLockHolder::Answer(Arc::clone(&running)))
                .await?;
        Ok(RunningReplyGuard { running, _held: held })
    }

    /// Acquires exclusive access to a conversation for writing. Waits while another task writes items in it.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Answering`] if a model is replying in the conversation.
    pub(super) async fn lock_for_writing(
        replies: &Arc<Self>,
        conversation: &str,
    ) -> Result<ConversationLockGuard, ConversationError> {
        Self::lock_conversation(replies, conversation, || ConversationLockHolder::Writing).await
    }

    /// Acquires exclusive access to a conversation for writing. Waits for other writers, and for the end of a reply in
    /// progress.
    pub(super) async fn lock_when_free(
        replies: &Arc<Self>,
        conversation: &str,
    ) -> Result<ConversationLockGuard, ConversationError> {
        loop {
            let freed = replies.freed.notified();
            match Self::lock_for_writing(replies, conversation).await {
                Err(ConversationError::Answering) => freed.await,
                other => return other,
            }
        }
    }

    async fn lock_conversation(
        replies: &Arc<Self>,
        conversation: &str,
        holder: impl Fn() -> ConversationLockHolder,
    ) -> Result<ConversationLockGuard, ConversationError> {
        loop {
            // Created before the check, so that a release between the check and the wait is not missed.
            let freed = replies.freed.notified();
            if let Some(held) = Self::try_lock_conversation(replies, conversation, holder())? {
                return Ok(held);
            }
            freed.await;
        }
    }

    /// Acquires exclusive access to a conversation for the use `holder`. Returns `None` if another task is writing
    /// items in it.
    fn try_lock_conversation(
        replies: &Arc<Self>,
        conversation: &str,
        holder: ConversationLockHolder,
    ) -> Result<Option<ConversationLockGuard>, ConversationError> {
        let mut held = replies.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get(conversation) {
            Some(ConversationLockHolder::Answer(_)) => return Err(ConversationError::Answering),
            Some(ConversationLockHolder::Writing) => return Ok(None),
            None => {}
        }
        let is_answer = |holder: &ConversationLockHolder| matches!(holder, ConversationLockHolder::Answer(_));
        if is_answer(&holder) && held.values().filter(|other| is_answer(other)).count() >= MAX_CONCURRENT_REPLIES {
            return Err(ConversationError::TooMany);
        }
        held.insert(conversation.to_owned(), holder);
        Ok(Some(ConversationLockGuard { replies: Arc::clone(replies), conversation: conversation.to_owned() }))
    }

    /// Returns the model's reply that is in progress in a conversation, or `None` if no model is replying.
    pub(super) fn running_reply(&self, conversation: &str) -> Option<Arc<RunningReply>> {
        match self.held.lock().unwrap_or_else(PoisonError::into_inner).get(conversation) {
            Some(ConversationLockHolder::Answer(running)) => Some(Arc::clone(running)),
            Some(ConversationLockHolder::Writing) | None => None,
        }
    }
}

impl Drop for ConversationLockGuard {
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
    async fn conversation_has_at_most_one_running_reply() {
        let replies = Arc::new(ConversationLocks::default());
        let first = ConversationLocks::begin_reply(&replies, "a").await;
        assert!(first.is_ok(), "the first reply starts");
        let second = ConversationLocks::begin_reply(&replies, "a").await;
        assert!(matches!(second, Err(ConversationError::Answering)), "a second reply is refused");
        assert!(ConversationLocks::begin_reply(&replies, "b").await.is_ok(), "a reply in another conversation starts");
        drop(first);
        assert!(
            ConversationLocks::begin_reply(&replies, "a").await.is_ok(),
            "the next reply starts after the first has ended"
        );
    }

    #[tokio::test]
    async fn writes_and_replies_of_a_conversation_are_mutually_exclusive() {
        let replies = Arc::new(ConversationLocks::default());
        let answer = ConversationLocks::begin_reply(&replies, "a").await.unwrap();
        let refused = ConversationLocks::lock_for_writing(&replies, "a").await;
        assert!(matches!(refused, Err(ConversationError::Answering)), "writing is refused during a reply");
        let own = Arc::clone(&replies);
        let waiting = tokio::spawn(async move { ConversationLocks::lock_when_free(&own, "a").await.map(|_| ()) });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "a write that must not be lost waits for the end of the reply");
        drop(answer);
        assert_eq!(waiting.await.unwrap(), Ok(()), "the write succeeds afterwards");
        let writing = ConversationLocks::lock_for_writing(&replies, "a").await.unwrap();
        assert!(replies.running_reply("a").is_none(), "a write is not a reply");
        let own = Arc::clone(&replies);
        let next = tokio::spawn(async move { ConversationLocks::begin_reply(&own, "a").await.is_ok() });
        tokio::task::yield_now().await;
        assert!(!next.is_finished(), "a reply waits for a write in progress");
        drop(writing);
        assert!(next.await.unwrap(), "the reply starts after the write");
    }
}
