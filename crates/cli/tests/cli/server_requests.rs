//! Tests of requests that servers send during a call, decided by an answers file.

use serde_json::{Value, json};

use crate::program::{ProgramResult, TestFolder, allowing_answers};

/// Protocol revisions in which servers request input in different ways: by JSON-RPC requests, and by results that state
/// the required input.
const PROTOCOL_REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn call_tool_with_answers_entry(revision: &str, tool: &str, args: &str, answer: Value) -> ProgramResult {
    let folder = TestFolder::with_arguments(&["--revision", revision]);
    folder.run_with_answers(&allowing_answers(json!([answer])), &["call", "demo", tool, "--args", args])
}

fn result_text(ended: &ProgramResult) -> &str {
    ended.value()["content"][0]["text"].as_str().expect("the result is text")
}

#[test]
fn forms_are_accepted_declined_and_cancelled() {
    for revision in PROTOCOL_REVISIONS {
        let folder = TestFolder::with_arguments(&["--revision", revision]);
        let refused = folder.run_with_answers(&allowing_answers(json!([])), &["call", "demo", "ask_user"]);
        assert_eq!(
            result_text(&refused),
            "The user declined.",
            "a form without an entry should be declined in {revision}"
        );
        let shown = refused
            .lines
            .iter()
            .find(|line| line["kind"] == "elicitation")
            .expect("the consent request should be an event");
        let fields = shown["question"]["body"]["fields"].as_array().expect("with its fields").clone();
        assert!(fields.len() > 3, "the form should have all kinds of fields: {fields:?}");

        for (action, word) in [("decline", "declined"), ("cancel", "cancelled")] {
            let ended = call_tool_with_answers_entry(
                revision,
                "ask_user",
                "{}",
                json!({"kind": "elicitation", "answer": {"action": action}}),
            );
            assert_eq!(result_text(&ended), format!("The user {word}."), "{action} in {revision}");
        }

        let content: serde_json::Map<String, Value> = fields.iter().filter_map(valid_field_value).collect();
        let ended = call_tool_with_answers_entry(
            revision,
            "ask_user",
            "{}",
            json!({"kind": "elicitation", "name": "ask_*", "answer": {"action": "accept", "content": content}}),
        );
        assert_eq!(result_text(&ended), "The user accepted and sent the form.", "accept in {revision}");
        assert_eq!(
            ended.value()["structured"]["content"],
            Value::Object(content),
            "the content should reach the server in {revision}"
        );
        assert_eq!(
            ended.decided_requests()[2],
            ("elicitation", "allowed", "answers"),
            "the content should be in the event in {revision}"
        );
    }
}

/// Returns the name of a form field and a valid value for it, or `None` if the field is not required.
fn valid_field_value(field: &Value) -> Option<(String, Value)> {
    if field["required"] != true {
        return None;
    }
    let kind = &field["kind"];
    let option = || kind["options"][0]["value"].clone();
    let value = match (kind["type"].as_str()?, kind["format"].as_str()) {
        ("text", Some("email")) => json!("a@example.com"),
        ("text", Some("uri")) => json!("https://example.com/"),
        ("text", Some("date")) => json!("2026-07-28"),
        ("text", Some("date-time")) => json!("2026-07-28T12:00:00Z"),
        ("text", _) => json!("Aurora"),
        ("number", _) => kind["minimum"].as_f64().map_or(json!(1), |least| json!(least.ceil() as i64)),
        ("boolean", _) => json!(true),
        ("choice", _) => option(),
        ("choices", _) => json!([option()]),
        (other, _) => panic!("unknown kind of field: {other}"),
    };
    Some((field["name"].as_str()?.to_owned(), value))
}

#[test]
fn content_that_does_not_match_the_form_is_never_sent() {
    let answer = json!({"kind": "elicitation", "answer": {"action": "accept", "content": {"no_such_field": 1}}});
    let ended = call_tool_with_answers_entry("2026-07-28", "ask_user", "{}", answer);
    assert_eq!(result_text(&ended), "The user declined.", "the form should be declined");
    let shown =
        ended.lines.iter().find(|line| line["kind"] == "elicitation").expect("the consent request should be an event");
    assert_eq!(shown["decision"], "denied", "the event should report the same decision");
    let reason = shown["reason"].as_str().expect("with the reason");
    assert!(reason.contains("no_such_field is not in the form"), "{reason}");
}

