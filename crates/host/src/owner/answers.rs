//! The user's answers, each bound to the hash of what was shown.

use std::path::{Path, PathBuf};

use domain::call::CallFailure;
use domain::question::{QuestionId, QuestionOutcome};
use domain::{Millis, StoreError};
use launches::approvals::{address_words, command_words};
use launches::files_now::files_now;
use mcp_proto::session::{Answer, ClientNotification};
use mcp_proto::types::{ElicitAction, ElicitResult};
use policy::{By, Grant, GrantId, Hash, Scope, Subject};
use ports::server_config::definition_hash;
use ports::time::now;
use ports::url_parts::UrlParts;
use process::LaunchFiles;
use serde_json::{Map, Value, json};
use server_requests::form::FormProblem;
use server_requests::sampling::{Limit, Unfit};
use tokio::sync::oneshot;

use super::Owner;
use super::audit::Decided;
use super::gate::{Approval, Changed, Departure, Leaving, open_page, refuses};
use super::links::follow;
use super::questions::{For, Pending, content_of, kind_of, refused, subject_of};
use super::roots::roots_in;
use super::sign_in::Answered;
use crate::connection::Tell;
use crate::view::{Edit, HostEvent, QuestionBody, QuestionView, ServerState, UserAnswer};

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
    /// The files of a command can't be looked at.
    #[error(
        "the program's files did not answer in time, so nothing was started; see if their disk can be reached, then try again"
    )]
    Files,
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

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acted {
    /// It is carried out.
    Done,
    /// Something has to be written first; [`Owner::answered`] tells its outcome.
    Later,
}

impl Owner {
    /// Takes an answer. It acts once, and only if the hash is that of what would cross now.
    pub(crate) fn answer(&mut self, id: QuestionId, hash: &str, answer: UserAnswer, reply: Reply) {
        let Some(at) = self.consent.pending.iter().position(|p| p.view.id == id) else {
            let _ = reply.send(Err(AnswerError::NotOpen));
            return;
        };
        // A refusal lets nothing cross, whatever was shown.
        if matches!(answer, UserAnswer::Deny | UserAnswer::Cancel) {
            let refused = if self.consent.pending[at].can_be_refused() {
                let outcome =
                    if answer == UserAnswer::Deny { QuestionOutcome::Denied } else { QuestionOutcome::Cancelled };
                self.refuse_as_user(at, outcome, None);
                Ok(())
            } else {
                Err(AnswerError::Stale)
            };
            let _ = reply.send(refused);
            return;
        }
        let pending = &self.consent.pending[at];
        if pending.being_acted_on || pending.being_looked_at {
            let _ = reply.send(Err(AnswerError::Stale));
            return;
        }
        let (paths, hash) = (self.paths_in_question(pending), hash.to_owned());
        if let QuestionBody::StartServer { files, .. } = &pending.view.body {
            let looking = files_now(files.clone(), self.options.look_at_files);
            self.consent.pending[at].being_looked_at = true;
            self.beside(looking, move |owner, files| owner.answer_start(id, &hash, answer, files, reply));
        } else if paths.is_empty() {
            self.answer_at(at, &hash, answer, reply);
        } else {
            self.consent.pending[at].being_looked_at = true;
            self.beside(follow(paths), move |owner, paths| {
                if let Some(at) = owner.looked_at(id) {
                    owner.consent.pending[at].paths = paths;
                    owner.answer_at(at, &hash, answer, reply);
                } else {
                    let _ = reply.send(Err(AnswerError::NotOpen));
                }
            });
        }
    }

