//! Host with a server and a model that executes random actions, and compares the sent payloads with the approvals and
//! the audit log. Used by `gate.rs`.

mod comparison;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use testkit::calls::UserCalls as _;

pub(super) use comparison::prompt_text;
use comparison::{ReceivedMessages, canonical_text};
use domain::data_flow::{DataFlow, ResultReview};
use domain::item::{Content, ToolResult};
use host::view::{ConsentRequestBody, ConsentRequestEdit, ConsentRequestView, ServerState, UserDecision};
use host::{DecisionError, ResultOrigin, ResultReviewVerdict};
use mcp_proto::types::{ContentBlock, LogLevel, SamplingContent};
use policy::{ApprovalScope, PolicyRule, RuleEffect, RuleRef};
use ports::AuditEntry;
use serde_json::{Map, json};
use server_requests::sampling::ModelAnswerState;
use testkit::app::{EVENT_TIMEOUT, TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::deadline::poll_until;
use testkit::model::{ModelStep, ScriptedModel, model_named, model_reference, text_reply};

use super::acts::{TestAction, TestDecision};
use super::{ALLOW_ONCE, BAD_SERVER_NAME, REMOTE_SERVER_NAME, requesting_server};

/// Payloads that the user has approved so far, as the consent requests displayed them.
#[derive(Default)]
struct ApprovedPayloads {
    starts: usize,
    calls: Vec<String>,
    /// Approved sampling requests to a model, each with the name of the model.
    model_requests: Vec<String>,
    /// Sampling requests that the user has approved, each with the id of its consent request. Only these may be sent to
    /// the model again.
    reviewed: BTreeSet<String>,
    answers: Vec<String>,
    forms: Vec<String>,
    urls: Vec<String>,
    shares: usize,
    connections: usize,
    sign_ins: usize,
    results: Vec<String>,
    /// `true` after the user has given an approval for more than a single use.
    has_lasting_approval: bool,
}

/// Host with its servers and a scripted model, on which random actions are executed, and the payloads that were
/// approved so far.
pub(super) struct GateTestHarness {
    pub(super) app: TestApp,
    pub(super) model: Arc<ScriptedModel>,
    record: std::path::PathBuf,
    issuer: AuthorizationServer,
    far: ProtectedServer,
    approved: ApprovedPayloads,
    /// Results that the model has read.
    read: Arc<Mutex<Vec<String>>>,
    last: Option<(ConsentRequestView, UserDecision)>,
    rule: Option<RuleRef>,
    /// Number of actions so far, with which their ids and texts are unique.
    count: u32,
    _aside: tempfile::TempDir,
}

pub(super) fn sampling_prompt(consent_request: &ConsentRequestView) -> String {
    let ConsentRequestBody::Sampling { request, state, .. } = &consent_request.body else {
        panic!("the request is for sampling")
    };
    let texts: Vec<&str> = request.messages.iter().flat_map(|m| m.content.blocks()).filter_map(block_text).collect();
    format!("{} to {}", texts.concat(), state.model.as_ref().expect("there is one").model.model)
}

pub(super) fn is_sampling_request(consent_request: &ConsentRequestView) -> bool {
    matches!(consent_request.body, ConsentRequestBody::Sampling { response: None, .. })
}

pub(super) fn block_text(block: &ContentBlock) -> Option<&str> {
    if let ContentBlock::Text(text) = block { Some(&text.text) } else { None }
}

impl GateTestHarness {
    pub(super) async fn new() -> Self {
        let aside = tempfile::tempdir().unwrap();
        let record = aside.path().join("record");
        let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
        let far = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
        let app = TestApp::start(vec![
            (BAD_SERVER_NAME, requesting_server(&record)),
            (REMOTE_SERVER_NAME, remote_config(&far.url())),
        ])
        .await;
        app.platform.browses.store(true, std::sync::atomic::Ordering::Relaxed);
        let model =
            ScriptedModel::add_to_host(&app.host, vec![model_named("scripted-1"), model_named("other-2")]).await;
        let approved = ApprovedPayloads::default();
        let read = Arc::default();
        let mut bench =
            Self { app, model, record, issuer, far, approved, read, last: None, rule: None, count: 0, _aside: aside };
        let flow = DataFlow { review: ResultReview::Always, ..DataFlow::default() };
        bench.app.host.set_data_flow(BAD_SERVER_NAME.into(), flow).await.unwrap();
        bench.start().await;
        bench.decide_queued_request(0, TestDecision::Allow).await;
        bench
    }

    pub(super) async fn execute(&mut self, act: &TestAction) {
        match act {
            TestAction::Trigger(kind) => self.send_request_that_triggers_server_request(*kind).await,
            TestAction::Call(n) => self.call_tool(&format!("text {}", n % 4)).await,
            TestAction::Read => {
                let host = &self.app.host;
                self.count += 1;
                let _ = host
                    .read_resource(format!("read {}", self.count), BAD_SERVER_NAME.into(), "test://one".into())
                    .await;
            }
            TestAction::Result(n) => self.add_result_read_by_model(&format!("result {}", n % 4)).await,
            TestAction::Answer(which, way) => self.decide_queued_request(*which, *way).await,
            TestAction::RepeatLastAnswer => {
                let Some((consent_request, answer)) = self.last.take() else { return };
                let taken =
                    self.app.host.decide(consent_request.id, consent_request.hash.to_string(), answer.clone()).await;
                assert!(taken.is_err(), "an approval is valid for one action: {answer:?} of {consent_request:?}");
            }
            // A call that a grant has just allowed may not be logged yet.
            TestAction::Revoke => {
                for grant in self.app.host.grants().await.unwrap() {
                    self.app.host.revoke_grant(grant.id).await.unwrap();
                }
            }
            TestAction::Rule(n) => self.set_numbered_rule(*n).await,
            TestAction::DenyAll => self.app.host.deny_all_requests(BAD_SERVER_NAME.into(), false).await.unwrap(),
            TestAction::Stop => self.stop().await,
            TestAction::Start => self.start().await,
            TestAction::StartFar => {
                self.app.host.start_server(REMOTE_SERVER_NAME.into()).await.unwrap();
                self.wait_for_remote_server().await;
            }
            TestAction::StopFar => {
                self.app.host.stop_server(REMOTE_SERVER_NAME.into()).await.unwrap();
                self.app.until(REMOTE_SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
            }
            TestAction::EndTokens => {
                self.issuer.invalidate_all_tokens();
                // The next request to the server requires the sign-in.
                if self.app.server(REMOTE_SERVER_NAME).await.state == ServerState::Ready {
                    let read =
                        self.app.host.read_resource("far".into(), REMOTE_SERVER_NAME.into(), "test://far".into());
                    let _ = tokio::time::timeout(EVENT_TIMEOUT, read).await;
                }
            }
        }
    }

    /// Waits until the start of the remote server has ended or needs a decision of the user.
    async fn wait_for_remote_server(&self) {
        let is_decided = |s: &host::view::ServerView| !matches!(s.state, ServerState::Starting | ServerState::Stopping);
        self.app.until(REMOTE_SERVER_NAME, "asked about, waiting, or in use", is_decided).await;
    }

    async fn is_ready(&self) -> bool {
        self.app.server(BAD_SERVER_NAME).await.state == ServerState::Ready
    }

    /// Makes the host send a request after which the server sends a request of this kind. The test decides on it later.
    pub(super) async fn send_request_that_triggers_server_request(&mut self, kind: u8) {
        let host = &self.app.host;
        self.count += 1;
        let _ = match kind {
            0 => host.subscribe(BAD_SERVER_NAME.into(), "test://one".into(), true).await,
            1 => host.subscribe(BAD_SERVER_NAME.into(), "test://one".into(), false).await,
            2 => host.set_log_level(BAD_SERVER_NAME.into(), LogLevel::Debug).await,
            _ => {
                let id = format!("prompt {}", self.count);
                host.get_prompt(id, BAD_SERVER_NAME.into(), "greet".into(), Default::default()).await.map(|_| ())
            }
        };
    }

    async fn call_tool(&mut self, text: &str) {
        self.count += 1;
        let (host, id) = (self.app.host.clone(), format!("call {}", self.count));
        let arguments = Map::from_iter([("text".to_owned(), json!(text))]);
        tokio::spawn(async move { host.call_tool(id, BAD_SERVER_NAME.into(), "echo".into(), arguments, None).await });
        tokio::task::yield_now().await;
    }

    pub(super) async fn add_result_read_by_model(&mut self, text: &str) {
        self.count += 1;
        let (host, read) = (self.app.host.clone(), Arc::clone(&self.read));
        let content = vec![Content::Text { text: text.to_owned() }];
        let (structured, structured_problem, arguments) = (None, None, json!({}));
        let result = ToolResult { content, structured, structured_problem, is_error: false, meta: None, arguments };
        let (conversation, server, tool) = ("talk".to_owned(), BAD_SERVER_NAME.to_owned(), "echo".to_owned());
        let (call, app) = (format!("result {}", self.count), None);
        let origin = ResultOrigin { conversation, call, server, tool, app };
        tokio::spawn(async move {
            if let ResultReviewVerdict::Passes(result) = host.review_result(origin, result).await
                && let [Content::Text { text }] = &result.content[..]
            {
                read.lock().unwrap().push(text.clone());
            }
        });
        tokio::task::yield_now().await;
    }

    async fn set_numbered_rule(&mut self, n: u8) {
        self.wait_for_sent_messages().await;
        if let Some(rule) = self.rule.take() {
            self.app.host.remove_rule(rule).await.unwrap();
        }
        if n > 0 {
            let effect = if n == 1 { RuleEffect::Deny } else { RuleEffect::Allow };
            self.approved.has_lasting_approval |= effect == RuleEffect::Allow;
            let rule = PolicyRule {
                effect,
                tool: Some("echo".into()),
                trusted_server: false,
                ..PolicyRule::for_trusted_server(BAD_SERVER_NAME)
            };
            self.rule = Some(self.app.host.set_rule(rule).await.unwrap());
        }
    }

    async fn stop(&mut self) {
        // Waits until all sent messages have arrived.
        self.wait_for_sent_messages().await;
        self.app.host.stop_server(BAD_SERVER_NAME.into()).await.unwrap();
        self.app.until(BAD_SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
    }

    async fn start(&mut self) {
        self.app.host.start_server(BAD_SERVER_NAME.into()).await.unwrap();
        let is_decided = |s: &host::view::ServerView| {
            matches!(s.state, ServerState::AwaitingApproval | ServerState::Ready | ServerState::Failed(_))
        };
        self.app.until(BAD_SERVER_NAME, "asked about or ready", is_decided).await;
    }

    pub(super) async fn decide_queued_request(&mut self, which: u8, way: TestDecision) {
        let open = self.app.consent_requests().await;
        let Some(consent_request) = open.get(usize::from(which) % open.len().max(1)).cloned() else { return };
        self.count += 1;
        let fresh = format!("fresh {}", self.count);
        let answer = match way {
            TestDecision::Allow => ALLOW_ONCE,
            TestDecision::AllowFor => UserDecision::AllowFor(ApprovalScope::Always, 60_000),
            TestDecision::AllowAlways => UserDecision::Allow(ApprovalScope::Always),
            TestDecision::Deny => UserDecision::Deny,
            TestDecision::DenyBecause => UserDecision::DenyBecause("no".into()),
            TestDecision::Cancel => UserDecision::Cancel,
            TestDecision::ByHand => UserDecision::ByHand,
            TestDecision::Again => UserDecision::Again,
            TestDecision::Back => UserDecision::Back,
            TestDecision::StopModel => UserDecision::Stop,
            TestDecision::Submit => UserDecision::Submit(Map::from_iter([("name".to_owned(), json!(fresh))])),
            TestDecision::SubmitNothing => UserDecision::Submit(Map::new()),
            TestDecision::Share => UserDecision::Share(vec![self.app.folder.path().to_owned()]),
            TestDecision::Client => UserDecision::Client(credentials::sign_in::EnteredClient {
                client_id: "id".into(),
                client_secret: None,
            }),
            TestDecision::Edit | TestDecision::OtherModel => {
                return self.edit_consent_request(&consent_request, way, fresh).await;
            }
            TestDecision::Stale => {
                let stale = self.app.host.decide(consent_request.id, "0".repeat(64), ALLOW_ONCE).await;
                assert_eq!(
                    stale,
                    Err(DecisionError::Stale),
                    "an approval is for the displayed payload: {consent_request:?}"
                );
                return;
            }
        };
        let hangs = self.count.is_multiple_of(5);
        let requires_consent = matches!(
            (&consent_request.body, way),
            (ConsentRequestBody::Sampling { .. }, TestDecision::Allow | TestDecision::Again)
        );
        if requires_consent {
            self.model.queue_reply(if hangs { vec![ModelStep::Hangs] } else { text_reply(&fresh, (1, 1)) });
        }
        let before = self.model.requests().len();
        let others = open.iter().filter(|other| other.body == ConsentRequestBody::Roots).count();
        let taken = self.app.host.decide(consent_request.id, consent_request.hash.to_string(), answer.clone()).await;
        if requires_consent
            && taken.is_ok()
            && matches!(answer, UserDecision::Again) | is_sampling_request(&consent_request)
        {
            assert!(
                poll_until(EVENT_TIMEOUT, || self.model.requests().len() > before).await,
                "the model receives the request"
            );
        }
        if taken.is_err() {
            return self.model.clear_replies();
        }
        self.record_approval(&consent_request, &answer, others);
        // Returning from the first step has no effect.
        self.last = Some((consent_request.clone(), answer)).filter(|(_, answer)| *answer != UserDecision::Back);
        let is_done = |q: &ConsentRequestView| {
            let ConsentRequestBody::Sampling { state, .. } = &q.body else { return true };
            !matches!(state.run, ModelAnswerState::Running { .. })
        };
        if requires_consent && !hangs {
            while self.app.consent_requests().await.iter().any(|q| q.id == consent_request.id && !is_done(q)) {
                tokio::task::yield_now().await;
            }
        }
        self.model.clear_replies();
        let starts = matches!(consent_request.body, ConsentRequestBody::StartServer { .. });
        if matches!(consent_request.body, ConsentRequestBody::ConnectServer { .. } | ConsentRequestBody::SignIn { .. })
        {
            self.wait_for_remote_server().await;
        }
        if starts {
            let is_over = |s: &host::view::ServerView| {
                matches!(s.state, ServerState::Stopped | ServerState::Failed(_))
                    || s.state == ServerState::Ready && s.counts[0] > 0
            };
            self.app.until(BAD_SERVER_NAME, "ready, or not", is_over).await;
        }
    }

    /// Adds the payloads that a decision approves to [`ApprovedPayloads`], after the host has accepted the decision.
    /// `roots` is the number of shared folders.
    fn record_approval(&mut self, consent_request: &ConsentRequestView, answer: &UserDecision, roots: usize) {
        let approved = &mut self.approved;
        let allows = matches!(answer, UserDecision::Allow(_) | UserDecision::AllowFor(..));
        match (&consent_request.body, answer) {
            (ConsentRequestBody::StartServer { .. }, _) if allows => approved.starts += 1,
            (ConsentRequestBody::ConnectServer { .. }, _) if allows => approved.connections += 1,
            (ConsentRequestBody::SignIn { .. }, _) if allows => approved.sign_ins += 1,
            (ConsentRequestBody::Tool { arguments, .. }, _) if allows => {
                approved.calls.push(canonical_text(&json!(arguments)))
            }
            (ConsentRequestBody::Result { parts, .. }, _) if allows => approved.results.push(format!("{parts:?}")),
            (ConsentRequestBody::Sampling { response: None, .. }, _) if allows => {
                approved.model_requests.push(sampling_prompt(consent_request));
                approved.reviewed.insert(format!("{:?} {}", consent_request.id, sampling_prompt(consent_request)));
            }
            (ConsentRequestBody::Sampling { .. }, UserDecision::Again) => {
                let what = sampling_prompt(consent_request);
                let is_reviewed = approved.reviewed.contains(&format!("{:?} {what}", consent_request.id));
                assert!(is_reviewed, "E01: a request that was never approved is not repeated: {what}");
                approved.model_requests.push(what);
            }
            (ConsentRequestBody::Sampling { response: Some(response), .. }, _) if allows => {
                approved.answers.push(canonical_text(&json!(response.content.blocks())));
            }
            (ConsentRequestBody::Form { .. }, UserDecision::Submit(content)) => {
                approved.forms.push(canonical_text(&json!(content)))
            }
            (ConsentRequestBody::Url { url, .. }, _) if allows => approved.urls.push(url.clone()),
            (ConsentRequestBody::Roots, UserDecision::Share(_)) => {
                approved.shares += roots;
                approved.has_lasting_approval = true;
            }
            _ => {}
        }
        let lasts = matches!(answer, UserDecision::Allow(ApprovalScope::Always) | UserDecision::AllowFor(..));
        approved.has_lasting_approval |= lasts;
    }

    pub(super) async fn edit_consent_request(
        &mut self,
        consent_request: &ConsentRequestView,
        way: TestDecision,
        fresh: String,
    ) {
        let edit = match (&consent_request.body, way) {
            (ConsentRequestBody::Tool { .. }, TestDecision::Edit) => {
                ConsentRequestEdit::Arguments(Map::from_iter([("text".to_owned(), json!(fresh))]))
            }
            (ConsentRequestBody::Sampling { request, response: None, .. }, TestDecision::Edit) => {
                let mut request = request.clone();
                request.messages[0].content = SamplingContent::One(ContentBlock::text(fresh));
                ConsentRequestEdit::Request(request)
            }
            (ConsentRequestBody::Sampling { response: Some(response), .. }, TestDecision::Edit) => {
                let mut response = response.clone();
                response.content = SamplingContent::One(ContentBlock::text(fresh));
                ConsentRequestEdit::Response(response)
            }
            (ConsentRequestBody::Sampling { .. }, _) => {
                ConsentRequestEdit::Model(model_reference(if self.count.is_multiple_of(2) {
                    "other-2"
                } else {
                    "scripted-1"
                }))
            }
            _ => return,
        };
        let edited = self.app.host.edit_consent_request(consent_request.id, edit).await;
        let Ok(edited) = edited else { return };
        let stale = self.app.host.decide(consent_request.id, consent_request.hash.to_string(), ALLOW_ONCE).await;
        assert!(
            edited.hash == consent_request.hash || stale.is_err(),
            "an approval of the unedited payload has no effect"
        );
        if edited.hash == consent_request.hash && stale.is_ok() {
            self.record_approval(consent_request, &ALLOW_ONCE, 0);
        }
    }

    /// Sends one more message, and waits until the server has received it, and thus all earlier messages.
    async fn wait_for_sent_messages(&mut self) {
        if !self.is_ready().await {
            return;
        }
        let record = self.record.clone();
        let arrived = || ReceivedMessages::read(&record).params_by_method("resources/unsubscribe").len();
        let before = arrived();
        self.send_request_that_triggers_server_request(1).await;
        assert!(poll_until(EVENT_TIMEOUT, || arrived() > before).await, "sent messages arrive");
        // A call without a consent request is logged before it is sent. This test makes no decisions between the two.
        let written = || {
            let log = self.read_audit_log();
            let of = |holds: &dyn Fn(&AuditEntry) -> bool| {
                log.iter().filter(|e| e.kind == "tool" && e.server == BAD_SERVER_NAME && holds(e)).count()
            };
            of(&|e| e.decision == "allowed").saturating_sub(of(&|e| e.rule == "allowed-not-sent"))
        };
        let sent = || ReceivedMessages::read(&record).params_by_method("tools/call").len();
        poll_until(EVENT_TIMEOUT, || sent() == written()).await;
    }
}
