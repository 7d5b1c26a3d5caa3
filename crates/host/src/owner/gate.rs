//! The gate: the only code that creates an [`AuthorizedPayload`], which is required for sending anything from the host.
//!
//! A payload is authorized by the user's approval of one consent request ([`Approval`]), by a rule, grant or repeated
//! approval, or by a built-in permission, such as for prompts and resources. Once the decision is in the audit
//! log, an outgoing call, start, response or URL has a [`SendPermit`], which is valid for one receiver, for exactly
//! these bytes, and for one use. Sending consumes the permit, and compares its hash with that of the payload; the hash
//! of a sign-in URL omits parameters that are generated for each use.
//!
//! Without a permit, these are authorized: denials, which contain no user data ([`authorize_denial_response`]);
//! responses that a rule, a grant or shared folders allow ([`authorize_allowed_response`]); links that the user opens
//! ([`authorize_link_opening`]); the notification that an approved URL was opened ([`Owner::notify_url_opened`]); and
//! requests that have no audit entry ([`Owner::authorize_unaudited_request`]).

mod outgoing_payload;

use std::borrow::Cow;
use std::time::Duration;

use credentials::sign_in::EnteredClient;
use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallKind, CallRefusal, ServerCall};
use domain::consent_request::{ConsentRequestId, ConsentRequestOutcome};
use domain::item::ToolResult;
use host_state::{client_credentials_hash, read_request_hash, response_hash, sign_in_url_hash, url_hash};
use mcp_proto::session::{ClientRequest, ClientResponse};
use mcp_proto::types::{CreateMessageParams, ElicitAction, ElicitResult};
use models::{ModelRef, ModelRequest};
use offers::review::{result_content_json, result_parts};
use offers::skills::SKILLS_EXTENSION as SKILLS;
use policy::{ApprovalScope, DecisionSource, Hash};
use ports::Platform;
use ports::url_parts::UrlParts;
use serde_json::Map;
use server_requests::sampling::conversion::to_model_request;
use server_requests::sampling::{SamplingState, sampling_request_hash};

pub(super) use outgoing_payload::OutgoingPayload;

use super::Owner;
use super::state::{
    CallRequest, DecisionError, DecisionProgress, PendingRequest, RequestPurpose, Requester, app_tool_call_hash,
    originator_name, refusal_error,
};
use crate::connection::ConnectionTarget;
use crate::view::HostEvent;

/// Timeout for opening the default browser.
const BROWSER_OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// The user's approval of one consent request as displayed. Can be used once.
#[derive(Debug)]
pub(super) struct Approval {
    request: ConsentRequestId,
    shown: Hash,
}

/// Permit to send one payload to one receiver once, created when the user, a rule or a grant allows it.
#[derive(Debug)]
#[must_use = "what was approved and written down is to be sent"]
pub(crate) struct SendPermit {
    to: String,
    payload_hash: Hash,
    /// Rule, grant or repeated approval that allowed the payload, or `None` if the user approved it.
    by: Option<DecisionSource>,
}

/// A payload that may leave the host, since its hash is equal to that of the payload the user or a rule allowed.
#[derive(Debug)]
pub(crate) struct AuthorizedPayload<T>(T);

/// Error: the payload to send differs from the allowed payload, or has another receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PayloadMismatch;

impl<T> AuthorizedPayload<T> {
    /// Returns a reference to the payload, for inspecting it.
    pub(crate) const fn get(&self) -> &T {
        &self.0
    }

