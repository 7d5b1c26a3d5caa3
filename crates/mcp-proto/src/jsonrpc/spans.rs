//! Where the large values inside of a value lie. Recorded while a message is checked, so that whoever reads
//! it passes them in one step.

use std::sync::Arc;

/// Smaller values are as quickly passed again.
const LARGE: usize = 64;
/// What lies deeper is passed with what it lies in. A list's result is an object (1) with an array (2) of
/// entries (3) with schemas (4).
const DEPTH: usize = 4;
/// How many are recorded; beyond that, values are passed bit by bit again.
const MOST: usize = 65_536;

/// One large value: an object, an array, or a string without escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// How far its first byte is from the first byte of the whole.
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    /// The same for what follows its last byte.
    pub(super) fn end(&self) -> usize {
        self.end as usize
    }
}

/// Is told of the values inside of one that is passed. Places count from the beginning of that.
pub(super) trait Recorder {
    /// A string without escapes, in so many objects and arrays.
    fn string(&mut self, depth: usize, start: usize, end: usize);
    /// An object or array begins, and is the so many'th that is open.
    fn opened(&mut self, depth: usize, start: usize);
    /// It has ended.
    fn closed(&mut self, depth: usize, end: usize);
}

/// Nothing is recorded.
impl Recorder for () {
    fn string(&mut self, _: usize, _: usize, _: usize) {}
    fn opened(&mut self, _: usize, _: usize) {}
    fn closed(&mut self, _: usize, _: usize) {}
}

/// The large values, sorted by where they begin.
#[derive(Debug, Default)]
pub(super) struct Spans {
    found: Vec<Span>,
    /// The places in `found` of the objects and arrays that are open.
    open: [Option<usize>; DEPTH + 1],
}

/// What was recorded of one value; shared by all that read it.
pub(super) type Large = Arc<Vec<Span>>;

impl Spans {
    /// What was found; `None` if that is nothing.
    pub(super) fn found(self) -> Option<Large> {
        (!self.found.is_empty()).then(|| Arc::new(self.found))
    }

    fn push(&mut self, start: usize, end: usize) -> Option<usize> {
        if self.found.len() == MOST {
            return None;
        }
        self.found.push(Span { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()? });
        Some(self.found.len() - 1)
    }
}

impl Recorder for Spans {
    #[inline]
    fn string(&mut self, depth: usize, start: usize, end: usize) {
        if end - start >= LARGE && depth <= DEPTH {
            self.push(start, end);
        }
    }

    #[inline]
    fn opened(&mut self, depth: usize, start: usize) {
        if depth <= DEPTH {
            self.open[depth] = self.push(start, start);
        }
    }

    #[inline]
    fn closed(&mut self, depth: usize, end: usize) {
        if depth > DEPTH {
            return;
        }
        let Some(at) = self.open[depth] else { return };
        match (self.found.get_mut(at), u32::try_from(end)) {
            (Some(span), Ok(end)) if (end - span.start) as usize >= LARGE => span.end = end,
            // Nothing inside of it was large either.
            _ => self.found.truncate(at),
        }
    }
}
