//! Formatter for readable JSON: a value is written on one line if it is short enough, so that definitions take few
//! lines.

use serde_json::Value;

/// Maximum length of a line with several values, in bytes. A consent request displays a line of this length without a
/// line break. Most properties of an input schema are shorter. The page joins lines up to the same length
/// (`ui/src/consent/tool-definition.ts`).
const MAX_JSON_LINE_BYTES: usize = 120;

/// Formats a value as JSON. A value that is too long for one line is split into its members.
pub(super) fn format_readable_json(value: &Value) -> String {
    let mut text = String::new();
    write_readable_json(value, 0, 0, &mut text);
    text
}

/// Appends a value to `text`. `column` is its position in the line, in bytes. The members of a split value are indented
/// by `depth` levels.
fn write_readable_json(value: &Value, depth: usize, column: usize, text: &mut String) {
    let before = text.len();
    if try_write_json_on_one_line(value, before + MAX_JSON_LINE_BYTES.saturating_sub(column), text) {
        return;
    }
    text.truncate(before);
    let indent = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", depth));
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                indent(text, depth + 1);
                let name = format!("{}: ", Value::from(name.as_str()));
                text.push_str(&name);
                write_readable_json(member, depth + 1, 2 * (depth + 1) + name.len(), text);
            }
            indent(text, depth);
            text.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                indent(text, depth + 1);
                write_readable_json(item, depth + 1, 2 * (depth + 1), text);
            }
            indent(text, depth);
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

/// Appends a value without line breaks. Returns `false` if `text` would become longer than `end` bytes.
fn try_write_json_on_one_line(value: &Value, end: usize, text: &mut String) -> bool {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (at, (name, member)) in members.iter().enumerate() {
                text.push_str(if at == 0 { "{ " } else { ", " });
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                if text.len() > end || !try_write_json_on_one_line(member, end, text) {
                    return false;
                }
            }
            text.push_str(" }");
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "[" } else { ", " });
                if text.len() > end || !try_write_json_on_one_line(item, end, text) {
                    return false;
                }
            }
            text.push(']');
        }
        Value::String(long) if text.len() + long.len() > end => return false,
        other => text.push_str(&other.to_string()),
    }
    text.len() <= end
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn short_json_values_share_one_line() {
        let tool = json!({
            "name": "add",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": { "type": "number", "title": "First number", "description": "Any number." },
                    "b": { "type": "number", "title": "Second", "description": "Any \"number\"." }
                },
                "required": ["a", "b"]
            },
            "outputSchema": { "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] }
        });
        let expected = r#"{
  "name": "add",
  "inputSchema": {
    "type": "object",
    "properties": {
      "a": { "type": "number", "title": "First number", "description": "Any number." },
      "b": { "type": "number", "title": "Second", "description": "Any \"number\"." }
    },
    "required": ["a", "b"]
  },
  "outputSchema": { "type": "object", "properties": { "sum": { "type": "number" } }, "required": ["sum"] }
}"#;
        assert_eq!(format_readable_json(&tool), expected, "short values should share a line");
    }

    #[test]
    fn formatted_json_parses_to_the_same_value() {
        let deep = (0..50).fold(json!("x".repeat(200)), |inner, at| json!({ format!("k{at}"): [inner, null, {}, []] }));
        for value in
            [deep, json!([]), json!({}), json!("line\nbreak"), json!([[1.5, true], "a".repeat(MAX_JSON_LINE_BYTES)])]
        {
            let back: Option<Value> = serde_json::from_str(&format_readable_json(&value)).ok();
            assert_eq!(back.as_ref(), Some(&value), "the text should parse to the same value");
        }
    }
}
