//! How content of one server flows on in a conversation: when a call of the same server asks (S26).

use chat::{Chat, NewMessage};
use domain::flow::{DataFlow, SameServer};
use domain::history::{Reading, ReadingKind};
use domain::question::Why;
use host::HostOptions;
use host::view::{QuestionBody, QuestionView, UserAnswer};
use policy::Scope;
use serde_json::json;
use testkit::app::App;
use testkit::model::{ScriptedModel, reference};

use super::beside::attached;
use super::model::{answer, known, says, uses};
use super::{ID, Talk, text};

fn is_call(question: &QuestionView) -> bool {
    matches!(question.body, QuestionBody::Tool { .. })
}

/// A conversation whose user always allows `add`, and has a model use it once.
async fn allowed_always() -> Talk {
    let wants = |n: u32| answer(vec![uses(&format!("u{n}"), "demo__add", json!({"a": n, "b": 1}))]);
    let answers =
        vec![wants(1), says("Two."), wants(2), says("Three."), wants(3), says("Refused."), wants(4), says("Five.")];
    let mut talk = Talk::new(answers, &["add"]).await;
    talk.send("Add").await;
    let question = talk.app.question("demo", "the first call", is_call).await;
    assert!(question.scopes.contains(&Scope::Always), "nothing was read yet: {question:?}");
    talk.app.answer(&question, UserAnswer::Allow(Scope::Always)).await;
    talk.ended().await;
    let items = talk.say("Again").await;
    assert_eq!(text(items.last().unwrap()), "Three.", "a local tool that says nothing of the world asks no more");
    talk
}

#[tokio::test]
async fn after_a_resource_a_call_of_the_same_server_asks_and_the_user_can_turn_that_off() {
    let mut talk = allowed_always().await;
    talk.chat.append_items(ID.into(), vec![attached("a1")]).await.unwrap();
    talk.send("Use it").await;
    let question = talk.app.question("demo", "the call after a resource", is_call).await;
    assert_eq!((question.rule, question.scopes), ("after-untrusted", &[Scope::Once][..]), "S26: it asks, for once");
    let Why::Model { read, after, .. } = &question.why else { panic!("a model asks: {question:?}") };
    assert_eq!(read[..], [Reading::new("demo", ReadingKind::Resource, "note://a")], "S26: it says after which content");
    assert!(after.is_empty(), "no other server said anything: {after:?}");
    talk.app.answer(&question, UserAnswer::Deny).await;
    talk.ended().await;
    let off = DataFlow { same_server: SameServer::Off, ..DataFlow::default() };
    talk.app.host.set_data_flow("demo".into(), off.clone()).await.unwrap();
    assert_eq!(talk.app.server("demo").await.flow, off, "the page hears of it");
    assert!(talk.app.decisions().iter().any(|(kind, ..)| kind == "data-flow"), "and the log has it");
    let items = talk.say("Once more").await;
    assert_eq!(text(items.last().unwrap()), "Five.", "what the user turned off asks no more");
}

#[tokio::test]
async fn what_was_read_is_known_after_a_restart_and_so_is_what_the_user_set() {
    let talk = allowed_always().await;
    let wants = |n: u32| answer(vec![uses(&format!("v{n}"), "demo__add", json!({"a": n, "b": 1}))]);
    talk.chat.append_items(ID.into(), vec![attached("a1")]).await.unwrap();
    let first = talk.items()[0].id.clone();
    let everything = DataFlow { same_server: SameServer::Everything, ..DataFlow::default() };
    talk.app.host.set_data_flow("demo".into(), everything.clone()).await.unwrap();
    talk.app.host.close().await;
    let Talk { app: App { folder, host, .. }, chat, .. } = talk;
    drop((host, chat));
    let app = App::start_in(folder, vec![], HostOptions::default()).await;
    assert_eq!(app.server("demo").await.flow, everything, "what was set is kept");
    app.ready("demo").await;
    app.until("demo", "known whole", |s| s.counts[0] >= 16).await;
    let model = ScriptedModel::offer(&app.host, vec![known(None)]).await;
    model.next(wants(1));
    model.next(says("No."));
    let message = NewMessage { text: "Hi".into(), model: Some(reference("m")), ..Default::default() };
    // In another branch, which the attachment is not in: the mark is the conversation's.
    Chat::new(app.host.clone()).send_message(ID.into(), message, Some(first)).await.unwrap();
    let question = app.question("demo", "the call after the restart", is_call).await;
    assert_eq!(question.rule, "after-untrusted", "S26: it asks");
    let Why::Model { read, .. } = &question.why else { panic!("a model asks: {question:?}") };
    assert!(read.contains(&Reading::new("demo", ReadingKind::Resource, "note://a")), "S26: the mark is kept: {read:?}");
    assert!(read.contains(&Reading::new("demo", ReadingKind::Tool, "add")), "S26: so is each tool's: {read:?}");
    app.host.close().await;
}
