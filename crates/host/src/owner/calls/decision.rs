//! Decisions about calls: checks a call, applies the policy, and then sends the call, requests consent, or refuses the
//! call. Used by `calls.rs`, and by `audit.rs` once the audit entry of a call is written. `gate.rs` (for tools) and
//! `dispatch.rs` (for prompts) look up the definition again, and refuse the call if it changed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallKind, CallRefusal, CallState, ServerCall};
use host_state::AuditedDecision;
use mcp_proto::session::ClientRequest;
use offers::catalog::CatalogListKind;
use offers::definitions::DefinitionDigest;
use policy::{ApprovalScope, DecisionSource, Hash, PolicyAct, PolicyDecision, ResolvedPaths, ReviewState};

use super::{CallConsentRequest, CallDisposition};
use crate::owner::Owner;
use crate::owner::gate::SendPermit;
use crate::owner::path_links::{resolve_links, unresolved_paths};
use crate::owner::state::{CallOrigin, CallRecord, CallRequest, NewCall, RequestPurpose, tool_review_state};
use crate::owner::tool_filter::tool_filter_refusal;
use crate::view::{ConsentRequestBody, ServerState};

impl Owner {
    /// Decides about a call. If rules depend on paths in its arguments, symbolic links in these paths are resolved
    /// first. For `prompts/get`, `shown` is the hash of the prompt's definition that the user saw, otherwise `None`.
    pub(super) fn resolve_paths_and_decide(&mut self, mut record: Box<CallRecord>, shown: Option<String>) {
        let paths = match record.request.as_ref().map(CallRequest::get) {
            Some(ClientRequest::CallTool { name, arguments, .. }) => {
                self.paths_in_call(&record.view.server, name, arguments)
            }
            _ => BTreeSet::new(),
        };
        if paths.is_empty() {
            let facts = self.servers.records.get(&record.view.server).map(|server| unresolved_paths(&server.config));
            return self.decide_resolved_call(record, &facts.unwrap_or_default(), shown);
        }
        let (id, number): (Arc<str>, _) = (record.view.id.as_str().into(), self.events.next_unique_id());
        record.pending.following = Some(number);
        self.calls.records.insert(Arc::clone(&id), record);
        self.run_concurrently(resolve_links(paths), move |owner, facts| {
            if let Some(record) = owner.calls.take_call_after_path_resolution(&id, number) {
                owner.decide_resolved_call(record, &facts, shown);
            }
        });
    }

    fn decide_resolved_call(&mut self, mut record: Box<CallRecord>, paths: &ResolvedPaths, shown: Option<String>) {
        let Some(request) = &mut record.request else { return };
        let disposition = self.decide_call_or_read(&record.view, &record.origin, record.app.as_ref(), request, paths);
        let disposition = disposition.and_then(|disposition| {
            if record.view.kind == CallKind::Prompt {
                record.requested_prompt =
                    self.check_same_prompt(&record.view.server, &record.view.name, shown.as_deref())?;
            }
            Ok(disposition)
        });
        match disposition {
            Ok(CallDisposition::Allow(entry, permit)) => self.send_when_audited(record, *entry, permit),
            Ok(CallDisposition::Ask(consent_request)) => self.request_call_consent(record, consent_request),
            Err(failure) => self.report_call_result(record, Err(failure)),
        }
    }

    fn decide_call_or_read(
        &mut self,
        view: &ServerCall,
        origin: &CallOrigin,
        providing_app: Option<&ProvidingApp>,
        request: &mut CallRequest,
        paths: &ResolvedPaths,
    ) -> Result<CallDisposition, CallFailure> {
        match (request.get(), providing_app) {
            (ClientRequest::CallTool { name, arguments, .. }, Some(app)) => {
                self.decide_app_tool_call(view, origin, app, (name.as_str(), arguments), paths)
            }
            (ClientRequest::CallTool { .. }, None) => self.decide_tool_call(view, origin, request, paths),
            (other, _) => self.decide_read(view, origin, other),
        }
    }

