//! Tests the conversion of conversations to messages for a model.

use domain::item;
use domain::item::Content;

use super::*;

fn model_reference(name: &str) -> ModelRef {
    ModelRef { provider: "p".into(), model: name.into() }
}

fn chat_item(id: &str, state: ItemState, body: ItemBody) -> ChatItem {
    ChatItem { id: id.into(), parent: None, at: 1, state, body }
}

fn message_item(id: &str, text: &str) -> ChatItem {
    let content = vec![Content::Text { text: text.into() }];
    chat_item(
        id,
        ItemState::Whole,
        ItemBody::Message { role: item::Role::User, content, prompt: None, attachments: Vec::new() },
    )
}

#[test]
fn e3_consecutive_user_texts_are_separated() {
    let sent = to_model_messages(
        &[message_item("a", "Greet the ship."), message_item("b", "In Dutch.")],
        &model_reference("m"),
        1_000,
    );
    let [message] = &sent[..] else { panic!("expected one message: {sent:?}") };
    assert_eq!(message.plain_text(), "Greet the ship.\n\nIn Dutch.", "consecutive texts are separated");
}

fn reply_item(id: &str, state: ItemState, parts: Vec<ReplyPart>) -> ChatItem {
    let (stop, usage, error, conversions) = (None, models::TokenUsage::default(), None, Vec::new());
    let body = ItemBody::Reply {
        model: model_reference("m"),
        parts,
        stop,
        usage,
        cost: None,
        error,
        conversions,
        first_part_milliseconds: None,
        duration_milliseconds: 1,
    };
    chat_item(id, state, body)
}

fn tool_use(id: &str, arguments: &str) -> ReplyPart {
    ReplyPart::ToolUse {
        id: id.into(),
        tool_key: "a__b".into(),
        server: Some("a".into()),
        tool: Some("b".into()),
        arguments: arguments.into(),
        opaque: Some(json!("signed")),
    }
}

fn tool_call_item(id: &str, reply: &str, used: &str, result: Result<&str, &str>) -> ChatItem {
    let content = result.ok().map(|text| vec![Content::Text { text: text.into() }]);
    let result_ = content.map(|content| ToolResult {
        content,
        structured: None,
        structured_problem: None,
        is_error: false,
        meta: None,
        arguments: json!({}),
    });
    let body = ItemBody::ToolCall {
        call: id.into(),
        server: "a".into(),
        tool: "b".into(),
        app: None,
        arguments: json!({"x": 2}),
        result: result_,
        error: result.err().map(str::to_owned),
        failure: None,
        refusal: None,
        duration_milliseconds: 1,
        waited_milliseconds: None,
        used: Some(ToolUsed { reply: reply.into(), id: used.into(), tool_key: "a__b".into() }),
        omitted_bytes: None,
    };
    chat_item(id, ItemState::Whole, body)
}

