//! The servers whose words are in the items of a conversation. Callers: `chat`, which decides by them what a call may carry, and `store`.

use super::{Item, ItemBody, MessageAttachment};
use crate::history::{Reading, ReadingKind};

impl ItemBody {
    /// The servers whose words are in it.
    fn servers(&self) -> Vec<&str> {
        match self {
            Self::Message { prompt, attachments, .. } => {
                let attached = attachments.iter().filter_map(|attachment| match attachment {
                    MessageAttachment::Resource { server, .. } => Some(server.as_str()),
                    MessageAttachment::File { .. } => None,
                });
                prompt.iter().map(|prompt| prompt.server.as_str()).chain(attached).collect()
            }
            // A failure that names the server may be told in its words; others, such as a refusal, are told in ours.
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

/// What was read from servers for an item. Whether a tool reaches an open world is not in an item; [`Reading::open_world`] is unset.
pub fn readings(item: &Item) -> Vec<Reading> {
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

/// The servers whose words are in these items, each once, in the order in which they came.
pub fn sources<'a>(items: impl IntoIterator<Item = &'a Item>) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for server in items.into_iter().flat_map(|item| item.body.servers()) {
        if !servers.iter().any(|known| known == server) {
            servers.push(server.to_owned());
        }
    }
    servers
}
