//! Conversations and their items.

use chat::{ModelRef as OwnModel, Offered, Settings as OwnSettings};
use domain::history::Item as Kept;
use domain::item as own;

use crate::data::*;

pub(crate) fn item(item: own::Item, seq: Option<u64>, siblings: Vec<String>) -> ConversationItem {
    let state = match item.state {
        own::State::Whole => None,
        own::State::Streaming => Some(ItemState::Streaming),
        own::State::Cut => Some(ItemState::Cut),
    };
    let siblings = (siblings.len() > 1).then_some(siblings);
    let own::Item { id, parent, at, body, .. } = item;
    ConversationItem { id, parent, at, state, seq, siblings, body: self::body(body), left_out: None }
}

/// An item as it is kept. One that a newer version wrote, and this one does not know, is left out of sight; it stays kept.
pub(in crate::handler) fn kept_item(kept: Kept) -> Option<ConversationItem> {
    let Kept { id, parent, at, body, state, siblings, left_out } = kept;
    let own = own::Item { id, parent, at, state, body: serde_json::from_value(body).ok()? };
    Some(ConversationItem { left_out: self::left_out(left_out), ..item(own, None, siblings) })
}

pub(super) fn left_out(left_out: Vec<domain::history::LeftOut>) -> Option<Vec<LeftOut>> {
    let told = |left: domain::history::LeftOut| {
        let domain::history::LeftOut { pointer, hash, bytes, is_text } = left;
        LeftOut { pointer, hash, bytes, is_text }
    };
    (!left_out.is_empty()).then(|| left_out.into_iter().map(told).collect())
}

fn body(body: own::Body) -> ItemBody {
    match body {
        own::Body::Message { role, content, prompt, attachments } => ItemBody::Message {
            role: match role {
                own::Role::User => Role::User,
                own::Role::Assistant => Role::Assistant,
            },
            content: content.into_iter().map(self::content).collect(),
            prompt: prompt.map(|p| PromptOrigin { server: p.server, prompt: p.prompt, arguments: p.arguments }),
            attachments: (!attachments.is_empty()).then(|| attachments.into_iter().map(attachment).collect()),
        },
        own::Body::Reply { model, parts, stop, usage, cost, error, conversions, first_after, took } => {
            ItemBody::Reply {
                model: model_ref(model),
                parts: parts.into_iter().map(part).collect(),
                stop: stop.map(self::stop),
                usage: token_use(usage),
                cost: cost.map(|cost| Cost { amount: cost.amount, currency: cost.currency }),
                error: error.map(|error| ModelProblem { code: error.code, message: error.message }),
                conversions,
                first_after,
                took,
            }
        }
        own::Body::ToolCall { call, server, tool, arguments, result, error, took, used, left_out } => {
            let (result, used) = (result.map(tool_result), used.map(self::used));
            ItemBody::ToolCall { call, server, tool, arguments, result, error, took, used, left_out }
        }
        own::Body::OwnTool { used, arguments, text, found, is_error } => ItemBody::OwnTool {
            used: self::used(used),
            arguments,
            text,
            found: found.into_iter().map(|f| FoundTool { server: f.server, tool: f.tool, key: f.key }).collect(),
            is_error,
        },
        own::Body::Notice { notice: own::Notice::Rounds { rounds } } => {
            ItemBody::Notice { notice: Notice::Rounds { rounds } }
        }
        own::Body::Attachment { server, uri, name, contents } => {
            ItemBody::Attachment { server, uri, name, contents: contents.into_iter().map(self::contents).collect() }
        }
    }
}

fn used(used: own::Used) -> ToolUsed {
    ToolUsed { reply: used.reply, id: used.id, key: used.key }
}

fn attachment(attachment: own::Attachment) -> MessageAttachment {
    match attachment {
        own::Attachment::File { name, mime_type, data } => MessageAttachment::File { name, mime_type, data },
        own::Attachment::Resource { server, uri, name, contents } => {
            let contents = contents.into_iter().map(self::contents).collect();
            MessageAttachment::Resource { server, uri, name, contents }
        }
    }
}

pub(in crate::handler) fn to_attachment(attachment: MessageAttachment) -> own::Attachment {
    match attachment {
        MessageAttachment::File { name, mime_type, data } => own::Attachment::File { name, mime_type, data },
        MessageAttachment::Resource { server, uri, name, contents } => {
            let contents = contents.into_iter().map(to_contents).collect();
            own::Attachment::Resource { server, uri, name, contents }
        }
    }
}

