//! Functions for conversations with models: the catalogs of servers, and the limits on content that a model receives.

use std::path::PathBuf;

use domain::bounds::ChatBounds;
use domain::item::ConversationEvent;
use offers::review::ServerReview;
use policy::Hash;

use super::Owner;
use crate::view::{HostEvent, ServerState};

/// Data about a server that may be sent to a model in a conversation.
#[derive(Debug, Clone)]
pub struct ServerForModel {
    /// Name of the server.
    pub server: String,
    /// Catalog of the server with the review state of each definition, or `None` if no server has this name.
    pub reviewed: Option<ServerReview>,
    /// Set if the server is running and its session is open.
    pub is_ready: bool,
    /// Instructions from the server's initialization, if any.
    pub instructions: Option<String>,
    /// Folders that are shared with the server (roots).
    pub roots: Vec<PathBuf>,
}

impl ServerForModel {
    /// Returns the hash of the server's instructions, if any, by which the user approves them for the model.
    #[must_use]
    pub fn instructions_hash(&self) -> Option<String> {
        self.instructions.as_ref().map(|text| Hash::of_bytes(text.as_bytes()).to_string())
    }

    /// Returns `true` if the server reported a change of its tools and the changed list was not read yet.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.is_ready && self.reviewed.as_ref().is_some_and(|reviewed| reviewed.catalog.has_outdated_tools())
    }
}

impl Owner {
    /// Returns the data about these servers that a model may receive, in the given order.
    pub(crate) fn servers_for_model(&self, names: &[String]) -> Vec<ServerForModel> {
        let of = |name: &String| {
            let record = self.servers.records.get(name);
            ServerForModel {
                server: name.clone(),
                reviewed: self.server_review(name),
                is_ready: record.is_some_and(|record| record.state == ServerState::Ready),
                instructions: record.and_then(|record| record.session.facts.as_ref()?.instructions.clone()),
                roots: self.accessible_roots(name).unwrap_or_default(),
            }
        };
        names.iter().map(of).collect()
    }

    /// Returns the limits on the content of a conversation that a model receives.
    pub(crate) const fn conversation_bounds(&self) -> ChatBounds {
        self.settings.current.chat.clamped_to_bounds()
    }

    /// Sends an event of a conversation to the host's observers.
    pub(crate) fn emit_conversation_event(&mut self, event: ConversationEvent) {
        self.events.emit(HostEvent::Conversation(event));
    }
}
