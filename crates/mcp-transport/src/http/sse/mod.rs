//! Server-sent events (WHATWG HTML, section 9.2), read with limits.
//!
//! `eventsource-stream` parses the events. It panics at a byte order mark, stalls at invalid UTF-8 and takes quadratic
//! time for long input, so the [`guard`] normalizes its input.

mod events;
pub mod fuzzing;
mod guard;
#[cfg(test)]
mod reference;

pub(super) use events::{SseEvent, SseEvents, StreamEnd, StreamFault};
