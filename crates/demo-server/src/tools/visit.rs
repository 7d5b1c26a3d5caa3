//! `check_in`: a tool with several rounds of requests to the host, two of them in the first round.

#![allow(deprecated, reason = "sampling and roots are deprecated for the future and part of every revision so far")]

use rmcp::model::{CreateMessageResult, ErrorData, Tool, ToolAnnotations};
use serde_json::Value;

use super::{ToolCall, ToolOutcome, new_tool, no_arguments_schema, text_result};
use crate::input_requests::{request_input, request_inputs};
use crate::request_contents::{self, SamplingPrompt};

pub(super) fn check_in_definition() -> Tool {
    let description = "Asks for the ship's name and the shared folders, then lets a model write the welcome.";
    new_tool("check_in", "Check in", description, no_arguments_schema())
        .with_annotations(ToolAnnotations::new().read_only(true).open_world(true))
}

pub(super) async fn check_in(call: &ToolCall<'_>) -> ToolOutcome {
    let (handle, first) = match &call.answers.state {
        Some(handle) => {
            let first = call
                .state
                .visit_responses(handle)
                .ok_or_else(|| ErrorData::invalid_params("requestState is none that was handed out", None))?;
            (handle.clone(), first)
        }
        None => {
            let form = request_contents::text_field_form_schema("ship", "The ship's name");
            let questions = vec![
                ("ship", request_contents::form_elicitation("Welcome! Who are you?", form)?),
                ("folders", request_contents::roots_request()),
            ];
            let first = request_inputs(call.context, &call.answers, questions, None).await?;
            (call.state.store_visit_responses(first.clone()), first)
        }
    };
    let name = first.first().and_then(|answer| answer["content"]["ship"].as_str()).unwrap_or("nameless ship");
    let folders = first.get(1).and_then(|answer| answer["roots"].as_array()).map_or(0, Vec::len);
    let question = request_contents::sampling_request(&SamplingPrompt {
        question: &format!("Welcome the {name} in one sentence."),
        with_picture: false,
        with_sound: false,
        max_tokens: 100,
    })?;
    let welcome: CreateMessageResult =
        request_input(call.context, &call.answers, "welcome", question, Some(&handle)).await?;
    let welcome = serde_json::to_value(&welcome.message.content).unwrap_or(Value::Null);
    let welcome = welcome["text"].as_str().or_else(|| welcome[0]["text"].as_str()).unwrap_or("(no words)");
    Ok(text_result(format!("The {name} is checked in with {folders} folders. {welcome}")))
}
