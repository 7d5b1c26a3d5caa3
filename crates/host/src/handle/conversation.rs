//! What conversations need of the host: the servers that a model may know of, whose words are in a conversation, and events. The crate
//! `chat` calls it.

use domain::bounds::ChatBounds;
use domain::history::Reading;
use domain::item::ConversationEvent;

use super::{Host, HostClosed};
use crate::owner::{Label, ServerForModel};

impl Host {
    /// Servers as a model may know of them, in this order.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn servers_for_model(&self, names: Vec<String>) -> Result<Vec<ServerForModel>, HostClosed> {
        self.with(move |owner| owner.servers_for_model(&names)).await
    }

    /// How much of a conversation a model gets.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn conversation_bounds(&self) -> Result<ChatBounds, HostClosed> {
        self.with(|owner| owner.conversation_bounds()).await
    }

    /// Tells observers something of a conversation, without waiting until they were told.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn tell_of_conversation(&self, event: ConversationEvent) -> Result<(), HostClosed> {
        self.with(move |owner| owner.tell_of_conversation(event)).await
    }

    /// Notes that words of these servers are in a conversation, and with `is_whole`, that no others were in it before.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn put_in(&self, conversation: String, servers: Vec<String>, is_whole: bool) -> Result<(), HostClosed> {
        self.with(move |owner| owner.put_in(&conversation, &servers, is_whole)).await
    }

    /// Notes what was read from servers in a conversation.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn note_readings(&self, conversation: String, readings: Vec<Reading>) -> Result<(), HostClosed> {
        self.with(move |owner| owner.note_readings(&conversation, &readings)).await
    }

    /// The same contents, with what the tools say that they came from.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn with_claims(&self, readings: Vec<Reading>) -> Result<Vec<Reading>, HostClosed> {
        self.with(move |owner| owner.with_claims(readings)).await
    }

    /// Whose words are in a conversation, as far as it is known.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn label(&self, conversation: String) -> Result<Label, HostClosed> {
        self.with(move |owner| owner.label(&conversation)).await
    }

    /// Tells observers that conversations changed.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn conversations_changed(&self, changed: Option<String>) -> Result<(), HostClosed> {
        self.with(move |owner| owner.conversations_changed(changed)).await
    }
}
