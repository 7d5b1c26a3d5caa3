//! The one queue of questions: what comes in, what changes, what is taken back. Decisions are made elsewhere.

mod ending;
mod words;

use words::body_of;
pub(super) use words::{asker_of, content_of, hash_of, kind_of, refusal, refused, subject_of};

use domain::call::CallState;
use domain::question::{QuestionId, QuestionOutcome, Why};
use launches::approvals::command_hash;
use mcp_proto::session::{Answer, ServerQuestion, ServerRequestId};
use mcp_proto::types::ElicitParams;
use policy::{Act, Decision, Hash, PathFacts, Rule, Scope};
use process::LaunchFiles;
use serde_json::Value;

use super::Owner;
use super::audit::Decided;
use super::gate::refuses;
use super::links::not_followed;
use super::sampling::Running;
use crate::connection::{RunId, Ticket};
use crate::view::{HostEvent, QuestionBody, QuestionView};

/// What an answer leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum For {
    /// A server starts.
    Start,
    /// A call is sent.
    Call(String),
    /// A request of the server is answered.
    Request { run: RunId, request: ServerRequestId, call: Option<String> },
    /// A page is opened, and no server waits for it.
    Page,
    /// A model reads the result of this call.
    Result(String),
    /// A sign-in goes on; it waits under this number.
    SignIn(u64),
}

/// A question in the queue.
pub(super) struct Pending {
    pub(super) view: QuestionView,
    pub(super) what_for: For,
    /// The form's schema as it came, for the hash.
    pub(super) schema: Option<Value>,
    /// Set while an approval is carried out. Until then no other approval is accepted.
    pub(super) being_acted_on: bool,
    /// Set while that approval waits for the audit log or another file. Nothing has been sent yet, so a refusal is still accepted.
    pub(super) being_written: bool,
    /// The files that a command leads to, as they were when the user answered. Read beside the turns.
    pub(super) files_now: Option<LaunchFiles>,
    /// Where the paths of a call led when the user answered, or rules changed. Followed beside the turns.
    pub(super) paths: PathFacts,
    /// Set while files or paths are looked at for an answer. A refusal needs none of it.
    pub(super) being_looked_at: bool,
    /// The model that answers it now. It stops when the question is gone.
    pub(super) running: Option<Running>,
}

impl Pending {
    /// Whether it can't be acted on once this run of this server has ended. A call that was asked about for one process must
    /// not go to the next.
    pub(super) fn ends_with(&self, run: RunId, server: &str) -> bool {
        match &self.what_for {
            For::Request { run: own, .. } => *own == run,
            For::Call(_) | For::Page => self.view.server == server,
            // The sign-in itself takes it back, and a result the server has said already.
            For::Start | For::SignIn(_) | For::Result(_) => false,
        }
    }

    /// Returns true if a refusal counts: nothing has left yet.
    pub(super) const fn can_be_refused(&self) -> bool {
        !self.being_acted_on || self.being_written
    }

    /// The same question, to be looked at while the queue changes.
    pub(super) fn copy(&self) -> Self {
        Self {
            view: self.view.clone(),
            what_for: self.what_for.clone(),
            schema: self.schema.clone(),
            being_acted_on: self.being_acted_on,
            being_written: self.being_written,
            files_now: self.files_now.clone(),
            paths: self.paths.clone(),
            being_looked_at: self.being_looked_at,
            running: None,
        }
    }

    /// Over the exact bytes that an approval lets cross.
    pub(super) fn hash(&self) -> Hash {
        if let QuestionBody::StartServer { config, resolved, plan, package, .. } = &self.view.body
            && let Some(files) = &self.files_now
        {
            // They may be others than when it was asked.
            return command_hash(config, resolved, plan.as_ref(), files, package.as_deref());
        }
        hash_of(&self.view.body, self.schema.as_ref())
    }
}

impl Owner {
    /// Puts a question at the end of the queue.
    pub(super) fn ask(
        &mut self,
        server: &str,
        why: Why,
        body: QuestionBody,
        scopes: &'static [Scope],
        rule: Rule,
        what_for: For,
    ) {
        self.ask_with(server, why, body, scopes, rule, what_for, (None, None));
    }

