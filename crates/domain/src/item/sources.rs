//! Finds the servers with content in the items of a conversation. Used by `chat`, to decide what a call may carry, and
//! by `store`.

use super::{ChatItem, ItemBody, MessageAttachment};
use crate::history::{Reading, ReadingKind};

impl ItemBody {
    /// Returns the servers with content in the item.
    fn servers(&self) -> Vec<&str> {
        match self {
            Self::Message { prompt, attachments, .. } => {
                let attached = attachments.iter().filter_map(|attachment| match attachment {
                    MessageAttachment::Resource { server, .. } => Some(server.as_str()),
                    MessageAttachment::File { .. } => None,
                });
                prompt.iter().map(|prompt| prompt.server.as_str()).chain(attached).collect()
            }
            // An error that starts with the server's name may contain the server's text. Other errors, such as
            // refusals, are written by the host.
            Self::ToolCall { server, result, error, .. } => {
                let is_theirs = error.as_ref().is_some_and(|error| error.starts_with(&format!("{server}: ")));
                if result.is_some() || is_theirs { vec![server] } else { Vec::new() }
            }
            Self::OwnTool { found, .. } => found.iter().map(|found| found.server.as_str()).collect(),
            Self::Attachment { server, .. } => vec![server],
            Self::Reply { .. } | Self::Notice { .. } => Vec::new(),
        }
    }
}

/// Returns the content that was read from servers for an item. [`Reading::open_world`] is unset, since an item doesn't
/// record whether a tool reaches an open world.
pub fn readings(item: &ChatItem) -> Vec<Reading> {
    match &item.body {
        ItemBody::Message { prompt, attachments, .. } => {
            let attached = attachments.iter().filter_map(|attachment| match attachment {
                MessageAttachment::Resource { server, uri, .. } => {
                    Some(Reading::new(server, ReadingKind::Resource, uri))
                }
                MessageAttachment::File { .. } => None,
            });
            let prompt = prompt.iter().map(|own| Reading::new(&own.server, ReadingKind::Prompt, &own.prompt));
            prompt.chain(attached).collect()
        }
        ItemBody::ToolCall { server, tool, .. } if !item.body.servers().is_empty() => {
            vec![Reading::new(server, ReadingKind::Tool, tool)]
        }
        ItemBody::Attachment { server, uri, .. } => vec![Reading::new(server, ReadingKind::Resource, uri)],
        ItemBody::ToolCall { .. } | ItemBody::Reply { .. } | ItemBody::OwnTool { .. } | ItemBody::Notice { .. } => {
            Vec::new()
        }
    }
}

/// Returns the servers with content in these items, without duplicates, in order of first appearance.
pub fn sources<'a>(items: impl IntoIterator<Item = &'a ChatItem>) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for server in items.into_iter().flat_map(|item| item.body.servers()) {
        if !servers.iter().any(|known| known == server) {
            servers.push(server.to_owned());
        }
    }
    servers
}
