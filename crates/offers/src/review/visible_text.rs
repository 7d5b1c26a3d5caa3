//! Converts text of servers to the form that a model receives and the user sees: invisible characters are replaced by
//! their code points. Used by `chat` and by the review of results.

use std::borrow::Cow;
use std::fmt::Write as _;

use models::MessagePart;
use serde_json::Value;

use super::is_hidden;

/// Maximum nesting depth to which a schema is converted. Deeper parts are not changed. No provider accepts such
/// schemas.
const MAX_SCHEMA_DEPTH: usize = 64;

/// Replaces each character that is invisible or changes the text direction by its code point, such as `[U+202E]`.
#[must_use]
pub fn show_hidden_characters(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let joins = c == '\u{200d}' && is_emoji(before) && characters.peek().copied().is_some_and(is_emoji);
        if is_hidden(c) && !joins {
            // Writing to a String can't fail.
            let _ = write!(visible, "[U+{:04X}]", c as u32);
        } else {
            visible.push(c);
        }
        before = c;
    }
    Cow::Owned(visible)
}

/// Makes invisible characters in the text of a message part visible.
#[must_use]
pub fn show_hidden_characters_in_part(part: MessagePart) -> MessagePart {
    match part {
        MessagePart::Text(text) => MessagePart::Text(show_hidden_characters(&text).into_owned()),
        other => other,
    }
}

/// Returns `true` for emoji and for the variation selector that follows them. A joiner between two of them is
/// legitimate.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// Makes invisible characters in the titles, descriptions and comments of a JSON schema visible.
#[must_use]
pub fn show_hidden_characters_in_schema(schema: Value) -> Value {
    show_hidden_characters_in_schema_at_depth(schema, 0)
}

fn show_hidden_characters_in_schema_at_depth(schema: Value, depth: usize) -> Value {
    if depth > MAX_SCHEMA_DEPTH {
        return schema;
    }
    match schema {
        Value::Object(members) => {
            let visible = members.into_iter().map(|(name, value)| match value {
                Value::String(text) if matches!(name.as_str(), "description" | "title" | "$comment") => {
                    let text = show_hidden_characters(&text).into_owned();
                    (name, Value::String(text))
                }
                value => (name, show_hidden_characters_in_schema_at_depth(value, depth + 1)),
            });
            Value::Object(visible.collect())
        }
        Value::Array(list) => Value::Array(
            list.into_iter().map(|value| show_hidden_characters_in_schema_at_depth(value, depth + 1)).collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_are_made_visible_to_the_model() {
        assert_eq!(
            show_hidden_characters("a\u{e0041}b\u{202e}c"),
            "a[U+E0041]b[U+202E]c",
            "X10: hidden characters are replaced by their code points"
        );
        assert_eq!(
            show_hidden_characters("plain 漢字\n\ttext"),
            "plain 漢字\n\ttext",
            "text without hidden characters is unchanged"
        );
        assert_eq!(
            show_hidden_characters("👩\u{200d}🚀 a\u{200d}b"),
            "👩\u{200d}🚀 a[U+200D]b",
            "a joiner is only valid between emoji"
        );
        let schema = json!({"properties": {"x": {"description": "a\u{200b}b", "enum": ["a\u{200b}b"]}}});
        let expected = json!({"properties": {"x": {"description": "a[U+200B]b", "enum": ["a\u{200b}b"]}}});
        assert_eq!(
            show_hidden_characters_in_schema(schema),
            expected,
            "X10: descriptions are converted, and values remain unchanged"
        );
    }
}
