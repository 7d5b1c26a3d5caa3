//! Names of consent requests in the audit log and in the file of scripted decisions, and hashes of their payloads. Used
//! by `owner/questions.rs`, `owner/gate.rs`, and code that writes audit entries about consent requests.

use domain::call::CallKind;
use domain::question::{QuestionOutcome, Why};
use launches::approvals::command_hash;
use mcp_proto::session::{Answer, ServerQuestion};
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult};
use offers::definitions::call_hash;
use offers::review::as_json;
use policy::{Hash, canonical_json, canonical_object};
use ports::server_config::address_hash;
use ports::url_parts::shown_url;
use serde_json::{Value, json};
use server_requests::form::Form;
use server_requests::sampling::{Run, SamplingState, ask_hash, asked_before};

use crate::view::QuestionBody;

/// Returns the hash of the exact payload that an approval allows to send.
pub(in crate::owner) fn hash_of(body: &QuestionBody, schema: Option<&Value>) -> Hash {
    match body {
        QuestionBody::StartServer { config, resolved, plan, files, package, .. } => {
            command_hash(config, resolved, plan.as_ref(), files, package.as_deref())
        }
        QuestionBody::ConnectServer { config, .. } => address_hash(config),
        QuestionBody::Tool { tool, arguments, .. } => call_hash(tool, arguments),
        // Includes the attempt, so that one decision doesn't approve two identical replies.
        QuestionBody::Sampling { request, response: Some(response), state } => {
            let again = asked_before(request, state);
            Hash::of(&json!({ "answer": response, "again": again, "attempt": state.attempts }))
        }
        QuestionBody::Sampling { request, response: None, state } => {
            // Includes the failure, so that a decision about a running model doesn't apply to a failed one.
            let failed = matches!(state.run, Run::Failed { .. });
            Hash::of(&json!({ "asks": ask_hash(request, state), "attempt": state.attempts, "failed": failed }))
        }
        QuestionBody::Form { message, .. } => Hash::of(&json!({ "message": message, "schema": schema })),
        QuestionBody::Url { message, url } => Hash::of(&json!({ "message": message, "url": url })),
        QuestionBody::Read { kind, name, arguments } => {
            let what = *kind == CallKind::Prompt;
            Hash::of(&json!({ "prompt": what, "name": name, "arguments": arguments }))
        }
        QuestionBody::Result { tool, parts, is_error, .. } => Hash::of(&as_json(tool, parts, *is_error)),
        QuestionBody::Roots => Hash::of_bytes(b"roots"),
        QuestionBody::SignIn {
            url,
            issuer,
            resource,
            scopes,
            held_scopes,
            client,
            client_id,
            endpoints,
            redirect_uri,
            authorization_url,
            reason,
        } => Hash::of(&json!({
            "url": url,
            "issuer": issuer,
            "resource": resource,
            "scopes": scopes,
            "held": held_scopes,
            "client": client,
            "id": client_id,
            "endpoints": endpoints,
            "redirect": redirect_uri,
            "authorization": authorization_url,
            "reason": reason,
        })),
        QuestionBody::ClientId { url, issuer, redirect_uri } => {
            Hash::of(&json!({ "url": url, "issuer": issuer, "redirect": redirect_uri }))
        }
    }
}

/// Returns the originator of a consent request.
pub(in crate::owner) const fn asker_of(why: &Why) -> &'static str {
    match why {
        Why::User { .. } => "user",
        Why::Model { .. } => "model",
        Why::Call { .. } | Why::Server => "server",
        Why::Ended { .. } => "host",
    }
}

/// Returns the body of the consent request for a server's request, and the schema of a form.
pub(in crate::owner) fn body_of(question: ServerQuestion) -> (QuestionBody, Option<Value>) {
    match question {
        ServerQuestion::Sampling(request) => {
            (QuestionBody::Sampling { request, response: None, state: Box::default() }, None)
        }
        ServerQuestion::Elicitation(ElicitParams::Form { message, requested_schema, .. }) => {
            (QuestionBody::Form { message, form: Form::parse(&requested_schema) }, Some(requested_schema))
        }
        ServerQuestion::Elicitation(ElicitParams::Url { message, url, .. }) => {
            (QuestionBody::Url { message, url }, None)
        }
        ServerQuestion::Roots => (QuestionBody::Roots, None),
    }
}

