//! The one gate (E01): what leaves is what was approved and what the audit log has, whatever is done in whatever order.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use domain::flow::{DataFlow, ResultReview};
use domain::item::{Content, ToolResult};
use host::view::{Edit, QuestionBody, QuestionView, ServerState, UserAnswer};
use host::{AnswerError, ResultOrigin, ResultVerdict};
use mcp_proto::types::{ContentBlock, LogLevel, SamplingContent};
use models::Part;
use policy::{Effect, PolicyRule, RuleRef, Scope};
use ports::server_config::ServerConfig;
use ports::{AuditEntry, AuditQuery};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use server_requests::sampling::Run;
use testkit::app::{App, PATIENCE, remote, scripted};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::deadline::holds_within;
use testkit::model::{ScriptedModel, Step, named, reference, text};

use crate::report::{Figures, Row};

pub(crate) const SERVER: &str = "bad";
/// A remote server that wants a sign-in.
const FAR: &str = "far";
pub(crate) const ONCE: UserAnswer = UserAnswer::Allow(Scope::Once);

/// A server that asks for something whenever it is sent one of four requests, and what it got, line by line.
pub(crate) fn asking(record: &Path) -> ServerConfig {
    let asks = |id: &str, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": format!("{id}-$ID"), "method": method, "params": params}).to_string()
    };
    let sampling = asks(
        "sampling",
        "sampling/createMessage",
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "question $ID"}}], "maxTokens": 50}),
    );
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let form = asks("form", "elicitation/create", json!({"message": "Your name?", "requestedSchema": schema}));
    let url = json!({"mode": "url", "elicitationId": "e$ID", "message": "Look", "url": "https://harbour.example/$ID"});
    let url = asks("url", "elicitation/create", url);
    let roots = asks("roots", "roots/list", json!({}));
    let done = r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#;
    let greeted = r#"{"jsonrpc":"2.0","id":$ID,"result":{"messages":[]}}"#;
    let raw = [
        format!("resources/subscribe={sampling}\n{done}"),
        format!("resources/unsubscribe={form}\n{done}"),
        format!("logging/setLevel={url}\n{done}"),
        format!("prompts/get={roots}\n{greeted}"),
    ];
    let mut arguments = vec!["--record", record.to_str().unwrap()];
    arguments.extend(raw.iter().flat_map(|raw| ["--raw", raw]));
    scripted(&arguments)
}

/// What the server got: the requests of a method, and the answers to its own requests that are no refusals.
struct Got(Vec<Value>);

impl Got {
    fn read(record: &Path) -> Self {
        let text = std::fs::read_to_string(record).unwrap_or_default();
        // The last line may be half there.
        Self(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    fn sent(&self, method: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["method"] == method).map(|line| &line["params"]).collect()
    }

    fn answers(&self, kind: &str) -> Vec<&Value> {
        let is_answer = |line: &&Value| line["id"].as_str().is_some_and(|id| id.starts_with(kind));
        self.0.iter().filter(is_answer).map(|line| &line["result"]).filter(|result| !result.is_null()).collect()
    }
}

/// The same words for the same JSON.
fn exactly(value: &Value) -> String {
    policy::canonical_json(value)
}

fn sorted(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort();
    all
}

/// One thing that is done.
#[derive(Debug, Clone)]
enum Act {
    /// The server is made to ask for something.
    Trigger(u8),
    /// The user calls a tool.
    Call(u8),
    Read,
    /// A model would read the result of a call.
    Result(u8),
    /// A question in the queue is answered; both numbers choose among what there is.
    Answer(u8, Way),
    RepeatLastAnswer,
    Revoke,
    Rule(u8),
    DenyAll,
    Stop,
    Start,
    StartFar,
    StopFar,
    /// The remote server wants another sign-in.
    EndTokens,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy)]
enum Way {
    Allow,
    AllowFor,
    AllowAlways,
    Deny,
    DenyBecause,
    Cancel,
    Edit,
    OtherModel,
    ByHand,
    Again,
    Back,
    StopModel,
    Submit,
    SubmitNothing,
    Share,
    Client,
    Stale,
}

