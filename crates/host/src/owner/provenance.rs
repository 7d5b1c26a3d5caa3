//! Records which servers' content each conversation contains. After content of one server, a model's call of another
//! server requires consent, since the content may have caused the call. A call of the same server requires consent
//! after content that third parties may have written, depending on the server's settings (`domain::data_flow`). The
//! content itself is not classified.

use domain::consent_request::ConsentRequestOrigin;
use domain::history::{ReadContent, ReadContentKind};

use super::Owner;
use super::state::CallOrigin;
use crate::view::HostEvent;

impl Owner {
    /// Records that a conversation contains content of these servers and, with `is_whole` set, of no other servers.
    pub(crate) fn record_conversation_servers(&mut self, conversation: &str, servers: &[String], is_whole: bool) {
        if self.permissions.data_flow.labels.add(conversation, servers, is_whole) {
            self.events.emit(HostEvent::ConversationsChanged(Some(conversation.to_owned())));
        }
    }

    /// Sets [`ReadContent::open_world`] of the tool results whose tools are annotated with `openWorldHint: true`.
    pub(crate) fn add_open_world_claims(&mut self, mut read_contents: Vec<ReadContent>) -> Vec<ReadContent> {
        for content in read_contents.iter_mut().filter(|content| content.kind == ReadContentKind::Tool) {
            content.open_world |= self.tool_claims_open_world(&content.server, &content.name);
        }
        read_contents
    }

    /// Returns `true` if a model makes the call after it has read content of another server, or content of this server
    /// that its data flow settings treat as untrusted, or if an app makes it that reaches other hosts.
    pub(super) fn follows_untrusted_content(&self, origin: &CallOrigin, server: &str) -> bool {
        self.permissions.data_flow.follows_untrusted_content(origin, server, self.servers.is_remote(server))
    }

    /// Returns the origin of a call as displayed in its consent request.
    pub(super) fn call_consent_origin(&self, origin: &CallOrigin, server: &str) -> ConsentRequestOrigin {
        self.permissions.data_flow.consent_origin_of_call(origin, server, self.servers.is_remote(server))
    }
}
