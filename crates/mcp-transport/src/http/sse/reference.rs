//! Simple implementation of the specification for complete streams, with which tests compare the reader (WHATWG HTML,
//! 9.2.5 and 9.2.6).

use std::time::Duration;

use super::SseEvent;

/// Parses a complete event stream by the rules of the specification, without limits.
pub(super) fn parse_sse_stream_without_limits(input: &[u8]) -> Vec<SseEvent> {
    let text = String::from_utf8_lossy(input).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut items = Vec::new();
    let (mut data, mut kind, mut id, mut retry) = (String::new(), String::new(), String::new(), None);
    let mut last_id = String::new();
    // Text after the last line terminator is not a line.
    let complete = text.rfind('\n').map_or("", |at| &text[..=at]);
    for line in complete.split_terminator('\n') {
        if line.is_empty() {
            items.extend(retry.take().map(SseEvent::Retry));
            if id != last_id {
                last_id.clone_from(&id);
                items.push(SseEvent::Id(id.clone()));
            }
            if data.pop().is_some() && !data.is_empty() {
                let kind = if kind.is_empty() { "message".to_owned() } else { kind.clone() };
                items.push(SseEvent::Data { kind, data: data.clone().into() });
            }
            data.clear();
            kind.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut kind),
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                retry = value.parse().ok().map(Duration::from_millis).or(retry);
            }
            _ => {}
        }
    }
    items
}
