//! Approvals of consent requests: sends the payload according to the kind of request, and adds a grant for an approval
//! that lasts. Used by `decisions.rs`.

use domain::Millis;
use domain::consent_request::{ConsentRequestId, ConsentRequestOutcome};
use launches::approvals::{address_text, command_text};
use mcp_proto::session::ClientResponse;
use mcp_proto::types::{ElicitAction, ElicitResult};
use policy::{ApprovalScope, Grant, GrantId, GrantSubject, Hash};
use ports::server_config::grant_hash;
use ports::url_parts::UrlParts;
use serde_json::{Map, Value};

use crate::owner::Owner;
use crate::owner::gate::{Approval, OutgoingPayload, PayloadMismatch, SendPermit, open_in_browser};
use crate::owner::state::{
    DecisionError, DecisionProgress, PendingRequest, RequestPurpose, consent_subject, payload_text,
};
use crate::view::{ConsentRequestBody, ConsentRequestView, HostEvent};

/// Scope and expiry of the user's approval of a consent request.
pub(super) struct ApprovalDuration {
    pub(super) scope: ApprovalScope,
    pub(super) conversation: Option<String>,
    pub(super) expires_at: Option<Millis>,
}

impl Owner {
    /// Approves a consent request. `lasts` is the lifetime of the approval in milliseconds, or `None` for no expiry.
    pub(super) fn approve_request(
        &mut self,
        at: usize,
        approval: Approval,
        scope: ApprovalScope,
        lasts: Option<Millis>,
    ) -> Result<DecisionProgress, DecisionError> {
        let pending = &self.consent.pending[at];
        if !pending.view.scopes.contains(&scope) || (scope == ApprovalScope::Once && lasts.is_some()) {
            return Err(DecisionError::WrongKind("an approval can't be valid for that long here"));
        }
        let own = pending.view.origin.conversation().filter(|_| scope == ApprovalScope::Conversation);
        let conversation = own.map(str::to_owned);
        if scope == ApprovalScope::Conversation && conversation.is_none() {
            return Err(DecisionError::WrongKind("it belongs to no conversation"));
        }
        let lasting =
            ApprovalDuration { scope, conversation, expires_at: lasts.map(|lasts| self.now().saturating_add(lasts)) };
        match &pending.view.body {
            ConsentRequestBody::StartServer { config, .. } => {
                let (words, outgoing) = (command_text(config), OutgoingPayload::displayed(pending));
                self.audit_approval_and_remove(approval, scope, outgoing, move |owner, pending, permit| {
                    Ok(owner.launch_approved_server(pending, permit, lasting, words))
                })
            }
            ConsentRequestBody::ConnectServer { config, .. } => {
                let (words, outgoing) = (address_text(config), OutgoingPayload::displayed(pending));
                self.audit_approval_and_remove(approval, scope, outgoing, move |owner, pending, permit| {
                    Ok(owner.launch_approved_server(pending, permit, lasting, words))
                })
            }
            // Unlike a tool of the server, the definition is not pinned, and no grant is added.
            ConsentRequestBody::Tool { app: Some(_), arguments, .. } => {
                let (arguments, outgoing) = (arguments.clone(), OutgoingPayload::displayed(pending));
                self.audit_approval_and_remove(approval, scope, outgoing, move |owner, pending, permit| {
                    if let RequestPurpose::Call(call) = pending.purpose {
                        owner.send_approved_call(&call, arguments, permit);
                    }
                    Ok(DecisionProgress::Done)
                })
            }
            ConsentRequestBody::Tool { tool, app: None, arguments, .. } => {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                let outgoing = OutgoingPayload::displayed(pending);
                let forgotten = self.permissions.approved_calls.forget_count();
                self.audit_approval_and_remove(approval, scope, outgoing, move |owner, pending, permit| {
                    let mut acted = DecisionProgress::Done;
                    owner.pin_tool(&pending.view.server, &tool);
                    if let Some(record) = owner.servers.records.get(&pending.view.server) {
                        let rests_on = grant_hash(&record.config, &tool);
                        let (now, origin) = (owner.now(), owner.calls.origin_of_call(pending.view.call.as_deref()));
                        owner.permissions.record_approved_call(
                            &pending.view,
                            origin,
                            scope,
                            &rests_on,
                            (now, forgotten),
                        );
                        let subject = GrantSubject::Tool(tool.name.clone());
                        acted = owner.add_grant(&pending.view, subject, rests_on, lasting, tool.name);
                    }
                    if let RequestPurpose::Call(call) = pending.purpose {
                        owner.send_approved_call(&call, arguments, permit);
                    }
                    Ok(acted)
                })
            }
            ConsentRequestBody::Read { .. } => {
                let outgoing = OutgoingPayload::displayed(pending);
                self.audit_approval_and_remove(approval, scope, outgoing, |owner, pending, permit| {
                    if let RequestPurpose::Call(call) = pending.purpose {
                        owner.send_call_unmodified(&call, permit);
                    }
                    Ok(DecisionProgress::Done)
                })
            }
            ConsentRequestBody::Result { .. } => {
                let outgoing = OutgoingPayload::displayed(pending);
                self.audit_approval_and_remove(approval, scope, outgoing, |owner, pending, permit| {
                    owner.send_approved_result(&pending, permit);
                    Ok(DecisionProgress::Done)
                })
            }
            ConsentRequestBody::Sampling { response: None, .. } => self.accept_sampling(at, approval),
            ConsentRequestBody::Sampling { request, response: Some(response), .. } => {
                let answer = ClientResponse::Sampling(response.clone());
                if let RequestPurpose::Request { requester, .. } = &pending.purpose {
                    self.check_sampling_answer(*requester, &pending.view.server, request, response)?;
                }
                let (subject, content) = (consent_subject(&pending.view.body), payload_text(&pending.view.body));
                let outgoing = OutgoingPayload::response(pending, subject, content, &answer);
                self.audit_approval_and_remove(approval, scope, outgoing, move |owner, pending, permit| {
                    owner.send_approved_response(&pending, answer, permit);
                    Ok(DecisionProgress::Done)
                })
            }
            ConsentRequestBody::Form { .. } => Err(DecisionError::WrongKind("a form is submitted with its content")),
            ConsentRequestBody::Url { .. } => Err(DecisionError::WrongKind("a URL is opened first")),
            ConsentRequestBody::Roots => Err(DecisionError::WrongKind("folders are shared by name")),
            ConsentRequestBody::SignIn { .. } => self.allow_sign_in(at, approval, scope),
            ConsentRequestBody::ClientId { .. } => Err(DecisionError::WrongKind("it requests a client id")),
        }
    }

