//! State of a call in progress, and the purpose of the ticket of a request to a connection. Used by
//! `host/src/owner/calls` and `host/src/owner/audit.rs`.

use std::sync::Arc;

use domain::Millis;
use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallId, CallKind, CallState, ServerCall};
use mcp_proto::jsonrpc::RawJson;
use mcp_proto::session::{ClientRequest, ServerResult};
use policy::Hash;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::{CallOrigin, CallRequest, InputWait};
use crate::app_tools::{AppToolCommand, send_app_tool_command};
use crate::{CallTicket, RunId};

/// Result of a call, or the reason why it failed.
pub type CallReply = Result<ServerResult, CallFailure>;

/// Details of a call that its caller receives when the call is sent.
#[derive(Debug, Clone, Default)]
pub struct SentCall {
    /// Arguments as edited by the user, or `None` if the user did not edit them.
    pub edited: Option<Map<String, Value>>,
    /// Definition that the tool had when the call was sent, or `None` if it had no output schema. The definition can
    /// change during the call.
    pub definition: Option<RawJson>,
    /// Time during which the call waits for input that its server requests, which is updated until the call ends.
    pub input_wait: InputWait,
}

/// Sender that notifies a caller when the call is sent to its server or app. Dropped if the call is never sent.
pub type SentNotifier = oneshot::Sender<SentCall>;

/// A call that a caller requests from the host.
pub struct NewCall {
    /// Identifier, chosen by the caller and unique among the calls in progress.
    pub id: String,
    /// Name of the server that receives the call.
    pub server: String,
    /// Kind of the call: a tool, a prompt, or a resource.
    pub kind: CallKind,
    /// Name of the tool or prompt, or URI of the resource.
    pub name: String,
    /// Originator of the call.
    pub origin: CallOrigin,
    /// Shown MCP app that provides the tool and receives the call, or `None` if the server itself does.
    pub app: Option<ProvidingApp>,
    /// Request to send once the call is allowed.
    pub request: ClientRequest,
    /// Hash of the prompt's definition that was displayed to the user before the call, or `None` for other calls.
    pub shown: Option<String>,
    /// Id of an earlier call that the user repeats with this one, if any. Only considered for calls of a server's tools
    /// by the user.
    pub repeats: Option<CallId>,
    /// Sender that notifies the caller when the call is sent to its server, if the caller requires that.
    pub sent: Option<SentNotifier>,
}

/// Work outside of the owner's turns for which a call waits before it is sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct PendingCallWork {
    /// Number of the current resolution of symbolic links in the call's path arguments, or `None` if none is in
    /// progress. Results of earlier resolutions are ignored.
    pub following: Option<u64>,
    /// Id of the current write of the call's audit entry, or `None` if none is in progress.
    pub writing: Option<u64>,
}

/// Input that a server requests during a call.
#[derive(Debug)]
pub struct RequestedInput {
    /// Number of rounds so far in which the server requested input.
    pub rounds: u32,
    /// Time during which the call waits for input. The caller receives a clone of it.
    pub wait: InputWait,
}

/// State of a call in progress.
pub struct CallRecord {
    /// Public state of the call, for observers.
    pub view: ServerCall,
    /// Originator of the call.
    pub origin: CallOrigin,
    /// Shown MCP app that provides the tool and receives the call, or `None` if the server itself does.
    pub app: Option<ProvidingApp>,
    /// Request to send, or `None` after it was sent.
    pub request: Option<CallRequest>,
    /// Hash of the requested prompt's definition, or `None` if the prompt is not listed by the server.
    pub requested_prompt: Option<Hash>,
    /// Details that the caller receives when the call is sent.
    pub sent_call: SentCall,
    /// Sender that notifies the caller when the call is sent to its server, if the caller requires that.
    pub sent: Option<SentNotifier>,
    /// Input that the server requests during the call.
    pub requested_input: RequestedInput,
    /// Run and ticket under which the call was sent to the connection or passed to the task of an app, or `None` before
    /// that and after the call ended.
    pub ticket: Option<(RunId, CallTicket)>,
    /// Sender of commands to the task of the app to which the call was passed, or `None` before that and for calls of
    /// servers.
    /// Retained here, since a call continues after the app's tools are turned off.
    pub app_commands: Option<mpsc::Sender<AppToolCommand>>,
    /// Set if the called tool's annotations contained `openWorldHint: true` when the call was sent, or an app received
    /// the call.
    pub open_world: bool,
    /// [`ports::WrittenAuditEntry::position`] of the latest audit entry about the call, or 0 if there is none.
    pub entry_position: u64,
    /// Work outside of the owner's turns for which the call waits before it is sent.
    pub pending: PendingCallWork,
    /// Result of the call, if it arrived before the call's audit entry is durable. It is passed on once the entry is
    /// durable.
    pub held: Option<Result<ServerResult, CallFailure>>,
    /// Sender for the result of the call.
    pub reply: oneshot::Sender<CallReply>,
}

