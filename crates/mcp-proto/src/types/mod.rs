//! The objects of the protocol that a client sees, as all five revisions have them together.
//!
//! Fields that came later are optional. `meta` is `_meta`; what is not known here stays in `extra`
//! and is written back unchanged.

mod capabilities;
mod common;
mod completion;
mod content;
mod elicitation;
mod in_place;
mod lenient;
mod listed;
mod logging;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod shape;
mod tasks;
mod text;
mod tools;

pub use capabilities::{
    ClientCapabilities, ElicitationCapability, ListCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities,
};
pub use common::{Annotations, Icon, Implementation, Role};
pub use completion::{CompletionReference, CompletionResult};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent, ToolResultContent, ToolUseContent,
};
pub use elicitation::{ElicitAction, ElicitParams, ElicitResult};
pub(crate) use in_place::InPlace;
pub use listed::{Entry, Listed};
pub use logging::{LogLevel, LogMessage};
pub use prompts::{GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resources::{Resource, ResourceContents, ResourceTemplate};
pub use roots::Root;
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingContent,
    SamplingMessage, ToolChoice,
};
pub use tasks::TaskStatus;
pub use text::Text;
pub use tools::{CallToolResult, Tool, ToolAnnotations, ToolExecution};

/// A JSON object with its fields in the order in which they came.
pub type Map = serde_json::Map<String, serde_json::Value>;
