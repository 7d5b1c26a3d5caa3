//! Converts a conversation to messages for a model. A text that names the source precedes content that the user didn't
//! write.

use std::collections::HashMap;
use std::fmt::Write as _;

use domain::call::CallRefusal;
use domain::item::{ChatItem, ItemBody, ItemState, ReplyPart, ReplyStop, ToolResult, ToolUsed};
use models::{MessagePart, ModelMessage, ModelRef, Role};
use offers::review::{content_part, result_parts, show_hidden_characters};
use serde_json::{Map, Value, json};

use super::attachments;

/// Name of the built-in tool by which a model reads more of a long tool result.
pub const READ_RESULT_TOOL_NAME: &str = "read_result";

/// Text that a model receives as the result of a tool call that was not made.
const CALL_NOT_MADE_TEXT: &str = "This call was not made.";
/// Message that is sent after an interrupted reply to let the model continue it.
const CONTINUE_REPLY_MESSAGE: &str = "Go on where you stopped.";
/// Text that a model receives as the result of a tool call that the user stopped after it was sent.
pub(super) const CALL_STOPPED_TEXT: &str =
    "stopped by the user after it was sent; the outcome is unknown, and it may have taken effect";
/// Returns the text that a model receives instead of a result that is withheld from it. `by` names who withheld it or
/// why, such as "as the user stopped the answer".
pub(super) fn withheld_result_text(by: &str) -> String {
    format!(
        "its result is withheld {by}; the call was made and may have taken effect. Go on without the result, and do not try \
         to get it in another way"
    )
}

/// Text that a model receives as the result of a tool call whose outcome is unknown.
const UNKNOWN_CALL_OUTCOME_TEXT: &str =
    "The outcome of this call is unknown: Drawbridge was closed while it was running. It may have taken effect.";

/// Converts the items of the visible branch to messages for a model, the last of which is the user's. After an
/// interrupted reply, a message is appended that requests to continue, since some models reject requests that end with
/// their own message.
#[must_use]
pub fn messages_ending_with_user(path: &[ChatItem], model: &ModelRef, limit: usize) -> Vec<ModelMessage> {
    let mut messages = AlternatingMessages(to_model_messages(path, model, limit));
    if messages.0.last().is_some_and(|last| last.role == Role::Assistant) {
        messages.add(Role::User, vec![MessagePart::text(CONTINUE_REPLY_MESSAGE)]);
    }
    messages.0
}

/// Converts the items of the visible branch to messages for a model. Each tool result contains at most `limit` bytes of
/// text.
///
/// Each tool use is directly followed by its result, regardless of the outcome of the call, as all providers require.
#[must_use]
pub fn to_model_messages(path: &[ChatItem], model: &ModelRef, limit: usize) -> Vec<ModelMessage> {
    let results: HashMap<(&str, &str), &ChatItem> = path
        .iter()
        .filter_map(|item| requesting_tool_use(item).map(|used| ((used.reply.as_str(), used.id.as_str()), item)))
        .collect();
    let mut messages = AlternatingMessages::default();
    for item in path {
        match &item.body {
            ItemBody::Message { role, content, attachments, .. } => {
                let mut parts: Vec<MessagePart> = attachments.iter().flat_map(attachments::attachment_parts).collect();
                parts.extend(content.iter().map(content_part));
                let role = match role {
                    domain::item::Role::User => Role::User,
                    domain::item::Role::Assistant => Role::Assistant,
                };
                messages.add(role, parts);
            }
            ItemBody::Reply { model: own, parts, stop, .. } => {
                let is_whole = item.state == ItemState::Whole && *stop != Some(ReplyStop::Stopped);
                let (reply_parts, uses) = convert_reply(item, parts, (is_whole, own == model), &results);
                messages.add(Role::Assistant, reply_parts);
                messages.add(Role::User, uses.iter().map(|used| tool_result_part(used, &results, limit)).collect());
            }
            ItemBody::ToolCall { used: None, server, tool, app, arguments, result, error, refusal, .. } => {
                let mut parts = vec![MessagePart::Text(format!(
                    "The user called the tool {:?} of the server {:?} with {arguments}.",
                    show_hidden_characters(tool),
                    show_hidden_characters(server)
                ))];
                let called = (server.as_str(), tool.as_str(), app.as_deref());
                let failure = error.as_deref().map(|error| missing_result_text(error, refusal.as_ref()));
                parts.extend(call_result_parts(called, result.as_ref(), failure, (&item.id, limit)));
                messages.add(Role::User, parts);
            }
            ItemBody::Attachment { server, uri, name, contents, skill: false } => {
                messages.add(Role::User, attachments::resource_parts(server, uri, name, contents));
            }
            ItemBody::Attachment { server, uri, name, contents, skill: true } => {
                messages.add(Role::User, attachments::skill_parts(server, uri, name, contents));
            }
            // Already included after the reply that requested the call, or not sent to models.
            ItemBody::ToolCall { used: Some(_), .. } | ItemBody::OwnTool { .. } | ItemBody::Notice { .. } => {}
        }
    }
    messages.0
}

