//! The format of policy files: the user's `policy.json`, and the system-wide file.

use serde::{Deserialize, Serialize};

use crate::{PolicyRule, Preset};

/// The content of the user's or the system-wide policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// Version of the file format. Other versions than [`Self::VERSION`] are rejected.
    #[serde(deserialize_with = "known_version")]
    pub version: u64,
    /// Preset for acts about which no rule decides.
    #[serde(default)]
    pub preset: Preset,
    /// Rules in display order. The order has no other meaning.
    #[serde(default)]
    pub rules: Vec<PolicyRule>,
}

impl PolicyFile {
    /// The version that is written, and the only one that is accepted.
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
            let words = format!("version {other} of the file is not supported by this Drawbridge; use a newer one");
            Err(serde::de::Error::custom(words))
        }
    }
}