    /// Decides about a tool call. Returns the required consent request, or the audit entry of an allowed call.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] of a denied call.
    fn decide_tool_call(
        &mut self,
        call: &ServerCall,
        origin: &CallOrigin,
        request: &mut CallRequest,
        paths: &ResolvedPaths,
    ) -> Result<CallDisposition, CallFailure> {
        let server = call.server.as_str();
        let no_tool = || CallFailure::refused(CallRefusal::Other, "because it calls no tool");
        let ClientRequest::CallTool { name: tool, arguments, .. } = request.get() else { return Err(no_tool()) };
        let is_listed = self
            .servers
            .records
            .get(server)
            .is_some_and(|record| record.offer.catalog.is_read || !record.offer.catalog.tools.is_empty());
        let missing = || match is_listed {
            true => CallFailure::NotFound(format!("tool \"{tool}\" on {server}")),
            // The tool may be in a list that was not read yet since the server's restart.
            false => CallFailure::NotListed { server: server.to_owned() },
        };
        let after_untrusted = self.follows_untrusted_content(origin, server);
        let now = self.now();
        let record = self.servers.records.get_mut(server).ok_or_else(missing)?;
        let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
        let review_state_of = |own: &Hash| tool_review_state(pins, server, tool, own, identity);
        let definition = record
            .offer
            .definitions
            .get(&record.config, &record.offer.catalog, tool, review_state_of)
            .ok_or_else(missing)?;
        if let Some((rule, reason)) = tool_filter_refusal(origin, &record.config.tools, tool, &definition.metadata) {
            let hashed = definition.call_hash(arguments);
            self.audit_denied_call(call, origin, ("tool", tool), hashed, rule.into());
            return Err(CallFailure::refused(CallRefusal::NotOffered, reason));
        }
        let is_outdated = record.offer.catalog.is_outdated(CatalogListKind::Tools);
        let review_state =
            record.offer.catalog.treat_as_changed_if_outdated(CatalogListKind::Tools, definition.review_state);
        let act = PolicyAct::CallTool {
            server,
            tool,
            grant_hash: &definition.grant_hash,
            review_state,
            claims: definition.claims,
            asks_each_time: definition.asks_each_time,
            arguments,
            paths,
            after_untrusted,
            conversation: call.conversation.as_deref(),
        };
        match self.permissions.decide_tool_call_by_policy(&act, definition, request.repeats(), now) {
            PolicyDecision::Allow { by } => {
                let Some((hash, content)) = request.call_hash_and_arguments(definition) else { return Err(no_tool()) };
                let ClientRequest::CallTool { name: tool, .. } = request.get() else { return Err(no_tool()) };
                let decided = AuditedDecision {
                    server,
                    kind: "tool",
                    subject: tool,
                    decision: "allowed",
                    scope: None,
                    by: match by {
                        DecisionSource::Grant(_) => "grant",
                        DecisionSource::RepeatedApproval => self.options.decider_name,
                        _ => "policy",
                    },
                    hash: hash.as_str(),
                    asker: origin.audit_name(),
                    content: Some(content),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                };
                let entry = self.make_audit_entry(decided);
                Ok(CallDisposition::Allow(Box::new(entry), SendPermit::by_rule(by, server, hash)))
            }
            PolicyDecision::Deny { by, .. } => {
                let hashed = definition.call_hash(arguments);
                self.audit_denied_call(call, origin, ("tool", tool), hashed, by.text());
                Err(CallFailure::denied_by_rule(by.text()))
            }
            PolicyDecision::Ask { reason, scopes, .. } => {
                let body = ConsentRequestBody::Tool {
                    tool: Box::new(record.offer.catalog.tool(tool).ok_or_else(missing)?),
                    app: None,
                    arguments: arguments.clone(),
                    // Differs from the reviewed definition, or from that of a grant. An outdated list is neither case.
                    changed_since_allowed: definition.review_state == ReviewState::Changed
                        || (reason == policy::DecisionReason::ToolChanged && !is_outdated),
                    read_only: Vec::new(),
                };
                Ok(CallDisposition::Ask((body, reason, scopes)))
            }
        }
    }

