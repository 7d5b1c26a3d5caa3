//! What a conversation with a model needs of the owner: what its servers offer, and how much of it a model may have.

use std::path::PathBuf;

use domain::bounds::ChatBounds;
use domain::item::ConversationEvent;
use offers::review::ServerReview;
use policy::Hash;

use super::Owner;
use crate::view::{HostEvent, ServerState};

/// A server as a model may know of it.
#[derive(Debug, Clone)]
pub struct ServerForModel {
    /// Its name.
    pub server: String,
    /// What it offers beside what the user saw of it; none if there is no such server.
    pub reviewed: Option<ServerReview>,
    /// Whether it is in use.
    pub is_ready: bool,
    /// What it wants a model to know.
    pub instructions: Option<String>,
    /// The folders that it may know of.
    pub roots: Vec<PathBuf>,
}

impl ServerForModel {
    /// The hash of its instructions, by which the user says that a model gets them.
    #[must_use]
    pub fn instructions_hash(&self) -> Option<String> {
        self.instructions.as_ref().map(|text| Hash::of_bytes(text.as_bytes()).to_string())
    }

    /// True if it said that its tools changed, and they were not read since.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.is_ready && self.reviewed.as_ref().is_some_and(|reviewed| reviewed.catalog.has_outdated_tools())
    }
}

impl Owner {
    /// Servers as a model may know of them, in this order.
    pub(crate) fn servers_for_model(&self, names: &[String]) -> Vec<ServerForModel> {
        let of = |name: &String| {
            let record = self.servers.records.get(name);
            ServerForModel {
                server: name.clone(),
                reviewed: self.reviewed(name),
                is_ready: record.is_some_and(|record| record.state == ServerState::Ready),
                instructions: record.and_then(|record| record.session.facts.as_ref()?.instructions.clone()),
                roots: self.told_roots(name).unwrap_or_default(),
            }
        };
        names.iter().map(of).collect()
    }

    /// How much of a conversation a model gets.
    pub(crate) const fn conversation_bounds(&self) -> ChatBounds {
        self.settings.current.chat.within_bounds()
    }

    /// Tells something of a conversation.
    pub(crate) fn tell_of_conversation(&mut self, event: ConversationEvent) {
        self.events.emit(HostEvent::Conversation(event));
    }
}
