//! Tests which requests name another conversation, and that each identifier in a request of such a window is
//! classified.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::*;

/// Members of requests that identify nothing of a conversation: servers and what they offer, settings, contents, hashes
/// of displayed content, and limits.
const REQUEST_MEMBERS_WITHOUT_AN_IDENTIFIER: &[&str] = &[
    "after",
    "afterUntrusted",
    "annotations",
    "answer",
    "argument",
    "arguments",
    "attachments",
    "content",
    "context",
    "data",
    "direction",
    "edit",
    "effect",
    "expiresAt",
    "format",
    "grants",
    "identity",
    "items",
    "limit",
    "list",
    "menuBar",
    "message",
    "mimeType",
    "model",
    "mute",
    "name",
    "note",
    "of",
    "prompt",
    "prompts",
    "refresh",
    "sampling",
    "scope",
    "seq",
    "server",
    "settings",
    "shownHash",
    "skill",
    "source",
    "template",
    "text",
    "title",
    "tool",
    "tools",
    "trustedServer",
    "uri",
    "url",
    "value",
    "values",
    "zoom",
];

/// Members that may have any value in the request of this command, although they identify something in other requests.
const REQUEST_MEMBERS_ALLOWED_ANY_VALUE: &[(&str, &str)] = &[
    // The page chooses the identifier of a new call.
    ("call_tool", "call"),
    ("get_prompt", "call"),
    ("read_resource", "call"),
    ("read_skill", "call"),
    // An object that names its conversation.
    ("open_app", "call"),
    // Hashes of what the user saw.
    ("decide_consent_request", "hash"),
    ("get_prompt", "hash"),
    ("approve_app", "hash"),
    ("set_app_tools", "hash"),
    // The hash of content that only its own conversation refers to.
    ("read_omitted_content", "hash"),
    // A file of a skill.
    ("read_skill", "file"),
    // Saved system prompts belong to no conversation, and a new rule has no identifier.
    ("save_system_prompt", "id"),
    ("remove_system_prompt", "id"),
    ("add_policy_rule", "id"),
];

#[test]
fn conversation_window_may_not_name_another_conversation() {
    let own = Some("c1");
    for request in [
        json!({"conversation": "c1", "text": "Dear Ann"}),
        json!({"server": "files", "conversation": null}),
        json!({"server": "files", "arguments": {"conversation": "c2"}}),
        json!({"call": {"type": "item", "conversation": "c1", "item": "i1"}}),
        json!({"call": "1"}),
        json!({}),
        Value::Null,
    ] {
        assert!(names_no_other_conversation(&request, own), "{request} should be permitted");
    }
    for request in [
        json!({"conversation": "c2", "text": "Dear Ann"}),
        json!({"conversation": {"id": "c2"}}),
        json!({"call": {"type": "item", "conversation": "c2", "item": "i1"}}),
        json!({"id": "q1", "scope": {"kind": "conversation", "conversation": "c2"}}),
        json!(["c2", "Dear Ann"]),
        json!({"call": ["item", "c2", "i1"]}),
        json!({"scope": ["conversation", "c2"]}),
    ] {
        assert!(!names_no_other_conversation(&request, own), "{request} should be refused");
    }
    assert!(!names_no_other_conversation(&json!({"conversation": "c1"}), None), "a closed window has no conversation");
}

#[test]
fn conversation_window_may_add_allow_rules_only_for_its_conversation() {
    let rule = |effect: Value, scope: Value| json!({ "effect": effect, "server": "*", "scope": scope });
    let (always, of_c1) = (json!({ "kind": "always" }), json!({ "kind": "conversation", "conversation": "c1" }));
    for permitted in [
        rule(json!("ask"), always.clone()),
        rule(json!("deny"), json!({ "kind": "session" })),
        rule(json!("allow"), of_c1.clone()),
    ] {
        assert!(!rule_allows_outside_conversation(&permitted, Some("c1")), "{permitted} should be permitted");
    }
    for refused in [
        rule(json!("allow"), always.clone()),
        rule(json!("allow"), json!({ "kind": "session", "conversation": "c1" })),
        rule(json!("allow"), json!({ "kind": "conversation", "conversation": null })),
        // Serde also accepts a variant as the only member of an object.
        rule(json!({ "allow": null }), always),
        json!({ "effect": "allow" }),
    ] {
        assert!(rule_allows_outside_conversation(&refused, Some("c1")), "{refused} should be refused");
    }
    assert!(
        rule_allows_outside_conversation(&rule(json!("allow"), of_c1), None),
        "a closed window has no conversation"
    );
}