    /// Consumes the authorization, and returns the payload for sending it.
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl SendPermit {
    /// Creates a permit for a payload that the policy allows. `payload_hash` is the hash of the payload, which the
    /// audit log is about to record.
    pub(super) fn by_rule(by: DecisionSource, to: &str, payload_hash: Hash) -> Self {
        Self { to: to.to_owned(), payload_hash, by: Some(by) }
    }

    /// Creates a permit for continuing an approved start that waited for the user to sign in.
    pub(super) fn after_sign_in(to: &str, payload_hash: Hash) -> Self {
        Self { to: to.to_owned(), payload_hash, by: None }
    }

    /// Returns the rule, grant or repeated approval that allowed the payload, or `None` if the user approved it.
    pub(super) const fn source(&self) -> Option<DecisionSource> {
        self.by
    }

    /// Returns the hash of the payload that this permit allows to be sent.
    pub(super) const fn payload_hash(&self) -> &Hash {
        &self.payload_hash
    }

    fn permits(&self, to: &str, now: &Hash) -> bool {
        self.to == to && self.payload_hash == *now
    }

    fn authorize<T>(self, to: &str, what: T, now: &Hash) -> Result<AuthorizedPayload<T>, PayloadMismatch> {
        if self.permits(to, now) { Ok(AuthorizedPayload(what)) } else { Err(PayloadMismatch) }
    }

    /// Consumes this permit and authorizes the response `answer` to a server's request. Fails if the permit is for
    /// another response or server.
    pub(super) fn authorize_response(
        self,
        to: &str,
        answer: ClientResponse,
    ) -> Result<AuthorizedPayload<ClientResponse>, PayloadMismatch> {
        let now = response_hash(&answer);
        self.authorize(to, answer, &now)
    }

    /// Consumes this permit and authorizes a sampling request to a model. Fails if the permit is for another request,
    /// model or server.
    pub(super) fn authorize_model_request(
        self,
        for_server: &str,
        params: &CreateMessageParams,
        state: &SamplingState,
    ) -> Result<AuthorizedPayload<(ModelRef, ModelRequest)>, DecisionError> {
        let choice = state.model.as_ref().ok_or(DecisionError::WrongKind("there is no model"))?;
        let request = to_model_request(params).map_err(DecisionError::Unfit)?;
        let payload = (choice.model.clone(), request);
        self.authorize(for_server, payload, &sampling_request_hash(params, state))
            .map_err(|PayloadMismatch| DecisionError::Stale)
    }

    /// Consumes this permit and authorizes releasing `result`, the result of a call, to the model that called the tool.
    /// Fails if the permit is for another result or server.
    pub(super) fn authorize_result(
        self,
        of_server: &str,
        tool: (&str, Option<&str>),
        result: ToolResult,
    ) -> Result<AuthorizedPayload<ToolResult>, PayloadMismatch> {
        let now = Hash::of_json(&result_content_json(tool, &result_parts(&result), result.is_error));
        self.authorize(of_server, result, &now)
    }

    /// Consumes this permit and authorizes opening `url` in the browser for a server, after `open_url_then_respond`
    /// has checked its scheme. Fails if the permit is for another URL or server.
    pub(super) fn authorize_browser_url(
        self,
        for_server: &str,
        url: String,
    ) -> Result<AuthorizedPayload<String>, PayloadMismatch> {
        let now = url_hash(&url);
        self.authorize(for_server, url, &now)
    }

    /// Consumes this permit and authorizes opening the authorization URL `url`. It may differ from the displayed one
    /// only in the parameters that are generated for each use.
    pub(super) fn authorize_sign_in_url(
        self,
        for_server: &str,
        url: String,
    ) -> Result<AuthorizedPayload<String>, PayloadMismatch> {
        let now = sign_in_url_hash(&url);
        self.authorize(for_server, url, &now)
    }

    /// Consumes this permit and authorizes the use of the client credentials `client`, which the user entered for a
    /// sign-in. Fails if the permit is for other credentials or another server.
    pub(super) fn authorize_client_credentials(
        self,
        for_server: &str,
        client: EnteredClient,
    ) -> Result<AuthorizedPayload<EnteredClient>, PayloadMismatch> {
        let now = client_credentials_hash(&client);
        self.authorize(for_server, client, &now)
    }

    /// Consumes this permit and authorizes starting or connecting to a server. `now` is the hash of its current command
    /// or address. Fails if the permit is for another hash or server.
    pub(super) fn authorize_server_start(
        self,
        server: &str,
        target: ConnectionTarget,
        now: &Hash,
    ) -> Result<AuthorizedPayload<ConnectionTarget>, PayloadMismatch> {
        self.authorize(server, target, now)
    }
}

/// Authorizes a denial, which contains no user data. A response with user data is replaced by an error response.
pub(super) fn authorize_denial_response(answer: ClientResponse) -> AuthorizedPayload<ClientResponse> {
    let contains_nothing = match &answer {
        ClientResponse::Refused { .. } => true,
        ClientResponse::Elicitation(result) => result.action != ElicitAction::Accept && result.content.is_none(),
        ClientResponse::Roots(roots) => roots.is_empty(),
        ClientResponse::Sampling(_) => false,
    };
    AuthorizedPayload(if contains_nothing { answer } else { refusal_error("the user rejected the request".to_owned()) })
}

/// Authorizes a response that a rule or grant allows. The caller sends it once the audit entry is written.
pub(super) fn authorize_allowed_response(
    _: DecisionSource,
    answer: ClientResponse,
) -> AuthorizedPayload<ClientResponse> {
    AuthorizedPayload(answer)
}

/// Opens a URL in the default browser. The response to the server is sent afterwards, so that a failure is reported to
/// the user rather than to the server.
///
/// # Errors
///
/// Returns the cause as text if the browser can't be opened within [`BROWSER_OPEN_TIMEOUT`].
pub(crate) async fn open_in_browser(platform: &dyn Platform, page: AuthorizedPayload<String>) -> Result<(), String> {
    let opened = tokio::time::timeout(BROWSER_OPEN_TIMEOUT, platform.open_url(&page.into_inner())).await;
    opened.unwrap_or_else(|_| Err(format!("it did not start within {} seconds", BROWSER_OPEN_TIMEOUT.as_secs())))
}

/// Authorizes opening a link that the user saw in full and clicked, unless its scheme or syntax forbids that. URLs that
/// servers request to open: `Owner::open_url_then_respond`.
pub(crate) fn authorize_link_opening(link: UrlParts) -> Option<AuthorizedPayload<String>> {
    link.openable.then_some(AuthorizedPayload(link.url))
}

impl Owner {
    /// Returns the user's approval of the consent request at index `at`. `shown` is the hash of the displayed payload.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::Stale`] if another decision on the request is being executed, or its payload differs
    /// from the displayed one.
    pub(super) fn approval(&self, at: usize, shown: &str) -> Result<Approval, DecisionError> {
        let pending = &self.consent.pending[at];
        let now = pending.hash();
        if pending.being_acted_on || now != pending.view.hash || now.as_str() != shown {
            return Err(DecisionError::Stale);
        }
        Ok(Approval { request: pending.view.id, shown: now })
    }

