//! User of the client: allows the operations of the scenarios, and submits forms with their defaults or with minimal
//! valid values.

use host::view::{ConsentRequestBody, UserDecision};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use server_requests::form::{FieldKind, Form, FormField};

/// Returns the user's decision on a consent request.
pub(crate) fn decide_consent_request(body: &ConsentRequestBody) -> UserDecision {
    match body {
        ConsentRequestBody::ConnectServer { .. }
        | ConsentRequestBody::Tool { .. }
        | ConsentRequestBody::SignIn { .. } => UserDecision::Allow(ApprovalScope::Once),
        ConsentRequestBody::Form { form: Ok(form), .. } => UserDecision::Submit(valid_form_content(form)),
        _ => UserDecision::Deny,
    }
}

fn valid_form_content(form: &Form) -> Map<String, Value> {
    let value = |field: &FormField| match &field.default {
        Some(default) => Some(default.clone()),
        None if field.required => Some(smallest_valid_value(&field.kind)),
        None => None,
    };
    form.fields.iter().filter_map(|field| Some((field.name.clone(), value(field)?))).collect()
}

fn smallest_valid_value(kind: &FieldKind) -> Value {
    match kind {
        FieldKind::Text { min_length, .. } => json!("x".repeat(min_length.unwrap_or(1) as usize)),
        FieldKind::Number { minimum, .. } => json!(minimum.unwrap_or(1.0)),
        FieldKind::Boolean => json!(true),
        FieldKind::Choice { options } => json!(options.first().map(|option| option.value.as_str())),
        FieldKind::Choices { options, min_items, .. } => {
            options.iter().take(min_items.unwrap_or(1) as usize).map(|option| option.value.as_str()).collect()
        }
    }
}
