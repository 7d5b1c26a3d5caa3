//! Tests muting a server with requests of the server and the user's decisions in many orders. After the
//! acknowledgement, no data that the user entered may be sent. Each response must have its audit entry before it is
//! sent, and each request must get exactly one response.

use std::time::Instant;

use bytes::Bytes;
use domain::consent_request::ConsentRequestId;
use mcp_proto::Revision;
use mcp_proto::jsonrpc::IncomingMessage;
use mcp_proto::session::{
    ClientResponse, HandshakeMode, ServerRequest, ServerRequestId, Session, SessionConfig, SessionEvent, StreamOrigin,
};
use mcp_proto::types::{ClientCapabilities, ElicitAction, ElicitationCapability};
use serde_json::{Map, Value, json};

use super::world::{CallerFuture, HostFixture, SERVER, poll_once};
use crate::connection::{ConnectionCommand, ConnectionEvent};
use crate::view::{ConsentRequestView, UserDecision};

/// Number of random orders of requests, writes and decisions that are tested.
const SEED_COUNT: u64 = 150;
/// Number of requests that the server sends in one tested order.
const REQUESTS_PER_SCHEDULE: usize = 6;
/// Number of requests that the server sends only after it is muted.
const REQUESTS_AFTER_MUTE: usize = 2;
/// Maximum number of random steps in one tested order.
const MAX_STEPS_PER_SCHEDULE: usize = 3_000;

/// Steps that the test executes in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestStep {
    /// Mutes the server, which is acknowledged in the same step.
    Mute,
    /// Sends the server's next request.
    Ask,
    /// Submits the oldest form that was not submitted yet.
    Submit,
    /// Writes the oldest audit entry.
    WriteEntry,
    /// Runs the spawned tasks for one round.
    Run,
}

/// A form that the server requests from the user, and the response that the server has received.
struct ScheduledForm {
    id: ServerRequestId,
    request: Option<ServerRequest>,
    response: Option<ClientResponse>,
}

struct RandomRequestSchedule {
    world: HostFixture,
    is_muted: bool,
    forms: Vec<ScheduledForm>,
    /// Consent requests whose forms the user has submitted.
    submitted: Vec<ConsentRequestId>,
    /// Futures of the user's submissions that are still pending.
    decisions: Vec<CallerFuture<Result<(), crate::DecisionError>>>,
    /// Steps executed so far, for the message of a failed assertion.
    steps: Vec<RequestStep>,
}

