//! The one gate: nothing leaves the host but as a [`Passed`], and only this file makes one.
//!
//! There are two ways to it. The user's approval of one consent request ([`Approval`]), or a rule or grant that allows it. Either
//! becomes a [`Departure`] once the audit log has it: for one receiver, over exactly these bytes, for one time. Whoever sends gives
//! it up, and the hash is made again of what is sent at that moment. What refuses carries nothing and needs none.

use std::borrow::Cow;
use std::time::Duration;

use credentials::sign_in::EnteredClient;
use domain::call::{Call, CallFailure, CallKind};
use domain::item::ToolResult;
use domain::question::{QuestionId, QuestionOutcome};
use mcp_proto::session::{Answer, ClientRequest};
use mcp_proto::types::{CreateMessageParams, ElicitAction, ElicitResult};
use models::{ModelRef, Request};
use offers::review::{as_json, result_parts};
use offers::skills::EXTENSION as SKILLS;
use policy::{By, Hash, Scope};
use ports::Platform;
use ports::url_parts::UrlParts;
use serde_json::{Map, json};
use server_requests::sampling::convert::to_request;
use server_requests::sampling::{SamplingState, ask_hash};
use url::Url;

use super::Owner;
use super::state::{
    AnswerError, AnswerProgress, CallRequest, PendingRequest, RequestPurpose, asker_of, content_of, hash_of, kind_of,
    refusal, sampling_subject, subject_of,
};
use crate::connection::Target;
use crate::view::{HostEvent, QuestionBody};

/// The parameters of a sign-in page that are made for one use, after it was shown: only these may differ from what was approved.
const OF_ONE_USE: [&str; 3] = ["state", "code_challenge", "nonce"];
/// How long the system's browser may take to open.
const OPENING: Duration = Duration::from_secs(20);

/// The user's approval of one consent request, as it was shown. The act uses it up.
#[derive(Debug)]
pub(super) struct Approval {
    request: QuestionId,
    shown: Hash,
}

/// Permission for one thing to leave, to one receiver, once.
#[derive(Debug)]
#[must_use = "what was approved and written down is to be sent"]
pub(crate) struct Departure {
    to: String,
    leaves: Hash,
}

/// What leaves now: it is what was permitted.
#[derive(Debug)]
pub(crate) struct Passed<T>(T);

/// What would leave is not what was permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changed;

/// What an approval lets leave: as the audit log names it, and over which bytes.
#[derive(Clone)]
pub(super) struct Leaving {
    pub(super) kind: &'static str,
    pub(super) subject: String,
    pub(super) content: Option<String>,
    /// The hash that is written down. It has no secrets in it.
    pub(super) logged: Hash,
    leaves: Hash,
}

impl<T> Passed<T> {
    /// To look at.
    pub(crate) const fn get(&self) -> &T {
        &self.0
    }

