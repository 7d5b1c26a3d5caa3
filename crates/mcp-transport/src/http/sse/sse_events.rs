//! Reads the events of one event stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use eventsource_stream::{EventStream, EventStreamError};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, Stream, StreamExt};

use super::sse_normalizer::{OversizedSseEvent, SseNormalizer, SseNormalizerOutput};

/// Maximum number of events that [`SseEvents::next_batch`] returns.
const MAX_SSE_EVENTS_PER_BATCH: usize = 64;
/// Total size in bytes of a batch at which [`SseEvents::next_batch`] adds no further event to it.
const MAX_SSE_BYTES_PER_BATCH: usize = 1024 * 1024;

/// Item of an event stream: an event with data, or a change of the stream's state such as its last event ID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseEvent {
    /// An event with data.
    Data {
        /// Event type, or `message` if the event names none.
        kind: String,
        /// Data lines of the event, joined with `\n`.
        data: Bytes,
    },
    /// ID of the last event, which applies until the next `Id`. Empty if the server reset it.
    Id(String),
    /// Reconnection time that the server requests (`retry`).
    Retry(Duration),
    /// The reader skipped an event that exceeds the size limit.
    Oversized {
        /// First bytes of the skipped event's data.
        head: Bytes,
    },
}

/// Error that ended an event stream.
#[derive(Debug)]
pub(crate) enum EventStreamFault<E> {
    /// The HTTP body failed with this error.
    Body(E),
    /// The parser failed with this message, although the [`SseNormalizer`] should have removed what it rejects.
    Unreadable(String),
}

/// Reads the items of an event stream from a stream of bytes.
pub(crate) struct SseEvents<E> {
    stream: EventStream<NormalizedSseStream<E>>,
    last_id: String,
    /// Items of the last parsed event that were not returned yet.
    rest: VecDeque<SseEvent>,
}

impl<E: Send + 'static> SseEvents<E> {
    /// Creates a reader. `limit` is the maximum size of an event, in bytes.
    pub(crate) fn new(bytes: BoxStream<'static, Result<Bytes, E>>, limit: usize) -> SseEvents<E> {
        let guarded = NormalizedSseStream { bytes: Some(bytes), normalizer: SseNormalizer::new(limit) };
        SseEvents { stream: EventStream::new(guarded), last_id: String::new(), rest: VecDeque::new() }
    }

    /// Returns the next item of the event stream, or `None` at its end.
    pub(crate) async fn next(&mut self) -> Option<Result<SseEvent, EventStreamFault<E>>> {
        loop {
            if let Some(event) = self.rest.pop_front() {
                return Some(Ok(event));
            }
            match self.stream.next().await? {
                Ok(event) => self.queue_sse_events(event),
                Err(EventStreamError::Transport(NormalizedSseStreamError::Oversized(OversizedSseEvent { head }))) => {
                    return Some(Ok(SseEvent::Oversized { head }));
                }
                Err(EventStreamError::Transport(NormalizedSseStreamError::Bytes(error))) => {
                    return Some(Err(EventStreamFault::Body(error)));
                }
                Err(EventStreamError::Utf8(error)) => {
                    return Some(Err(EventStreamFault::Unreadable(error.to_string())));
                }
                Err(EventStreamError::Parser(error)) => {
                    return Some(Err(EventStreamFault::Unreadable(error.code.description().to_owned())));
                }
            }
        }
    }

    /// Waits for an item, and returns it with further items that are available without waiting. The second value is the
    /// reason why the stream ended, or `None` while it continues.
    pub(crate) async fn next_batch(&mut self) -> (Vec<SseEvent>, Option<EventStreamEnd<E>>) {
        let mut events = Vec::new();
        let mut bytes = 0;
        let mut next = Some(self.next().await);
        while let Some(event) = next {
            match event {
                None => return (events, Some(EventStreamEnd::Ended)),
                Some(Err(fault)) => return (events, Some(EventStreamEnd::Broken(fault))),
                Some(Ok(event)) => {
                    if let SseEvent::Data { data, .. } = &event {
                        bytes += data.len();
                    }
                    events.push(event);
                }
            }
            next = if events.len() < MAX_SSE_EVENTS_PER_BATCH && bytes < MAX_SSE_BYTES_PER_BATCH {
                self.next().now_or_never()
            } else {
                None
            };
        }
        (events, None)
    }

    fn queue_sse_events(&mut self, event: eventsource_stream::Event) {
        if let Some(retry) = event.retry {
            self.rest.push_back(SseEvent::Retry(retry));
        }
        if event.id != self.last_id {
            self.last_id.clone_from(&event.id);
            self.rest.push_back(SseEvent::Id(event.id));
        }
        // An event without data only sets the last event ID or the reconnection time (WHATWG: it is not dispatched).
        if !event.data.is_empty() {
            self.rest.push_back(SseEvent::Data { kind: event.event, data: Bytes::from(event.data) });
        }
    }
}

