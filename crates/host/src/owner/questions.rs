//! The one queue of questions: what comes in, what changes, what is taken back. Decisions are made elsewhere.

use std::sync::Arc;

use domain::call::{CallFailure, CallKind, CallState};
use domain::question::{QuestionId, QuestionOutcome, Why};
use launches::approvals::command_hash;
use mcp_proto::session::{Answer, ServerQuestion, ServerRequestId};
use mcp_proto::types::{ElicitAction, ElicitParams, ElicitResult};
use offers::definitions::call_hash;
use offers::review::as_json;
use policy::{Act, Decision, Hash, PathFacts, Rule, Scope, canonical_json, canonical_object};
use ports::AuditEntry;
use ports::server_config::address_hash;
use ports::time::now;
use ports::url_parts::shown_url;
use process::LaunchFiles;
use serde_json::{Value, json};
use server_requests::form::Form;
use server_requests::sampling::{Run, ask_hash, asked_before};

use super::Owner;
use super::audit::Decided;
use super::gate::{Leaving, refuses};
use super::links::not_followed;
use super::sampling::{self, Running};
use crate::connection::{RunId, Ticket};
use crate::view::{HostEvent, QuestionBody, QuestionView, ServerState};

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

pub(super) fn hash_of(body: &QuestionBody, schema: Option<&Value>) -> Hash {
    match body {
        QuestionBody::StartServer { config, resolved, plan, files, package, .. } => {
            command_hash(config, resolved, plan.as_ref(), files, package.as_deref())
        }
        QuestionBody::ConnectServer { config, .. } => address_hash(config),
        QuestionBody::Tool { tool, arguments, .. } => call_hash(tool, arguments),
        // What a model says twice is not approved twice by one word.
        QuestionBody::Sampling { request, response: Some(response), state } => {
            let again = asked_before(request, state);
            Hash::of(&json!({ "answer": response, "again": again, "attempt": state.attempts }))
        }
        QuestionBody::Sampling { request, response: None, state } => {
            // What was said of a model at work is not said of one that has failed.
            let failed = matches!(state.run, Run::Failed { .. });
            Hash::of(&json!({ "asks": ask_hash(request, state), "attempt": state.attempts, "failed": failed }))
        }
        QuestionBody::Form { message, .. } => Hash::of(&json!({ "message": message, "schema": schema })),
        QuestionBody::Url { message, url } => Hash::of(&json!({ "message": message, "url": url })),
        QuestionBody::Read { kind, name, arguments } => {
            let what = *kind == CallKind::Prompt;
            Hash::of(&json!({ "prompt": what, "name": name, "arguments": arguments }))
        }
        QuestionBody::Result { tool, parts, is_error, .. } => Hash::of(&as_json(tool, parts, *is_error)),
        QuestionBody::Roots => Hash::of_bytes(b"roots"),
        QuestionBody::SignIn {
            url,
            issuer,
            resource,
            scopes,
            held_scopes,
            client,
            client_id,
            endpoints,
            redirect_uri,
            authorization_url,
            reason,
        } => Hash::of(&json!({
            "url": url,
            "issuer": issuer,
            "resource": resource,
            "scopes": scopes,
            "held": held_scopes,
            "client": client,
            "id": client_id,
            "endpoints": endpoints,
            "redirect": redirect_uri,
            "authorization": authorization_url,
            "reason": reason,
        })),
        QuestionBody::ClientId { url, issuer, redirect_uri } => {
            Hash::of(&json!({ "url": url, "issuer": issuer, "redirect": redirect_uri }))
        }
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
            asked_at: now(),
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
        let decision = self.permissions.policy.decide(&self.act_of(server, &question), now());
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
                would_use: self.models.sampling.would_use(server, self.models.sampling.most_tokens(server, params)),
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

    /// The tools of a server were read again: what is asked about one must be about the tool as it is now.
    pub(super) fn look_again_at_tools(&mut self, server: &str) {
        let Some(catalog) = self.servers.records.get(server).map(|record| Arc::clone(&record.offer.catalog)) else {
            return;
        };
        self.end_questions(|p| match &p.view.body {
            QuestionBody::Tool { tool, .. } => p.view.server == server && catalog.tool(&tool.name).is_none(),
            _ => false,
        });
        for at in 0..self.consent.pending.len() {
            let pending = &mut self.consent.pending[at];
            if pending.view.server == server
                && let QuestionBody::Tool { tool, changed_since_allowed, .. } = &mut pending.view.body
                && let Some(now) = catalog.tool(&tool.name)
                && **tool != now
            {
                let shown = std::mem::replace(&mut **tool, now);
                *changed_since_allowed = true;
                self.mark_changed(at, &shown);
                self.changed(at);
            }
        }
    }

    pub(super) fn on_withdrawn(&mut self, run: RunId, request: ServerRequestId) {
        self.models.sampling.end_unasked(|of| of == (run, request));
        self.withdraw_folders((run, request));
        self.end_questions(
            |p| matches!(&p.what_for, For::Request { run: r, request: own, .. } if *r == run && *own == request),
        );
    }

    /// Takes questions out of the queue that nobody needs to answer any more.
    pub(super) fn end_questions(&mut self, is_over: impl Fn(&Pending) -> bool) {
        let (over, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.consent.pending).into_iter().partition(is_over);
        self.consent.pending = left;
        for pending in over {
            self.write_down(&pending, QuestionOutcome::Withdrawn, None);
            self.events.emit(HostEvent::QuestionClosed { id: pending.view.id, outcome: QuestionOutcome::Withdrawn });
            match pending.what_for {
                For::Call(call) => {
                    let server = pending.view.server;
                    let is_ready = self.servers.records.get(&server).is_some_and(|r| r.state == ServerState::Ready);
                    let failure = if is_ready { CallFailure::Cancelled } else { CallFailure::NotReady { server } };
                    self.end_call(&call, Err(failure));
                }
                For::Request { call: Some(call), .. } => self.input_given(&call),
                // Whoever waits for it sees that no answer comes.
                For::SignIn(number) => {
                    drop(self.sign_ins.replies.remove(&number));
                    self.goes_on(&pending.view.why);
                }
                // Whoever waits for it sees that no verdict comes.
                For::Result(call) => drop(self.calls.held_results.remove(&call)),
                For::Start | For::Request { .. } | For::Page => {}
            }
        }
    }

    /// A question of this call was answered; it goes on when there is no other.
    pub(super) fn input_given(&mut self, call: &str) {
        let more = self
            .consent
            .pending
            .iter()
            .any(|p| matches!(&p.what_for, For::Request { call: Some(own), .. } if own == call));
        if let Some(record) = self.calls.records.get_mut(call) {
            record.entry = self.audits.last;
        }
        if !more {
            self.set_call(call, CallState::Running);
        }
    }

    /// Writes down what became of a question that lets nothing leave.
    pub(super) fn write_down(&mut self, pending: &Pending, outcome: QuestionOutcome, scope: Option<Scope>) {
        let entry = self.entry_of(pending, outcome, scope, &mut Leaving::shown(pending));
        self.note_entry(entry);
    }

    /// The entry that says what became of a question. It takes the content.
    pub(super) fn entry_of(
        &self,
        pending: &Pending,
        outcome: QuestionOutcome,
        scope: Option<Scope>,
        leaving: &mut Leaving,
    ) -> AuditEntry {
        let (view, content) = (&pending.view, leaving.content.take());
        let conversation = self.calls.conversation_of(&view.why);
        self.entry(Decided {
            server: &view.server,
            kind: leaving.kind,
            subject: &leaving.subject,
            decision: outcome.name(),
            scope,
            by: if outcome == QuestionOutcome::Withdrawn { "policy" } else { self.options.decides },
            hash: leaving.logged.as_str(),
            asker: asker_of(&view.why),
            content,
            rule: view.rule.into(),
            conversation: conversation.as_deref(),
        })
    }
}

/// Who asked for what a question is about.
pub(super) const fn asker_of(why: &Why) -> &'static str {
    match why {
        Why::User { .. } => "user",
        Why::Model { .. } => "model",
        Why::Call { .. } | Why::Server => "server",
        Why::Ended { .. } => "host",
    }
}

