//! From the bytes of a line to an [`Incoming`], with a named cause for each way to go wrong.

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::survey::{Survey, read_id, trim};
use super::{Incoming, InvalidCause, InvalidMessage, MAX_BATCH, MAX_DEPTH, MAX_VALUES, RawJson, RpcError};

pub(super) fn decode(frame: &Bytes) -> Result<Incoming, InvalidMessage> {
    let bytes = &frame.slice_ref(trim(frame));
    let found = Survey::of(bytes);
    let read = match check(bytes, &found) {
        Ok(text) if bytes.first() == Some(&b'[') => batch(&text, &found),
        Ok(text) => message(&text, &text),
        Err(cause) => Err(cause),
    };
    read.map_err(|cause| InvalidMessage::new(cause, bytes, &found))
}

/// What can be said before parsing.
fn check(bytes: &Bytes, found: &Survey) -> Result<ByteString, InvalidCause> {
    match bytes.first() {
        None => return Err(InvalidCause::Blank),
        Some(b'{' | b'[') => {}
        Some(_) => return Err(not_even_json(bytes)),
    }
    let text = ByteString::try_from(bytes.clone()).map_err(|error| InvalidCause::NotUtf8(error.valid_up_to()))?;
    if found.depth > MAX_DEPTH {
        return Err(InvalidCause::TooDeep);
    }
    if found.values > MAX_VALUES {
        return Err(InvalidCause::TooManyValues);
    }
    if let Some(byte) = found.control {
        return Err(InvalidCause::ControlCharacter(byte));
    }
    if found.lone_surrogate {
        return Err(InvalidCause::LoneSurrogate);
    }
    Ok(text)
}

fn not_even_json(bytes: &[u8]) -> InvalidCause {
    let starts = |prefix: &[u8]| bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if starts(b"content-length:") || starts(b"content-type:") {
        InvalidCause::LspHeader
    } else if starts(b"http/") || starts(b"get / ") || starts(b"post / ") || starts(b"<!doctype html") {
        InvalidCause::HttpText
    } else if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        InvalidCause::NotAnObject
    } else {
        InvalidCause::UnexpectedBanner
    }
}

fn batch(text: &ByteString, found: &Survey) -> Result<Incoming, InvalidCause> {
    if found.top_level_commas >= MAX_BATCH {
        return Err(InvalidCause::batch_too_long());
    }
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(broken)?;
    if parts.is_empty() {
        return Err(InvalidCause::EmptyBatch);
    }
    Ok(Incoming::Batch(parts.into_iter().map(|part| element(text, part.get())).collect()))
}

fn element(frame: &ByteString, text: &str) -> Result<Incoming, InvalidMessage> {
    let read = if text.starts_with('{') { message(frame, text) } else { Err(InvalidCause::NotAnObject) };
    read.map_err(|cause| InvalidMessage::new(cause, text.as_bytes(), &Survey::of(text.as_bytes())))
}

/// Reads `text`, a part of `frame`.
fn message(frame: &ByteString, text: &str) -> Result<Incoming, InvalidCause> {
    let body = |raw: &RawValue| RawJson::new(frame.slice_ref(raw.get()));
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(broken)?;
    if let Some(key) = envelope.duplicate {
        return Err(InvalidCause::DuplicateKey(key.into()));
    }
    if envelope.jsonrpc.and_then(string).as_deref() != Some("2.0") {
        return Err(InvalidCause::WrongVersion);
    }
    // Some serializers write absent fields as null. A result of null is one only without an error.
    let there = |field: Option<&'_ RawValue>| field.is_some_and(|raw| raw.get() != "null");
    let error = envelope.error.filter(|_| there(envelope.error));
    let result = envelope.result.filter(|_| there(envelope.result) || error.is_none());
    let method = envelope.method.filter(|_| there(envelope.method) || (result.is_none() && error.is_none()));
    match (method, result, error) {
        (Some(method), None, None) => {
            let method = string(method).ok_or(InvalidCause::BadMethod)?;
            let params = envelope.params.filter(|_| there(envelope.params)).map(body);
            match envelope.id {
                None => Ok(Incoming::Notification { method, params }),
                Some(id) => Ok(Incoming::Request {
                    id: read_id(id.get().as_bytes()).ok_or(InvalidCause::BadId)?,
                    method,
                    params,
                }),
            }
        }
        (None, Some(result), None) => {
            let id = envelope.id.and_then(|id| read_id(id.get().as_bytes())).ok_or(InvalidCause::BadId)?;
            Ok(Incoming::Response { id, result: Ok(body(result)) })
        }
        (None, None, Some(error)) => {
            let error: RpcError =
                serde_json::from_str(error.get()).map_err(|error| InvalidCause::BadError(error.to_string()))?;
            match envelope.id {
                Some(id) if id.get() != "null" => Ok(Incoming::Response {
                    id: read_id(id.get().as_bytes()).ok_or(InvalidCause::BadId)?,
                    result: Err(error),
                }),
                _ => Ok(Incoming::ErrorWithoutId { error }),
            }
        }
        (None, None, None) => Err(InvalidCause::NotAMessage),
        (Some(_), Some(_), _) => Err(InvalidCause::Ambiguous("method", "result")),
        (Some(_), None, Some(_)) => Err(InvalidCause::Ambiguous("method", "error")),
        (None, Some(_), Some(_)) => Err(InvalidCause::Ambiguous("result", "error")),
    }
}

fn broken(error: serde_json::Error) -> InvalidCause {
    InvalidCause::NotJson(error.to_string())
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// The fields of a message, unparsed. Unknown ones are passed over.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    duplicate: Option<&'static str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Envelope<'de>, M::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let (name, slot) = match key.as_ref() {
                "jsonrpc" => ("jsonrpc", &mut envelope.jsonrpc),
                "id" => ("id", &mut envelope.id),
                "method" => ("method", &mut envelope.method),
                "params" => ("params", &mut envelope.params),
                "result" => ("result", &mut envelope.result),
                "error" => ("error", &mut envelope.error),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if slot.replace(map.next_value()?).is_some() {
                envelope.duplicate = Some(name);
            }
        }
        Ok(envelope)
    }
}
