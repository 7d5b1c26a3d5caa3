//! Policy rules, presets, and dry runs of the policy.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{
    ArgumentJudgement, DryRunAct, Preset, ReviewState, RuleDirection, RuleEffect, RuleScope, RuleSource, TrustDuration,
};

/// All policy rules and presets, with the state of the rule files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Preset that the user chose.
    pub preset: Preset,
    /// Preset that the administrator of this computer set. The stricter of both presets applies.
    pub managed_preset: Preset,
    /// All rules. Those of the administrator precede those of the user.
    pub rules: Vec<Rule>,
    /// Rule file with the user's own rules.
    pub user: RuleFile,
    /// Rule file of the administrator, for all users of this computer.
    pub managed: RuleFile,
}

/// Path and state of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct RuleFile {
    /// Path of the rule file, which need not exist.
    pub path: String,
    /// `true` if the rule file exists. A missing file is like one without rules and with the preset balanced.
    pub exists: bool,
    /// Reason why the rule file can't be used, or `None` if it can. With an unusable file, every act requires consent.
    pub problem: Option<String>,
    /// Time at which another program last changed the rule file since Drawbridge was started, in milliseconds since
    /// 1970. `None` if no program did.
    pub changed: Option<u64>,
}

/// Condition on one argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ArgumentRule {
    /// JSON Pointer of the argument, such as `/path`.
    pub at: String,
    /// Way in which `pattern` is compared with the argument.
    pub test: ArgumentTest,
    /// Pattern for the argument, whose syntax depends on `test`.
    pub pattern: String,
}

/// Way in which the pattern of a rule is compared with an argument of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentTest {
    /// Glob pattern for a string, with `*` for any characters and `?` for one character.
    Glob,
    /// Regular expression for a string. In a rule that allows, it must match the whole string. In other rules, a match
    /// anywhere in the string is enough.
    Regex,
    /// Folder. Matches its own path and all paths inside it.
    Folder,
    /// Glob pattern for paths. Applies to a path if the path or one of its parent folders matches, after symbolic links
    /// are resolved.
    Path,
    /// Origin, or origin with path. Matches URLs at this origin whose path is the same or below.
    Url,
    /// Range of numbers. Matches a number inside the range.
    Number,
}

/// Condition on a server's claims about a tool. Such a condition can only make decisions stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ClaimRule {
    /// Required value of `readOnlyHint`. A tool without the hint counts as `false`. `None` accepts both values.
    #[serde(default)]
    pub read_only: Option<bool>,
    /// Required value of `destructiveHint`. A tool without the hint counts as `true`. `None` accepts both values.
    #[serde(default)]
    pub destructive: Option<bool>,
    /// Required value of `idempotentHint`. A tool without the hint counts as `false`. `None` accepts both values.
    #[serde(default)]
    pub idempotent: Option<bool>,
    /// Required value of `openWorldHint`. A tool without the hint counts as `true`. `None` accepts both values.
    #[serde(default)]
    pub open_world: Option<bool>,
}

/// Limits on sampling requests that a rule allows without consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SamplingBudget {
    /// Maximum number of sampling requests per hour.
    pub requests_per_hour: u64,
    /// Maximum number of tokens per hour, of requests and responses together.
    pub tokens_per_hour: u64,
}

/// Policy rule, which applies if all its conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Number of the rule, as text, which identifies the rule in its source. Empty for a new rule.
    pub id: String,
    /// Rule file or session that contains the rule.
    pub source: RuleSource,
    /// Effect of the rule: allow, ask or deny.
    pub effect: RuleEffect,
    /// Glob pattern for the names of servers, with `*` and `?`.
    pub server: String,
    /// Glob pattern for the names of tools, or `None` if the rule also applies to other acts.
    pub tool: Option<String>,
    /// Direction of the acts that the rule applies to: from the host to servers, such as calls, or from servers, such
    /// as sampling.
    pub direction: RuleDirection,
    /// Conditions on arguments of the call.
    pub arguments: Vec<ArgumentRule>,
    /// Condition on the server's claims about the tool, or `None` if the rule has none.
    pub annotations: Option<ClaimRule>,
    /// Limits on the sampling requests that the rule allows. A rule that allows sampling requests must have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sampling: Option<SamplingBudget>,
    /// Duration for which the rule applies, such as this session or any time.
    pub scope: RuleScope,
    /// Time at which the rule expires, in milliseconds since 1970, or `None` if it has no expiry.
    pub expires_at: Option<u64>,
    /// Note that the user wrote about the rule.
    pub note: String,
    /// `true` if the rule was created by the setting that the user trusts a server.
    pub trusted_server: bool,
    /// Glob pattern for the command line, the program or the URL of servers, or `None` if the rule has no such
    /// condition. Not permitted in a rule that allows.
    #[serde(default)]
    pub identity: Option<String>,
    /// `true` if the rule also allows calls by a model that has read untrusted content, such as that of another server.
    #[serde(default)]
    pub after_untrusted: bool,
}

