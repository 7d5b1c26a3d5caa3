//! Contents of the server's requests to the host: forms, a URL, a message for a model, the request for roots.

#![allow(deprecated, reason = "sampling and roots are deprecated for the future and part of every revision so far")]

use rmcp::model::{
    ContentBlock, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, ErrorData, InputRequest, ListRootsRequest, ModelHint, ModelPreferences, Role, SamplingMessage,
    SamplingMessageContentBlock,
};
use serde_json::{Value, json};

use crate::content::{BELL_WAV, CHART_PNG, encode_base64};

/// Returns the schema of a form with every kind of field that a revision supports.
///
/// `modern_fields` adds those introduced in 2025-11-25: choices with titles, multiple choice, and defaults for all
/// kinds.
pub(crate) fn arrival_form_schema(modern_fields: bool) -> Value {
    let mut form = json!({
        "type": "object",
        "properties": {
            "captain": { "type": "string", "title": "Captain", "description": "Who is in command?", "minLength": 2, "maxLength": 40 },
            "email": { "type": "string", "title": "Email", "format": "email" },
            "website": { "type": "string", "title": "Website", "format": "uri" },
            "arrival": { "type": "string", "title": "Day of arrival", "format": "date" },
            "called_at": { "type": "string", "title": "Last radio call", "format": "date-time" },
            "crew": { "type": "integer", "title": "Crew", "minimum": 1, "maximum": 50 },
            "draught": { "type": "number", "title": "Draught in metres", "minimum": 0.5, "maximum": 12.5 },
            "pilot": { "type": "boolean", "title": "A pilot is needed", "default": true },
            "berth": { "type": "string", "title": "Berth", "enum": ["north", "south", "quay"], "enumNames": ["North pier", "South pier", "The old quay"] }
        },
        "required": ["captain", "email", "arrival", "crew"]
    });
    if modern_fields {
        let more = json!({
            "crew": { "type": "integer", "title": "Crew", "minimum": 1, "maximum": 50, "default": 4 },
            "draught": { "type": "number", "title": "Draught in metres", "minimum": 0.5, "maximum": 12.5, "default": 2.5 },
            "website": { "type": "string", "title": "Website", "format": "uri", "default": "https://example.com/" },
            "side": { "type": "string", "title": "Side to moor on", "enum": ["port", "starboard"], "default": "port" },
            "flag": { "type": "string", "title": "Flag", "oneOf": [
                { "const": "nl", "title": "Netherlands" },
                { "const": "no", "title": "Norway" },
                { "const": "pt", "title": "Portugal" }
            ], "default": "no" },
            "services": { "type": "array", "title": "Services", "minItems": 0, "maxItems": 2, "items": { "type": "string", "enum": ["water", "power", "fuel"] }, "default": ["water"] },
            "languages": { "type": "array", "title": "Languages on board", "minItems": 1, "items": { "anyOf": [
                { "const": "en", "title": "English" },
                { "const": "nb", "title": "Norwegian" },
                { "const": "zh", "title": "Chinese" }
            ] } }
        });
        if let (Some(properties), Value::Object(more)) = (form["properties"].as_object_mut(), more) {
            properties.extend(more);
        }
        form["required"] = json!(["captain", "email", "arrival", "crew", "languages"]);
    }
    form
}

/// Returns the schema of a form with a single yes/no field.
pub(crate) fn yes_no_form_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "promise": { "type": "boolean", "title": "I promise not to tell", "default": false }
        },
        "required": ["promise"]
    })
}

/// Returns the schema of a form with a single text field.
pub(crate) fn text_field_form_schema(name: &str, title: &str) -> Value {
    json!({
        "type": "object",
        "properties": { name: { "type": "string", "title": title, "minLength": 1, "maxLength": 80 } },
        "required": [name]
    })
}

/// Creates an elicitation request with a message and the schema of a form.
pub(crate) fn form_elicitation(message: &str, schema: Value) -> Result<InputRequest, ErrorData> {
    let requested_schema: ElicitationSchema = serde_json::from_value(schema)
        .map_err(|error| ErrorData::internal_error(format!("a bad form: {error}"), None))?;
    let params =
        ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
    Ok(InputRequest::Elicitation(ElicitRequest::new(params)))
}

/// Creates an elicitation request for a URL. Only revision 2025-11-25 uses the ID.
pub(crate) fn url_elicitation(message: &str, url: &str, elicitation_id: &str) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: message.to_owned(),
        url: url.to_owned(),
        elicitation_id: elicitation_id.to_owned(),
    }))
}

/// Creates a request for the folders that the server may use (roots).
pub(crate) fn roots_request() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest { method: Default::default(), extensions: Default::default() })
}

/// Parameters of a sampling request.
pub(crate) struct SamplingPrompt<'a> {
    pub(crate) question: &'a str,
    pub(crate) with_picture: bool,
    pub(crate) with_sound: bool,
    /// Maximum number of tokens in the model's response.
    pub(crate) max_tokens: u32,
}

/// Creates a sampling request for the host's model.
pub(crate) fn sampling_request(ask: &SamplingPrompt<'_>) -> Result<InputRequest, ErrorData> {
    let mut messages = vec![
        SamplingMessage::user_text("You are on the quay. What can you see?"),
        SamplingMessage::assistant_text("Ships, gulls and a red lighthouse."),
    ];
    if ask.with_picture {
        let chart = ContentBlock::image(encode_base64(CHART_PNG), "image/png");
        messages.push(user_sampling_message(chart)?);
    }
    if ask.with_sound {
        let bell = ContentBlock::audio(encode_base64(BELL_WAV), "audio/wav");
        messages.push(user_sampling_message(bell)?);
    }
    messages.push(SamplingMessage::user_text(ask.question));
    let preferences = ModelPreferences::new()
        .with_hints(vec![ModelHint::new("claude-sonnet"), ModelHint::new("claude")])
        .with_cost_priority(0.25)
        .with_speed_priority(0.5)
        .with_intelligence_priority(0.75);
    let params = CreateMessageRequestParams::new(messages, ask.max_tokens)
        .with_system_prompt("You are a friendly harbour master. Answer in one sentence.")
        .with_model_preferences(preferences)
        .with_temperature(0.5)
        .with_stop_sequences(vec!["\n\n".to_owned()])
        .with_metadata(json!({ "purpose": "demonstration" }));
    Ok(InputRequest::CreateMessage(CreateMessageRequest::new(params)))
}

fn user_sampling_message(content: ContentBlock) -> Result<SamplingMessage, ErrorData> {
    let content = SamplingMessageContentBlock::try_from(content)
        .map_err(|error| ErrorData::internal_error(format!("{error:?}"), None))?;
    Ok(SamplingMessage::new(Role::User, content))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn form_schemas_are_serialized_completely() {
        for schema in [arrival_form_schema(false), arrival_form_schema(true), yes_no_form_schema()] {
            let typed: ElicitationSchema = serde_json::from_value(schema.clone()).unwrap();
            let sent = serde_json::to_value(typed).unwrap();
            assert_eq!(sent, schema, "the SDK's types should preserve every field of the form");
            let names =
                |form: &Value| -> Vec<String> { form["properties"].as_object().unwrap().keys().cloned().collect() };
            assert_eq!(names(&sent), names(&schema), "the order of the fields should be preserved");
        }
    }
}