const WAYS: &[Way] = &[
    Way::Allow,
    Way::Allow,
    Way::Allow,
    Way::AllowFor,
    Way::AllowAlways,
    Way::Deny,
    Way::DenyBecause,
    Way::Cancel,
    Way::Edit,
    Way::OtherModel,
    Way::ByHand,
    Way::ByHand,
    Way::Again,
    Way::Again,
    Way::Back,
    Way::StopModel,
    Way::Submit,
    Way::SubmitNothing,
    Way::Share,
    Way::Client,
    Way::Stale,
];

fn act() -> impl Strategy<Value = Act> {
    let answer = || (any::<u8>(), prop::sample::select(WAYS)).prop_map(|(which, way)| Act::Answer(which, way));
    prop_oneof![
        3 => Just(Act::Trigger(0)),
        3 => (1_u8..4).prop_map(Act::Trigger),
        3 => any::<u8>().prop_map(Act::Call),
        1 => Just(Act::Read),
        2 => any::<u8>().prop_map(Act::Result),
        16 => answer(),
        2 => Just(Act::RepeatLastAnswer),
        1 => Just(Act::Revoke),
        1 => (0_u8..3).prop_map(Act::Rule),
        1 => Just(Act::DenyAll),
        1 => Just(Act::Stop),
        2 => Just(Act::Start),
        2 => Just(Act::StartFar),
        1 => Just(Act::StopFar),
        1 => Just(Act::EndTokens),
    ]
}

/// What the user approved, as they saw it.
#[derive(Default)]
struct Approved {
    starts: usize,
    calls: Vec<String>,
    /// What a model was asked: the text, and the model.
    asks: Vec<String>,
    /// The same, with the question: only these can be asked again.
    reviewed: BTreeSet<String>,
    answers: Vec<String>,
    forms: Vec<String>,
    urls: Vec<String>,
    shares: usize,
    connections: usize,
    sign_ins: usize,
    results: Vec<String>,
    /// Whether anything was ever allowed for longer than once.
    standing: bool,
}

/// The host, its server and its model, and what was approved.
struct Bench {
    app: App,
    model: Arc<ScriptedModel>,
    record: std::path::PathBuf,
    issuer: AuthorizationServer,
    far: ProtectedServer,
    approved: Approved,
    /// The results that a model has read.
    read: Arc<Mutex<Vec<String>>>,
    last: Option<(QuestionView, UserAnswer)>,
    rule: Option<RuleRef>,
    /// To tell texts apart.
    count: u32,
    _aside: tempfile::TempDir,
}

fn asked(question: &QuestionView) -> String {
    let QuestionBody::Sampling { request, state, .. } = &question.body else { panic!("it asks a model") };
    let texts: Vec<&str> = request.messages.iter().flat_map(|m| m.content.blocks()).filter_map(words).collect();
    format!("{} to {}", texts.concat(), state.model.as_ref().expect("there is one").model.model)
}

fn is_request(question: &QuestionView) -> bool {
    matches!(question.body, QuestionBody::Sampling { response: None, .. })
}

fn words(block: &ContentBlock) -> Option<&str> {
    if let ContentBlock::Text(text) = block { Some(&text.text) } else { None }
}

impl Bench {
    async fn new() -> Self {
        let aside = tempfile::tempdir().unwrap();
        let record = aside.path().join("record");
        let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
        let far = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
        let app = App::start(vec![(SERVER, asking(&record)), (FAR, remote(&far.url()))]).await;
        app.platform.browses.store(true, std::sync::atomic::Ordering::Relaxed);
        let model = ScriptedModel::offer(&app.host, vec![named("scripted-1"), named("other-2")]).await;
        let approved = Approved::default();
        let read = Arc::default();
        let mut bench =
            Self { app, model, record, issuer, far, approved, read, last: None, rule: None, count: 0, _aside: aside };
        let flow = DataFlow { review: ResultReview::Always, ..DataFlow::default() };
        bench.app.host.set_data_flow(SERVER.into(), flow).await.unwrap().unwrap();
        bench.start().await;
        bench.answer(0, Way::Allow).await;
        bench
    }

