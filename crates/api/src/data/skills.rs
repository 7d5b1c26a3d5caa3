//! Skills: instructions and files that a server provides for models. Names and descriptions are unverified text from
//! the server.

use policy::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{ResourceContents, SkillFile};

/// Skills that a server lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
pub struct Skills {
    /// Name of the server in the settings.
    pub server: String,
    /// Skills with a valid entry in the list.
    pub skills: Vec<Skill>,
    /// Reasons why parts of the list are missing. Empty if it is complete.
    pub notes: Vec<String>,
}

/// Skill, as a server lists it.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct Skill {
    /// URI of the skill's `SKILL.md`, unique on its server.
    pub uri: String,
    /// Name of the skill, as the server provides it. Not necessarily unique.
    pub name: String,
    /// Description of the skill's purpose and use, as the server provides it.
    pub description: String,
    /// Files of the skill including `SKILL.md`. `None` if the server generates the files on each read, so that they
    /// can't be verified.
    pub files: Option<Vec<SkillFile>>,
    /// Members of the front matter of `SKILL.md` that no other field contains, as JSON. `None` if there are none.
    pub others: Option<Value>,
    /// Hash of the skill's entry in the list, by which a later request to read the skill refers to exactly this entry.
    #[ts(as = "String")]
    pub hash: Hash,
}

/// Request to read a skill or one of its files.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadSkill {
    /// Identifier of the call, chosen by the caller. Must be unique among the calls in progress.
    pub call: String,
    /// Name of the server in the settings.
    pub server: String,
    /// URI of the skill's `SKILL.md`.
    pub skill: String,
    /// Hash of the skill's list entry that was shown to the user. The request fails if the entry has changed since.
    /// `None` reads the skill as it is listed now.
    #[serde(default)]
    #[ts(as = "Option<String>")]
    pub shown_hash: Option<Hash>,
    /// Path of the file, or `None` for `SKILL.md`.
    #[serde(default)]
    pub file: Option<String>,
}

/// Contents of a skill's file.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct SkillContents {
    /// Current entry of the skill in the server's list.
    pub skill: Skill,
    /// Text or binary contents, verified against the list.
    pub contents: ResourceContents,
}