    fn launch_approved_server(
        &mut self,
        pending: PendingRequest,
        permit: SendPermit,
        lasting: ApprovalDuration,
        words: String,
    ) -> DecisionProgress {
        let acted = self.add_grant(&pending.view, GrantSubject::Command, pending.view.hash.clone(), lasting, words);
        self.launch(&pending.view.server, permit);
        acted
    }

    pub(super) fn submit_form(
        &mut self,
        at: usize,
        approval: Approval,
        content: Map<String, Value>,
    ) -> Result<DecisionProgress, DecisionError> {
        let pending = &self.consent.pending[at];
        let ConsentRequestBody::Form { form, message } = &pending.view.body else {
            return Err(DecisionError::WrongKind("it is not a form"));
        };
        let Ok(form) = form else {
            return Err(DecisionError::WrongKind("this form can't be shown; it can only be declined"));
        };
        let problems = form.validation_problems(&content);
        if !problems.is_empty() {
            return Err(DecisionError::Form(problems));
        }
        let logged = Some(policy::canonical_json_object(&form.redact_secret_fields(&content)));
        let answer = ClientResponse::Elicitation(ElicitResult { action: ElicitAction::Accept, content: Some(content) });
        let outgoing = OutgoingPayload::response(pending, message.clone(), logged, &answer);
        self.audit_approval_and_remove(approval, ApprovalScope::Once, outgoing, move |owner, pending, permit| {
            owner.send_approved_response(&pending, answer, permit);
            Ok(DecisionProgress::Done)
        })
    }

