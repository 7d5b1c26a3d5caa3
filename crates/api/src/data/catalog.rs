//! Lists of tools, prompts, resources and resource templates of a server. Names and descriptions are unverified text
//! from the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::ReviewMarks;

/// Tools, prompts, resources and templates of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerCatalog {
    /// Name of the server in the settings.
    pub server: String,
    /// Tools that the server currently lists.
    pub tools: Vec<Tool>,
    /// Prompts that the server currently lists.
    pub prompts: Vec<Prompt>,
    /// Resources that the server currently lists.
    pub resources: Vec<Resource>,
    /// Resource templates that the server currently lists.
    pub templates: Vec<ResourceTemplate>,
    /// Reasons why some lists are incomplete. Empty if all lists are complete.
    pub notes: Vec<String>,
    /// Time until which each list may be used without requesting it again.
    pub fresh_until: CatalogExpiry,
}

/// Times until which the lists are fresh, in milliseconds since 1970.
///
/// `None` if the server does not specify a time. The list is then requested again only when the server reports a
/// change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
pub struct CatalogExpiry {
    /// Time until which the list of tools is fresh, in milliseconds since 1970, or `None` if the server specifies none.
    pub tools: Option<u64>,
    /// Time until which the list of prompts is fresh, in milliseconds since 1970, or `None` if the server specifies
    /// none.
    pub prompts: Option<u64>,
    /// Time until which the list of resources is fresh, in milliseconds since 1970, or `None` if the server specifies
    /// none.
    pub resources: Option<u64>,
    /// Time until which the list of resource templates is fresh, in milliseconds since 1970, or `None` if the server
    /// specifies none.
    pub templates: Option<u64>,
}

/// Request to read a list from the server, even if it is fresh.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct RefreshList {
    /// Name of the server in the settings.
    pub server: String,
    /// Kind of the list to request.
    pub list: ListName,
}

/// Kind of a list that a server provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ListName {
    /// List that `tools/list` returns.
    Tools,
    /// List that `prompts/list` returns.
    Prompts,
    /// Lists that `resources/list` and `resources/templates/list` return.
    Resources,
}

/// Icon provided by a server. Only `data:` URLs are displayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// URL with the scheme `data:` or `https:`.
    pub src: String,
    /// Media type as claimed by the server.
    pub mime_type: Option<String>,
}

/// Tool that a server lists, with its review state.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Name by which calls refer to the tool.
    pub name: String,
    /// Display title that the server provides. Untrusted text.
    pub title: Option<String>,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// JSON Schema of the tool's arguments.
    pub input_schema: Value,
    /// JSON Schema of the tool's structured result, or `None` if the server declares none.
    pub output_schema: Option<Value>,
    /// Claims of the server about the tool's effects.
    pub claims: ToolClaims,
    /// Icons that the server provides for display.
    pub icons: Vec<Icon>,
    /// `true` if a grant allows calls of the tool without consent requests.
    pub allowed: bool,
    /// Members of the definition that the other fields don't contain, as JSON. A model may receive them too.
    pub others: Option<Value>,
    /// Hash of the tool's whole definition, to which a review refers.
    pub hash: String,
    /// Review state of the tool's definition, and warnings about it for the user.
    pub marks: ReviewMarks,
}

/// Claims of a server about a tool's effects. Never used to make a decision less strict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolClaims {
    /// Value of `readOnlyHint`: the tool does not modify anything. `None` if the server does not send the hint.
    pub read_only: Option<bool>,
    /// Value of `destructiveHint`: the tool may destroy data. `None` if the server does not send the hint.
    pub destructive: Option<bool>,
    /// Value of `idempotentHint`: a repeated equal call has no further effect. `None` if the server does not send the
    /// hint.
    pub idempotent: Option<bool>,
    /// Value of `openWorldHint`: the tool interacts with external entities. `None` if the server does not send the
    /// hint.
    pub open_world: Option<bool>,
    /// `true` if the tool's definition demands the user's consent for each call, which Drawbridge then requires.
    pub asks_each_time: bool,
}

/// Prompt that a server lists, with its review state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Prompt {
    /// Name of the prompt, by which its messages are requested.
    pub name: String,
    /// Display title that the server provides. Untrusted text.
    pub title: Option<String>,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// Arguments that the prompt accepts.
    pub arguments: Vec<PromptArgument>,
    /// Icons that the server provides for display.
    pub icons: Vec<Icon>,
    /// Members of the definition that the other fields don't contain, as JSON.
    pub others: Option<Value>,
    /// Hash of the prompt's whole definition, to which a review refers.
    pub hash: String,
    /// Review state of the prompt's definition, and warnings about it for the user.
    pub marks: ReviewMarks,
}

/// Argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptArgument {
    /// Name of the argument, as the server lists it.
    pub name: String,
    /// Display title that the server provides. Untrusted text.
    pub title: Option<String>,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// `true` if the argument must have a value.
    pub required: bool,
}

/// Resource that a server lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// URI that identifies the resource on its server.
    pub uri: String,
    /// Name of the resource, as its server lists it.
    pub name: String,
    /// Display title that the server provides. Untrusted text.
    pub title: Option<String>,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// Media type as claimed by the server.
    pub mime_type: Option<String>,
    /// Size in bytes, as claimed by the server.
    pub size: Option<u64>,
    /// Icons that the server provides for display.
    pub icons: Vec<Icon>,
}

/// Resource template of a server (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// URI template (RFC 6570) that results in the resource's URI.
    pub uri_template: String,
    /// Names of the template's variables, in order.
    pub variables: Vec<String>,
    /// Name of the template, as its server lists it.
    pub name: String,
    /// Display title that the server provides. Untrusted text.
    pub title: Option<String>,
    /// Description that the server provides. Untrusted text.
    pub description: Option<String>,
    /// Media type of the resources, as claimed by the server.
    pub mime_type: Option<String>,
    /// Icons that the server provides for display.
    pub icons: Vec<Icon>,
}

/// Prompt or resource template whose argument is to be completed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CompletionReference {
    /// Prompt, referred to by name.
    Prompt {
        /// Name of the prompt, as its server lists it.
        name: String,
    },
    /// Resource template, referred to by its URI template.
    Template {
        /// URI template as the server lists it.
        uri: String,
    },
}

/// Request for completions of an argument.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct CompleteArgument {
    /// Name of the server in the settings.
    pub server: String,
    /// Prompt or resource template that contains the argument.
    pub of: CompletionReference,
    /// Name of the argument, as the server lists it.
    pub argument: String,
    /// Text that the user has typed so far.
    pub value: String,
    /// Values of other arguments that the user has already filled in, by name.
    #[serde(default)]
    pub context: BTreeMap<String, String>,
}

/// Values that a server suggests for an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Completion {
    /// Suggested values, at most 100.
    pub values: Vec<String>,
    /// Total number of suggestions, if known.
    pub total: Option<u64>,
    /// `true` if the server has more suggestions than `values` contains.
    pub has_more: bool,
}

/// URI template with values for its variables.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ExpandTemplate {
    /// URI template to expand.
    pub template: String,
    /// Values by variable. Undefined variables are omitted as specified in RFC 6570.
    pub values: BTreeMap<String, String>,
}

/// Result of the expansion of a URI template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ExpandedTemplate {
    /// URI that results from the expansion.
    pub uri: String,
}

/// Request that refers to a resource of a server by its URI.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct ResourceRef {
    /// Name of the server in the settings.
    pub server: String,
    /// URI that identifies the resource on its server.
    pub uri: String,
}
