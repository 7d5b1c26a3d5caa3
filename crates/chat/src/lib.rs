//! Conversations: what the user, models, tools and prompts said. Items form a tree, so that a message can be written anew without
//! losing what followed the old one; the path from the first item to the head is what is shown, and what a model gets.
//!
//! [`Chat`] works on a [`Host`](host::Host), which knows nothing of it. Every call of a tool goes through [`call`], whoever makes it. A run ([`run`]) is one task: it asks the model, makes the calls that the model wants, and goes on until it wants none.

pub mod attachments;
mod call;
pub mod context;
mod conversations;
mod draft;
mod engine;
mod error;
pub mod export;
mod history;
mod inert_markdown;
pub mod keys;
mod log;
pub mod offered;
mod own_tools;
mod replies;
mod run;
pub mod search;
mod stream;
mod system;

use domain::bounds::ChatBounds;
use host::ServerForModel;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use call::ToolCall;
pub use conversations::OpenConversation;
pub use engine::{Begun, Chat, ConversationTools, NewMessage, ServerInstructions, Spent};
pub use error::ConversationError;
pub use history::{FoundPage, PlacedItem, PlacedItems};
pub use models::ModelRef;

/// What the user set for a conversation. Its serialized form is the page's; the history has that of [`stored`](Self::stored).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ConversationSettings {
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// How it should behave, in the user's words.
    pub system_prompt: String,
    /// The servers whose tools it may use, in the order in which they are offered. None by default.
    pub servers: Vec<OfferedServer>,
    /// Whether it is told which folders these servers may know of.
    pub share_roots: bool,
    /// Whether it should think before it answers, where it can.
    pub thinking: bool,
    /// Whether it finds its tools by search, or gets all of them; none for a search where they take much of its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub tool_search: Option<bool>,
}

/// Members whose names in the history are others than the page's, with both. Earlier versions read the history as well.
const STORED_NAMES: [(&str, &str); 3] =
    [("system_prompt", "systemPrompt"), ("share_roots", "shareRoots"), ("tool_search", "toolSearch")];

impl ConversationSettings {
    /// The form in the history and in exported files.
    #[must_use]
    pub fn stored(&self) -> Value {
        let mut stored = json!(self);
        if let Some(members) = stored.as_object_mut() {
            for (stored, name) in STORED_NAMES {
                rename(members, name, stored);
            }
        }
        stored
    }

    /// From how many tokens on its tools are found by search, with a model that takes so many.
    #[must_use]
    pub fn search_threshold(&self, bounds: ChatBounds, context: Option<u32>) -> u64 {
        match self.tool_search {
            Some(true) => 0,
            Some(false) => u64::from(u32::MAX),
            None => bounds.threshold(context),
        }
    }

    /// Reads that form. What can't be read is as if nothing was set.
    #[must_use]
    pub fn from_stored(stored: &Value) -> Self {
        let mut members = stored.as_object().cloned().unwrap_or_default();
        for (stored, name) in STORED_NAMES {
            rename(&mut members, stored, name);
        }
        serde_json::from_value(Value::Object(members)).unwrap_or_default()
    }
}

fn rename(members: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(member) = members.remove(from) {
        members.insert(to.to_owned(), member);
    }
}

/// A server whose tools a model may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OfferedServer {
    /// The server.
    pub server: String,
    /// Those of its tools; none stands for all that the user has reviewed.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// The hash of the server's instructions as the user saw them when they let the model have them, as data with their source
    /// named; none if it does not get them. Others than these it does not get.
    #[serde(default)]
    pub instructions: Option<String>,
}

impl OfferedServer {
    /// Whether a tool is turned on.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|on| on.iter().any(|name| name == tool))
    }

    /// The server's instructions, if the user lets a model have them as they are now.
    #[must_use]
    pub fn instructions_of<'a>(&self, server: &'a ServerForModel) -> Option<&'a str> {
        let is_as_seen = self.instructions.is_some() && self.instructions == server.instructions_hash();
        server.instructions.as_deref().filter(|_| server.is_ready && is_as_seen)
    }

    /// True if the server's instructions are others than those that the user lets a model have.
    #[must_use]
    pub fn has_other_instructions(&self, server: &ServerForModel) -> bool {
        let now = server.instructions_hash();
        server.is_ready && self.instructions.is_some() && now.is_some() && self.instructions != now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_and_the_page_have_their_own_names_of_members() {
        let settings = ConversationSettings {
            system_prompt: "Be brief.".into(),
            share_roots: true,
            ..ConversationSettings::default()
        };
        let stored =
            json!({"model": null, "system_prompt": "Be brief.", "servers": [], "share_roots": true, "thinking": false});
        assert_eq!(settings.stored(), stored, "as every version has written it");
        assert_eq!(ConversationSettings::from_stored(&stored), settings, "and reads it");
        let shown =
            json!({"model": null, "systemPrompt": "Be brief.", "servers": [], "shareRoots": true, "thinking": false});
        assert_eq!(json!(settings), shown, "as all of the page's data");
        assert_eq!(ConversationSettings::from_stored(&Value::Null), ConversationSettings::default(), "nothing was set");
    }

    #[test]
    fn e5_a_search_is_chosen_or_follows_from_a_known_context() {
        let chosen = |tool_search| ConversationSettings { tool_search, ..ConversationSettings::default() };
        let threshold =
            |chosen: &ConversationSettings, context| chosen.search_threshold(ChatBounds::default(), context);
        assert_eq!(threshold(&chosen(None), Some(100_000)), 5_000, "five percent of a context that is known");
        assert!(threshold(&chosen(None), None) > 1_000_000, "a small context is not assumed");
        assert_eq!(threshold(&chosen(Some(true)), None), 0, "the user wants the search");
        assert!(threshold(&chosen(Some(false)), Some(1_000)) > 1_000_000, "the user wants all of them");
        let kept = chosen(Some(true));
        assert_eq!(kept.stored()["tool_search"], json!(true), "it is kept");
        assert_eq!(ConversationSettings::from_stored(&kept.stored()), kept, "and read");
    }
}
