//! Conversations: messages of the user, replies of models, tool calls and prompts. The items of a conversation form a
//! tree, so that a message can be replaced without losing what followed the old one. The path from the first item to
//! the newest one of the chosen branch (its head) is displayed, and sent to models.
//!
//! [`Chat`] works on a [`Host`](host::Host), which doesn't depend on it. All tool calls, of any origin, go through
//! [`call`]. A run ([`reply_run`]) is one task: it sends requests to the model, makes the requested calls, and
//! continues until the model requests none.

pub mod attachments;
mod builtin_tools;
mod call;
mod conversation_locks;
mod conversation_log;
mod conversations;
mod draft;
mod engine;
mod error;
pub mod export;
mod history;
mod inert_markdown;
pub mod model_context;
mod model_parameters;
pub mod offered_tools;
mod reply_run;
mod saved_system_prompts;
pub mod search_index;
pub mod skills;
mod streamed_pieces;
mod system_prompt;
pub mod tool_keys;

use domain::bounds::{ChatBounds, NO_SEARCH_THRESHOLD_TOKENS};
use host::ServerForModel;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use call::ToolCall;
pub use conversations::OpenedConversation;
pub use engine::{Chat, ConversationSpending, ConversationTools, NewMessage, ReplyIds, ServerInstructions};
pub use error::{
    ConversationError, MAX_REPLY_TOKENS, MAX_SAVED_PROMPT_NAME_CHARS, MAX_SAVED_PROMPTS, MAX_SERVERS_PER_CONVERSATION,
};
pub use history::{BranchPage, ConversationTreeItem, HistorySearchPage};
pub use models::ModelRef;
pub use saved_system_prompts::{SavedSystemPrompt, SavedSystemPrompts};

/// The user's settings for one conversation. The serialized form is used by the page. The history stores the form of
/// [`to_stored`](Self::to_stored).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct ConversationSettings {
    /// Model that replies, or `None` if none was chosen yet.
    pub model: Option<ModelRef>,
    /// System prompt, written by the user.
    pub system_prompt: String,
    /// Servers whose tools the model may use, in the order in which they are offered.
    pub servers: Vec<OfferedServer>,
    /// Set to inform the model of the folders (roots) that are shared with these servers.
    pub share_roots: bool,
    /// Set to request reasoning before the reply, if the model supports it.
    pub thinking: bool,
    /// Set to `true` to let the model find tools by search, and to `false` to send all tool definitions to it. With
    /// `None`, it searches only if the definitions would take a large part of its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub tool_search: Option<bool>,
    /// Sampling temperature, from 0 to [`MAX_TEMPERATURE`](models::MAX_TEMPERATURE), or `None` for the default of the
    /// provider. Lowered to the maximum of the provider that replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub temperature: Option<f64>,
    /// Maximum number of tokens of a reply, from 1 to [`MAX_REPLY_TOKENS`], or `None` for the default of the provider.
    /// Lowered to the limit of the model that replies, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub max_tokens: Option<u32>,
}

/// Pairs of a setting's JSON key in the history and its key on the page. Earlier versions can also read the keys in the
/// history.
const STORED_AND_DISPLAYED_SETTINGS_KEYS: [(&str, &str); 4] = [
    ("system_prompt", "systemPrompt"),
    ("share_roots", "shareRoots"),
    ("tool_search", "toolSearch"),
    ("max_tokens", "maxTokens"),
];

impl ConversationSettings {
    /// Converts the settings to the JSON form for the history and for exported files.
    #[must_use]
    pub fn to_stored(&self) -> Value {
        let mut stored = json!(self);
        if let Some(members) = stored.as_object_mut() {
            for (stored, name) in STORED_AND_DISPLAYED_SETTINGS_KEYS {
                rename_json_key(members, name, stored);
            }
        }
        stored
    }

    /// Returns the number of tokens of all tool definitions above which a model with this context size searches for
    /// tools instead of receiving all definitions.
    #[must_use]
    pub fn effective_tool_search_threshold(&self, bounds: ChatBounds, context: Option<u32>) -> u64 {
        match self.tool_search {
            Some(true) => 0,
            Some(false) => NO_SEARCH_THRESHOLD_TOKENS,
            None => bounds.tool_search_threshold(context),
        }
    }

    /// Returns `true` if the user enabled this tool of this server for the conversation.
    #[must_use]
    pub fn enables_tool(&self, server: &str, tool: &str) -> bool {
        self.servers.iter().any(|offered| offered.server == server && offered.enables_tool(tool))
    }

