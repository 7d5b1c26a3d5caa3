//! What a model is asked.

use serde_json::Value;

use crate::Message;

/// A request to a model: the conversation so far, and how to go on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The model's id, as its provider names it.
    pub model: String,
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation, the oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may use, in the order in which they are sent.
    pub tools: Vec<Tool>,
    /// Whether it has to use one.
    pub tool_choice: ToolChoice,
    /// The most tokens that the answer may have. None leaves it to the provider, or to what is known of the model.
    pub max_tokens: Option<u32>,
    /// How much chance is in the answer, from 0 on.
    pub temperature: Option<f64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Whether the model should think before it answers, where it can.
    pub thinking: bool,
}

/// A tool that a model may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name, as the model uses it: at most 64 characters of letters, digits, `_` and `-`.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// Whether a model has to use a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must use at least one.
    Required,
    /// It must use none.
    None,
}
