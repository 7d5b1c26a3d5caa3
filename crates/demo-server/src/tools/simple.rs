//! Tools that send no requests to the host, except a ping.

#![allow(deprecated, reason = "logging is deprecated for the future and part of every revision so far")]

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    CallToolResult, ContentBlock, LoggingLevel, PingRequest, ProtocolVersion, ServerRequest, Tool, ToolAnnotations,
};
use serde::Deserialize;
use serde_json::json;

use super::{ToolCall, ToolOutcome, into_json_schema, new_tool, no_arguments_schema, structured_result, text_result};
use crate::client::{self, LOG_LEVELS};
use crate::content::anchor_icon;
use crate::input_requests::EarlyExit;
use crate::resources::{note_resource, note_uri};
use crate::state::{MAX_NOTES, ServerChange};

const MAX_NOTE_NAME_CHARS: usize = 40;
const MAX_NOTE_TEXT_CHARS: usize = 10_000;

pub(super) fn add_definition() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "a": { "type": "number", "title": "First number", "description": "Any number." },
            "b": { "type": "number", "title": "Second number", "description": "Any number." }
        },
        "required": ["a", "b"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": { "sum": { "type": "number" } },
        "required": ["sum"]
    });
    new_tool("add", "Add two numbers", "Adds two numbers and returns the sum.", input)
        .with_raw_output_schema(Arc::new(into_json_schema(output)))
        .with_icons(vec![anchor_icon()])
        .with_annotations(
            ToolAnnotations::with_title("Add two numbers").read_only(true).idempotent(true).open_world(false),
        )
}

pub(super) fn add(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        a: f64,
        b: f64,
    }
    let Arguments { a, b } = call.arguments()?;
    let sum = a + b;
    Ok(structured_result(format!("{a} + {b} = {sum}"), json!({ "sum": sum })))
}

pub(super) fn write_note_definition() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "title": "Name", "description": "Small letters, digits and dashes.", "pattern": "^[a-z0-9-]{1,40}$" },
            "text": { "type": "string", "title": "Text", "maxLength": MAX_NOTE_TEXT_CHARS }
        },
        "required": ["name", "text"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {
            "uri": { "type": "string", "format": "uri" },
            "created": { "type": "boolean", "description": "False if an older note was overwritten." }
        },
        "required": ["uri", "created"]
    });
    let description = "Writes a note, over an older one of the same name. Read it as note:///NAME.";
    new_tool("write_note", "Write a note", description, input)
        .with_raw_output_schema(Arc::new(into_json_schema(output)))
        .with_annotations(
            ToolAnnotations::with_title("Write a note")
                .read_only(false)
                .destructive(true)
                .idempotent(true)
                .open_world(false),
        )
}

pub(super) fn write_note(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        name: String,
        text: String,
    }
    let Arguments { name, text } = call.arguments()?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > MAX_NOTE_NAME_CHARS || !name.chars().all(fits) {
        return Err(EarlyExit::Failed("A note's name has 1 to 40 small letters, digits and dashes.".to_owned()));
    }
    if text.chars().count() > MAX_NOTE_TEXT_CHARS {
        return Err(EarlyExit::Failed("A note has at most 10000 characters.".to_owned()));
    }
    let created = {
        let mut notes = call.state.notes();
        if notes.len() >= MAX_NOTES && !notes.contains_key(&name) {
            return Err(EarlyExit::Failed("The notebook is full. Overwrite an older note.".to_owned()));
        }
        notes.insert(name.clone(), text).is_none()
    };
    let uri = note_uri(&name);
    if created {
        call.state.notify_subscribers(ServerChange::Resources);
    }
    call.state.notify_subscribers(ServerChange::Resource(uri.clone()));
    let done = if created { "Written" } else { "Overwritten" };
    let mut result = structured_result(format!("{done}: {uri}"), json!({ "uri": uri, "created": created }));
    if client::is_revision_at_least(call.context, &ProtocolVersion::V_2025_06_18) {
        result.content.push(ContentBlock::resource_link(note_resource(&name)));
    }
    Ok(result)
}

pub(super) fn fail_definition() -> Tool {
    let input = json!({
        "type": "object",
        "properties": { "reason": { "type": "string", "title": "Reason", "default": "the rope broke", "maxLength": 200 } }
    });
    let description = "Always fails, to show what a failed call looks like.";
    new_tool("fail", "Fail", description, input).with_annotations(ToolAnnotations::new().read_only(true))
}

pub(super) fn fail(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        reason: Option<String>,
    }
    let Arguments { reason } = call.arguments()?;
    let reason = reason.unwrap_or_else(|| "the rope broke".to_owned());
    let message = format!("It did not work: {reason}.");
    Ok(CallToolResult::error(vec![ContentBlock::text(message)]))
}

pub(super) fn log_and_ping_definitions() -> [Tool; 2] {
    let input = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "title": "Text", "default": "A gull on the mast.", "maxLength": 500 },
            "level": {
                "type": "string", "title": "Level",
                "description": "Only this level. All eight levels if omitted.",
                "enum": ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
            }
        }
    });
    let log = "Sends log messages at all levels. The host sees those at or above the level it set.";
    let ping = "Asks the host whether it is still there. Legacy sessions only.";
    [
        new_tool("log_something", "Log something", log, input).with_annotations(ToolAnnotations::new().read_only(true)),
        new_tool("ping_host", "Ping the host", ping, no_arguments_schema())
            .with_annotations(ToolAnnotations::new().read_only(true)),
    ]
}

pub(super) async fn log_something(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        text: Option<String>,
        level: Option<LoggingLevel>,
    }
    let Arguments { text: message, level } = call.arguments()?;
    let message = message.unwrap_or_else(|| "A gull on the mast.".to_owned());
    for one in LOG_LEVELS {
        if level.is_some_and(|level| level != one) {
            continue;
        }
        // Data may be any JSON value, so both a string and an object are sent.
        let data =
            if one == LoggingLevel::Info { json!(message) } else { json!({ "message": message, "watch": "first" }) };
        client::send_log_message(call.context, call.log_level, one, "harbour", data).await;
    }
    Ok(text_result("Logged. The host shows what it has asked for."))
}

pub(super) async fn ping_host(call: &ToolCall<'_>) -> ToolOutcome {
    if client::is_stateless(call.context) {
        return Err(EarlyExit::Failed("There is no ping in this revision of the protocol.".to_owned()));
    }
    let start = Instant::now();
    let ping = ServerRequest::PingRequest(PingRequest { method: Default::default(), extensions: Default::default() });
    match call.context.peer.send_request(ping).await {
        Ok(_) => Ok(text_result(format!("The host answered after {} ms.", start.elapsed().as_millis()))),
        Err(error) => Err(EarlyExit::Failed(format!("The host did not answer: {error}."))),
    }
}
