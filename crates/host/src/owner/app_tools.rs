//! Tools that shown apps (MCP Apps) provide to the model of their conversation: turned on by the user for one shown app,
//! and called only after the user's consent to each call. Used by `handle/apps.rs` and `calls`.

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallRefusal, ServerCall};
use host_state::AuditedDecision;
use mcp_apps::ToolMetadata;
use mcp_proto::session::{CallError, ClientRequest, ServerResult};
use mcp_proto::types::ListEntry;
use offers::definitions::tool_claims;
use policy::{
    ApprovalScope, DecisionReason, Hash, PolicyAct, PolicyDecision, ResolvedPaths, ReviewState, canonical_json,
    canonical_json_object,
};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::calls::CallDisposition;
use super::gate::AuthorizedPayload;
use super::state::{
    APP_TOOL_CALL_AUDIT_KIND, AppToolCommand, AppTools, CallOrigin, CallRecord, ReviewError, app_tool_call_hash,
    app_tool_subject, missing_app_failure,
};
use super::tool_filter::tool_filter_refusal;
use crate::connection::CallTicket;
use crate::view::ConsentRequestBody;

/// Value of the field `kind` in audit entries about turning on the tools of a shown app.
const APP_TOOLS_AUDIT_KIND: &str = "app-tools";
/// Error text for a call of an app's tool if the app was closed before the call was sent to its page.
const CALL_NOT_SENT_TO_CLOSED_APP: &str = "the call was not sent, since the app was closed";

impl Owner {
    /// Lets the model of a conversation use the tools of a shown app, as the user decided. The audit entry is written
    /// first. `hash` is the hash of the definitions that the user saw.
    pub(crate) fn turn_on_app_tools(
        &mut self,
        tools: AppTools,
        hash: &str,
        reply: oneshot::Sender<Result<(), ReviewError>>,
    ) {
        if !self.servers.records.contains_key(&tools.server) {
            // The caller may have stopped waiting, here and below.
            let _ = reply.send(Err(ReviewError::NotFound(tools.server)));
            return;
        }
        if tools.definitions_hash().as_str() != hash {
            let names = tools.tools.iter().map(|tool| tool.name.clone()).collect();
            let _ = reply.send(Err(ReviewError::Stale(names)));
            return;
        }
        let subject = app_tools_audit_subject(&tools);
        let decided = AuditedDecision {
            server: &tools.server,
            kind: APP_TOOLS_AUDIT_KIND,
            subject: &subject,
            decision: "allowed",
            by: self.options.decider_name,
            hash,
            conversation: Some(&tools.conversation),
            ..AuditedDecision::default()
        };
        let entry = self.make_audit_entry(decided);
        self.audit_entry_then(entry, move |owner, written| {
            let turned_on = written.map_err(|_| ReviewError::Audit);
            if turned_on.is_ok() {
                let (view, is_shown) = (tools.app.view.clone(), tools.is_shown());
                owner.calls.app_tools.insert(tools);
                if !is_shown {
                    // The app was closed meanwhile, which is in the audit log too.
                    owner.turn_off_app_tools(&view, false);
                }
            }
            let _ = reply.send(turned_on);
        });
    }

    /// Turns off the tools of a shown app, withdraws consent requests for calls of them, and cancels running calls.
    /// `by_user` is `false` if the app was closed or changed its tools, or its server's run ended.
    pub(crate) fn turn_off_app_tools(&mut self, view: &str, by_user: bool) {
        let Some(tools) = self.calls.turn_off_app_tools(view) else { return };
        self.audit_without_waiting(AuditedDecision {
            server: &tools.server,
            kind: APP_TOOLS_AUDIT_KIND,
            subject: &app_tools_audit_subject(&tools),
            decision: "revoked",
            by: if by_user { self.options.decider_name } else { "policy" },
            conversation: Some(&tools.conversation),
            ..AuditedDecision::default()
        });
        self.withdraw_requests_if(
            |pending| matches!(&pending.view.body, ConsentRequestBody::Tool { app: Some(app), .. } if app.view == view),
        );
    }

