//! The events of one stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use eventsource_stream::{EventStream, EventStreamError};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, Stream, StreamExt};

use super::guard::{Clean, Guard, TooLarge};

/// Events that are taken at once, if they have come already.
const AT_ONCE: usize = 64;
/// Their bytes.
const BYTES_AT_ONCE: usize = 1024 * 1024;

/// One thing that a stream says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// An event with data.
    Data {
        /// Its type; `message` if it names none.
        kind: String,
        data: Bytes,
    },
    /// The last event id from now on; empty if it was taken back.
    Id(String),
    /// How long to wait before connecting again, as the server wants it.
    Retry(Duration),
    /// An event beyond the limit was passed over. `head` is the beginning of its data.
    TooLarge { head: Bytes },
}

/// How a stream broke off.
#[derive(Debug)]
pub(crate) enum StreamFault<E> {
    /// Its bytes ended in an error.
    Body(E),
    /// It could not be read, which the guard should have prevented.
    Unreadable(String),
}

/// The events of a stream of bytes.
pub(crate) struct Events<E> {
    stream: EventStream<Guarded<E>>,
    last_id: String,
    /// What one event of the stream still has to say.
    rest: VecDeque<Event>,
}

impl<E: Send + 'static> Events<E> {
    /// `limit`: the largest event that is accepted, in bytes.
    pub(crate) fn new(bytes: BoxStream<'static, Result<Bytes, E>>, limit: usize) -> Events<E> {
        let guarded = Guarded { bytes: Some(bytes), guard: Guard::new(limit) };
        Events { stream: EventStream::new(guarded), last_id: String::new(), rest: VecDeque::new() }
    }

    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, StreamFault<E>>> {
        loop {
            if let Some(event) = self.rest.pop_front() {
                return Some(Ok(event));
            }
            match self.stream.next().await? {
                Ok(event) => self.split(event),
                Err(EventStreamError::Transport(Broken::TooLarge(TooLarge { head }))) => {
                    return Some(Ok(Event::TooLarge { head }));
                }
                Err(EventStreamError::Transport(Broken::Bytes(error))) => return Some(Err(StreamFault::Body(error))),
                Err(EventStreamError::Utf8(error)) => return Some(Err(StreamFault::Unreadable(error.to_string()))),
                Err(EventStreamError::Parser(error)) => {
                    return Some(Err(StreamFault::Unreadable(error.code.description().to_owned())));
                }
            }
        }
    }

    /// Waits for an event and takes those that have come with it. The end is told after them.
    pub(crate) async fn next_batch(&mut self) -> (Vec<Event>, Option<End<E>>) {
        let mut events = Vec::new();
        let mut bytes = 0;
        let mut next = Some(self.next().await);
        while let Some(event) = next {
            match event {
                None => return (events, Some(End::Ended)),
                Some(Err(fault)) => return (events, Some(End::Broken(fault))),
                Some(Ok(event)) => {
                    if let Event::Data { data, .. } = &event {
                        bytes += data.len();
                    }
                    events.push(event);
                }
            }
            next = if events.len() < AT_ONCE && bytes < BYTES_AT_ONCE { self.next().now_or_never() } else { None };
        }
        (events, None)
    }

    fn split(&mut self, event: eventsource_stream::Event) {
        if let Some(retry) = event.retry {
            self.rest.push_back(Event::Retry(retry));
        }
        if event.id != self.last_id {
            self.last_id.clone_from(&event.id);
            self.rest.push_back(Event::Id(event.id));
        }
        // An event without data only tells its id or a time (WHATWG: it is not dispatched).
        if !event.data.is_empty() {
            self.rest.push_back(Event::Data { kind: event.event, data: Bytes::from(event.data) });
        }
    }
}

/// Why no more events come.
#[derive(Debug)]
pub(crate) enum End<E> {
    /// The server ended the stream.
    Ended,
    /// It broke off.
    Broken(StreamFault<E>),
}

enum Broken<E> {
    Bytes(E),
    TooLarge(TooLarge),
}

/// The bytes of a stream behind the guard.
struct Guarded<E> {
    /// `None` at the end.
    bytes: Option<BoxStream<'static, Result<Bytes, E>>>,
    guard: Guard,
}

impl<E> Stream for Guarded<E> {
    type Item = Result<Bytes, Broken<E>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match self.guard.next() {
                Some(Clean::Line(line)) => return Poll::Ready(Some(Ok(line))),
                Some(Clean::TooLarge(too_large)) => return Poll::Ready(Some(Err(Broken::TooLarge(too_large)))),
                None => {}
            }
            let Some(bytes) = &mut self.bytes else { return Poll::Ready(None) };
            match std::task::ready!(bytes.poll_next_unpin(context)) {
                Some(Ok(chunk)) => self.guard.push(chunk),
                Some(Err(error)) => {
                    self.bytes = None;
                    return Poll::Ready(Some(Err(Broken::Bytes(error))));
                }
                None => self.bytes = None,
            }
        }
    }
}
