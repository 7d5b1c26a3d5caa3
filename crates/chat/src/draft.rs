//! Drafts: text that the user has written in a conversation and not sent yet. A draft is stored next to the
//! conversation's settings with the same encryption, and is not part of the conversation: it is not sent to models or
//! exported. Attached files are not stored.

use serde_json::{Map, Value};

/// JSON key of the draft in a conversation's stored settings. Earlier versions of Drawbridge ignore it.
const DRAFT_KEY: &str = "draft";
/// Maximum size of a conversation's draft, in bytes.
pub(super) const MAX_DRAFT_BYTES: usize = 256 << 10;

/// Returns the draft contained in a conversation's stored settings, or an empty string if there is none.
pub(super) fn draft_in_stored_settings(stored: &Value) -> String {
    stored.get(DRAFT_KEY).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Inserts a draft into a conversation's stored settings. An empty string removes the previous draft.
pub(super) fn put_draft_in_stored_settings(stored: &mut Value, text: String) {
    if !stored.is_object() {
        *stored = Value::Object(Map::new());
    }
    let Some(members) = stored.as_object_mut() else { return };
    if text.is_empty() {
        members.remove(DRAFT_KEY);
    } else {
        members.insert(DRAFT_KEY.to_owned(), text.into());
    }
}