    /// Takes an answer to a start, now that it is known which files would run.
    fn answer_start(
        &mut self,
        id: QuestionId,
        hash: &str,
        answer: UserAnswer,
        files: Option<LaunchFiles>,
        reply: Reply,
    ) {
        let at = self.looked_at(id).ok_or(AnswerError::NotOpen);
        match at.and_then(|at| Ok((at, files.ok_or(AnswerError::Files)?))) {
            Ok((at, files)) => {
                self.consent.pending[at].files_now = Some(files);
                self.answer_at(at, hash, answer, reply);
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// The place of a question that was looked at for an answer, if it is still there.
    fn looked_at(&mut self, id: QuestionId) -> Option<usize> {
        let at = self.consent.pending.iter().position(|p| p.view.id == id)?;
        self.consent.pending[at].being_looked_at = false;
        Some(at)
    }

    fn answer_at(&mut self, at: usize, hash: &str, answer: UserAnswer, reply: Reply) {
        let id = self.consent.pending[at].view.id;
        let approval = match self.approval(at, hash) {
            Ok(approval) => approval,
            Err(stale) => {
                let pending = &self.consent.pending[at];
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
        self.consent.answering.insert(id, reply);
        let acted = match (&answer, &self.consent.pending[at].view.body) {
            // A URL is opened before its question ends, so that the user sees it if that fails.
            (UserAnswer::Allow(_), QuestionBody::Url { url, .. }) => {
                let parts = UrlParts::asked_by_server(url);
                self.open_then_accept(at, approval, parts)
            }
            _ => self.act(at, approval, answer),
        };
        self.consent.answered(id, acted);
    }

    /// The file that would run is another one than when it was asked, as after a build: it is looked for, and asked about, anew.
    fn ask_anew(&mut self, at: usize) {
        let (id, server) = (self.consent.pending[at].view.id, self.consent.pending[at].view.server.clone());
        self.end_questions(|pending| pending.view.id == id);
        if let Some(record) = self.servers.records.get_mut(&server) {
            record.set(ServerState::Stopped);
        }
        if let Err(error) = self.start(&server) {
            tracing::error!(%error, "a server whose program changed could not be asked about again");
        }
    }

    /// What lets something leave needs the approval; the rest lets nothing leave.
    fn act(&mut self, at: usize, approval: Approval, answer: UserAnswer) -> Result<Acted, AnswerError> {
        match answer {
            UserAnswer::Deny => self.refuse_as_user(at, QuestionOutcome::Denied, None),
            UserAnswer::DenyBecause(reason) => self.refuse_as_user(at, QuestionOutcome::Denied, Some(&reason)),
            UserAnswer::Cancel => self.refuse_as_user(at, QuestionOutcome::Cancelled, None),
            UserAnswer::Allow(scope) => return self.allow(at, approval, scope, None),
            UserAnswer::AllowFor(scope, lasts) => return self.allow(at, approval, scope, Some(lasts)),
            UserAnswer::Submit(content) => return self.submit(at, approval, content),
            UserAnswer::Share(folders) => return self.share(at, approval, folders),
            UserAnswer::Client(client) => return self.identify(at, approval, client),
            UserAnswer::Again => return self.ask_model_again(at, approval),
            UserAnswer::ByHand => self.answer_by_hand(at)?,
            UserAnswer::Back => self.back_to_request(at)?,
            UserAnswer::Stop => self.stop_model(at)?,
        }
        Ok(Acted::Done)
    }

    /// Refuses one question, which counts against the server if it asked.
    fn refuse_as_user(&mut self, at: usize, outcome: QuestionOutcome, reason: Option<&str>) {
        let asked = Some(&self.consent.pending[at]).filter(|p| p.is_asked_by_server()).map(|p| p.view.server.clone());
        self.refuse(at, outcome, reason);
        if let Some(server) = asked {
            self.count_answer(&server, true);
        }
    }

    fn refuse(&mut self, at: usize, outcome: QuestionOutcome, reason: Option<&str>) {
        let pending = self.consent.pending.remove(at);
        self.write_down(&pending, outcome, None);
        let why = reason.map(|reason| format!(", who says: {}", cut(reason, MAX_REASON))).unwrap_or_default();
        let by = format!("by the {}{why}", self.options.decides);
        self.tell_refusal(&pending, outcome, by);
    }

    /// Refuses what a rule denies.
    pub(super) fn refuse_by_rule(&mut self, at: usize, by: By) {
        let pending = self.consent.pending.remove(at);
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
        self.tell_refusal(&pending, QuestionOutcome::Denied, format!("by {rule}"));
    }

    /// Tells whoever waits for it that a question was refused.
    pub(super) fn tell_refusal(&mut self, pending: &Pending, outcome: QuestionOutcome, by: String) {
        self.events.emit(HostEvent::QuestionClosed { id: pending.view.id, outcome });
        match &pending.what_for {
            For::Start => {
                let remote = matches!(pending.view.body, QuestionBody::ConnectServer { .. });
                let what = if remote { "its address was not approved" } else { "its command was not approved" };
                let kept = self.decline_package(&pending.view.server, &pending.view.body);
                self.fail(&pending.view.server, kept.as_deref().unwrap_or(what));
            }
            For::Call(call) => {
                let failure = match outcome {
                    QuestionOutcome::Denied => CallFailure::Refused(by),
                    _ => CallFailure::Cancelled,
                };
                self.end_call(call, Err(failure));
            }
            For::Request { run, request, call } => {
                let refusal = refuses(refused(&pending.view.body, outcome));
                self.servers.tell_answer(&pending.view.server, *run, *request, refusal);
                if let Some(call) = call {
                    self.input_given(call);
                }
            }
            For::SignIn(number) => {
                let answered = if outcome == QuestionOutcome::Denied { Answered::No } else { Answered::Cancelled };
                self.answer_sign_in(&pending.view, *number, answered);
            }
            For::Result(call) => self.calls.leave_result_out(call, outcome, by),
            For::Page => {}
        }
    }

    /// Lets a question cross. `lasts` is for how many milliseconds an approval holds, if not for as long as its scope says.
    fn allow(
        &mut self,
        at: usize,
        approval: Approval,
        scope: Scope,
        lasts: Option<Millis>,
    ) -> Result<Acted, AnswerError> {
        let pending = &self.consent.pending[at];
        if !pending.view.scopes.contains(&scope) || (scope == Scope::Once && lasts.is_some()) {
            return Err(AnswerError::WrongKind("an approval can't hold that long here"));
        }
        let conversation = self.calls.conversation_of(&pending.view.why).filter(|_| scope == Scope::Conversation);
        if scope == Scope::Conversation && conversation.is_none() {
            return Err(AnswerError::WrongKind("it belongs to no conversation"));
        }
        let lasting = Lasting { scope, conversation, expires_at: lasts.map(|lasts| now().saturating_add(lasts)) };
        match &pending.view.body {
            QuestionBody::StartServer { config, .. } => {
                let (words, leaving) = (command_words(config), Leaving::shown(pending));
                self.take_allowed(approval, scope, leaving, move |owner, pending, departure| {
                    Ok(owner.launch_approved(pending, departure, lasting, words))
                })
            }
            QuestionBody::ConnectServer { config, .. } => {
                let (words, leaving) = (address_words(config), Leaving::shown(pending));
                self.take_allowed(approval, scope, leaving, move |owner, pending, departure| {
                    Ok(owner.launch_approved(pending, departure, lasting, words))
                })
            }
            QuestionBody::Tool { tool, arguments, .. } => {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                let leaving = Leaving::shown(pending);
                self.take_allowed(approval, scope, leaving, move |owner, pending, departure| {
                    let mut acted = Acted::Done;
                    owner.pin_tool(&pending.view.server, &tool);
                    if let Some(record) = owner.servers.records.get(&pending.view.server) {
                        let definition = definition_hash(&record.config, &tool);
                        let subject = Subject::Tool(tool.name.clone());
                        acted = owner.grant(&pending.view, subject, definition, lasting, tool.name);
                    }
                    if let For::Call(call) = pending.what_for {
                        owner.send_approved(&call, arguments, departure);
                    }
                    Ok(acted)
                })
            }
            QuestionBody::Read { .. } => {
                let leaving = Leaving::shown(pending);
                self.take_allowed(approval, scope, leaving, |owner, pending, departure| {
                    if let For::Call(call) = pending.what_for {
                        owner.send_as_it_is(&call, departure);
                    }
                    Ok(Acted::Done)
                })
            }
            QuestionBody::Result { .. } => {
                let leaving = Leaving::shown(pending);
                self.take_allowed(approval, scope, leaving, |owner, pending, departure| {
                    owner.pass_result(&pending, departure);
                    Ok(Acted::Done)
                })
            }
            QuestionBody::Sampling { response: None, .. } => self.take_up(at, approval),
            QuestionBody::Sampling { response: Some(response), .. } => {
                let answer = Answer::Sampling(response.clone());
                self.check_sampling_answer(&pending.view.server, response)?;
                let logged = (Hash::of(&json!({ "answer": response })), content_of(&pending.view.body));
                let leaving = Leaving::answer(pending, subject_of(&pending.view.body), logged, &answer);
                self.take_allowed(approval, scope, leaving, move |owner, pending, departure| {
                    owner.give(&pending, answer, departure);
                    Ok(Acted::Done)
                })
            }
            QuestionBody::Form { .. } => Err(AnswerError::WrongKind("a form is submitted with its content")),
            QuestionBody::Url { .. } => Err(AnswerError::WrongKind("a URL is opened first")),
            QuestionBody::Roots => Err(AnswerError::WrongKind("folders are shared by name")),
            QuestionBody::SignIn { .. } => self.allow_sign_in(at, approval, scope),
            QuestionBody::ClientId { .. } => Err(AnswerError::WrongKind("it asks for an id")),
        }
    }

    fn launch_approved(&mut self, pending: Pending, departure: Departure, lasting: Lasting, words: String) -> Acted {
        let acted = self.grant(&pending.view, Subject::Command, pending.view.hash.clone(), lasting, words);
        self.launch(&pending.view.server, departure);
        acted
    }

    fn submit(&mut self, at: usize, approval: Approval, content: Map<String, Value>) -> Result<Acted, AnswerError> {
        let pending = &self.consent.pending[at];
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
        self.take_allowed(approval, Scope::Once, leaving, move |owner, pending, departure| {
            owner.give(&pending, answer, departure);
            Ok(Acted::Done)
        })
    }

    /// Shares these folders, which are as they really are.
    fn share(&mut self, at: usize, approval: Approval, folders: Vec<PathBuf>) -> Result<Acted, AnswerError> {
        if self.consent.pending[at].view.body != QuestionBody::Roots {
            return Err(AnswerError::WrongKind("it does not ask for folders"));
        }
        let server = self.consent.pending[at].view.server.clone();
        let told = self.servers.told_of(&server, folders.clone());
        let Some(shared) = self.servers.shared_with_command(&server, folders) else {
            return Err(AnswerError::WrongKind("there is no such server"));
        };
        let subject = policy::canonical_json(&json!(told));
        let logged = (Hash::of_bytes(subject.as_bytes()), None);
        let answer = Answer::Roots(roots_in(&told));
        let leaving = Leaving::answer(&self.consent.pending[at], subject, logged, &answer);
        let again = leaving.clone();
        self.take_allowed(approval, Scope::Always, leaving, move |owner, pending, departure| {
            owner.share_roots(&server, shared);
            owner.give(&pending, answer.clone(), departure);
            owner.share_again(&server, &again, &answer);
            owner.emit_server(&server);
            Ok(Acted::Done)
        })
    }

    /// The user has decided; the same question need not be answered twice.
    fn share_again(&mut self, server: &str, leaving: &Leaving, answer: &Answer) {
        let same = |p: &&Pending| p.view.server == server && p.view.body == QuestionBody::Roots && !p.being_acted_on;
        let others: Vec<QuestionId> = self.consent.pending.iter().filter(same).map(|p| p.view.id).collect();
        for id in others {
            let Some(at) = self.consent.pending.iter().position(|p| p.view.id == id) else { continue };
            let shown = self.consent.pending[at].view.hash.clone();
            let Ok(approval) = self.approval(at, shown.as_str()) else { break };
            let answer = answer.clone();
            let taken =
                self.take_allowed(approval, Scope::Always, leaving.clone(), move |owner, pending, departure| {
                    owner.give(&pending, answer, departure);
                    Ok(Acted::Done)
                });
            if taken.is_err() {
                break;
            }
        }
    }

    /// Sets the folders of a server outside any question, and tells it. They are as they really are.
    pub(crate) fn set_roots(&mut self, server: &str, folders: Vec<PathBuf>, reply: Reply) {
        let subject = policy::canonical_json(&json!(folders));
        let Some(shared) = self.servers.shared_with_command(server, folders) else {
            let _ = reply.send(Err(AnswerError::WrongKind("there is no such server")));
            return;
        };
        // What is taken back is not told any more, whatever becomes of the entry.
        self.narrow_roots(server, &shared);
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
        let server = server.to_owned();
        self.audit(entry, move |owner, written| {
            let set = written.map_err(|_| AnswerError::Audit).and_then(|()| {
                if !owner.share_roots(&server, shared) {
                    return Err(AnswerError::WrongKind("the server was removed or renamed meanwhile"));
                }
                Ok(())
            });
            // A server that is not ready reads the folders when it is.
            let _ = owner.servers.tell(&server, Tell::Notify(ClientNotification::RootsListChanged));
            owner.emit_server(&server);
            let _ = reply.send(set);
        });
    }

    fn open_then_accept(&mut self, at: usize, approval: Approval, parts: UrlParts) -> Result<Acted, AnswerError> {
        if !parts.openable {
            return Err(AnswerError::Browser("this address can't be opened; decline it".into()));
        }
        let shown = self.consent.pending[at].copy();
        let leaving = Leaving::page(&shown, &parts.url);
        self.depart(approval, Scope::Once, leaving, move |owner, departed| {
            let (at, departure) = departed?;
            let page = departure.page(&shown.view.server, parts.url).map_err(|Changed| AnswerError::Stale)?;
            owner.consent.pending[at].being_acted_on = true;
            let platform = owner.ports.platform.clone();
            let opening = async move { open_page(platform.as_ref(), page).await };
            owner.beside(opening, move |owner, opened| owner.on_opened(&shown, opened));
            Ok(Acted::Later)
        })
    }

    fn on_opened(&mut self, shown: &Pending, opened: Result<(), String>) {
        let id = shown.view.id;
        let at = self.consent.pending.iter().position(|p| p.view.id == id);
        let acted = match opened {
            Err(cause) => {
                self.write_down(shown, QuestionOutcome::Withdrawn, None);
                if let Some(at) = at {
                    self.consent.pending[at].being_acted_on = false;
                }
                Err(AnswerError::Browser(cause))
            }
            // While it is being opened nothing else acts on it, so what opened it accepts it.
            Ok(()) => at.ok_or(AnswerError::NotOpen).map(|at| {
                let pending = self.consent.pending.remove(at);
                self.events.emit(HostEvent::QuestionClosed { id, outcome: QuestionOutcome::Allowed });
                self.tell_opened(&pending);
                Acted::Done
            }),
        };
        self.consent.answered(id, acted);
    }

    /// Makes an approval stand, at once. The answer comes when it is written: one that can't be holds until Drawbridge ends.
    fn grant(
        &mut self,
        question: &QuestionView,
        subject: Subject,
        rests_on: Hash,
        lasting: Lasting,
        words: String,
    ) -> Acted {
        let Lasting { scope, conversation, expires_at } = lasting;
        if scope == Scope::Once {
            return Acted::Done;
        }
        let server = question.server.as_str();
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
        self.permissions.judgement += 1;
        let acted = match self.permissions.policy.grants_mut().add(grant) {
            Ok(id) => {
                let answered = question.id;
                self.keep_grants(server, Some(&subject), move |owner, kept| {
                    if let Err(error) = kept {
                        owner.permissions.policy.grants_mut().keep_for_session(id);
                        tracing::error!(%error, "the approval could not be written; it holds until Drawbridge ends");
                    }
                    owner.consent.answered(answered, Ok(Acted::Done));
                });
                Acted::Later
            }
            Err(error) => {
                tracing::warn!(%error, "the approval holds for this once");
                Acted::Done
            }
        };
        self.events.emit(HostEvent::AuditChanged(None));
        self.events.emit(HostEvent::CatalogChanged(server.to_owned()));
        self.emit_server(server);
        acted
    }

    /// Changes what would cross. The question then has another hash.
    pub(crate) fn edit(&mut self, id: QuestionId, edit: Edit) -> Result<QuestionView, AnswerError> {
        let at = self.consent.pending.iter().position(|p| p.view.id == id).ok_or(AnswerError::NotOpen)?;
        match (edit, &mut self.consent.pending[at].view.body) {
            (Edit::Arguments(new), QuestionBody::Tool { arguments, .. }) => *arguments = new,
            (Edit::Response(new), QuestionBody::Sampling { response: Some(response), .. }) => *response = new,
            (Edit::Request(new), QuestionBody::Sampling { response: None, .. }) => self.edit_request(at, new)?,
            (Edit::Model(model), QuestionBody::Sampling { response: None, .. }) => self.edit_model(at, model)?,
            _ => return Err(AnswerError::WrongKind("this part of the question can't be changed")),
        }
        self.changed(at);
        Ok(self.consent.pending[at].view.clone())
    }

    pub(super) fn changed(&mut self, at: usize) {
        let hash = self.consent.pending[at].hash();
        self.consent.pending[at].view.hash = hash;
        let view = self.consent.pending[at].view.clone();
        self.events.emit(HostEvent::QuestionChanged(Box::new(view)));
    }

    /// What is wrong with a form's content.
    pub(crate) fn check_form(
        &self,
        id: QuestionId,
        content: &Map<String, Value>,
    ) -> Result<Vec<FormProblem>, AnswerError> {
        let pending = self.consent.pending.iter().find(|p| p.view.id == id).ok_or(AnswerError::NotOpen)?;
        match &pending.view.body {
            QuestionBody::Form { form: Ok(form), .. } => Ok(form.problems(content)),
            _ => Err(AnswerError::WrongKind("it is no form")),
        }
    }

    /// Refuses all that a server asks for now, and with `mute` what it will ask for. A page that is being opened has left
    /// already; what was allowed and still waits for the log has not.
    pub(crate) fn deny_all(&mut self, server: &str, mute: bool) {
        if mute {
            self.permissions.policy.mute(server);
        }
        self.dealt_with(server, mute);
        self.refuse_unasked(server);
        let is_open = |p: &Pending| p.view.server == server && p.can_be_refused();
        let asked = self.consent.pending.iter().any(|p| is_open(p) && p.is_asked_by_server());
        // Also what the user began: a list that keeps some of them would not be empty after "deny all".
        while let Some(at) = self.consent.pending.iter().position(is_open) {
            self.refuse(at, QuestionOutcome::Denied, None);
        }
        // However many there were, it is one refusal.
        if asked {
            self.count_answer(server, true);
        }
        self.emit_server(server);
    }

    pub(crate) fn grants(&self) -> Vec<policy::Grant> {
        self.permissions.policy.grants().iter().cloned().collect()
    }

    /// Takes a standing approval back, at once. `reply` is told whether there was one, once the file has it no more.
    pub(crate) fn revoke(&mut self, id: policy::GrantId, reply: oneshot::Sender<Result<bool, StoreError>>) {
        let Some(grant) = self.permissions.policy.grants_mut().revoke(id) else {
            let _ = reply.send(Ok(false));
            return;
        };
        self.permissions.judgement += 1;
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
        self.events.emit(HostEvent::CatalogChanged(grant.server.clone()));
        self.emit_server(&grant.server);
        self.keep_grants(&grant.server, Some(&grant.subject), move |_, kept| {
            let _ = reply.send(kept.map(|()| true));
        });
    }
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// Folders as they really are: absolute, existing, links resolved, each once. Their file system may take its time, so the owner is
/// given only the outcome.
///
/// # Errors
/// If one can't be shared.
pub(crate) async fn real_folders(folders: Vec<PathBuf>) -> Result<Vec<PathBuf>, AnswerError> {
    let looked = tokio::task::spawn_blocking(move || resolved(&folders)).await;
    looked.unwrap_or_else(|error| Err(AnswerError::Folder { folder: String::new(), cause: error.to_string() }))
}

fn resolved(folders: &[PathBuf]) -> Result<Vec<PathBuf>, AnswerError> {
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
