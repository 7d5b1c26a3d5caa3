//! Servers that misbehave: the call fails within its time with the cause in words, and the well-behaved server next to it
//! notices nothing. Cases of the list of attacks are named by their X number.

use std::time::{Duration, Instant};

use host::view::{CallFailure, QuestionBody, QuestionView, ServerState, UserAnswer};
use policy::Scope;
use serde_json::{Map, json};
use testkit::app::{App, scripted};

/// How the call on the hostile server must end.
enum Ends {
    /// With an answer.
    Answered,
    /// With an error that says one of these.
    Fails(&'static [&'static str]),
}
use Ends::{Answered, Fails};

struct Case {
    id: &'static str,
    misbehave: &'static str,
    args: &'static [&'static str],
    ends: Ends,
    /// What the activity must show.
    shows: &'static [&'static str],
}

const fn case(
    id: &'static str,
    misbehave: &'static str,
    args: &'static [&'static str],
    ends: Ends,
    shows: &'static [&'static str],
) -> Case {
    Case { id, misbehave, args, ends, shows }
}

const CASES: &[Case] = &[
    case("X42", "banner", &[], Answered, &["text that is no message"]),
    case("X37", "blank-lines", &[], Answered, &[]),
    case("X37", "over-long", &[], Fails(&["a line of more than"]), &[]),
    case("X37", "invalid-utf8", &[], Fails(&["UTF-8"]), &["UTF-8"]),
    case("X37", "nul-bytes", &[], Fails(&["raw control character"]), &[]),
    case("X37", "bom", &[], Answered, &[]),
    case("X37", "crlf", &[], Answered, &[]),
    case("X37", "lone-surrogate", &[], Fails(&["surrogate"]), &[]),
    case("X38", "deep", &[], Fails(&["nests deeper"]), &[]),
    case("X38", "wrong-id-first", &[], Answered, &["never sent"]),
    case("X38", "string-id", &[], Fails(&["no answer", "other type", "as a text"]), &["never sent"]),
    case("X38", "float-id", &[], Fails(&["neither a whole number", "no answer"]), &["neither a whole number"]),
    case("X38", "duplicate-answer", &[], Answered, &["second answer"]),
    case("X38", "duplicate-key", &[], Fails(&["stands there twice"]), &[]),
    case("X38", "wrong-shape", &[], Fails(&["content", "fit"]), &[]),
    case("X38", "error", &[], Fails(&["answered with an error"]), &[]),
    case("X38", "unknown-notification", &[], Answered, &[]),
    case("X40", "exit", &[], Fails(&["exit status 3"]), &[]),
    case("X40", "abort", &[], Fails(&["signal"]), &[]),
    case("X40", "half-line", &[], Fails(&["ended", "exit", "closed", "broken"]), &[]),
    case("X40", "close-stdout", &[], Fails(&["closed", "ended"]), &[]),
    case("X40", "flood-stderr", &["--bytes", "67108864"], Answered, &[]),
    case("X40", "flood-stderr-lines", &["--count", "50000"], Answered, &[]),
    case("X40", "stderr-garbage", &[], Answered, &[]),
    case("X41", "flood-log", &["--count", "50000"], Answered, &[]),
    case("X41", "flood-progress", &["--count", "50000"], Answered, &[]),
    case("X41", "flood-list-changed", &["--count", "50000"], Answered, &[]),
    case("X41", "flood-garbage", &["--count", "50000"], Answered, &[]),
    case("X42", "lsp-header", &[], Answered, &["Content-Length"]),
];

fn is_start_or_tool(question: &QuestionView) -> Option<UserAnswer> {
    matches!(question.body, QuestionBody::StartServer { .. } | QuestionBody::Tool { .. })
        .then_some(UserAnswer::Allow(Scope::Once))
}

async fn echo(app: &App, server: &str, id: &str) -> Result<(), CallFailure> {
    let mut arguments = Map::new();
    arguments.insert("text".into(), json!("hello"));
    app.host.call_tool(id.into(), server.into(), "echo".into(), arguments, None).await.map(|_| ())
}

