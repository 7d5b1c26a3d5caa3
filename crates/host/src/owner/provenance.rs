//! Sources of conversations: the servers with content in them. A model's call that follows content of one server and
//! goes to another requires consent, since the content may have caused it. So does a call of the same server after
//! content that third parties may have written, according to the server's settings (`domain::data_flow`). This is a label
//! only, not a classification of the content.

use domain::consent_request::ConsentRequestOrigin;
use domain::history::{Reading, ReadingKind};

use super::Owner;
use super::state::{CallOrigin, ConversationLabel};
use crate::view::HostEvent;

impl Owner {
    /// Records that content of these servers is in a conversation and, with `is_whole` set, that no other servers have
    /// content in it so far.
    pub(crate) fn record_conversation_servers(&mut self, conversation: &str, servers: &[String], is_whole: bool) {
        if self.permissions.data_flow.labels.add(conversation, servers, is_whole) {
            self.events.emit(HostEvent::ConversationsChanged(Some(conversation.to_owned())));
        }
    }

    /// Returns the known sources of a conversation.
    pub(crate) fn conversation_label(&self, conversation: &str) -> ConversationLabel {
        self.permissions.data_flow.labels.label(conversation).cloned().unwrap_or_default()
    }

    /// Sets [`Reading::open_world`] of tool output whose tools claim to reach an open world.
    pub(crate) fn add_open_world_claims(&mut self, mut readings: Vec<Reading>) -> Vec<Reading> {
        for reading in readings.iter_mut().filter(|reading| reading.kind == ReadingKind::Tool) {
            reading.open_world |= self.claims_open_world(&reading.server, &reading.name);
        }
        readings
    }

    /// Records content that was read from servers in a conversation.
    pub(crate) fn note_readings(&mut self, conversation: &str, readings: &[Reading]) {
        self.permissions.note_readings(conversation, readings);
    }

    /// Returns `true` if the call is made by a model that has read content of another server, or content of this server
    /// that counts as untrusted.
    pub(super) fn is_after_untrusted(&self, origin: &CallOrigin, server: &str) -> bool {
        self.permissions.data_flow.is_after_untrusted(origin, server, self.servers.is_remote(server))
    }

    /// Returns the origin of a call, for its consent request.
    pub(super) fn call_consent_origin(&self, origin: &CallOrigin, server: &str) -> ConsentRequestOrigin {
        self.permissions.data_flow.why_called(origin, server, self.servers.is_remote(server))
    }
}