    /// Writes the audit entry of the user's approval, and then calls `act` with the consent request's index and the
    /// permit to send the payload. The request remains in the queue. Until the entry is written, only its denial is
    /// accepted.
    ///
    /// `act` receives an error if nothing may be sent: the request was removed, its payload differs from the approved
    /// one, or the approval can't be recorded. If this happens after the entry was written, another entry records that
    /// nothing was sent.
    pub(super) fn audit_approval(
        &mut self,
        approval: Approval,
        scope: ApprovalScope,
        mut outgoing: OutgoingPayload,
        act: impl FnOnce(&mut Self, Result<(usize, SendPermit), DecisionError>) -> Result<DecisionProgress, DecisionError>
        + Send
        + 'static,
    ) -> Result<DecisionProgress, DecisionError> {
        let Approval { request, shown } = approval;
        let Some(at) = self.consent.position_of(request) else {
            return act(self, Err(DecisionError::NotOpen));
        };
        let pending = &mut self.consent.pending[at];
        if pending.being_acted_on || pending.hash() != shown {
            return act(self, Err(DecisionError::Stale));
        }
        (pending.being_acted_on, pending.being_written) = (true, true);
        let (to, payload_hash) = (pending.view.server.clone(), outgoing.payload_hash.clone());
        let asker = originator_name(&pending.view.origin);
        let entry = self.request_outcome_audit_entry(
            &self.consent.pending[at],
            ConsentRequestOutcome::Allowed,
            Some(scope),
            (&shown, &mut outgoing),
        );
        self.audit_entry_then(entry, move |owner, written| {
            let permitted = match written {
                Ok(()) => owner.recheck_approval(request, &shown).inspect_err(|_| {
                    owner.audit_unsent_payload(&to, (&shown, &outgoing), asker);
                }),
                Err(error) => {
                    tracing::error!(%error, "an audit entry could not be written");
                    owner.consent.finish_execution(request);
                    Err(DecisionError::Audit)
                }
            };
            let acted = act(owner, permitted.map(|at| (at, SendPermit { to, payload_hash, by: None })));
            owner.consent.report_decision(request, acted);
        });
        Ok(DecisionProgress::Later)
    }

    /// Checks an approval again after its audit entry was written, and returns the index of the consent request.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request was removed, [`DecisionError::Stale`] if its payload has
    /// changed, and [`DecisionError::Denied`] if a rule now denies the payload.
    fn recheck_approval(&mut self, request: ConsentRequestId, shown: &Hash) -> Result<usize, DecisionError> {
        let at = self.consent.finish_execution(request).ok_or(DecisionError::NotOpen)?;
        if self.consent.pending[at].hash() != *shown {
            return Err(DecisionError::Stale);
        }
        match self.rule_denying_request(at) {
            Some(by) => {
                self.refuse_by_rule(at, by);
                Err(DecisionError::Denied(by.to_string()))
            }
            None => Ok(at),
        }
    }

    /// Writes an approval's audit entry like [`Owner::audit_approval`], and removes the request before `act` is called.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`Owner::audit_approval`]. In this case the request remains in the queue.
    pub(super) fn audit_approval_and_remove(
        &mut self,
        approval: Approval,
        scope: ApprovalScope,
        outgoing: OutgoingPayload,
        act: impl FnOnce(&mut Self, PendingRequest, SendPermit) -> Result<DecisionProgress, DecisionError> + Send + 'static,
    ) -> Result<DecisionProgress, DecisionError> {
        self.audit_approval(approval, scope, outgoing, move |owner, permitted| {
            let (at, permit) = permitted?;
            let pending = owner.consent.pending.remove(at);
            owner
                .events
                .emit(HostEvent::ConsentRequestClosed { id: pending.view.id, outcome: ConsentRequestOutcome::Allowed });
            act(owner, pending, permit)
        })
    }

