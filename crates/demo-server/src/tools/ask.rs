//! Tools that send requests to the host: sampling, a form, a URL, the roots.

#![allow(deprecated, reason = "sampling and roots are deprecated for the future and part of every revision so far")]

use std::time::Duration;

use rmcp::model::{
    CreateMessageResult, CustomNotification, ElicitResult, ElicitationAction, ErrorCode, ErrorData,
    InputRequiredResult, ListRootsResult, ProtocolVersion, SamplingMessageContentBlock, ServerNotification, Tool,
    ToolAnnotations,
};
use serde::Deserialize;
use serde_json::json;

use super::{ToolCall, ToolOutcome, new_tool, no_arguments_schema, structured_result, text_result};
use crate::client;
use crate::input_requests::{EarlyExit, request_input};
use crate::request_contents::{self, SamplingPrompt};

const MODEL_REQUEST_STATE: &str = "model-asked";
const PERMIT_REQUEST_STATE: &str = "permit-asked";
const PERMIT_COMPLETION_WAIT_STATE: &str = "permit-waits-for-its-stamp";
/// Error code for "URL elicitation required" in revision 2025-11-25.
const URL_ELICITATION_REQUIRED: ErrorCode = ErrorCode(-32042);
const PERMIT_URL: &str = "https://permits.example.com/harbour/aurora?day=monday";
const PERMIT_MESSAGE: &str = "Sign the mooring permit in your browser.";

pub(super) fn ask_tool_definitions() -> [Tool; 4] {
    let model = json!({
        "type": "object",
        "properties": {
            "question": { "type": "string", "title": "Question", "default": "Is it a good day to sail?", "maxLength": 1000 },
            "with_picture": { "type": "boolean", "title": "Send the chart along", "default": true },
            "with_sound": { "type": "boolean", "title": "Send the bell along", "default": false },
            "max_tokens": { "type": "integer", "title": "Longest answer in tokens", "minimum": 1, "maximum": 4096, "default": 200 }
        }
    });
    let url = json!({
        "type": "object",
        "properties": {
            "as_error": { "type": "boolean", "title": "Ask by an error", "description": "Answer with error -32042 instead of a question. Revision 2025-11-25 only.", "default": false }
        }
    });
    let open = ToolAnnotations::new().read_only(true).open_world(true);
    [
        new_tool("ask_model", "Ask a model", "Asks the host's language model a question (sampling).", model)
            .with_annotations(open.clone()),
        new_tool(
            "ask_user",
            "Ask the user",
            "Shows a form with every kind of field (elicitation).",
            no_arguments_schema(),
        )
        .with_annotations(open.clone()),
        new_tool("ask_url", "Ask to open a URL", "Asks to open a page in the browser (URL elicitation).", url)
            .with_annotations(open.clone()),
        new_tool(
            "list_folders",
            "List the folders",
            "Asks which folders the server may use (roots).",
            no_arguments_schema(),
        )
        .with_annotations(open),
    ]
}

pub(super) async fn ask_model(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        question: Option<String>,
        with_picture: Option<bool>,
        with_sound: Option<bool>,
        max_tokens: Option<u32>,
    }
    let arguments: Arguments = call.arguments()?;
    let sound = arguments.with_sound.unwrap_or(false);
    let question = request_contents::sampling_request(&SamplingPrompt {
        question: arguments.question.as_deref().unwrap_or("Is it a good day to sail?"),
        with_picture: arguments.with_picture.unwrap_or(true),
        with_sound: sound && client::is_revision_at_least(call.context, &ProtocolVersion::V_2025_03_26),
        max_tokens: arguments.max_tokens.unwrap_or(200),
    })?;
    let answer: CreateMessageResult =
        request_input(call.context, &call.answers, "model", question, Some(MODEL_REQUEST_STATE)).await?;
    let texts: Vec<_> = answer
        .message
        .content
        .iter()
        .map(|block| match block {
            SamplingMessageContentBlock::Text(text) => text.text.clone(),
            SamplingMessageContentBlock::Image(image) => format!("[{}]", image.mime_type),
            SamplingMessageContentBlock::Audio(audio) => format!("[{}]", audio.mime_type),
            _ => "[a tool]".to_owned(),
        })
        .collect();
    Ok(text_result(format!(
        "{} said: {} (stopped: {})",
        answer.model,
        texts.join(" "),
        answer.stop_reason.as_deref().unwrap_or("no reason given")
    )))
}

