//! Reviews of tool and prompt definitions by the user.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ApprovedApp, DefinitionDiff, Flag, LookAlike, ReviewState};

/// Review state of a definition, and warnings about it for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReviewMarks {
    /// Review state of the definition, or `None` if there is no definition.
    pub review: Option<ReviewState>,
    /// `true` if the server has reported a change of its list of tools or prompts that contains this definition, and
    /// Drawbridge has not read the list again yet. Until then, each use of the list's items requires consent.
    #[serde(default)]
    pub outdated: bool,
    /// Differences from the definition that the user reviewed, or `None` if there are none.
    pub diff: Option<DefinitionDiff>,
    /// Other names and titles that could be confused with that of the reviewed tool, prompt or server, at most ten.
    pub look_alikes: Vec<LookAlike>,
    /// Parts of the definition's text that may be intended to mislead a model or to hide from the user.
    pub flags: Vec<Flag>,
}

/// Request to record that the user has reviewed definitions of a server's tools and prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReviewDefinitions {
    /// Name of the server in the settings.
    pub server: String,
    /// Tools whose definitions the user has reviewed.
    #[serde(default)]
    pub tools: Vec<ReviewedDefinition>,
    /// Prompts whose definitions the user has reviewed.
    #[serde(default)]
    pub prompts: Vec<ReviewedDefinition>,
}

/// Reference to a definition of a tool or prompt, as it was shown to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReviewedDefinition {
    /// Name of the reviewed tool or prompt.
    pub name: String,
    /// Hash of the definition that was shown to the user.
    pub hash: String,
}

/// The user's reviews of a server's tools, prompts and apps, as recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReviewedDefinitions {
    /// Name of the server in the settings.
    pub server: String,
    /// Identity of the server as pairs of label and value: its command and program, or its URL.
    pub identity: Vec<(String, String)>,
    /// Time at which the user last approved the identity, in milliseconds since 1970, or `None` if unknown.
    pub identity_since: Option<u64>,
    /// Issuer identifier of the authorization server that issued the server's tokens, or `None` if the user never
    /// signed in to the server.
    pub issuer: Option<String>,
    /// Tools whose definitions the user has reviewed.
    pub tools: Vec<PinnedDefinition>,
    /// Prompts whose definitions the user has reviewed.
    pub prompts: Vec<PinnedDefinition>,
    /// Pages of apps that the user has approved.
    pub apps: Vec<ApprovedApp>,
}

/// Definition that the user has reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct PinnedDefinition {
    /// Name of the reviewed tool or prompt.
    pub name: String,
    /// Hash of the tool's or prompt's whole definition.
    pub hash: String,
    /// Time of the review, in milliseconds since 1970.
    pub since: u64,
}
