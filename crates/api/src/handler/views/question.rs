//! Questions, forms and sampling.

use host::form::{self, Form};
use host::url_parts::{UrlParts as HostUrl, UrlWarning as HostWarning};
use host::view::{QuestionBody as HostBody, QuestionView, Why as HostWhy};
use mcp_proto::types::{self as mcp, SamplingContent};
use policy::Standing;
use serde_json::json;

use super::content::{claims, content, role, to_block};
use super::readable::readable;
use super::{authorization, call_kind, marks, scope};
use crate::data::*;
use crate::handler::containment;
use crate::handler::set_up::{self, Values};

pub(in crate::handler) fn question(view: QuestionView) -> Question {
    Question {
        id: view.id.0.to_string(),
        hash: view.hash.to_string(),
        server: view.server,
        transport: view.transport.to_owned(),
        command_line: view.command_line,
        asked_at: view.asked_at,
        why: match view.why {
            HostWhy::User { conversation } => Why::User { conversation },
            HostWhy::Model { conversation, after } => Why::Model { conversation, after },
            HostWhy::Call { call, kind, name } => Why::Call { call, kind: call_kind(kind), name },
            HostWhy::Server => Why::Server,
        },
        round: view.round,
        body: body(view.body, view.marks.standing == Some(Standing::Reviewed)),
        scopes: view.scopes.iter().map(|s| scope(*s)).collect(),
        rule: view.rule.to_owned(),
        marks: marks(view.marks),
    }
}

fn body(body: HostBody, is_reviewed: bool) -> QuestionBody {
    match body {
        HostBody::StartServer { config, resolved, approved_before, plan } => QuestionBody::StartServer {
            command: config.command,
            resolved: Some(resolved.display().to_string()),
            args: config.args,
            env: config.env.into_iter().collect(),
            cwd: config.cwd.map(|cwd| cwd.display().to_string()),
            approved_before,
            sandbox: plan.map(containment::plan_shown),
        },
        HostBody::ConnectServer { config, approved_before } => QuestionBody::ConnectServer {
            url: url_parts(HostUrl::of(&config.url)),
            headers: set_up::headers(&config, Values::Hidden),
            transport_kind: config.kind.map(set_up::kind),
            unencrypted: config.is_plain_outside(),
            approved_before,
        },
        HostBody::Tool { tool, arguments, changed_since_allowed } => QuestionBody::Tool {
            definition: (!is_reviewed).then(|| readable(&json!(tool))),
            claims: claims(&tool),
            title: tool.title,
            tool: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
            bytes: json!(arguments).to_string().len() as u64,
            arguments: arguments.into(),
            changed_since_allowed,
        },
        HostBody::Read { kind, name, arguments } => {
            QuestionBody::Read { what: super::call_kind(kind), name, arguments: arguments.into() }
        }
        HostBody::Sampling { request, response } => QuestionBody::Sampling {
            step: if response.is_some() { SamplingStep::Response } else { SamplingStep::Request },
            request: sampling_request(*request),
            response: response.map(|r| SamplingResponse {
                content: r.content.blocks().iter().cloned().map(content).collect(),
                model: r.model,
                stop_reason: r.stop_reason,
            }),
        },
        HostBody::Form { message, form } => {
            let (fields, unsupported) = match form {
                Ok(Form { fields }) => (fields.into_iter().map(field).collect(), None),
                Err(cause) => (Vec::new(), Some(cause)),
            };
            QuestionBody::Form { message, fields, unsupported }
        }
        HostBody::Url { message, url } => QuestionBody::Url { message, url: url_parts(HostUrl::asked_by_server(&url)) },
        HostBody::Roots => QuestionBody::Roots { folders: Vec::new() },
        HostBody::SignIn {
            url,
            issuer,
            resource,
            scopes,
            held_scopes,
            client,
            client_id,
            redirect_uri,
            authorization_url,
            reason,
        } => QuestionBody::SignIn {
            url: url_parts(HostUrl::of(&url)),
            issuer_url: url_parts(HostUrl::of(&issuer)),
            issuer,
            resource,
            scopes,
            held_scopes,
            client: authorization::client(client),
            client_id,
            redirect_uri,
            authorization_url: url_parts(HostUrl::of(&authorization_url)),
            reason: authorization::reason(reason),
        },
        HostBody::ClientId { url, issuer, redirect_uri } => QuestionBody::ClientId {
            url: url_parts(HostUrl::of(&url)),
            issuer_url: url_parts(HostUrl::of(&issuer)),
            issuer,
            redirect_uri,
        },
    }
}

fn sampling_request(request: mcp::CreateMessageParams) -> SamplingRequest {
    let preferences = request.model_preferences.unwrap_or_default();
    let mut rest = serde_json::Map::new();
    if let Some(metadata) = request.metadata {
        rest.insert("metadata".into(), metadata.into());
    }
    if let Some(tools) = request.tools {
        rest.insert("tools".into(), json!(tools));
    }
    if let Some(choice) = request.tool_choice {
        rest.insert("toolChoice".into(), json!(choice));
    }
    SamplingRequest {
        messages: request.messages.iter().map(message).collect(),
        system_prompt: request.system_prompt,
        max_tokens: request.max_tokens,
        temperature: request.temperature,
        stop_sequences: request.stop_sequences,
        include_context: request.include_context.and_then(|c| json!(c).as_str().map(str::to_owned)),
        model_hints: preferences.hints.into_iter().filter_map(|h| h.name).collect(),
        cost_priority: preferences.cost_priority,
        speed_priority: preferences.speed_priority,
        intelligence_priority: preferences.intelligence_priority,
        metadata: (!rest.is_empty()).then(|| rest.into()),
    }
}