    /// Records in the audit log a tool call that the policy denied.
    pub(in crate::owner) fn audit_denied_call(
        &mut self,
        call: &ServerCall,
        origin: &CallOrigin,
        (kind, subject): (&'static str, &str),
        (hash, content): (Hash, String),
        rule: Cow<'static, str>,
    ) {
        self.audit_without_waiting(AuditedDecision {
            server: &call.server,
            kind,
            subject,
            decision: "denied",
            scope: None,
            by: "policy",
            hash: hash.as_str(),
            asker: origin.audit_name(),
            content: Some(content),
            rule,
            conversation: call.conversation.as_deref(),
        });
    }

    /// Sends a call after its audit entry was written, unless the policy would decide otherwise by now. In that case a
    /// second entry records that it was not sent. If another rule or grant allows the call now, a third entry names it.
    pub(in crate::owner) fn send_if_still_allowed(&mut self, mut record: Box<CallRecord>, permit: SendPermit) {
        let Some(request) = &mut record.request else { return };
        if let ClientRequest::CallTool { name, arguments, .. } = request.get()
            && !self.paths_in_call(&record.view.server, name, arguments).is_empty()
        {
            // The rules may now depend on other paths, so the call is decided again from the beginning.
            self.audit_unsent_call(&record.view, &record.origin, record.app.as_ref(), permit.payload_hash());
            record.view.state = CallState::AwaitingApproval;
            return self.resolve_paths_and_decide(record, None);
        }
        let facts = self.servers.records.get(&record.view.server).map(|server| unresolved_paths(&server.config));
        let paths = facts.unwrap_or_default();
        let decided = self.decide_call_or_read(&record.view, &record.origin, record.app.as_ref(), request, &paths);
        if matches!(&decided, Ok(CallDisposition::Allow(_, now)) if now.source() == permit.source()) {
            return self.send(record, permit);
        }
        self.audit_unsent_call(&record.view, &record.origin, record.app.as_ref(), permit.payload_hash());
        match decided {
            Ok(CallDisposition::Allow(entry, permit)) => self.send_when_audited(record, *entry, permit),
            Ok(CallDisposition::Ask(consent_request)) => {
                record.view.state = CallState::AwaitingApproval;
                self.request_call_consent(record, consent_request);
            }
            Err(failure) => self.report_call_result(record, Err(failure)),
        }
    }

    /// Checks that a call can be made: no other call in progress has its id, and its server is ready.
    pub(super) fn check_call_preconditions(&self, call: &NewCall) -> Result<(), CallFailure> {
        self.calls.check_new_call(&call.id, &call.server)?;
        let record = self
            .servers
            .records
            .get(&call.server)
            .ok_or_else(|| CallFailure::NotFound(format!("server \"{}\"", call.server)))?;
        if record.state != ServerState::Ready {
            return Err(CallFailure::NotReady { server: call.server.clone() });
        }
        Ok(())
    }

    /// Returns the definition of a tool that the server currently lists.
    pub(in crate::owner) fn current_tool_definition(&mut self, server: &str, tool: &str) -> Option<&DefinitionDigest> {
        let record = self.servers.records.get_mut(server)?;
        let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
        let review_state = |own: &Hash| tool_review_state(pins, server, tool, own, identity);
        record.offer.definitions.get(&record.config, &record.offer.catalog, tool, review_state)
    }

    /// Returns `true` if the annotations of a tool contain `openWorldHint: true`.
    pub(in crate::owner) fn tool_claims_open_world(&mut self, server: &str, tool: &str) -> bool {
        self.current_tool_definition(server, tool).is_some_and(|definition| definition.declares_open_world)
    }

    /// Checks the definition of a prompt that the user requested. It must be equal to the reviewed or displayed
    /// definition, otherwise the user has to review it first. Returns the hash of the definition, or `None` if the
    /// prompt is not listed.
    pub(super) fn check_same_prompt(
        &self,
        server: &str,
        prompt: &str,
        shown: Option<&str>,
    ) -> Result<Option<Hash>, CallFailure> {
        let changed = |since: &str| {
            let text = format!("the prompt \"{prompt}\" of {server} changed since {since}; review it first");
            CallFailure::refused(CallRefusal::Changed, text)
        };
        match (self.current_prompt(server, prompt), shown) {
            (Some((_, ReviewState::Changed)), _) => Err(changed("you saw it")),
            (Some((now, _)), Some(shown)) if now.as_str() != shown => Err(changed("it was shown")),
            (Some((now, _)), _) => Ok(Some(now)),
            (None, Some(_)) => Err(changed("it was shown")),
            // A prompt that is not listed is sent to the server, which rejects it.
            (None, None) => Ok(None),
        }
    }

    /// Adds a consent request for a call to the queue.
    fn request_call_consent(&mut self, record: Box<CallRecord>, (mut body, reason, scopes): CallConsentRequest) {
        let (id, server) = (record.view.id.clone(), record.view.server.clone());
        if let ConsentRequestBody::Tool { tool, read_only, .. } = &mut body
            && scopes.contains(&ApprovalScope::Always)
        {
            *read_only = self.read_only_tools(&server, tool);
        }
        let origin = self.call_consent_origin(&record.origin, &server);
        self.calls.records.insert(id.as_str().into(), record);
        self.emit_call_state(&id);
        self.request_consent(&server, origin, body, scopes, reason, RequestPurpose::Call(id));
    }
}
