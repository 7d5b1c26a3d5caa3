//! Converts a conversation to messages for a model, which describe the source of all content that isn't the user's.

use std::collections::HashMap;
use std::fmt::Write as _;

use domain::item::{Item, ItemBody, ItemState, ReplyPart, ReplyStop, ToolResult, ToolUsed};
use models::{Message, ModelRef, Part, Role};
use offers::review::{content_part, result_parts, shown};
use serde_json::{Map, Value, json};

use super::attachments;

/// Name of the tool for reading more of a long result.
pub const READ_RESULT: &str = "read_result";

/// Text in place of the result of a call that was not made.
const NO_RESULT: &str = "This call was not made.";
/// Message to a model that continues an interrupted reply.
const GO_ON: &str = "Go on where you stopped.";
/// Text in place of the result of a call that the user stopped after it was sent.
pub(super) const STOPPED: &str =
    "stopped by the user after it was sent; it is not known how it ended, and it may have had its effect";
/// Returns the text in place of a result that the model must not read.
pub(super) fn withheld(by: &str) -> String {
    format!(
        "its result is withheld {by}; the call was made and may have had its effect. Go on without the result, and do not try \
         to get it in another way"
    )
}

/// Text in place of the result of a call whose outcome is unknown.
const CUT: &str =
    "It is not known how this call ended: Drawbridge was closed while it was under way. It may have had its effect.";

/// Converts the path of a conversation to [messages] that end with the user's turn: a model that continues an
/// interrupted reply gets a message to do so, since some models reject requests that end with their own message.
#[must_use]
pub fn turns(path: &[Item], model: &ModelRef, limit: usize) -> Vec<Message> {
    let mut messages = Messages(messages(path, model, limit));
    if messages.0.last().is_some_and(|last| last.role == Role::Assistant) {
        messages.add(Role::User, vec![Part::text(GO_ON)]);
    }
    messages.0
}

/// Converts the path of a conversation to messages for a model. Each result contains at most `limit` bytes of text.
///
/// Each tool use is directly followed by its result, regardless of the outcome of the call, as all providers require.
#[must_use]
pub fn messages(path: &[Item], model: &ModelRef, limit: usize) -> Vec<Message> {
    let results: HashMap<(&str, &str), &Item> = path
        .iter()
        .filter_map(|item| used_of(item).map(|used| ((used.reply.as_str(), used.id.as_str()), item)))
        .collect();
    let mut messages = Messages::default();
    for item in path {
        match &item.body {
            ItemBody::Message { role, content, attachments, .. } => {
                let mut parts: Vec<Part> = attachments.iter().flat_map(attachments::parts).collect();
                parts.extend(content.iter().map(content_part));
                let role = match role {
                    domain::item::Role::User => Role::User,
                    domain::item::Role::Assistant => Role::Assistant,
                };
                messages.add(role, parts);
            }
            ItemBody::Reply { model: own, parts, stop, .. } => {
                let is_whole = item.state == ItemState::Whole && *stop != Some(ReplyStop::Stopped);
                let (said, uses) = reply(item, parts, (is_whole, own == model), &results);
                messages.add(Role::Assistant, said);
                messages.add(Role::User, uses.iter().map(|used| result_of(used, &results, limit)).collect());
            }
            ItemBody::ToolCall { used: None, server, tool, arguments, result, error, .. } => {
                let mut parts = vec![Part::Text(format!(
                    "The user called the tool {:?} of the server {:?} with {arguments}.",
                    shown(tool),
                    shown(server)
                ))];
                parts.extend(call_parts(server, tool, result.as_ref(), error.as_deref(), (&item.id, limit)));
                messages.add(Role::User, parts);
            }
            ItemBody::Attachment { server, uri, name, contents, skill: false } => {
                messages.add(Role::User, attachments::resource_parts(server, uri, name, contents));
            }
            ItemBody::Attachment { server, uri, name, contents, skill: true } => {
                messages.add(Role::User, attachments::skill_parts(server, uri, name, contents));
            }
            // Included with the reply that requested it.
            ItemBody::ToolCall { used: Some(_), .. } | ItemBody::OwnTool { .. } | ItemBody::Notice { .. } => {}
        }
    }
    messages.0
}

/// Separator between texts of the same side.
const APART: &str = "\n\n";

/// Messages with alternating roles.
#[derive(Default)]
struct Messages(Vec<Message>);

