//! Hashes of tool definitions at their last call that the answers file approved. No user reviews such a call, so a
//! changed definition is reported.

use api::Api;
use api::data::ConsentRequest;
use ports::Document;
use serde_json::{Map, Value};

use super::{ConsentRequestKind, definition_hash, request_subject};

/// Maximum number of stored hashes of tool definitions, over all servers. The hashes of further tools are not stored,
/// so that their changes are not reported.
const MAX_STORED_DEFINITION_HASHES: usize = 10_000;

/// Returns a message if the called tool's definition has changed since the last call that the answers file approved,
/// and stores the hash of the current definition.
pub(crate) fn message_if_tool_changed_since_last_call(api: &Api, request: &ConsentRequest) -> Option<String> {
    if ConsentRequestKind::of_request(request) != ConsentRequestKind::Tool {
        return None;
    }
    let hash = definition_hash(request)?;
    let (server, tool) = (request.server.as_str(), request_subject(request));
    let mut before = None;
    let written = api.host().ports().documents.update(Document::Answered, &mut |stored| {
        let mut stored = LastDefinitionHashes::parse(stored);
        before = stored.replace(server, &tool, hash);
        stored.0.into()
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the hash of the called definition could not be stored");
    }
    before.filter(|before| before != hash).map(|_| {
        format!(
            "{server}: the definition of the tool \"{tool}\" changed since its last call; look at it with \
             \"drawbridge-cli review {server}\""
        )
    })
}

/// Hashes of tool definitions at their last approved call, by server and tool, in the format of the stored file.
struct LastDefinitionHashes(Map<String, Value>);

impl LastDefinitionHashes {
    /// Parses the stored hashes. Returns none if the file is invalid, since the hashes are only used for messages.
    fn parse(stored: Option<Value>) -> Self {
        match stored {
            Some(Value::Object(stored)) => Self(stored),
            _ => Self(Map::new()),
        }
    }

    /// Stores the hash of a tool's definition, and returns the previous one.
    fn replace(&mut self, server: &str, tool: &str, hash: &str) -> Option<String> {
        let count: usize = self.0.values().filter_map(Value::as_object).map(Map::len).sum();
        let tools = self.0.entry(server).or_insert_with(|| Value::Object(Map::new()));
        if !tools.is_object() {
            *tools = Value::Object(Map::new());
        }
        let tools = tools.as_object_mut()?;
        if count >= MAX_STORED_DEFINITION_HASHES && !tools.contains_key(tool) {
            return None;
        }
        tools.insert(tool.to_owned(), hash.into()).and_then(|before| before.as_str().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_definition_hashes_are_bounded() {
        let mut last = LastDefinitionHashes::parse(Some(json!({"a": {"read": "1"}, "broken": 7})));
        assert_eq!(last.replace("a", "read", "2").as_deref(), Some("1"), "the previous hash should be returned");
        assert_eq!(last.replace("a", "read", "2").as_deref(), Some("2"), "the hash should be replaced");
        assert_eq!(last.replace("broken", "read", "1"), None, "an invalid entry should have no previous hash");
        for n in 0..MAX_STORED_DEFINITION_HASHES {
            last.replace("many", &n.to_string(), "1");
        }
        let count =
            |last: &LastDefinitionHashes| last.0.values().filter_map(Value::as_object).map(Map::len).sum::<usize>();
        assert_eq!(count(&last), MAX_STORED_DEFINITION_HASHES, "the number of tools should be limited");
        assert_eq!(last.replace("a", "read", "3").as_deref(), Some("2"), "known tools should still be updated");
    }
}
