//! Describes sampling requests and their responses.

use api::data::{
    ConsentRequestBody, Content, ModelChoiceReason, SamplingModel, SamplingRequest, SamplingResponse, SamplingRunState,
};

use crate::consent_request_text::{SERVER_TEXT_PREFIX, content_text};
use crate::output::to_json_value;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line, pretty_json};

/// Formats an amount in millionths of a US dollar.
pub(crate) fn format_dollars(micros: u64) -> String {
    format!("{}.{:06} US dollars", micros / 1_000_000, micros % 1_000_000)
}

/// Describes a consent request about sampling: the server's request, or the response that would be sent to the server.
pub(crate) fn sampling_request_text(server: &str, body: &ConsentRequestBody) -> String {
    let ConsentRequestBody::Sampling { request, response, model, requested_tokens, losses, run, .. } = body else {
        return String::new();
    };
    let mut text = String::new();
    match (response, model) {
        (Some(response), Some(_)) if !response.content.is_empty() => {
            text.push_str(&format!("── The answer to {server}:\n{}", self::sampling_response_text(response)));
        }
        (Some(_), _) => text.push_str(&format!("── Your answer to {server}:\n")),
        (None, None) => {
            text.push_str(&format!("── {server} asks a model. Answer it yourself?\n{}", sampling_params_text(request)));
        }
        (None, Some(model)) => {
            text.push_str(&format!(
                "── {server} asks a model. {}\n{}",
                sampling_model_text(model),
                sampling_params_text(request)
            ));
        }
    }
    if *requested_tokens > request.max_tokens && response.is_none() {
        text.push_str(&format!("  it requested {requested_tokens} tokens and gets at most {}\n", request.max_tokens));
    }
    for loss in losses {
        text.push_str(&format!(
            "  the provider does not support {}: {}\n",
            escape_line(&loss.feature),
            escape_line(&loss.conversion)
        ));
    }
    match run {
        SamplingRunState::Failed { message, .. } => {
            text.push_str(&format!("  THE MODEL DID NOT ANSWER: {}\n", escape_line(message)));
        }
        SamplingRunState::Done { input_tokens, output_tokens, micros, no_tool_used } => {
            let tokens = |n: &Option<u64>| n.map_or_else(|| String::from("?"), |n| n.to_string());
            text.push_str(&format!("  it took {} + {} tokens", tokens(input_tokens), tokens(output_tokens)));
            text.push_str(&micros.map(|micros| format!(", {}", format_dollars(micros))).unwrap_or_default());
            text.push('\n');
            if *no_tool_used {
                text.push_str("  the server requires the use of a tool, and the model used none\n");
            }
        }
        SamplingRunState::No | SamplingRunState::Running { .. } | SamplingRunState::Stopped => {}
    }
    text
}

fn sampling_model_text(SamplingModel { model, reason, max_micros, .. }: &SamplingModel) -> String {
    let why = match reason {
        ModelChoiceReason::User => String::from("you chose it"),
        ModelChoiceReason::Setting => String::from("you chose it for this server"),
        ModelChoiceReason::Hint { hint } => format!("the server prefers \"{}\"", escape_line(hint)),
        ModelChoiceReason::Equivalent { hint } => {
            format!("it is most similar to \"{}\", which the server prefers", escape_line(hint))
        }
        ModelChoiceReason::Priorities { priorities } => format!("priorities of the server: {}", priorities.join(", ")),
        ModelChoiceReason::Default => String::from("your default"),
        ModelChoiceReason::First => String::from("the most capable model, as far as known"),
    };
    let cost = max_micros.map(|most| format!(", at most {}", format_dollars(most))).unwrap_or_default();
    format!("{}/{} would answer ({why}{cost}).", escape_line(&model.provider), escape_line(&model.model))
}

fn sampling_params_text(request: &SamplingRequest) -> String {
    let mut text = String::new();
    if let Some(system) = &request.system_prompt {
        text.push_str(&format!("  system prompt:\n{}", escape_and_prefix_lines(system, SERVER_TEXT_PREFIX)));
    }
    for message in &request.messages {
        let role = to_json_value(&message.role);
        text.push_str(&format!("  {}:\n", role.as_str().unwrap_or_default()));
        for content in &message.content {
            text.push_str(&escape_and_prefix_lines(&content_text(content), SERVER_TEXT_PREFIX));
        }
    }
    for tool in &request.tools {
        text.push_str(&format!("  a tool of the server, {}:\n", escape_line(&tool.name)));
        text.push_str(&escape_and_prefix_lines(tool.description.as_deref().unwrap_or_default(), SERVER_TEXT_PREFIX));
        text.push_str(&escape_and_prefix_lines(&pretty_json(&tool.input_schema), SERVER_TEXT_PREFIX));
    }
    text.push_str(&format!("  at most {} tokens\n", request.max_tokens));
    if !request.model_hints.is_empty() {
        text.push_str(&format!("  preferred models: {}\n", escape_line(&request.model_hints.join(", "))));
    }
    if request.include_context.as_deref().is_some_and(|context| context != "none") {
        text.push_str("  it requests context of servers, which is never added\n");
    }
    text
}

/// Describes a response to a sampling request, before it is sent to the server.
pub(crate) fn sampling_response_text(response: &SamplingResponse) -> String {
    let words = |content: &Content| escape_and_prefix_lines(&content_text(content), "  ");
    let content: String = response.content.iter().map(words).collect();
    format!("This would be sent back as the response of \"{}\":\n{content}", escape_line(&response.model))
}
