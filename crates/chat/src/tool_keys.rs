//! Names by which models call tools (tool keys): unique per tool, deterministic, and within the limits of all
//! providers.
//!
//! A name is `server__tool` if that is unambiguous: the server's name has no `__` and does not end in `_`, so that it
//! ends at the first `__`. All other names end in a part of the SHA-256 hash of both names.
//!
//! The name of a tool that a shown app provides starts with `app_` and contains no `__`, so that no tool of a server
//! has the same name. It ends in a part of a hash, too.

use domain::app_view::ProvidingApp;
use policy::Hash;
use serde_json::json;

/// Maximum length of a tool key, which is a tool's name for the model, in characters. All providers accept names of
/// this length.
pub const MAX_TOOL_KEY_CHARS: usize = 64;

/// Number of hexadecimal digits of the hash in a tool key that contains one: 80 bits.
const TOOL_KEY_HASH_HEX_DIGITS: usize = 20;
/// Maximum number of characters of the server's name, and of the tool's name, in a tool key that contains a hash.
const MAX_NAME_CHARS_IN_HASHED_TOOL_KEY: (usize, usize) = (18, 20);
/// Beginning of the tool keys of apps' tools.
const APP_TOOL_KEY_PREFIX: &str = "app_";
/// Maximum number of characters of the tool's name in the key of an app's tool.
const MAX_NAME_CHARS_IN_APP_TOOL_KEY: usize = 32;
/// Separates the server's name from the tool's name in a tool key, and the tool's name from the hash.
const TOOL_KEY_SEPARATOR: &str = "__";

/// Returns the name by which a model calls the tool of a server. Two tools have the same name only if their hashes
/// agree in 80 bits.
#[must_use]
pub fn tool_key(server: &str, tool: &str) -> String {
    let plain = format!("{server}{TOOL_KEY_SEPARATOR}{tool}");
    let is_plain = starts_with_letter_or_underscore(server)
        && !server.contains(TOOL_KEY_SEPARATOR)
        && !server.ends_with('_')
        && !tool.is_empty()
        && plain.len() <= MAX_TOOL_KEY_CHARS
        && plain.bytes().all(is_allowed_in_tool_key)
        && !ends_like_hashed_tool_key(&plain);
    if is_plain {
        return plain;
    }
    // The length prefix makes the text unambiguous.
    let hash = Hash::of_bytes(format!("{}:{server}{tool}", server.len()).as_bytes());
    let digits = &hash.as_str()[..TOOL_KEY_HASH_HEX_DIGITS];
    let (server, tool) = (
        tool_key_name_prefix(server, MAX_NAME_CHARS_IN_HASHED_TOOL_KEY.0),
        tool_key_name_prefix(tool, MAX_NAME_CHARS_IN_HASHED_TOOL_KEY.1),
    );
    let first = if starts_with_letter_or_underscore(&server) { "" } else { "s" };
    format!("{first}{server}{TOOL_KEY_SEPARATOR}{tool}{TOOL_KEY_SEPARATOR}{digits}")
}

/// Returns the name by which a model calls a tool of a shown app. It differs for each shown app, so that it can't refer
/// to a tool of another app that is shown later.
#[must_use]
pub fn app_tool_key(server: &str, app: &ProvidingApp, tool: &str) -> String {
    let hash = Hash::of_json(&json!([server, app.view, app.tool, tool]));
    let digits = &hash.as_str()[..TOOL_KEY_HASH_HEX_DIGITS];
    let mut readable = String::new();
    for c in tool_key_name_prefix(tool, MAX_NAME_CHARS_IN_APP_TOOL_KEY).chars() {
        if c != '_' || !readable.is_empty() && !readable.ends_with('_') {
            readable.push(c);
        }
    }
    let separator = if readable.is_empty() || readable.ends_with('_') { "" } else { "_" };
    format!("{APP_TOOL_KEY_PREFIX}{readable}{separator}{digits}")
}

/// Returns `true` if a name starts with a letter or `_`, as Gemini requires.
fn starts_with_letter_or_underscore(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
}

