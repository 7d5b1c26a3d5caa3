//! User who approves every consent request: enters forms, opens URLs, writes model responses, and shares roots.

use std::path::PathBuf;

use host::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, HostEvent, UserDecision};
use mcp_proto::types::{ContentBlock, SamplingContent};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use server_requests::form::Form;
use testkit::app::TestApp;
use tokio::task::JoinHandle;

/// Text that the simulated user writes as the response to a sampling request.
pub(crate) const MODEL_RESPONSE: &str = "The wind is fair.";

/// Value that the simulated user enters in the field `captain` of a form.
pub(crate) const CAPTAIN_NAME: &str = "Erna";

/// Spawns a task that approves each consent request as soon as it arrives.
pub(crate) fn spawn_deciding_user(app: &TestApp, folder: PathBuf) -> JoinHandle<()> {
    let host = app.host.clone();
    let mut events = host.events();
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            let HostEvent::ConsentRequestChanged(request) = &event.event else { continue };
            if let Some(edit) = response_edit(request) {
                // The edited consent request is announced by another event.
                let _ = host.edit_consent_request(request.id, edit).await;
                continue;
            }
            let answer = match &request.body {
                ConsentRequestBody::Form { form, .. } => match form {
                    Ok(form) => UserDecision::Submit(required_form_values(form)),
                    Err(_) => UserDecision::Deny,
                },
                ConsentRequestBody::Roots => UserDecision::Share(vec![folder.clone()]),
                _ => UserDecision::Allow(ApprovalScope::Once),
            };
            // The consent request may already be closed or cancelled by its server.
            let _ = host.decide(request.id, request.hash.to_string(), answer).await;
        }
    })
}

/// Returns an edit that writes the response to a sampling request, or `None` if the response has already been written.
fn response_edit(request: &ConsentRequestView) -> Option<ConsentRequestEdit> {
    let ConsentRequestBody::Sampling { response: Some(response), .. } = &request.body else { return None };
    let is_written = response.content.blocks().iter().any(|b| matches!(b, ContentBlock::Text(t) if !t.text.is_empty()));
    if is_written {
        return None;
    }
    let mut written = server_requests::sampling::empty_sampling_result();
    written.content = SamplingContent::Many(vec![ContentBlock::text(MODEL_RESPONSE)]);
    Some(ConsentRequestEdit::Response(Box::new(written)))
}

/// Returns valid values for all required fields of a form.
fn required_form_values(form: &Form) -> Map<String, Value> {
    let known = json!({
        "captain": CAPTAIN_NAME, "email": "erna@harbour.example", "arrival": "2026-08-01", "crew": 4, "languages": ["en"]
    });
    let required = form.fields.iter().filter(|field| field.required);
    required.map(|field| (field.name.clone(), known[&field.name].clone())).collect()
}
