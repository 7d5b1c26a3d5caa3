//! Fuzz target: the decoder of JSON-RPC messages.

use bytes::Bytes;
use mcp_proto::jsonrpc::{MAX_BATCH_MESSAGES, MAX_REQUEST_ID_BYTES};
use mcp_proto::{IncomingMessage, InvalidMessage, RawJson, RequestId};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Maximum length, in characters, of the excerpt of an invalid message.
const MAX_EXCERPT_CHARS: usize = 200;

/// Tests the decoder of JSON-RPC messages with one line. The decoded message must agree with a JSON parser, and must be
/// equal after it was serialized and decoded again.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn message(data: &[u8]) {
    match IncomingMessage::decode(&Bytes::copy_from_slice(data)) {
        Ok(incoming) => {
            let text = std::str::from_utf8(data).expect("only UTF-8 is read");
            let text = text.trim().trim_start_matches('\u{feff}').trim();
            serde_json::from_str::<IgnoredAny>(text).expect("only JSON is read");
            if let Ok(value) = serde_json::from_str::<Value>(text) {
                assert_agrees_with_json(&incoming, &value);
            }
            let written = encode_message(&incoming);
            let again = IncomingMessage::decode(&Bytes::from(written.clone())).expect("what was written can be read");
            assert_eq!(encode_message(&again), written, "the message is unchanged after it was decoded again");
        }
        Err(invalid) => assert_excerpt_bounded(&invalid),
    }
}

/// Asserts that a decoded message has the same content as the JSON value of its line.
fn assert_agrees_with_json(incoming: &IncomingMessage, value: &Value) {
    let params_agree = |params: &Option<RawJson>| {
        if let Some(raw) = params
            && let Ok(read) = serde_json::from_str::<Value>(raw.get())
        {
            assert_eq!(read, value["params"], "the parameters");
        }
    };
    match incoming {
        IncomingMessage::Request { id, method, params } => {
            assert_eq!(json!(method), value["method"], "the method");
            assert_same_id(id, &value["id"]);
            params_agree(params);
        }
        IncomingMessage::Notification { method, params } => {
            assert_eq!(json!(method), value["method"], "the method");
            assert!(value.get("id").is_none(), "a message with an id and a method is a request");
            params_agree(params);
        }
        IncomingMessage::Response { id, result } => {
            assert_same_id(id, &value["id"]);
            match result {
                Ok(raw) => assert_eq!(serde_json::from_str::<Value>(raw.get()).unwrap(), value["result"], "the result"),
                Err(error) => assert_eq!(json!(error.code), value["error"]["code"], "the code"),
            }
        }
        IncomingMessage::ErrorWithoutId { error } => assert_eq!(json!(error.code), value["error"]["code"], "the code"),
        IncomingMessage::Batch(parts) => {
            let values = value.as_array().expect("a batch is an array");
            assert_eq!(parts.len(), values.len(), "the batch has the same number of messages");
            assert!(parts.len() <= MAX_BATCH_MESSAGES, "{} messages in a batch", parts.len());
            for (part, value) in parts.iter().zip(values) {
                match part {
                    Ok(part) => assert_agrees_with_json(part, value),
                    Err(invalid) => assert_excerpt_bounded(invalid),
                }
            }
        }
    }
}

fn assert_same_id(id: &RequestId, value: &Value) {
    match id {
        RequestId::Number(number) => assert_eq!(value.as_i64(), Some(*number), "the id"),
        RequestId::Text(text) => {
            assert_eq!(value.as_str(), Some(text.as_str()), "the id");
            assert!(text.len() <= MAX_REQUEST_ID_BYTES, "an id of {} bytes", text.len());
        }
    }
}

fn assert_excerpt_bounded(invalid: &InvalidMessage) {
    // An escape sequence is longer than the character that it represents.
    assert!(
        invalid.excerpt.chars().count() <= MAX_EXCERPT_CHARS + 12,
        "{} characters",
        invalid.excerpt.chars().count()
    );
    assert!(!invalid.excerpt.contains(char::is_control), "controls are escaped: {:?}", invalid.excerpt);
    let words = invalid.cause.to_string();
    assert!(words.len() <= 8 * 1024, "a cause of {} bytes", words.len());
}

fn encode_message(incoming: &IncomingMessage) -> String {
    let params = |params: &Option<RawJson>| match params {
        Some(raw) => format!(r#","params":{}"#, raw.get()),
        None => String::new(),
    };
    match incoming {
        IncomingMessage::Request { id, method, params: own } => {
            format!(r#"{{"jsonrpc":"2.0","id":{},"method":{}{}}}"#, json!(id), json!(method), params(own))
        }
        IncomingMessage::Notification { method, params: own } => {
            format!(r#"{{"jsonrpc":"2.0","method":{}{}}}"#, json!(method), params(own))
        }
        IncomingMessage::Response { id, result: Ok(raw) } => {
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, json!(id), raw.get())
        }
        IncomingMessage::Response { id, result: Err(error) } => {
            format!(r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#, json!(id), json!(error))
        }
        IncomingMessage::ErrorWithoutId { error } => format!(r#"{{"jsonrpc":"2.0","error":{}}}"#, json!(error)),
        IncomingMessage::Batch(parts) => {
            let parts: Vec<String> =
                parts.iter().map(|part| part.as_ref().map_or_else(|_| "{}".to_owned(), encode_message)).collect();
            format!("[{}]", parts.join(","))
        }
    }
}
