//! The definitions that tools had when a file of answers allowed their last calls. Nobody looks at what such a file allows, so a
//! definition that is another one by now is announced.

use api::Api;
use api::data::Question;
use ports::Document;
use serde_json::{Map, Value};

use super::{Kind, definition_hash, name_of};

/// The most tools that are remembered, over all servers. Of what is beyond no change is announced.
const MAX_TOOLS: usize = 10_000;

/// What is said of an allowed call whose tool is not defined as it was at the last one; none if it is, or was never called so. The
/// definition is remembered for the next call.
pub(crate) fn announcement(api: &Api, question: &Question) -> Option<String> {
    if Kind::of(question) != Kind::Tool {
        return None;
    }
    let hash = definition_hash(question)?;
    let (server, tool) = (question.server.as_str(), name_of(question));
    let mut before = None;
    let written = api.host().ports().documents.update(Document::Answered, &mut |kept| {
        let mut kept = Last::read(kept);
        before = kept.replace(server, &tool, hash);
        kept.0.into()
    });
    if let Err(error) = written {
        tracing::warn!(%error, "which definition was called could not be kept");
    }
    before.filter(|before| before != hash).map(|_| {
        format!(
            "{server}: the definition of the tool \"{tool}\" changed since its last call; look at it with \
             \"drawbridge-cli review {server}\""
        )
    })
}

/// Hashes by server and tool, as the file has them.
struct Last(Map<String, Value>);

impl Last {
    /// A file that can't be understood is begun anew: it only serves to announce.
    fn read(kept: Option<Value>) -> Self {
        match kept {
            Some(Value::Object(kept)) => Self(kept),
            _ => Self(Map::new()),
        }
    }

    /// Keeps a hash. Gives the one before, if there was one.
    fn replace(&mut self, server: &str, tool: &str, hash: &str) -> Option<String> {
        let count: usize = self.0.values().filter_map(Value::as_object).map(Map::len).sum();
        let tools = self.0.entry(server).or_insert_with(|| Value::Object(Map::new()));
        if !tools.is_object() {
            *tools = Value::Object(Map::new());
        }
        let tools = tools.as_object_mut()?;
        if count >= MAX_TOOLS && !tools.contains_key(tool) {
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
    fn the_last_definition_of_each_tool_is_kept_within_a_bound() {
        let mut last = Last::read(Some(json!({"a": {"read": "1"}, "broken": 7})));
        assert_eq!(last.replace("a", "read", "2").as_deref(), Some("1"), "the one before");
        assert_eq!(last.replace("a", "read", "2").as_deref(), Some("2"), "is kept anew");
        assert_eq!(last.replace("broken", "read", "1"), None, "what can't be understood was never called");
        for n in 0..MAX_TOOLS {
            last.replace("many", &n.to_string(), "1");
        }
        let count = |last: &Last| last.0.values().filter_map(Value::as_object).map(Map::len).sum::<usize>();
        assert_eq!(count(&last), MAX_TOOLS, "no more than the bound");
        assert_eq!(last.replace("a", "read", "3").as_deref(), Some("2"), "what is known goes on being followed");
    }
}