    async fn do_one(&mut self, act: &Act) {
        match act {
            Act::Trigger(kind) => self.trigger(*kind).await,
            Act::Call(n) => self.call(&format!("text {}", n % 4)).await,
            Act::Read => {
                let host = &self.app.host;
                self.count += 1;
                let _ = host.read_resource(format!("read {}", self.count), SERVER.into(), "test://one".into()).await;
            }
            Act::Result(n) => self.result(&format!("result {}", n % 4)).await,
            Act::Answer(which, way) => self.answer(*which, *way).await,
            Act::RepeatLastAnswer => {
                let Some((question, answer)) = self.last.take() else { return };
                let taken = self.app.host.answer(question.id, question.hash.to_string(), answer.clone()).await.unwrap();
                assert!(taken.is_err(), "an approval is for one act: {answer:?} of {question:?}");
            }
            // What a grant allowed a moment ago may not be written down yet.
            Act::Revoke => {
                for grant in self.app.host.grants().await.unwrap() {
                    self.app.host.revoke(grant.id).await.unwrap().unwrap();
                }
            }
            Act::Rule(n) => self.set_rule(*n).await,
            Act::DenyAll => self.app.host.deny_all(SERVER.into(), false).await.unwrap(),
            Act::Stop => self.stop().await,
            Act::Start => self.start().await,
            Act::StartFar => {
                self.app.host.start_server(FAR.into()).await.unwrap().unwrap();
                self.far_is_decided().await;
            }
            Act::StopFar => {
                self.app.host.stop_server(FAR.into()).await.unwrap().unwrap();
                self.app.until(FAR, "stopped", |s| s.state == ServerState::Stopped).await;
            }
            Act::EndTokens => {
                self.issuer.end_all_tokens();
                // Its next request tells that it does.
                if self.app.server(FAR).await.state == ServerState::Ready {
                    let read = self.app.host.read_resource("far".into(), FAR.into(), "test://far".into());
                    let _ = tokio::time::timeout(PATIENCE, read).await;
                }
            }
        }
    }

    /// Waits until the remote server is in use, or it is for the user to go on.
    async fn far_is_decided(&self) {
        let is_decided = |s: &host::view::ServerView| !matches!(s.state, ServerState::Starting | ServerState::Stopping);
        self.app.until(FAR, "asked about, waiting, or in use", is_decided).await;
    }

    async fn is_ready(&self) -> bool {
        self.app.server(SERVER).await.state == ServerState::Ready
    }

    /// Whatever it asks is in the queue, or refused, before this returns: its answer comes after.
    async fn trigger(&mut self, kind: u8) {
        let host = &self.app.host;
        self.count += 1;
        let _ = match kind {
            0 => host.subscribe(SERVER.into(), "test://one".into(), true).await,
            1 => host.subscribe(SERVER.into(), "test://one".into(), false).await,
            2 => host.set_log_level(SERVER.into(), LogLevel::Debug).await,
            _ => {
                let id = format!("prompt {}", self.count);
                host.get_prompt(id, SERVER.into(), "greet".into(), Default::default()).await.map(|_| ())
            }
        };
    }

    async fn call(&mut self, text: &str) {
        self.count += 1;
        let (host, id) = (self.app.host.clone(), format!("call {}", self.count));
        let arguments = Map::from_iter([("text".to_owned(), json!(text))]);
        tokio::spawn(async move { host.call_tool(id, SERVER.into(), "echo".into(), arguments, None).await });
        tokio::task::yield_now().await;
    }

    async fn result(&mut self, text: &str) {
        self.count += 1;
        let (host, read) = (self.app.host.clone(), Arc::clone(&self.read));
        let content = vec![Content::Text { text: text.to_owned() }];
        let (structured, structured_problem, arguments) = (None, None, json!({}));
        let result = ToolResult { content, structured, structured_problem, is_error: false, arguments };
        let (conversation, server, tool) = ("talk".to_owned(), SERVER.to_owned(), "echo".to_owned());
        let origin = ResultOrigin { conversation, call: format!("result {}", self.count), server, tool };
        tokio::spawn(async move {
            if let ResultVerdict::Passes(result) = host.review_result(origin, result).await
                && let [Content::Text { text }] = &result.content[..]
            {
                read.lock().unwrap().push(text.clone());
            }
        });
        tokio::task::yield_now().await;
    }

