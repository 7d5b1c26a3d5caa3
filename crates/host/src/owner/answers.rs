//! The user's answers, each bound to the hash of what was shown.

use std::path::{Path, PathBuf};

use mcp_proto::session::{Answer, ClientNotification};
use mcp_proto::types::{ElicitAction, ElicitResult};
use policy::{By, Grant, GrantId, Hash, Scope, Subject};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::Owner;
use super::approvals::{address_words, command_words};
use super::audit::Decided;
use super::definitions::definition_hash;
use super::gate::{Approval, Changed, Leaving, open_page, refuses};
use super::questions::{For, Pending, content_of, kind_of, refused, subject_of};
use super::roots::roots_in;
use super::sign_in::Answered;
use crate::activity::now;
use crate::connection::Tell;
use crate::form::FormProblem;
use crate::ports::StoreError;
use crate::sampling::{Limit, Unfit};
use crate::url_parts::UrlParts;
use crate::view::{
    CallFailure, Edit, HostEvent, Millis, Outcome, QuestionBody, QuestionId, QuestionView, ServerState, UserAnswer,
};

/// Why an answer could not be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// It is not in the queue any more.
    #[error("this question is no longer open")]
    NotOpen,
    /// What would cross is no longer what was shown.
    #[error("this question changed; look at it again")]
    Stale,
    /// A rule says that it must not cross. The question is refused.
    #[error("{0} says that it must not cross, so it was refused")]
    Denied(String),
    /// It does not fit the question.
    #[error("this answer does not fit: {0}")]
    WrongKind(&'static str),
    /// The form's content is not what the form asks for.
    #[error("some fields are not filled in as the form asks")]
    Form(Vec<FormProblem>),
    /// A folder can't be shared.
    #[error("{folder}: {cause}")]
    Folder {
        /// The folder.
        folder: String,
        /// Why not.
        cause: String,
    },
    /// The decision could not be written down, so nothing crossed.
    #[error("the audit log can't be written, so nothing was sent")]
    Audit,
    /// The server has used up what it may use of the user's models.
    #[error("{0} is the limit of this server; answer by hand, or raise the limit on its page, under Permissions")]
    Budget(Limit),
    /// No price is known of the model, and the server may only spend so much.
    #[error(
        "this server has a limit in money, and the price of {0} is not known; choose another model, or answer by hand"
    )]
    NoPrice(String),
    /// The request can't be put to a model.
    #[error("{0}")]
    Unfit(Unfit),
    /// There is no such model.
    #[error("{0}")]
    Model(String),
    /// The browser could not be opened.
    #[error("the browser could not be opened: {0}")]
    Browser(String),
}

/// For how long an approval holds.
struct Lasting {
    scope: Scope,
    conversation: Option<String>,
    expires_at: Option<Millis>,
}

/// The longest reason for a refusal, in characters.
const MAX_REASON: usize = 2_000;

/// Where the outcome of an answer goes.
pub(crate) type Reply = oneshot::Sender<Result<(), AnswerError>>;

impl Owner {
    /// Takes an answer. It acts once, and only if the hash is that of what would cross now.
    pub(crate) fn answer(&mut self, id: QuestionId, hash: &str, answer: UserAnswer, reply: Reply) {
        let Some(at) = self.questions.iter().position(|p| p.view.id == id) else {
            let _ = reply.send(Err(AnswerError::NotOpen));
            return;
        };
        // A refusal lets nothing cross, whatever was shown.
        if matches!(answer, UserAnswer::Deny | UserAnswer::Cancel) {
            let refused = if self.questions[at].being_acted_on {
                Err(AnswerError::Stale)
            } else {
                let outcome = if answer == UserAnswer::Deny { Outcome::Denied } else { Outcome::Cancelled };
                self.refuse_as_user(at, outcome, None);
                Ok(())
            };
            let _ = reply.send(refused);
            return;
        }
        let approval = match self.approval(at, hash) {
            Ok(approval) => approval,
            Err(stale) => {
                let pending = &self.questions[at];
                if !pending.being_acted_on && pending.hash() != pending.view.hash {
                    self.ask_anew(at);
                }
                let _ = reply.send(Err(stale));
                return;
            }
        };
        // Rules may have changed since it was asked, and the user what would cross.
        if let Some(by) = self.denied_now(at) {
            self.refuse_by_rule(at, by);
            let _ = reply.send(Err(AnswerError::Denied(by.to_string())));
            return;
        }
        // A URL is opened before its question ends, so that the user sees it if that fails.
        if let (UserAnswer::Allow(_), QuestionBody::Url { url, .. }) = (&answer, &self.questions[at].view.body) {
            let parts = UrlParts::asked_by_server(url);
            self.open_then_accept(approval, id, parts, reply);
            return;
        }
        let result = self.act(at, approval, answer);
        let _ = reply.send(result);
    }

