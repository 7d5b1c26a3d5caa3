//! What the user should see before something of a server is used, and what was kept of what they saw.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Diff, Flag, LookAlike, Standing};

/// What is worth a second look about one thing of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Marks {
    /// Whether the user has seen its definition; none where nothing is defined.
    pub review: Option<Standing>,
    /// Whether the server said that the list changed in which it stands, and that was not read again since. Nothing is allowed
    /// without asking until then.
    #[serde(default)]
    pub outdated: bool,
    /// What is different from what the user saw.
    pub diff: Option<Diff>,
    /// What else has such a name; at most ten.
    pub look_alikes: Vec<LookAlike>,
    /// What in it looks made to mislead a model or to be overlooked.
    pub flags: Vec<Flag>,
}

/// Definitions that the user has looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Review {
    /// The server.
    pub server: String,
    /// Tools.
    #[serde(default)]
    pub tools: Vec<SeenDefinition>,
    /// Prompts.
    #[serde(default)]
    pub prompts: Vec<SeenDefinition>,
}

/// A definition as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SeenDefinition {
    /// Its name.
    pub name: String,
    /// The hash that was shown with it.
    pub hash: String,
}

/// What was kept of what the user saw of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Pins {
    /// The server.
    pub server: String,
    /// What it is, in words, each with what it is called: its command and program, or its address.
    pub identity: Vec<(String, String)>,
    /// When that was approved last, in milliseconds since 1970.
    pub identity_since: Option<u64>,
    /// Who issues the tokens for it.
    pub issuer: Option<String>,
    /// Its tools.
    pub tools: Vec<PinnedDefinition>,
    /// Its prompts.
    pub prompts: Vec<PinnedDefinition>,
}

/// A definition that the user has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PinnedDefinition {
    /// Its name.
    pub name: String,
    /// Over its whole definition.
    pub hash: String,
    /// When the user saw it, in milliseconds since 1970.
    pub since: u64,
}