    async fn set_rule(&mut self, n: u8) {
        self.settle().await;
        if let Some(rule) = self.rule.take() {
            self.app.host.remove_rule(rule).await.unwrap().unwrap();
        }
        if n > 0 {
            let effect = if n == 1 { Effect::Deny } else { Effect::Allow };
            self.approved.standing |= effect == Effect::Allow;
            let rule =
                PolicyRule { effect, tool: Some("echo".into()), trusted_server: false, ..PolicyRule::trusting(SERVER) };
            self.rule = Some(self.app.host.set_rule(rule).await.unwrap().unwrap());
        }
    }

    async fn stop(&mut self) {
        // What left is to have arrived.
        self.settle().await;
        self.app.host.stop_server(SERVER.into()).await.unwrap().unwrap();
        self.app.until(SERVER, "stopped", |s| s.state == ServerState::Stopped).await;
    }

    async fn start(&mut self) {
        self.app.host.start_server(SERVER.into()).await.unwrap().unwrap();
        let is_decided = |s: &host::view::ServerView| {
            matches!(s.state, ServerState::AwaitingApproval | ServerState::Ready | ServerState::Failed(_))
        };
        self.app.until(SERVER, "asked about or ready", is_decided).await;
    }

    async fn answer(&mut self, which: u8, way: Way) {
        let open = self.app.questions().await;
        let Some(question) = open.get(usize::from(which) % open.len().max(1)).cloned() else { return };
        self.count += 1;
        let fresh = format!("fresh {}", self.count);
        let answer = match way {
            Way::Allow => ONCE,
            Way::AllowFor => UserAnswer::AllowFor(Scope::Always, 60_000),
            Way::AllowAlways => UserAnswer::Allow(Scope::Always),
            Way::Deny => UserAnswer::Deny,
            Way::DenyBecause => UserAnswer::DenyBecause("no".into()),
            Way::Cancel => UserAnswer::Cancel,
            Way::ByHand => UserAnswer::ByHand,
            Way::Again => UserAnswer::Again,
            Way::Back => UserAnswer::Back,
            Way::StopModel => UserAnswer::Stop,
            Way::Submit => UserAnswer::Submit(Map::from_iter([("name".to_owned(), json!(fresh))])),
            Way::SubmitNothing => UserAnswer::Submit(Map::new()),
            Way::Share => UserAnswer::Share(vec![self.app.folder.path().to_owned()]),
            Way::Client => {
                UserAnswer::Client(credentials::sign_in::EnteredClient { client_id: "id".into(), client_secret: None })
            }
            Way::Edit | Way::OtherModel => return self.edit(&question, way, fresh).await,
            Way::Stale => {
                let stale = self.app.host.answer(question.id, "0".repeat(64), ONCE).await.unwrap();
                assert_eq!(stale, Err(AnswerError::Stale), "an approval is of what was shown: {question:?}");
                return;
            }
        };
        let hangs = self.count.is_multiple_of(5);
        let asks = matches!((&question.body, way), (QuestionBody::Sampling { .. }, Way::Allow | Way::Again));
        if asks {
            self.model.next(if hangs { vec![Step::Hangs] } else { text(&fresh, (1, 1)) });
        }
        let before = self.model.asked().len();
        let others = open.iter().filter(|other| other.body == QuestionBody::Roots).count();
        let taken = self.app.host.answer(question.id, question.hash.to_string(), answer.clone()).await.unwrap();
        if asks && taken.is_ok() && matches!(answer, UserAnswer::Again) | is_request(&question) {
            assert!(holds_within(PATIENCE, || self.model.asked().len() > before).await, "the model is asked");
        }
        if taken.is_err() {
            return self.model.forget();
        }
        self.noted(&question, &answer, others);
        // To go back where one is does nothing, however often.
        self.last = Some((question.clone(), answer)).filter(|(_, answer)| *answer != UserAnswer::Back);
        let is_done = |q: &QuestionView| {
            let QuestionBody::Sampling { state, .. } = &q.body else { return true };
            !matches!(state.run, Run::Running { .. })
        };
        if asks && !hangs {
            while self.app.questions().await.iter().any(|q| q.id == question.id && !is_done(q)) {
                tokio::task::yield_now().await;
            }
        }
        self.model.forget();
        let starts = matches!(question.body, QuestionBody::StartServer { .. });
        if matches!(question.body, QuestionBody::ConnectServer { .. } | QuestionBody::SignIn { .. }) {
            self.far_is_decided().await;
        }
        if starts {
            let is_over = |s: &host::view::ServerView| {
                matches!(s.state, ServerState::Stopped | ServerState::Failed(_))
                    || s.state == ServerState::Ready && s.counts[0] > 0
            };
            self.app.until(SERVER, "ready, or not", is_over).await;
        }
    }