/// Returns requests for forms, as the session of a server reports them.
fn scheduled_forms() -> Vec<ScheduledForm> {
    let now = Instant::now();
    let elicitation = ElicitationCapability { form: Some(Map::new()), url: None };
    let mut session = Session::new(
        SessionConfig {
            capabilities: ClientCapabilities { elicitation: Some(elicitation), ..ClientCapabilities::default() },
            handshake: HandshakeMode::Pinned(Revision::V2025_11_25),
            ..SessionConfig::default()
        },
        now,
    );
    let deliver = |session: &mut Session, message: Value| {
        let message = IncomingMessage::decode(&Bytes::from(message.to_string())).unwrap();
        session.handle_message(message, StreamOrigin::Stdio, now);
    };
    let opening: Value = serde_json::from_str(&session.poll_transmit().unwrap().json).unwrap();
    let opened = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "server", "version": "1" },
    });
    deliver(&mut session, json!({ "jsonrpc": "2.0", "id": opening["id"], "result": opened }));
    for number in 1..=REQUESTS_PER_SCHEDULE {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let params = json!({ "message": format!("form {number}"), "requestedSchema": schema });
        deliver(
            &mut session,
            json!({ "jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params }),
        );
    }
    let requests = std::iter::from_fn(|| session.poll_event()).filter_map(|event| match event {
        SessionEvent::RequestReceived { request, server_request: consent_request, .. } => {
            Some(ScheduledForm { id: request, request: Some(*consent_request), response: None })
        }
        _ => None,
    });
    requests.collect()
}

impl RandomRequestSchedule {
    async fn new() -> Self {
        let (world, forms) = (HostFixture::new().await, scheduled_forms());
        assert_eq!(forms.len(), REQUESTS_PER_SCHEDULE, "the session reports each form");
        let (submitted, decisions, steps) = Default::default();
        Self { world, is_muted: false, forms, submitted, decisions, steps }
    }

    fn unsent_count(&self) -> usize {
        self.forms.iter().filter(|form| form.request.is_some()).count()
    }

    /// Returns the oldest consent request that is not decided yet.
    async fn oldest_undecided_request(&self) -> Option<ConsentRequestView> {
        let requests = self.world.requests().await;
        requests.into_iter().find(|request| !self.submitted.contains(&request.id))
    }

    async fn is_possible(&self, step: RequestStep) -> bool {
        match step {
            RequestStep::Mute => !self.is_muted,
            RequestStep::Ask => self.unsent_count() > if self.is_muted { 0 } else { REQUESTS_AFTER_MUTE },
            RequestStep::Submit => self.oldest_undecided_request().await.is_some(),
            RequestStep::WriteEntry => self.world.log.queued_entries() > 0,
            RequestStep::Run => true,
        }
    }

    async fn execute_step(&mut self, step: RequestStep) {
        self.steps.push(step);
        assert!(self.steps.len() < MAX_STEPS_PER_SCHEDULE, "{self}: the requests end");
        match step {
            RequestStep::Mute => {
                self.world.host.deny_all_requests(SERVER.to_owned(), true).await.unwrap();
                self.check_received_responses();
                self.is_muted = true;
            }
            RequestStep::Ask => {
                let form =
                    self.forms.iter_mut().find(|form| form.request.is_some()).expect("a form was not submitted yet");
                let (request, consent_request) =
                    (form.id, Box::new(form.request.take().expect("the form was not sent yet")));
                self.world
                    .report(ConnectionEvent::RequestReceived { request, ticket: None, server_request: consent_request })
                    .await;
            }
            RequestStep::Submit => {
                let request = self.oldest_undecided_request().await.expect("a consent request for a form is pending");
                self.submitted.push(request.id);
                let content = Map::from_iter([("n".to_owned(), json!(request.id.0))]);
                let mut decision = self.world.decide(&request, UserDecision::Submit(content));
                if poll_once(&mut decision).await.is_none() {
                    self.decisions.push(decision);
                }
            }
            RequestStep::WriteEntry => self.world.log.write_next_entry(),
            RequestStep::Run => tokio::task::yield_now().await,
        }
        self.check_received_responses();
        if self.is_muted {
            let waiting = self.world.requests().await;
            assert!(waiting.is_empty(), "{self}: a muted server has no consent requests: {waiting:?}");
        }
    }

    /// Receives the responses that were sent to the server, and checks them.
    fn check_received_responses(&mut self) {
        while let Ok(command) = self.world.commands.try_recv() {
            let ConnectionCommand::Answer { request, answer } = *command else { continue };
            if let ClientResponse::Elicitation(result) = answer.get()
                && result.action == ElicitAction::Accept
            {
                assert!(!self.is_muted, "{self}: entered data is sent after the acknowledgement");
                let content =
                    policy::canonical_json_object(result.content.as_ref().expect("an accepted form has content"));
                let written = self.world.log.written_entries();
                let is_logged =
                    written.iter().any(|entry| entry.decision == "allowed" && entry.content.as_ref() == Some(&content));
                assert!(is_logged, "{self}: {content} is sent before its audit entry is written");
            }
            let form = self.forms.iter_mut().find(|form| form.id == request).expect("the form was sent");
            let before = form.response.replace(answer.into_inner());
            assert_eq!(before, None, "a request gets one response");
        }
    }
}

impl std::fmt::Display for RandomRequestSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "after {:?}", self.steps)
    }
}

#[tokio::test]
async fn no_entered_data_is_sent_to_a_muted_server() {
    const STEPS: [RequestStep; 5] =
        [RequestStep::Mute, RequestStep::Ask, RequestStep::Submit, RequestStep::WriteEntry, RequestStep::Run];
    let (mut accepted, mut withdrawn) = (0, 0);
    for seed in 0..SEED_COUNT {
        let mut schedule = RandomRequestSchedule::new().await;
        let mut rng = fastrand::Rng::with_seed(seed);
        while !schedule.is_muted || schedule.unsent_count() > 0 {
            let step = STEPS[rng.usize(..STEPS.len())];
            if schedule.is_possible(step).await {
                schedule.execute_step(step).await;
            }
        }
        while schedule.is_possible(RequestStep::WriteEntry).await {
            schedule.execute_step(RequestStep::WriteEntry).await;
            schedule.execute_step(RequestStep::Run).await;
            schedule.execute_step(RequestStep::Run).await;
        }
        for decision in &mut schedule.decisions {
            assert!(poll_once(decision).await.is_some(), "after {:?}: each decision has a reply", schedule.steps);
        }
        let is_accepted = |form: &&ScheduledForm| {
            let response = form.response.as_ref().unwrap_or_else(|| panic!("{schedule}: each request has a response"));
            matches!(response, ClientResponse::Elicitation(result) if result.action == ElicitAction::Accept)
        };
        let sent = schedule.forms.iter().filter(is_accepted).count();
        let log = schedule.world.log.written_entries();
        let forms = || log.iter().filter(|entry| entry.kind == "elicitation");
        let allowed = forms().filter(|entry| entry.decision == "allowed").count();
        let not_sent = forms().filter(|entry| entry.rule == "allowed-not-sent").count();
        assert_eq!(allowed, not_sent + sent, "{schedule}: the log states what was sent: {log:#?}");
        accepted += sent;
        withdrawn += not_sent;
        schedule.world.close().await;
    }
    assert!(accepted > 0, "some forms are submitted before the server is muted");
    assert!(withdrawn > 0, "some submitted forms are withdrawn");
}