    /// Decides about a call of a tool that a shown app provides. A rule can deny it; otherwise it requires the user's
    /// consent, whatever the rules and grants allow, since such definitions can't be reviewed in advance.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] of a denied call, or of a call of a tool that does not exist or is not turned on.
    pub(super) fn decide_app_tool_call(
        &mut self,
        call: &ServerCall,
        origin: &CallOrigin,
        app: &ProvidingApp,
        (name, arguments): (&str, &Map<String, Value>),
        paths: &ResolvedPaths,
    ) -> Result<CallDisposition, CallFailure> {
        let (server, conversation) = (call.server.as_str(), call.conversation.as_deref());
        let found = self.calls.app_tools.tool(server, app, conversation, name).cloned();
        let tool = found.ok_or_else(|| missing_app_failure(app))?;
        let record = self.servers.records.get(server).ok_or_else(|| missing_app_failure(app))?;
        let hashed = || (app_tool_call_hash(app, &tool, arguments), canonical_json_object(arguments));
        let subject = app_tool_subject(app, name);
        let metadata = ToolMetadata::read(tool.meta.as_ref());
        if let Some((rule, reason)) = tool_filter_refusal(origin, &record.config.tools, name, &metadata) {
            self.audit_denied_call(call, origin, (APP_TOOL_CALL_AUDIT_KIND, &subject), hashed(), rule.into());
            return Err(CallFailure::refused(CallRefusal::NotOffered, reason));
        }
        let act = PolicyAct::CallTool {
            server,
            tool: name,
            grant_hash: &Hash::of_json(&json!(tool)),
            // Together with `asks_each_time`, so that nothing allows the call without consent, and only once.
            review_state: ReviewState::New,
            claims: tool_claims(&tool),
            asks_each_time: true,
            arguments,
            paths,
            after_untrusted: self.follows_untrusted_content(origin, server),
            conversation,
        };
        let reason = match self.permissions.policy.decide(&act, self.now()) {
            PolicyDecision::Deny { by, .. } => {
                self.audit_denied_call(call, origin, (APP_TOOL_CALL_AUDIT_KIND, &subject), hashed(), by.text());
                return Err(CallFailure::denied_by_rule(by.text()));
            }
            // Reasons that are about tools of the server.
            PolicyDecision::Ask {
                reason: DecisionReason::ToolAsksEachTime | DecisionReason::NewTool | DecisionReason::ToolChanged,
                ..
            }
            | PolicyDecision::Allow { .. } => DecisionReason::AppToolsAsk,
            PolicyDecision::Ask { reason, .. } => reason,
        };
        let body = ConsentRequestBody::Tool {
            arguments: arguments.clone(),
            app: Some(app.clone()),
            changed_since_allowed: false,
            read_only: Vec::new(),
            tool: Box::new(tool),
        };
        Ok(CallDisposition::Ask((body, reason, &[ApprovalScope::Once])))
    }

    /// Passes a permitted call to the task of the app that provides the tool. The caller is notified that the call was
    /// sent once the task has sent it to the app's page. A call that the task never sends is recorded as withdrawn.
    pub(super) fn send_call_to_app(
        &mut self,
        mut record: Box<CallRecord>,
        app: &ProvidingApp,
        request: AuthorizedPayload<ClientRequest>,
    ) -> Result<(), (Box<CallRecord>, CallFailure)> {
        let connection = self.servers.records.get(&record.view.server).and_then(|own| own.session.connection.as_ref());
        let (Some(run), ClientRequest::CallTool { name, arguments, .. }) =
            (connection.map(|connection| connection.run), request.into_inner())
        else {
            let server = record.view.server.clone();
            return Err((record, CallFailure::NotReady { server }));
        };
        let tool = self.calls.app_tools.tool(&record.view.server, app, record.view.conversation.as_deref(), &name);
        let Some(tool) = tool else { return Err((record, missing_app_failure(app))) };
        record.sent_call.definition = tool.output_schema.is_some().then(|| ListEntry::from(tool).raw().clone());
        let allowed = app_tool_call_hash(app, tool, &arguments);
        let (delivered, delivery) = oneshot::channel();
        let (reply, replied) = oneshot::channel();
        let command = AppToolCommand::Call { call: record.view.id.clone(), name, arguments, delivered, reply };
        match self.calls.app_tools.send_command(app, command) {
            Ok(commands) => record.app_commands = Some(commands),
            Err(failure) => return Err((record, failure)),
        }
        let ticket = CallTicket(self.events.next_unique_id());
        let (view, origin, app) = (record.view.clone(), record.origin.clone(), app.clone());
        self.calls.register_call_passed_to_app(record, run, ticket);
        self.run_concurrently(delivery, move |owner, delivery| {
            let is_sent = delivery.is_ok();
            if is_sent {
                owner.on_call_sent_to_app_page(ticket);
            } else {
                // The call itself may have ended before, for example with the run of the server.
                owner.audit_unsent_call(&view, &origin, Some(&app), &allowed);
            }
            owner.run_concurrently(replied, move |owner, replied| {
                let cause = if is_sent { "the app was closed" } else { CALL_NOT_SENT_TO_CLOSED_APP };
                let closed = || CallError::Undelivered { cause: cause.to_owned(), sent: is_sent };
                let result = replied.unwrap_or_else(|_| Err(closed()));
                owner.on_call_done(ticket, result.map(|result| ServerResult::Tool(Box::new(result))));
            });
        });
        Ok(())
    }
}

/// Returns the subject of audit entries about the tools of a shown app.
fn app_tools_audit_subject(AppTools { app, tools, .. }: &AppTools) -> String {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    canonical_json(&json!({ "app": app.tool, "tools": names }))
}
