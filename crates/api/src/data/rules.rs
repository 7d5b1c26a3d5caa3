//! Policy rules, presets, and dry runs of decisions.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    ArgumentJudgement, DryRunAct, Preset, ReviewState, RuleDirection, RuleEffect, RuleScope, RuleSource, TrustDuration,
};

/// All rules and presets, with their files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Preset that the user chose.
    pub preset: Preset,
    /// Preset of this computer's administrator. The stricter of both presets applies.
    pub managed_preset: Preset,
    /// All rules, those of this computer's administrator first.
    pub rules: Vec<Rule>,
    /// Rule file of the user.
    pub user: RuleFile,
    /// Rule file for all users of this computer.
    pub managed: RuleFile,
}

/// State of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleFile {
    /// Path of the file, even if it does not exist.
    pub path: String,
    /// `true` if the file exists.
    pub exists: bool,
    /// Reason why the file can't be used, if it can't. Every act then requires consent.
    pub problem: Option<String>,
    /// Time at which another program changed the file while Drawbridge was running, in milliseconds since 1970.
    pub changed: Option<u64>,
}

/// Condition on one argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArgumentRule {
    /// JSON Pointer of the argument, such as `/path`.
    pub at: String,
    /// Kind of the test.
    pub test: ArgumentTest,
    /// Pattern that the argument has to match.
    pub pattern: String,
}

/// Test of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentTest {
    /// String pattern with `*` for any characters and `?` for one.
    Glob,
    /// Regular expression that matches anywhere in the string, or all of it if the rule allows.
    Regex,
    /// Path of the given folder or of something in it.
    Folder,
    /// Path that matches the pattern or is below such a path, with symbolic links resolved.
    Path,
    /// URL with the given origin, or below the given path of it.
    Url,
    /// Number in the given range.
    Number,
}

/// Condition on a server's claims about a tool. Can only make a decision stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRule {
    /// `readOnlyHint`: the tool claims to only read.
    #[serde(default)]
    pub read_only: Option<bool>,
    /// `destructiveHint`: the tool claims, or does not deny, that it destroys data.
    #[serde(default)]
    pub destructive: Option<bool>,
    /// `idempotentHint`: the tool claims that repeated calls have no further effect.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// `openWorldHint`: the tool claims, or does not deny, that it interacts with external entities.
    #[serde(default)]
    pub open_world: Option<bool>,
}

/// Limit on a server's use of the user's models without consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingBudget {
    /// Maximum number of requests per hour.
    pub requests_per_hour: u64,
    /// Maximum number of tokens per hour, of requests and responses together.
    pub tokens_per_hour: u64,
}

/// Policy rule. Applies if all its conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Number of the rule in its source. Empty for a new rule.
    pub id: String,
    /// Source of the rule.
    pub source: RuleSource,
    /// Effect of the rule.
    pub effect: RuleEffect,
    /// Name pattern of the servers, with `*` and `?`.
    pub server: String,
    /// Name pattern of the tools, or `None` for all acts.
    pub tool: Option<String>,
    /// Direction of the payload.
    pub direction: RuleDirection,
    /// Conditions on arguments of the call.
    pub arguments: Vec<ArgumentRule>,
    /// Condition on the server's claims about the tool.
    pub annotations: Option<ClaimRule>,
    /// Budget of a rule that allows sampling requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sampling: Option<SamplingBudget>,
    /// Duration of the rule.
    pub scope: RuleScope,
    /// Expiry of the rule, in milliseconds since 1970.
    pub expires_at: Option<u64>,
    /// Note of the user.
    pub note: String,
    /// `true` if the rule represents the user's trust in a server.
    pub trusted_server: bool,
    /// Pattern of the servers' identity, with `*` and `?`: a command line, program or URL. Never set in a rule that
    /// allows.
    #[serde(default)]
    pub identity: Option<String>,
    /// `true` if the rule also allows calls that a model makes after it has read content of other servers.
    #[serde(default)]
    pub after_untrusted: bool,
}

/// Reference to a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleRef {
    /// Source of the rule.
    pub source: RuleSource,
    /// Number of the rule in its source.
    pub id: String,
}

/// Request to change the preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetPreset {
    /// Preset to use from now on.
    pub preset: Preset,
}

/// Request to trust a server or to end the trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetTrust {
    /// Name of the server in the settings.
    pub server: String,
    /// Duration of the trust.
    pub trust: TrustDuration,
}

/// Act whose decision is computed without performing it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DryRun {
    /// Name of the server in the settings.
    pub server: String,
    /// Act that the policy evaluates.
    pub act: DryRunAct,
}

/// Decision on an act, with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DryRunResult {
    /// Effect that the policy would have.
    pub effect: RuleEffect,
    /// Reason, by its stable name.
    pub reason: String,
    /// Source of the decision.
    pub by: DecisionSource,
    /// Durations that an approval could have, if consent is required.
    pub scopes: Vec<super::ApprovalScope>,
    /// All rules, grants and presets that were considered, in order of precedence.
    pub considered: Vec<ConsideredRule>,
    /// `true` if a definition or command was assumed to be unchanged because the server is not running.
    pub assumed_unchanged: bool,
    /// Review state of the called tool, from the current or the last session of its server.
    pub standing: Option<ReviewState>,
    /// `true` if the lists in the settings of the server exclude the tool. Calls by models are refused then, and the
    /// effect is that of other calls.
    pub turned_off: bool,
}

/// Source of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DecisionSource {
    /// Built-in rule that always applies.
    BuiltIn,
    /// Grant that the user gave.
    Grant {
        /// Identifier of the grant.
        id: String,
    },
    /// Rule of the user or the administrator.
    Rule {
        /// Reference to the rule.
        rule: RuleRef,
    },
    /// Preset that the user chose.
    Preset,
    /// Preset of this computer's administrator.
    ManagedPreset,
}

/// Rule, grant or preset that was considered for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ConsideredRule {
    /// Rule, grant or preset.
    pub by: DecisionSource,
    /// Effect if it applies.
    pub effect: RuleEffect,
    /// `fits`, or the first condition that does not hold: `other-server`, `other-direction`, `other-tool`,
    /// `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
    /// `asks-each-time`, `over-budget` or `after-untrusted`.
    pub fit: String,
    /// Index of the argument condition that does not hold, from 0.
    pub argument: Option<u32>,
    /// Evaluation of each argument condition.
    pub arguments: Vec<ArgumentJudgement>,
}

/// Rules and grants as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PolicyText {
    /// JSON document with all rules and grants in effect.
    pub text: String,
}
