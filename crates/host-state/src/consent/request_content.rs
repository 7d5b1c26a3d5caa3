//! Kinds and subjects of consent requests in the audit log, and hashes of their payloads. Used by
//! `host/src/owner/consent_requests.rs`, `host/src/owner/gate.rs`, and code that writes audit entries about consent
//! requests.

use domain::call::CallKind;
use domain::consent_request::{ConsentRequestOrigin, ConsentRequestOutcome};
use launches::approvals::command_hash;
use mcp_proto::session::{ClientResponse, ServerRequest};
use mcp_proto::types::{CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult};
use offers::definitions::call_hash;
use offers::review::result_content_json;
use policy::{Hash, canonical_json, canonical_json_object};
use ports::server_config::address_hash;
use ports::url_parts::redacted_url;
use serde_json::{Value, json};
use server_requests::form::Form;
use server_requests::sampling::{ModelAnswerState, SamplingState, previously_approved_hash, sampling_request_hash};

use crate::app_tools::{APP_TOOL_CALL_AUDIT_KIND, app_tool_call_hash, app_tool_subject};
use crate::view::ConsentRequestBody;

/// Returns the hash of the exact payload that an approval of a server's consent request allows to send. `schema` is the
/// schema of a form.
pub fn consent_payload_hash(server: &str, body: &ConsentRequestBody, schema: Option<&Value>) -> Hash {
    match body {
        ConsentRequestBody::StartServer { config, resolved, plan, files, package, .. } => {
            command_hash(config, resolved, plan.as_ref(), files, package.as_deref())
        }
        ConsentRequestBody::ConnectServer { config, .. } => address_hash(config),
        ConsentRequestBody::Tool { tool, app: Some(app), arguments, .. } => app_tool_call_hash(app, tool, arguments),
        ConsentRequestBody::Tool { tool, app: None, arguments, .. } => call_hash(tool, arguments),
        // The hash includes the number of the attempt, so that one decision doesn't approve two identical replies.
        ConsentRequestBody::Sampling { request, response: Some(response), state } => {
            let again = previously_approved_hash(request, state);
            Hash::of_json(&json!({ "answer": response, "again": again, "attempt": state.attempts }))
        }
        ConsentRequestBody::Sampling { request, response: None, state } => {
            // The hash includes the failure, so that a decision made while a model was running doesn't apply after it
            // failed.
            let failed = matches!(state.run, ModelAnswerState::Failed { .. });
            Hash::of_json(
                &json!({ "asks": sampling_request_hash(request, state), "attempt": state.attempts, "failed": failed }),
            )
        }
        ConsentRequestBody::Form { message, .. } => Hash::of_json(&json!({ "message": message, "schema": schema })),
        ConsentRequestBody::Url { message, url } => Hash::of_json(&json!({ "message": message, "url": url })),
        ConsentRequestBody::Read { kind, name, arguments } => {
            let what = *kind == CallKind::Prompt;
            Hash::of_json(&json!({ "prompt": what, "name": name, "arguments": arguments }))
        }
        ConsentRequestBody::Result { tool, app, parts, is_error, .. } => {
            Hash::of_json(&result_content_json((tool, app.as_deref()), parts, *is_error))
        }
        // The request has no content. Its hash finds the audit entries about the folders of one server.
        ConsentRequestBody::Roots => Hash::of_json(&json!({ "roots": server })),
        ConsentRequestBody::SignIn {
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
        } => Hash::of_json(&json!({
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
        ConsentRequestBody::ClientId { url, issuer, redirect_uri } => {
            Hash::of_json(&json!({ "url": url, "issuer": issuer, "redirect": redirect_uri }))
        }
    }
}

/// Returns the originator of a consent request, as written to the audit log.
pub const fn originator_name(origin: &ConsentRequestOrigin) -> &'static str {
    match origin {
        ConsentRequestOrigin::User { .. } => "user",
        ConsentRequestOrigin::Model { .. } => "model",
        ConsentRequestOrigin::App { .. } => "app",
        ConsentRequestOrigin::Call { .. } | ConsentRequestOrigin::Server => "server",
        ConsentRequestOrigin::Ended { .. } => "host",
    }
}

/// Converts a server's request to the body of a consent request, and returns the schema if it is a form.
pub fn to_consent_body(server_request: ServerRequest) -> (ConsentRequestBody, Option<Value>) {
    match server_request {
        ServerRequest::Sampling(request) => {
            (ConsentRequestBody::Sampling { request, response: None, state: Box::default() }, None)
        }
        ServerRequest::Elicitation(ElicitParams::Form { message, requested_schema, .. }) => {
            (ConsentRequestBody::Form { message, form: Form::parse(&requested_schema) }, Some(requested_schema))
        }
        ServerRequest::Elicitation(ElicitParams::Url { message, url, .. }) => {
            (ConsentRequestBody::Url { message, url }, None)
        }
        ServerRequest::Roots => (ConsentRequestBody::Roots, None),
    }
}

/// Returns the kind of a consent request in the audit log. Answers files use the same names, but `start-server`
/// also for connections, and `sampling` also for replies.
pub const fn consent_kind(body: &ConsentRequestBody) -> &'static str {
    match body {
        ConsentRequestBody::StartServer { .. } => "start-server",
        ConsentRequestBody::ConnectServer { .. } => "connect-server",
        ConsentRequestBody::Tool { app: Some(_), .. } => APP_TOOL_CALL_AUDIT_KIND,
        ConsentRequestBody::Tool { app: None, .. } => "tool",
        ConsentRequestBody::Sampling { response: None, .. } => "sampling",
        ConsentRequestBody::Sampling { response: Some(_), .. } => "sampling-answer",
        ConsentRequestBody::Form { .. } => "elicitation",
        ConsentRequestBody::Url { .. } => "url",
        ConsentRequestBody::Read { kind: CallKind::Prompt, .. } => "prompt",
        ConsentRequestBody::Read { .. } => "resource",
        ConsentRequestBody::Result { .. } => "result",
        ConsentRequestBody::Roots => "roots",
        ConsentRequestBody::SignIn { .. } => "sign-in",
        ConsentRequestBody::ClientId { .. } => "client-id",
    }
}

/// Returns the payload of a consent request as text for the audit log, or `None` if the payload contains no more than
/// the subject.
pub fn payload_text(body: &ConsentRequestBody) -> Option<String> {
    match body {
        ConsentRequestBody::Tool { arguments, .. } | ConsentRequestBody::Read { arguments, .. } => {
            Some(canonical_json_object(arguments))
        }
        ConsentRequestBody::Sampling { request, response: None, .. } => Some(canonical_json(&json!(request))),
        ConsentRequestBody::Sampling { response: Some(response), .. } => Some(canonical_json(&json!(response))),
        ConsentRequestBody::Result { tool, app, parts, is_error, .. } => {
            Some(canonical_json(&result_content_json((tool, app.as_deref()), parts, *is_error)))
        }
        _ => None,
    }
}

/// Returns the subject of a consent request in the audit log, such as the tool or URL.
pub fn consent_subject(body: &ConsentRequestBody) -> String {
    match body {
        ConsentRequestBody::StartServer { config, .. } => config.command_line(),
        ConsentRequestBody::ConnectServer { config, .. } => config.redacted_url(),
        ConsentRequestBody::Tool { tool, app: Some(app), .. } => app_tool_subject(app, &tool.name),
        ConsentRequestBody::Tool { tool, app: None, .. } => tool.name.clone(),
        ConsentRequestBody::Sampling { request, response, state } => {
            sampling_subject(request, response.as_deref(), state)
        }
        ConsentRequestBody::Form { message, .. } => message.clone(),
        ConsentRequestBody::Url { url, .. } => redacted_url(url),
        ConsentRequestBody::Read { name, .. } => name.clone(),
        ConsentRequestBody::Result { tool, .. } => tool.clone(),
        ConsentRequestBody::Roots => "folders".to_owned(),
        ConsentRequestBody::SignIn { issuer, scopes, .. } => format!("{} ({})", redacted_url(issuer), scopes.join(" ")),
        ConsentRequestBody::ClientId { issuer, .. } => redacted_url(issuer),
    }
}

/// Returns a one-line summary of a sampling request for the audit log.
pub fn sampling_subject(
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

/// Returns the response to a server whose request was denied or dismissed.
pub fn refusal_response(body: &ConsentRequestBody, outcome: ConsentRequestOutcome) -> ClientResponse {
    match body {
        ConsentRequestBody::Form { .. } | ConsentRequestBody::Url { .. } => {
            let action =
                if outcome == ConsentRequestOutcome::Denied { ElicitAction::Decline } else { ElicitAction::Cancel };
            ClientResponse::Elicitation(ElicitResult { action, content: None })
        }
        // The specification has no response for a denied list of roots. An empty list is valid, whereas an error would
        // end a call that may not depend on roots.
        ConsentRequestBody::Roots => ClientResponse::Roots(Vec::new()),
        _ => refusal_error("the user rejected the request".to_owned()),
    }
}

/// Returns an error response with code -1, which the specification's sampling page uses for a rejection by the user.
pub const fn refusal_error(message: String) -> ClientResponse {
    ClientResponse::Refused { code: -1, message }
}
