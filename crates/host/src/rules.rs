//! Rules as the host shows them, and as it is asked about them. What they mean is the policy's.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use domain::StoreError;
use policy::{Explanation, PolicyFile, PolicyRule, Preset, RuleError, RuleProblem, RuleSource, Standing};
use serde_json::{Map, Value};

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

/// What a dry run is about.
#[derive(Debug, Clone, PartialEq)]
pub enum DryRun {
    /// A call of a tool.
    Call {
        /// The tool.
        tool: String,
        /// What would be sent.
        arguments: Map<String, Value>,
        /// In this conversation.
        conversation: Option<String>,
        /// As asked for by a model that has read another server's output.
        after_untrusted: bool,
    },
    /// To get a prompt, or read a resource.
    Read,
    /// To start the server or connect to it.
    Start,
    /// What the server asks for.
    Sampling,
    /// What the server asks for.
    Form,
    /// What the server asks for.
    Url,
    /// What the server asks for.
    Roots,
    /// To sign in to the server.
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
