//! Converts content from servers to message parts that a model reads. The review of a result displays these parts, the
//! gate hashes them (`host/src/owner/gate.rs`), and conversations send them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::item::{Content, ResourceContents, ToolResult};
use models::MessagePart;
use serde_json::{Value, json};

use super::visible_text::show_hidden_characters_in_part;

/// Converts a tool result to message parts. Structured content is only included if there is no text, since servers send
/// the same content in both.
#[must_use]
pub fn result_parts(result: &ToolResult) -> Vec<MessagePart> {
    unescaped_result_parts(result).into_iter().map(show_hidden_characters_in_part).collect()
}

/// Converts a tool result to message parts without making invisible characters visible.
pub fn unescaped_result_parts(result: &ToolResult) -> Vec<MessagePart> {
    let has_text = result.content.iter().any(|content| matches!(content, Content::Text { .. }));
    let mut parts: Vec<MessagePart> = result.content.iter().map(unescaped_content_part).collect();
    if let Some(structured) = result.structured.as_ref().filter(|_| !has_text) {
        parts.push(MessagePart::Text(structured.to_string()));
    }
    if let Some(problem) = &result.structured_problem {
        parts.push(MessagePart::Text(format!("(These data do not match the output schema of the tool: {problem})")));
    }
    if parts.is_empty() {
        parts.push(MessagePart::text("(nothing)"));
    }
    parts
}

/// Converts one content block of a result or message to a message part, in which invisible characters are made visible.
#[must_use]
pub fn content_part(content: &Content) -> MessagePart {
    show_hidden_characters_in_part(unescaped_content_part(content))
}

fn unescaped_content_part(content: &Content) -> MessagePart {
    match content {
        Content::Text { text } => MessagePart::Text(text.clone()),
        Content::Image { data, mime_type } | Content::Audio { data, mime_type } => {
            unescaped_binary_data_part("content", mime_type, data)
        }
        Content::ResourceLink { uri, name, description, .. } => {
            let description = description.as_deref().map(|words| format!(": {words}")).unwrap_or_default();
            MessagePart::Text(format!("[Resource {name:?} at {uri}{description}]"))
        }
        Content::Resource { contents } => unescaped_resource_contents_part(contents),
        Content::Unknown { json } => MessagePart::Text(json.to_string()),
    }
}

/// Converts the contents of one resource to a message part, in which invisible characters are made visible.
#[must_use]
pub fn resource_contents_part(contents: &ResourceContents) -> MessagePart {
    show_hidden_characters_in_part(unescaped_resource_contents_part(contents))
}

/// Converts the contents of one resource without making invisible characters visible.
fn unescaped_resource_contents_part(contents: &ResourceContents) -> MessagePart {
    match (&contents.text, &contents.blob) {
        (Some(text), _) => MessagePart::Text(text.clone()),
        (None, Some(blob)) => {
            let mime = contents.mime_type.as_deref().unwrap_or("application/octet-stream");
            unescaped_binary_data_part(&contents.uri, mime, blob)
        }
        (None, None) => MessagePart::Text("(empty)".to_owned()),
    }
}

/// Converts base64 data to a message part according to its media type. Textual data becomes text, in which invisible
/// characters are made visible.
#[must_use]
pub fn binary_data_part(name: &str, mime: &str, data: &str) -> MessagePart {
    show_hidden_characters_in_part(unescaped_binary_data_part(name, mime, data))
}

/// Converts base64 data to a message part without making invisible characters visible.
fn unescaped_binary_data_part(name: &str, mime: &str, data: &str) -> MessagePart {
    let Ok(bytes) = STANDARD.decode(data) else {
        return MessagePart::Text(format!("(the content of {name:?} can't be read)"));
    };
    let kind = mime.split(['/', ';']).next().unwrap_or_default();
    match kind {
        "image" if !mime.starts_with("image/svg") => MessagePart::Image { mime: mime.to_owned(), data: bytes.into() },
        "audio" => MessagePart::Audio { mime: mime.to_owned(), data: bytes.into() },
        _ => match decode_if_text(mime, bytes) {
            Ok(text) => MessagePart::Text(text),
            Err(bytes) => MessagePart::File { name: name.to_owned(), mime: mime.to_owned(), data: bytes.into() },
        },
    }
}

/// Decodes data as text if the media type is textual, or if the type is unspecified and the bytes are valid UTF-8.
fn decode_if_text(mime: &str, bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    let is_text = mime.starts_with("text/")
        || ["json", "xml", "yaml", "toml", "javascript", "svg"].iter().any(|word| mime.contains(word));
    let is_open = mime.is_empty() || mime.starts_with("application/octet-stream");
    if !(is_text || is_open) || bytes.contains(&0) {
        return Err(bytes);
    }
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

/// Returns the content of a result that a model would read, as JSON for hashing and for the audit log. `app` names the
/// tool of the server whose app provides the called tool, if an app does. Texts are verbatim, binary data is replaced
/// by its SHA-256.
pub fn result_content_json((tool, app): (&str, Option<&str>), parts: &[MessagePart], is_error: bool) -> Value {
    let bytes = |kind: &str, name: &str, mime: &str, data: &[u8]| json!({ kind: name, "mime": mime, "sha256": policy::Hash::of_bytes(data).as_str() });
    let parts: Vec<Value> = parts
        .iter()
        .map(|part| match part {
            MessagePart::Text(text) => json!({ "text": text }),
            MessagePart::Image { mime, data } => bytes("image", "", mime, data),
            MessagePart::Audio { mime, data } => bytes("audio", "", mime, data),
            MessagePart::File { name, mime, data } => bytes("file", name, mime, data),
            // Results contain none of these parts.
            other @ (MessagePart::Thinking { .. } | MessagePart::ToolUse { .. } | MessagePart::ToolResult { .. }) => {
                json!({ "other": format!("{other:?}") })
            }
        })
        .collect();
    let mut content = json!({ "tool": tool, "isError": is_error, "result": parts });
    if let Some(app) = app {
        content["app"] = json!(app);
    }
    content
}
