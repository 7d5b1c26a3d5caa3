//! Tests of a call that requires input repeatedly, and of the state that the server stores in between (X28).

use std::path::Path;

use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use serde_json::{Map, Value, json};
use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;
use crate::report::random_word;
use crate::{leaks, log};

const MODERN_REVISION_ARGUMENTS: [&str; 2] = ["--revision", "2026-07-28"];

fn input_required_reply(state: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "Who?", "requestedSchema": schema});
    json!({
        "resultType": "input_required",
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}},
        "requestState": state,
    })
}

/// Returns the user's decision on a consent request: submits a form, approves a tool call once, and leaves other
/// requests undecided.
fn accept_forms_and_tool_calls(consent_request: &ConsentRequestView) -> Option<UserDecision> {
    match consent_request.body {
        ConsentRequestBody::Form { .. } => {
            Some(UserDecision::Submit(Map::from_iter([("name".to_owned(), json!("Ann"))])))
        }
        ConsentRequestBody::Tool { .. } => Some(UserDecision::Allow(ApprovalScope::Once)),
        _ => None,
    }
}

/// Returns the `tools/call` requests that the server has written to the file `record`.
fn received_tool_calls(record: &Path) -> Vec<Value> {
    let lines = std::fs::read_to_string(record).unwrap();
    let requests = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("each line is JSON"));
    requests.filter(|request| request["method"] == "tools/call").collect()
}

#[tokio::test]
async fn x28_rounds_are_bounded_and_their_state_is_stored_nowhere() {
    let what = "X28, a call that asks for ever";
    let state = random_word("state");
    let folder = tempfile::tempdir().unwrap();
    let (file, record) = (folder.path().join("reply"), folder.path().join("record"));
    std::fs::write(&file, input_required_reply(&state).to_string()).unwrap();
    let reply = format!("tools/call=@{}", file.display());
    let args = [&MODERN_REVISION_ARGUMENTS[..], &["--reply", &reply, "--record", record.to_str().unwrap()]].concat();
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(&args)).await;
    let user = pair.app.decide_automatically(accept_forms_and_tool_calls);
    let call = pair.call_bad_server(what).await;
    user.abort();
    pair.assert_call_ended(what, &call, &["requested input too often"]);
    let rounds = received_tool_calls(&record).len();
    assert!(rounds <= 11, "{what}: input is requested and sent at most ten times: {rounds}");

    // The next call of the same tool is independent of this one.
    let user = pair.app.decide_automatically(accept_forms_and_tool_calls);
    let second = pair.call_bad_server(what).await;
    user.abort();
    pair.assert_call_ended(what, &second, &["requested input too often"]);
    let sent = received_tool_calls(&record);
    assert_eq!(sent.len(), 2 * rounds, "{what}: the second call equals the first");
    for (number, request) in sent.iter().enumerate() {
        let is_answer = number % rounds != 0;
        let of_request = request["params"]["requestState"].as_str();
        assert_eq!(
            of_request,
            is_answer.then_some(state.as_str()),
            "{what}: only a response contains the state: {request}"
        );
    }
    let all = std::fs::read_to_string(&record).unwrap();
    let with_state = all.lines().filter(|line| line.contains(&state)).count();
    assert_eq!(with_state, 2 * (rounds - 1), "{what}: the server receives nothing else with the state");
    assert!(!pair.messages_received_by_good_server().contains(&state), "{what}: no other server receives the state");
    let mut files = vec![("the log".to_owned(), log::recorded_log_text())];
    leaks::add_file_contents(pair.app.folder.path(), &mut files);
    assert_eq!(leaks::find_secret(&files, &state), None, "{what}: the state is stored nowhere");
    pair.close(what).await;
}

#[tokio::test]
async fn x28_state_of_8_mb_is_rejected() {
    let what = "X28, a state of 8 MB";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reply");
    std::fs::write(&file, input_required_reply(&"s".repeat(8 * 1024 * 1024)).to_string()).unwrap();
    let reply = format!("tools/call=@{}", file.display());
    let pair = GoodAndBadServers::start_ready_for_flood(scripted_config(
        &[&MODERN_REVISION_ARGUMENTS[..], &["--reply", &reply]].concat(),
    ))
    .await;
    let call = pair.call_bad_server(what).await;
    pair.assert_failed_immediately(what, &call, &["bytes"]);
    pair.close(what).await;
}
