//! Remote servers that misbehave, where a script decides every byte: the same criterion as for local ones. The call fails
//! within its time with the cause in words and the server's name, memory is bounded, and the well-behaved server next to it
//! answers within a second all the while. Cases of the list of attacks are named by their X number.

mod bodies;
mod floods;
mod opening;
mod redirects;
mod slow;

use std::io;
use std::time::{Duration, Instant};

use host::HostOptions;
use host::server_config::{HttpConfig, ServerConfig};
use host::view::{CallFailure, CallTimes, QuestionBody, QuestionView, ServerState, UserAnswer};
use mcp_proto::session::Timeouts;
use policy::Scope;
use serde_json::{Map, Value, json};
use testkit::app::{App, scripted};
use testkit::http::{Answer, HttpServer, Request, ordinary};
use tokio::task::JoinHandle;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// A call may be silent for so long.
const IDLE: Duration = Duration::from_secs(4);
/// A call may take so long, whatever comes.
const TOTAL: Duration = Duration::from_secs(8);
/// What the test's own process may grow by: the largest message twice, and what the scripts themselves hold.
const MEMORY: u64 = 256 * 1024 * 1024;

/// Short times, so that what never ends is seen to end.
fn options() -> HostOptions {
    HostOptions {
        timeouts: Timeouts { probe: Duration::from_secs(2), initialize: Duration::from_secs(3), ..Timeouts::default() },
        times: CallTimes { tool: (IDLE, TOTAL), list: (IDLE, TOTAL), read: (IDLE, TOTAL), ..CallTimes::default() },
        ..HostOptions::default()
    }
}

fn remote(url: String) -> ServerConfig {
    HttpConfig { url, ..HttpConfig::default() }.into()
}

fn allows_use(question: &QuestionView) -> Option<UserAnswer> {
    matches!(
        question.body,
        QuestionBody::StartServer { .. } | QuestionBody::ConnectServer { .. } | QuestionBody::Tool { .. }
    )
    .then_some(UserAnswer::Allow(Scope::Once))
}

/// A good local server and a bad remote one, and a user who allows their use.
struct Pair {
    app: App,
    user: JoinHandle<()>,
    memory: u64,
}

impl Pair {
    /// Both are being started; the good one is ready.
    async fn opening(url: String) -> Self {
        let servers = vec![("good", scripted(&[])), ("bad", remote(url))];
        let app = App::start_in(tempfile::tempdir().unwrap(), servers, options()).await;
        let user = app.always(allows_use);
        for name in ["good", "bad"] {
            app.host.start_server(name.into()).await.unwrap().unwrap();
        }
        app.until("good", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
        Self { app, user, memory: resident() }
    }

    /// Both are ready.
    async fn ready(url: String) -> Self {
        let pair = Self::opening(url).await;
        pair.app.until("bad", "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
        pair
    }

    async fn echo(&self, server: &str) -> Result<(), CallFailure> {
        self.echo_as(server, server).await
    }

    async fn echo_as(&self, server: &str, id: &str) -> Result<(), CallFailure> {
        let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
        self.app.host.call_tool(id.into(), server.into(), "echo".into(), arguments, None).await.map(|_| ())
    }

    /// Calls the bad server; meanwhile and afterwards the good one answers within a second.
    async fn bad_call(&self, what: &str) -> (Result<(), CallFailure>, Duration) {
        let began = Instant::now();
        let call = tokio::time::timeout(Duration::from_secs(30), self.echo("bad"));
        let meanwhile = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            self.good_is_well(what, "meanwhile").await;
        };
        let (ended, ()) = tokio::join!(call, meanwhile);
        let took = began.elapsed();
        let Ok(ended) = ended else {
            let activity: String = self.app.activity("bad").await.chars().take(2_000).collect();
            panic!("{what}: the call must end; questions: {:?}; {activity}", self.app.questions().await)
        };
        self.good_is_well(what, "afterwards").await;
        (ended, took)
    }

    async fn good_is_well(&self, what: &str, when: &str) {
        let began = Instant::now();
        let answered = self.echo_as("good", when).await;
        answered.unwrap_or_else(|e| panic!("{what}: the good server answers {when}: {e}"));
        assert!(began.elapsed() < Duration::from_secs(1), "{what}: at once, {when}: {:?}", began.elapsed());
    }

    /// Checks how a call ended: the cause in one of these words, or with an answer if there are none.
    fn ended(&self, what: &str, (ended, took): &(Result<(), CallFailure>, Duration), words: &[&str]) {
        match ended {
            Ok(()) => assert!(words.is_empty(), "{what}: it should fail, but was answered"),
            Err(error) => {
                let said = error.to_string();
                assert!(!words.is_empty(), "{what}: it should be answered, but: {said}");
                assert!(words.iter().any(|word| said.contains(word)), "{what}: the cause is in words: {said}");
                assert!(said.contains("bad"), "{what}: the server is named: {said}");
            }
        }
        assert!(*took < TOTAL + Duration::from_secs(3), "{what}: it ends within its time: {took:?}");
        let grown = resident().saturating_sub(self.memory);
        assert!(grown < MEMORY, "{what}: memory is bounded, but grew by {} MiB", grown / 1024 / 1024);
    }

    async fn close(self) {
        self.user.abort();
        self.app.host.close().await;
    }
}

fn resident() -> u64 {
    testkit::processes::resident_bytes(std::process::id()).expect("the test runs on Linux")
}

/// A server that does nothing wrong but what `script` does with tool calls.
async fn wrong_at_calls<F, A>(revision: &'static str, script: F) -> HttpServer
where
    F: Fn(Value, Answer) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    wrong_at("tools/call", revision, script).await
}

/// The same with another method.
async fn wrong_at<F, A>(method: &'static str, revision: &'static str, script: F) -> HttpServer
where
    F: Fn(Value, Answer) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = io::Result<()>> + Send + 'static,
{
    HttpServer::start(move |request: Request, answer| async move {
        if request.rpc_method() == method {
            script(request.json(), answer).await
        } else {
            ordinary::answer(revision, &request, answer).await
        }
    })
    .await
}

/// The answer that a call should have got.
fn proper(request: &Value) -> Value {
    ordinary::message(LEGACY, request)
}