    /// What the user approved by an answer that was taken.
    fn noted(&mut self, question: &QuestionView, answer: &UserAnswer, roots: usize) {
        let approved = &mut self.approved;
        let allows = matches!(answer, UserAnswer::Allow(_) | UserAnswer::AllowFor(..));
        match (&question.body, answer) {
            (QuestionBody::StartServer { .. }, _) if allows => approved.starts += 1,
            (QuestionBody::ConnectServer { .. }, _) if allows => approved.connections += 1,
            (QuestionBody::SignIn { .. }, _) if allows => approved.sign_ins += 1,
            (QuestionBody::Tool { arguments, .. }, _) if allows => approved.calls.push(exactly(&json!(arguments))),
            (QuestionBody::Result { parts, .. }, _) if allows => approved.results.push(format!("{parts:?}")),
            (QuestionBody::Sampling { response: None, .. }, _) if allows => {
                approved.asks.push(asked(question));
                approved.reviewed.insert(format!("{:?} {}", question.id, asked(question)));
            }
            (QuestionBody::Sampling { .. }, UserAnswer::Again) => {
                let what = asked(question);
                let is_reviewed = approved.reviewed.contains(&format!("{:?} {what}", question.id));
                assert!(is_reviewed, "E01: what was never approved is not asked again: {what}");
                approved.asks.push(what);
            }
            (QuestionBody::Sampling { response: Some(response), .. }, _) if allows => {
                approved.answers.push(exactly(&json!(response.content.blocks())));
            }
            (QuestionBody::Form { .. }, UserAnswer::Submit(content)) => approved.forms.push(exactly(&json!(content))),
            (QuestionBody::Url { url, .. }, _) if allows => approved.urls.push(url.clone()),
            (QuestionBody::Roots, UserAnswer::Share(_)) => {
                approved.shares += roots;
                approved.standing = true;
            }
            _ => {}
        }
        let lasts = matches!(answer, UserAnswer::Allow(Scope::Always) | UserAnswer::AllowFor(..));
        approved.standing |= lasts;
    }

    async fn edit(&mut self, question: &QuestionView, way: Way, fresh: String) {
        let edit = match (&question.body, way) {
            (QuestionBody::Tool { .. }, Way::Edit) => {
                Edit::Arguments(Map::from_iter([("text".to_owned(), json!(fresh))]))
            }
            (QuestionBody::Sampling { request, response: None, .. }, Way::Edit) => {
                let mut request = request.clone();
                request.messages[0].content = SamplingContent::One(ContentBlock::text(fresh));
                Edit::Request(request)
            }
            (QuestionBody::Sampling { response: Some(response), .. }, Way::Edit) => {
                let mut response = response.clone();
                response.content = SamplingContent::One(ContentBlock::text(fresh));
                Edit::Response(response)
            }
            (QuestionBody::Sampling { .. }, _) => {
                Edit::Model(reference(if self.count.is_multiple_of(2) { "other-2" } else { "scripted-1" }))
            }
            _ => return,
        };
        let edited = self.app.host.edit(question.id, edit).await.unwrap();
        let Ok(edited) = edited else { return };
        let stale = self.app.host.answer(question.id, question.hash.to_string(), ONCE).await.unwrap();
        assert!(edited.hash == question.hash || stale.is_err(), "an approval of what it was before does nothing");
        if edited.hash == question.hash && stale.is_ok() {
            self.noted(question, &ONCE, 0);
        }
    }

