//! Gives the fuzz targets in `tests/fuzz` access to the reader of event streams.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};

pub use super::sse_events::SseEvent;
use super::sse_events::SseEvents;

/// Returns the events of an event stream whose bytes arrive in `chunks`. Events larger than `limit` bytes are skipped.
///
/// Returns `None` if the reader waits after the last chunk or reports an error, which are both bugs.
#[must_use]
pub fn read_sse_events_of_chunks(chunks: Vec<Bytes>, limit: usize) -> Option<Vec<SseEvent>> {
    let mut events = SseEvents::new(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)).boxed(), limit);
    let all = async {
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            read.push(event.ok()?);
        }
        Some(read)
    };
    all.now_or_never().flatten()
}