fn body_of(question: ServerQuestion) -> (QuestionBody, Option<Value>) {
    match question {
        ServerQuestion::Sampling(request) => {
            (QuestionBody::Sampling { request, response: None, state: Box::default() }, None)
        }
        ServerQuestion::Elicitation(ElicitParams::Form { message, requested_schema, .. }) => {
            (QuestionBody::Form { message, form: Form::parse(&requested_schema) }, Some(requested_schema))
        }
        ServerQuestion::Elicitation(ElicitParams::Url { message, url, .. }) => {
            (QuestionBody::Url { message, url }, None)
        }
        ServerQuestion::Roots => (QuestionBody::Roots, None),
    }
}

/// As the audit log and the answers file name it.
pub(super) const fn kind_of(body: &QuestionBody) -> &'static str {
    match body {
        QuestionBody::StartServer { .. } => "start-server",
        QuestionBody::ConnectServer { .. } => "connect-server",
        QuestionBody::Tool { .. } => "tool",
        QuestionBody::Sampling { response: None, .. } => "sampling",
        QuestionBody::Sampling { response: Some(_), .. } => "sampling-answer",
        QuestionBody::Form { .. } => "elicitation",
        QuestionBody::Url { .. } => "url",
        QuestionBody::Read { kind: CallKind::Prompt, .. } => "prompt",
        QuestionBody::Read { .. } => "resource",
        QuestionBody::Result { .. } => "result",
        QuestionBody::Roots => "roots",
        QuestionBody::SignIn { .. } => "sign-in",
        QuestionBody::ClientId { .. } => "client-id",
    }
}