/// Separator that is inserted between consecutive texts of the user.
const USER_TEXT_SEPARATOR: &str = "\n\n";

/// Messages for a model in which the roles of user and model alternate. Consecutive messages of the same role are
/// merged.
#[derive(Default)]
struct AlternatingMessages(Vec<ModelMessage>);

impl AlternatingMessages {
    fn add(&mut self, role: Role, parts: Vec<MessagePart>) {
        let parts = parts.into_iter().filter(|part| !matches!(part, MessagePart::Text(text) if text.is_empty()));
        match self.0.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                let mut parts = parts.peekable();
                // Providers concatenate texts without a separator, so consecutive texts of the user are separated here.
                if let (Role::User, Some(MessagePart::Text(before)), Some(MessagePart::Text(_))) =
                    (role, last.parts.last_mut(), parts.peek())
                {
                    before.push_str(USER_TEXT_SEPARATOR);
                }
                last.parts.extend(parts);
            }
            None => {
                let parts: Vec<MessagePart> = parts.collect();
                if !parts.is_empty() {
                    self.0.push(ModelMessage { role, parts });
                }
            }
        }
    }
}

/// A request for a tool call in a model's reply, which is paired with its result.
struct ToolUse<'a> {
    reply: &'a str,
    id: &'a str,
    tool_key: &'a str,
    arguments: Map<String, Value>,
}

/// Converts a model's reply to message parts for a later request, and collects the tool calls that the reply requests.
fn convert_reply<'a>(
    item: &'a ChatItem,
    parts: &'a [ReplyPart],
    (is_whole, is_own): (bool, bool),
    results: &HashMap<(&str, &str), &ChatItem>,
) -> (Vec<MessagePart>, Vec<ToolUse<'a>>) {
    let (mut message_parts, mut uses) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text { text } => message_parts.push(MessagePart::Text(text.clone())),
            // Reasoning is only accepted by the model that produced it, and only if it is complete.
            ReplyPart::Thinking { text, opaque } if is_whole && is_own => {
                message_parts.push(MessagePart::Thinking { text: text.clone(), opaque: opaque.clone() });
            }
            ReplyPart::Thinking { .. } => {}
            ReplyPart::ToolUse { id, tool_key, arguments, opaque, .. } => {
                let was_made = results.contains_key(&(item.id.as_str(), id.as_str()));
                // A tool use that was not received completely was never executed.
                if !is_whole && !was_made {
                    continue;
                }
                let text = if arguments.is_empty() { "{}" } else { arguments };
                let Ok(Value::Object(arguments)) = serde_json::from_str(text) else { continue };
                let opaque = opaque.clone().filter(|_| is_own);
                message_parts.push(MessagePart::ToolUse {
                    id: id.clone(),
                    name: tool_key.clone(),
                    arguments: arguments.clone(),
                    opaque,
                });
                uses.push(ToolUse { reply: &item.id, id, tool_key, arguments });
            }
        }
    }
    (message_parts, uses)
}

const fn requesting_tool_use(item: &ChatItem) -> Option<&ToolUsed> {
    match &item.body {
        ItemBody::ToolCall { used, .. } => used.as_ref(),
        ItemBody::OwnTool { used, .. } => Some(used),
        _ => None,
    }
}

fn tool_result_part(used: &ToolUse<'_>, results: &HashMap<(&str, &str), &ChatItem>, limit: usize) -> MessagePart {
    let found = results.get(&(used.reply, used.id));
    let (parts, is_error) = match found.map(|item| (&item.body, *item)) {
        Some((ItemBody::ToolCall { server, tool, app, arguments, result, error, refusal, .. }, item)) => {
            let mut parts = Vec::new();
            if *arguments != Value::Object(used.arguments.clone()) {
                parts.push(MessagePart::Text(format!("The user changed the arguments of this call to {arguments}.")));
            }
            let is_error = result.as_ref().is_none_or(|result| result.is_error);
            if result.is_none() && error.is_none() {
                parts.push(MessagePart::text(UNKNOWN_CALL_OUTCOME_TEXT));
            }
            let called = (server.as_str(), tool.as_str(), app.as_deref());
            let failure = error.as_deref().map(|error| missing_result_text(error, refusal.as_ref()));
            parts.extend(call_result_parts(called, result.as_ref(), failure, (&item.id, limit)));
            (parts, is_error)
        }
        Some((ItemBody::OwnTool { text, is_error, .. }, _)) => (vec![MessagePart::Text(text.clone())], *is_error),
        _ => (vec![MessagePart::text(CALL_NOT_MADE_TEXT)], true),
    };
    MessagePart::ToolResult { id: used.id.to_owned(), name: used.tool_key.to_owned(), parts, is_error }
}