fn joined_text(parts: &[MessagePart]) -> String {
    let text = |part: &MessagePart| match part {
        MessagePart::Text(text) => text.clone(),
        MessagePart::ToolResult { parts, .. } => joined_text(parts),
        other => format!("{other:?}"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_tool_use_is_followed_by_its_result() {
    let mut denied = tool_call_item("4", "2", "u2", Err("refused: by the user, who says: not now"));
    let ItemBody::ToolCall { refusal, .. } = &mut denied.body else { panic!("the item is not a call") };
    *refusal = Some(CallRefusal::DeniedByUser { reason: Some("not now".into()) });
    let path = [
        message_item("1", "do it"),
        reply_item("2", ItemState::Whole, vec![tool_use("u1", r#"{"x":1}"#), tool_use("u2", ""), tool_use("u3", "{}")]),
        denied,
        tool_call_item("3", "2", "u1", Ok("done\u{e0041}")),
    ];
    let messages = to_model_messages(&path, &model_reference("m"), 1_000);
    assert_eq!(messages.len(), 3, "the roles alternate: {messages:?}");
    assert_eq!(
        messages[1].tool_uses().map(|(id, ..)| id).collect::<Vec<_>>(),
        ["u1", "u2", "u3"],
        "all tool uses are included"
    );
    let results: Vec<_> = messages[2]
        .parts
        .iter()
        .map(|part| match part {
            MessagePart::ToolResult { id, parts, is_error, .. } => (id.as_str(), joined_text(parts), *is_error),
            other => panic!("{other:?} is not a result"),
        })
        .collect();
    assert_eq!(
        results.iter().map(|(id, ..)| *id).collect::<Vec<_>>(),
        ["u1", "u2", "u3"],
        "the results are in the order of the tool uses"
    );
    assert!(
        results[0].1.contains("changed the arguments of this call to {\"x\":2}"),
        "the edit of the arguments is described: {results:?}"
    );
    assert!(
        results[0].1.contains("Data from the server \"a\"") && !results[0].2,
        "the source is described: {results:?}"
    );
    assert!(results[0].1.contains("done[U+E0041]"), "X10: hidden characters are escaped: {results:?}");
    assert!(
        results[1].1.ends_with("\nThe user declined. Reason: not now") && results[1].2,
        "a denial includes its reason: {results:?}"
    );
    assert!(
        results[2].1.contains(CALL_NOT_MADE_TEXT) && results[2].2,
        "a use without a call has a result: {results:?}"
    );
}

#[test]
fn context_of_an_app_reaches_the_model_as_data_of_its_server() {
    let contents = vec![item::ResourceContents {
        uri: "ui://board/app.html".into(),
        mime_type: Some("text/plain".into()),
        text: Some("Card 7 is selected.".into()),
        blob: None,
    }];
    let (server, uri, name) = ("board".into(), "ui://board/app.html".into(), "Context from the app of show".into());
    let context = ItemBody::Attachment { server, uri, name, contents, skill: false };
    let path = [chat_item("1", ItemState::Whole, context), message_item("2", "What is selected?")];
    let messages = to_model_messages(&path, &model_reference("m"), 1_000);
    let [message] = &messages[..] else { panic!("expected one message: {messages:?}") };
    let text = message.plain_text();
    assert!(text.contains("Card 7 is selected.") && text.ends_with("What is selected?"), "{text}");
    assert!(text.contains("data from the server \"board\""), "the source is described: {text}");
}

// [apps-structured-not-for-model]
#[test]
fn model_reads_the_content_of_a_result_and_not_the_data_for_its_app() {
    let mut call = tool_call_item("3", "2", "u1", Ok("3 cards"));
    let ItemBody::ToolCall { result: Some(result), .. } = &mut call.body else { panic!("the call has a result") };
    result.structured = Some(json!({ "cards": "for the app" }));
    result.meta = json!({ "cursor": "for the app" }).as_object().cloned();
    let reply = reply_item("2", ItemState::Whole, vec![tool_use("u1", r#"{"x":2}"#)]);
    let messages = to_model_messages(&[message_item("1", "do it"), reply, call], &model_reference("m"), 1_000);
    let text = joined_text(&messages[2].parts);
    assert!(text.contains("3 cards") && !text.contains("for the app"), "{text}");
}

#[test]
fn failed_call_reports_its_cause() {
    let by_user = |reason: Option<&str>| CallRefusal::DeniedByUser { reason: reason.map(str::to_owned) };
    let text = |refusal: Option<CallRefusal>| missing_result_text("refused: by\u{202e}", refusal.as_ref());
    assert_eq!(text(Some(by_user(None))), "The user declined.");
    assert_eq!(text(Some(by_user(Some("no\u{202e}")))), "The user declined. Reason: no[U+202E]");
    let by_rule = CallRefusal::DeniedByRule { rule: "rule 3".into() };
    for refusal in [Some(by_rule), None] {
        assert_eq!(text(refusal), "The call failed: refused: by[U+202E]");
    }
    let of_server = missing_result_text("refused: by the user", None);
    assert_eq!(of_server, "The call failed: refused: by the user", "a server chose the text, not the user");
}

#[test]
fn only_the_text_of_an_interrupted_reply_is_sent() {
    let thinking = ReplyPart::Thinking { text: "hm".into(), opaque: None };
    let text = ReplyPart::Text { text: "I will".into() };
    let path =
        [message_item("1", "do it"), reply_item("2", ItemState::Cut, vec![thinking, text, tool_use("u1", "{\"x\"")])];
    let messages = to_model_messages(&path, &model_reference("m"), 1_000);
    assert_eq!(messages[1].parts, [MessagePart::text("I will")], "only the text of an interrupted reply is sent");
}

#[test]
fn thinking_is_returned_only_to_the_model_that_wrote_it() {
    let path = |parts| [message_item("1", "hello"), reply_item("2", ItemState::Whole, parts)];
    let thinking =
        || vec![ReplyPart::Thinking { text: "hm".into(), opaque: Some(json!("signed")) }, tool_use("u", "{}")];
    let own = to_model_messages(&path(thinking()), &model_reference("m"), 1_000);
    assert!(
        matches!(&own[1].parts[0], MessagePart::Thinking { opaque: Some(_), .. }),
        "reasoning is sent back to the same model: {own:?}"
    );
    let other = to_model_messages(&path(thinking()), &model_reference("n"), 1_000);
    assert!(
        matches!(&other[1].parts[0], MessagePart::ToolUse { opaque: None, .. }),
        "reasoning is not sent to another model: {other:?}"
    );
}

#[test]
fn long_result_is_truncated_with_a_note_on_reading_more() {
    let parts = vec![MessagePart::text("ä".repeat(10)), MessagePart::text("rest")];
    let (shortened, omitted) = truncate_tool_result(parts, "c1", 7);
    assert_eq!(shortened[0], MessagePart::text("äää"), "text is truncated at a character boundary");
    assert_eq!(omitted, 18, "omitted bytes are counted");
    let MessagePart::Text(note) = &shortened[1] else { panic!("expected a note: {shortened:?}") };
    assert!(
        note.contains("18 more bytes") && note.contains(r#"{"call":"c1","from":6}"#),
        "the note contains the omitted size and the next offset: {note}"
    );
    assert_eq!(
        truncate_tool_result(vec![MessagePart::text("short")], "c1", 7),
        (vec![MessagePart::text("short")], 0),
        "a short result is not truncated"
    );
}