/// What an approval would let cross, where that is more than the subject says.
pub(super) fn content_of(body: &QuestionBody) -> Option<String> {
    match body {
        QuestionBody::Tool { arguments, .. } | QuestionBody::Read { arguments, .. } => {
            Some(canonical_object(arguments))
        }
        QuestionBody::Sampling { request, response: None, .. } => Some(canonical_json(&json!(request))),
        QuestionBody::Sampling { response: Some(response), .. } => Some(canonical_json(&json!(response))),
        QuestionBody::Result { tool, parts, is_error, .. } => Some(canonical_json(&as_json(tool, parts, *is_error))),
        _ => None,
    }
}

pub(super) fn subject_of(body: &QuestionBody) -> String {
    match body {
        QuestionBody::StartServer { config, .. } => config.command_line(),
        QuestionBody::ConnectServer { config, .. } => config.shown_url(),
        QuestionBody::Tool { tool, .. } => tool.name.clone(),
        QuestionBody::Sampling { request, response, state } => sampling::subject(request, response.as_deref(), state),
        QuestionBody::Form { message, .. } => message.clone(),
        QuestionBody::Url { url, .. } => shown_url(url),
        QuestionBody::Read { name, .. } => name.clone(),
        QuestionBody::Result { tool, .. } => tool.clone(),
        QuestionBody::Roots => "folders".to_owned(),
        QuestionBody::SignIn { issuer, scopes, .. } => format!("{} ({})", shown_url(issuer), scopes.join(" ")),
        QuestionBody::ClientId { issuer, .. } => shown_url(issuer),
    }
}

/// The answer that tells a server that its request was refused or closed.
pub(super) fn refused(body: &QuestionBody, outcome: QuestionOutcome) -> Answer {
    match body {
        QuestionBody::Form { .. } | QuestionBody::Url { .. } => {
            let action = if outcome == QuestionOutcome::Denied { ElicitAction::Decline } else { ElicitAction::Cancel };
            Answer::Elicitation(ElicitResult { action, content: None })
        }
        // To know of no folder is an answer; an error would end a call that may well do without.
        QuestionBody::Roots => Answer::Roots(Vec::new()),
        _ => refusal("the user rejected the request".to_owned()),
    }
}

/// Code -1 is what the specification's sampling page shows for a rejection.
pub(super) const fn refusal(message: String) -> Answer {
    Answer::Refused { code: -1, message }
}