impl Messages {
    fn add(&mut self, role: Role, parts: Vec<Part>) {
        let parts = parts.into_iter().filter(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        match self.0.last_mut().filter(|last| last.role == role) {
            Some(last) => {
                let mut parts = parts.peekable();
                // Providers concatenate texts without a separator, so consecutive texts of the user are separated here.
                if let (Role::User, Some(Part::Text(before)), Some(Part::Text(_))) =
                    (role, last.parts.last_mut(), parts.peek())
                {
                    before.push_str(APART);
                }
                last.parts.extend(parts);
            }
            None => {
                let parts: Vec<Part> = parts.collect();
                if !parts.is_empty() {
                    self.0.push(Message { role, parts });
                }
            }
        }
    }
}

/// A tool use in a model's reply.
struct Use<'a> {
    reply: &'a str,
    id: &'a str,
    key: &'a str,
    arguments: Map<String, Value>,
}

/// Converts a model's reply for sending it back, and returns its tool uses.
fn reply<'a>(
    item: &'a Item,
    parts: &'a [ReplyPart],
    (is_whole, is_own): (bool, bool),
    results: &HashMap<(&str, &str), &Item>,
) -> (Vec<Part>, Vec<Use<'a>>) {
    let (mut said, mut uses) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text { text } => said.push(Part::Text(text.clone())),
            // Reasoning is only accepted by the model that produced it, and only if it is complete.
            ReplyPart::Thinking { text, opaque } if is_whole && is_own => {
                said.push(Part::Thinking { text: text.clone(), opaque: opaque.clone() });
            }
            ReplyPart::Thinking { .. } => {}
            ReplyPart::ToolUse { id, key, arguments, opaque, .. } => {
                let was_made = results.contains_key(&(item.id.as_str(), id.as_str()));
                // An incomplete tool use was never executed.
                if !is_whole && !was_made {
                    continue;
                }
                let text = if arguments.is_empty() { "{}" } else { arguments };
                let Ok(Value::Object(arguments)) = serde_json::from_str(text) else { continue };
                let opaque = opaque.clone().filter(|_| is_own);
                said.push(Part::ToolUse { id: id.clone(), name: key.clone(), arguments: arguments.clone(), opaque });
                uses.push(Use { reply: &item.id, id, key, arguments });
            }
        }
    }
    (said, uses)
}

const fn used_of(item: &Item) -> Option<&ToolUsed> {
    match &item.body {
        ItemBody::ToolCall { used, .. } => used.as_ref(),
        ItemBody::OwnTool { used, .. } => Some(used),
        _ => None,
    }
}

fn result_of(used: &Use<'_>, results: &HashMap<(&str, &str), &Item>, limit: usize) -> Part {
    let found = results.get(&(used.reply, used.id));
    let (parts, is_error) = match found.map(|item| (&item.body, *item)) {
        Some((ItemBody::ToolCall { server, tool, arguments, result, error, .. }, item)) => {
            let mut parts = Vec::new();
            if *arguments != Value::Object(used.arguments.clone()) {
                parts.push(Part::Text(format!("The user changed the arguments of this call to {arguments}.")));
            }
            let is_error = result.as_ref().is_none_or(|result| result.is_error);
            if result.is_none() && error.is_none() {
                parts.push(Part::text(CUT));
            }
            parts.extend(call_parts(server, tool, result.as_ref(), error.as_deref(), (&item.id, limit)));
            (parts, is_error)
        }
        Some((ItemBody::OwnTool { text, is_error, .. }, _)) => (vec![Part::Text(text.clone())], *is_error),
        _ => (vec![Part::text(NO_RESULT)], true),
    };
    Part::ToolResult { id: used.id.to_owned(), name: used.key.to_owned(), parts, is_error }
}

/// Returns the content for the end of a call.
fn call_parts(
    server: &str,
    tool: &str,
    result: Option<&ToolResult>,
    error: Option<&str>,
    (call, limit): (&str, usize),
) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(result) = result {
        let (server, tool) = (shown(server), shown(tool));
        parts.push(Part::Text(format!("Data from the server {server:?}, the result of its tool {tool:?}:")));
        parts.extend(bounded(result_parts(result), call, limit).0);
    }
    if let Some(error) = error {
        parts.push(Part::Text(failure_text(error)));
    }
    parts
}