/// Returns the message parts that a model receives for a call: the content of the result, or the text about the
/// failure.
fn call_result_parts(
    (server, tool, app): (&str, &str, Option<&str>),
    result: Option<&ToolResult>,
    failure: Option<String>,
    (call, limit): (&str, usize),
) -> Vec<MessagePart> {
    let mut parts = Vec::new();
    if let Some(result) = result {
        parts.push(MessagePart::Text(result_source_text(server, tool, app)));
        parts.extend(truncate_tool_result(result_parts(result), call, limit).0);
    }
    parts.extend(failure.map(MessagePart::Text));
    parts
}

/// Returns the text that names the source of a tool result and precedes it in a message. If an app provides the tool,
/// `app` names the server's tool to which the app belongs, since the server may also have a tool named `tool`.
pub(super) fn result_source_text(server: &str, tool: &str, app: Option<&str>) -> String {
    let (server, tool) = (show_hidden_characters(server), show_hidden_characters(tool));
    match app.map(show_hidden_characters) {
        Some(app) => format!("Data from the server {server:?}, the result of the tool {tool:?} of its app {app:?}:"),
        None => format!("Data from the server {server:?}, the result of its tool {tool:?}:"),
    }
}

/// Returns the text that a model receives as the result of a failed call. If the user declined the call, it says so, so
/// that the model does not try it in another way.
fn missing_result_text(error: &str, refusal: Option<&CallRefusal>) -> String {
    match refusal {
        Some(CallRefusal::DeniedByUser { reason: None }) => "The user declined.".to_owned(),
        Some(CallRefusal::DeniedByUser { reason: Some(reason) }) => {
            format!("The user declined. Reason: {}", show_hidden_characters(reason))
        }
        _ => format!("The call failed: {}", show_hidden_characters(error)),
    }
}

/// Truncates a tool result to `limit` bytes of text, and appends a note on how to read the rest with
/// [`READ_RESULT_TOOL_NAME`]. Returns the parts and the number of omitted bytes.
#[must_use]
pub fn truncate_tool_result(parts: Vec<MessagePart>, call: &str, limit: usize) -> (Vec<MessagePart>, u64) {
    let all: usize = parts.iter().map(text_part_bytes).sum();
    if all <= limit {
        return (parts, 0);
    }
    let (mut remaining_parts, mut room) = (Vec::new(), limit);
    for part in parts {
        match part {
            MessagePart::Text(text) => {
                let end = text.floor_char_boundary(room.min(text.len()));
                room -= end;
                if end > 0 {
                    remaining_parts.push(MessagePart::Text(text[..end].to_owned()));
                }
                if end < text.len() {
                    room = 0;
                }
            }
            other => remaining_parts.push(other),
        }
    }
    let sent: usize = remaining_parts.iter().map(text_part_bytes).sum();
    let mut note = String::new();
    // Writing to a `String` can't fail.
    let _ = write!(
        note,
        "({} more bytes were omitted. To read on, use {READ_RESULT_TOOL_NAME} with {}.)",
        all - sent,
        json!({ "call": call, "from": sent })
    );
    remaining_parts.push(MessagePart::Text(note));
    (remaining_parts, (all - sent) as u64)
}

fn text_part_bytes(part: &MessagePart) -> usize {
    match part {
        MessagePart::Text(text) => text.len(),
        _ => 0,
    }
}

/// Returns the text of a tool result as a model reads it: the concatenation of its text parts.
#[must_use]
pub fn result_text(result: &ToolResult) -> String {
    result_parts(result)
        .iter()
        .map(|part| match part {
            MessagePart::Text(text) => text.as_str(),
            _ => "",
        })
        .collect()
}

/// Returns `true` if a tool result on this path was truncated, so that the model needs [`READ_RESULT_TOOL_NAME`].
#[must_use]
pub fn contains_truncated_tool_results(path: &[ChatItem]) -> bool {
    path.iter().any(|item| matches!(&item.body, ItemBody::ToolCall { omitted_bytes: Some(_), .. }))
}

#[cfg(test)]
mod tests;
