//! The file of rules: the user's `policy.json`, and the system-wide one, which looks the same.

use serde::{Deserialize, Serialize};

use crate::{PolicyRule, Preset};

/// What a file of rules holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The version of this format.
    #[serde(deserialize_with = "known_version")]
    pub version: u64,
    /// How much is asked about where no rule says otherwise.
    #[serde(default)]
    pub preset: Preset,
    /// The rules, in the order that they are shown in. It does not matter otherwise.
    #[serde(default)]
    pub rules: Vec<PolicyRule>,
}

impl PolicyFile {
    /// The version that is written, and the only one that is read.
    pub const VERSION: u64 = 1;
}

impl Default for PolicyFile {
    fn default() -> Self {
        Self { version: Self::VERSION, preset: Preset::default(), rules: Vec::new() }
    }
}

fn known_version<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        PolicyFile::VERSION => Ok(PolicyFile::VERSION),
        other => {
            let words = format!("this Drawbridge does not know version {other} of it; use a newer one");
            Err(serde::de::Error::custom(words))
        }
    }
}