    /// Waits until the server has got one more message: all that left before has arrived by then.
    async fn settle(&mut self) {
        if !self.is_ready().await {
            return;
        }
        let record = self.record.clone();
        let arrived = || Got::read(&record).sent("resources/unsubscribe").len();
        let before = arrived();
        self.trigger(1).await;
        assert!(holds_within(PATIENCE, || arrived() > before).await, "what leaves arrives");
        // A call that needs no question leaves once it is written down. What is decided between the two is no part of this.
        let written = || {
            let log = self.log();
            let of = |holds: &dyn Fn(&AuditEntry) -> bool| {
                log.iter().filter(|e| e.kind == "tool" && e.server == SERVER && holds(e)).count()
            };
            of(&|e| e.decision == "allowed").saturating_sub(of(&|e| e.rule == "allowed-not-sent"))
        };
        let sent = || Got::read(&record).sent("tools/call").len();
        holds_within(PATIENCE, || sent() == written()).await;
    }

    fn log(&self) -> Vec<AuditEntry> {
        let mut entries = self.app.host.ports().audit.read(&AuditQuery::latest(10_000)).unwrap();
        entries.reverse();
        entries
    }

    /// Compares what left, what was approved, and what the log has.
    async fn compare(&mut self) {
        self.settle().await;
        let (got, log) = (Got::read(&self.record), self.log());
        let approved = &self.approved;
        let allowed = |kind: &str| {
            log.iter().filter(|e| e.server == SERVER && e.kind == kind && e.decision == "allowed").collect::<Vec<_>>()
        };
        // What was allowed and did not leave is in the log a second time.
        let of = |kind: &str| {
            let mut left = allowed(kind);
            for gone in log.iter().filter(|e| e.server == SERVER && e.kind == kind && e.rule == "allowed-not-sent") {
                let is_it = |e: &&AuditEntry| e.hash == gone.hash && e.number < gone.number && e.by != "user";
                left.remove(left.iter().rposition(is_it).expect("what is withdrawn was allowed before"));
            }
            left
        };
        let content = |e: &&AuditEntry| e.content.clone().unwrap_or_default();
        let by_user = |e: &&&AuditEntry| e.by == "user";
        for entry in log.iter().filter(|e| e.decision == "allowed" && e.by != "user") {
            let is_read = ["prompt", "resource"].contains(&entry.kind.as_ref());
            // A connection that goes on after a sign-in; they are counted below.
            let goes_on = entry.kind == "connect-server" && entry.by == "policy";
            assert!(is_read || goes_on || approved.standing, "nothing but what stands is allowed unasked: {entry:?}");
        }

        let left = sorted(got.sent("tools/call").iter().map(|call| exactly(&call["arguments"])));
        let calls = of("tool");
        assert_eq!(left, sorted(calls.iter().map(content)), "calls: what left is what the log has");
        let decided = sorted(calls.iter().filter(by_user).map(content));
        assert_eq!(decided, sorted(approved.calls.iter().cloned()), "calls: what the log has is what was approved");

        assert_eq!(got.sent("resources/read").len(), of("resource").len(), "resources: what left is what the log has");
        assert_eq!(got.sent("prompts/get").len(), of("prompt").len(), "prompts: what left is what the log has");

        let all = self.model.asked();
        let left = sorted(all.iter().map(|request| {
            let parts = request.messages.iter().flat_map(|message| &message.parts);
            let texts = parts.filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
            format!("{} to {}", texts.collect::<String>(), request.model)
        }));
        assert_eq!(left, sorted(approved.asks.iter().cloned()), "models: what left is what was approved");
        let logged = sorted(of("sampling").iter().map(|e| text_of(&content(e))));
        let asked = sorted(left.iter().map(|ask| ask.rsplit_once(" to ").unwrap().0.to_owned()));
        assert_eq!(asked, logged, "models: what left is what the log has");

        let blocks = |result: &Value| match &result["content"] {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        };
        let left = sorted(got.answers("sampling").iter().map(|result| exactly(&json!(blocks(result)))));
        assert_eq!(left, sorted(approved.answers.iter().cloned()), "answers: what left is what was approved");
        let logged = of("sampling-answer").into_iter();
        let logged = logged.map(|e| exactly(&json!(blocks(&serde_json::from_str(&content(&e)).unwrap()))));
        assert_eq!(left, sorted(logged), "answers: what left is what the log has");

        let accepted = |result: &&&Value| result["action"] == "accept";
        let left = sorted(got.answers("form").iter().filter(accepted).map(|result| exactly(&result["content"])));
        assert_eq!(left, sorted(approved.forms.iter().cloned()), "forms: what left is what was approved");
        assert_eq!(left, sorted(of("elicitation").iter().map(content)), "forms: what left is what the log has");

        let approved_results = sorted(approved.results.iter().cloned());
        let read = || sorted(self.read.lock().unwrap().iter().map(|text| format!("{:?}", [Part::text(text.as_str())])));
        holds_within(PATIENCE, || read() == approved_results).await;
        assert_eq!(read(), approved_results, "results: what a model read is what was approved");
        let texts = |e: &AuditEntry| serde_json::from_str::<Value>(&content(&e)).unwrap()["result"][0]["text"].clone();
        let logged = sorted(of("result").into_iter().map(|e| texts(e).as_str().unwrap_or_default().to_owned()));
        let texts = sorted(self.read.lock().unwrap().iter().cloned());
        assert_eq!(texts, logged, "results: what a model read is what the log has");

        let issuer = self.issuer.issuer();
        let pages = self.app.platform.opened.lock().unwrap().clone();
        let (signing_in, pages): (Vec<String>, Vec<String>) =
            pages.into_iter().partition(|url| url.starts_with(&issuer));
        let opened = sorted(pages);
        assert_eq!(opened, sorted(approved.urls.iter().cloned()), "pages: what was opened is what was approved");
        assert_eq!(opened, sorted(of("url").iter().map(|e| e.subject.clone())), "pages: what the log has");
        assert_eq!(got.answers("url").iter().filter(accepted).count(), opened.len(), "pages: the server is told");

        let told = got.answers("roots").iter().filter(|result| result["roots"] != json!([])).count();
        let shared = of("roots");
        assert_eq!(told, shared.len(), "folders: what left is what the log has");
        assert_eq!(shared.iter().filter(by_user).count(), approved.shares, "folders: what was approved");

        let of_far = |kind: &str, by: &str| {
            let is_it = |e: &&AuditEntry| e.server == FAR && e.kind == kind && e.decision == "allowed" && e.by == by;
            log.iter().filter(is_it).count()
        };
        assert_eq!(of_far("connect-server", "user"), approved.connections, "connections: what was approved");
        assert_eq!(of_far("sign-in", "user"), approved.sign_ins, "sign-ins: what was approved");
        assert!(signing_in.len() <= approved.sign_ins, "sign-ins: one page for each approval: {signing_in:?}");
        let continued = of_far("connect-server", "policy");
        assert!(continued <= of_far("signed-in", "user"), "connections: one may follow a sign-in, and no more");
        let connected = self.far.with_method("initialize").len();
        let by_grant = of_far("connect-server", "grant");
        assert!(connected <= approved.connections + continued + by_grant, "connections: each was decided: {connected}");
        if approved.connections == 0 {
            assert!(self.far.seen().is_empty(), "connections: nothing leaves before an approval");
        }

        let (ran, starts) = (got.sent("initialize").len(), of("start-server"));
        assert_eq!(ran, starts.len(), "starts: what ran is what the log has");
        assert_eq!(starts.iter().filter(by_user).count(), approved.starts, "starts: what was approved");
    }
}

