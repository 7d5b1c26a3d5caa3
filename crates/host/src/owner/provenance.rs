//! Whose words are in which conversation. A call that a model makes after it has read what one server said, and that goes to
//! another, is asked about: the words may have been the reason. A simple label, and no verdict.

use indexmap::IndexMap;

use super::Owner;
use crate::view::{HostEvent, Why};

/// The most conversations of which it is known. What is not known is not trusted: calls of a model ask.
const MAX_CONVERSATIONS: usize = 1_000;
/// The most servers that are told of one conversation.
const MAX_SERVERS: usize = 64;

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOrigin {
    /// The user.
    User {
        /// The conversation it belongs to.
        conversation: Option<String>,
    },
    /// A model, in a conversation.
    Model {
        /// The conversation.
        conversation: String,
    },
}

impl CallOrigin {
    /// As the audit log names who makes it.
    pub(super) const fn asker(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Model { .. } => "model",
        }
    }

    /// The conversation it belongs to.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        match self {
            Self::User { conversation } => conversation.as_deref(),
            Self::Model { conversation } => Some(conversation),
        }
    }
}

/// Whose words are in one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// The servers, in the order in which their words came.
    pub servers: Vec<String>,
    /// Whether all that was in it before is accounted for.
    pub is_whole: bool,
}

/// Whose words are in which conversation.
#[derive(Debug, Default)]
pub(super) struct Labels(IndexMap<String, Label>);

impl Labels {
    /// Whose words are in a conversation, as far as it is known.
    pub(super) fn of(&self, conversation: &str) -> Option<&Label> {
        self.0.get(conversation)
    }

    /// Notes that something of these servers is in a conversation, and with `is_whole`, that nothing of others was in it
    /// before. Whether that says something new.
    pub(super) fn add(&mut self, conversation: &str, servers: &[String], is_whole: bool) -> bool {
        if !self.0.contains_key(conversation) {
            if self.0.len() >= MAX_CONVERSATIONS {
                self.0.shift_remove_index(0);
            }
            self.0.insert(conversation.to_owned(), Label::default());
        }
        let Some(label) = self.0.get_mut(conversation) else { return false };
        label.is_whole |= is_whole;
        let before = label.servers.len();
        for server in servers {
            if label.servers.len() < MAX_SERVERS && !label.servers.contains(server) {
                label.servers.push(server.clone());
            }
        }
        label.servers.len() > before
    }

    /// The servers whose words may have led to a model's call of one of `server`'s tools. None: nothing of others is in the
    /// conversation. What is not known counts as the words of somebody.
    pub(super) fn before_call(&self, conversation: &str, server: &str) -> Option<Vec<String>> {
        let Some(label) = self.of(conversation) else { return Some(Vec::new()) };
        let others: Vec<String> = label.servers.iter().filter(|other| *other != server).cloned().collect();
        (!others.is_empty() || !label.is_whole).then_some(others)
    }
}

impl Owner {
    /// Notes that something of these servers is in a conversation, and with `is_whole`, that nothing of others was in it
    /// before.
    pub(crate) fn put_in(&mut self, conversation: &str, servers: &[String], is_whole: bool) {
        if self.labels.add(conversation, servers, is_whole) {
            self.emit(HostEvent::ConversationsChanged(Some(conversation.to_owned())));
        }
    }

    /// Whose words are in a conversation, as far as it is known.
    pub(crate) fn label(&self, conversation: &str) -> Label {
        self.labels.of(conversation).cloned().unwrap_or_default()
    }

    /// Whether a call is made by a model that has read what another server said.
    pub(super) fn is_after_untrusted(&self, origin: &CallOrigin, server: &str) -> bool {
        match origin {
            CallOrigin::User { .. } => false,
            CallOrigin::Model { conversation } => self.labels.before_call(conversation, server).is_some(),
        }
    }

    /// What led to a call.
    pub(super) fn why_called(&self, origin: &CallOrigin, server: &str) -> Why {
        match origin {
            CallOrigin::User { conversation } => Why::User { conversation: conversation.clone() },
            CallOrigin::Model { conversation } => Why::Model {
                conversation: conversation.clone(),
                after: self.labels.before_call(conversation, server).unwrap_or_default(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_count_and_so_does_what_is_not_known() {
        let mut labels = Labels::default();
        assert_eq!(labels.before_call("c", "b"), Some(Vec::new()), "X09: of what is not known, the worst is assumed");
        assert!(!labels.add("c", &[], true), "a conversation begins with nothing in it");
        assert_eq!(labels.before_call("c", "b"), None, "then nothing led to a call");
        assert!(labels.add("c", &["b".into()], false), "words of b are new in it");
        assert_eq!(labels.before_call("c", "b"), None, "a server's own words are no other's");
        assert!(labels.add("c", &["a".into(), "b".into()], false), "words of a are new in it");
        assert!(!labels.add("c", &["a".into()], false), "and the second time they are not");
        assert_eq!(labels.before_call("c", "b"), Some(vec!["a".to_owned()]), "X09: those of another server count");
        labels.add("old", &["b".into()], false);
        assert_eq!(labels.before_call("old", "b"), Some(Vec::new()), "X09: what else is in an old one is not known");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_was_forgotten_is_not_trusted() {
        let mut labels = Labels::default();
        let servers: Vec<String> = (0..MAX_SERVERS + 5).map(|n| n.to_string()).collect();
        labels.add("first", &servers, true);
        assert_eq!(labels.of("first").map(|l| l.servers.len()), Some(MAX_SERVERS), "no more servers than can be read");
        for n in 0..MAX_CONVERSATIONS {
            labels.add(&n.to_string(), &[], true);
        }
        assert_eq!(labels.of("first"), None, "the oldest is forgotten");
        assert!(labels.before_call("first", "b").is_some(), "and is not trusted then");
    }
}
