//! Completion of arguments (`server/utilities/completion`).

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::{deserialize_null_as_default, deserialize_whole_number};

/// Prompt or resource template whose argument is being completed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionReference {
    /// An argument of a prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Name of the prompt, as in `prompts/list`.
        name: String,
    },
    /// A variable of a resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// URI template, or URI of a resource.
        uri: String,
    },
}

/// Result of `completion/complete`: suggested values of an argument.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionResult {
    /// Suggested values, best first. The specification allows at most 100.
    #[serde(default, deserialize_with = "deserialize_null_as_default")]
    pub values: Vec<String>,
    /// Total number of matching values, or `None` if unknown.
    #[serde(default, deserialize_with = "deserialize_whole_number", skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// `true` if there are more matching values than those in `values`.
    #[serde(default, deserialize_with = "deserialize_null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// JSON members without a field in this type, retained unchanged.
    #[serde(flatten)]
    pub extra: Map,
}
