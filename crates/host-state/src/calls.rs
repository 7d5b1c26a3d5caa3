//! Calls in progress, results that wait for a review, tools of shown MCP apps, and cached resources.

mod call_origin;
mod call_record;
mod call_request;
mod input_wait;
mod pending_result;

pub use call_origin::CallOrigin;
pub use call_record::{CallRecord, CallTicketPurpose};
pub use call_record::{CallReply, NewCall};
pub use call_record::{PendingCallWork, SentCall, SentNotifier};
pub use call_request::CallRequest;
pub use input_wait::InputWait;
pub use pending_result::ResultUnderReview;
pub use pending_result::{ResultOrigin, ResultReviewVerdict};

use std::sync::Arc;

use domain::call::{CallFailure, CallKind, CallState, ServerCall};
use domain::consent_request::{ConsentRequestOrigin, ConsentRequestOutcome};
use offers::resource_cache::ResourceCache;
use rustc_hash::FxHashMap;

use crate::app_tools::{AppToolTable, AppTools};
use crate::{CallTicket, RunId};

/// Maximum number of calls in progress over all servers.
const MAX_CALLS_IN_PROGRESS: usize = 1_000;

/// The calls in progress, results that wait for review, tools of shown MCP apps, and cached resources.
#[derive(Default)]
pub struct CallTable {
    /// Calls in progress, by id.
    pub records: FxHashMap<Arc<str>, Box<CallRecord>>,
    /// Purpose of each request that was sent to a connection, by ticket.
    pub tickets: FxHashMap<CallTicket, CallTicketPurpose>,
    /// Results that wait for the user's review, by id of the call that returned them.
    pub held_results: FxHashMap<String, ResultUnderReview>,
    /// Tools of shown MCP apps that models may call.
    pub app_tools: AppToolTable,
    /// Cached contents of resources.
    pub reads: ResourceCache,
}

impl CallTable {
    /// Checks that a new call with this id can be registered.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::IdInUse`] if a call in progress has this id, and [`CallFailure::Busy`] if there are too
    /// many calls.
    pub fn check_new_call(&self, id: &str, server: &str) -> Result<(), CallFailure> {
        if self.records.contains_key(id) {
            return Err(CallFailure::IdInUse(id.to_owned()));
        }
        if self.records.len() >= MAX_CALLS_IN_PROGRESS {
            return Err(CallFailure::Busy { server: server.to_owned() });
        }
        Ok(())
    }

    /// Removes and returns a call when the symbolic links in its path arguments have been resolved. `number` identifies
    /// this run of the resolution. Returns `None` if the call was cancelled meanwhile, even if a new call has the same
    /// id.
    pub fn take_call_after_path_resolution(&mut self, id: &str, number: u64) -> Option<Box<CallRecord>> {
        self.records.get(id).filter(|record| record.pending.following == Some(number))?;
        let mut record = self.records.remove(id)?;
        record.pending.following = None;
        Some(record)
    }

    /// Removes and returns a call when its audit entry has been written. `write_id` identifies this write. Returns
    /// `None` if the call was cancelled meanwhile, even if a new call has the same id.
    pub fn take_call_after_audit_write(&mut self, id: &str, write_id: u64) -> Option<Box<CallRecord>> {
        self.records.get(id).filter(|record| record.pending.writing == Some(write_id))?;
        let mut record = self.records.remove(id)?;
        record.pending.writing = None;
        Some(record)
    }

    /// Registers a call that was passed with this ticket to an app's task, which has not sent it to the page yet.
    pub fn register_call_passed_to_app(&mut self, mut record: Box<CallRecord>, run: RunId, ticket: CallTicket) {
        let id: Arc<str> = record.view.id.as_str().into();
        self.tickets.insert(ticket, CallTicketPurpose::Call { run, id: Arc::clone(&id) });
        record.ticket = Some((run, ticket));
        self.records.insert(id, record);
    }