fn message(message: &mcp::SamplingMessage) -> Message {
    Message { role: role(message.role), content: message.content.blocks().iter().cloned().map(content).collect() }
}

/// The request as the user changed it; what the page does not show stays as the server sent it.
pub(in crate::handler) fn to_request(
    edited: SamplingRequest,
    original: mcp::CreateMessageParams,
) -> mcp::CreateMessageParams {
    let messages = edited.messages.into_iter().map(|shown| {
        // A message that was not changed stays as it came, with all that is not shown of it.
        let as_it_came = original.messages.iter().find(|other| message(other) == shown).cloned();
        as_it_came.unwrap_or_else(|| mcp::SamplingMessage {
            role: match shown.role {
                Role::User => mcp::Role::User,
                Role::Assistant => mcp::Role::Assistant,
            },
            content: blocks(shown.content),
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

pub(in crate::handler) fn to_response(response: SamplingResponse) -> mcp::CreateMessageResult {
    mcp::CreateMessageResult {
        role: mcp::Role::Assistant,
        content: blocks(response.content),
        model: response.model,
        stop_reason: response.stop_reason,
        meta: None,
    }
}

/// One block stands alone: lists of blocks exist only since 2025-11-25.
fn blocks(content: Vec<Content>) -> SamplingContent {
    let mut blocks: Vec<_> = content.into_iter().map(to_block).collect();
    match blocks.pop() {
        Some(only) if blocks.is_empty() => SamplingContent::One(only),
        Some(last) => {
            blocks.push(last);
            SamplingContent::Many(blocks)
        }
        None => SamplingContent::Many(blocks),
    }
}

fn field(field: form::Field) -> FormField {
    let options = |options: Vec<form::ChoiceOption>| {
        options.into_iter().map(|o| ChoiceOption { value: o.value, title: o.title }).collect()
    };
    FormField {
        name: field.name,
        title: field.title,
        description: field.description,
        required: field.required,
        kind: match field.kind {
            form::FieldKind::Text { format, min_length, max_length } => {
                FieldKind::Text { format: format.map(|f| f.name().to_owned()), min_length, max_length }
            }
            form::FieldKind::Number { integer, minimum, maximum } => FieldKind::Number { integer, minimum, maximum },
            form::FieldKind::Boolean => FieldKind::Boolean,
            form::FieldKind::Choice(list) => FieldKind::Choice { options: options(list) },
            form::FieldKind::Choices { options: list, min_items, max_items } => {
                FieldKind::Choices { options: options(list), min_items, max_items }
            }
        },
        default: field.default,
        secret: field.secret,
    }
}

pub(in crate::handler) fn form_problem(problem: form::FormProblem) -> FormProblem {
    FormProblem {
        field: problem.field,
        problem: match problem.problem {
            form::FieldProblem::Required => FieldProblem::Required,
            form::FieldProblem::WrongType => FieldProblem::WrongType,
            form::FieldProblem::TooShort => FieldProblem::TooShort,
            form::FieldProblem::TooLong => FieldProblem::TooLong,
            form::FieldProblem::TooSmall => FieldProblem::TooSmall,
            form::FieldProblem::TooLarge => FieldProblem::TooLarge,
            form::FieldProblem::TooFew => FieldProblem::TooFew,
            form::FieldProblem::TooMany => FieldProblem::TooMany,
            form::FieldProblem::NotAnOption => FieldProblem::NotAnOption,
            form::FieldProblem::NotAnEmail => FieldProblem::NotAnEmail,
            form::FieldProblem::NotAUri => FieldProblem::NotAUri,
            form::FieldProblem::NotADate => FieldProblem::NotADate,
            form::FieldProblem::NotADateTime => FieldProblem::NotADateTime,
            form::FieldProblem::UnknownField => FieldProblem::UnknownField,
        },
        limit: problem.limit,
    }
}

pub(in crate::handler) fn url_parts(parts: HostUrl) -> UrlParts {
    UrlParts {
        url: parts.url,
        before: parts.before,
        domain: parts.domain,
        after: parts.after,
        ascii_host: parts.ascii_host,
        warnings: parts
            .warnings
            .into_iter()
            .map(|warning| match warning {
                HostWarning::NotEncrypted => UrlWarning::NotEncrypted,
                HostWarning::UserInformation => UrlWarning::UserInformation,
                HostWarning::Internationalized => UrlWarning::Internationalized,
                HostWarning::IpAddress => UrlWarning::IpAddress,
                HostWarning::Local => UrlWarning::Local,
                HostWarning::NotAllowed => UrlWarning::NotAllowed,
            })
            .collect(),
        openable: parts.openable,
    }
}