/// Reason why an event stream has no more events.
#[derive(Debug)]
pub(crate) enum EventStreamEnd<E> {
    /// The server ended the event stream.
    Ended,
    /// The event stream failed with this error.
    Broken(EventStreamFault<E>),
}

enum NormalizedSseStreamError<E> {
    Bytes(E),
    Oversized(OversizedSseEvent),
}

/// Byte stream whose chunks the [`SseNormalizer`] normalizes.
struct NormalizedSseStream<E> {
    /// Source of the bytes, or `None` after the source has ended.
    bytes: Option<BoxStream<'static, Result<Bytes, E>>>,
    normalizer: SseNormalizer,
}

impl<E> Stream for NormalizedSseStream<E> {
    type Item = Result<Bytes, NormalizedSseStreamError<E>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match self.normalizer.next() {
                Some(SseNormalizerOutput::Line(line)) => return Poll::Ready(Some(Ok(line))),
                Some(SseNormalizerOutput::Oversized(oversized)) => {
                    return Poll::Ready(Some(Err(NormalizedSseStreamError::Oversized(oversized))));
                }
                None => {}
            }
            let Some(bytes) = &mut self.bytes else { return Poll::Ready(None) };
            match std::task::ready!(bytes.poll_next_unpin(context)) {
                Some(Ok(chunk)) => self.normalizer.push(chunk),
                Some(Err(error)) => {
                    self.bytes = None;
                    return Poll::Ready(Some(Err(NormalizedSseStreamError::Bytes(error))));
                }
                None => self.bytes = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::convert::Infallible;

    use futures_util::stream;
    use proptest::prelude::*;
    use testkit::processes::thread_processor_time;

    use super::super::reference;
    use super::*;

    const TEST_EVENT_LIMIT_BYTES: usize = 1024 * 1024;

    /// Returns the items of a stream that consists of these chunks.
    fn read_sse_events(chunks: Vec<Vec<u8>>, limit: usize) -> Vec<SseEvent> {
        let bytes = stream::iter(chunks.into_iter().map(|chunk| Ok::<_, Infallible>(Bytes::from(chunk))));
        let mut events = SseEvents::new(bytes.boxed(), limit);
        let mut items = Vec::new();
        futures_util::FutureExt::now_or_never(async {
            while let Some(event) = events.next().await {
                items.push(event.unwrap());
            }
        })
        .unwrap();
        items
    }

    fn data_event(data: &'static str) -> SseEvent {
        SseEvent::Data { kind: "message".to_owned(), data: Bytes::from_static(data.as_bytes()) }
    }

    /// Asserts that the reader returns these items for every split of the input into two chunks, and for one chunk per
    /// byte.
    fn assert_parsed_events(input: &[u8], expected: &[SseEvent]) {
        for at in 0..=input.len() {
            let items = read_sse_events(vec![input[..at].to_vec(), input[at..].to_vec()], TEST_EVENT_LIMIT_BYTES);
            assert_eq!(items, expected, "{:?} cut at {at}", String::from_utf8_lossy(input));
        }
        let items = read_sse_events(input.iter().map(|byte| vec![*byte]).collect(), TEST_EVENT_LIMIT_BYTES);
        assert_eq!(items, expected, "{:?} byte by byte", String::from_utf8_lossy(input));
    }

    #[test]
    fn sse_byte_order_mark_and_every_line_ending_are_parsed() {
        assert_parsed_events(b"\xef\xbb\xbfdata: a\n\n", &[data_event("a")]);
        assert_parsed_events(
            b"data: a\r\rdata: b\r\n\r\ndata: c\n\n",
            &[data_event("a"), data_event("b"), data_event("c")],
        );
        assert_parsed_events(b"data: a\r\n\rdata: b\n\r\n", &[data_event("a"), data_event("b")]);
        assert_parsed_events(b"data: a\n\ndata: unfinished\n", &[data_event("a")]);
    }

    #[test]
    fn sse_comments_and_unknown_fields_are_ignored() {
        // [http-sse-ignore-comments]
        assert_parsed_events(b": ping\n\n:\n\ndata: a\n: inside\n\nfoo: bar\n\n", &[data_event("a")]);
    }

    #[test]
    fn sse_ids_and_retry_times_apply_without_data() {
        // [http-sse-priming-event] [http-sse-retry-field]
        assert_parsed_events(b"id: 7\ndata:\n\n", &[SseEvent::Id("7".into())]);
        assert_parsed_events(b"id: 7\n\n", &[SseEvent::Id("7".into())]);
        assert_parsed_events(b"retry: 1500\n\n", &[SseEvent::Retry(Duration::from_millis(1500))]);
        assert_parsed_events(
            b"id: 1\ndata: a\n\ndata: b\n\n",
            &[SseEvent::Id("1".into()), data_event("a"), data_event("b")],
        );
        assert_parsed_events(b"retry: +5\nid: a\0b\nretry: 1.5\nretry:\n\ndata: a\n\n", &[data_event("a")]);
    }

    #[test]
    fn invalid_utf8_in_sse_data_is_replaced() {
        assert_parsed_events(
            b"data: a\xffb\n\ndata: \xe6\xbc\xa2\n\n",
            &[data_event("a\u{fffd}b"), data_event("\u{6f22}")],
        );
    }

    #[test]
    fn data_lines_of_one_sse_event_are_joined() {
        let event = SseEvent::Data { kind: "x".into(), data: Bytes::from_static(b"a\n\nb") };
        assert_parsed_events(b"event: x\ndata: a\ndata\ndata: b\n\n", &[event]);
    }

    #[test]
    fn only_the_sse_event_beyond_the_limit_is_skipped() {
        let mut input = b"data: a\n\ndata: ".to_vec();
        input.extend(std::iter::repeat_n(b'x', 5000));
        input.extend(b"\ndata: more\n\ndata: b\n\n");
        for size in [1, 7, 4096, 100_000] {
            let items = read_sse_events(input.chunks(size).map(<[u8]>::to_vec).collect(), 1000);
            let [first, SseEvent::Oversized { head }, last] = &items[..] else { panic!("chunks of {size}: {items:?}") };
            assert_eq!(
                (first, last),
                (&data_event("a"), &data_event("b")),
                "the surrounding events must be read, in chunks of {size}"
            );
            assert!(head.starts_with(b" xxx"), "the beginning of the skipped event must be reported: {head:?}");
        }
        let comment: Vec<u8> = std::iter::once(b':').chain(std::iter::repeat_n(b'x', 5000)).collect();
        let items = read_sse_events(vec![comment], 1000);
        assert!(matches!(items[..], [SseEvent::Oversized { .. }]), "an endless comment must be skipped: {items:?}");
    }

    #[test]
    fn sse_parsing_takes_linear_time() {
        let line = |length: usize| {
            let mut input = b"data: ".to_vec();
            input.extend(std::iter::repeat_n(b'x', length));
            input.extend(b"\n\n");
            input.chunks(8 * 1024).map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let small = |count: usize| vec![b"data: a\n\n".repeat(count)];
        let many = |count: usize| vec![[b"data: a\n".repeat(count), b"\n".to_vec()].concat()];
        let time = |chunks: Vec<Vec<u8>>| {
            let before = thread_processor_time();
            assert!(!read_sse_events(chunks, 64 * 1024 * 1024).is_empty(), "the result must not be empty");
            thread_processor_time() - before
        };
        type SseChunks = Vec<Vec<u8>>;
        let shapes: [(&str, SseChunks, SseChunks); 3] = [
            ("one long line", line(1 << 18), line(1 << 21)),
            ("small events in one chunk", small(1 << 12), small(1 << 15)),
            ("many lines in one event", many(1 << 12), many(1 << 15)),
        ];
        for (what, short, long) in shapes {
            // With quadratic complexity, eight times the input takes 64 times as long.
            let (short, long) = (time(short), time(long));
            let most = short * 24 + Duration::from_millis(300);
            assert!(long < most, "{what}: {short:?}, and {long:?} for eight times as much");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_sse_input_parses_as_specified(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "data", ":", " ", "\n", "\r", "\r\n", "id", "retry", "event", "5", "+", "\0", "x", "\u{feff}",
                    "\u{6f22}", "data: a\n\n", "id: 1\n", "retry: 20\n", "\n\n", ": c\n", "event: endpoint\n",
                ]),
                0..24,
            ),
            bad in proptest::option::of(0_usize..60),
        ) {
            let mut input: Vec<u8> = pieces.concat().into_bytes();
            if let Some(at) = bad.filter(|at| *at < input.len()) {
                input[at] = 0xff;
            }
            let expected = reference::parse_sse_stream_without_limits(&input);
            for at in 0..=input.len() {
                let items = read_sse_events(vec![input[..at].to_vec(), input[at..].to_vec()], TEST_EVENT_LIMIT_BYTES);
                prop_assert_eq!(&items, &expected, "cut at {} of {:?}", at, &input);
            }
        }
    }
}
