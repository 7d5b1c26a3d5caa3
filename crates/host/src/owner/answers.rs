//! The user's decisions on consent requests, each bound to the hash of the payload that was displayed.

mod approvals;
mod folders;
mod grants;
mod refusals;

pub(crate) use folders::real_folders;

use domain::question::{QuestionId, QuestionOutcome};
use launches::files_now::files_now;
use ports::url_parts::UrlParts;
use process::LaunchFiles;
use serde_json::{Map, Value};
use server_requests::form::FormProblem;

use super::Owner;
use super::gate::Approval;
use super::links::follow;
use super::state::{AnswerError, AnswerProgress, AnswerReply};
use crate::view::{Edit, HostEvent, QuestionBody, QuestionView, ServerState, UserAnswer};

impl Owner {
    /// Applies a decision. It takes effect once, and only if `hash` is the hash of the current payload.
    pub(crate) fn answer(&mut self, id: QuestionId, hash: &str, answer: UserAnswer, reply: AnswerReply) {
        let Some(at) = self.consent.position(id) else {
            let _ = reply.send(Err(AnswerError::NotOpen));
            return;
        };
        // A denial sends nothing, so it applies to any version of the payload.
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
                if let Some(at) = owner.consent.looked_at(id) {
                    owner.consent.pending[at].paths = paths;
                    owner.answer_at(at, &hash, answer, reply);
                } else {
                    let _ = reply.send(Err(AnswerError::NotOpen));
                }
            });
        }
    }

    /// Applies a decision on a start, after the files that would run have been examined.
    fn answer_start(
        &mut self,
        id: QuestionId,
        hash: &str,
        answer: UserAnswer,
        files: Option<LaunchFiles>,
        reply: AnswerReply,
    ) {
        let at = self.consent.looked_at(id).ok_or(AnswerError::NotOpen);
        match at.and_then(|at| Ok((at, files.ok_or(AnswerError::Files)?))) {
            Ok((at, files)) => {
                self.consent.pending[at].files_now = Some(files);
                self.answer_at(at, hash, answer, reply);
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn answer_at(&mut self, at: usize, hash: &str, answer: UserAnswer, reply: AnswerReply) {
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
        // Rules may have changed since the request was made, and the user may have edited the payload.
        if let Some(by) = self.denied_now(at) {
            self.refuse_by_rule(at, by);
            let _ = reply.send(Err(AnswerError::Denied(by.to_string())));
            return;
        }
        self.consent.answering.insert(id, reply);
        let acted = match (&answer, &self.consent.pending[at].view.body) {
            // The URL is opened before the request is closed, so that the user sees a failure there.
            (UserAnswer::Allow(_), QuestionBody::Url { url, .. }) => {
                let parts = UrlParts::asked_by_server(url);
                self.open_then_accept(at, approval, parts)
            }
            _ => self.act(at, approval, answer),
        };
        self.consent.answered(id, acted);
    }

    /// The file to run has changed since the consent request, for example because of a build. Resolves it and requests
    /// consent again.
    fn ask_anew(&mut self, at: usize) {
        let (id, server) = (self.consent.pending[at].view.id, self.consent.pending[at].view.server.clone());
        self.end_questions(|pending| pending.view.id == id);
        if let Some(record) = self.servers.records.get_mut(&server) {
            record.set(ServerState::Stopped);
        }
        if let Err(error) = self.start(&server) {
            tracing::error!(%error, "consent for a server whose program changed could not be requested again");
        }
    }

    /// Executes a decision. Branches that send something require the approval; the others send nothing.
    fn act(&mut self, at: usize, approval: Approval, answer: UserAnswer) -> Result<AnswerProgress, AnswerError> {
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
        Ok(AnswerProgress::Done)
    }

    /// Edits the payload. The consent request then has a different hash.
    pub(crate) fn edit(&mut self, id: QuestionId, edit: Edit) -> Result<QuestionView, AnswerError> {
        let at = self.consent.position(id).ok_or(AnswerError::NotOpen)?;
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

    /// Returns the validation errors of a form's content.
    pub(crate) fn check_form(
        &self,
        id: QuestionId,
        content: &Map<String, Value>,
    ) -> Result<Vec<FormProblem>, AnswerError> {
        self.consent.check_form(id, content)
    }
}