/// Reference to a rule by its source and number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RuleRef {
    /// Rule file or session that contains the rule.
    pub source: RuleSource,
    /// Number of the rule, as text, which identifies the rule in its source.
    pub id: String,
}

/// Request to change the preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
pub struct SetPreset {
    /// Preset to use from now on.
    pub preset: Preset,
}

/// Request to set or end the user's trust in a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetTrust {
    /// Name of the server in the settings.
    pub server: String,
    /// Duration of the trust. The value `no` ends it.
    pub trust: TrustDuration,
}

/// Request for a dry run, which returns the decision that the policy would make on an act.
#[derive(Debug, Clone, PartialEq, Deserialize, TS)]
pub struct DryRun {
    /// Name of the server in the settings.
    pub server: String,
    /// Act for which the policy is evaluated.
    pub act: DryRunAct,
}

/// Result of a dry run: the decision on an act, with its explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DryRunResult {
    /// Effect of the decision: allow, ask or deny.
    pub effect: RuleEffect,
    /// Stable identifier of the reason for the decision.
    pub reason: String,
    /// Rule, grant or preset that decided.
    pub by: DecisionSource,
    /// Durations that the user could choose for an approval, if consent is required.
    pub scopes: Vec<super::ApprovalScope>,
    /// All rules, grants and presets that were considered, in order of precedence.
    pub considered: Vec<ConsideredRule>,
    /// `true` if the server is not running, so that its command and definitions were assumed to be unchanged.
    pub assumed_unchanged: bool,
    /// Review state of the called tool, from the server's current or last session. `None` for acts other than tool
    /// calls.
    pub review_state: Option<ReviewState>,
    /// `true` if the settings of the server exclude the tool from those for models, so that calls by models are
    /// refused. If the dry run is about a call after untrusted content, which only a model can make, `effect` is this
    /// refusal. Otherwise `effect` is the decision about a call by the user.
    pub is_tool_turned_off: bool,
}

/// Source of a decision by the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DecisionSource {
    /// Built-in rule that always applies.
    BuiltIn,
    /// Grant that the user gave.
    Grant {
        /// Identifier of the grant, by which it is revoked.
        id: String,
    },
    /// Rule of the user or the administrator.
    Rule {
        /// Source and number of the rule.
        rule: RuleRef,
    },
    /// Preset that the user chose.
    Preset,
    /// Preset of this computer's administrator.
    ManagedPreset,
    /// The user's approval of the same call, which the user repeats.
    RepeatedApproval,
}

/// Rule, grant or preset that was considered for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ConsideredRule {
    /// Rule, grant or preset that was considered.
    pub by: DecisionSource,
    /// Effect of the rule, grant or preset.
    pub effect: RuleEffect,
    /// `fits` if it applies, or else the first condition that does not hold: `other-server`, `other-direction`,
    /// `other-tool`, `other-argument`, `other-annotations`, `other-conversation`, `expired`, `changed`, `not-reviewed`,
    /// `asks-each-time`, `over-budget` or `after-untrusted`.
    pub fit: String,
    /// Index of the argument condition that does not hold, counted from 0, if `fit` is `other-argument`. Otherwise
    /// `None`.
    pub argument: Option<u32>,
    /// Evaluation of each argument condition.
    pub arguments: Vec<ArgumentJudgement>,
}

/// Policy rules and grants as a text for display and export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct PolicyText {
    /// JSON document with all rules and grants in effect.
    pub text: String,
}