fn text_of(request: &str) -> String {
    let request: Value = serde_json::from_str(request).unwrap();
    let content = &request["messages"][0]["content"];
    let one = if content.is_array() { &content[0] } else { content };
    one["text"].as_str().unwrap_or_default().to_owned()
}

/// Sequences of so many acts.
const ACTS: usize = 45;
const CASES: u32 = 24;
/// No new sequence is begun after this.
const ENOUGH: Duration = Duration::from_secs(12);
/// So many are run however long they take.
const LEAST_CASES: u32 = 8;

pub(crate) fn withstood(mut row: Row, slowest: Duration) {
    row.withstood(Figures { slowest, memory: 0, gone: Duration::ZERO });
}

#[test]
fn e01_whatever_is_done_in_whatever_order_what_leaves_was_approved_and_is_logged() {
    let row = Row::default();
    row.is("E01, random sequences of all actions over every kind of consent request");
    let config = Config { cases: CASES, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let (began, begun) = (Instant::now(), std::cell::Cell::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ran = TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(act(), 1..ACTS), |acts| {
        if began.elapsed() > ENOUGH && begun.get() >= LEAST_CASES {
            return Ok(());
        }
        begun.set(begun.get() + 1);
        let went = std::panic::AssertUnwindSafe(|| {
            runtime.block_on(async {
                let mut bench = Bench::new().await;
                for act in &acts {
                    bench.do_one(act).await;
                }
                bench.compare().await;
                bench.app.host.close().await;
            });
        });
        std::panic::catch_unwind(went).map_err(|cause| {
            let words = cause.downcast_ref::<String>().cloned();
            TestCaseError::fail(words.unwrap_or_else(|| "it failed".to_owned()))
        })
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(begun.get() >= LEAST_CASES, "E01: enough sequences were run: {}", begun.get());
    withstood(row, began.elapsed());
}

#[tokio::test]
async fn e01_an_answer_by_hand_does_not_lead_a_request_past_its_review() {
    let row = Row::default();
    row.is("E01, answer it yourself, then ask again");
    let mut bench = Bench::new().await;
    bench.trigger(0).await;
    let is_sampling = |q: &QuestionView| matches!(q.body, QuestionBody::Sampling { .. });
    let shown = bench.app.question(SERVER, "a model", is_sampling).await;
    bench.app.answer(&shown, UserAnswer::ByHand).await;
    let by_hand = bench.app.question(SERVER, "the answer", |q| is_sampling(q) && q.hash != shown.hash).await;
    let again = bench.app.host.answer(by_hand.id, by_hand.hash.to_string(), UserAnswer::Again).await.unwrap();
    assert!(matches!(again, Err(AnswerError::WrongKind(_))), "E01: nothing was asked that could be again: {again:?}");
    assert!(bench.model.asked().is_empty(), "E01: what was not reviewed does not reach a model");
    let log = bench.log();
    let is_about = |e: &&AuditEntry| e.kind.starts_with("sampling");
    assert_eq!(log.iter().filter(is_about).count(), 0, "E01: nothing left, so the log has nothing: {log:?}");

    // What was asked can be asked again, and the log has the request each time, not the answer before it.
    bench.app.answer(&by_hand, UserAnswer::Back).await;
    let is_request = |q: &QuestionView| matches!(q.body, QuestionBody::Sampling { response: None, .. });
    let request = bench.app.question(SERVER, "the request", is_request).await;
    bench.model.next(text("First.", (1, 1)));
    bench.app.answer(&request, ONCE).await;
    let is_answer = |q: &QuestionView| matches!(q.body, QuestionBody::Sampling { response: Some(_), .. });
    let first = bench.app.question(SERVER, "the first answer", is_answer).await;
    bench.model.next(text("Second.", (1, 1)));
    bench.app.answer(&first, UserAnswer::Again).await;
    let is_second = |q: &QuestionView| is_answer(q) && q.hash != first.hash;
    let second = bench.app.question(SERVER, "the second answer", is_second).await;
    let log = bench.log();
    let kinds: Vec<&str> = log.iter().filter(is_about).map(|e| e.kind.as_ref()).collect();
    assert_eq!(kinds, ["sampling", "sampling"], "E01: two requests left, and no answer");
    let texts: BTreeSet<String> = log.iter().filter(is_about).map(|e| text_of(e.content.as_ref().unwrap())).collect();
    assert_eq!(texts.len(), 1, "E01: the same each time: {texts:?}");

    // Another request by the user's own hand is another thing to approve.
    bench.app.answer(&second, UserAnswer::Back).await;
    let request = bench.app.question(SERVER, "the request", is_request).await;
    bench.edit(&request, Way::Edit, "never approved".to_owned()).await;
    let edited = bench.app.question(SERVER, "the request", is_request).await;
    bench.app.answer(&edited, UserAnswer::ByHand).await;
    let by_hand = bench.app.question(SERVER, "the answer", is_answer).await;
    let again = bench.app.host.answer(by_hand.id, by_hand.hash.to_string(), UserAnswer::Again).await.unwrap();
    assert!(matches!(again, Err(AnswerError::WrongKind(_))), "E01: it was changed since it was asked: {again:?}");
    assert_eq!(bench.model.asked().len(), 2, "E01: nothing else was asked");
    bench.app.host.close().await;
    withstood(row, Duration::ZERO);
}