    /// Opens the URL that a server requested, which the user approved, and then responds to the server. Which URLs are
    /// openable is decided by [`UrlParts::parse_requested_by_server`].
    pub(super) fn open_url_then_respond(
        &mut self,
        at: usize,
        approval: Approval,
        parts: UrlParts,
    ) -> Result<DecisionProgress, DecisionError> {
        if !parts.openable {
            return Err(DecisionError::Browser("this address can't be opened; decline it".into()));
        }
        let shown = self.consent.pending[at].clone_without_run();
        let outgoing = OutgoingPayload::url(&shown, &parts.url);
        self.audit_approval(approval, ApprovalScope::Once, outgoing, move |owner, permitted| {
            let (at, permit) = permitted?;
            let page = permit
                .authorize_browser_url(&shown.view.server, parts.url)
                .map_err(|PayloadMismatch| DecisionError::Stale)?;
            owner.consent.pending[at].being_acted_on = true;
            let platform = owner.ports.platform.clone();
            let opening = async move { open_in_browser(platform.as_ref(), page).await };
            owner.run_concurrently(opening, move |owner, opened| owner.on_url_opened(&shown, opened));
            Ok(DecisionProgress::Later)
        })
    }

    /// Handles the result of opening an approved URL: responds to the server, or reports the failure to the user.
    fn on_url_opened(&mut self, shown: &PendingRequest, opened: Result<(), String>) {
        let id = shown.view.id;
        let at = self.consent.position_of(id);
        let acted = match opened {
            Err(cause) => {
                self.audit_request_outcome(shown, ConsentRequestOutcome::Withdrawn, None);
                if let Some(at) = at {
                    self.consent.pending[at].being_acted_on = false;
                }
                Err(DecisionError::Browser(cause))
            }
            // No other decision is accepted while the page is being opened, so the request can be removed by its index.
            Ok(()) => at.ok_or(DecisionError::NotOpen).map(|at| {
                let pending = self.consent.pending.remove(at);
                self.events.emit(HostEvent::ConsentRequestClosed { id, outcome: ConsentRequestOutcome::Allowed });
                self.notify_url_opened(&pending);
                DecisionProgress::Done
            }),
        };
        self.consent.report_decision(id, acted);
    }

    /// Adds a grant, which is effective immediately. The caller of the decision receives the outcome once the grant is
    /// written. If the write fails, the grant is effective until Drawbridge exits.
    pub(super) fn add_grant(
        &mut self,
        request: &ConsentRequestView,
        subject: GrantSubject,
        rests_on: Hash,
        lasting: ApprovalDuration,
        words: String,
    ) -> DecisionProgress {
        if lasting.scope == ApprovalScope::Once {
            return DecisionProgress::Done;
        }
        let id = self.insert_grant(&request.server, subject.clone(), rests_on, &lasting, words);
        self.write_new_grants(request.id, &request.server, id.map(|id| (id, subject)).into_iter().collect())
    }

    /// Adds a grant to those in memory. Returns `None` if the maximum number of grants is reached.
    pub(super) fn insert_grant(
        &mut self,
        server: &str,
        subject: GrantSubject,
        rests_on: Hash,
        lasting: &ApprovalDuration,
        words: String,
    ) -> Option<GrantId> {
        let grant = Grant {
            id: GrantId::default(),
            server: server.to_owned(),
            subject,
            rests_on,
            scope: lasting.scope,
            conversation: lasting.conversation.clone(),
            since: self.now(),
            expires_at: lasting.expires_at,
            words,
            last_use: None,
        };
        self.permissions.version += 1;
        let added = self.permissions.policy.grants_mut().add(grant);
        added.inspect_err(|error| tracing::warn!(%error, "the approval applies once only")).ok()
    }

    /// Writes grants to their file, all at once, and then reports the user's decision on the request `answered`, with
    /// which they were added. If they can't be written, all of them are effective until Drawbridge exits.
    pub(super) fn write_new_grants(
        &mut self,
        answered: ConsentRequestId,
        server: &str,
        added: Vec<(GrantId, GrantSubject)>,
    ) -> DecisionProgress {
        let (ids, subjects): (Vec<GrantId>, Vec<GrantSubject>) = added.into_iter().unzip();
        let acted = if ids.is_empty() {
            DecisionProgress::Done
        } else {
            self.write_grants(server, Some(&subjects), move |owner, written| {
                if let Err(error) = written {
                    for id in ids {
                        owner.permissions.policy.grants_mut().limit_until_quit(id);
                    }
                    tracing::error!(%error, "grants could not be written; they are effective until Drawbridge exits");
                }
                owner.consent.report_decision(answered, Ok(DecisionProgress::Done));
            });
            DecisionProgress::Later
        };
        self.events.emit(HostEvent::AuditChanged(None));
        self.events.emit(HostEvent::CatalogChanged(server.to_owned()));
        self.emit_server_change(server);
        acted
    }
}
