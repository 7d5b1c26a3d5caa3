//! How many questions a server may ask.

use std::collections::HashSet;

use mcp_proto::session::ServerRequestId;
use supervision::allowance::Allowance;
use supervision::limits::Limits;

/// The open questions of a server.
#[derive(Debug)]
pub(super) struct Questions {
    open: HashSet<ServerRequestId>,
    /// The most that are open at a time.
    most: usize,
    /// How many it may still ask now. Beyond that they are refused unseen: each one costs the owner and the audit log something,
    /// also when a rule answers it.
    left: Allowance,
    refused: u64,
    /// How many of those the owner was told of.
    told: u64,
}

impl Questions {
    pub(super) fn new(limits: &Limits) -> Self {
        let per_minute = limits.questions_per_minute;
        // So many in a row as come back in ten seconds.
        let left = Allowance::new(u64::from(per_minute / 6).max(1), f64::from(per_minute) / 60.0);
        Self { open: HashSet::new(), most: limits.questions as usize, left, refused: 0, told: 0 }
    }

    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Whether the server may ask this now; if so, it is open from now on.
    pub(super) fn open(&mut self, request: ServerRequestId) -> bool {
        let may = self.open.len() < self.most && self.left.take(1);
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

    /// How many were refused so far, if the owner does not know it yet.
    pub(super) fn refused_to_pass_on(&mut self) -> Option<u64> {
        let refused = (self.refused > self.told).then_some(self.refused);
        self.told = self.refused;
        refused
    }

    /// How many were refused so far, if it is time to tell it: the more there are, the rarer.
    pub(super) fn refused_to_tell(&self) -> Option<u64> {
        Some(self.refused).filter(|refused| refused.is_power_of_two())
    }
}
