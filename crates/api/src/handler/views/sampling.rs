//! Conversion of sampling requests, models, responses and limits to the API types, and back.

use mcp_proto::types::{self as mcp, SamplingContent};
use serde_json::json;
use server_requests::sampling;

use super::content::{role_view, to_mcp_content_block};

use crate::data::*;

pub(super) fn sampling_body_view(
    request: mcp::CreateMessageParams,
    response: Option<Box<mcp::CreateMessageResult>>,
    state: sampling::SamplingState,
) -> ConsentRequestBody {
    let step = match (&response, &state.run) {
        (_, sampling::ModelAnswerState::Running { .. }) => SamplingStep::Running,
        (Some(_), _) => SamplingStep::Response,
        (None, _) => SamplingStep::Request,
    };
    let can_rerun = response.is_some() && sampling::previously_approved_hash(&request, &state).is_some();
    ConsentRequestBody::Sampling {
        step,
        can_rerun,
        request: sampling_request_view(request),
        response: response.map(|r| SamplingResponse {
            content: r.content.blocks().iter().cloned().map(Content::from).collect(),
            model: r.model,
            stop_reason: r.stop_reason,
        }),
        model: state.model.map(|choice| SamplingModel {
            model: choice.model,
            name: choice.name,
            reason: model_choice_reason_view(choice.by),
            max_micros: choice.most_micros,
        }),
        requested_tokens: state.wanted_tokens,
        losses: state.losses.into_iter().map(sampling_loss_view).collect(),
        run: sampling_run_view(state.run),
    }
}

fn sampling_loss_view(loss: models::LossyConversion) -> SamplingLoss {
    let conversion = json!(loss.then).as_str().unwrap_or_default().to_owned();
    SamplingLoss { feature: loss.what.code().to_owned(), conversion }
}

fn model_choice_reason_view(by: sampling::ModelChoiceReason) -> ModelChoiceReason {
    let name = |priority: sampling::ModelPriority| match priority {
        sampling::ModelPriority::Cost => "cost".to_owned(),
        sampling::ModelPriority::Speed => "speed".to_owned(),
        sampling::ModelPriority::Intelligence => "intelligence".to_owned(),
    };
    match by {
        sampling::ModelChoiceReason::User => ModelChoiceReason::User,
        sampling::ModelChoiceReason::Setting => ModelChoiceReason::Setting,
        sampling::ModelChoiceReason::Hint(hint) => ModelChoiceReason::Hint { hint },
        sampling::ModelChoiceReason::Equivalent(hint) => ModelChoiceReason::Equivalent { hint },
        sampling::ModelChoiceReason::Priorities(all) => {
            ModelChoiceReason::Priorities { priorities: all.into_iter().map(name).collect() }
        }
        sampling::ModelChoiceReason::Default => ModelChoiceReason::Default,
        sampling::ModelChoiceReason::First => ModelChoiceReason::First,
    }
}

fn sampling_run_view(run: sampling::ModelAnswerState) -> SamplingRunState {
    match run {
        sampling::ModelAnswerState::No => SamplingRunState::No,
        sampling::ModelAnswerState::Running { text, thinking } => SamplingRunState::Running { text, thinking },
        sampling::ModelAnswerState::Done { usage, micros, note } => SamplingRunState::Done {
            input_tokens: usage.input,
            output_tokens: usage.output,
            micros,
            no_tool_used: note == Some(sampling::UnmetRequirementNote::NoToolUsed),
        },
        sampling::ModelAnswerState::Stopped => SamplingRunState::Stopped,
        sampling::ModelAnswerState::Failed { code, message } => SamplingRunState::Failed { code, message },
    }
}

fn sampling_tool_view(tool: mcp::Tool) -> SamplingTool {
    SamplingTool { name: tool.name, description: tool.description, input_schema: tool.input_schema }
}

pub(in crate::handler) fn sampling_report_view(report: sampling::SamplingReport) -> SamplingReport {
    SamplingReport {
        settings: sampling_settings_view(report.settings),
        last_hour: sampling_usage_view(report.within_hour),
        total: sampling_usage_view(report.in_all),
        last_use: report.last_use,
        reached_limit: report.stopped.map(reached_limit_view),
        outdated: report.is_outdated,
    }
}

fn reached_limit_view(limit: sampling::ReachedLimit) -> ReachedSamplingLimit {
    let quantity = match limit.of {
        sampling::LimitedQuantity::Requests => "requests",
        sampling::LimitedQuantity::Tokens => "tokens",
        sampling::LimitedQuantity::Money => "money",
        sampling::LimitedQuantity::Rounds => "rounds",
    };
    ReachedSamplingLimit {
        quantity: quantity.to_owned(),
        is_per_hour: limit.span == sampling::LimitPeriod::Hour,
        limit: limit.most,
    }
}

