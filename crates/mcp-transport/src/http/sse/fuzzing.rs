//! The reader of event streams, open to the fuzz targets in `tests/fuzz`. No other caller.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};

pub use super::events::Event;
use super::events::Events;

/// The events of a stream whose bytes arrive in `chunks`. Events larger than `limit` bytes are skipped.
///
/// None if the reader waits for more after the last chunk, or reports a fault: neither may happen.
#[must_use]
pub fn read(chunks: Vec<Bytes>, limit: usize) -> Option<Vec<Event>> {
    let mut events = Events::new(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)).boxed(), limit);
    let all = async {
        let mut read = Vec::new();
        while let Some(event) = events.next().await {
            read.push(event.ok()?);
        }
        Some(read)
    };
    all.now_or_never().flatten()
}