impl CallRecord {
    /// Creates the record of a new call, which neither the policy nor the user has allowed or denied yet.
    pub fn new(call: NewCall, started_at: Millis, reply: oneshot::Sender<CallReply>) -> Self {
        let NewCall { id, server, kind, name, origin, app, request, shown: _, repeats, sent } = call;
        let can_repeat = kind == CallKind::Tool && app.is_none() && matches!(origin, CallOrigin::User { .. });
        let view = ServerCall {
            id,
            server,
            kind,
            name,
            app: app.as_ref().map(|app| app.tool.clone()),
            started_at,
            state: CallState::AwaitingApproval,
            progress: None,
            task: None,
            conversation: origin.conversation().map(str::to_owned),
            repeatable_until: None,
        };
        let wait = InputWait::default();
        Self {
            view,
            origin,
            app,
            request: Some(CallRequest::new(request, repeats.filter(|_| can_repeat))),
            requested_prompt: None,
            sent_call: SentCall { input_wait: wait.clone(), ..SentCall::default() },
            sent,
            requested_input: RequestedInput { rounds: 0, wait },
            ticket: None,
            app_commands: None,
            open_world: false,
            entry_position: 0,
            pending: PendingCallWork::default(),
            held: None,
            reply,
        }
    }

    /// Sets the state of the call for observers.
    pub fn set_state(&mut self, state: CallState) {
        self.view.state = state;
        self.requested_input.wait.set_waiting(state == CallState::AwaitingInput);
    }

    /// Sets the call to running, and notifies the caller that the call was sent.
    pub fn mark_sent_and_notify(&mut self) {
        self.set_state(CallState::Running);
        if let Some(sent) = self.sent.take() {
            // The caller may have stopped waiting.
            let _ = sent.send(std::mem::take(&mut self.sent_call));
        }
    }

    /// Instructs the app that received the call to cancel it. Returns `false` if no app received the call.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Busy`] if too many commands wait for the app. If the app is closed, the call ends anyway.
    pub fn cancel_in_app(&self) -> Result<bool, CallFailure> {
        let (Some(app), Some(commands)) = (&self.app, &self.app_commands) else { return Ok(false) };
        let cancelled = send_app_tool_command(
            (&self.view.server, app),
            commands,
            AppToolCommand::Cancel { call: self.view.id.clone() },
        );
        match cancelled {
            Err(CallFailure::NotFound(_)) => Ok(true),
            cancelled => cancelled.map(|()| true),
        }
    }
}

/// The purpose of a request that was sent to a connection under a ticket.
pub enum CallTicketPurpose {
    /// A call that observers see, with a [`CallRecord`].
    Call {
        /// Run of the server that received the call.
        run: RunId,
        /// Identifier of the call.
        id: Arc<str>,
    },
    /// A request that observers don't see: a completion, a subscription, or a log level.
    Plain {
        /// Run of the server that received the request.
        run: RunId,
        /// Name of the server.
        server: String,
        /// Sender for the result of the request.
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    },
}

impl CallTicketPurpose {
    /// Returns the run that the ticket belongs to.
    pub const fn run(&self) -> RunId {
        match self {
            Self::Call { run, .. } | Self::Plain { run, .. } => *run,
        }
    }
}
