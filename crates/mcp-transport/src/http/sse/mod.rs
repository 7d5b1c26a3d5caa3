//! Server-sent events (WHATWG HTML, section 9.2), read with bounds.
//!
//! The events are put together by `eventsource-stream`. Alone it panics at a byte order mark, stalls at
//! invalid UTF-8 and takes quadratic time for long input, so the [`guard`] stands in front of it.

mod events;
pub mod fuzzing;
mod guard;
#[cfg(test)]
mod reference;

pub(super) use events::{End, Event, Events, StreamFault};