#[test]
fn sampling_response_from_the_answers_file_is_sent() {
    for revision in PROTOCOL_REVISIONS {
        let answer = json!({"kind": "sampling", "answer": {"action": "accept", "content": {"text": "Aye."}}});
        let ended = call_tool_with_answers_entry(revision, "ask_model", r#"{"with_picture": true}"#, answer);
        assert_eq!(
            result_text(&ended),
            "answers said: Aye. (stopped: endTurn)",
            "the response should reach the server in {revision}"
        );
        let decisions: Vec<_> = ended.decided_requests().into_iter().filter(|(kind, ..)| *kind == "sampling").collect();
        assert_eq!(
            decisions,
            [("sampling", "allowed", "answers"); 2],
            "request and response should be two decisions in {revision}"
        );
        let second = ended.lines.iter().filter(|line| line["kind"] == "sampling").nth(1).unwrap();
        assert_eq!(
            second["question"]["body"]["response"]["content"][0]["text"], "Aye.",
            "the event should contain the payload in {revision}"
        );
    }
    let ended = call_tool_with_answers_entry(
        "2025-11-25",
        "ask_model",
        "{}",
        json!({"kind": "sampling", "answer": {"action": "deny"}}),
    );
    assert_eq!(ended.status, 1, "without a response the tool should fail: {:?}", ended.result());
}

#[test]
fn sampling_is_off_by_default() {
    let answer = json!([{"kind": "sampling", "answer": {"action": "accept", "content": {"text": "Aye."}}}]);
    let folder = TestFolder::with_arguments(&["--era", "legacy"]);
    let off = folder.run(&["sampling", "demo", "--off"]);
    assert_eq!(off.value()["settings"]["on"], false, "[sampling-user-controls]: sampling should be off by default");
    let refused = folder.run_with_answers(&allowing_answers(answer.clone()), &["call", "demo", "ask_model"]);
    assert_eq!(
        refused.status,
        1,
        "[sampling-user-controls]: there should be no consent request when it is off: {:?}",
        refused.result()
    );
    assert!(
        !refused.decided_requests().iter().any(|(kind, ..)| *kind == "sampling"),
        "the answers file should not be used"
    );
    let on = folder.run(&["sampling", "demo", "--on", "--max-tokens", "100", "--requests-per-hour", "1"]);
    assert_eq!(on.value()["settings"]["maxTokens"], 100, "the given limit should be set");
    assert_eq!(on.value()["settings"]["perHour"]["tokens"], 200_000, "other limits should be unchanged");
    let called = folder.run_with_answers(&allowing_answers(answer.clone()), &["call", "demo", "ask_model"]);
    assert_eq!(result_text(&called), "answers said: Aye. (stopped: endTurn)", "sampling should be permitted");
    let again = folder.run_with_answers(&allowing_answers(answer), &["call", "demo", "ask_model"]);
    assert_eq!(again.status, 1, "[sampling-rate-limit], X26: the limit should apply across runs");
    let shown = folder.run(&["sampling", "demo"]);
    assert_eq!(shown.value()["withinHour"]["requests"], 1, "X26: the usage should be shown");
    assert_eq!(shown.value()["stopped"]["of"], "requests", "X26: the reached limit should be shown");
}

#[test]
fn sampling_without_a_model_fails() {
    let answer = json!({"kind": "sampling", "answer": {"action": "allow"}});
    let ended = call_tool_with_answers_entry("2025-11-25", "ask_model", "{}", answer);
    assert_eq!(ended.status, 1, "without a model the tool should fail: {:?}", ended.result());
    let request =
        ended.lines.iter().find(|line| line["kind"] == "sampling").expect("the consent request should be an event");
    let reason = request["reason"].as_str().expect("with the reason");
    assert!(reason.contains("no model is set up"), "[sampling-human-in-loop]: {reason}");
}

#[test]
fn url_is_opened_only_if_an_entry_allows_it() {
    for revision in PROTOCOL_REVISIONS {
        let answer = json!({"kind": "url", "name": "https://permits.example.com/*", "answer": {"action": "accept"}});
        let folder = TestFolder::with_arguments(&["--revision", revision]);
        let ended = folder.run_with_answers(&allowing_answers(json!([answer])), &["call", "demo", "ask_url"]);
        assert!(
            result_text(&ended).starts_with("The permit is signed."),
            "the server should receive the result in {revision}: {}",
            result_text(&ended)
        );
        let opened = ended.lines.iter().find(|line| line["event"] == "open_url").expect("the address is an event");
        assert_eq!(
            opened["url"], "https://permits.example.com/harbour/aurora?day=monday",
            "the whole URL should be in the event in {revision}"
        );
        let written =
            folder.audit_entries().into_iter().find(|entry| entry["kind"] == "url").expect("it is written down");
        let shortened = "https://permits.example.com/harbour/aurora?day=…";
        assert_eq!(written["subject"], shortened, "a possible key should not be logged in {revision}");

        let other = json!({"kind": "url", "name": "https://example.com/*", "answer": {"action": "accept"}});
        let ended = call_tool_with_answers_entry(revision, "ask_url", "{}", other);
        assert!(result_text(&ended).starts_with("No permit"), "another URL should not be opened in {revision}");
        assert!(
            !ended.lines.iter().any(|line| line["event"] == "open_url"),
            "the URL should not be printed in {revision}"
        );
    }
}

#[cfg(unix)]
#[test]
fn roots_are_shared_as_the_answers_file_allows() {
    for revision in PROTOCOL_REVISIONS {
        let shared = tempfile::tempdir().unwrap();
        let path = shared.path().canonicalize().unwrap();
        let answer = json!({"kind": "roots", "answer": {"action": "accept", "roots": [path]}});
        let ended = call_tool_with_answers_entry(revision, "list_folders", "{}", answer);
        let roots = &ended.value()["structured"]["roots"];
        let expected = format!("file://{}", path.display());
        assert_eq!(
            roots[0]["uri"].as_str(),
            Some(expected.as_str()),
            "the folder should reach the server in {revision}"
        );

        let ended = call_tool_with_answers_entry(
            revision,
            "list_folders",
            "{}",
            json!({"kind": "url", "answer": {"action": "allow"}}),
        );
        assert_eq!(
            ended.value()["structured"]["roots"],
            json!([]),
            "no folder should be disclosed without consent in {revision}"
        );

        let missing = json!({"kind": "roots", "answer": {"action": "accept", "roots": [path.join("gone")]}});
        let ended = call_tool_with_answers_entry(revision, "list_folders", "{}", missing);
        assert_eq!(
            ended.value()["structured"]["roots"],
            json!([]),
            "a missing folder should be rejected in {revision}"
        );
        let is_explained =
            ended.lines.iter().any(|line| line["decision"] == "denied" && line["reason"].as_str().is_some());
        assert!(is_explained, "the reason should be reported in {revision}");
    }
}

#[test]
fn several_consent_requests_of_one_call_are_all_decided() {
    for revision in PROTOCOL_REVISIONS {
        let folder = TestFolder::with_arguments(&["--revision", revision]);
        let answers = allowing_answers(json!([
            {"kind": "elicitation", "answer": {"action": "accept", "content": {"ship": "Aurora"}}},
            {"kind": "roots", "answer": {"action": "accept", "roots": []}},
            {"kind": "sampling", "answer": {"action": "accept", "content": {"text": "Welcome, Aurora!"}}},
        ]));
        let ended = folder.run_with_answers(&answers, &["call", "demo", "check_in"]);
        assert_eq!(
            result_text(&ended),
            "The Aurora is checked in with 0 folders. Welcome, Aurora!",
            "every response should reach the server in {revision}"
        );
        let kinds: Vec<_> =
            folder.audit_entries().iter().map(|entry| entry["kind"].as_str().unwrap().to_owned()).collect();
        for kind in ["start-server", "tool", "elicitation", "roots", "sampling-answer"] {
            assert!(kinds.iter().any(|k| k == kind), "{kind} should be in the audit log in {revision}: {kinds:?}");
        }
    }
}
