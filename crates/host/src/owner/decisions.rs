//! The user's decisions on consent requests. Each decision is bound to the hash of the displayed payload.

mod approvals;
mod denials;
mod grants;
mod read_only_tools;
mod shared_folders;

pub(crate) use shared_folders::canonical_folders;

use domain::consent_request::{ConsentRequestId, ConsentRequestOutcome};
use launches::current_files::read_current_launch_files;
use ports::url_parts::UrlParts;
use process::LaunchFiles;

use super::Owner;
use super::gate::Approval;
use super::path_links::resolve_links;
use super::state::{DecisionError, DecisionProgress, DecisionReply};
use crate::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, HostEvent, ServerState, UserDecision};

impl Owner {
    /// Applies the user's decision to a consent request, once and only if `hash` is the hash of its current payload.
    pub(crate) fn decide_request(
        &mut self,
        id: ConsentRequestId,
        hash: &str,
        answer: UserDecision,
        reply: DecisionReply,
    ) {
        let Some(at) = self.consent.position_of(id) else {
            let _ = reply.send(Err(DecisionError::NotOpen));
            return;
        };
        // A denial sends nothing, so it is valid for any version of the payload.
        if matches!(answer, UserDecision::Deny | UserDecision::Cancel) {
            let refused = if self.consent.pending[at].can_be_denied() {
                let outcome = if answer == UserDecision::Deny {
                    ConsentRequestOutcome::Denied
                } else {
                    ConsentRequestOutcome::Cancelled
                };
                self.refuse_for_user(at, outcome, None);
                Ok(())
            } else {
                Err(DecisionError::Stale)
            };
            let _ = reply.send(refused);
            return;
        }
        let pending = &self.consent.pending[at];
        if pending.being_acted_on || pending.being_looked_at {
            let _ = reply.send(Err(DecisionError::Stale));
            return;
        }
        let (paths, hash) = (self.paths_to_resolve(pending), hash.to_owned());
        if let ConsentRequestBody::StartServer { files, .. } = &pending.view.body {
            let looking = read_current_launch_files(files.clone(), self.options.reread_launch_files);
            self.consent.pending[at].being_looked_at = true;
            self.run_concurrently(looking, move |owner, files| {
                owner.decide_start_request(id, &hash, answer, files, reply)
            });
        } else if paths.is_empty() {
            self.decide_request_at(at, &hash, answer, reply);
        } else {
            self.consent.pending[at].being_looked_at = true;
            self.run_concurrently(resolve_links(paths), move |owner, paths| {
                if let Some(at) = owner.consent.finish_inspection(id) {
                    owner.consent.pending[at].paths = paths;
                    owner.decide_request_at(at, &hash, answer, reply);
                } else {
                    let _ = reply.send(Err(DecisionError::NotOpen));
                }
            });
        }
    }

