//! What the user should see before something of a server is used, and what was kept of what they saw.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Standing;

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

/// What is different between what the user saw and what is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The changes, place by place; at most 200.
    pub changes: Vec<Change>,
    /// How many more there are.
    pub more: u32,
    /// Whether the server itself is another one than then: its command, program or address, or who signs in to it.
    pub server_changed: bool,
    /// Whether only the beginning of what the user saw was kept, since it was so large.
    pub cut: bool,
    /// All of a definition as the user saw it, if that was kept.
    pub before: Option<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Change {
    /// Where: the keys that lead there, and numbers of items from 1.
    pub path: Vec<String>,
    /// What was there, whole; none if nothing.
    pub before: Option<String>,
    /// What is there now, whole; none if nothing.
    pub after: Option<String>,
}

/// Something else with such a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LookAlike {
    /// The user's own name for its server.
    pub server: String,
    /// Its name there, or its title if that is what looks alike.
    pub name: String,
    /// Whether it is the very same.
    pub same: bool,
}

/// Something to look twice at. To have none says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Flag {
    /// Where: the keys that lead there, and numbers of items from 1; none for the text itself.
    pub place: Vec<String>,
    /// What it is.
    pub reason: FlagReason,
    /// What it is about, as it stands there.
    pub excerpt: String,
}

/// Why to look twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FlagReason {
    /// It holds characters that are not seen.
    HiddenCharacters,
    /// It tells the model what to do beside the tool.
    InstructsModel,
    /// It wants something kept from the user.
    HidesFromUser,
    /// It names a place where secrets lie.
    SecretPlace,
    /// It names a tool of another server.
    OtherTool,
    /// A parameter asks for what the user did not give to the tool, such as the conversation.
    AsksForContext,
    /// It praises itself above other tools, so that a model takes it.
    PraisesItself,
    /// A name has letters that can be taken for others.
    DeceptiveLetters,
    /// A link shows another address than it leads to.
    MisleadingLink,
    /// There is more text than was looked through.
    TooLong,
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
