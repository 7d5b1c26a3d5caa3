//! Skills: instructions with their files that a server lists. Names and descriptions are the server's own words.

use policy::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{ResourceContents, SkillFile};

/// The skills of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Skills {
    /// The name of the server that lists them.
    pub server: String,
    /// Those that can be read.
    pub skills: Vec<Skill>,
    /// Where the list is not whole, and why.
    pub notes: Vec<String>,
}

/// Instructions for a model, as a server lists them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Skill {
    /// Where its `SKILL.md` is; unique on its server, which its name may not be.
    pub uri: String,
    /// The name that the server gives; two skills may share one.
    pub name: String,
    /// The purpose and the occasion, as the server says.
    pub description: String,
    /// Its files with `SKILL.md`; none where the server makes them when they are read, so that nothing can be compared.
    pub files: Option<Vec<SkillFile>>,
    /// All else that its author wrote above the instructions.
    pub others: Option<Value>,
    /// The hash of the entry, to read exactly what was shown.
    #[ts(as = "String")]
    pub hash: Hash,
}

/// A skill to read, or a file of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ReadSkill {
    /// An id chosen by the caller.
    pub call: String,
    /// The name of the server that lists it.
    pub server: String,
    /// The URI of the skill's `SKILL.md`.
    pub skill: String,
    /// The hash of the entry that was shown. A skill that changed since is not read; without one it is read as it is now.
    #[serde(default)]
    #[ts(as = "Option<String>")]
    pub shown: Option<Hash>,
    /// The file; without one the skill's instructions are read.
    #[serde(default)]
    pub file: Option<String>,
}

/// A file of a skill, which is what the server listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SkillContents {
    /// The skill as the server lists it now.
    pub skill: Skill,
    /// The text or the bytes, checked against what the server lists.
    pub contents: ResourceContents,
}
