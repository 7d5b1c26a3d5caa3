//! Whose words are in which conversation. A call that a model makes after it has read what one server said, and that goes to
//! another, is asked about: the words may have been the reason. So is a call of the same server after content that others may have
//! written, as the user set for the server (`domain::flow`). A simple label, and no verdict.

use domain::history::{Reading, ReadingKind};
use domain::question::Why;

use super::Owner;
use super::state::{CallOrigin, Label};
use crate::view::HostEvent;

impl Owner {
    /// Notes that something of these servers is in a conversation, and with `is_whole`, that nothing of others was in it
    /// before.
    pub(crate) fn put_in(&mut self, conversation: &str, servers: &[String], is_whole: bool) {
        if self.permissions.data_flow.labels.add(conversation, servers, is_whole) {
            self.events.emit(HostEvent::ConversationsChanged(Some(conversation.to_owned())));
        }
    }

    /// Whose words are in a conversation, as far as it is known.
    pub(crate) fn label(&self, conversation: &str) -> Label {
        self.permissions.data_flow.labels.of(conversation).cloned().unwrap_or_default()
    }

    /// Says of the output of tools whether their definitions say that they reach an open world.
    pub(crate) fn with_claims(&mut self, mut readings: Vec<Reading>) -> Vec<Reading> {
        for reading in readings.iter_mut().filter(|reading| reading.kind == ReadingKind::Tool) {
            reading.open_world |= self.says_open_world(&reading.server, &reading.name);
        }
        readings
    }

    /// Notes what was read from servers in a conversation.
    pub(crate) fn note_readings(&mut self, conversation: &str, readings: &[Reading]) {
        self.permissions.note_readings(conversation, readings);
    }

    /// Returns true if a call is made by a model that has read what another server said, or content of this one that counts as
    /// untrusted.
    pub(super) fn is_after_untrusted(&self, origin: &CallOrigin, server: &str) -> bool {
        self.permissions.data_flow.is_after_untrusted(origin, server, self.servers.is_remote(server))
    }

    /// The cause of a call, as its consent request shows it.
    pub(super) fn why_called(&self, origin: &CallOrigin, server: &str) -> Why {
        self.permissions.data_flow.why_called(origin, server, self.servers.is_remote(server))
    }
}
