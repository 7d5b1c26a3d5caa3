//! What a server offers. Names and descriptions are the server's own words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::Marks;

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Catalog {
    /// The server.
    pub server: String,
    /// Its tools.
    pub tools: Vec<Tool>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Its resources.
    pub resources: Vec<Resource>,
    /// Its resource templates.
    pub templates: Vec<ResourceTemplate>,
    /// Where a list is not whole, and why.
    pub notes: Vec<String>,
    /// Until when each list counts as fresh.
    pub fresh_until: FreshUntil,
}

/// Until when lists count as fresh, in milliseconds since 1970. None where the server does not say: then a list is as it was
/// last read, and is read again when the server says that it changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FreshUntil {
    /// The tools.
    pub tools: Option<u64>,
    /// The prompts.
    pub prompts: Option<u64>,
    /// The resources.
    pub resources: Option<u64>,
    /// The resource templates.
    pub templates: Option<u64>,
}

/// A list to read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RefreshList {
    /// The server.
    pub server: String,
    /// Which list.
    pub list: ListName,
}

/// The lists of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ListName {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
    /// The resources and their templates.
    Resources,
}

/// A picture a server gives for something. Only `data:` pictures are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// A `data:` or `https:` URL.
    pub src: String,
    /// Its type, as claimed.
    pub mime_type: Option<String>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name to call it by.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, as the server says.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// The JSON Schema of its structured result.
    pub output_schema: Option<Value>,
    /// What the server claims about its effects.
    pub claims: ToolClaims,
    /// Pictures.
    pub icons: Vec<Icon>,
    /// Whether calls are allowed without asking, by a standing grant.
    pub allowed: bool,
    /// All else in its definition, which a model may see as well.
    pub others: Option<Value>,
    /// The hash of its whole definition, to review it by.
    pub hash: String,
    /// What is worth a second look about it.
    pub marks: Marks,
}

/// What a server claims about a tool's effects. Never a reason to be less careful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolClaims {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// A second equal call changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches out into the world.
    pub open_world: Option<bool>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Prompt {
    /// The name to get it by.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it wants to know.
    pub arguments: Vec<PromptArgument>,
    /// Pictures.
    pub icons: Vec<Icon>,
    /// All else in its definition.
    pub others: Option<Value>,
    /// The hash of its whole definition, to review it by.
    pub hash: String,
    /// What is worth a second look about it.
    pub marks: Marks,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
}

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Where it is.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its type, as claimed.
    pub mime_type: Option<String>,
    /// Its size in bytes, as claimed.
    pub size: Option<u64>,
    /// Pictures.
    pub icons: Vec<Icon>,
}

/// A family of resources (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// The variables in it, in order.
    pub variables: Vec<String>,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// The type of what it leads to, as claimed.
    pub mime_type: Option<String>,
    /// Pictures.
    pub icons: Vec<Icon>,
}

/// What to complete an argument of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CompletionOf {
    /// A prompt, by name.
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template.
    Template {
        /// The template.
        uri: String,
    },
}

/// A wish for completions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Complete {
    /// The server.
    pub server: String,
    /// What has the argument.
    pub of: CompletionOf,
    /// The argument's name.
    pub argument: String,
    /// What is typed so far.
    pub value: String,
    /// The arguments given already.
    #[serde(default)]
    pub context: BTreeMap<String, String>,
}

/// Completions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// At most 100 values.
    pub values: Vec<String>,
    /// How many there are in all, if known.
    pub total: Option<u64>,
    /// Whether there are more.
    pub has_more: bool,
}

/// A template and values for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExpandTemplate {
    /// The template.
    pub template: String,
    /// Values by variable; those that are missing are left out as RFC 6570 says.
    pub values: BTreeMap<String, String>,
}

/// An expanded template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ExpandedTemplate {
    /// The URI.
    pub uri: String,
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResourceRef {
    /// The server.
    pub server: String,
    /// The resource.
    pub uri: String,
}
