//! Calls under way, the results that wait for a review, and resources that were read.

mod held_result;
mod origin;
mod record;
mod request;

pub(in crate::owner) use held_result::HeldResult;
pub use held_result::{ResultOrigin, ResultVerdict};
pub use origin::CallOrigin;
pub use record::Sent;
pub(in crate::owner) use record::{CallRecord, TicketUse};
pub(crate) use record::{CallReply, NewCall};
pub(in crate::owner) use request::CallRequest;

use std::sync::Arc;

use domain::call::{Call, CallFailure, CallKind, CallState};
use domain::question::{QuestionOutcome, Why};
use offers::reads::Reads;
use rustc_hash::FxHashMap;

use crate::connection::{RunId, Ticket};

/// The most calls under way at a time, over all servers.
const MAX_CALLS: usize = 1_000;

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

impl CallTable {
    /// Returns an error if a call can't begin: its id is in use, or too many calls are under way.
    pub(in crate::owner) fn may_begin(&self, id: &str, server: &str) -> Result<(), CallFailure> {
        if self.records.contains_key(id) {
            return Err(CallFailure::IdInUse(id.to_owned()));
        }
        if self.records.len() >= MAX_CALLS {
            return Err(CallFailure::Busy { server: server.to_owned() });
        }
        Ok(())
    }

    /// Takes out a call whose paths were followed under this number. A call that was cancelled, or another one with its id, stays.
    pub(in crate::owner) fn take_followed(&mut self, id: &str, number: u64) -> Option<Box<CallRecord>> {
        self.records.get(id).filter(|record| record.following == Some(number))?;
        let mut record = self.records.remove(id)?;
        record.following = None;
        Some(record)
    }

    /// Takes out a call whose entry was written under this number. A call that was cancelled, or another one with its id, stays.
    pub(in crate::owner) fn take_written(&mut self, id: &str, number: u64) -> Option<Box<CallRecord>> {
        self.records.get(id).filter(|record| record.writing == Some(number))?;
        let mut record = self.records.remove(id)?;
        record.writing = None;
        Some(record)
    }

    /// Returns true if a call waits for the user's approval.
    pub(in crate::owner) fn awaits_approval(&self, id: &str) -> bool {
        self.records.get(id).is_some_and(|record| record.view.state == CallState::AwaitingApproval)
    }

    /// The tickets of a run.
    pub(in crate::owner) fn tickets_of(&self, run: RunId) -> Vec<Ticket> {
        self.tickets.iter().filter(|(_, ticket)| ticket.run() == run).map(|(ticket, _)| *ticket).collect()
    }

    /// The cause of a consent request that came while this call was under way.
    pub(in crate::owner) fn why_of(&self, call: Option<&str>) -> Why {
        call.and_then(|id| self.records.get(id)).map_or(Why::Server, |record| Why::Call {
            call: record.view.id.clone(),
            kind: record.view.kind,
            name: record.view.name.clone(),
        })
    }

    /// The call that sent this method to the server, if there is only one that can have.
    pub(in crate::owner) fn sender_of(&self, server: &str, method: &str) -> Option<String> {
        let kind = match method {
            "tools/call" => CallKind::Tool,
            "prompts/get" => CallKind::Prompt,
            "resources/read" => CallKind::Resource,
            _ => return None,
        };
        let is_it = |call: &Call| (call.server.as_str(), call.kind, call.state) == (server, kind, CallState::Running);
        let mut running = self.records.values().filter(|record| is_it(&record.view));
        let only = running.next().filter(|_| running.next().is_none())?;
        Some(only.view.id.clone())
    }

    /// In which round a question is that a call led to: a call that waits for nothing begins a new one.
    pub(in crate::owner) fn round_of(&mut self, call: &str) -> Option<u32> {
        let record = self.records.get_mut(call)?;
        if record.view.state != CallState::AwaitingInput {
            record.round += 1;
        }
        Some(record.round)
    }

    /// The call a ticket stands for.
    pub(in crate::owner) fn call_of(&self, ticket: Ticket) -> Option<String> {
        match self.tickets.get(&ticket) {
            Some(TicketUse::Call { id, .. }) => Some(id.to_string()),
            _ => None,
        }
    }

    /// Leaves a result out.
    pub(in crate::owner) fn leave_result_out(&mut self, call: &str, outcome: QuestionOutcome, by: String) {
        let Some(HeldResult { reply, .. }) = self.held_results.remove(call) else { return };
        let stops = outcome == QuestionOutcome::Cancelled;
        let verdict = if stops { ResultVerdict::Stops(by) } else { ResultVerdict::LeftOut(by) };
        // The run may have ended.
        let _ = reply.send(verdict);
    }

    /// The conversation that led to a question.
    pub(in crate::owner) fn conversation_of(&self, why: &Why) -> Option<String> {
        match why {
            Why::User { conversation } => conversation.clone(),
            Why::Model { conversation, .. } => Some(conversation.clone()),
            Why::Call { call, .. } => self.records.get(call.as_str()).and_then(|call| call.view.conversation.clone()),
            Why::Server | Why::Ended { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