    /// The file that would run is another one than when it was asked, as after a build: it is looked for, and asked about, anew.
    fn ask_anew(&mut self, at: usize) {
        let (id, server) = (self.questions[at].view.id, self.questions[at].view.server.clone());
        self.end_questions(|pending| pending.view.id == id);
        if let Some(record) = self.servers.get_mut(&server) {
            record.set(ServerState::Stopped);
        }
        if let Err(error) = self.start(&server) {
            tracing::error!(%error, "a server whose program changed could not be asked about again");
        }
    }

    /// What lets something leave needs the approval; the rest lets nothing leave.
    fn act(&mut self, at: usize, approval: Approval, answer: UserAnswer) -> Result<(), AnswerError> {
        match answer {
            UserAnswer::Deny => self.refuse_as_user(at, Outcome::Denied, None),
            UserAnswer::DenyBecause(reason) => self.refuse_as_user(at, Outcome::Denied, Some(&reason)),
            UserAnswer::Cancel => self.refuse_as_user(at, Outcome::Cancelled, None),
            UserAnswer::Allow(scope) => self.allow(at, approval, scope, None)?,
            UserAnswer::AllowFor(scope, lasts) => self.allow(at, approval, scope, Some(lasts))?,
            UserAnswer::Submit(content) => self.submit(at, approval, content)?,
            UserAnswer::Share(folders) => self.share(at, approval, &folders)?,
            UserAnswer::Client(client) => self.identify(at, approval, client)?,
            UserAnswer::ByHand => self.answer_by_hand(at)?,
            UserAnswer::Again => self.ask_model_again(at, approval)?,
            UserAnswer::Back => self.back_to_request(at)?,
            UserAnswer::Stop => self.stop_model(at)?,
        }
        Ok(())
    }

    /// Refuses one question, which counts against the server if it asked.
    fn refuse_as_user(&mut self, at: usize, outcome: Outcome, reason: Option<&str>) {
        let asked = Some(&self.questions[at]).filter(|p| p.is_asked_by_server()).map(|p| p.view.server.clone());
        self.refuse(at, outcome, reason);
        if let Some(server) = asked {
            self.count_answer(&server, true);
        }
    }

    fn refuse(&mut self, at: usize, outcome: Outcome, reason: Option<&str>) {
        let pending = self.questions.remove(at);
        self.write_down(&pending, outcome, None);
        let why = reason.map(|reason| format!(", who says: {}", cut(reason, MAX_REASON))).unwrap_or_default();
        let by = format!("by the {}{why}", self.options.decides);
        self.tell_refusal(&pending, outcome, by);
    }

    /// Refuses what a rule denies.
    pub(super) fn refuse_by_rule(&mut self, at: usize, by: By) {
        let pending = self.questions.remove(at);
        let rule = by.to_string();
        self.note(Decided {
            server: &pending.view.server,
            kind: kind_of(&pending.view.body),
            subject: &subject_of(&pending.view.body),
            decision: "denied",
            by: "policy",
            hash: pending.view.hash.as_str(),
            rule: rule.clone().into(),
            ..Decided::default()
        });
        self.tell_refusal(&pending, Outcome::Denied, format!("by {rule}"));
    }