    #[expect(clippy::too_many_arguments, reason = "a question is made in one place, from all that is shown of it")]
    pub(super) fn ask_with(
        &mut self,
        server: &str,
        why: Why,
        body: QuestionBody,
        scopes: &'static [Scope],
        rule: Rule,
        what_for: For,
        (schema, round): (Option<Value>, Option<u32>),
    ) {
        let config = self.servers.records.get(server).map(|record| &record.config);
        let command_line = match &body {
            // With the version of the package that it loads.
            QuestionBody::StartServer { config, .. } => config.command_line(),
            _ => config.map(|config| config.command_line()).unwrap_or_default(),
        };
        let transport = if config.is_some_and(|config| config.as_http().is_some()) { "http" } else { "stdio" };
        let marks = self.marks_of(server, &body);
        let view = QuestionView {
            id: QuestionId(self.events.new_id()),
            hash: hash_of(&body, schema.as_ref()),
            server: server.to_owned(),
            command_line,
            transport,
            asked_at: self.now(),
            why,
            round,
            body,
            scopes,
            rule: rule.name(),
            marks,
            call: match &what_for {
                For::Call(call) | For::Result(call) => Some(call.clone()),
                _ => None,
            },
        };
        if self.settings.current.announce {
            self.ports.platform.announce(server, kind_of(&view.body));
        }
        let paths = self.servers.records.get(server).map(|record| not_followed(&record.config)).unwrap_or_default();
        let pending = Pending {
            view: view.clone(),
            what_for,
            schema,
            being_acted_on: false,
            being_written: false,
            files_now: None,
            paths,
            being_looked_at: false,
            running: None,
        };
        self.consent.pending.push(pending);
        self.events.emit(HostEvent::QuestionChanged(Box::new(view)));
    }

    /// A server asks for something.
    pub(super) fn on_asked(
        &mut self,
        run: RunId,
        server: &str,
        request: ServerRequestId,
        ticket: Option<Ticket>,
        question: ServerQuestion,
    ) {
        let call = ticket.and_then(|ticket| self.calls.call_of(ticket));
        let decision = self.permissions.policy.decide(&self.act_of(server, &question), self.now());
        match (question, decision) {
            (question, Decision::Deny { rule, .. }) => {
                let (body, schema) = body_of(question);
                let answer = refused(&body, QuestionOutcome::Denied);
                if rule == Rule::Muted {
                    self.servers.tell_answer(server, run, request, refuses(answer));
                    return self.count_muted(server);
                }
                self.refuse_unseen(server, (run, request), (&body, schema.as_ref()), rule.name(), answer);
            }
            (ServerQuestion::Sampling(params), decision) => {
                self.on_sampling(server, (run, request), call, params, decision);
            }
            (question, Decision::Ask { rule, scopes, .. }) => {
                let why = self.calls.why_of(call.as_deref());
                let round = call.as_deref().and_then(|call| self.calls.round_of(call));
                if let Some(call) = &call {
                    self.set_call(call, CallState::AwaitingInput);
                }
                let what_for = For::Request { run, request, call };
                let (body, schema) = body_of(question);
                self.ask_with(server, why, body, scopes, rule, what_for, (schema, round));
            }
            (_, Decision::Allow { by }) => self.allow_folders(server, (run, request), ticket, by),
        }
    }

    /// What a server's question would let happen.
    pub(super) fn act_of<'a>(&self, server: &'a str, question: &ServerQuestion) -> Act<'a> {
        match question {
            ServerQuestion::Sampling(params) => Act::Sample {
                server,
                would_use: {
                    let (sampling, now) = (&self.models.sampling, self.now());
                    sampling.would_use(server, sampling.most_tokens(server, params, now), now)
                },
            },
            ServerQuestion::Elicitation(ElicitParams::Form { .. }) => Act::FillForm { server },
            ServerQuestion::Elicitation(ElicitParams::Url { .. }) => Act::OpenUrl { server },
            ServerQuestion::Roots => Act::ShareRoots { server, decided: self.shared_roots(server).is_some() },
        }
    }

    /// Refuses what nobody is asked about, for this reason.
    pub(super) fn refuse_unseen(
        &mut self,
        server: &str,
        (run, request): (RunId, ServerRequestId),
        (body, schema): (&QuestionBody, Option<&Value>),
        reason: &str,
        answer: Answer,
    ) {
        let hash = hash_of(body, schema);
        // Without what would have crossed: a server that asks on and on must not push all else out of the log.
        let entry = Decided {
            server,
            kind: kind_of(body),
            subject: reason,
            decision: "denied",
            scope: None,
            by: "policy",
            hash: hash.as_str(),
            asker: "server",
            ..Decided::default()
        };
        self.note(entry);
        self.servers.tell_answer(server, run, request, refuses(answer));
    }
}
