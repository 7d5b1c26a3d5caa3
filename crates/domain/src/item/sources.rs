//! Determines which servers' content an item contains. Used by `chat` to decide which calls require consent, and by
//! `store`.

use super::{ChatItem, ItemBody, MessageAttachment};
use crate::history::{ReadContent, ReadContentKind};

impl ItemBody {
    /// Returns the names of the servers whose content the item contains.
    fn source_servers(&self) -> Vec<&str> {
        match self {
            Self::Message { prompt, attachments, .. } => {
                let attached = attachments.iter().filter_map(|attachment| match attachment {
                    MessageAttachment::Resource { server, .. } => Some(server.as_str()),
                    MessageAttachment::File { .. } => None,
                });
                prompt.iter().map(|prompt| prompt.server.as_str()).chain(attached).collect()
            }
            // An error whose message starts with the server's name may contain text from the server. Other errors, such
            // as denials, are written by the host.
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

/// Returns records of the servers' content that an item contains. [`ReadContent::open_world`] is set for tools that MCP
/// apps provide, since an app's output may contain data from other hosts or the user. It is unset for tools of servers,
/// since an item does not record if a tool claims to reach an open world.
pub fn content_read_in_item(item: &ChatItem) -> Vec<ReadContent> {
    match &item.body {
        ItemBody::Message { prompt, attachments, .. } => {
            let attached = attachments.iter().filter_map(|attachment| match attachment {
                MessageAttachment::Resource { server, uri, .. } => {
                    Some(ReadContent::new(server, ReadContentKind::Resource, uri))
                }
                MessageAttachment::File { .. } => None,
            });
            let prompt = prompt.iter().map(|own| ReadContent::new(&own.server, ReadContentKind::Prompt, &own.prompt));
            prompt.chain(attached).collect()
        }
        ItemBody::ToolCall { server, tool, app, .. } if !item.body.source_servers().is_empty() => {
            vec![ReadContent { open_world: app.is_some(), ..ReadContent::new(server, ReadContentKind::Tool, tool) }]
        }
        ItemBody::Attachment { server, uri, .. } => vec![ReadContent::new(server, ReadContentKind::Resource, uri)],
        ItemBody::ToolCall { .. } | ItemBody::Reply { .. } | ItemBody::OwnTool { .. } | ItemBody::Notice { .. } => {
            Vec::new()
        }
    }
}

/// Returns the names of the servers whose content these items contain, without duplicates, in order of first
/// appearance.
pub fn content_source_servers<'a>(items: impl IntoIterator<Item = &'a ChatItem>) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for server in items.into_iter().flat_map(|item| item.body.source_servers()) {
        if !servers.iter().any(|known| known == server) {
            servers.push(server.to_owned());
        }
    }
    servers
}