    /// Tells whoever waits for it that a question was refused.
    pub(super) fn tell_refusal(&mut self, pending: &Pending, outcome: Outcome, by: String) {
        self.emit(HostEvent::QuestionClosed { id: pending.view.id, outcome });
        match &pending.what_for {
            For::Start => {
                let remote = matches!(pending.view.body, QuestionBody::ConnectServer { .. });
                let what = if remote { "its address was not approved" } else { "its command was not approved" };
                let kept = self.decline_package(&pending.view.server, &pending.view.body);
                self.fail(&pending.view.server, kept.as_deref().unwrap_or(what));
            }
            For::Call(call) => {
                let failure = match outcome {
                    Outcome::Denied => CallFailure::Refused(by),
                    _ => CallFailure::Cancelled,
                };
                self.end_call(call, Err(failure));
            }
            For::Request { run, request, call } => {
                let refusal = refuses(refused(&pending.view.body, outcome));
                self.tell_answer(&pending.view.server, *run, *request, refusal);
                if let Some(call) = call {
                    self.input_given(call);
                }
            }
            For::SignIn(number) => {
                let answered = if outcome == Outcome::Denied { Answered::No } else { Answered::Cancelled };
                self.answer_sign_in(&pending.view, *number, answered);
            }
            For::Result(call) => self.leave_result_out(call, outcome, by),
            For::Page => {}
        }
    }

    /// Lets a question cross. `lasts` is for how many milliseconds an approval holds, if not for as long as its scope says.
    fn allow(&mut self, at: usize, approval: Approval, scope: Scope, lasts: Option<Millis>) -> Result<(), AnswerError> {
        let pending = &self.questions[at];
        if !pending.view.scopes.contains(&scope) || (scope == Scope::Once && lasts.is_some()) {
            return Err(AnswerError::WrongKind("an approval can't hold that long here"));
        }
        let conversation = self.conversation_of(&pending.view.why).filter(|_| scope == Scope::Conversation);
        if scope == Scope::Conversation && conversation.is_none() {
            return Err(AnswerError::WrongKind("it belongs to no conversation"));
        }
        let lasting = Lasting { scope, conversation, expires_at: lasts.map(|lasts| now().saturating_add(lasts)) };
        match &pending.view.body {
            QuestionBody::StartServer { config, .. } => {
                let (server, words) = (pending.view.server.clone(), command_words(config));
                let leaving = Leaving::shown(pending);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                self.grant(&server, Subject::Command, pending.view.hash, lasting, words);
                self.launch(&server, departure);
            }
            QuestionBody::ConnectServer { config, .. } => {
                let (server, words) = (pending.view.server.clone(), address_words(config));
                let leaving = Leaving::shown(pending);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                self.grant(&server, Subject::Command, pending.view.hash, lasting, words);
                self.launch(&server, departure);
            }
            QuestionBody::Tool { tool, arguments, .. } => {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                let leaving = Leaving::shown(pending);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                self.pin_tool(&pending.view.server, &tool);
                if let Some(record) = self.servers.get(&pending.view.server) {
                    let definition = definition_hash(&record.config, &tool);
                    self.grant(&pending.view.server, Subject::Tool(tool.name.clone()), definition, lasting, tool.name);
                }
                if let For::Call(call) = pending.what_for {
                    self.send_approved(&call, arguments, departure);
                }
            }
            QuestionBody::Read { .. } => {
                let leaving = Leaving::shown(pending);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                if let For::Call(call) = pending.what_for {
                    self.send_as_it_is(&call, departure);
                }
            }
            QuestionBody::Result { .. } => {
                let leaving = Leaving::shown(pending);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                self.pass_result(&pending, departure);
            }
            QuestionBody::Sampling { response: None, .. } => self.take_up(at, approval)?,
            QuestionBody::Sampling { response: Some(response), .. } => {
                let answer = Answer::Sampling(response.clone());
                self.check_sampling_answer(&pending.view.server, response)?;
                let logged = (Hash::of(&json!({ "answer": response })), content_of(&pending.view.body));
                let leaving = Leaving::answer(pending, subject_of(&pending.view.body), logged, &answer);
                let (pending, departure) = self.take_allowed(approval, scope, leaving)?;
                self.give(&pending, answer, departure);
            }
            QuestionBody::Form { .. } => return Err(AnswerError::WrongKind("a form is submitted with its content")),
            QuestionBody::Url { .. } => return Err(AnswerError::WrongKind("a URL is opened first")),
            QuestionBody::Roots => return Err(AnswerError::WrongKind("folders are shared by name")),
            QuestionBody::SignIn { .. } => self.allow_sign_in(at, approval, scope)?,
            QuestionBody::ClientId { .. } => return Err(AnswerError::WrongKind("it asks for an id")),
        }
        Ok(())
    }

