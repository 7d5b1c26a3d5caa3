//! Functions for conversations: the servers that a model may use, the servers whose content a conversation contains,
//! and events. Used by the crate `chat`.

use domain::bounds::ChatBounds;
use domain::history::ReadContent;
use domain::item::ConversationEvent;

use super::{Host, HostClosed};
use crate::owner::{DataFlowLabel, ServerForModel};
use crate::view::HostEvent;

impl Host {
    /// Returns the data that a model may receive about these servers, in the given order.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn servers_for_model(&self, names: Vec<String>) -> Result<Vec<ServerForModel>, HostClosed> {
        self.with_owner(move |owner| owner.servers_for_model(&names)).await
    }

    /// Returns the limits on the content of a conversation that a model receives.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn conversation_bounds(&self) -> Result<ChatBounds, HostClosed> {
        self.with_owner(|owner| owner.settings.current.chat.clamped_to_bounds()).await
    }

    /// Emits an event of a conversation to the observers, without waiting for its delivery.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn emit_conversation_event(&self, event: ConversationEvent) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.events.emit(HostEvent::Conversation(event))).await
    }

    /// Records that a conversation contains content of these servers. With `is_whole` set, the conversation contains no
    /// content of other servers.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn record_conversation_servers(
        &self,
        conversation: String,
        servers: Vec<String>,
        is_whole: bool,
    ) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.record_conversation_servers(&conversation, &servers, is_whole)).await
    }

    /// Records that a model has read this content of servers in a conversation.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn record_read_content(&self, conversation: String, content: Vec<ReadContent>) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.permissions.record_read_content(&conversation, &content)).await
    }

    /// Sets [`ReadContent::open_world`] of each content according to the annotations of its tool, and returns them.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn add_open_world_claims(&self, read_contents: Vec<ReadContent>) -> Result<Vec<ReadContent>, HostClosed> {
        self.with_owner(move |owner| owner.add_open_world_claims(read_contents)).await
    }

    /// Returns the servers whose content is known to be in a conversation.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn data_flow_label(&self, conversation: String) -> Result<DataFlowLabel, HostClosed> {
        self.with_owner(move |owner| owner.permissions.data_flow.label_of(&conversation)).await
    }

    /// Notifies observers that the conversation with this id or, for `None`, the list of conversations changed.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn report_changed_conversations(&self, changed: Option<String>) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.events.emit(HostEvent::ConversationsChanged(changed))).await
    }
}
