//! Fuzz target: the reader of event streams.

use bytes::Bytes;
use mcp_transport::http::sse_fuzzing::{SseEvent, read_sse_events_of_chunks};

/// Tests the parser of event streams (SSE). The first byte of `data` sets the size limit and where the stream is split
/// into chunks. The chunks must not change the events, and the events must be equal after they were serialized and
/// parsed again.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn sse(data: &[u8]) {
    let Some((first, stream)) = data.split_first() else { return };
    let limit = if *first < 128 { 1 << 20 } else { usize::from(*first) - 100 };
    let whole = parse_events(vec![Bytes::copy_from_slice(stream)], limit);
    let at = usize::from(*first).min(stream.len());
    let halves = vec![Bytes::copy_from_slice(&stream[..at]), Bytes::copy_from_slice(&stream[at..])];
    assert_eq!(
        without_excerpts(&parse_events(halves, limit)),
        without_excerpts(&whole),
        "the chunk boundary {at} does not change the events"
    );
    if stream.len() <= 512 {
        let single = stream.iter().map(|byte| Bytes::copy_from_slice(&[*byte])).collect();
        assert_eq!(
            without_excerpts(&parse_events(single, limit)),
            without_excerpts(&whole),
            "single bytes as chunks do not change the events"
        );
    }
    let mut bytes = 0;
    for event in &whole {
        match event {
            SseEvent::Data { kind, data } => {
                assert!(!data.is_empty() && std::str::from_utf8(data).is_ok(), "data is valid UTF-8");
                assert!(!kind.contains(['\n', '\r']), "a type is one line");
                bytes += data.len();
            }
            SseEvent::Id(id) => assert!(!id.contains(['\n', '\r', '\0']), "an id is one line"),
            SseEvent::Retry(_) => {}
            SseEvent::Oversized { head } => {
                // The limit applies to the decoded text, in which an invalid byte takes three bytes.
                assert!(3 * stream.len() > limit, "no event exceeds the limit");
                bytes += head.len();
            }
        }
    }
    // An invalid byte is replaced by three bytes.
    assert!(bytes <= 3 * stream.len(), "{bytes} bytes out of {}", stream.len());
    let events: Vec<SseEvent> =
        whole.into_iter().filter(|event| !matches!(event, SseEvent::Oversized { .. })).collect();
    assert_eq!(
        parse_events(vec![Bytes::from(serialize_events(&events))], 1 << 24),
        events,
        "the events are unchanged after they were serialized"
    );
}

fn parse_events(chunks: Vec<Bytes>, limit: usize) -> Vec<SseEvent> {
    read_sse_events_of_chunks(chunks, limit).expect("a stream has an end")
}

/// Returns the events without the excerpts of those that exceed the size limit. The excerpts depend on the chunks.
fn without_excerpts(events: &[SseEvent]) -> Vec<SseEvent> {
    let without = |event: &SseEvent| match event {
        SseEvent::Oversized { .. } => SseEvent::Oversized { head: Bytes::new() },
        other => other.clone(),
    };
    events.iter().map(without).collect()
}

fn serialize_events(events: &[SseEvent]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            SseEvent::Data { kind, data } => {
                text.push_str(&format!("event: {kind}\n"));
                for line in String::from_utf8_lossy(data).split('\n') {
                    text.push_str(&format!("data: {line}\n"));
                }
            }
            SseEvent::Id(id) => text.push_str(&format!("id: {id}\n")),
            SseEvent::Retry(time) => text.push_str(&format!("retry: {}\n", time.as_millis())),
            SseEvent::Oversized { .. } => {}
        }
        text.push('\n');
    }
    text
}
