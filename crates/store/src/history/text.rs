//! The words of an item that a search finds: what was said and called, and what came back. No pictures, and nothing that is
//! there for a provider or a program alone.

use serde_json::Value;

/// How much of an item's text a search finds, in bytes.
const MAX_TEXT: usize = 32 << 10;

/// Members whose text people read.
const READ: [&str; 9] = ["text", "name", "title", "description", "uri", "server", "tool", "prompt", "error"];
/// Members that hold others that people read.
const HOLDS: [&str; 8] = ["content", "contents", "parts", "result", "attachments", "prompt", "error", "found"];

/// The text of an item's body that a search finds, one piece to a line. An item of a newer version has what it shares with this
/// one.
#[must_use]
pub(super) fn text_of(body: &Value) -> String {
    let mut text = String::new();
    said(body, &mut text);
    text
}

fn said(value: &Value, text: &mut String) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| said(value, text)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(words) if READ.contains(&name.as_str()) => add(words, text),
                    Value::Object(_) if name == "arguments" => every(value, text),
                    Value::Object(_) | Value::Array(_) if HOLDS.contains(&name.as_str()) => said(value, text),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// Every text in a value, such as in the arguments of a call.
fn every(value: &Value, text: &mut String) {
    match value {
        Value::String(words) => add(words, text),
        Value::Array(values) => values.iter().for_each(|value| every(value, text)),
        Value::Object(members) => members.values().for_each(|value| every(value, text)),
        _ => {}
    }
}

fn add(words: &str, text: &mut String) {
    let room = MAX_TEXT.saturating_sub(text.len() + 1);
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
    fn what_people_read_is_found_and_nothing_else() {
        let message = json!({
            "kind": "message", "role": "user", "prompt": {"server": "harbour", "prompt": "plan", "arguments": {"city": "Bergen"}},
            "content": [{"type": "text", "text": "港口"}, {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}],
        });
        assert_eq!(text_of(&message), "harbour\nplan\nBergen\n港口", "what is said and where from, and no bytes");
        let call = json!({
            "kind": "tool_call", "call": "call-7", "server": "harbour", "tool": "berth", "arguments": {"ship": ["Statsraad"]},
            "result": {"content": [{"type": "text", "text": "pier 4"}], "structured": {"pier": "four"}, "arguments": {}},
            "error": null,
        });
        assert_eq!(text_of(&call), "harbour\nberth\nStatsraad\npier 4", "what was called and came back");
        let reply = json!({"kind": "reply", "model": {"provider": "p", "model": "m"}, "parts": [
            {"type": "thinking", "text": "hm", "opaque": {"signature": "zzz"}},
            {"type": "text", "text": "Bergen it is"},
            {"type": "tool_use", "id": "1", "key": "harbour__berth", "server": null, "tool": null, "arguments": "{\"a\":"},
        ]});
        assert_eq!(text_of(&reply), "hm\nBergen it is", "what a model said, and not what its provider gets back");
        assert_eq!(text_of(&json!({"kind": "later", "shape": [1]})), "", "what is not known says nothing");
    }

    #[test]
    fn what_is_found_is_bounded() {
        let long = "ä".repeat(MAX_TEXT);
        let text = text_of(
            &json!({"kind": "message", "content": [{"type": "text", "text": long}, {"type": "text", "text": "end"}]}),
        );
        assert!(text.len() <= MAX_TEXT && text.len() > MAX_TEXT - 8, "it ends at the bound: {}", text.len());
    }
}