pub(super) async fn ask_user(call: &ToolCall<'_>) -> ToolOutcome {
    let modern_fields = client::is_revision_at_least(call.context, &ProtocolVersion::V_2025_11_25);
    let question = request_contents::form_elicitation(
        "Please announce your ship to the harbour master.",
        request_contents::arrival_form_schema(modern_fields),
    )?;
    let answer: ElicitResult = request_input(call.context, &call.answers, "arrival", question, None).await?;
    let verb = match answer.action {
        ElicitationAction::Accept => "accepted and sent the form",
        ElicitationAction::Decline => "declined",
        _ => "cancelled",
    };
    Ok(structured_result(format!("The user {verb}."), json!({ "action": answer.action, "content": answer.content })))
}

pub(super) async fn ask_url(call: &ToolCall<'_>) -> ToolOutcome {
    #[derive(Deserialize)]
    struct Arguments {
        as_error: Option<bool>,
    }
    let arguments: Arguments = call.arguments()?;
    let done = "The permit is signed. (Not really: example.com is no harbour.)";
    if call.answers.state.as_deref() == Some(PERMIT_COMPLETION_WAIT_STATE) {
        return Ok(text_result(done));
    }
    let revision = client::protocol_revision(call.context);
    let has_id = revision == ProtocolVersion::V_2025_11_25;
    let id = format!("permit-{}", call.context.id);
    if arguments.as_error == Some(true) && has_id {
        return Err(url_required_error(&id).into());
    }
    let question = request_contents::url_elicitation(PERMIT_MESSAGE, PERMIT_URL, if has_id { &id } else { "" });
    let answer: ElicitResult =
        request_input(call.context, &call.answers, "permit", question, Some(PERMIT_REQUEST_STATE)).await?;
    if answer.action != ElicitationAction::Accept {
        return Ok(text_result("No permit, no berth: the page was not opened."));
    }
    if client::is_stateless(call.context) {
        // After a result with only a state, the host repeats its request immediately.
        let wait = InputRequiredResult::from_request_state(PERMIT_COMPLETION_WAIT_STATE);
        return Err(EarlyExit::Ask(Box::new(wait)));
    }
    notify_elicitation_complete_later(call, id);
    Ok(text_result(done))
}

fn url_required_error(id: &str) -> ErrorData {
    let elicitation = json!({
        "mode": "url",
        "elicitationId": id,
        "url": PERMIT_URL,
        "message": PERMIT_MESSAGE,
    });
    ErrorData::new(
        URL_ELICITATION_REQUIRED,
        "This needs a signed permit first.",
        Some(json!({ "elicitations": [elicitation] })),
    )
}

/// Notifies the host after a short delay that the URL elicitation is complete.
fn notify_elicitation_complete_later(call: &ToolCall<'_>, id: String) {
    let peer = call.context.peer.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let complete = ServerNotification::CustomNotification(CustomNotification::new(
            "notifications/elicitation/complete",
            Some(json!({ "elicitationId": id })),
        ));
        if let Err(error) = peer.send_notification(complete).await {
            tracing::debug!("failed to send the completion notification: {error}");
        }
    });
}

pub(super) async fn list_folders(call: &ToolCall<'_>) -> ToolOutcome {
    let answer: ListRootsResult =
        request_input(call.context, &call.answers, "folders", request_contents::roots_request(), None).await?;
    let folders: Vec<_> = answer
        .roots
        .iter()
        .map(|root| format!("- {} ({})", root.uri, root.name.as_deref().unwrap_or("no name")))
        .collect();
    Ok(structured_result(
        format!("The host shares {} folders.\n{}", folders.len(), folders.join("\n")),
        json!({ "roots": answer.roots }),
    ))
}
