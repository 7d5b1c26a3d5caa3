//! Tests an action of the user, such as a revocation, with concurrent calls in many orders. After the action was
//! acknowledged, no call may be sent under the permission that it ended. Each call must have its audit entry before it
//! is sent, and each call must end.
//!
//! The order is determined by a seed only: each step is a poll by the test, a write that the test permits, or one round
//! of the spawned tasks.

use std::collections::VecDeque;

use domain::call::CallFailure;
use mcp_proto::session::ClientRequest;
use mcp_proto::types::CallToolResult;
use policy::{ApprovalScope, PolicyRule, RuleScope};
use serde_json::json;

use super::world::{ASKING_TOOL, CallerFuture, GRANTED_TOOL, HostFixture, RUN, SERVER, catalog, poll_once};
use crate::connection::{CallTicket, ConnectionCommand, ConnectionEvent};
use crate::owner::Owner;
use crate::view::{ConsentRequestBody, ConsentRequestView, UserDecision};

/// Number of random orders of calls, writes and approvals in which each action is tested.
const SEED_COUNT: u64 = 150;
/// Number of tool calls in one tested order.
const CALLS_PER_SCHEDULE: usize = 7;
/// Number of calls that begin only after the action was acknowledged.
const CALLS_BEGUN_AFTER_ACTION: usize = 2;
/// Maximum number of random steps in one tested order.
const MAX_STEPS_PER_SCHEDULE: usize = 3_000;

/// Action of the user or the server that ends the permission of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RevocationAction {
    Revoke,
    Deny,
    DenyForRun,
    /// The server reports changed definitions. The action counts as acknowledged when the host has handled the report.
    ChangeDefinition,
    Stop,
}

/// A tool call that the test makes, and its progress.
struct ScheduledCall {
    future: CallerFuture<Result<CallToolResult, CallFailure>>,
    has_begun: bool,
    was_sent: bool,
    outcome: Option<Result<CallToolResult, CallFailure>>,
}

/// Steps that the test executes in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallStep {
    /// Polls the future of the action once.
    Act,
    /// Begins the next call, which is decided in the same step.
    Begin,
    /// Approves the oldest consent request.
    Approve,
    /// Writes the oldest audit entry.
    WriteEntry,
    /// Writes the oldest document.
    WriteDocument,
    /// Runs the spawned tasks for one round.
    Run,
    /// Lets the server respond to the oldest call.
    Respond,
}

const STEPS: [CallStep; 7] = [
    CallStep::Act,
    CallStep::Begin,
    CallStep::Approve,
    CallStep::WriteEntry,
    CallStep::WriteDocument,
    CallStep::Run,
    CallStep::Respond,
];

/// Counters over all orders, which prove that the orders differ.
#[derive(Debug, Default)]
struct InterleavingCoverage {
    /// Number of calls that were sent before the action was acknowledged.
    sent_before_action: usize,
    /// Number of calls that were allowed, but not sent because of the action.
    withdrawn: usize,
    /// Number of calls that waited for their audit entries when the action was acknowledged.
    waiting_during_action: usize,
}

struct RandomCallSchedule {
    world: HostFixture,
    action: CallerFuture<()>,
    is_acknowledged: bool,
    calls: Vec<ScheduledCall>,
    decisions: Vec<CallerFuture<Result<(), crate::DecisionError>>>,
    /// Calls that the server has received, but not responded to.
    received: VecDeque<CallTicket>,
    is_stop_requested: bool,
    /// Steps executed so far, for the message of a failed assertion.
    steps: Vec<CallStep>,
}

impl RandomCallSchedule {
    async fn new(action: RevocationAction, tools: &[&str]) -> Self {
        let world = HostFixture::new().await;
        let host = world.host.clone();
        let grant = host.grants().await.unwrap().remove(0).id;
        let mut rule: PolicyRule =
            serde_json::from_value(json!({ "server": SERVER, "tool": "*", "effect": "deny" })).unwrap();
        let action: CallerFuture<()> = match action {
            RevocationAction::Revoke => {
                Box::pin(async move { assert!(host.revoke_grant(grant).await.unwrap(), "the grant existed") })
            }
            RevocationAction::Deny | RevocationAction::DenyForRun => {
                rule.scope = if action == RevocationAction::Deny { RuleScope::Always } else { RuleScope::Session };
                Box::pin(async move { assert!(host.set_rule(rule).await.is_ok(), "the rule is accepted") })
            }
            RevocationAction::ChangeDefinition => Box::pin(async move {
                let report = |owner: &mut Owner| {
                    owner.on_connection_event(RUN, ConnectionEvent::Catalog(catalog("changed since the review")));
                };
                host.with_owner(report).await.unwrap();
            }),
            RevocationAction::Stop => Box::pin(async move { host.stop_server(SERVER.to_owned()).await.unwrap() }),
        };
        let call = |number: usize| ScheduledCall {
            future: world.call(&format!("call-{number}"), tools[number % tools.len()], number),
            has_begun: false,
            was_sent: false,
            outcome: None,
        };
        let calls = (1..=CALLS_PER_SCHEDULE).map(call).collect();
        let (decisions, received, steps) = Default::default();
        Self { world, action, is_acknowledged: false, calls, decisions, received, is_stop_requested: false, steps }
    }

