//! Calls of tools, prompts and resources: asked about, sent, followed, ended.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use domain::Millis;
use domain::call::{Call, CallFailure, CallKind, CallState, Progress};
use domain::history::{Reading, ReadingKind};
use domain::question::Why;
use mcp_proto::session::{
    CacheHint, CallError, ClientRequest, CloseReason, Deadline, ListKind, ServerResult, TaskView,
};
use mcp_proto::types::{ElicitParams, LogLevel, ResourceContents};
use offers::catalog::{Catalog, List};
use offers::definitions::Definition;
use policy::{Act, By, Decision, Hash, PathFacts, Standing};
use ports::AuditEntry;
use ports::server_config::config_hash;
use ports::time::now;
use serde_json::{Map, Value};
use supervision::limits::MAX_QUESTIONS;
use tokio::sync::oneshot;

use super::audit::Decided;
use super::call_request::CallRequest;
use super::gate::Departure;
use super::links::{follow, not_followed};
use super::pins::standing_of;
use super::provenance::CallOrigin;
use super::questions::For;
use offers::reads::Read;

use super::Owner;
use crate::connection::{RunId, Tell, Ticket};
use crate::view::{HostEvent, QuestionBody, ServerState};

/// A call's answer.
pub(crate) type CallReply = Result<ServerResult, CallFailure>;

/// Told when a call is sent to its server, with its arguments if the user changed them. Dropped without a word if it never is.
pub type Sent = oneshot::Sender<Option<Map<String, Value>>>;

/// A call to make.
pub(crate) struct NewCall {
    pub(crate) id: String,
    pub(crate) server: String,
    pub(crate) kind: CallKind,
    pub(crate) name: String,
    pub(crate) origin: CallOrigin,
    pub(crate) request: ClientRequest,
    /// The hash of the prompt's definition as it was shown to whoever wants it.
    pub(crate) shown: Option<String>,
    /// Who wants to know that it is sent.
    pub(crate) sent: Option<Sent>,
}

/// A call under way.
pub(super) struct CallRecord {
    pub(super) view: Call,
    /// Who makes it.
    origin: CallOrigin,
    /// What is to be sent; none once it was.
    request: Option<CallRequest>,
    /// The hash of a prompt's definition as the user wants it; none if it is in no list.
    wanted: Option<Hash>,
    /// What the user made of the arguments.
    edited: Option<Map<String, Value>>,
    /// Who wants to know that it is sent.
    sent: Option<Sent>,
    /// How often it has asked for input.
    pub(in crate::owner) round: u32,
    ticket: Option<(RunId, Ticket)>,
    /// Set if its tool said, when it was sent, that it reaches an open world.
    open_world: bool,
    /// The place of the latest entry in the audit log that it rests on; 0 for none.
    pub(super) entry: u64,
    /// Set while the links on its paths are followed.
    following: Option<u64>,
    /// Set while its entry is on the way to the audit log.
    pub(super) writing: Option<u64>,
    /// How it ended, while that entry is not durable.
    pub(super) held: Option<Result<ServerResult, CallFailure>>,
    reply: oneshot::Sender<CallReply>,
}

/// What a ticket stands for.
pub(super) enum TicketUse {
    Call {
        run: RunId,
        id: Arc<str>,
    },
    /// A request that nobody needs to see: a completion, a subscription, a log level.
    Plain {
        run: RunId,
        server: String,
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    },
}

impl CallRecord {
    /// Who makes it.
    pub(super) const fn origin(&self) -> &CallOrigin {
        &self.origin
    }
}

impl TicketUse {
    const fn run(&self) -> RunId {
        match self {
            Self::Call { run, .. } | Self::Plain { run, .. } => *run,
        }
    }
}

/// What happens to a call.
pub(super) enum Way {
    /// It is sent once this is written down.
    Write(Box<AuditEntry>, Departure),
    /// The user decides.
    Ask(CallQuestion),
}

