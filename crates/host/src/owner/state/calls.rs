//! Calls under way, the results that wait for a review, and resources that were read.

use std::sync::Arc;

use offers::reads::Reads;
use rustc_hash::FxHashMap;

use crate::connection::Ticket;
use crate::owner::calls::{CallRecord, TicketUse};
use crate::owner::results::HeldResult;

/// Calls and their results.
#[derive(Default)]
pub(in crate::owner) struct CallTable {
    /// The calls under way, by id.
    pub(in crate::owner) records: FxHashMap<Arc<str>, Box<CallRecord>>,
    /// The meaning of each ticket that a connection has.
    pub(in crate::owner) tickets: FxHashMap<Ticket, TicketUse>,
    /// The results that wait for their review, by call.
    pub(in crate::owner) held_results: FxHashMap<String, HeldResult>,
    /// Resources that were read and are still fresh.
    pub(in crate::owner) reads: Reads,
}
