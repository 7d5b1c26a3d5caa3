//! Positions of large values inside a JSON value, recorded while a message is validated, so that later scans skip each
//! large value in one step.

use std::sync::Arc;

/// Minimum length in bytes of a JSON value whose position is recorded. Smaller values are as fast to scan again.
const MIN_RECORDED_VALUE_BYTES: usize = 64;
/// Maximum nesting depth of a value whose position is recorded. A list's result is an object (1) with an array (2) of
/// entries (3) with schemas (4). Deeper values are skipped with the value that contains them.
const MAX_RECORDED_DEPTH: usize = 4;
/// Maximum number of JSON values in one message whose positions are recorded. Later scans cannot skip any further
/// value.
const MAX_RECORDED_VALUES: usize = 65_536;

/// Position of one large JSON value: an object, an array, or a string without escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueSpan {
    start: u32,
    end: u32,
}

impl ValueSpan {
    /// Returns the offset of the value's first byte within the scanned value.
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    /// Returns the offset after the value's last byte within the scanned value.
    pub(super) fn end(&self) -> usize {
        self.end as usize
    }
}

/// Callbacks for the JSON values nested in a scanned value. All offsets are relative to the scanned value.
pub(super) trait JsonValueRecorder {
    /// Called for a string without escapes. `depth` is the number of enclosing containers.
    fn on_string(&mut self, depth: usize, start: usize, end: usize);
    /// Called at the beginning of a container. `depth` includes the container itself.
    fn on_container_start(&mut self, depth: usize, start: usize);
    /// Called at the end of a container, with the depth of its beginning.
    fn on_container_end(&mut self, depth: usize, end: usize);
}

/// Recorder that ignores all values.
impl JsonValueRecorder for () {
    fn on_string(&mut self, _: usize, _: usize, _: usize) {}
    fn on_container_start(&mut self, _: usize, _: usize) {}
    fn on_container_end(&mut self, _: usize, _: usize) {}
}

/// Recorder that stores the positions of large JSON values, sorted by start offset.
#[derive(Debug, Default)]
pub(super) struct LargeValueSpanRecorder {
    found: Vec<ValueSpan>,
    /// For each depth, the index in `found` of the object or array that is open at that depth.
    open: [Option<usize>; MAX_RECORDED_DEPTH + 1],
}

/// Recorded positions of the large values in one JSON value. Clones share them.
pub(super) type LargeValueSpans = Arc<Vec<ValueSpan>>;

impl LargeValueSpanRecorder {
    /// Returns the recorded positions of large values, or `None` if there are none.
    pub(super) fn into_value_spans(self) -> Option<LargeValueSpans> {
        (!self.found.is_empty()).then(|| Arc::new(self.found))
    }

    fn push(&mut self, start: usize, end: usize) -> Option<usize> {
        if self.found.len() == MAX_RECORDED_VALUES {
            return None;
        }
        self.found.push(ValueSpan { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? });
        Some(self.found.len() - 1)
    }
}

impl JsonValueRecorder for LargeValueSpanRecorder {
    #[inline]
    fn on_string(&mut self, depth: usize, start: usize, end: usize) {
        if end - start >= MIN_RECORDED_VALUE_BYTES && depth <= MAX_RECORDED_DEPTH {
            self.push(start, end);
        }
    }

    #[inline]
    fn on_container_start(&mut self, depth: usize, start: usize) {
        if depth <= MAX_RECORDED_DEPTH {
            self.open[depth] = self.push(start, start);
        }
    }

    #[inline]
    fn on_container_end(&mut self, depth: usize, end: usize) {
        if depth > MAX_RECORDED_DEPTH {
            return;
        }
        let Some(at) = self.open[depth] else { return };
        match (self.found.get_mut(at), u32::try_from(end)) {
            (Some(span), Ok(end)) if (end - span.start) as usize >= MIN_RECORDED_VALUE_BYTES => span.end = end,
            // A container below the minimum length has no large value inside either.
            _ => self.found.truncate(at),
        }
    }
}
