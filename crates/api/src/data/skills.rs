//! Skills: instructions and files that a server lists for models. Names and descriptions are the server's text and not
//! verified.

use policy::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{ResourceContents, SkillFile};

/// List of a server's skills.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Skills {
    /// Name of the server in the settings.
    pub server: String,
    /// Skills that can be read.
    pub skills: Vec<Skill>,
    /// Notes on parts of the list that are missing, each with the reason.
    pub notes: Vec<String>,
}

/// Instructions for a model, as a server lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Skill {
    /// URI of the skill's `SKILL.md`, unique on its server.
    pub uri: String,
    /// Name from the server, not necessarily unique.
    pub name: String,
    /// Purpose and use of the skill, from the server.
    pub description: String,
    /// Files of the skill including `SKILL.md`, or `None` if the server generates them on each read and they can't be
    /// verified.
    pub files: Option<Vec<SkillFile>>,
    /// All other members of the front matter.
    pub others: Option<Value>,
    /// Hash of the entry, which ensures that exactly the shown skill is read.
    #[ts(as = "String")]
    pub hash: Hash,
}

/// Request to read a skill or one of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReadSkill {
    /// Identifier of the call, chosen by the caller and unique among its calls.
    pub call: String,
    /// Name of the server in the settings.
    pub server: String,
    /// URI of the skill's `SKILL.md`.
    pub skill: String,
    /// Hash of the entry that was shown. The request fails if the skill has changed since. `None` reads the current
    /// version.
    #[serde(default)]
    #[ts(as = "Option<String>")]
    pub shown: Option<Hash>,
    /// Path of the file, or `None` for the skill's instructions.
    #[serde(default)]
    pub file: Option<String>,
}

/// Contents of a skill's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SkillContents {
    /// Current entry of the skill in the server's list.
    pub skill: Skill,
    /// Text or binary contents, verified against the list.
    pub contents: ResourceContents,
}
