//! Completion of arguments (`server/utilities/completion`).

use serde::{Deserialize, Serialize};

use super::Map;
use super::lenient::{null_as_default, whole_number};

/// What an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum CompletionReference {
    /// A prompt's argument.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The prompt's name.
        name: String,
    },
    /// A variable of a resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The template, or a resource's URI.
        uri: String,
    },
}

/// Values that would fit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionResult {
    /// At most 100 values, best first.
    #[serde(default, deserialize_with = "null_as_default")]
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(default, deserialize_with = "whole_number", skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map,
}