    /// Applies the user's decision about starting a server. `files` are the files of the server's command as read again
    /// after the user decided, or `None` if they could not be read.
    fn decide_start_request(
        &mut self,
        id: ConsentRequestId,
        hash: &str,
        answer: UserDecision,
        files: Option<LaunchFiles>,
        reply: DecisionReply,
    ) {
        let at = self.consent.finish_inspection(id).ok_or(DecisionError::NotOpen);
        match at.and_then(|at| Ok((at, files.ok_or(DecisionError::Files)?))) {
            Ok((at, files)) => {
                self.consent.pending[at].files_now = Some(files);
                self.decide_request_at(at, hash, answer, reply);
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    fn decide_request_at(&mut self, at: usize, hash: &str, answer: UserDecision, reply: DecisionReply) {
        let id = self.consent.pending[at].view.id;
        let approval = match self.approval(at, hash) {
            Ok(approval) => approval,
            Err(stale) => {
                let pending = &self.consent.pending[at];
                if !pending.being_acted_on && pending.hash() != pending.view.hash {
                    self.replace_consent_request(at);
                }
                let _ = reply.send(Err(stale));
                return;
            }
        };
        // The rules may have changed since the request was created, or the user may have edited the payload.
        if let Some(by) = self.rule_denying_request(at) {
            self.refuse_by_rule(at, by);
            let _ = reply.send(Err(DecisionError::Denied(by.to_string())));
            return;
        }
        self.consent.answering.insert(id, reply);
        let acted = match (&answer, &self.consent.pending[at].view.body) {
            // The URL is opened while the request is still in the queue, so that the user sees an error there.
            (UserDecision::Allow(_), ConsentRequestBody::Url { url, .. }) => {
                let parts = UrlParts::parse_requested_by_server(url);
                self.open_url_then_respond(at, approval, parts)
            }
            _ => self.execute_decision(at, approval, answer),
        };
        self.consent.report_decision(id, acted);
    }

    /// Replaces a request to start a server whose program file has changed since the request was created, for example
    /// because of a build. Resolves the command again, and requests consent for the new file.
    fn replace_consent_request(&mut self, at: usize) {
        let (id, server) = (self.consent.pending[at].view.id, self.consent.pending[at].view.server.clone());
        self.withdraw_requests_if(|pending| pending.view.id == id);
        if let Some(record) = self.servers.records.get_mut(&server) {
            record.set_state(ServerState::Stopped);
        }
        if let Err(error) = self.start(&server) {
            tracing::error!(%error, "consent for a server whose program changed could not be requested again");
        }
    }

    /// Executes a decision on the consent request at index `at`. Branches that send a payload consume the approval.
    fn execute_decision(
        &mut self,
        at: usize,
        approval: Approval,
        answer: UserDecision,
    ) -> Result<DecisionProgress, DecisionError> {
        match answer {
            UserDecision::Deny => self.refuse_for_user(at, ConsentRequestOutcome::Denied, None),
            UserDecision::DenyBecause(reason) => self.refuse_for_user(at, ConsentRequestOutcome::Denied, Some(&reason)),
            UserDecision::Cancel => self.refuse_for_user(at, ConsentRequestOutcome::Cancelled, None),
            UserDecision::Allow(scope) => return self.approve_request(at, approval, scope, None),
            UserDecision::AllowFor(scope, lasts) => return self.approve_request(at, approval, scope, Some(lasts)),
            UserDecision::AllowReadOnly(tools) => return self.approve_read_only_tools(at, approval, tools),
            UserDecision::Submit(content) => return self.submit_form(at, approval, content),
            UserDecision::Share(folders) => return self.share_folders(at, approval, folders),
            UserDecision::Client(client) => return self.send_client_credentials(at, approval, client),
            UserDecision::Again => return self.repeat_model_request(at, approval),
            UserDecision::ByHand => self.begin_manual_reply(at)?,
            UserDecision::Back => self.return_to_sampling_request(at)?,
            UserDecision::Stop => self.stop_model(at)?,
        }
        Ok(DecisionProgress::Done)
    }

    /// Edits the payload of a consent request, which changes its hash.
    pub(crate) fn edit_consent_request(
        &mut self,
        id: ConsentRequestId,
        edit: ConsentRequestEdit,
    ) -> Result<ConsentRequestView, DecisionError> {
        let at = self.consent.position_of(id).ok_or(DecisionError::NotOpen)?;
        match (edit, &mut self.consent.pending[at].view.body) {
            (ConsentRequestEdit::Arguments(new), ConsentRequestBody::Tool { arguments, .. }) => *arguments = new,
            (ConsentRequestEdit::Response(new), ConsentRequestBody::Sampling { response: Some(response), .. }) => {
                *response = new
            }
            (ConsentRequestEdit::Request(new), ConsentRequestBody::Sampling { response: None, .. }) => {
                self.edit_sampling_request(at, new)?
            }
            (ConsentRequestEdit::Model(model), ConsentRequestBody::Sampling { response: None, .. }) => {
                self.change_sampling_model(at, model)?
            }
            _ => return Err(DecisionError::WrongKind("this part of the request can't be changed")),
        }
        self.emit_consent_request(at);
        Ok(self.consent.pending[at].view.clone())
    }

    pub(super) fn emit_consent_request(&mut self, at: usize) {
        let hash = self.consent.pending[at].hash();
        self.consent.pending[at].view.hash = hash;
        let view = self.consent.pending[at].view.clone();
        self.events.emit(HostEvent::ConsentRequestChanged(Box::new(view)));
    }
}