    /// Returns `true` if a step is possible in the current state.
    async fn is_possible(&self, step: CallStep) -> bool {
        match step {
            CallStep::Act => !self.is_acknowledged,
            CallStep::Begin => {
                let waiting = self.calls.iter().filter(|call| !call.has_begun).count();
                waiting > if self.is_acknowledged { 0 } else { CALLS_BEGUN_AFTER_ACTION }
            }
            CallStep::Approve => !self.approvable_requests().await.is_empty(),
            CallStep::WriteEntry => self.world.log.queued_entries() > 0,
            CallStep::WriteDocument => self.world.is_document_write_delayed().await,
            CallStep::Run => true,
            CallStep::Respond => !self.received.is_empty() || self.is_stop_requested,
        }
    }

    /// Returns the consent requests for calls of [`ASKING_TOOL`]. Requests for the other tool prove that its grant has
    /// ended, and are denied at the end.
    async fn approvable_requests(&self) -> Vec<ConsentRequestView> {
        let is_asking = |body: &ConsentRequestBody| matches!(body, ConsentRequestBody::Tool { tool, .. } if tool.name == ASKING_TOOL);
        let requests = self.world.requests().await.into_iter();
        requests.filter(|request| !self.is_acknowledged && is_asking(&request.body)).collect()
    }

    /// Executes one step of the test.
    async fn execute_step(&mut self, step: CallStep) {
        self.steps.push(step);
        assert!(self.steps.len() < MAX_STEPS_PER_SCHEDULE, "{self}: the calls end");
        let mut acknowledged = false;
        match step {
            CallStep::Act => acknowledged = poll_once(&mut self.action).await.is_some(),
            CallStep::Begin => {
                let next = self.calls.iter_mut().find(|call| !call.has_begun);
                if let Some(call) = next {
                    call.has_begun = true;
                    call.outcome = poll_once(&mut call.future).await;
                }
            }
            CallStep::Approve => {
                let request = self.approvable_requests().await.remove(0);
                let mut decision = self.world.decide(&request, UserDecision::Allow(ApprovalScope::Once));
                if poll_once(&mut decision).await.is_none() {
                    self.decisions.push(decision);
                }
            }
            CallStep::WriteEntry => self.world.log.write_next_entry(),
            CallStep::WriteDocument => self.world.write_document().await,
            CallStep::Run => tokio::task::yield_now().await,
            CallStep::Respond => match self.received.pop_front() {
                Some(ticket) => self.world.respond_to_call(ticket).await,
                None => {
                    self.is_stop_requested = false;
                    self.world.report(ConnectionEvent::Ended(None)).await;
                }
            },
        }
        self.check_received_calls();
        // A call that was sent in the step of the acknowledgement was sent before it.
        self.is_acknowledged |= acknowledged;
        self.poll_begun_calls().await;
    }

    /// Receives the calls that were sent to the server, and checks that each was allowed.
    fn check_received_calls(&mut self) {
        while let Ok(command) = self.world.commands.try_recv() {
            match *command {
                ConnectionCommand::Call { ticket, request, .. } => {
                    let ClientRequest::CallTool { arguments, .. } = request.get() else { panic!("{request:?}") };
                    let number = usize::try_from(arguments["n"].as_u64().unwrap()).unwrap();
                    assert!(!self.is_acknowledged, "{self}: call {number} is sent after the acknowledgement");
                    let is_logged = self.allowed_hash(number).is_some();
                    assert!(is_logged, "{self}: call {number} is sent before its audit entry is written");
                    let call = &mut self.calls[number - 1];
                    assert!(!std::mem::replace(&mut call.was_sent, true), "call {number} is sent more than once");
                    self.received.push_back(ticket);
                }
                ConnectionCommand::Stop => self.is_stop_requested = true,
                _ => {}
            }
        }
    }

    /// Returns the payload hash in the written audit entry that allows a call.
    fn allowed_hash(&self, number: usize) -> Option<String> {
        let arguments = format!("\"n\":{number}");
        let allows = |entry: &ports::AuditEntry| {
            let is_number = |content: &String| {
                content
                    .match_indices(&arguments)
                    .any(|(at, found)| !content[at + found.len()..].starts_with(|next: char| next.is_ascii_digit()))
            };
            entry.decision == "allowed" && entry.content.as_ref().is_some_and(is_number)
        };
        self.world.log.written_entries().into_iter().find(allows).map(|entry| entry.hash)
    }

    async fn poll_begun_calls(&mut self) {
        for call in self.calls.iter_mut().filter(|call| call.has_begun && call.outcome.is_none()) {
            call.outcome = poll_once(&mut call.future).await;
        }
        let mut pending = Vec::new();
        for mut decision in self.decisions.drain(..) {
            if poll_once(&mut decision).await.is_none() {
                pending.push(decision);
            }
        }
        self.decisions = pending;
    }