    fn submit(&mut self, at: usize, approval: Approval, content: Map<String, Value>) -> Result<(), AnswerError> {
        let pending = &self.questions[at];
        let QuestionBody::Form { form, message } = &pending.view.body else {
            return Err(AnswerError::WrongKind("it is no form"));
        };
        let Ok(form) = form else {
            return Err(AnswerError::WrongKind("this form can't be shown; it can only be declined"));
        };
        let problems = form.problems(&content);
        if !problems.is_empty() {
            return Err(AnswerError::Form(problems));
        }
        // Whoever has the hash of a password can try which one fits.
        let kept = form.without_secrets(&content);
        let logged = (Hash::of(&json!(kept)), Some(policy::canonical_object(&kept)));
        let answer = Answer::Elicitation(ElicitResult { action: ElicitAction::Accept, content: Some(content) });
        let leaving = Leaving::answer(pending, message.clone(), logged, &answer);
        let (pending, departure) = self.take_allowed(approval, Scope::Once, leaving)?;
        self.give(&pending, answer, departure);
        Ok(())
    }

    fn share(&mut self, at: usize, approval: Approval, folders: &[PathBuf]) -> Result<(), AnswerError> {
        if self.questions[at].view.body != QuestionBody::Roots {
            return Err(AnswerError::WrongKind("it does not ask for folders"));
        }
        let folders = real_folders(folders)?;
        let server = self.questions[at].view.server.clone();
        let told = self.told_of(&server, folders.clone());
        let subject = policy::canonical_json(&json!(told));
        let logged = (Hash::of_bytes(subject.as_bytes()), None);
        let answer = Answer::Roots(roots_in(&told));
        let leaving = Leaving::answer(&self.questions[at], subject, logged, &answer);
        let (pending, departure) = self.take_allowed(approval, Scope::Always, leaving.clone())?;
        self.share_roots(&server, folders);
        self.give(&pending, answer.clone(), departure);
        // The user has decided; the same question need not be answered twice.
        let same = |p: &Pending| p.view.server == server && p.view.body == QuestionBody::Roots;
        while let Some(at) = self.questions.iter().position(same) {
            let shown = self.questions[at].view.hash.clone();
            let Ok(approval) = self.approval(at, shown.as_str()) else { break };
            let taken = self.take_allowed(approval, Scope::Always, leaving.clone());
            let Ok((pending, departure)) = taken else { break };
            self.give(&pending, answer.clone(), departure);
        }
        self.emit_server(&server);
        Ok(())
    }

