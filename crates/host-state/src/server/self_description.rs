//! Result of examining the information that a server sends about itself on initialization. Used by
//! `host/src/owner/state/registry.rs`.

use mcp_proto::session::ServerFacts;
use offers::review::{Flag, LookAlikeKeys, flags_of_name, flags_of_text};

/// Name that a server claims for itself on initialization, and warnings about the information that it sends.
#[derive(Debug, Default)]
pub struct ServerSelfDescription {
    /// Name that the server claims, with keys by which names that look similar are found.
    pub name: Option<(String, LookAlikeKeys)>,
    /// Warnings about suspicious text in the server's instructions, in the information about itself, and in the user's
    /// name for it.
    pub flags: Vec<Flag>,
}

impl ServerSelfDescription {
    /// Examines the information that a server sent about itself for text that may mislead a model or the user. `label`
    /// is the name that the user gave the server.
    pub fn new(label: &str, facts: &ServerFacts) -> Self {
        let mut flags = flags_of_text(facts.instructions.as_deref().unwrap_or_default(), &[]);
        let claims = facts.server.as_ref();
        let texts = claims.map(|claims| [Some(&claims.name), claims.title.as_ref(), claims.description.as_ref()]);
        for text in texts.into_iter().flatten().flatten() {
            flags.extend(flags_of_text(text, &[]));
        }
        flags.extend(claims.into_iter().flat_map(|claims| flags_of_name(&claims.name)));
        flags.extend(flags_of_name(label));
        let name = claims.map(|claims| (claims.name.clone(), LookAlikeKeys::new(&claims.name)));
        Self { name, flags }
    }
}