    /// To send it.
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl Departure {
    /// By a rule or a grant, for what is about to be written down.
    pub(super) fn by_rule(_: By, to: &str, leaves: Hash) -> Self {
        Self { to: to.to_owned(), leaves }
    }

    /// A start that goes on where it waited for its user to sign in.
    pub(super) fn after_sign_in(to: &str, leaves: Hash) -> Self {
        Self { to: to.to_owned(), leaves }
    }

    /// What it is for.
    pub(super) const fn leaves(&self) -> &Hash {
        &self.leaves
    }

    fn permits(&self, to: &str, now: &Hash) -> bool {
        self.to == to && self.leaves == *now
    }

    fn pass<T>(self, to: &str, what: T, now: &Hash) -> Result<Passed<T>, Changed> {
        if self.permits(to, now) { Ok(Passed(what)) } else { Err(Changed) }
    }

    /// An answer to a server's request.
    pub(super) fn answer(self, to: &str, answer: Answer) -> Result<Passed<Answer>, Changed> {
        let now = answer_hash(&answer);
        self.pass(to, answer, &now)
    }

    /// A request to a model.
    pub(super) fn ask(
        self,
        for_server: &str,
        params: &CreateMessageParams,
        state: &SamplingState,
    ) -> Result<Passed<(ModelRef, Request)>, AnswerError> {
        let choice = state.model.as_ref().ok_or(AnswerError::WrongKind("there is no model"))?;
        let request = to_request(params).map_err(AnswerError::Unfit)?;
        let asks = (choice.model.clone(), request);
        self.pass(for_server, asks, &ask_hash(params, state)).map_err(|Changed| AnswerError::Stale)
    }

    /// A result that a model reads.
    pub(super) fn result(self, of_server: &str, tool: &str, result: ToolResult) -> Result<Passed<ToolResult>, Changed> {
        let now = Hash::of(&as_json(tool, &result_parts(&result), result.is_error));
        self.pass(of_server, result, &now)
    }

    /// A page that a server wants to be opened.
    pub(super) fn page(self, for_server: &str, url: String) -> Result<Passed<String>, Changed> {
        let now = page_hash(&url);
        self.pass(for_server, url, &now)
    }

    /// The page of a sign-in, with the parameters that were shown, and those that are made for one use.
    pub(super) fn sign_in_page(self, for_server: &str, url: String) -> Result<Passed<String>, Changed> {
        let now = sign_in_page_hash(&url);
        self.pass(for_server, url, &now)
    }

    /// What a sign-in page is to know Drawbridge by.
    pub(super) fn client(self, for_server: &str, client: EnteredClient) -> Result<Passed<EnteredClient>, Changed> {
        let now = client_hash(&client);
        self.pass(for_server, client, &now)
    }

    /// A server that is started or connected to; `now` is over what that would be.
    pub(super) fn start(self, server: &str, target: Target, now: &Hash) -> Result<Passed<Target>, Changed> {
        self.pass(server, target, now)
    }
}

impl Leaving {
    /// What a consent request shows, as it is: a call, a start, a connection.
    pub(super) fn shown(pending: &PendingRequest) -> Self {
        let body = &pending.view.body;
        Self {
            kind: kind_of(body),
            subject: subject_of(body),
            content: content_of(body),
            logged: pending.view.hash.clone(),
            leaves: pending.view.hash.clone(),
        }
    }

    /// A request to a model.
    pub(super) fn ask(request: &CreateMessageParams, state: &SamplingState) -> Self {
        let hash = ask_hash(request, state);
        Self {
            kind: "sampling",
            subject: sampling_subject(request, None, state),
            content: Some(policy::canonical_json(&json!(request))),
            logged: hash.clone(),
            leaves: hash,
        }
    }

    /// An answer that the user made or chose, under words and a hash for the log.
    pub(super) fn answer(
        pending: &PendingRequest,
        subject: String,
        (logged, content): (Hash, Option<String>),
        answer: &Answer,
    ) -> Self {
        Self { kind: kind_of(&pending.view.body), subject, content, logged, leaves: answer_hash(answer) }
    }

    /// A page that is opened.
    pub(super) fn page(pending: &PendingRequest, url: &str) -> Self {
        Self { leaves: page_hash(url), ..Self::shown(pending) }
    }

    /// A sign-in page.
    pub(super) fn sign_in_page(pending: &PendingRequest, url: &str) -> Self {
        Self { leaves: sign_in_page_hash(url), ..Self::shown(pending) }
    }

