//! Limits the number of requests that a server may send to its client.

use std::collections::HashSet;

use mcp_proto::session::ServerRequestId;
use supervision::limits::ServerLimits;
use supervision::token_bucket::TokenBucket;

/// The pending requests of a server.
#[derive(Debug)]
pub(super) struct ServerRequestQuota {
    open: HashSet<ServerRequestId>,
    /// Maximum number of pending requests.
    most: usize,
    /// Allowance for further requests. Requests beyond it are refused without reaching the owner, since each one costs
    /// the owner and the audit log something even if a rule decides it.
    left: TokenBucket,
    refused: u64,
    /// Number of refused requests last reported to the owner.
    told: u64,
}

impl ServerRequestQuota {
    pub(super) fn new(limits: &ServerLimits) -> Self {
        let per_minute = limits.questions_per_minute;
        // The burst is the number of requests that are replenished in ten seconds.
        let left = TokenBucket::new(u64::from(per_minute / 6).max(1), f64::from(per_minute) / 60.0);
        Self { open: HashSet::new(), most: limits.questions as usize, left, refused: 0, told: 0 }
    }

    /// Returns the number of pending requests.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Registers a request as pending. Returns `false` if the server is over its limits.
    pub(super) fn register(&mut self, request: ServerRequestId) -> bool {
        let may = self.open.len() < self.most && self.left.try_take(1);
        if may {
            self.open.insert(request);
        } else {
            self.refused += 1;
        }
        may
    }

    /// Removes a pending request. Returns `false` if it was not pending.
    pub(super) fn remove(&mut self, request: ServerRequestId) -> bool {
        self.open.remove(&request)
    }

    /// Returns the total number of refused requests, or `None` if the owner knows it already.
    pub(super) fn take_refused_total(&mut self) -> Option<u64> {
        let refused = (self.refused > self.told).then_some(self.refused);
        self.told = self.refused;
        refused
    }

    /// Returns the total number of refused requests if it should be logged. The interval doubles each time.
    pub(super) fn refused_total_to_log(&self) -> Option<u64> {
        Some(self.refused).filter(|refused| refused.is_power_of_two())
    }
}
