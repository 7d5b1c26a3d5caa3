//! Tests of arguments that are recovered from an incomplete JSON text.

use mcp_apps::{MAX_PARTIAL_ARGUMENTS_BYTES, MAX_PARTIAL_ARGUMENTS_DEPTH, PartialArguments};
use proptest::prelude::*;
use serde_json::{Value, json};

fn recover_partial_arguments(text: &str) -> Option<Value> {
    let mut arguments = PartialArguments::default();
    arguments.push(text);
    arguments.to_object().map(Value::Object)
}

/// Returns `true` if `whole` can be reached from `partial` by adding members, continuing lists and continuing strings.
fn is_beginning_of_json_value(partial: &Value, whole: &Value) -> bool {
    match (partial, whole) {
        (Value::String(partial), Value::String(whole)) => whole.starts_with(partial.as_str()),
        (Value::Array(partial), Value::Array(whole)) => {
            let last = partial.len().saturating_sub(1);
            partial.len() <= whole.len()
                && partial.iter().zip(whole).enumerate().all(|(at, (partial, whole))| {
                    if at == last { is_beginning_of_json_value(partial, whole) } else { partial == whole }
                })
        }
        (Value::Object(partial), Value::Object(whole)) => partial
            .iter()
            .all(|(name, partial)| whole.get(name).is_some_and(|whole| is_beginning_of_json_value(partial, whole))),
        (partial, whole) => partial == whole,
    }
}

#[test]
fn open_json_structures_are_closed_and_uncertain_ends_omitted() {
    let cases = [
        ("{", json!({})),
        (r#" { "a"#, json!({})),
        (r#"{"a":"#, json!({})),
        (r#"{"a":tru"#, json!({})),
        (r#"{"a":12"#, json!({})),
        (r#"{"a":12,"#, json!({ "a": 12 })),
        (r#"{"a":12 "#, json!({ "a": 12 })),
        (r#"{"a":[1,[2,"x"#, json!({ "a": [1, [2, "x"]] })),
        (r#"{"a":[1,{"b":"#, json!({ "a": [1, {}] })),
        (r#"{"a":"x\"#, json!({ "a": "x" })),
        (r#"{"a":"x\n\u00e"#, json!({ "a": "x\n" })),
        (r#"{"a":"\ud83d"#, json!({ "a": "" })),
        (r#"{"a":"\ud83d\ude0"#, json!({ "a": "" })),
        (r#"{"a":"\ud83d\ude00"#, json!({ "a": "\u{1f600}" })),
        (r#"{"a":{"}":"]"},"b":null}"#, json!({ "a": { "}": "]" }, "b": null })),
    ];
    for (text, expected) in cases {
        assert_eq!(recover_partial_arguments(text), Some(expected), "{text}");
    }
}

#[test]
fn text_that_is_no_object_yields_no_arguments() {
    for text in [
        "",
        "  ",
        "[1",
        "\"a",
        "{1",
        "{}}",
        "{} x",
        r#"{"a" "b"#,
        r#"{"a":}"#,
        r#"{"a":]"#,
        r#"{"a":[1}"#,
        r#"{"a":1,}"#,
        r#"{"a":1.2.3,"#,
        r#"{"a":truth,"#,
        r#"{"a":"\q"#,
        r#"{"a":"\ud83dx"#,
        r#"{"a":"\ud83d\n"#,
        "{\"a\":\"\n",
    ] {
        assert_eq!(recover_partial_arguments(text), None, "{text}");
    }
}

#[test]
fn no_arguments_are_recovered_beyond_the_limits() {
    let nested = |depth: usize| format!("{}{}", r#"{"a":"#, "[".repeat(depth - 1));
    assert!(recover_partial_arguments(&nested(MAX_PARTIAL_ARGUMENTS_DEPTH)).is_some());
    assert_eq!(recover_partial_arguments(&nested(MAX_PARTIAL_ARGUMENTS_DEPTH + 1)), None);
    let mut arguments = PartialArguments::default();
    arguments.push(r#"{"a":""#);
    let room = MAX_PARTIAL_ARGUMENTS_BYTES - r#"{"a":""#.len();
    arguments.push(&"x".repeat(room));
    assert!(arguments.to_object().is_some(), "the text has the maximum size");
    arguments.push("x");
    assert_eq!(arguments.to_object(), None, "the text is too large");
    arguments.push(r#"{"a":1}"#);
    assert_eq!(arguments.to_object(), None, "a text stays unusable");
}

/// Generates JSON values with strings that need escapes.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        (-1e9..1e9f64).prop_map(|number| json!(number)),
        ".{0,8}".prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(".{0,4}", any_value(), 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// Replaces the characters of a JSON text outside ASCII by escape sequences, as some providers write them.
fn json_string_with_escapes(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_json_prefix_yields_a_beginning_of_the_object(
        whole in any_object(),
        is_pretty in any::<bool>(),
        has_escapes in any::<bool>(),
    ) {
        let text = if is_pretty { serde_json::to_string_pretty(&whole).unwrap() } else { whole.to_string() };
        let text = if has_escapes { json_string_with_escapes(&text) } else { text };
        // A parsed number may differ from the generated one in its last digit.
        let whole: Value = serde_json::from_str(&text).unwrap();
        let mut arguments = PartialArguments::default();
        let mut before = json!({});
        for character in text.chars() {
            arguments.push(character.encode_utf8(&mut [0; 4]));
            let now = arguments.to_object().map(Value::Object);
            prop_assert!(now.is_some(), "a valid text should always be recovered: {text}");
            let now = now.unwrap_or_default();
            prop_assert!(is_beginning_of_json_value(&before, &now), "{before} was revoked by {now}");
            prop_assert!(is_beginning_of_json_value(&now, &whole), "{now} is not a beginning of {whole}");
            before = now;
        }
        prop_assert_eq!(before, whole, "the complete text should yield the whole object");
    }

    #[test]
    fn json_fragments_of_any_size_yield_the_same_object(whole in any_object(), size in 1..16usize) {
        let text = whole.to_string();
        let mut arguments = PartialArguments::default();
        let characters: Vec<char> = text.chars().collect();
        let mut length = 0;
        for fragment in characters.chunks(size) {
            let fragment: String = fragment.iter().collect();
            length += fragment.len();
            arguments.push(&fragment);
            prop_assert_eq!(arguments.to_object().map(Value::Object), recover_partial_arguments(&text[..length]));
        }
    }

    #[test]
    fn arbitrary_text_never_panics_and_a_complete_object_is_unchanged(
        text in "[{}\\[\\]\":,\\\\u0-9a-f \\PC]{0,40}",
    ) {
        let mut arguments = PartialArguments::default();
        arguments.push(&format!("{{{text}"));
        let object = arguments.to_object().map(Value::Object);
        if let Ok(parsed) = serde_json::from_str::<Value>(&format!("{{{text}")) {
            prop_assert_eq!(object, Some(parsed));
        }
    }
}
