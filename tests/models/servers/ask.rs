//! Requests that the checks send to the servers.

use bytes::Bytes;
use models::{MessagePart, ModelMessage, ModelReply, ModelRequest, ModelTool, Role, ToolChoice};
use serde_json::{Value, json};

use crate::fake;
use crate::place::ServedWire;

/// Returns a request that contains one user message. For the model with random weights, the request limits the number
/// of tokens and makes the output deterministic.
pub(crate) fn text_request(place: &ServedWire, text: &str) -> ModelRequest {
    let request = ModelRequest { model: place.model.clone(), ..fake::text_request(place.wire, text) };
    if place.is_scripted() {
        return request;
    }
    ModelRequest { max_tokens: Some(24), temperature: Some(0.0), ..request }
}

/// Returns a request that contains one user message with a picture.
pub(crate) fn picture_request(place: &ServedWire, text: &str) -> ModelRequest {
    let picture = MessagePart::Image { mime: "image/png".into(), data: Bytes::from_static(b"\x89PNG\r\n\x1a\nred") };
    let message = ModelMessage { role: Role::User, parts: vec![MessagePart::text(text), picture] };
    ModelRequest { messages: vec![message], ..text_request(place, text) }
}

/// Maximum number of tokens of a call by the model with random weights.
const MAX_CALL_TOKENS: u32 = 300;

/// Returns a request that offers a tool.
pub(crate) fn tool_request(place: &ServedWire, text: &str) -> ModelRequest {
    let tool = ModelTool {
        name: "weather__forecast".into(),
        description: Some("The weather of the next days.".into()),
        input_schema: json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "enum": ["Oslo", "Lima"] },
                "days": { "type": "integer", "enum": [1, 2, 3] },
            },
            "required": ["city", "days"],
            "additionalProperties": false,
        }),
    };
    let request = text_request(place, text);
    // A model with random weights may write white space between the parts of a call.
    let max_tokens = request.max_tokens.map(|_| MAX_CALL_TOKENS);
    ModelRequest { tools: vec![tool], max_tokens, ..request }
}

/// Returns the arguments of all tool uses in a reply, or an error if the arguments of one do not match the tool's
/// schema.
pub(crate) fn valid_tool_uses(reply: &ModelReply) -> Result<Vec<Value>, String> {
    let uses = reply.message.tool_uses().map(|(_, name, arguments)| {
        let fits = name == "weather__forecast"
            && ["Oslo", "Lima"].iter().any(|city| arguments.get("city") == Some(&json!(city)))
            && arguments.get("days").is_some_and(Value::is_u64);
        let arguments = Value::Object(arguments.clone());
        if fits { Ok(arguments) } else { Err(format!("unexpected tool use of {name} with {arguments}")) }
    });
    uses.collect()
}

/// Returns `request` with this reply of the model and a result for each of its tool uses appended.
pub(crate) fn request_with_results(request: ModelRequest, reply: ModelReply) -> ModelRequest {
    let results = reply.message.tool_uses().map(|(id, name, _)| MessagePart::ToolResult {
        id: id.to_owned(),
        name: name.to_owned(),
        parts: vec![MessagePart::text("sunny")],
        is_error: false,
    });
    let results = ModelMessage { role: Role::User, parts: results.collect() };
    let mut request = ModelRequest { tool_choice: ToolChoice::Auto, ..request };
    request.messages.extend([reply.message, results]);
    request
}
