//! Rules as the host shows them, and as it is asked about them. What they mean is the policy's.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use domain::StoreError;
use policy::{Explanation, PolicyFile, PolicyRule, Preset, RuleError, RuleProblem, RuleSource, Standing};
use serde_json::{Map, Value};

use crate::HostClosed;

/// All that stands, beside grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesView {
    /// The preset that the user chose.
    pub preset: Preset,
    /// The least strict one that the system-wide file lets hold.
    pub managed_preset: Preset,
    /// Every rule, the system-wide ones first.
    pub rules: Vec<(RuleSource, PolicyRule)>,
    /// The user's file.
    pub user: RuleFile,
    /// The system-wide file.
    pub managed: RuleFile,
}

/// A file of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// Why it can't be used, if it can't. Then everything asks.
    pub problem: Option<String>,
    /// When another program changed it while Drawbridge was running, in milliseconds since 1970.
    pub changed: Option<u64>,
}

/// For how long a server is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is not.
    #[default]
    No,
    /// Until the host ends.
    Run,
    /// Until it is taken back.
    Always,
}

/// An act that a dry run is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum DryAct {
    /// A tool is called.
    Tool {
        /// The tool.
        tool: String,
        /// The arguments that would be sent.
        #[cfg_attr(feature = "typescript", ts(as = "Value"))]
        arguments: Map<String, Value>,
        /// The conversation that the call belongs to.
        #[serde(default)]
        conversation: Option<String>,
        /// True for a call by a model that has read another server's output.
        #[serde(default)]
        after_untrusted: bool,
    },
    /// A prompt is got or a resource read.
    Read,
    /// The server is started, or connected to.
    Start,
    /// The server asks for a model's answer.
    Sampling,
    /// The server asks the user to fill in a form.
    Form,
    /// The server asks to open a URL.
    Url,
    /// The server asks for folders.
    Roots,
    /// The user signs in to the server.
    SignIn,
}

/// What a dry run found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRunResult {
    /// The decision, and all that was looked at.
    pub explanation: Explanation,
    /// What had to be taken for granted, as the server is not running: that its tool, its command or its address is as it was
    /// when it was allowed.
    pub assumed_unchanged: bool,
    /// Of a call whether the user has reviewed the tool as it is, or as it was when its server ran last.
    pub standing: Option<Standing>,
}

/// Why rules could not be changed. Nothing was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The user's file can't be used as it is.
    #[error("the rules can't be changed before their file is mended: {0}")]
    Unusable(String),
    /// A rule can't be used.
    #[error(transparent)]
    Rule(RuleError),
    /// There is no such rule, or it is one of the system-wide file.
    #[error("there is no such rule of yours; it may be removed already, or set for all users of this computer")]
    NoSuchRule,
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    NoSuchServer(String),
    /// The server runs, and offers no such tool.
    #[error("{server} offers no tool \"{tool}\" now")]
    NoSuchTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The file can't be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host has ended.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl From<RuleProblem> for RulesError {
    fn from(problem: RuleProblem) -> Self {
        Self::Rule(problem.error)
    }
}

/// Reads what a file of rules holds.
///
/// # Errors
/// In words, with the place in the file.
pub(crate) fn read_rules(value: Value) -> Result<PolicyFile, String> {
    serde_path_to_error::deserialize(value).map_err(|error| format!("{}: {}", error.path(), error.inner()))
}