/// Returns the kind of the request in the audit log and in the file of scripted decisions.
pub(in crate::owner) const fn kind_of(body: &QuestionBody) -> &'static str {
    match body {
        QuestionBody::StartServer { .. } => "start-server",
        QuestionBody::ConnectServer { .. } => "connect-server",
        QuestionBody::Tool { .. } => "tool",
        QuestionBody::Sampling { response: None, .. } => "sampling",
        QuestionBody::Sampling { response: Some(_), .. } => "sampling-answer",
        QuestionBody::Form { .. } => "elicitation",
        QuestionBody::Url { .. } => "url",
        QuestionBody::Read { kind: CallKind::Prompt, .. } => "prompt",
        QuestionBody::Read { .. } => "resource",
        QuestionBody::Result { .. } => "result",
        QuestionBody::Roots => "roots",
        QuestionBody::SignIn { .. } => "sign-in",
        QuestionBody::ClientId { .. } => "client-id",
    }
}

/// Returns the payload of an approval if it contains more than the subject.
pub(in crate::owner) fn content_of(body: &QuestionBody) -> Option<String> {
    match body {
        QuestionBody::Tool { arguments, .. } | QuestionBody::Read { arguments, .. } => {
            Some(canonical_object(arguments))
        }
        QuestionBody::Sampling { request, response: None, .. } => Some(canonical_json(&json!(request))),
        QuestionBody::Sampling { response: Some(response), .. } => Some(canonical_json(&json!(response))),
        QuestionBody::Result { tool, parts, is_error, .. } => Some(canonical_json(&as_json(tool, parts, *is_error))),
        _ => None,
    }
}

/// Returns the subject of the request in the audit log.
pub(in crate::owner) fn subject_of(body: &QuestionBody) -> String {
    match body {
        QuestionBody::StartServer { config, .. } => config.command_line(),
        QuestionBody::ConnectServer { config, .. } => config.shown_url(),
        QuestionBody::Tool { tool, .. } => tool.name.clone(),
        QuestionBody::Sampling { request, response, state } => sampling_subject(request, response.as_deref(), state),
        QuestionBody::Form { message, .. } => message.clone(),
        QuestionBody::Url { url, .. } => shown_url(url),
        QuestionBody::Read { name, .. } => name.clone(),
        QuestionBody::Result { tool, .. } => tool.clone(),
        QuestionBody::Roots => "folders".to_owned(),
        QuestionBody::SignIn { issuer, scopes, .. } => format!("{} ({})", shown_url(issuer), scopes.join(" ")),
        QuestionBody::ClientId { issuer, .. } => shown_url(issuer),
    }
}

/// Returns the subject of a sampling request, on one line.
pub(in crate::owner) fn sampling_subject(
    request: &CreateMessageParams,
    response: Option<&CreateMessageResult>,
    state: &SamplingState,
) -> String {
    let messages = format!("{} message(s)", request.messages.len());
    match (response, &state.model) {
        (Some(response), _) => format!("{messages}, answered by {}", response.model),
        (None, Some(choice)) => format!("{messages} to {}/{}", choice.model.provider, choice.model.model),
        (None, None) => messages,
    }
}

/// Returns the response for a server whose request was denied or dismissed.
pub(in crate::owner) fn refused(body: &QuestionBody, outcome: QuestionOutcome) -> Answer {
    match body {
        QuestionBody::Form { .. } | QuestionBody::Url { .. } => {
            let action = if outcome == QuestionOutcome::Denied { ElicitAction::Decline } else { ElicitAction::Cancel };
            Answer::Elicitation(ElicitResult { action, content: None })
        }
        // An empty list is a valid response; an error would end a call that may not depend on roots.
        QuestionBody::Roots => Answer::Roots(Vec::new()),
        _ => refusal("the user rejected the request".to_owned()),
    }
}

/// Returns an error response. The specification's sampling page uses code -1 for a rejection.
pub(in crate::owner) const fn refusal(message: String) -> Answer {
    Answer::Refused { code: -1, message }
}
