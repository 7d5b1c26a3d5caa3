//! The names by which models know tools: of one server's tool each, the same each time, and within what every provider takes.
//!
//! A tool is `server__tool` where that can be read in one way only: the server's name then has no `__` and does not end in `_`,
//! so that the first `__` is where it ends. Every other tool gets a name that ends in a part of the SHA-256 over both names.

use policy::Hash;

/// The longest name, in characters, that all providers take.
pub const MAX_KEY: usize = 64;

/// How many digits of the hash are in a name: 80 bits.
const DIGITS: usize = 20;
/// How much of the server's and of the tool's name is left to be read before them.
const HEADS: (usize, usize) = (18, 20);
/// What separates the parts.
const BETWEEN: &str = "__";

/// The name of a tool for a model. Two tools have the same one only if their hashes agree in 80 bits.
#[must_use]
pub fn key(server: &str, tool: &str) -> String {
    let plain = format!("{server}{BETWEEN}{tool}");
    let is_plain = begins_well(server)
        && !server.contains(BETWEEN)
        && !server.ends_with('_')
        && !tool.is_empty()
        && plain.len() <= MAX_KEY
        && plain.bytes().all(is_taken)
        && !ends_in_hash(&plain);
    if is_plain {
        return plain;
    }
    // With the length before it, no other server and tool make the same text.
    let hash = Hash::of_bytes(format!("{}:{server}{tool}", server.len()).as_bytes());
    let digits = &hash.as_str()[..DIGITS];
    let (server, tool) = (head(server, HEADS.0), head(tool, HEADS.1));
    let first = if begins_well(&server) { "" } else { "s" };
    format!("{first}{server}{BETWEEN}{tool}{BETWEEN}{digits}")
}

/// Gemini wants a letter or `_` at the beginning.
fn begins_well(name: &str) -> bool {
    name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
}

const fn is_taken(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a name looks like one with a hash; those are never made of names alone.
fn ends_in_hash(key: &str) -> bool {
    let Some((_, digits)) = key.rsplit_once(BETWEEN) else { return false };
    digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

fn head(name: &str, length: usize) -> String {
    name.chars().take(length).map(|c| if c.is_ascii() && is_taken(c as u8) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_are_plain_are_read_as_they_are() {
        assert_eq!(key("files", "read_file"), "files__read_file", "both names can be read");
        assert_eq!(key("a", "b__c"), "a__b__c", "the first separator is where the server ends");
        assert_ne!(key("a", "b__c"), key("a__b", "c"), "the same letters, and two tools");
        assert_ne!(key("a_", "b"), key("a", "_b"), "the separator is not moved");
    }

    #[test]
    fn a_tool_that_is_named_like_another_ones_hash_has_its_own() {
        let hashed = key("a__b", "c");
        let (server, tool) = hashed.split_once(BETWEEN).unwrap_or_default();
        assert_ne!(key(server, tool), hashed, "a server can't take the name of another one's tool");
    }

    #[test]
    fn names_of_any_kind_are_taken_by_all_providers() {
        for (server, tool) in
            [("", ""), ("7zip", "x"), ("-", "-"), ("文件", "读取"), ("a b", "c/d"), (&"x".repeat(99), "y")]
        {
            let key = key(server, tool);
            assert!(key.len() <= MAX_KEY && key.bytes().all(is_taken), "{key} is within all limits");
            assert!(begins_well(&key), "{key} begins as Gemini wants it");
        }
    }

    /// Names made of few characters, so that many of them nearly agree.
    fn name() -> impl Strategy<Value = String> {
        prop_oneof![3 => "[ab_]{1,5}", 1 => "[a_.é-]{0,70}", 1 => "[a-z]{1,4}(__[0-9a-f]{20})?"]
    }

    proptest! {
        #[test]
        fn each_tool_has_one_name_and_no_other_tool_has_it(tools in prop::collection::vec((name(), name()), 1..40)) {
            let mut known: HashMap<String, (String, String)> = HashMap::new();
            for (server, tool) in tools {
                let key = key(&server, &tool);
                prop_assert_eq!(&key, &super::key(&server, &tool), "the same each time");
                prop_assert!(key.len() <= MAX_KEY && key.bytes().all(is_taken) && begins_well(&key), "{} is taken", key);
                let first = known.entry(key.clone()).or_insert_with(|| (server.clone(), tool.clone()));
                prop_assert_eq!(&*first, &(server, tool), "{} leads back to one tool", key);
            }
        }
    }
}