    /// Sets the folders of a server outside any question, and tells it.
    pub(crate) fn set_roots(&mut self, server: &str, folders: &[PathBuf]) -> Result<(), AnswerError> {
        if !self.servers.contains_key(server) {
            return Err(AnswerError::WrongKind("there is no such server"));
        }
        let folders = real_folders(folders)?;
        let subject = policy::canonical_json(&json!(folders));
        let hash = Hash::of_bytes(subject.as_bytes());
        let entry = Decided {
            server,
            kind: "roots",
            subject: &subject,
            decision: "allowed",
            scope: Some(Scope::Always),
            by: self.options.decides,
            hash: hash.as_str(),
            ..Decided::default()
        };
        self.audit(entry).map_err(|_| AnswerError::Audit)?;
        self.share_roots(server, folders);
        // A server that is not ready reads the folders when it is.
        let _ = self.tell(server, Tell::Notify(ClientNotification::RootsListChanged));
        self.emit_server(server);
        Ok(())
    }

    fn open_then_accept(&mut self, approval: Approval, id: QuestionId, parts: UrlParts, reply: Reply) {
        if !parts.openable {
            let _ = reply.send(Err(AnswerError::Browser("this address can't be opened; decline it".into())));
            return;
        }
        let Some(shown) = self.questions.iter().find(|p| p.view.id == id).map(Pending::copy) else { return };
        let departed = self.depart(approval, Scope::Once, Leaving::page(&shown, &parts.url));
        let page = departed.and_then(|(at, departure)| {
            let page = departure.page(&shown.view.server, parts.url).map_err(|Changed| AnswerError::Stale)?;
            Ok((at, page))
        });
        let (at, page) = match page {
            Ok(page) => page,
            Err(error) => {
                let _ = reply.send(Err(error));
                return;
            }
        };
        self.questions[at].being_acted_on = true;
        let platform = self.ports.platform.clone();
        let opening = async move { open_page(platform.as_ref(), page).await };
        self.beside(opening, move |owner, opened| {
            let result = match opened {
                Err(cause) => {
                    owner.write_down(&shown, Outcome::Withdrawn, None);
                    if let Some(pending) = owner.questions.iter_mut().find(|p| p.view.id == id) {
                        pending.being_acted_on = false;
                    }
                    Err(AnswerError::Browser(cause))
                }
                // While it is being opened nothing else acts on it, so what opened it accepts it.
                Ok(()) => match owner.questions.iter().position(|p| p.view.id == id) {
                    None => Err(AnswerError::NotOpen),
                    Some(at) => {
                        let pending = owner.questions.remove(at);
                        owner.emit(HostEvent::QuestionClosed { id, outcome: Outcome::Allowed });
                        owner.tell_opened(&pending);
                        Ok(())
                    }
                },
            };
            let _ = reply.send(result);
        });
    }

    fn grant(&mut self, server: &str, subject: Subject, rests_on: Hash, lasting: Lasting, words: String) {
        let Lasting { scope, conversation, expires_at } = lasting;
        if scope == Scope::Once {
            return;
        }
        let grant = Grant {
            id: GrantId::default(),
            server: server.to_owned(),
            subject: subject.clone(),
            rests_on,
            scope,
            conversation,
            since: now(),
            expires_at,
            words,
        };
        self.judgement += 1;
        match self.policy.grants_mut().add(grant) {
            Ok(id) => {
                if let Err(error) = self.keep_grants(server, Some(&subject)) {
                    self.policy.grants_mut().keep_for_session(id);
                    tracing::error!(%error, "the approval could not be written; it holds until Drawbridge ends");
                }
            }
            Err(error) => tracing::warn!(%error, "the approval holds for this once"),
        }
        self.emit(HostEvent::AuditChanged(None));
        self.emit(HostEvent::CatalogChanged(server.to_owned()));
        self.emit_server(server);
    }

