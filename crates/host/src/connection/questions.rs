//! How many questions a server may ask.

use std::collections::HashSet;

use mcp_proto::session::ServerRequestId;
use tokio::time::Instant;

use super::MAX_QUESTIONS;

/// How many questions a server may ask in a row, and how many more each second. Beyond that they are refused unseen: each
/// one costs the owner and the audit log something, also when a rule answers it.
const AT_ONCE: f64 = 30.0;
const PER_SECOND: f64 = 3.0;

/// The open questions of a server.
#[derive(Debug)]
pub(super) struct Questions {
    open: HashSet<ServerRequestId>,
    /// How many it may still ask now, and since when that is.
    left: (f64, Instant),
    refused: u64,
}

impl Questions {
    pub(super) fn new() -> Self {
        Self { open: HashSet::new(), left: (AT_ONCE, Instant::now()), refused: 0 }
    }

    /// Whether the server may ask this now; if so, it is open from now on.
    pub(super) fn open(&mut self, request: ServerRequestId) -> bool {
        let may = self.open.len() < MAX_QUESTIONS && self.may_ask();
        if may {
            self.open.insert(request);
        } else {
            self.refused += 1;
        }
        may
    }

    /// Whether it was open; it is no longer.
    pub(super) fn close(&mut self, request: ServerRequestId) -> bool {
        self.open.remove(&request)
    }

    /// How many were refused so far, if it is time to tell it: the more there are, the rarer.
    pub(super) fn refused_to_tell(&self) -> Option<u64> {
        Some(self.refused).filter(|refused| refused.is_power_of_two())
    }

    fn may_ask(&mut self) -> bool {
        let (left, since) = self.left;
        let now = Instant::now();
        let left = (left + now.duration_since(since).as_secs_f64() * PER_SECOND).min(AT_ONCE);
        let may = left >= 1.0;
        self.left = (if may { left - 1.0 } else { left }, now);
        may
    }
}
