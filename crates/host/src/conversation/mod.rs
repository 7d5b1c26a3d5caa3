//! Conversations: what the user, models, tools and prompts said. Items form a tree, so that a message can be written anew without
//! losing what followed the old one; the path from the first item to the head is what is shown, and what a model gets.

pub mod item;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use models::ModelRef;

/// A conversation as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// To refer to it by: letters, digits and dashes.
    pub id: String,
    /// Its title.
    pub title: String,
    /// When it last changed, in milliseconds since 1970.
    pub updated_at: u64,
    /// Its items in order, each an [`item::Item`] as JSON. One that a newer version wrote stays as it is.
    pub items: Vec<Value>,
}

/// What the user set for a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// How it should behave, in the user's words.
    pub system_prompt: String,
    /// The servers whose tools it may use, in the order in which they are offered. None is until the user turns it on.
    pub servers: Vec<Offered>,
    /// Whether it is told which folders these servers may know of.
    pub share_roots: bool,
    /// Whether it should think before it answers, where it can.
    pub thinking: bool,
}

/// A server whose tools a model may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The server.
    pub server: String,
    /// Those of its tools; none stands for all that the user has reviewed.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// Whether the model gets the server's instructions, as data with their source named.
    #[serde(default)]
    pub instructions: bool,
}