const fn is_allowed_in_tool_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns `true` if the end of a tool key looks like a hash. A server's tool whose key would look like that without a
/// hash gets a key with a hash.
fn ends_like_hashed_tool_key(key: &str) -> bool {
    let Some((_, digits)) = key.rsplit_once(TOOL_KEY_SEPARATOR) else { return false };
    digits.len() == TOOL_KEY_HASH_HEX_DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

fn tool_key_name_prefix(name: &str, length: usize) -> String {
    name.chars().take(length).map(|c| if c.is_ascii() && is_allowed_in_tool_key(c as u8) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_tool_names_are_used_in_keys_unmodified() {
        assert_eq!(tool_key("files", "read_file"), "files__read_file", "plain names are used unmodified");
        assert_eq!(tool_key("a", "b__c"), "a__b__c", "the server's name ends at the first separator");
        assert_ne!(
            tool_key("a", "b__c"),
            tool_key("a__b", "c"),
            "two tools with the same concatenation have different names"
        );
        assert_ne!(tool_key("a_", "b"), tool_key("a", "_b"), "an ambiguous separator results in different names");
    }

    #[test]
    fn server_cannot_take_the_hashed_key_of_another_tool() {
        let hashed = tool_key("a__b", "c");
        let (server, tool) = hashed.split_once(TOOL_KEY_SEPARATOR).unwrap_or_default();
        assert_ne!(tool_key(server, tool), hashed, "a server can't take the hashed name of another tool");
    }

    #[test]
    fn tool_keys_are_accepted_by_all_providers() {
        for (server, tool) in
            [("", ""), ("7zip", "x"), ("-", "-"), ("文件", "读取"), ("a b", "c/d"), (&"x".repeat(99), "y")]
        {
            let key = tool_key(server, tool);
            assert!(
                key.len() <= MAX_TOOL_KEY_CHARS && key.bytes().all(is_allowed_in_tool_key),
                "{key} is within all limits"
            );
            assert!(starts_with_letter_or_underscore(&key), "{key} starts as Gemini requires");
        }
    }

    /// Generates names of few different characters, so that many names are nearly equal.
    fn similar_name_strategy() -> impl Strategy<Value = String> {
        prop_oneof![3 => "[ab_]{1,5}", 1 => "[a_.é-]{0,70}", 1 => "[a-z]{1,4}(__[0-9a-f]{20})?"]
    }

    proptest! {
        // [apps-draft-tools-namespace]
        #[test]
        fn tool_keys_of_apps_collide_with_no_other_tool_keys(
            server in similar_name_strategy(),
            view in "[0-9a-f]{4}",
            app in similar_name_strategy(),
            tool in similar_name_strategy(),
            others in prop::collection::vec((similar_name_strategy(), similar_name_strategy()), 1..20),
        ) {
            let app = |view: &str| ProvidingApp { view: view.to_owned(), tool: app.clone() };
            let key = app_tool_key(&server, &app(&view), &tool);
            prop_assert!(key.len() <= MAX_TOOL_KEY_CHARS && key.bytes().all(is_allowed_in_tool_key) && starts_with_letter_or_underscore(&key), "{} is accepted by all providers", key);
            prop_assert!(!key.contains(TOOL_KEY_SEPARATOR), "{} is no key of a server's tool, nor of one that another server names", key);
            prop_assert_ne!(&key, &app_tool_key(&server, &app("another"), &tool));
            for (server, tool) in others {
                prop_assert_ne!(&key, &tool_key(&server, &tool));
            }
        }

        #[test]
        fn tool_keys_are_deterministic_and_unique(tools in prop::collection::vec((similar_name_strategy(), similar_name_strategy()), 1..40)) {
            let mut known: HashMap<String, (String, String)> = HashMap::new();
            for (server, tool) in tools {
                let key = tool_key(&server, &tool);
                prop_assert_eq!(&key, &super::tool_key(&server, &tool), "the name is deterministic");
                prop_assert!(key.len() <= MAX_TOOL_KEY_CHARS && key.bytes().all(is_allowed_in_tool_key) && starts_with_letter_or_underscore(&key), "{} is accepted by all providers", key);
                let first = known.entry(key.clone()).or_insert_with(|| (server.clone(), tool.clone()));
                prop_assert_eq!(&*first, &(server, tool), "{} identifies one tool", key);
            }
        }
    }
}