/// Returns the text for a missing result. A call that the user declined did not fail, and must not be tried again in
/// another way. Depends on the text of [`domain::call::CallFailure::Refused`].
fn failure_text(error: &str) -> String {
    let declined = error.strip_prefix("refused: by the user");
    if declined == Some("") {
        return "The user declined.".to_owned();
    }
    match declined.and_then(|rest| rest.strip_prefix(", who says: ")) {
        Some(reason) => format!("The user declined. Reason: {}", shown(reason)),
        None => format!("The call failed: {}", shown(error)),
    }
}

/// Truncates a result to `limit` bytes of text, with a note on reading the rest. Returns the number of omitted bytes.
#[must_use]
pub fn bounded(parts: Vec<Part>, call: &str, limit: usize) -> (Vec<Part>, u64) {
    let all: usize = parts.iter().map(text_len).sum();
    if all <= limit {
        return (parts, 0);
    }
    let (mut kept, mut room) = (Vec::new(), limit);
    for part in parts {
        match part {
            Part::Text(text) => {
                let end = text.floor_char_boundary(room.min(text.len()));
                room -= end;
                if end > 0 {
                    kept.push(Part::Text(text[..end].to_owned()));
                }
                if end < text.len() {
                    room = 0;
                }
            }
            other => kept.push(other),
        }
    }
    let sent: usize = kept.iter().map(text_len).sum();
    let mut note = String::new();
    // Writing to a `String` can't fail.
    let _ = write!(
        note,
        "({} more bytes were left out. To read on, use {READ_RESULT} with {}.)",
        all - sent,
        json!({ "call": call, "from": sent })
    );
    kept.push(Part::Text(note));
    (kept, (all - sent) as u64)
}

fn text_len(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        _ => 0,
    }
}

/// Returns all text of a result, as a model reads it.
#[must_use]
pub fn text_of_result(result: &ToolResult) -> String {
    result_parts(result)
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            _ => "",
        })
        .collect()
}

/// Returns `true` if part of a result was omitted, so that the model requires a tool to read the rest.
#[must_use]
pub fn has_left_out(path: &[Item]) -> bool {
    path.iter().any(|item| matches!(&item.body, ItemBody::ToolCall { left_out: Some(_), .. }))
}

#[cfg(test)]
mod tests {
    use domain::item;
    use domain::item::Content;

    use super::*;

    fn model(name: &str) -> ModelRef {
        ModelRef { provider: "p".into(), model: name.into() }
    }

    fn item(id: &str, state: ItemState, body: ItemBody) -> Item {
        Item { id: id.into(), parent: None, at: 1, state, body }
    }

    fn said(id: &str, text: &str) -> Item {
        let content = vec![Content::Text { text: text.into() }];
        item(
            id,
            ItemState::Whole,
            ItemBody::Message { role: item::Role::User, content, prompt: None, attachments: Vec::new() },
        )
    }

    #[test]
    fn e3_texts_that_follow_each_other_are_apart() {
        let sent = messages(&[said("a", "Greet the ship."), said("b", "In Dutch.")], &model("m"), 1_000);
        let [message] = &sent[..] else { panic!("expected one message: {sent:?}") };
        assert_eq!(message.plain_text(), "Greet the ship.\n\nIn Dutch.", "consecutive texts are separated");
    }

    fn uses(id: &str, state: ItemState, parts: Vec<ReplyPart>) -> Item {
        let (stop, usage, error, conversions) = (None, models::TokenUse::default(), None, Vec::new());
        let body = ItemBody::Reply {
            model: model("m"),
            parts,
            stop,
            usage,
            cost: None,
            error,
            conversions,
            first_after: None,
            took: 1,
        };
        item(id, state, body)
    }

    fn tool_use(id: &str, arguments: &str) -> ReplyPart {
        ReplyPart::ToolUse {
            id: id.into(),
            key: "a__b".into(),
            server: Some("a".into()),
            tool: Some("b".into()),
            arguments: arguments.into(),
            opaque: Some(json!("signed")),
        }
    }

    fn called(id: &str, reply: &str, used: &str, result: Result<&str, &str>) -> Item {
        let content = result.ok().map(|text| vec![Content::Text { text: text.into() }]);
        let result_ = content.map(|content| ToolResult {
            content,
            structured: None,
            structured_problem: None,
            is_error: false,
            arguments: json!({}),
        });
        let body = ItemBody::ToolCall {
            call: id.into(),
            server: "a".into(),
            tool: "b".into(),
            arguments: json!({"x": 2}),
            result: result_,
            error: result.err().map(str::to_owned),
            failure: None,
            took: 1,
            used: Some(ToolUsed { reply: reply.into(), id: used.into(), key: "a__b".into() }),
            left_out: None,
        };
        item(id, ItemState::Whole, body)
    }