    /// Sends the response that the user approved to the server or its app. If the permit is for a different response, a
    /// denial is sent instead.
    pub(super) fn send_approved_response(
        &mut self,
        pending: &PendingRequest,
        answer: ClientResponse,
        permit: SendPermit,
    ) {
        let passed = permit.authorize_response(&pending.view.server, answer).unwrap_or_else(|PayloadMismatch| {
            tracing::error!(server = pending.view.server, "a response differed from the approved one and was not sent");
            authorize_denial_response(refusal_error("the answer could not be sent".to_owned()))
        });
        self.send_authorized_response(pending, passed);
    }

    /// Notifies a server that its URL was opened. The approval of the URL includes this notification.
    pub(super) fn notify_url_opened(&mut self, pending: &PendingRequest) {
        let accept = ElicitResult { action: ElicitAction::Accept, content: None };
        self.send_authorized_response(pending, AuthorizedPayload(ClientResponse::Elicitation(accept)));
    }

    fn send_authorized_response(&mut self, pending: &PendingRequest, answer: AuthorizedPayload<ClientResponse>) {
        if pending.is_from_server() {
            self.count_decision_for_muting(&pending.view.server, false);
        }
        if let RequestPurpose::Request { requester, call } = &pending.purpose {
            match requester {
                Requester::Server { .. } => self.send_response(&pending.view.server, *requester, answer),
                Requester::App { .. } => {
                    self.send_response_to_app(&pending.view.server, *requester, answer, Some(&pending.view.hash));
                }
            }
            if let Some(call) = call {
                self.resume_call_if_all_requests_decided(call);
            }
        }
    }

    /// Consumes the permit for a call, and authorizes sending the request to the shown app `app`, or to the server if
    /// `app` is `None`. Also returns `true` if the tool's annotations contain `openWorldHint: true`, and for every tool
    /// of an app, since the user and other hosts can put any content into an app.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Refused`] if the tool or the request has changed since the decision.
    pub(super) fn authorize_call(
        &mut self,
        call: &ServerCall,
        app: Option<&ProvidingApp>,
        request: CallRequest,
        permit: SendPermit,
    ) -> Result<(AuthorizedPayload<ClientRequest>, bool), CallFailure> {
        let text = || format!("because \"{}\" changed after it was allowed", call.name);
        let changed = || CallFailure::refused(CallRefusal::Changed, text());
        let (now, open_world) = match (request.get(), app) {
            (ClientRequest::CallTool { name, arguments, .. }, Some(app)) => {
                let tool = self.calls.app_tools.tool(&call.server, app, call.conversation.as_deref(), name);
                (Cow::Owned(app_tool_call_hash(app, tool.ok_or_else(changed)?, arguments)), true)
            }
            (ClientRequest::CallTool { name, .. }, None) => {
                let definition = self.current_tool_definition(&call.server, name).ok_or_else(changed)?;
                (request.current_hash(definition).ok_or_else(changed)?, definition.declares_open_world)
            }
            (ClientRequest::GetPrompt { name, arguments }, _) => {
                (Cow::Owned(read_request_hash(&call.server, CallKind::Prompt, name, arguments.clone())), false)
            }
            (ClientRequest::ReadResource { uri }, _) => {
                (Cow::Owned(read_request_hash(&call.server, CallKind::Resource, uri, Map::new())), false)
            }
            _ => return Err(changed()),
        };
        if permit.permits(&call.server, &now) {
            Ok((AuthorizedPayload(request.into_inner()), open_world))
        } else {
            Err(changed())
        }
    }

    /// Authorizes a request that requires no audit entry: completion, subscription, log level, ping, list of skills.
    ///
    /// # Errors
    ///
    /// Returns [`CallFailure::Refused`] for other requests, and for completions and subscriptions if the policy doesn't
    /// allow reading.
    pub(super) fn authorize_unaudited_request(
        &self,
        server: &str,
        request: ClientRequest,
    ) -> Result<AuthorizedPayload<ClientRequest>, CallFailure> {
        match &request {
            ClientRequest::Complete { .. } | ClientRequest::Subscribe { .. } => {
                self.permissions.check_unaudited_read(server, self.now())?
            }
            ClientRequest::Unsubscribe { .. } | ClientRequest::SetLogLevel { .. } | ClientRequest::Ping => {}
            // Only the list of skills and its entries. A skill's files are read as resources, which require a decision.
            ClientRequest::Extension { extension: SKILLS, method: "skills/list" | "skills/get", .. } => {}
            _ => return Err(CallFailure::refused(CallRefusal::Other, "because it requires consent")),
        }
        Ok(AuthorizedPayload(request))
    }
}

#[cfg(test)]
mod tests;
