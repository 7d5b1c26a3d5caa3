//! Limits the number of requests that a server may send to the client. Used by the connections of `host`.

use std::collections::HashSet;

use crate::limits::ServerLimits;
use crate::token_bucket::TokenBucket;
use mcp_proto::session::ServerRequestId;

/// Limits the rate of the requests that one server sends, and the number of them that are pending.
#[derive(Debug)]
pub struct ServerRequestQuota {
    open: HashSet<ServerRequestId>,
    /// Maximum number of concurrently pending requests.
    most: usize,
    /// Limits the rate of requests. A request beyond the rate is refused without passing it to the owner in
    /// `host`, where even a request that a rule denies would cost time and an audit entry.
    left: TokenBucket,
    refused: u64,
    /// Total number of refused requests when [`Self::take_refused_total_if_changed`] last returned it.
    reported_refusals: u64,
}

/// Returns a full token bucket that limits the rate of consent requests. Its capacity is the number of requests that is
/// allowed in ten seconds.
#[must_use]
pub fn consent_request_rate_limit(limits: &ServerLimits) -> TokenBucket {
    let per_minute = limits.consent_requests_per_minute;
    TokenBucket::new(u64::from(per_minute / 6).max(1), f64::from(per_minute) / 60.0)
}

impl ServerRequestQuota {
    /// Creates the quota for one connection to a server. No requests are pending.
    #[must_use]
    pub fn new(limits: &ServerLimits) -> Self {
        let left = consent_request_rate_limit(limits);
        Self { open: HashSet::new(), most: limits.consent_requests as usize, left, refused: 0, reported_refusals: 0 }
    }

    /// Returns the number of pending requests.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.open.len()
    }

    /// Registers a request as pending. Returns `false` if the server exceeds a limit, so that the request must be
    /// refused.
    pub fn register(&mut self, request: ServerRequestId) -> bool {
        let may = self.open.len() < self.most && self.left.try_take(1);
        if may {
            self.open.insert(request);
        } else {
            self.refused += 1;
        }
        may
    }

    /// Removes a pending request. Returns `false` if it was not pending.
    pub fn remove(&mut self, request: ServerRequestId) -> bool {
        self.open.remove(&request)
    }

    /// Returns the total number of refused requests if it has changed since the last call, and otherwise `None`.
    pub fn take_refused_total_if_changed(&mut self) -> Option<u64> {
        let refused = (self.refused > self.reported_refusals).then_some(self.refused);
        self.reported_refusals = self.refused;
        refused
    }

    /// Returns the total number of refused requests if it is a power of two, in which case it should be logged.
    #[must_use]
    pub fn refused_total_to_log(&self) -> Option<u64> {
        Some(self.refused).filter(|refused| refused.is_power_of_two())
    }
}
