//! Drafts: what the user wrote in a conversation and did not send yet. A draft is kept beside the conversation's settings, encrypted as
//! they are, and is no part of what is said: no model reads it, and it is in no exported file. Files that are attached to it are not
//! kept.

use serde_json::{Map, Value};

/// The member of the stored settings. Earlier versions pass over it.
const MEMBER: &str = "draft";
/// The longest draft, in bytes.
pub(super) const MAX_DRAFT: usize = 256 << 10;

/// The draft in stored settings; empty if there is none.
pub(super) fn of(stored: &Value) -> String {
    stored.get(MEMBER).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Puts a draft into stored settings. An empty one takes it away.
pub(super) fn put(stored: &mut Value, text: String) {
    if !stored.is_object() {
        *stored = Value::Object(Map::new());
    }
    let Some(members) = stored.as_object_mut() else { return };
    if text.is_empty() {
        members.remove(MEMBER);
    } else {
        members.insert(MEMBER.to_owned(), text.into());
    }
}