    fn texts(parts: &[Part]) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::ToolResult { parts, .. } => texts(parts),
            other => format!("{other:?}"),
        };
        parts.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_use_has_its_result_right_after_it() {
        let path = [
            said("1", "do it"),
            uses("2", ItemState::Whole, vec![tool_use("u1", r#"{"x":1}"#), tool_use("u2", ""), tool_use("u3", "{}")]),
            called("4", "2", "u2", Err("refused: by the user, who says: not now")),
            called("3", "2", "u1", Ok("done\u{e0041}")),
        ];
        let messages = messages(&path, &model("m"), 1_000);
        assert_eq!(messages.len(), 3, "the roles alternate: {messages:?}");
        assert_eq!(messages[1].tool_uses().map(|(id, ..)| id).collect::<Vec<_>>(), ["u1", "u2", "u3"], "the uses");
        let results: Vec<_> = messages[2]
            .parts
            .iter()
            .map(|part| match part {
                Part::ToolResult { id, parts, is_error, .. } => (id.as_str(), texts(parts), *is_error),
                other => panic!("{other:?} is not a result"),
            })
            .collect();
        assert_eq!(results.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), ["u1", "u2", "u3"], "sorted by use");
        assert!(results[0].1.contains("changed the arguments of this call to {\"x\":2}"), "an edit: {results:?}");
        assert!(
            results[0].1.contains("Data from the server \"a\"") && !results[0].2,
            "the source is described: {results:?}"
        );
        assert!(results[0].1.contains("done[U+E0041]"), "X10: hidden characters are escaped: {results:?}");
        assert!(
            results[1].1.ends_with("\nThe user declined. Reason: not now") && results[1].2,
            "a denial includes its reason: {results:?}"
        );
        assert!(results[2].1.contains(NO_RESULT) && results[2].2, "a use without a call has a result: {results:?}");
    }

    #[test]
    fn a_call_without_a_result_says_why() {
        assert_eq!(failure_text("refused: by the user"), "The user declined.");
        assert_eq!(failure_text("refused: by a rule"), "The call failed: refused: by a rule");
        assert_eq!(failure_text("refused: by the user, who says: no\u{202e}"), "The user declined. Reason: no[U+202E]");
    }

    #[test]
    fn what_broke_off_is_not_said_back_as_if_it_were_whole() {
        let thinking = ReplyPart::Thinking { text: "hm".into(), opaque: None };
        let text = ReplyPart::Text { text: "I will".into() };
        let path = [said("1", "do it"), uses("2", ItemState::Cut, vec![thinking, text, tool_use("u1", "{\"x\"")])];
        let messages = messages(&path, &model("m"), 1_000);
        assert_eq!(messages[1].parts, [Part::text("I will")], "only the text of an interrupted reply is sent");
    }

    #[test]
    fn only_the_model_that_thought_it_gets_its_thinking_back() {
        let path = |parts| [said("1", "hello"), uses("2", ItemState::Whole, parts)];
        let thinking =
            || vec![ReplyPart::Thinking { text: "hm".into(), opaque: Some(json!("signed")) }, tool_use("u", "{}")];
        let own = messages(&path(thinking()), &model("m"), 1_000);
        assert!(matches!(&own[1].parts[0], Part::Thinking { opaque: Some(_), .. }), "the same model: {own:?}");
        let other = messages(&path(thinking()), &model("n"), 1_000);
        assert!(matches!(&other[1].parts[0], Part::ToolUse { opaque: None, .. }), "another model: {other:?}");
    }

    #[test]
    fn a_long_result_is_cut_and_says_how_to_read_on() {
        let parts = vec![Part::text("ä".repeat(10)), Part::text("rest")];
        let (kept, left_out) = bounded(parts, "c1", 7);
        assert_eq!(kept[0], Part::text("äää"), "text is truncated at a character boundary");
        assert_eq!(left_out, 18, "omitted bytes are counted");
        let Part::Text(note) = &kept[1] else { panic!("expected a note: {kept:?}") };
        assert!(note.contains("18 more bytes") && note.contains(r#"{"call":"c1","from":6}"#), "a note: {note}");
        assert_eq!(bounded(vec![Part::text("short")], "c1", 7), (vec![Part::text("short")], 0), "a short result");
    }
}
