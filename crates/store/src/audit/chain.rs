//! The hash chain of the audit log: the text of an entry that is hashed, and the hash that links each entry to its
//! predecessor.

use std::borrow::Cow;
use std::fmt::Write as _;

use aws_lc_rs::digest::{Context, SHA256};
use ports::AuditEntry;
use serde::{Deserialize, Serialize};

pub(super) use crate::hex::{from_hex, hex};

/// Hash of an entry's text and of the chain hash before it, and thereby of all earlier entries as well.
pub(super) type ChainLink = [u8; 32];

/// Hash that takes the place of a predecessor's chain hash for the first log entry: zeros.
pub(super) const CHAIN_LINK_BEFORE_FIRST_ENTRY: ChainLink = [0; 32];

/// The members of an entry that are hashed and exported. The order of the members must not change, because it
/// determines the hashes. A new member must be omitted if it has no value, so that the hashes of older entries stay
/// valid.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HashedLogEntry<'a> {
    number: u64,
    at: u64,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    asker: Cow<'a, str>,
    server: Cow<'a, str>,
    kind: Cow<'a, str>,
    subject: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_bytes: Option<u64>,
    decision: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scope: Option<Cow<'a, str>>,
    by: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    rule: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<Cow<'a, str>>,
    hash: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    imported: bool,
}

/// Returns the text of a log entry that is hashed: one line of JSON, in which characters that are invisible or control
/// a terminal are escaped.
pub(super) fn hashed_entry_text(entry: &AuditEntry) -> serde_json::Result<String> {
    let line = HashedLogEntry {
        number: entry.number,
        at: entry.at,
        asker: Cow::Borrowed(&entry.asker),
        server: Cow::Borrowed(&entry.server),
        kind: Cow::Borrowed(&entry.kind),
        subject: Cow::Borrowed(&entry.subject),
        content: entry.content.as_deref().map(Cow::Borrowed),
        content_bytes: entry.content_bytes,
        decision: Cow::Borrowed(&entry.decision),
        scope: entry.scope.as_deref().map(Cow::Borrowed),
        by: Cow::Borrowed(&entry.by),
        rule: Cow::Borrowed(&entry.rule),
        conversation: entry.conversation.as_deref().map(Cow::Borrowed),
        hash: Cow::Borrowed(&entry.hash),
        imported: entry.imported,
    };
    Ok(escape_invisible_characters(serde_json::to_string(&line)?))
}

/// Returns the number of the entry in a line of an exported log.
pub(super) fn exported_entry_number(text: &str) -> serde_json::Result<u64> {
    Ok(serde_json::from_str::<HashedLogEntry<'_>>(text)?.number)
}

/// Returns kind, `hash` member and subject of the entry in a line of an exported log.
pub(super) fn exported_kind_hash_and_subject(text: &str) -> serde_json::Result<(String, String, String)> {
    let line: HashedLogEntry<'_> = serde_json::from_str(text)?;
    Ok((line.kind.into_owned(), line.hash.into_owned(), line.subject.into_owned()))
}

/// Returns the chain hash of a log entry: the hash over the hash of its predecessor and the entry's text.
pub(super) fn next_chain_link(previous: &ChainLink, text: &str) -> ChainLink {
    let mut context = Context::new(&SHA256);
    context.update(previous);
    context.update(text.as_bytes());
    let mut link = CHAIN_LINK_BEFORE_FIRST_ENTRY;
    link.copy_from_slice(context.finish().as_ref());
    link
}

/// Escapes characters in JSON that are invisible or control a terminal. They occur only in strings, where a JSON parser
/// decodes the escapes.
fn escape_invisible_characters(json: String) -> String {
    let acts = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    if json.is_ascii() && !json.contains(acts) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        if acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` can't fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn hashed_form_of_an_entry_is_stable() {
        let entry = AuditEntry {
            number: 7,
            at: 1_795_000_000_000,
            server: "demo".into(),
            kind: "tool".into(),
            subject: "a\u{202e}b\u{1b}".into(),
            decision: "allowed".into(),
            by: "user".into(),
            hash: "abc".into(),
            ..AuditEntry::default()
        };
        let text = hashed_entry_text(&entry).unwrap();
        let expected = r#"{"number":7,"at":1795000000000,"server":"demo","kind":"tool","subject":"a\u202eb\u001b","decision":"allowed","by":"user","hash":"abc"}"#;
        assert_eq!(text, expected, "another text would make every existing log fail verification");
        assert_eq!(
            hex(&next_chain_link(&CHAIN_LINK_BEFORE_FIRST_ENTRY, &text)),
            "872a50c4e0f1d27d37597439516957e07309b79454ae6bfa317cde2b73a07b0e",
            "another hash would make every existing log fail verification"
        );
        assert_eq!(
            from_hex(&hex(&next_chain_link(&CHAIN_LINK_BEFORE_FIRST_ENTRY, &text))),
            Some(next_chain_link(&CHAIN_LINK_BEFORE_FIRST_ENTRY, &text)),
            "a hash must be parsed"
        );
        for strange in ["", "zz", "ä", &"g".repeat(64), &"0".repeat(63)] {
            assert_eq!(from_hex(strange), None, "{strange:?} is no hash");
        }
    }
}