    /// Changes what would cross. The question then has another hash.
    pub(crate) fn edit(&mut self, id: QuestionId, edit: Edit) -> Result<QuestionView, AnswerError> {
        let at = self.questions.iter().position(|p| p.view.id == id).ok_or(AnswerError::NotOpen)?;
        match (edit, &mut self.questions[at].view.body) {
            (Edit::Arguments(new), QuestionBody::Tool { arguments, .. }) => *arguments = new,
            (Edit::Response(new), QuestionBody::Sampling { response: Some(response), .. }) => *response = new,
            (Edit::Request(new), QuestionBody::Sampling { response: None, .. }) => self.edit_request(at, new)?,
            (Edit::Model(model), QuestionBody::Sampling { response: None, .. }) => self.edit_model(at, model)?,
            _ => return Err(AnswerError::WrongKind("this part of the question can't be changed")),
        }
        self.changed(at);
        Ok(self.questions[at].view.clone())
    }

    pub(super) fn changed(&mut self, at: usize) {
        let hash = self.questions[at].hash();
        self.questions[at].view.hash = hash;
        let view = self.questions[at].view.clone();
        self.emit(HostEvent::QuestionChanged(Box::new(view)));
    }

    /// What is wrong with a form's content.
    pub(crate) fn check_form(
        &self,
        id: QuestionId,
        content: &Map<String, Value>,
    ) -> Result<Vec<FormProblem>, AnswerError> {
        let pending = self.questions.iter().find(|p| p.view.id == id).ok_or(AnswerError::NotOpen)?;
        match &pending.view.body {
            QuestionBody::Form { form: Ok(form), .. } => Ok(form.problems(content)),
            _ => Err(AnswerError::WrongKind("it is no form")),
        }
    }

    /// Refuses all that a server asks for now, and with `mute` what it will ask for. A page that is being opened was allowed
    /// already.
    pub(crate) fn deny_all(&mut self, server: &str, mute: bool) {
        if mute {
            self.policy.mute(server);
        }
        self.dealt_with(server, mute);
        self.refuse_unasked(server);
        let is_open = |p: &Pending| p.view.server == server && !p.being_acted_on;
        let asked = self.questions.iter().any(|p| is_open(p) && p.is_asked_by_server());
        // Also what the user began: a list that keeps some of them would not be empty after "deny all".
        while let Some(at) = self.questions.iter().position(is_open) {
            self.refuse(at, Outcome::Denied, None);
        }
        // However many there were, it is one refusal.
        if asked {
            self.count_answer(server, true);
        }
        self.emit_server(server);
    }

    pub(crate) fn grants(&self) -> Vec<policy::Grant> {
        self.policy.grants().iter().cloned().collect()
    }

    /// Takes a standing approval back; whether there was one.
    pub(crate) fn revoke(&mut self, id: policy::GrantId) -> Result<bool, StoreError> {
        let Some(grant) = self.policy.grants_mut().revoke(id) else { return Ok(false) };
        self.judgement += 1;
        let subject = match &grant.subject {
            Subject::Command => grant.words.clone(),
            Subject::Tool(tool) => tool.clone(),
        };
        let entry = Decided {
            server: &grant.server,
            kind: "revoke",
            subject: &subject,
            decision: "denied",
            scope: Some(grant.scope),
            by: self.options.decides,
            hash: grant.rests_on.as_str(),
            ..Decided::default()
        };
        self.note(entry);
        if grant.subject == Subject::Command {
            self.approval_revoked(&grant.server);
        }
        self.emit(HostEvent::CatalogChanged(grant.server.clone()));
        self.emit_server(&grant.server);
        self.keep_grants(&grant.server, Some(&grant.subject))?;
        Ok(true)
    }
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// Folders as they really are: absolute, existing, links resolved, each once.
fn real_folders(folders: &[PathBuf]) -> Result<Vec<PathBuf>, AnswerError> {
    let mut real: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let bad = |cause: &str| AnswerError::Folder { folder: folder.display().to_string(), cause: cause.to_owned() };
        if !folder.is_absolute() {
            return Err(bad("give the whole path, from the root"));
        }
        let path = Path::canonicalize(folder).map_err(|e| bad(&e.to_string()))?;
        if !path.is_dir() {
            return Err(bad("it is not a folder"));
        }
        if !real.contains(&path) {
            real.push(path);
        }
    }
    Ok(real)
}