#[test]
fn conversation_window_may_repeat_only_calls_of_its_conversation() {
    for permitted in [
        json!({ "call": "2", "conversation": "c1", "repeats": "1" }),
        json!({ "call": "2", "conversation": null, "repeats": null }),
        json!({ "call": "2", "arguments": { "repeats": "1" } }),
    ] {
        assert!(!repeats_call_outside_conversation(&permitted, Some("c1")), "{permitted} should be permitted");
    }
    for refused in [
        json!({ "call": "2", "conversation": null, "repeats": "1" }),
        json!({ "call": "2", "repeats": "1" }),
        json!({ "call": "2", "conversation": "c2", "repeats": "1" }),
        json!({ "call": "2", "conversation": null, "repeats": ["1"] }),
    ] {
        assert!(repeats_call_outside_conversation(&refused, Some("c1")), "{refused} should be refused");
    }
    let closed = json!({ "call": "2", "conversation": null, "repeats": "1" });
    assert!(repeats_call_outside_conversation(&closed, None), "a closed window has no conversation");
}

/// Returns `true` if the member of a command's request can't name anything of another conversation.
fn member_cannot_name_another_conversation(command: &str, member: &str, all: &BTreeMap<String, String>) -> bool {
    match member {
        // Checked in each request.
        "conversation" | "view" => true,
        "repeats" if all.contains_key("conversation") => true,
        // Identifiers that exist in one conversation, or in one app.
        "item" | "parent" | "before" if all.contains_key("conversation") => true,
        "request" | "file" if all.contains_key("view") => true,
        "id" if COMMANDS_WITH_A_CONSENT_REQUEST_ID.contains(&command) => true,
        "call" if command == COMMAND_WITH_A_CALL_ID => true,
        _ => {
            REQUEST_MEMBERS_WITHOUT_AN_IDENTIFIER.contains(&member)
                || REQUEST_MEMBERS_ALLOWED_ANY_VALUE.contains(&(command, member))
        }
    }
}

#[test]
fn every_identifier_in_conversation_window_requests_is_checked_or_exempt() {
    let text = without_typescript_comments(&crate::typescript());
    let types: BTreeMap<&str, &str> =
        text.split("export type ").skip(1).filter_map(|declaration| declaration.split_once(" = ")).collect();
    let capability = include_str!("../../../../src-tauri/capabilities/conversation.json");
    let capability: Value = serde_json::from_str(capability).expect("JSON");
    let granted = capability["permissions"].as_array().expect("a list of permissions");
    let granted: BTreeSet<String> = granted
        .iter()
        .filter_map(|permission| permission.as_str()?.strip_prefix("allow-"))
        .map(|name| name.replace('-', "_"))
        .collect();
    let commands: Vec<&str> = crate::COMMANDS.iter().copied().filter(|name| granted.contains(*name)).collect();
    assert!(commands.len() > 50, "the capability grants commands of the table: {commands:?}");
    for command in commands {
        let (_, after) = text.split_once(&format!("  {command}: {{ request: ")).expect("a line for each command");
        let (request, _) = after.split_once(';').expect("the type of the request");
        let members = typescript_object_members(types[request]);
        for (member, of_type) in &members {
            assert!(
                member_cannot_name_another_conversation(command, member, &members),
                "`{member}` in the request of {command} has to be bound to the conversation in \
                 `respond_in_conversation`, or classified in this test"
            );
            assert!(
                OBJECTS_THAT_NAME_A_CONVERSATION.contains(&member.as_str())
                    || !can_contain_conversation_or_app_name(of_type, &types),
                "`{member}` in the request of {command} can name a conversation or app, which is not checked"
            );
        }
    }
}

/// Removes the comments of generated TypeScript.
fn without_typescript_comments(text: &str) -> String {
    let mut parts = text.split("/**");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter_map(|part| part.split_once("*/")).fold(first, |all, (_, code)| all + code)
}

/// Returns the members of an object type with their types.
fn typescript_object_members(declaration: &str) -> BTreeMap<String, String> {
    let body = declaration.trim().trim_end_matches(';').trim_end();
    if body == "Record<symbol, never>" {
        return BTreeMap::new();
    }
    let inner = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).expect("a request is an object");
    let mut depth = 0_i32;
    let members = inner.split(|c: char| {
        match c {
            '{' | '[' | '(' | '<' => depth += 1,
            '}' | ']' | ')' | '>' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let members = members.filter_map(|member| member.split_once(':'));
    members.map(|(name, of_type)| (name.trim().trim_end_matches('?').to_owned(), of_type.to_owned())).collect()
}

/// Returns `true` if a value of this type can contain the name of a conversation or app.
fn can_contain_conversation_or_app_name(of_type: &str, types: &BTreeMap<&str, &str>) -> bool {
    let (mut seen, mut unread) = (BTreeSet::new(), vec![of_type]);
    while let Some(text) = unread.pop() {
        let mut members = text.split(|c: char| !c.is_alphanumeric() && !":?".contains(c));
        if members.any(|word| ["conversation:", "conversation?:", "view:", "view?:"].contains(&word)) {
            return true;
        }
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| types.contains_key(word));
        unread.extend(words.filter(|word| seen.insert(*word)).map(|word| types[word]));
    }
    false
}
