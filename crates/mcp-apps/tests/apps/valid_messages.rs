//! Property tests that a view accepts every message of the page that is valid under the schema.

use mcp_proto::types::Map;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::page::{TestPage, view_config};
use super::schema::assert_matches_schema;

fn optional_member(
    name: &'static str,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Vec<(String, Value)>> {
    proptest::option::of(value).prop_map(move |value| value.into_iter().map(|value| (name.to_owned(), value)).collect())
}

fn object_with_members(required: Value, optional: Vec<(String, Value)>) -> Value {
    let Value::Object(mut members) = required else { panic!("{required} is not an object") };
    members.extend(optional);
    Value::Object(members)
}

fn any_text() -> impl Strategy<Value = Value> {
    "\\PC{0,12}".prop_map(Value::String)
}

fn any_object() -> impl Strategy<Value = Value> {
    let value = prop_oneof![Just(Value::Null), any::<i32>().prop_map(|number| json!(number)), any_text()];
    proptest::collection::vec(("[a-z]{1,6}", value), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn any_annotations() -> impl Strategy<Value = Value> {
    let audience = Just(json!(["user", "assistant"]));
    let priority = (0.0..=1.0_f64).prop_map(|priority| json!(priority));
    let modified = Just(json!("2026-01-26T10:00:00Z"));
    let members = (
        optional_member("audience", audience),
        optional_member("priority", priority),
        optional_member("lastModified", modified),
    );
    members.prop_map(|(a, b, c)| object_with_members(json!({}), [a, b, c].concat()))
}

fn any_content_block() -> impl Strategy<Value = Value> {
    let resource =
        (optional_member("mimeType", any_text()), optional_member("_meta", any_object()), any::<bool>(), any_text());
    let resource = resource.prop_map(|(a, b, is_text, body)| {
        let required =
            if is_text { json!({ "uri": "file:///a", "text": body }) } else { json!({ "uri": "", "blob": "YQ==" }) };
        object_with_members(required, [a, b].concat())
    });
    let icon = (
        optional_member("mimeType", any_text()),
        optional_member("sizes", Just(json!(["any"]))),
        optional_member("theme", Just(json!("dark"))),
    );
    let icon =
        icon.prop_map(|(a, b, c)| object_with_members(json!({ "src": "https://a.example/i.png" }), [a, b, c].concat()));
    let icons = proptest::collection::vec(icon, 0..2).prop_map(Value::Array);
    let size = prop_oneof![(0..9_u32).prop_map(|size| json!(size)), Just(json!(1.5))];
    let link = (
        optional_member("title", any_text()),
        optional_member("icons", icons),
        optional_member("description", any_text()),
        optional_member("size", size),
    );
    let link = link.prop_map(|(a, b, c, d)| {
        object_with_members(
            json!({ "type": "resource_link", "uri": "file:///a.txt", "name": "a" }),
            [a, b, c, d].concat(),
        )
    });
    let block = prop_oneof![
        any_text().prop_map(|text| json!({ "type": "text", "text": text })),
        Just(json!({ "type": "image", "data": "YQ==", "mimeType": "image/png" })),
        Just(json!({ "type": "audio", "data": "YQ==", "mimeType": "audio/wav" })),
        resource.prop_map(|resource| json!({ "type": "resource", "resource": resource })),
        link,
    ];
    let members = (block, optional_member("annotations", any_annotations()), optional_member("_meta", any_object()));
    members.prop_map(|(block, a, b)| object_with_members(block, [a, b].concat()))
}

fn any_valid_message() -> impl Strategy<Value = (&'static str, &'static str, Value)> {
    let blocks = || proptest::collection::vec(any_content_block(), 1..4).prop_map(Value::Array);
    let files = proptest::collection::vec(any_content_block(), 1..4).prop_filter_map("no file", |blocks| {
        let files: Vec<Value> = blocks
            .into_iter()
            .filter(|block| ["resource", "resource_link"].contains(&block["type"].as_str().unwrap()))
            .collect();
        (!files.is_empty()).then(|| json!({ "contents": files }))
    });
    let number =
        || prop_oneof![any::<f64>().prop_map(|number| json!(number)), any::<i64>().prop_map(|number| json!(number))];
    let number = move || number().prop_filter("a number", Value::is_number);
    let size = (optional_member("width", number()), optional_member("height", number()));
    let context = (optional_member("content", blocks()), optional_member("structuredContent", any_object()));
    let request = |name, definition, params: BoxedStrategy<Value>| {
        params.prop_map(move |params| (name, definition, params)).boxed()
    };
    prop_oneof![
        request(
            "ui/message",
            "McpUiMessageRequest",
            blocks().prop_map(|blocks| json!({ "role": "user", "content": blocks })).boxed()
        ),
        request("ui/download-file", "McpUiDownloadFileRequest", files.boxed()),
        request(
            "ui/update-model-context",
            "McpUiUpdateModelContextRequest",
            context.prop_map(|(a, b)| object_with_members(json!({}), [a, b].concat())).boxed()
        ),
        request(
            "ui/notifications/size-changed",
            "McpUiSizeChangedNotification",
            size.prop_map(|(a, b)| object_with_members(json!({}), [a, b].concat())).boxed()
        ),
        request("ui/open-link", "McpUiOpenLinkRequest", Just(json!({ "url": "https://a.example/?b#c" })).boxed()),
        request(
            "ui/request-display-mode",
            "McpUiRequestDisplayModeRequest",
            prop_oneof!["inline", "fullscreen", "pip"].prop_map(|mode| json!({ "mode": mode })).boxed()
        ),
        request("ui/notifications/request-teardown", "McpUiRequestTeardownNotification", Just(json!({})).boxed()),
    ]
}

fn is_notification_definition(definition: &str) -> bool {
    definition.ends_with("Notification")
}

proptest! {
    #[test]
    fn valid_messages_are_accepted_without_a_fault((method, definition, params) in any_valid_message()) {
        assert_matches_schema(definition, &json!({ "method": method, "params": params }));
        let mut page = TestPage::ready();
        if is_notification_definition(definition) {
            page.notify(method, params);
        } else {
            let response = page.request(method, params);
            prop_assert!(response.get("error").is_none(), "{}", response);
            prop_assert_eq!(page.requests.len() + page.received.len(), 1);
        }
        prop_assert_eq!(page.faults, []);
    }

    #[test]
    fn every_valid_handshake_is_accepted(
        title in optional_member("title", any_text()),
        tools in optional_member("tools", any::<bool>().prop_map(|changes| json!({ "listChanged": changes }))),
        modes in optional_member("availableDisplayModes", Just(json!(["inline", "pip"]))),
        experimental in optional_member("experimental", Just(json!({ "a": { "b": 1 } }))),
        has_params in any::<bool>(),
    ) {
        let params = json!({
            "appInfo": object_with_members(json!({ "name": "App", "version": "1" }), title),
            "appCapabilities": object_with_members(json!({}), [tools, modes, experimental].concat()),
            "protocolVersion": "2026-01-26",
        });
        assert_matches_schema("McpUiInitializeRequest", &json!({ "method": "ui/initialize", "params": params }));
        let mut page = TestPage::new(view_config());
        prop_assert!(page.request("ui/initialize", params).get("result").is_some());
        let mut initialized = Map::new();
        initialized.insert("method".into(), json!("ui/notifications/initialized"));
        if has_params {
            initialized.insert("params".into(), json!({}));
        }
        assert_matches_schema("McpUiInitializedNotification", &Value::Object(initialized.clone()));
        initialized.insert("jsonrpc".into(), json!("2.0"));
        page.send_message(&Value::Object(initialized));
        prop_assert_eq!((page.events.len(), page.faults.len()), (1, 0));
    }
}
