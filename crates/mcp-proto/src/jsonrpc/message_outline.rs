//! Classifies a message by its beginning, for callers that display messages without acting on them.

use std::borrow::Cow;

use super::json_scanner::JsonScanner;

/// Id, method and kind of a JSON-RPC message, read from the beginning of its text. The rest is not read and may be
/// invalid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageOutline<'a> {
    /// Raw JSON of the id, or `None` if the message has no id.
    pub id: Option<&'a str>,
    /// Method of a request or notification.
    pub method: Option<Cow<'a, str>>,
    /// `true` if the message is an error response.
    pub is_error: bool,
}

impl<'a> MessageOutline<'a> {
    /// Parses `text`, which may be truncated, only as far as needed to determine the kind of the message.
    ///
    /// Returns `None` if `text` is not an object, or ends or becomes invalid before the kind of the message is known.
    pub fn parse(text: &'a str) -> Option<MessageOutline<'a>> {
        let mut scan = JsonScanner::new(text);
        let mut outline = MessageOutline::default();
        let mut more = scan.open_container(b'{', b'}')?;
        while more {
            let key = scan.consume_key()?.unescape()?;
            match &*key {
                "id" => outline.id = Some(scan.consume_value()?),
                "method" if scan.peek() == Some(b'"') => outline.method = Some(scan.consume_string()?.unescape()?),
                "result" if outline.id.is_some() && outline.method.is_none() => return Some(outline),
                "error" if !scan.consume_null() => {
                    outline.is_error = true;
                    if outline.id.is_some() {
                        return Some(outline);
                    }
                    scan.consume_value()?;
                }
                "error" => {}
                _ => drop(scan.consume_value()?),
            }
            if outline.id.is_some() && outline.method.is_some() {
                return Some(outline);
            }
            more = scan.consume_separator(b'}')?;
        }
        Some(outline)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn message_outline_is_parsed_from_its_beginning() {
        for (text, id, method, is_error) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"#, Some("1"), None, false),
            (r#"{"jsonrpc":"2.0","error":{"code":1},"id":"x"}"#, Some("\"x\""), None, true),
            (r#"{"error":null,"result":{},"id":"x"}"#, Some("\"x\""), None, false),
            (r#"{"id":1,"method":"ping","params":{"#, Some("1"), Some("ping"), false),
            (r#"{"method":"p\u0069ng","params":{}}"#, None, Some("ping"), false),
        ] {
            let outline = MessageOutline::parse(text).unwrap();
            assert_eq!((outline.id, outline.method.as_deref(), outline.is_error), (id, method, is_error), "{text}");
        }
        for text in ["", "[]", "{", r#"{"result":{"a":"#, "banner"] {
            assert_eq!(MessageOutline::parse(text), None, "{text:?} cannot be classified");
        }
    }
}
