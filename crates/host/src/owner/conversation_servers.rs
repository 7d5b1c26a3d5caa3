//! Services of the owner for conversations with models: the catalogs of servers, and limits on what a model receives.

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
    /// Name of the server.
    pub server: String,
    /// Catalog of the server with the review state of its definitions, or `None` if no server has this name.
    pub reviewed: Option<ServerReview>,
    /// Set if the server is running and its session is open.
    pub is_ready: bool,
    /// Instructions that the server gives for models.
    pub instructions: Option<String>,
    /// Folders shared with the server (roots).
    pub roots: Vec<PathBuf>,
}

impl ServerForModel {
    /// Returns the hash of the instructions. The user approves sending them to a model by this hash.
    #[must_use]
    pub fn instructions_hash(&self) -> Option<String> {
        self.instructions.as_ref().map(|text| Hash::of_bytes(text.as_bytes()).to_string())
    }

    /// Returns `true` if the server reported a change of its tools and they have not been read since.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.is_ready && self.reviewed.as_ref().is_some_and(|reviewed| reviewed.catalog.has_outdated_tools())
    }
}

impl Owner {
    /// Returns the servers that a model may know of, in the given order.
    pub(crate) fn servers_for_model(&self, names: &[String]) -> Vec<ServerForModel> {
        let of = |name: &String| {
            let record = self.servers.records.get(name);
            ServerForModel {
                server: name.clone(),
                reviewed: self.reviewed(name),
                is_ready: record.is_some_and(|record| record.state == ServerState::Ready),
                instructions: record.and_then(|record| record.session.facts.as_ref()?.instructions.clone()),
                roots: self.accessible_roots(name).unwrap_or_default(),
            }
        };
        names.iter().map(of).collect()
    }

    /// Returns the limits on what a model receives of a conversation.
    pub(crate) const fn conversation_bounds(&self) -> ChatBounds {
        self.settings.current.chat.within_bounds()
    }

    /// Emits an event of a conversation.
    pub(crate) fn emit_conversation_event(&mut self, event: ConversationEvent) {
        self.events.emit(HostEvent::Conversation(event));
    }
}