    /// Removes and returns the tools of a shown MCP app, and instructs the app to cancel the running calls of them.
    /// Returns `None` if they are not turned on.
    pub fn turn_off_app_tools(&mut self, view: &str) -> Option<AppTools> {
        let tools = self.app_tools.remove(view)?;
        for record in self.records.values().filter(|record| record.app.as_ref().is_some_and(|app| app.view == view)) {
            if let Err(failure) = record.cancel_in_app() {
                tracing::warn!(%failure, "a call of an app's tool continues after the tools were turned off");
            }
        }
        Some(tools)
    }

    /// Returns `true` if a call waits for the user's approval.
    pub fn awaits_approval(&self, id: &str) -> bool {
        self.records.get(id).is_some_and(|record| record.view.state == CallState::AwaitingApproval)
    }

    /// Returns the tickets of the requests that were sent to the connection of this run.
    pub fn tickets_of_run(&self, run: RunId) -> Vec<CallTicket> {
        self.tickets.iter().filter(|(_, ticket)| ticket.run() == run).map(|(ticket, _)| *ticket).collect()
    }

    /// Returns the originator of a call in progress, or `None` without a call.
    pub fn origin_of_call(&self, call: Option<&str>) -> Option<&CallOrigin> {
        call.and_then(|id| self.records.get(id)).map(|record| &record.origin)
    }

    /// Returns the origin of the consent request for a server's request. `call` is the id of the call during which the
    /// server sent its request, if known.
    pub fn consent_origin(&self, call: Option<&str>) -> ConsentRequestOrigin {
        call.and_then(|id| self.records.get(id)).map_or(ConsentRequestOrigin::Server, |record| {
            ConsentRequestOrigin::Call {
                call: record.view.id.clone(),
                kind: record.view.kind,
                name: record.view.name.clone(),
                conversation: record.view.conversation.clone(),
            }
        })
    }

    /// Returns the id of the server's only running call whose request has this method, or `None` if there is no such
    /// call or more than one.
    pub fn only_running_call_with_method(&self, server: &str, method: &str) -> Option<String> {
        let kind = match method {
            "tools/call" => CallKind::Tool,
            "prompts/get" => CallKind::Prompt,
            "resources/read" => CallKind::Resource,
            _ => return None,
        };
        let is_it =
            |call: &ServerCall| (call.server.as_str(), call.kind, call.state) == (server, kind, CallState::Running);
        // A call that an app received is not known to the server.
        let mut running = self.records.values().filter(|record| record.app.is_none() && is_it(&record.view));
        let only = running.next().filter(|_| running.next().is_none())?;
        Some(only.view.id.clone())
    }

    /// Returns the number of the call's current round, in which the server requests input. If the call is not waiting
    /// for input, a new round starts and is counted first.
    pub fn advance_input_round(&mut self, call: &str) -> Option<u32> {
        let record = self.records.get_mut(call)?;
        if record.view.state != CallState::AwaitingInput {
            record.requested_input.rounds += 1;
        }
        Some(record.requested_input.rounds)
    }

    /// Returns the id of the call that was sent with this ticket, or `None` if the ticket belongs to another request.
    pub fn call_of_ticket(&self, ticket: CallTicket) -> Option<String> {
        match self.tickets.get(&ticket) {
            Some(CallTicketPurpose::Call { id, .. }) => Some(id.to_string()),
            _ => None,
        }
    }

    /// Drops the result of a call because the user denied or dismissed its review, and sends the verdict to the task
    /// that runs the model. If the user dismissed the review, the verdict also stops that task.
    pub fn withhold_result(&mut self, call: &str, outcome: ConsentRequestOutcome, by: String) {
        let Some(ResultUnderReview { reply, .. }) = self.held_results.remove(call) else { return };
        let stops = outcome == ConsentRequestOutcome::Cancelled;
        let verdict = if stops { ResultReviewVerdict::Stops(by) } else { ResultReviewVerdict::Withheld(by) };
        // The model's run may have ended already.
        let _ = reply.send(verdict);
    }
}

#[cfg(test)]
mod tests;
