//! What a conversation with a model needs of the owner: what its servers offer, and how much of it a model may have.

use domain::bounds::Bounds;

use super::Owner;
use crate::conversation::offered::ServerForModel;
use crate::view::{HostEvent, ServerState};

impl Owner {
    /// Servers as a model may know of them, in this order.
    pub(crate) fn servers_for_model(&self, names: &[String]) -> Vec<ServerForModel> {
        let of = |name: &String| {
            let record = self.servers.get(name);
            ServerForModel {
                server: name.clone(),
                reviewed: self.reviewed(name),
                is_ready: record.is_some_and(|record| record.state == ServerState::Ready),
                instructions: record.and_then(|record| record.facts.as_ref()?.instructions.clone()),
                roots: self.told_roots(name).unwrap_or_default(),
            }
        };
        names.iter().map(of).collect()
    }

    /// How much of a conversation a model gets.
    pub(crate) const fn conversation_bounds(&self) -> Bounds {
        self.settings.chat.within_bounds()
    }

    /// Tells something of a conversation.
    pub(crate) fn tell_of_conversation(&mut self, event: HostEvent) {
        self.emit(event);
    }
}