/// Two servers, one hostile, with short times and a user who allows starts and tools.
async fn beside_a_good_one(misbehave: &[&str]) -> (App, tokio::task::JoinHandle<()>) {
    let options = host::HostOptions {
        times: host::view::CallTimes { tool: (Duration::from_secs(8), Duration::from_secs(60)), ..Default::default() },
        ..Default::default()
    };
    let servers = vec![("good", scripted(&[])), ("bad", scripted(misbehave))];
    let app = App::start_in(tempfile::tempdir().unwrap(), servers, options).await;
    let user = app.always(is_start_or_tool);
    for name in ["good", "bad"] {
        app.host.start_server(name.into()).await.unwrap().unwrap();
        app.until(name, "ready", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    }
    (app, user)
}

/// `[logging-rate-limit]`
#[tokio::test]
async fn each_fault_stays_with_its_call_and_its_server() {
    for Case { id, misbehave, args, ends, shows } in CASES {
        let mut all = vec!["--misbehave", misbehave];
        all.extend(*args);
        let (app, user) = beside_a_good_one(&all).await;
        let began = Instant::now();
        let result = tokio::time::timeout(Duration::from_secs(30), echo(&app, "bad", "bad")).await;
        let result = result.unwrap_or_else(|_| panic!("{id} {misbehave}: the call must end"));
        let took = began.elapsed();
        match (ends, &result) {
            (Answered, Ok(())) => {}
            (Fails(words), Err(error)) => {
                let said = error.to_string();
                assert!(
                    words.iter().any(|w| said.to_lowercase().contains(&w.to_lowercase())),
                    "{id} {misbehave}: the cause is in words: {said}"
                );
                assert!(said.contains("bad"), "{id} {misbehave}: the server is named: {said}");
                assert!(took < Duration::from_secs(12), "{id} {misbehave}: it fails within its time: {took:?}");
            }
            (Answered, Err(error)) => panic!("{id} {misbehave}: should be answered, but: {error}"),
            (Fails(_), Ok(())) => panic!("{id} {misbehave}: should fail, but was answered"),
        }
        let began = Instant::now();
        echo(&app, "good", "good")
            .await
            .unwrap_or_else(|e| panic!("{id} {misbehave}: the good server still answers: {e}"));
        assert!(began.elapsed() < Duration::from_secs(1), "{id} {misbehave}: at once: {:?}", began.elapsed());
        let activity = app.activity("bad").await;
        for word in *shows {
            assert!(
                activity.contains(word),
                "{id} {misbehave}: the activity shows what came ({word}): {}",
                &activity[..activity.len().min(2_000)]
            );
        }
        user.abort();
        app.host.close().await;
    }
}

/// X41: however often a server says that its list changed, it is read again at most once a second.
#[tokio::test]
async fn x41_a_list_is_not_read_again_and_again() {
    let (app, user) = beside_a_good_one(&["--misbehave", "flood-list-changed", "--count", "20000"]).await;
    let began = Instant::now();
    echo(&app, "bad", "1").await.expect("the flood ends with an answer");
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let seconds = began.elapsed().as_secs_f64();
    let activity = app.host.activity("bad".into()).await.unwrap();
    let read = activity
        .lock()
        .unwrap()
        .after(0, usize::MAX)
        .filter(|e| e.sent && e.method.as_deref() == Some("tools/list"))
        .count();
    assert!(read >= 1, "the last change is seen");
    assert!((read as f64) <= seconds + 2.0, "the list was read {read} times in {seconds:.1} s");
    user.abort();
}

#[tokio::test]
async fn x35_a_server_that_never_answers_is_given_up_and_told_so() {
    let (app, user) = beside_a_good_one(&["--misbehave", "silent"]).await;
    let error = echo(&app, "bad", "1").await.expect_err("no answer is an error");
    assert!(error.to_string().contains("no answer"), "in words: {error}");
    assert!(app.activity("bad").await.contains("notifications/cancelled"), "and the server is told");
    user.abort();
}

#[tokio::test]
async fn x08_lists_without_end_are_cut_and_said_so() {
    for (misbehave, most) in [("endless-cursor", 10), ("endless-new-cursor", 5_000), ("many-tools", 5_000)] {
        let (app, user) = beside_a_good_one(&["--misbehave", misbehave]).await;
        let catalog = app.host.catalog("bad".into()).await.unwrap();
        assert!(
            !catalog.tools.is_empty() && catalog.tools.len() <= most,
            "{misbehave}: {} tools are kept",
            catalog.tools.len()
        );
        assert!(!catalog.notes[0].is_empty(), "{misbehave}: and it is said that there are more");
        user.abort();
    }
}

#[tokio::test]
async fn x24_a_flood_of_questions_is_bounded_and_others_can_still_ask() {
    for (misbehave, count) in [("flood-elicitation", "500"), ("flood-sampling", "5000")] {
        let (app, user) = beside_a_good_one(&["--misbehave", misbehave, "--count", count]).await;
        let host = app.host.clone();
        let flooding = tokio::spawn(async move {
            host.call_tool("1".into(), "bad".into(), "echo".into(), Map::new(), None).await.map(|_| ())
        });
        app.question("bad", "something", |q| {
            !matches!(q.body, QuestionBody::Tool { .. } | QuestionBody::StartServer { .. })
        })
        .await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let queued = app.questions().await.iter().filter(|q| q.server == "bad").count();
        assert!(queued <= host::MAX_QUESTIONS, "{misbehave}: at most {} wait, not {queued}", host::MAX_QUESTIONS);
        echo(&app, "good", "good").await.unwrap_or_else(|e| panic!("{misbehave}: the good server still answers: {e}"));
        app.host.deny_all("bad".into(), true).await.unwrap();
        let _ = tokio::time::timeout(Duration::from_secs(20), flooding)
            .await
            .unwrap_or_else(|_| panic!("{misbehave}: the call ends"));
        assert!(app.questions().await.is_empty(), "{misbehave}: nothing waits any more");
        user.abort();
    }
}

#[tokio::test]
async fn x33_a_server_sees_nothing_that_it_was_not_given() {
    let mut config = scripted(&[]);
    config.as_stdio_mut().unwrap().env.insert("GIVEN".into(), "yes".into());
    // The test's own environment has much that no server may see, cargo's for one.
    let app = App::start(vec![("curious", config)]).await;
    let user = app.always(is_start_or_tool);
    app.host.start_server("curious".into()).await.unwrap().unwrap();
    app.until("curious", "known", |s| s.counts[0] > 0).await;
    let tool = app
        .host
        .catalog("curious".into())
        .await
        .unwrap()
        .tools
        .iter()
        .map(|t| t.name().to_owned())
        .find(|n| n.contains("environment") || n.contains("surroundings"));
    let tool = tool.expect("the scripted server can tell what it sees");
    let (result, _) = app.host.call_tool("1".into(), "curious".into(), tool, Map::new(), None).await.unwrap();
    let said = json!(result).to_string();
    assert!(said.contains("GIVEN"), "what was configured is there: {said}");
    assert!(
        !said.contains("CARGO_MANIFEST_DIR") && std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "the host's own environment is not: {said}"
    );
    user.abort();
}
