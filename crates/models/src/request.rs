//! Requests to a model, independent of providers.

use serde_json::Value;

use crate::ModelMessage;

/// A request to a model: the conversation so far, and options for the reply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelRequest {
    /// Identifier of the model in its provider's API.
    pub model: String,
    /// System prompt, or `None` to send no instructions.
    pub system: Option<String>,
    /// Messages of the conversation, oldest first.
    pub messages: Vec<ModelMessage>,
    /// Tools that the model may use, in the order in which they are sent.
    pub tools: Vec<ModelTool>,
    /// Rule that allows, requires or forbids the use of tools by the model.
    pub tool_choice: ToolChoice,
    /// Maximum number of tokens of the reply, or `None` for the default of the provider or of the model.
    pub max_tokens: Option<u32>,
    /// Sampling temperature of at least 0, or `None` for the default of the provider.
    pub temperature: Option<f64>,
    /// Texts that end the reply when the model generates them.
    pub stop: Vec<String>,
    /// Set if the model should reason before it replies. Ignored for models that can't.
    pub thinking: bool,
}

/// A tool that a model may use.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTool {
    /// Name by which the model calls the tool: at most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// Description of the tool for the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
}

/// Rule that allows, requires or forbids the use of tools by the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides if it uses a tool.
    #[default]
    Auto,
    /// The model must use at least one tool.
    Required,
    /// The model must not use a tool.
    None,
}