/// What is asked about a call, why, and for how long an approval may hold.
pub(super) type CallQuestion = (QuestionBody, policy::Rule, &'static [policy::Scope]);

/// The most calls under way at a time, over all servers.
const MAX_CALLS: usize = 1_000;

impl Owner {
    /// Takes a call up. Its answer goes to `reply`.
    pub(crate) fn take_call(&mut self, call: NewCall, reply: oneshot::Sender<CallReply>) {
        if let Err(failure) = self.begin(&call) {
            // The caller may have gone away.
            let _ = reply.send(Err(failure));
            return;
        }
        let NewCall { id, server, kind, name, origin, request, shown, sent } = call;
        let view = Call {
            id,
            server,
            kind,
            name,
            started_at: now(),
            state: CallState::AwaitingApproval,
            progress: None,
            task: None,
            conversation: origin.conversation().map(str::to_owned),
        };
        let record = Box::new(CallRecord {
            view,
            origin,
            request: Some(CallRequest::new(request)),
            wanted: None,
            edited: None,
            sent,
            round: 0,
            ticket: None,
            open_world: false,
            entry: 0,
            following: None,
            writing: None,
            held: None,
            reply,
        });
        self.follow_and_decide(record, shown);
    }

    /// Decides about a call, once the links on the paths in it are followed that rules ask about.
    fn follow_and_decide(&mut self, mut record: Box<CallRecord>, shown: Option<String>) {
        let paths = match record.request.as_ref().map(CallRequest::get) {
            Some(ClientRequest::CallTool { name, arguments, .. }) => {
                self.paths_in_call(&record.view.server, name, arguments)
            }
            _ => BTreeSet::new(),
        };
        if paths.is_empty() {
            let facts = self.servers.records.get(&record.view.server).map(|server| not_followed(&server.config));
            return self.decide_taken(record, &facts.unwrap_or_default(), shown);
        }
        let (id, number): (Arc<str>, _) = (record.view.id.as_str().into(), self.events.new_id());
        record.following = Some(number);
        self.calls.records.insert(Arc::clone(&id), record);
        self.beside(follow(paths), move |owner, facts| {
            // It may have been cancelled, and another one have its id.
            if owner.calls.records.get(&id).is_some_and(|record| record.following == Some(number))
                && let Some(mut record) = owner.calls.records.remove(&id)
            {
                record.following = None;
                owner.decide_taken(record, &facts, shown);
            }
        });
    }

    fn decide_taken(&mut self, mut record: Box<CallRecord>, paths: &PathFacts, shown: Option<String>) {
        let Some(request) = &mut record.request else { return };
        let way = self.decide(&record.view, &record.origin, request, paths);
        let way = way.and_then(|way| {
            if record.view.kind == CallKind::Prompt {
                record.wanted = self.look_at_prompt(&record.view.server, &record.view.name, shown.as_deref())?;
            }
            Ok(way)
        });
        match way {
            Ok(Way::Write(entry, departure)) => self.send_written(record, *entry, departure),
            Ok(Way::Ask(question)) => self.ask_about(record, question),
            Err(failure) => self.finish(record, Err(failure)),
        }
    }

    fn decide(
        &mut self,
        view: &Call,
        origin: &CallOrigin,
        request: &mut CallRequest,
        paths: &PathFacts,
    ) -> Result<Way, CallFailure> {
        match request.get() {
            ClientRequest::CallTool { .. } => self.decide_call(view, origin, request, paths),
            other => self.decide_read(view, origin, other),
        }
    }

    /// What was allowed is written down, but what allowed it may have changed meanwhile. Then the log is told that it did not leave.
    pub(super) fn send_if_still_allowed(&mut self, mut record: Box<CallRecord>, departure: Departure) {
        let Some(request) = &mut record.request else { return };
        if let ClientRequest::CallTool { name, arguments, .. } = request.get()
            && !self.paths_in_call(&record.view.server, name, arguments).is_empty()
        {
            // The rules may ask about other paths now: it is decided about as if it came anew.
            self.note_withdrawn(&record.view, &record.origin, departure.leaves());
            record.view.state = CallState::AwaitingApproval;
            return self.follow_and_decide(record, None);
        }
        let facts = self.servers.records.get(&record.view.server).map(|server| not_followed(&server.config));
        let decided = self.decide(&record.view, &record.origin, request, &facts.unwrap_or_default());
        if !matches!(decided, Ok(Way::Write(..))) {
            self.note_withdrawn(&record.view, &record.origin, departure.leaves());
        }
        match decided {
            Ok(Way::Write(..)) => self.send(record, departure),
            Ok(Way::Ask(question)) => {
                record.view.state = CallState::AwaitingApproval;
                self.ask_about(record, question);
            }
            Err(failure) => self.finish(record, Err(failure)),
        }
    }

    /// Checks a call.
    fn begin(&self, call: &NewCall) -> Result<(), CallFailure> {
        if self.calls.records.contains_key(call.id.as_str()) {
            return Err(CallFailure::IdInUse(call.id.clone()));
        }
        if self.calls.records.len() >= MAX_CALLS {
            return Err(CallFailure::Busy { server: call.server.clone() });
        }
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

    /// Whether a tool may be called; what is to be asked, if it has to be, and else what is to be written down first.
    fn decide_call(
        &mut self,
        call: &Call,
        origin: &CallOrigin,
        request: &mut CallRequest,
        paths: &PathFacts,
    ) -> Result<Way, CallFailure> {
        let server = call.server.as_str();
        let no_tool = || CallFailure::Refused("because it calls no tool".to_owned());
        let ClientRequest::CallTool { name: tool, arguments, .. } = request.get() else { return Err(no_tool()) };
        let is_listed = self
            .servers
            .records
            .get(server)
            .is_some_and(|record| record.offer.catalog.is_read || !record.offer.catalog.tools.is_empty());
        let missing = || match is_listed {
            true => CallFailure::NotFound(format!("tool \"{tool}\" on {server}")),
            // A server that was just started again may well have it.
            false => CallFailure::NotListed { server: server.to_owned() },
        };
        let after_untrusted = self.is_after_untrusted(origin, server);
        let record = self.servers.records.get_mut(server).ok_or_else(missing)?;
        let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
        let seen = |own: &Hash| standing_of(pins, server, tool, own, identity);
        let definition =
            record.offer.definitions.get(&record.config, &record.offer.catalog, tool, seen).ok_or_else(missing)?;
        let is_outdated = record.offer.catalog.is_outdated(List::Tools);
        let standing = record.offer.catalog.standing_now(List::Tools, definition.standing);
        let act = Act::CallTool {
            server,
            tool,
            definition: &definition.approval,
            standing,
            claims: definition.claims,
            arguments,
            paths,
            after_untrusted,
            conversation: call.conversation.as_deref(),
        };
        match self.permissions.policy.decide(&act, now()) {
            Decision::Allow { by } => {
                let Some((hash, content)) = request.hash(definition) else { return Err(no_tool()) };
                let ClientRequest::CallTool { name: tool, .. } = request.get() else { return Err(no_tool()) };
                let decided = Decided {
                    server,
                    kind: "tool",
                    subject: tool,
                    decision: "allowed",
                    scope: None,
                    by: if matches!(by, By::Grant(_)) { "grant" } else { "policy" },
                    hash: hash.as_str(),
                    asker: origin.asker(),
                    content: Some(content),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                };
                let entry = self.entry(decided);
                Ok(Way::Write(Box::new(entry), Departure::by_rule(by, server, hash)))
            }
            Decision::Deny { by, .. } => {
                let (hash, content) = definition.call_hash(arguments);
                self.note(Decided {
                    server,
                    kind: "tool",
                    subject: tool,
                    decision: "denied",
                    by: "policy",
                    hash: hash.as_str(),
                    asker: origin.asker(),
                    content: Some(content),
                    rule: by.text(),
                    conversation: call.conversation.as_deref(),
                    ..Decided::default()
                });
                Err(CallFailure::Refused(format!("by {by}")))
            }
            Decision::Ask { rule, scopes, .. } => {
                let body = QuestionBody::Tool {
                    tool: Box::new(record.offer.catalog.tool(tool).ok_or_else(missing)?),
                    arguments: arguments.clone(),
                    changed_since_allowed: definition.standing == Standing::Changed
                        || rule == policy::Rule::ToolChanged && !is_outdated,
                };
                Ok(Way::Ask((body, rule, scopes)))
            }
        }
    }

    /// The definition of a tool as the server lists it now.
    pub(super) fn definition_now(&mut self, server: &str, tool: &str) -> Option<&Definition> {
        let record = self.servers.records.get_mut(server)?;
        let (pins, identity) = (&self.reviews.pins, record.offer.identity.as_ref());
        let seen = |own: &Hash| standing_of(pins, server, tool, own, identity);
        record.offer.definitions.get(&record.config, &record.offer.catalog, tool, seen)
    }

    /// Whether the definition of a tool says that it reaches an open world.
    pub(super) fn says_open_world(&mut self, server: &str, tool: &str) -> bool {
        self.definition_now(server, tool).is_some_and(|definition| definition.says_open_world)
    }

    /// A prompt is the user's own wish, but one that is not as they saw it, or as it was shown to them now, has to be looked at
    /// first. Gives the hash of what they want.
    fn look_at_prompt(&self, server: &str, prompt: &str, shown: Option<&str>) -> Result<Option<Hash>, CallFailure> {
        let changed = |since: &str| {
            CallFailure::Refused(format!("the prompt \"{prompt}\" of {server} changed since {since}; review it first"))
        };
        match (self.prompt_now(server, prompt), shown) {
            (Some((_, Standing::Changed)), _) => Err(changed("you saw it")),
            (Some((now, _)), Some(shown)) if now.as_str() != shown => Err(changed("it was shown")),
            (Some((now, _)), _) => Ok(Some(now)),
            (None, Some(_)) => Err(changed("it was shown")),
            // What is not in the list is for the server to refuse.
            (None, None) => Ok(None),
        }
    }

    /// A call waits for the user.
    fn ask_about(&mut self, record: Box<CallRecord>, (body, rule, scopes): CallQuestion) {
        let (id, server) = (record.view.id.clone(), record.view.server.clone());
        let why = self.why_called(&record.origin, &server);
        self.calls.records.insert(id.as_str().into(), record);
        self.emit_call(&id);
        self.ask(&server, why, body, scopes, rule, For::Call(id));
    }

    /// Sends an allowed call as it is.
    pub(super) fn send_as_it_is(&mut self, id: &str, departure: Departure) {
        if let Some(record) = self.calls.records.remove(id) {
            self.send(record, departure);
        }
    }

    /// Sends an allowed call of a tool, with these arguments.
    pub(super) fn send_approved(&mut self, id: &str, arguments: Map<String, Value>, departure: Departure) {
        let Some(mut record) = self.calls.records.remove(id) else { return };
        if record.request.as_mut().is_some_and(|request| request.change_arguments(&arguments)) {
            record.edited = Some(arguments);
        }
        self.send(record, departure);
    }

    /// Sends a call whose entry is written.
    pub(super) fn send(&mut self, record: Box<CallRecord>, departure: Departure) {
        let allowed = departure.leaves().clone();
        if let Err((record, failure)) = self.try_send(record, departure) {
            self.note_withdrawn(&record.view, &record.origin, &allowed);
            self.finish(record, Err(failure));
        }
    }

    fn try_send(
        &mut self,
        mut record: Box<CallRecord>,
        departure: Departure,
    ) -> Result<(), (Box<CallRecord>, CallFailure)> {
        if record.view.kind == CallKind::Prompt {
            // It may have waited for the user, and another be there now.
            let wanted = record.wanted.as_ref().map(Hash::as_str);
            if let Err(failure) = self.look_at_prompt(&record.view.server, &record.view.name, wanted) {
                return Err((record, failure));
            }
            self.pin_prompt(&record.view.server, &record.view.name);
        }
        let Some(request) = record.request.take() else { return Ok(()) };
        let (request, open_world) = match self.pass_call(&record.view, request, departure) {
            Ok(passed) => passed,
            Err(failure) => return Err((record, failure)),
        };
        record.entry = self.audits.last;
        record.open_world = open_world;
        let ticket = Ticket(self.events.new_id());
        let (idle, total) = match record.view.kind {
            CallKind::Tool => self.options.times.tool,
            CallKind::Prompt | CallKind::Resource => self.options.times.read,
        };
        let tell = Tell::Call { ticket, request, deadline: Deadline { idle, total } };
        match self.servers.tell(&record.view.server, tell) {
            Ok(run) => {
                let id: Arc<str> = record.view.id.as_str().into();
                self.calls.tickets.insert(ticket, TicketUse::Call { run, id: Arc::clone(&id) });
                record.ticket = Some((run, ticket));
                record.view.state = CallState::Running;
                if let Some(sent) = record.sent.take() {
                    // The caller may have gone away.
                    let _ = sent.send(record.edited.take());
                }
                if self.events.is_observed() {
                    self.events.emit(HostEvent::CallChanged(record.view.clone()));
                }
                self.calls.records.insert(id, record);
                Ok(())
            }
            Err(failure) => Err((record, failure)),
        }
    }

    /// Sends a request that needs no question, outside any call that is shown.
    pub(crate) fn request(
        &mut self,
        server: &str,
        request: ClientRequest,
        (idle, total): (std::time::Duration, std::time::Duration),
        reply: oneshot::Sender<Result<ServerResult, CallFailure>>,
    ) {
        let request = match self.pass_quietly(server, request) {
            Ok(request) => request,
            Err(failure) => {
                let _ = reply.send(Err(failure));
                return;
            }
        };
        let ticket = Ticket(self.events.new_id());
        match self.servers.tell(server, Tell::Call { ticket, request, deadline: Deadline { idle, total } }) {
            Ok(run) => {
                self.calls.tickets.insert(ticket, TicketUse::Plain { run, server: server.to_owned(), reply });
            }
            Err(failure) => {
                let _ = reply.send(Err(failure));
            }
        }
    }

    /// Has a list read again.
    pub(crate) fn refresh_list(
        &self,
        server: &str,
        kind: ListKind,
        reply: oneshot::Sender<Arc<Catalog>>,
    ) -> Result<(), CallFailure> {
        self.servers.tell(server, Tell::Refresh { kind, reply }).map(|_| ())
    }

    /// Cancels a call, whether it was sent or still waits for the user.
    pub(crate) fn cancel_call(&mut self, id: &str) -> Result<(), CallFailure> {
        let record = self.calls.records.get(id).ok_or_else(|| CallFailure::NotFound(format!("call {id}")))?;
        match record.ticket {
            Some((_, ticket)) => {
                let server = record.view.server.clone();
                self.servers.tell(&server, Tell::Cancel { ticket })?;
            }
            None => {
                self.note_cancelled_in_writing(id);
                self.end_questions(|p| matches!(&p.what_for, For::Call(call) if call == id));
                self.end_call(id, Err(CallFailure::Cancelled));
            }
        }
        Ok(())
    }

    pub(super) fn on_progress(&mut self, ticket: Ticket, progress: Progress) {
        let Some(TicketUse::Call { id, .. }) = self.calls.tickets.get(&ticket) else { return };
        let id = Arc::clone(id);
        if let Some(record) = self.calls.records.get_mut(&id) {
            record.view.progress = Some(progress);
            self.emit_call(&id);
        }
    }

    pub(super) fn on_task(&mut self, ticket: Ticket, task: TaskView) {
        let Some(TicketUse::Call { id, .. }) = self.calls.tickets.get(&ticket) else { return };
        let id = Arc::clone(id);
        if let Some(record) = self.calls.records.get_mut(&id) {
            record.view.task = Some(task.into());
            self.emit_call(&id);
        }
    }

    pub(super) fn on_done(&mut self, ticket: Ticket, result: Result<ServerResult, CallError>) {
        match self.calls.tickets.remove(&ticket) {
            Some(TicketUse::Call { id, .. }) => {
                if let Err(CallError::UrlRequired(pages)) = &result {
                    self.ask_for_pages(&id, pages.clone());
                }
                let Some(record) = self.calls.records.remove(&id) else { return };
                let reply = result.map_err(|error| match error {
                    CallError::Cancelled => CallFailure::Cancelled,
                    CallError::Refused => CallFailure::Refused(error.to_string()),
                    error => CallFailure::Session { server: record.view.server.clone(), error: Box::new(error) },
                });
                self.finish_durably(id, record, reply);
            }
            Some(TicketUse::Plain { server, reply, .. }) => {
                let _ = reply.send(result.map_err(|error| match error {
                    CallError::Cancelled => CallFailure::Cancelled,
                    error => CallFailure::Session { server, error: Box::new(error) },
                }));
            }
            None => {}
        }
    }

    /// 2025-11-25: the call failed because pages must be visited first. They are asked about; the user then calls again.
    fn ask_for_pages(&mut self, id: &str, pages: Vec<ElicitParams>) {
        let Some(record) = self.calls.records.get(id) else { return };
        let server = record.view.server.clone();
        let why = self.calls.why_of(Some(id));
        for page in pages.into_iter().take(MAX_QUESTIONS) {
            if !self.consent.may_ask_more(&server) {
                break;
            }
            if let ElicitParams::Url { message, url, .. } = page
                && let Decision::Ask { rule, scopes, .. } =
                    self.permissions.policy.decide(&Act::OpenUrl { server: &server }, now())
            {
                self.ask(&server, why.clone(), QuestionBody::Url { message, url }, scopes, rule, For::Page);
            }
        }
    }

    /// A question that a call waited for is over, without an end of the call.
    pub(super) fn goes_on(&mut self, why: &Why) {
        if let Why::Call { call, .. } = why
            && self
                .calls
                .records
                .get(call.as_str())
                .is_some_and(|record| record.view.state == CallState::AwaitingApproval)
        {
            self.set_call(call, CallState::Running);
        }
    }

    pub(super) fn set_call(&mut self, id: &str, state: CallState) {
        if let Some(record) = self.calls.records.get_mut(id) {
            record.view.state = state;
            self.emit_call(id);
        }
    }

    /// Tells how a call is, if anybody listens.
    fn emit_call(&mut self, id: &str) {
        if self.events.is_observed()
            && let Some(record) = self.calls.records.get(id)
        {
            let view = record.view.clone();
            self.events.emit(HostEvent::CallChanged(view));
        }
    }

    pub(super) fn end_call(&mut self, id: &str, reply: Result<ServerResult, CallFailure>) {
        if let Some(record) = self.calls.records.remove(id) {
            self.finish(record, reply);
        }
    }

    /// Tells how a call ended that is in no list any more.
    pub(super) fn finish(&mut self, mut record: Box<CallRecord>, reply: Result<ServerResult, CallFailure>) {
        // The words of an error are the server's as well.
        if let (Some(conversation), Ok(_) | Err(CallFailure::Session { .. })) = (record.origin.conversation(), &reply) {
            self.put_in(conversation, std::slice::from_ref(&record.view.server), false);
            let Call { server, kind, name, .. } = &record.view;
            let reading = Reading::new(server, ReadingKind::from(*kind), name);
            self.note_readings(conversation, &[Reading { open_world: record.open_world, ..reading }]);
        }
        record.view.state = match &reply {
            Ok(_) => CallState::Done,
            Err(CallFailure::Cancelled) => CallState::Cancelled,
            Err(CallFailure::Refused(_)) => CallState::Refused,
            Err(_) => CallState::Failed,
        };
        self.events.emit(HostEvent::CallChanged(record.view));
        // The caller may have gone away.
        let _ = record.reply.send(reply);
    }

    /// Ends what is left of a run's calls. The session has ended its own already.
    pub(super) fn end_calls_of(&mut self, run: RunId) {
        let tickets: Vec<Ticket> = self.calls.tickets.iter().filter(|(_, t)| t.run() == run).map(|(t, _)| *t).collect();
        for ticket in tickets {
            self.on_done(ticket, Err(CallError::Closed(CloseReason::ServerClosedOutput)));
        }
    }

    /// What a resource said, if that is still fresh.
    pub(crate) fn fresh_read(&mut self, server: &str, uri: &str) -> Option<Read> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.fresh(server, &config_hash(&record.config), uri, Instant::now())
    }

    /// Keeps what a resource said for as long as its server allows. Gives until when.
    pub(crate) fn keep_read(
        &mut self,
        server: &str,
        uri: &str,
        contents: &[ResourceContents],
        hint: Option<CacheHint>,
    ) -> Option<Millis> {
        let record = self.servers.records.get(server).filter(|record| record.state == ServerState::Ready)?;
        self.calls.reads.keep(server, config_hash(&record.config), uri, (contents, hint?), Instant::now())
    }

    /// A change of a resource is told if the user watches it, or one above it.
    pub(super) fn on_resource_updated(&mut self, server: String, uri: String) {
        self.calls.reads.changed(&server, &uri);
        let Some(record) = self.servers.records.get(&server) else { return };
        if record.session.subscriptions.iter().any(|watched| uri.starts_with(watched.as_str())) {
            self.events.emit(HostEvent::ResourceUpdated { server, uri });
        }
    }

    pub(crate) fn subscribed(&mut self, server: &str, uri: String, on: bool) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.subscriptions.retain(|other| *other != uri);
            if on {
                record.session.subscriptions.push(uri);
            }
        }
        self.emit_server(server);
    }

    pub(crate) fn log_level_set(&mut self, server: &str, level: LogLevel) {
        if let Some(record) = self.servers.records.get_mut(server) {
            record.session.log_level = Some(level);
        }
        self.emit_server(server);
    }
}
