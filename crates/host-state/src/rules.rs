//! Views of policy rules, and results of dry runs. The `policy` crate defines the semantics of rules.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use domain::StoreError;
use policy::{DecisionExplanation, PolicyFile, PolicyRule, Preset, ReviewState, RuleError, RuleProblem, RuleSource};
use serde_json::{Map, Value};

use crate::HostClosed;

/// All rules, presets and the state of the rule files, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesView {
    /// Preset that the user chose.
    pub preset: Preset,
    /// Least strict preset that the system-wide rule file allows.
    pub managed_preset: Preset,
    /// All rules, the system-wide ones first.
    pub rules: Vec<(RuleSource, PolicyRule)>,
    /// State of the user's rule file.
    pub user: RuleFile,
    /// State of the system-wide rule file, which the user can't override.
    pub managed: RuleFile,
}

/// State of one of the two rule files, for display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// Path of the file, even if it doesn't exist.
    pub path: PathBuf,
    /// Set if the file exists. A missing file is like one without rules and with the preset balanced.
    pub exists: bool,
    /// Reason why the file is invalid, or `None` if it is valid. While the file is invalid, everything requires
    /// consent.
    pub problem: Option<String>,
    /// Time at which another process changed the file while Drawbridge was running, in milliseconds since 1970, or
    /// `None` if no process did.
    pub changed: Option<u64>,
}

/// Duration of the user's trust in a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TrustDuration {
    /// The server is not trusted.
    #[default]
    No,
    /// Trusted until the host shuts down.
    Run,
    /// Trusted until the user revokes it.
    Always,
}

/// An action for which a dry run returns the decision of the policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum DryRunAct {
    /// Call of a tool of the server.
    Tool {
        /// Name of the tool.
        tool: String,
        /// Arguments with which the tool would be called.
        #[cfg_attr(feature = "typescript", ts(as = "Value"))]
        arguments: Map<String, Value>,
        /// Conversation that the call belongs to, if any.
        #[serde(default)]
        conversation: Option<String>,
        /// Set for a call by a model that has read untrusted content.
        #[serde(default)]
        after_untrusted: bool,
    },
    /// Getting a prompt or reading a resource.
    Read,
    /// Starting the server, or connecting to it.
    Start,
    /// Request of the server to sample a model.
    Sampling,
    /// Request of the server to fill in a form.
    Form,
    /// Request of the server to open a URL.
    Url,
    /// Request of the server for roots.
    Roots,
    /// Sign-in to the server.
    SignIn,
}

/// Result of a dry run of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRunResult {
    /// Decision of the policy, with all rules and grants that were considered.
    pub explanation: DecisionExplanation,
    /// Set if the server is not running. The dry run assumes that its tool, command or address is the same as when the
    /// user allowed it.
    pub assumed_unchanged: bool,
    /// Review state of the tool's current or last known definition, or `None` if the act is not a tool call.
    pub review_state: Option<ReviewState>,
    /// Set if the lists of tools in the server's settings exclude the tool, so that calls by models are refused. If the
    /// dry run is about a call after untrusted content, which only a model can make, `explanation` describes this
    /// refusal. Otherwise it describes the decision about a call by the user.
    pub turned_off: bool,
}

/// Error of changing the rules, or of a dry run. No rule was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The user's rule file is invalid, for this reason.
    #[error("the rules can't be changed before their file is corrected: {0}")]
    Unusable(String),
    /// The rule is invalid, for this reason.
    #[error(transparent)]
    Rule(RuleError),
    /// No rule has this id, or the rule is in the system-wide file.
    #[error("you have no such rule; it may already be removed, or be set for all users of this computer")]
    NoSuchRule,
    /// No server has this name.
    #[error("there is no server \"{0}\"")]
    NoSuchServer(String),
    /// The server is running and has no such tool.
    #[error("{server} offers no tool \"{tool}\" now")]
    NoSuchTool {
        /// Name of the server.
        server: String,
        /// Name of the tool.
        tool: String,
    },
    /// The rule file or the audit entry can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl From<RuleProblem> for RulesError {
    fn from(problem: RuleProblem) -> Self {
        Self::Rule(problem.error)
    }
}

/// Parses the JSON content of a rule file.
///
/// # Errors
///
/// Returns a description of the first error, including the JSON path of the invalid value.
pub fn parse_rules(value: Value) -> Result<PolicyFile, String> {
    serde_path_to_error::deserialize(value).map_err(|error| format!("{}: {}", error.path(), error.inner()))
}