const fn sampling_usage_view(spent: sampling::ModelUsage) -> SamplingUsage {
    SamplingUsage { requests: spent.requests, tokens: spent.tokens, micros: spent.micros }
}

fn sampling_settings_view(settings: sampling::SamplingSettings) -> SamplingSettings {
    SamplingSettings {
        is_enabled: settings.on,
        tools: settings.tools,
        max_tokens: settings.max_tokens,
        model: settings.model,
        per_hour: sampling_limits_view(settings.per_hour),
        total: sampling_limits_view(settings.in_all),
    }
}

const fn sampling_limits_view(budget: sampling::Budget) -> SamplingLimits {
    SamplingLimits { requests: budget.requests, tokens: budget.tokens, micros: budget.micros }
}

pub(in crate::handler) fn to_sampling_settings(settings: SamplingSettings) -> sampling::SamplingSettings {
    sampling::SamplingSettings {
        on: settings.is_enabled,
        tools: settings.tools,
        max_tokens: settings.max_tokens,
        model: settings.model,
        per_hour: to_sampling_budget(settings.per_hour),
        in_all: to_sampling_budget(settings.total),
    }
}

const fn to_sampling_budget(limits: SamplingLimits) -> sampling::Budget {
    sampling::Budget { requests: limits.requests, tokens: limits.tokens, micros: limits.micros }
}

fn sampling_request_view(request: mcp::CreateMessageParams) -> SamplingRequest {
    let preferences = request.model_preferences.unwrap_or_default();
    SamplingRequest {
        messages: request.messages.iter().map(sampling_message_view).collect(),
        system_prompt: request.system_prompt,
        max_tokens: request.max_tokens,
        temperature: request.temperature,
        stop_sequences: request.stop_sequences,
        include_context: request.include_context.and_then(|c| json!(c).as_str().map(str::to_owned)),
        model_hints: preferences.hints.into_iter().filter_map(|h| h.name).collect(),
        cost_priority: preferences.cost_priority,
        speed_priority: preferences.speed_priority,
        intelligence_priority: preferences.intelligence_priority,
        tools: request.tools.unwrap_or_default().into_iter().map(sampling_tool_view).collect(),
        tool_choice: request.tool_choice.and_then(|choice| choice.mode),
        metadata: request.metadata.map(Into::into),
    }
}

fn sampling_message_view(message: &mcp::SamplingMessage) -> Message {
    Message {
        role: role_view(message.role),
        content: message.content.blocks().iter().cloned().map(Content::from).collect(),
    }
}

/// Applies the user's edits to a sampling request. Members that the page does not display are preserved.
pub(in crate::handler) fn to_sampling_params(
    edited: SamplingRequest,
    original: mcp::CreateMessageParams,
) -> mcp::CreateMessageParams {
    let messages = edited.messages.into_iter().map(|shown| {
        // An unchanged message is preserved with the members that the page does not display.
        let unchanged = original.messages.iter().find(|other| sampling_message_view(other) == shown).cloned();
        unchanged.unwrap_or_else(|| mcp::SamplingMessage {
            role: match shown.role {
                Role::User => mcp::Role::User,
                Role::Assistant => mcp::Role::Assistant,
            },
            content: to_sampling_content(shown.content),
            meta: None,
            extra: serde_json::Map::new(),
        })
    });
    mcp::CreateMessageParams {
        messages: messages.collect(),
        system_prompt: edited.system_prompt,
        max_tokens: edited.max_tokens,
        temperature: edited.temperature,
        stop_sequences: edited.stop_sequences,
        ..original
    }
}

pub(in crate::handler) fn to_sampling_result(response: SamplingResponse) -> mcp::CreateMessageResult {
    mcp::CreateMessageResult {
        role: mcp::Role::Assistant,
        content: to_sampling_content(response.content),
        model: response.model,
        stop_reason: response.stop_reason,
        meta: None,
    }
}

/// Converts content blocks. A single block is sent without a list, because lists exist only since revision 2025-11-25.
fn to_sampling_content(content: Vec<Content>) -> SamplingContent {
    let mut blocks: Vec<_> = content.into_iter().map(to_mcp_content_block).collect();
    match blocks.pop() {
        Some(only) if blocks.is_empty() => SamplingContent::One(only),
        Some(last) => {
            blocks.push(last);
            SamplingContent::Many(blocks)
        }
        None => SamplingContent::Many(blocks),
    }
}