    /// What a sign-in page is to know Drawbridge by.
    pub(super) fn client(pending: &PendingRequest, client: &EnteredClient) -> Self {
        Self { leaves: client_hash(client), ..Self::shown(pending) }
    }
}

/// A refusal may always leave; it tells nothing of the user's. What tells something is replaced.
pub(super) fn refuses(answer: Answer) -> Passed<Answer> {
    let tells_nothing = match &answer {
        Answer::Refused { .. } => true,
        Answer::Elicitation(result) => result.action != ElicitAction::Accept && result.content.is_none(),
        Answer::Roots(roots) => roots.is_empty(),
        Answer::Sampling(_) => false,
    };
    Passed(if tells_nothing { answer } else { refusal("the user rejected the request".to_owned()) })
}

/// An answer that a rule or a grant allows. It leaves once it is written down.
pub(super) fn allowed_answer(_: By, answer: Answer) -> Passed<Answer> {
    Passed(answer)
}

/// Opens a page in the system's browser. The server's request is answered after this, so that a browser that does not start is reported to
/// the user and not to the server.
///
/// # Errors
/// If the browser can't be opened, or not in time; in words.
pub(crate) async fn open_page(platform: &dyn Platform, page: Passed<String>) -> Result<(), String> {
    let opened = tokio::time::timeout(OPENING, platform.open_url(&page.into_inner())).await;
    opened.unwrap_or_else(|_| Err(format!("it did not start within {} seconds", OPENING.as_secs())))
}

/// A link that the user follows from the window, where they were shown its whole address. None if it can't be opened.
pub(crate) fn followed_link(link: UrlParts) -> Option<Passed<String>> {
    link.openable.then_some(Passed(link.url))
}

fn answer_hash(answer: &Answer) -> Hash {
    Hash::of(&match answer {
        Answer::Sampling(result) => json!({ "sampling": result }),
        Answer::Elicitation(result) => json!({ "elicitation": result }),
        Answer::Roots(roots) => json!({ "roots": roots }),
        Answer::Refused { code, message } => json!({ "refused": code, "message": message }),
    })
}

fn page_hash(url: &str) -> Hash {
    Hash::of(&json!({ "page": url }))
}

/// Over the whole address but what is made for one use, parameters in their order.
fn sign_in_page_hash(url: &str) -> Hash {
    let Ok(mut page) = Url::parse(url) else { return Hash::of(&json!({ "sign-in": url })) };
    let is_kept = |(name, _): &(String, String)| !OF_ONE_USE.contains(&name.as_str());
    let kept: Vec<(String, String)> = page.query_pairs().into_owned().filter(is_kept).collect();
    page.set_query(None);
    Hash::of(&json!({ "sign-in": page.as_str(), "parameters": kept }))
}

fn client_hash(client: &EnteredClient) -> Hash {
    Hash::of(&json!({ "client": client.client_id, "secret": client.client_secret }))
}

impl Owner {
    /// The user's word on the consent request at this place, given to what had this hash.
    ///
    /// # Errors
    /// If the request is being acted on, or is not what was shown.
    pub(super) fn approval(&self, at: usize, shown: &str) -> Result<Approval, AnswerError> {
        let pending = &self.consent.pending[at];
        let now = pending.hash();
        if pending.being_acted_on || now != pending.view.hash || now.as_str() != shown {
            return Err(AnswerError::Stale);
        }
        Ok(Approval { request: pending.view.id, shown: now })
    }

    /// Lets this leave by the user's approval: writes it down, and then does `act` with the place of the consent request, which stays
    /// in the queue. Until the log has the entry nothing but a refusal acts on the request.
    ///
    /// `act` gets the cause if nothing may leave: the request is gone or is not what was approved, or it can't be written down. If
    /// that shows only once the log has the entry, the log also has that nothing left.
    pub(super) fn depart(
        &mut self,
        approval: Approval,
        scope: Scope,
        mut leaving: Leaving,
        act: impl FnOnce(&mut Self, Result<(usize, Departure), AnswerError>) -> Result<AnswerProgress, AnswerError>
        + Send
        + 'static,
    ) -> Result<AnswerProgress, AnswerError> {
        let Approval { request, shown } = approval;
        let Some(at) = self.consent.position(request) else {
            return act(self, Err(AnswerError::NotOpen));
        };
        let pending = &mut self.consent.pending[at];
        if pending.being_acted_on || pending.hash() != shown {
            return act(self, Err(AnswerError::Stale));
        }
        (pending.being_acted_on, pending.being_written) = (true, true);
        let (to, leaves) = (pending.view.server.clone(), leaving.leaves.clone());
        let asker = asker_of(&pending.view.why);
        let (entry, judgement) = (
            self.entry_of(&self.consent.pending[at], QuestionOutcome::Allowed, Some(scope), &mut leaving),
            self.permissions.judgement,
        );
        self.audit_entry(entry, move |owner, written| {
            let departed = match written {
                Ok(()) => owner.still_approved(request, &shown, judgement).inspect_err(|_| {
                    owner.note_not_sent(&to, &leaving, asker);
                }),
                Err(error) => {
                    tracing::error!(%error, "a decision could not be written down");
                    owner.consent.release(request);
                    Err(AnswerError::Audit)
                }
            };
            let acted = act(owner, departed.map(|at| (at, Departure { to, leaves })));
            owner.consent.answered(request, acted);
        });
        Ok(AnswerProgress::Later)
    }

    /// The place of a consent request whose entry is written now, if it is still what was approved, and no rule denies it since.
    fn still_approved(&mut self, request: QuestionId, shown: &Hash, judgement: u64) -> Result<usize, AnswerError> {
        let at = self.consent.release(request).ok_or(AnswerError::NotOpen)?;
        if self.consent.pending[at].hash() != *shown {
            return Err(AnswerError::Stale);
        }
        match self.denied_now(at).filter(|_| judgement != self.permissions.judgement) {
            Some(by) => {
                self.refuse_by_rule(at, by);
                Err(AnswerError::Denied(by.to_string()))
            }
            None => Ok(at),
        }
    }

