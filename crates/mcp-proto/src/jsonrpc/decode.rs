//! Decodes the bytes of a line into an [`IncomingMessage`], or returns the cause of its rejection.

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::envelope::MessageEnvelope;
use super::json_scanner::unquote;
use super::line_scan::{LineScan, parse_request_id, trim_received_line};
use super::{
    IncomingMessage, InvalidMessage, InvalidMessageCause, MAX_BATCH_MESSAGES, MAX_JSON_DEPTH, MAX_JSON_VALUES, RawJson,
    RpcError,
};

pub(super) fn decode(frame: &Bytes) -> Result<IncomingMessage, InvalidMessage> {
    let bytes = trim_received_line(frame);
    let Ok(text) = ByteString::try_from(frame.slice_ref(bytes)) else {
        return decode_batch_or_reject(&frame.slice_ref(bytes));
    };
    let Some(envelope) = MessageEnvelope::parse(&text) else { return decode_batch_or_reject(text.as_bytes()) };
    decode_message(&text, envelope).map_err(|cause| InvalidMessage::new(cause, bytes, &LineScan::scan(bytes)))
}

/// Decodes a received line that is not a valid JSON object: returns the batch if the line is an array of messages, or
/// the reason why the line is invalid.
fn decode_batch_or_reject(bytes: &Bytes) -> Result<IncomingMessage, InvalidMessage> {
    let found = LineScan::scan(bytes);
    let read = match validate_json_line(bytes, &found) {
        Ok(text) if bytes.first() == Some(&b'[') => decode_batch(&text, &found),
        Ok(text) => Err(serde_json::from_str::<IgnoredAny>(&text)
            .map_or_else(json_error_cause, |_| InvalidMessageCause::NotJson("the message could not be parsed".into()))),
        Err(cause) => Err(cause),
    };
    read.map_err(|cause| InvalidMessage::new(cause, bytes, &found))
}

/// Returns a received line as text. Returns the cause if the line is invalid because of its first byte or its encoding,
/// or according to `found`, the result of its scan.
fn validate_json_line(bytes: &Bytes, found: &LineScan) -> Result<ByteString, InvalidMessageCause> {
    match bytes.first() {
        None => return Err(InvalidMessageCause::Blank),
        Some(b'{' | b'[') => {}
        Some(_) => return Err(classify_non_object(bytes)),
    }
    let text =
        ByteString::try_from(bytes.clone()).map_err(|error| InvalidMessageCause::NotUtf8(error.valid_up_to()))?;
    if found.depth > MAX_JSON_DEPTH {
        return Err(InvalidMessageCause::TooDeep);
    }
    if found.values > MAX_JSON_VALUES {
        return Err(InvalidMessageCause::TooManyValues);
    }
    if let Some(byte) = found.control {
        return Err(InvalidMessageCause::ControlCharacter(byte));
    }
    if found.lone_surrogate {
        return Err(InvalidMessageCause::LoneSurrogate);
    }
    Ok(text)
}

fn classify_non_object(bytes: &[u8]) -> InvalidMessageCause {
    let starts = |prefix: &[u8]| bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if starts(b"content-length:") || starts(b"content-type:") {
        InvalidMessageCause::LspHeader
    } else if starts(b"http/") || starts(b"get / ") || starts(b"post / ") || starts(b"<!doctype html") {
        InvalidMessageCause::HttpText
    } else if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        InvalidMessageCause::NotAnObject
    } else {
        InvalidMessageCause::UnexpectedBanner
    }
}

fn decode_batch(text: &ByteString, found: &LineScan) -> Result<IncomingMessage, InvalidMessageCause> {
    if found.top_level_commas >= MAX_BATCH_MESSAGES {
        return Err(InvalidMessageCause::batch_too_long());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(json_error_cause)?;
    if parts.is_empty() {
        return Err(InvalidMessageCause::EmptyBatch);
    }
    Ok(IncomingMessage::Batch(parts.into_iter().map(|part| decode_batch_element(text, part.get())).collect()))
}

fn decode_batch_element(frame: &ByteString, text: &str) -> Result<IncomingMessage, InvalidMessage> {
    let read = match MessageEnvelope::parse(text) {
        Some(envelope) => decode_message(frame, envelope),
        None => Err(InvalidMessageCause::NotAnObject),
    };
    read.map_err(|cause| InvalidMessage::new(cause, text.as_bytes(), &LineScan::scan(text.as_bytes())))
}

/// Builds a message from its JSON-RPC members, which are slices of `text`.
fn decode_message(text: &ByteString, envelope: MessageEnvelope<'_>) -> Result<IncomingMessage, InvalidMessageCause> {
    if let Some(key) = envelope.duplicate {
        return Err(InvalidMessageCause::DuplicateKey(key.into()));
    }
    let two = |version: &str| version == "\"2.0\"" || unquote(version).as_deref() == Some("2.0");
    if !envelope.jsonrpc.is_some_and(two) {
        return Err(InvalidMessageCause::WrongVersion);
    }
    // Some serializers write absent fields as null, so a null result counts only if there is no error.
    let there = |field: Option<&str>| field.is_some_and(|raw| raw != "null");
    let error = envelope.error.filter(|_| there(envelope.error));
    let result = envelope.result.filter(|_| there(envelope.result) || error.is_none());
    let method = envelope.method.filter(|_| there(envelope.method) || (result.is_none() && error.is_none()));
    match (method, result, error) {
        (Some(method), None, None) => {
            let method = unquote(method).ok_or(InvalidMessageCause::BadMethod)?.into_owned();
            let params = envelope.params.filter(|_| there(envelope.params));
            let params = params.map(|raw| RawJson::new(text.slice_ref(raw), None));
            match envelope.id {
                None => Ok(IncomingMessage::Notification { method, params }),
                Some(id) => Ok(IncomingMessage::Request {
                    id: parse_request_id(id.as_bytes()).ok_or(InvalidMessageCause::BadId)?,
                    method,
                    params,
                }),
            }
        }
        (None, Some(result), None) => {
            let id = envelope.id.and_then(|id| parse_request_id(id.as_bytes())).ok_or(InvalidMessageCause::BadId)?;
            let result = RawJson::new(text.slice_ref(result), envelope.large.into_value_spans());
            Ok(IncomingMessage::Response { id, result: Ok(result) })
        }
        (None, None, Some(error)) => {
            let error: RpcError =
                serde_json::from_str(error).map_err(|error| InvalidMessageCause::BadError(error.to_string()))?;
            match envelope.id {
                Some(id) if id != "null" => Ok(IncomingMessage::Response {
                    id: parse_request_id(id.as_bytes()).ok_or(InvalidMessageCause::BadId)?,
                    result: Err(error),
                }),
                _ => Ok(IncomingMessage::ErrorWithoutId { error }),
            }
        }
        (None, None, None) => Err(InvalidMessageCause::NotAMessage),
        (Some(_), Some(_), _) => Err(InvalidMessageCause::Ambiguous("method", "result")),
        (Some(_), None, Some(_)) => Err(InvalidMessageCause::Ambiguous("method", "error")),
        (None, Some(_), Some(_)) => Err(InvalidMessageCause::Ambiguous("result", "error")),
    }
}

fn json_error_cause(error: serde_json::Error) -> InvalidMessageCause {
    InvalidMessageCause::NotJson(error.to_string())
}
