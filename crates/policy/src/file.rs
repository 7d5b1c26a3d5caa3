//! The format of policy files: the user's `policy.json`, and the system-wide file.

use serde::{Deserialize, Serialize};

use crate::{PolicyRule, Preset};

/// The content of the user's or the system-wide policy file.
///
/// # Examples
///
/// A rule that allows a tool within a folder:
///
/// ```
/// use policy::{
///     Grants, Hash, Policy, PolicyAct, PolicyDecision, PolicyFile, ResolvedPaths, ReviewState, ToolClaims,
/// };
/// use serde_json::{Value, json};
///
/// let file: PolicyFile = serde_json::from_str(r#"{
///     "version": 1,
///     "rules": [{
///         "effect": "allow",
///         "server": "files",
///         "tool": "write_file",
///         "arguments": [{ "at": "/path", "folder": "/work/project" }]
///     }]
/// }"#)?;
/// let mut policy = Policy::new(Grants::default());
/// policy.set_user_rules(file)?;
///
/// let is_allowed = |path: &str| {
///     let Value::Object(arguments) = json!({ "path": path }) else { unreachable!() };
///     let act = PolicyAct::CallTool {
///         server: "files",
///         tool: "write_file",
///         grant_hash: &Hash::of_json(&json!({ "name": "write_file" })),
///         review_state: ReviewState::Reviewed,
///         claims: ToolClaims::default(),
///         asks_each_time: false,
///         arguments: &arguments,
///         paths: &ResolvedPaths::Elsewhere,
///         after_untrusted: false,
///         conversation: None,
///     };
///     matches!(policy.decide(&act, 1_780_000_000_000), PolicyDecision::Allow { .. })
/// };
/// assert!(is_allowed("/work/project/notes.md"));
/// assert!(!is_allowed("/work/other/notes.md"));
/// assert!(!is_allowed("/work/project/../other/notes.md"), "a path with `..` can't be checked");
///
/// // Names of members are checked, so a misspelled condition is not lost.
/// let misspelled = r#"{ "version": 1, "rules": [{ "effect": "deny", "tools": "delete_*" }] }"#;
/// assert!(serde_json::from_str::<PolicyFile>(misspelled).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// Version of the file format. Other versions than [`Self::VERSION`] are rejected.
    #[serde(deserialize_with = "deserialize_known_version")]
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

fn deserialize_known_version<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        PolicyFile::VERSION => Ok(PolicyFile::VERSION),
        other => {
            let words = format!("version {other} of the file is not supported by this Drawbridge; use a newer one");
            Err(serde::de::Error::custom(words))
        }
    }
}