    /// The same, and takes the consent request out of the queue.
    ///
    /// # Errors
    /// As [`Owner::depart`]. Then the request stays.
    pub(super) fn take_allowed(
        &mut self,
        approval: Approval,
        scope: Scope,
        leaving: Leaving,
        act: impl FnOnce(&mut Self, PendingRequest, Departure) -> Result<AnswerProgress, AnswerError> + Send + 'static,
    ) -> Result<AnswerProgress, AnswerError> {
        self.depart(approval, scope, leaving, move |owner, departed| {
            let (at, departure) = departed?;
            let pending = owner.consent.pending.remove(at);
            owner.events.emit(HostEvent::QuestionClosed { id: pending.view.id, outcome: QuestionOutcome::Allowed });
            act(owner, pending, departure)
        })
    }

    /// Gives a server the answer that the user approved. What is not that becomes a refusal.
    pub(super) fn give(&mut self, pending: &PendingRequest, answer: Answer, departure: Departure) {
        let passed = departure.answer(&pending.view.server, answer).unwrap_or_else(|Changed| {
            tracing::error!(server = pending.view.server, "an answer was another than was approved, and was not sent");
            refuses(refusal("the answer could not be sent".to_owned()))
        });
        self.give_passed(pending, passed);
    }

    /// Tells a server that its page was opened, which was approved with the page.
    pub(super) fn tell_opened(&mut self, pending: &PendingRequest) {
        let accept = ElicitResult { action: ElicitAction::Accept, content: None };
        self.give_passed(pending, Passed(Answer::Elicitation(accept)));
    }

    fn give_passed(&mut self, pending: &PendingRequest, answer: Passed<Answer>) {
        if pending.is_asked_by_server() {
            self.count_answer(&pending.view.server, false);
        }
        if let RequestPurpose::Request { run, request, call } = &pending.purpose {
            self.servers.tell_answer(&pending.view.server, *run, *request, answer);
            if let Some(call) = call {
                self.input_given(call);
            }
        }
    }

    /// Lets a call leave, if it is still what was permitted. Also gives whether its tool says that it reaches an open world.
    ///
    /// # Errors
    /// If the tool is another by now, or the request.
    pub(super) fn pass_call(
        &mut self,
        call: &Call,
        request: CallRequest,
        departure: Departure,
    ) -> Result<(Passed<ClientRequest>, bool), CallFailure> {
        let changed = || CallFailure::Refused(format!("because \"{}\" changed after it was allowed", call.name));
        let (now, open_world) = match request.get() {
            ClientRequest::CallTool { name, .. } => {
                let definition = self.definition_now(&call.server, name).ok_or_else(changed)?;
                (request.current_hash(definition).ok_or_else(changed)?, definition.says_open_world)
            }
            ClientRequest::GetPrompt { name, arguments } => {
                (Cow::Owned(read_hash(CallKind::Prompt, name, arguments.clone())), false)
            }
            ClientRequest::ReadResource { uri } => (Cow::Owned(read_hash(CallKind::Resource, uri, Map::new())), false),
            _ => return Err(changed()),
        };
        if departure.permits(&call.server, &now) {
            Ok((Passed(request.into_inner()), open_world))
        } else {
            Err(changed())
        }
    }

    /// Lets a request leave that is neither shown nor written down: a completion, a subscription, a level of
    /// logging, a ping, a list of skills or an entry of it.
    ///
    /// # Errors
    /// If it is none of these, or, for a completion and a subscription, if a rule or the preset would ask about reading or denies it.
    pub(super) fn pass_quietly(
        &self,
        server: &str,
        request: ClientRequest,
    ) -> Result<Passed<ClientRequest>, CallFailure> {
        match &request {
            ClientRequest::Complete { .. } | ClientRequest::Subscribe { .. } => {
                self.permissions.may_read_quietly(server, self.now())?
            }
            ClientRequest::Unsubscribe { .. } | ClientRequest::SetLogLevel { .. } | ClientRequest::Ping => {}
            // A list like that of tools, and one entry of it; what they name is read as a resource.
            ClientRequest::Extension { extension: SKILLS, method: "skills/list" | "skills/get", .. } => {}
            _ => return Err(CallFailure::Refused("because nothing of it may leave unasked".to_owned())),
        }
        Ok(Passed(request))
    }
}

fn read_hash(kind: CallKind, name: &str, arguments: Map<String, serde_json::Value>) -> Hash {
    hash_of(&QuestionBody::Read { kind, name: name.to_owned(), arguments }, None)
}

#[cfg(test)]
mod tests;
