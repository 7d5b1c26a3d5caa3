//! Data about servers that a model may receive in a conversation. Used by `host/src/owner/conversation_servers.rs`.

use std::path::PathBuf;

use offers::review::ServerReview;
use policy::Hash;

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
