//! Server-sent events (WHATWG HTML, section 9.2), read with limits.
//!
//! `eventsource-stream` parses the events. It panics at a byte order mark, stalls at invalid UTF-8 and takes quadratic
//! time for long input, so the [`sse_normalizer`] normalizes its input.

pub mod fuzzing;
#[cfg(test)]
mod reference;
mod sse_events;
mod sse_normalizer;

pub(super) use sse_events::{EventStreamEnd, EventStreamFault, SseEvent, SseEvents};
