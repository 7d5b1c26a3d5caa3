//! Tests of conversations with a model, by commands as the page sends them.

use api::{Api, ErrorCode, Event, dispatch};
use serde_json::{Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp};
use testkit::model::{ModelStep, ScriptedModel, model_named, text_reply};

use crate::run_command;

/// Creates a conversation with a scripted model that sends these replies. Returns the app, its API and the identifier
/// of the conversation.
async fn conversation_with_replies(answers: Vec<Vec<ModelStep>>) -> (TestApp, Api, Value) {
    let app = TestApp::start(Vec::new()).await;
    let model = ScriptedModel::add_to_host(&app.host, vec![model_named("m")]).await;
    answers.into_iter().for_each(|answer| model.queue_reply(answer));
    let api = Api::new(app.host.clone());
    let id = run_command(&api, "create_conversation", json!({"title": "Talk"})).await["id"].clone();
    let settings = json!({"model": {"provider": "scripted", "model": "m"}, "systemPrompt": "Be brief."});
    run_command(&api, "set_conversation", json!({"conversation": id, "settings": settings})).await;
    (app, api, id)
}

/// Executes a command that starts a model's reply. Returns the response and all events until the reply has ended.
async fn run_reply_command(api: &Api, command: &str, request: Value) -> (Value, Vec<Value>) {
    let mut events = api.events();
    let begun = run_command(api, command, request).await;
    let mut received = Vec::new();
    let until = async {
        while let Some(batch) = events.next().await {
            for event in batch.events {
                let is_end = matches!(event, Event::ItemChanged { answering: false, .. });
                received.push(json!(event));
                if is_end {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, until).await.expect("the reply should end");
    (begun, received)
}

#[tokio::test]
async fn reply_streams_events_and_is_stored_in_the_conversation() {
    let (app, api, id) = conversation_with_replies(vec![text_reply("Hello", (10, 5))]).await;
    let (begun, events) = run_reply_command(&api, "send_message", json!({"conversation": id, "text": "Hi"})).await;
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).cloned().collect::<Vec<_>>();
    let deltas = of("reply_delta");
    assert_eq!(
        (&deltas[0]["item"], &deltas[0]["seq"]),
        (&begun["reply"], &json!(0)),
        "deltas of this reply, numbered from 0"
    );
    assert_eq!(deltas[0]["append"], json!([{"type": "text", "part": 0, "text": "Hello"}]), "content of the delta");
    let items = of("item_changed");
    assert_eq!(items[0]["item"]["id"], begun["message"], "the user's message should be first");
    assert_eq!(
        (&items[1]["item"]["state"], &items[1]["answering"]),
        (&json!("streaming"), &json!(true)),
        "the reply should follow"
    );
    let conversation = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(
        conversation["items"][1],
        items.last().unwrap()["item"],
        "the item should equal the one in the last event"
    );
    let body = &conversation["items"][1]["body"];
    assert_eq!((&body["parts"][0]["text"], &body["stop"]["is"]), (&json!("Hello"), &json!("end_turn")), "{body}");
    assert_eq!(conversation["answering"], false, "the reply should have ended");
    assert_eq!(conversation["settings"]["systemPrompt"], "Be brief.", "settings of the conversation");
    let cost = run_command(&api, "read_conversation_cost", json!({"conversation": id})).await;
    assert_eq!((&cost["usage"]["input"], &cost["unpriced"]), (&json!(10), &json!(1)), "usage: {cost}");

    *app.platform.save_file.lock().unwrap() = Some(app.folder.path().join("talk.md"));
    run_command(&api, "export_conversation", json!({"conversation": id, "format": "markdown"})).await;
    let written = std::fs::read_to_string(app.folder.path().join("talk.md")).unwrap();
    assert_eq!(written, "# Talk\n\n## User\n\nHi\n\n## Assistant (`m`)\n\nHello\n", "exported file");
}

#[tokio::test]
async fn conversation_branches_are_listed_and_selectable() {
    let (_app, api, id) = conversation_with_replies(vec![text_reply("One", (1, 1)), text_reply("Two", (1, 1))]).await;
    let (first, _) = run_reply_command(&api, "send_message", json!({"conversation": id, "text": "Hi"})).await;
    let (second, _) = run_reply_command(&api, "retry_reply", json!({"conversation": id, "item": first["reply"]})).await;
    let shown = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(
        shown["items"][1]["siblings"],
        json!([first["reply"], second["reply"]]),
        "both replies should be listed"
    );
    assert_eq!(shown["items"][1]["body"]["parts"][0]["text"], "Two", "the new branch should be selected");
    run_command(&api, "choose_branch", json!({"conversation": id, "item": first["reply"]})).await;
    let shown = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(shown["items"][1]["body"]["parts"][0]["text"], "One", "the chosen branch should be selected");
}

#[tokio::test]
async fn message_without_a_chosen_model_has_an_error_code_of_its_own() {
    let app = TestApp::start(Vec::new()).await;
    ScriptedModel::add_to_host(&app.host, vec![model_named("m")]).await;
    let api = Api::new(app.host.clone());
    let id = run_command(&api, "create_conversation", json!({"title": "Talk"})).await["id"].clone();
    let request = json!({"conversation": id, "text": "Hi"});
    let error = dispatch(&api, "send_message", request).await.expect_err("no model is chosen");
    assert_eq!(error.code, ErrorCode::NoModel, "error code: {error}");
}

#[tokio::test]
async fn impossible_reply_commands_return_distinct_error_codes() {
    let (_app, api, id) = conversation_with_replies(vec![vec![ModelStep::Hangs]]).await;
    let refused = async |command: &str, request: Value| dispatch(&api, command, request).await.expect_err(command).code;
    let stop = json!({"conversation": id});
    assert_eq!(refused("stop_reply", stop.clone()).await, ErrorCode::NotFound, "no reply is streaming");
    let empty = json!({"conversation": id, "text": " "});
    assert_eq!(refused("send_message", empty).await, ErrorCode::Invalid, "an empty message should be rejected");
    run_command(&api, "send_message", json!({"conversation": id, "text": "Hi"})).await;
    let second = json!({"conversation": id, "text": "Hi"});
    assert_eq!(
        refused("send_message", second).await,
        ErrorCode::NotReady,
        "a second reply at the same time should be rejected"
    );
    let shown = run_command(&api, "read_conversation", json!({"conversation": id})).await;
    assert_eq!(
        (&shown["answering"], &shown["items"][1]["seq"]),
        (&json!(true), &json!(0)),
        "the snapshot of a streaming reply should have its sequence number"
    );
    run_command(&api, "stop_reply", stop).await;
}

#[tokio::test]
async fn model_parameters_and_system_prompts_are_saved_by_commands() {
    let (_app, api, id) = conversation_with_replies(Vec::new()).await;
    let settings = json!({"model": null, "temperature": 0.5, "maxTokens": 900});
    run_command(&api, "set_conversation", json!({"conversation": id, "settings": settings})).await;
    let shown = run_command(&api, "read_conversation", json!({"conversation": id})).await["settings"].clone();
    assert_eq!((&shown["temperature"], &shown["maxTokens"]), (&json!(0.5), &json!(900)), "stored parameters");
    let hot = json!({"conversation": id, "settings": {"temperature": 3}});
    let refused = dispatch(&api, "set_conversation", hot).await.expect_err("a temperature above 2").code;
    assert_eq!(refused, ErrorCode::Invalid, "a temperature above 2");

    assert_eq!(run_command(&api, "list_system_prompts", json!({})).await, json!({"prompts": []}), "none at first");
    let new = json!({"id": "", "name": "Terse", "text": "Be brief."});
    let saved = run_command(&api, "save_system_prompt", new.clone()).await;
    assert_eq!(saved["prompts"][0]["name"], "Terse", "the saved prompts are returned: {saved}");
    assert_eq!(run_command(&api, "list_system_prompts", json!({})).await, saved, "the prompt is stored");
    let again = dispatch(&api, "save_system_prompt", new).await.expect_err("the name is taken").code;
    assert_eq!(again, ErrorCode::Invalid, "a name is used once");
    let reference = json!({"id": saved["prompts"][0]["id"]});
    let rest = run_command(&api, "remove_system_prompt", reference.clone()).await;
    assert_eq!(rest, json!({"prompts": []}), "the rest is returned");
    let missing = dispatch(&api, "remove_system_prompt", reference).await.expect_err("it is gone").code;
    assert_eq!(missing, ErrorCode::NotFound, "a deleted prompt is missing");
}