    /// Executes random steps until the action is acknowledged and all calls have begun.
    async fn run(&mut self, rng: &mut fastrand::Rng, coverage: &mut InterleavingCoverage) {
        while !self.is_acknowledged || self.calls.iter().any(|call| !call.has_begun) {
            let was_acknowledged = self.is_acknowledged;
            let step = STEPS[rng.usize(..STEPS.len())];
            if self.is_possible(step).await {
                self.execute_step(step).await;
            }
            if self.is_acknowledged && !was_acknowledged {
                let waits = |call: &&ScheduledCall| call.has_begun && !call.was_sent && call.outcome.is_none();
                coverage.waiting_during_action += self.calls.iter().filter(waits).count();
            }
        }
        self.execute_remaining_steps().await;
    }

    /// Executes steps until none is possible, and denies the consent requests that are still pending.
    async fn execute_remaining_steps(&mut self) {
        loop {
            for step in [CallStep::WriteEntry, CallStep::WriteDocument, CallStep::Respond] {
                while self.is_possible(step).await {
                    self.execute_step(step).await;
                }
            }
            // Several rounds, since a task that runs may wake another one.
            for _ in 0..4 {
                self.execute_step(CallStep::Run).await;
            }
            if self.is_possible(CallStep::WriteEntry).await || self.is_possible(CallStep::Respond).await {
                continue;
            }
            let Some(request) = self.world.requests().await.into_iter().next() else { break };
            let denied = poll_once(&mut self.world.decide(&request, UserDecision::Deny)).await;
            assert_eq!(denied, Some(Ok(())), "{self}: the request is denied");
            self.check_received_calls();
            self.poll_begun_calls().await;
        }
    }

    /// Checks at the end of an order that all calls and decisions have ended, and that the audit log matches the calls
    /// that were sent.
    fn check_final_state(&self, coverage: &mut InterleavingCoverage) {
        assert!(self.decisions.is_empty(), "{self}: each decision has a reply");
        let log = self.world.log.written_entries();
        for (at, call) in self.calls.iter().enumerate() {
            let number = at + 1;
            let outcome = call.outcome.as_ref().unwrap_or_else(|| panic!("{self}: call {number} ends"));
            let was_stopped = matches!(outcome, Err(CallFailure::Session { .. }));
            assert_eq!(outcome.is_ok() || was_stopped, call.was_sent, "{self}: call {number} ended as {outcome:?}");
            let hash = self.allowed_hash(number);
            let own = || log.iter().filter(|entry| Some(&entry.hash) == hash.as_ref());
            let allowed = own().filter(|entry| entry.decision == "allowed").count();
            let withdrawn = own().filter(|entry| entry.rule == "allowed-not-sent").count();
            assert_eq!(
                allowed,
                withdrawn + usize::from(call.was_sent),
                "{self}: the log states whether call {number} was sent: {log:#?}"
            );
            coverage.sent_before_action += usize::from(call.was_sent);
            coverage.withdrawn += withdrawn;
        }
    }
}

impl std::fmt::Display for RandomCallSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {:?}", self.steps)
    }
}

/// Tests an action in many random orders with calls of these tools.
async fn run_interleaved_schedules(action: RevocationAction, tools: &[&str]) {
    let mut coverage = InterleavingCoverage::default();
    for seed in 0..SEED_COUNT {
        let mut schedule = RandomCallSchedule::new(action, tools).await;
        let mut rng = fastrand::Rng::with_seed(seed);
        schedule.run(&mut rng, &mut coverage).await;
        schedule.check_final_state(&mut coverage);
        schedule.world.close().await;
    }
    let InterleavingCoverage { sent_before_action, withdrawn, waiting_during_action } = coverage;
    assert!(sent_before_action > 0, "{action:?}: some calls are sent before the acknowledgement");
    assert!(withdrawn > 0, "{action:?}: some calls are allowed and then withdrawn");
    assert!(waiting_during_action > 0, "{action:?}: some calls wait during the acknowledgement");
}

#[tokio::test]
async fn no_call_is_sent_under_a_revoked_grant() {
    run_interleaved_schedules(RevocationAction::Revoke, &[GRANTED_TOOL]).await;
}

#[tokio::test]
async fn no_call_is_sent_that_a_new_rule_denies() {
    run_interleaved_schedules(RevocationAction::Deny, &[GRANTED_TOOL, ASKING_TOOL]).await;
}

#[tokio::test]
async fn no_call_is_sent_that_a_new_rule_until_quit_denies() {
    run_interleaved_schedules(RevocationAction::DenyForRun, &[GRANTED_TOOL, ASKING_TOOL]).await;
}

#[tokio::test]
async fn no_call_is_sent_with_a_changed_definition() {
    run_interleaved_schedules(RevocationAction::ChangeDefinition, &[GRANTED_TOOL]).await;
}

#[tokio::test]
async fn no_call_is_sent_to_a_stopped_server() {
    run_interleaved_schedules(RevocationAction::Stop, &[GRANTED_TOOL, ASKING_TOOL]).await;
}