    /// Parses settings in the JSON form of the history. Returns the default settings if they are invalid.
    #[must_use]
    pub fn from_stored(stored: &Value) -> Self {
        let mut members = stored.as_object().cloned().unwrap_or_default();
        for (stored, name) in STORED_AND_DISPLAYED_SETTINGS_KEYS {
            rename_json_key(&mut members, stored, name);
        }
        serde_json::from_value(Value::Object(members)).unwrap_or_default()
    }
}

fn rename_json_key(members: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(member) = members.remove(from) {
        members.insert(to.to_owned(), member);
    }
}

/// A server whose tools a model may use in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OfferedServer {
    /// Name of the server.
    pub server: String,
    /// Names of the tools that the user enabled for the conversation, or `None` to enable all that the user has
    /// reviewed.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Hash of those instructions of the server that the user approved for the model, or `None` to send none. The
    /// instructions are sent as data of the server, unless they have changed since.
    #[serde(default)]
    pub instructions: Option<String>,
}

impl OfferedServer {
    /// Returns `true` if the user enabled this tool for the conversation.
    #[must_use]
    pub fn enables_tool(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|on| on.iter().any(|name| name == tool))
    }

    /// Returns the server's instructions if the user approved exactly this text for the model, otherwise `None`.
    #[must_use]
    pub fn approved_instructions<'a>(&self, server: &'a ServerForModel) -> Option<&'a str> {
        let is_as_seen = self.instructions.is_some() && self.instructions == server.instructions_hash();
        server.instructions.as_deref().filter(|_| server.is_ready && is_as_seen)
    }

    /// Returns `true` if the server's instructions differ from those that the user approved.
    #[must_use]
    pub fn has_changed_instructions(&self, server: &ServerForModel) -> bool {
        let now = server.instructions_hash();
        server.is_ready && self.instructions.is_some() && now.is_some() && self.instructions != now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_and_displayed_settings_have_separate_field_names() {
        let settings = ConversationSettings {
            system_prompt: "Be brief.".into(),
            share_roots: true,
            ..ConversationSettings::default()
        };
        let stored =
            json!({"model": null, "system_prompt": "Be brief.", "servers": [], "share_roots": true, "thinking": false});
        assert_eq!(settings.to_stored(), stored, "the stored form is compatible with earlier versions");
        assert_eq!(ConversationSettings::from_stored(&stored), settings, "the stored form can be read");
        let shown =
            json!({"model": null, "systemPrompt": "Be brief.", "servers": [], "shareRoots": true, "thinking": false});
        assert_eq!(json!(settings), shown, "the page's form uses camelCase");
        assert_eq!(
            ConversationSettings::from_stored(&Value::Null),
            ConversationSettings::default(),
            "an invalid value is treated as unset"
        );
        let with_parameters = ConversationSettings { temperature: Some(0.7), max_tokens: Some(900), ..settings };
        let stored = with_parameters.to_stored();
        assert_eq!((&stored["temperature"], &stored["max_tokens"]), (&json!(0.7), &json!(900)), "stored: {stored}");
        assert_eq!(ConversationSettings::from_stored(&stored), with_parameters, "the parameters are read");
        assert_eq!(json!(with_parameters)["maxTokens"], json!(900), "the page's form uses camelCase");
    }

    #[test]
    fn e5_search_threshold_depends_on_setting_and_context_window() {
        let chosen = |tool_search| ConversationSettings { tool_search, ..ConversationSettings::default() };
        let threshold = |chosen: &ConversationSettings, context| {
            chosen.effective_tool_search_threshold(ChatBounds::default(), context)
        };
        assert_eq!(threshold(&chosen(None), Some(100_000)), 5_000, "the threshold is five percent of a known context");
        assert!(threshold(&chosen(None), None) > 1_000_000, "with an unknown context, all tools are sent");
        assert_eq!(threshold(&chosen(Some(true)), None), 0, "an enabled search is always used");
        assert!(threshold(&chosen(Some(false)), Some(1_000)) > 1_000_000, "a disabled search is never used");
        let settings = chosen(Some(true));
        assert_eq!(settings.to_stored()["tool_search"], json!(true), "the setting is stored");
        assert_eq!(
            ConversationSettings::from_stored(&settings.to_stored()),
            settings,
            "the stored setting can be read"
        );
    }
}
