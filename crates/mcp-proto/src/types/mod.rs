//! Protocol objects that clients and servers exchange, as the union of all five revisions.
//!
//! Fields that later revisions added are optional. `meta` is the member `_meta`. JSON members without a field are
//! retained in `extra` and written back unchanged.

mod capabilities;
mod common;
mod completion;
mod content;
mod elicitation;
mod json_cursor;
mod json_shape;
mod lenient;
mod list_entry;
mod logging;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod shared_text;
mod tasks;
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
pub(crate) use json_cursor::JsonCursor;
pub use list_entry::{ListEntry, ListEntryType};
pub use logging::{LogLevel, LogMessage};
pub use prompts::{GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resources::{Resource, ResourceContents, ResourceTemplate};
pub use roots::Root;
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingContent,
    SamplingMessage, ToolChoice,
};
pub use shared_text::SharedText;
pub use tasks::TaskStatus;
pub use tools::{CallToolResult, Tool, ToolAnnotations, ToolExecution};

/// JSON object whose members keep the order in which they were sent.
pub type Map = serde_json::Map<String, serde_json::Value>;