fn part(part: own::ReplyPart) -> ReplyPart {
    match part {
        own::ReplyPart::Text { text } => ReplyPart::Text { text },
        own::ReplyPart::Thinking { text, .. } => ReplyPart::Thinking { text },
        own::ReplyPart::ToolUse { id, key, server, tool, arguments, .. } => {
            ReplyPart::ToolUse { id, key, server, tool, arguments }
        }
    }
}

fn stop(stop: own::Stop) -> ReplyStop {
    match stop {
        own::Stop::EndTurn => ReplyStop::EndTurn,
        own::Stop::MaxTokens => ReplyStop::MaxTokens,
        own::Stop::StopSequence => ReplyStop::StopSequence,
        own::Stop::ToolUse => ReplyStop::ToolUse,
        own::Stop::Refused => ReplyStop::Refused,
        own::Stop::Stopped => ReplyStop::Stopped,
        own::Stop::Other { word } => ReplyStop::Other { word },
    }
}

pub(in crate::handler) const fn token_use(usage: own::Usage) -> TokenUse {
    TokenUse { input: usage.input, output: usage.output, cached_input: usage.cached_input, thinking: usage.thinking }
}

pub(super) fn append(append: own::Append) -> Append {
    match append {
        own::Append::Text { part, text } => Append::Text { part, text },
        own::Append::Thinking { part, text } => Append::Thinking { part, text },
        own::Append::ToolUse { part, id, key, server, tool } => Append::ToolUse { part, id, key, server, tool },
        own::Append::Arguments { part, text } => Append::Arguments { part, text },
    }
}

pub(super) fn content(content: own::Content) -> Content {
    match content {
        own::Content::Text { text } => Content::Text { text },
        own::Content::Image { data, mime_type } => Content::Image { data, mime_type },
        own::Content::Audio { data, mime_type } => Content::Audio { data, mime_type },
        own::Content::ResourceLink { uri, name, title, description, mime_type, size } => {
            Content::ResourceLink { uri, name, title, description, mime_type, size }
        }
        own::Content::Resource { contents } => Content::Resource { contents: self::contents(contents) },
        own::Content::Unknown { json } => Content::Unknown { json },
    }
}

pub(super) fn contents(contents: own::ResourceContents) -> ResourceContents {
    let own::ResourceContents { uri, mime_type, text, blob } = contents;
    ResourceContents { uri, mime_type, text, blob }
}

fn to_contents(contents: ResourceContents) -> own::ResourceContents {
    let ResourceContents { uri, mime_type, text, blob } = contents;
    own::ResourceContents { uri, mime_type, text, blob }
}

/// What a tool gave back, as the page gets it.
pub(in crate::handler) fn tool_result(result: own::ToolResult) -> ToolResult {
    ToolResult {
        content: result.content.into_iter().map(content).collect(),
        structured: result.structured,
        structured_problem: result.structured_problem,
        is_error: result.is_error,
        arguments: result.arguments,
    }
}

pub(in crate::handler) fn model_ref(model: OwnModel) -> ModelRef {
    ModelRef { provider: model.provider, model: model.model }
}

pub(in crate::handler) fn to_model_ref(model: ModelRef) -> OwnModel {
    OwnModel { provider: model.provider, model: model.model }
}

pub(in crate::handler) fn conversation_settings(settings: OwnSettings) -> ConversationSettings {
    let offered = |o: Offered| OfferedServer { server: o.server, tools: o.tools, instructions: o.instructions };
    ConversationSettings {
        model: settings.model.map(model_ref),
        system_prompt: settings.system_prompt,
        servers: settings.servers.into_iter().map(offered).collect(),
        share_roots: settings.share_roots,
        thinking: settings.thinking,
    }
}

pub(in crate::handler) fn to_conversation_settings(settings: ConversationSettings) -> OwnSettings {
    let offered = |o: OfferedServer| Offered { server: o.server, tools: o.tools, instructions: o.instructions };
    OwnSettings {
        model: settings.model.map(to_model_ref),
        system_prompt: settings.system_prompt,
        servers: settings.servers.into_iter().map(offered).collect(),
        share_roots: settings.share_roots,
        thinking: settings.thinking,
    }
}
