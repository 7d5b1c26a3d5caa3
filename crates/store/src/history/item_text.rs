//! Extracts the searchable text of an item: messages, calls and results. Images, and values intended only for a
//! provider or a program, are omitted.

use serde_json::Value;

/// Maximum length of an item's searchable text, in bytes.
const MAX_SEARCHABLE_TEXT_BYTES: usize = 32 << 10;

/// Names of the members of an item's body whose text is shown to users and can be searched.
const SEARCHABLE_MEMBERS: [&str; 9] =
    ["text", "name", "title", "description", "uri", "server", "tool", "prompt", "error"];
/// Names of the members of an item's body that contain other members with searchable text.
const MEMBERS_CONTAINING_SEARCHABLE_TEXT: [&str; 8] =
    ["content", "contents", "parts", "result", "attachments", "prompt", "error", "found"];

/// Returns the searchable text of an item's body, with one line for each part. Of an item that a newer version has
/// written, only the known members are included.
#[must_use]
pub(super) fn searchable_text(body: &Value) -> String {
    let mut text = String::new();
    add_message_text(body, &mut text);
    text
}

fn add_message_text(value: &Value, text: &mut String) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| add_message_text(value, text)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(words) if SEARCHABLE_MEMBERS.contains(&name.as_str()) => {
                        append_searchable_text(words, text)
                    }
                    Value::Object(_) if name == "arguments" => append_all_strings_in_value(value, text),
                    Value::Object(_) | Value::Array(_)
                        if MEMBERS_CONTAINING_SEARCHABLE_TEXT.contains(&name.as_str()) =>
                    {
                        add_message_text(value, text)
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Adds all strings in a JSON value, for instance the arguments of a call.
fn append_all_strings_in_value(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => append_searchable_text(words, text),
        Value::Array(values) => values.iter().for_each(|value| append_all_strings_in_value(value, text)),
        Value::Object(members) => members.values().for_each(|value| append_all_strings_in_value(value, text)),
        _ => {}
    }
}

fn append_searchable_text(words: &str, text: &mut String) {
    let room = MAX_SEARCHABLE_TEXT_BYTES.saturating_sub(text.len() + 1);
    let end = words.floor_char_boundary(room);
    if end > 0 {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&words[..end]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn readable_text_is_indexed_only() {
        let message = json!({
            "kind": "message", "role": "user", "prompt": {"server": "harbour", "prompt": "plan", "arguments": {"city": "Bergen"}},
            "content": [{"type": "text", "text": "港口"}, {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}],
        });
        assert_eq!(
            searchable_text(&message),
            "harbour\nplan\nBergen\n港口",
            "texts and their origin must be included, but no bytes"
        );
        let call = json!({
            "kind": "tool_call", "call": "call-7", "server": "harbour", "tool": "berth", "arguments": {"ship": ["Statsraad"]},
            "result": {"content": [{"type": "text", "text": "pier 4"}], "structured": {"pier": "four"}, "arguments": {}},
            "error": null,
        });
        assert_eq!(
            searchable_text(&call),
            "harbour\nberth\nStatsraad\npier 4",
            "the call and its result must be included"
        );
        let reply = json!({"kind": "reply", "model": {"provider": "p", "model": "m"}, "parts": [
            {"type": "thinking", "text": "hm", "opaque": {"signature": "zzz"}},
            {"type": "text", "text": "Bergen it is"},
            {"type": "tool_use", "id": "1", "key": "harbour__berth", "server": null, "tool": null, "arguments": "{\"a\":"},
        ]});
        assert_eq!(
            searchable_text(&reply),
            "hm\nBergen it is",
            "the model's text must be included, but not data for its provider"
        );
        assert_eq!(searchable_text(&json!({"kind": "later", "shape": [1]})), "", "unknown members must be ignored");
    }

    #[test]
    fn indexed_text_is_bounded() {
        let long = "ä".repeat(MAX_SEARCHABLE_TEXT_BYTES);
        let text = searchable_text(
            &json!({"kind": "message", "content": [{"type": "text", "text": long}, {"type": "text", "text": "end"}]}),
        );
        assert!(
            text.len() <= MAX_SEARCHABLE_TEXT_BYTES && text.len() > MAX_SEARCHABLE_TEXT_BYTES - 8,
            "the text must end at the limit: {}",
            text.len()
        );
    }
}
